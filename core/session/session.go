// Package session keeps who is signed in to the panel. A session is named by the
// random token in its cookie; what is stored is the token's SHA-256. It belongs to the
// tenant on whose host it began, and on any other host it is nobody's.
//
// Its surprising rule: a session that ended keeps its row for a while. A request that
// read it before the end may write after it, and must not bring it back.
package session

import (
	"context"
	"encoding/hex"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// How long a session lives (decisions §9): so long without a request, and so long in all.
const (
	Idle     = 12 * time.Hour
	Lifetime = 7 * 24 * time.Hour
)

// Cookie is the name of the cookie that holds a session's token. Browsers take one
// with this prefix only from the host itself, for all its paths, and by TLS.
const Cookie = "__Host-session"

// Session is where and when a person is signed in.
type Session struct {
	ID         string // names it; tells nothing of the token
	UserAgent  string // the browser, as it calls itself
	Address    string // of its last noted request, like the browser
	CreatedAt  time.Time
	LastSeenAt time.Time // to the minute
	Current    bool      // the one that asks
}

// ID names the session of a cookie's token, where a person sees it and in figures.
func ID(token string) string { return name(hashed(token)) }

// name is short enough to read, and too long for a person's few sessions to share.
func name(hash []byte) string { return hex.EncodeToString(hash[:8]) }

// Service lists and ends the sessions of people, and tells the API whose one is.
type Service struct{ db *db.DB }

// NewService makes the service and registers its job.
func NewService(d *db.DB, jobs *job.Queue) *Service {
	s := &Service{db: d}
	job.Handle(jobs, job.Upkeep, s.forget)
	job.Every(jobs, river.PeriodicInterval(time.Hour), forget{})
	return s
}

// List returns the live sessions of the actor's person, the one seen last first.
// current is the ID of the one that asks. One round trip.
func (s *Service) List(ctx context.Context, by core.Actor, current string) ([]Session, error) {
	rows, err := db.ReadAll[row](ctx, s.db, by, listSQL, live(by, s.db.Now()))
	if err != nil {
		return nil, err
	}
	list := make([]Session, len(rows))
	for i, r := range rows {
		list[i] = Session{
			ID: name(r.Hash), UserAgent: r.UserAgent, Address: r.Address,
			CreatedAt: r.CreatedAt, LastSeenAt: r.LastSeenAt, Current: name(r.Hash) == current,
		}
	}
	return list, nil
}

// End signs the actor's person out where that session is. Somebody else's is core.ErrNotFound.
func (s *Service) End(ctx context.Context, by core.Actor, id string) error {
	return s.end(ctx, by, id, func(ended row) audit.Entry {
		return audit.Entry{
			Action: "session.end", Subject: "session", ID: id,
			Old: map[string]any{"user_agent": ended.UserAgent, "address": ended.Address},
		}
	})
}

// SignOut signs the actor's person out where they are. current is the ID of the session
// that asks. One that has ended by then is nobody's any more, which is as well.
func (s *Service) SignOut(ctx context.Context, by core.Actor, current string) error {
	err := s.end(ctx, by, current, func(row) audit.Entry {
		return audit.Entry{Action: "staff.sign_out", Subject: "staff", ID: by.ID}
	})
	if errors.Is(err, core.ErrNotFound) {
		return nil
	}
	return err
}

// end ends a session of the actor's person, and writes the entry into the log. Two round
// trips.
func (s *Service) end(ctx context.Context, by core.Actor, id string, entry func(ended row) audit.Entry) error {
	_, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (row, error) {
		args := live(by, tx.Now)
		args["id"] = id
		ended, err := db.One[row](ctx, tx, endSQL, args)
		if err != nil {
			return row{}, err
		}
		return ended, audit.Write(tx, by, entry(ended))
	})
	return err
}

// EndOthers signs the actor's person out everywhere but where the current session is,
// and returns how many sessions that ended.
func (s *Service) EndOthers(ctx context.Context, by core.Actor, current string) (int64, error) {
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (int64, error) {
		args := live(by, tx.Now)
		args["current"] = current
		ended, err := db.Exec(ctx, tx, endOthersSQL, args)
		if err != nil || ended == 0 {
			return ended, err
		}
		return ended, audit.Write(tx, by, audit.Entry{
			Action: "session.end_others", Subject: "staff", ID: by.ID, New: map[string]any{"ended": ended},
		})
	})
}

// live are the arguments that pick the live sessions of the actor's person.
func live(by core.Actor, now time.Time) db.Args {
	return db.Args{"staff": by.StaffID, "now": now, "seen": now.Add(-Idle)}
}

// Actor tells who is signed in by a cookie's token on the host of a tenant, and writes
// nothing: core.ErrUnauthenticated where nobody is. One round trip.
func (s *Service) Actor(ctx context.Context, token, slug string) (core.Actor, error) {
	f, err := find(ctx, s.db, hashed(token), slug)
	if err != nil {
		return core.Actor{}, err
	}
	if !f.signedIn() {
		return core.Actor{}, core.ErrUnauthenticated
	}
	return f.actor()
}

// EndAll signs a person of the transaction's tenant out everywhere, in the caller's
// transaction: for passwords that change and people who are shut out.
func EndAll(tx *db.Tx, person int64) error {
	return db.Queue(tx, endAllSQL, db.Args{"staff": person, "now": tx.Now})
}

// forget is the job that deletes sessions an hour after nobody can use them any more:
// no request is that slow.
type forget struct{}

// Kind names the job in the queue.
func (forget) Kind() string { return "forget_sessions" }

func (s *Service) forget(ctx context.Context, _ forget) error {
	_, err := db.Platform(ctx, s.db, core.System(core.Tenant{}, "sessions"), func(tx *db.Tx) (int64, error) {
		hourAgo := tx.Now.Add(-time.Hour)
		return 0, db.Queue(tx, forgetSQL, db.Args{"before": hourAgo, "seen": hourAgo.Add(-Idle)})
	})
	return err
}
