package mail

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Summary is what a list tells of a mail.
type Summary struct {
	ID        core.ID
	Recipient string
	Subject   string
	CreatedAt time.Time
}

// List returns a page of the mails of the whole installation that nobody was sent,
// newest first: for development, where there is no mail server. Where there is one,
// there are none. One round trip.
func (s *Service) List(ctx context.Context, p core.Page) (core.List[Summary], error) {
	if s.sender != nil {
		return core.List[Summary]{}, p.Err()
	}
	return db.ListPage(ctx, s.db, core.Actor{}, unsentList, nil, p, func(m Summary) core.Cursor { return core.Cursor{At: m.CreatedAt, ID: m.ID} })
}

// Find returns one of them with its words, or core.ErrNotFound. One round trip.
func (s *Service) Find(ctx context.Context, id core.ID) (Mail, error) {
	if s.sender != nil {
		return Mail{}, core.ErrNotFound
	}
	return db.PlatformOne[Mail](ctx, s.db, findUnsentSQL, db.Args{"id": id})
}
