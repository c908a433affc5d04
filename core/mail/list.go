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
	if err := p.Err(); err != nil || s.sender != nil {
		return core.List[Summary]{}, err
	}
	statement, args := p.Statement(listSQL, listAfterSQL, listBeforeSQL)
	heads, err := db.PlatformAll[Summary](ctx, s.db, statement, args)
	return core.NewList(p, heads, func(h Summary) core.Cursor { return core.Cursor{At: h.CreatedAt, ID: h.ID} }), err
}

// Find returns one of them with its words, or core.ErrNotFound. One round trip.
func (s *Service) Find(ctx context.Context, id core.ID) (Mail, error) {
	if s.sender != nil {
		return Mail{}, core.ErrNotFound
	}
	return db.PlatformOne[Mail](ctx, s.db, findUnsentSQL, db.Args{"id": id})
}
