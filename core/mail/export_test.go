package mail

import (
	"context"
	"crypto/tls"

	gomail "github.com/wneessen/go-mail"

	"example.com/loyalty/core/db"
)

// Deliver runs the job that delivers a mail.
func (s *Service) Deliver(ctx context.Context, d Delivery) error { return s.deliver(ctx, d) }

// Tidy runs the job that gives up mails whose delivery is gone, and deletes old ones.
func (s *Service) Tidy(ctx context.Context) error { return s.cleanUp(ctx, cleanup{}) }

// SetClock lets the service see the same database at another instant.
func (s *Service) SetClock(d *db.DB) { s.db = d }

// Trusting has an authority of the test's own vouch for the server.
func (s *SMTP) Trusting(c *tls.Config) *SMTP {
	s.options = append(s.options, gomail.WithTLSConfig(c))
	return s
}
