package token

import (
	"context"
	"errors"
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// Revoke revokes a token of the actor's person. A token can revoke itself. Another person's is
// core.ErrNotFound.
func (s *Service) Revoke(ctx context.Context, by core.Actor, id int64, once *core.Once[Token]) (core.Reply[Token], error) {
	if err := requireTokenRole(by); err != nil {
		return core.Reply[Token]{}, err
	}
	return db.In(ctx, s.db.Within(by), db.Once(ctx, by, once, func(tx *db.Tx) (Token, error) { return revoke(ctx, tx, by, by.StaffID, id) }))
}

// RevokeForPerson revokes a token of a person of the actor's tenant. Another person's is
// core.ErrNotFound.
func (s *Service) RevokeForPerson(ctx context.Context, by core.Actor, person, id int64, once *core.Once[Token]) (core.Reply[Token], error) {
	if err := requireTokenRole(by); err != nil {
		return core.Reply[Token]{}, err
	}
	return db.In(ctx, s.db.Tenant(by), db.Once(ctx, by, once, func(tx *db.Tx) (Token, error) { return revoke(ctx, tx, by, person, id) }))
}

func revoke(ctx context.Context, tx *db.Tx, by core.Actor, person, id int64) (Token, error) {
	t, err := db.One[Token](ctx, tx, revokeSQL, db.Args{"staff": person, "id": id, "now": tx.Now})
	if err != nil {
		return Token{}, err
	}
	return t, recordRevoked(tx, by, t)
}

// RevokeAllForPerson revokes all live tokens of a person of the actor's tenant: core.ErrNotFound if
// there are none.
func (s *Service) RevokeAllForPerson(ctx context.Context, by core.Actor, person int64) error {
	if err := requireTokenRole(by); err != nil {
		return err
	}
	return db.Run(ctx, s.db.Tenant(by), func(tx *db.Tx) error {
		// Locked, so that a token that is being created is either revoked as well or refused.
		if _, err := lockOwner(ctx, tx, person); err != nil {
			return err
		}
		revoked, err := RevokeAll(ctx, tx, by, person)
		if err == nil && revoked == 0 {
			err = core.ErrNotFound
		}
		return err
	})
}

// RevokeAll revokes all live tokens of a person and returns their number. The caller's transaction must
// have locked or updated the person's row before: otherwise a concurrent creation could be missed.
func RevokeAll(ctx context.Context, tx *db.Tx, by core.Actor, person int64) (int, error) {
	revoked, err := db.All[Token](ctx, tx, revokeAllSQL, db.Args{"staff": person, "now": tx.Now})
	for _, t := range revoked {
		err = errors.Join(err, recordRevoked(tx, by, t))
	}
	return len(revoked), err
}

func recordRevoked(tx *db.Tx, by core.Actor, t Token) error {
	return audit.Write(tx, by, audit.Entry{
		Action: "token.revoke", Subject: "token", ID: strconv.FormatInt(t.ID, 10), Name: t.Name,
		Old: map[string]any{"name": t.Name, "abilities": t.Abilities},
	})
}

const deleteOldSQL = `
	delete from loyalty.token
	where id in (
		select id
		from loyalty.token
		where revoked_at < @before
			or expires_at < @before
		limit @up_to
	)`

// deleteOld is the job that deletes tokens a year after they were revoked or expired. The audit log keeps
// who created and revoked them.
type deleteOld struct{}

// Kind names the job in the queue.
func (deleteOld) Kind() string { return "delete_old_tokens" }

// KindAliases has the name that earlier builds queue it under.
func (deleteOld) KindAliases() []string { return []string{"forget_tokens"} }

const endedKept = 365 * 24 * time.Hour

func (s *Service) deleteOld(ctx context.Context, _ deleteOld) error {
	return job.Drain(ctx, s.db, func(ctx context.Context, tx *db.Tx) (int64, error) {
		return db.Exec(ctx, tx, deleteOldSQL, db.Args{"before": tx.Now.Add(-endedKept), "up_to": job.Batch})
	})
}
