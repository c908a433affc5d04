package mail

import (
	"context"
	"crypto/tls"

	gomail "github.com/wneessen/go-mail"

	"example.com/loyalty/core/db"
)

// Deliver runs the job that delivers a mail.
func (s *Service) Deliver(ctx context.Context, d Delivery) error { return s.deliver(ctx, d) }

// Tidy runs the clean-up job.
func (s *Service) Tidy(ctx context.Context) error { return s.runUpkeep(ctx, upkeep{}) }

// SetClock gives the service the same database at another instant.
func (s *Service) SetClock(d *db.DB) { s.db = d }

// Trusting makes the client trust the test's certificate authority.
func (s *SMTP) Trusting(c *tls.Config) *SMTP {
	s.options = append(s.options, gomail.WithTLSConfig(c))
	return s
}
