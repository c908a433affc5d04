package mail

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Summary is a mail in a list.
type Summary struct {
	ID        core.ID
	Recipient string
	Subject   string
	CreatedAt time.Time
}

// List returns a page of the installation's unsent mails, newest first. With a mail server the list is
// empty: it is for development.
func (s *Service) List(ctx context.Context, p core.Page) (core.List[Summary], error) {
	if s.sender != nil {
		return core.List[Summary]{}, p.Err()
	}
	return db.ListPage(ctx, s.db, core.Actor{}, unsentList, nil, p, func(m Summary) core.Cursor { return core.Cursor{At: m.CreatedAt, ID: m.ID} })
}

// Find returns an unsent mail with its text, or core.ErrNotFound.
func (s *Service) Find(ctx context.Context, id core.ID) (Mail, error) {
	if s.sender != nil {
		return Mail{}, core.ErrNotFound
	}
	return db.One[Mail](ctx, s.db.Platform(), findUnsentSQL, db.Args{"id": id})
}
