package deprecation

import (
	"context"
	"time"

	"example.com/loyalty/core/db"
	"example.com/loyalty/core/mail"
)

// Mails queues this package's e-mail. Its words are in web/email.
type Mails interface {
	Queue(ctx context.Context, tx *db.Tx, e mail.Email) error
	Deprecation(to string, e NoticeEmail) mail.Email
}

// NoticeEmail tells a tenant's owner that a request is deprecated.
type NoticeEmail struct {
	Tenant string // name of the business
	Method string
	Path   string
	Sunset time.Time
	Link   string
}

// Notice is the job that mails a deprecation to tenants.
type Notice struct {
	Deprecation int64 `json:"deprecation"`
}

// Kind names the job in the queue.
func (Notice) Kind() string { return "deprecation_notice" }

const noticeBatch = 50

// notify mails the tenants with a working token, in batches. Mail and note are in one transaction, so
// that no tenant is mailed twice.
func (s *Service) notify(ctx context.Context, n Notice) error {
	for {
		told, err := db.In(ctx, s.db.Platform(), func(tx *db.Tx) (int, error) {
			d, err := db.One[Deprecation](ctx, tx, findSQL, db.Args{"id": n.Deprecation})
			if err != nil {
				return 0, err
			}
			tenants, err := db.All[recipient](ctx, tx, tellSQL, db.Args{"id": d.ID, "now": tx.Now, "up_to": noticeBatch})
			if err != nil {
				return 0, err
			}
			for _, t := range tenants {
				e := s.mails.Deprecation(t.Email, NoticeEmail{Tenant: t.Name, Method: d.Method, Path: d.Path, Sunset: d.Sunset, Link: d.Link})
				if err := s.mails.Queue(ctx, tx, e); err != nil {
					return 0, err
				}
			}
			return len(tenants), nil
		})
		if err != nil || told == 0 {
			return err
		}
	}
}
