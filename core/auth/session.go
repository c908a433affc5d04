package auth

import (
	"context"
	"encoding/hex"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// How long a session lives (decisions §9): without a request, and in all.
const (
	SessionIdle     = 12 * time.Hour
	SessionLifetime = 7 * 24 * time.Hour
)

// SessionCookie is the name of the cookie that holds a session's token. Browsers take one
// with this prefix only from the host itself, for all its paths, and by TLS.
const SessionCookie = "__Host-session"

// Session is where and when a person is signed in.
type Session struct {
	ID         string // names it; tells nothing of the token
	UserAgent  string // the browser, as it calls itself
	Address    string // of its last noted request, like the browser
	CreatedAt  time.Time
	LastSeenAt time.Time // to the minute
	Current    bool      // the one that asks
}

// SessionID names the session of a cookie's token, on pages and in figures.
func SessionID(token string) string { return sessionName(sessionHash(token)) }

// sessionName is short enough to read, and too long for two of a person's sessions to share.
func sessionName(hash []byte) string { return hex.EncodeToString(hash[:8]) }

// Sessions returns the live sessions of the actor's person, the one seen last first.
// current is the ID of the one that asks. One round trip.
func (s *Service) Sessions(ctx context.Context, by core.Actor, current string) ([]Session, error) {
	rows, err := db.ReadAllWithin[sessionRow](ctx, s.db, by, listSessionsSQL, liveArgs(by, s.db.Now()))
	if err != nil {
		return nil, err
	}
	list := make([]Session, len(rows))
	for i, r := range rows {
		list[i] = Session{
			ID: sessionName(r.Hash), UserAgent: r.UserAgent, Address: r.Address,
			CreatedAt: r.CreatedAt, LastSeenAt: r.LastSeenAt, Current: sessionName(r.Hash) == current,
		}
	}
	return list, nil
}

// EndSession signs the actor's person out of that session. Another person's is core.ErrNotFound.
func (s *Service) EndSession(ctx context.Context, by core.Actor, id string) error {
	return s.endSession(ctx, by, id, func(ended sessionRow) audit.Entry {
		return audit.Entry{
			Action: "session.end", Subject: "session", ID: id,
			Old: map[string]any{"user_agent": ended.UserAgent, "address": ended.Address},
		}
	})
}

// SignOut signs the actor's person out where they are. current is the ID of the session
// that asks. That it has ended already is no error.
func (s *Service) SignOut(ctx context.Context, by core.Actor, current string) error {
	err := s.endSession(ctx, by, current, func(sessionRow) audit.Entry {
		return audit.Entry{Action: "staff.sign_out", Subject: "staff", ID: by.ID, Name: by.Name}
	})
	if errors.Is(err, core.ErrNotFound) {
		return nil
	}
	return err
}

// endSession ends a session of the actor's person, and writes the entry into the audit log. Two
// round trips.
func (s *Service) endSession(ctx context.Context, by core.Actor, id string, entry func(ended sessionRow) audit.Entry) error {
	_, err := db.Within(ctx, s.db, by, func(tx *db.Tx) (sessionRow, error) {
		args := liveArgs(by, tx.Now)
		args["id"] = id
		ended, err := db.One[sessionRow](ctx, tx, endSessionSQL, args)
		if err != nil {
			return sessionRow{}, err
		}
		return ended, audit.Write(tx, by, entry(ended))
	})
	return err
}

// EndOtherSessions signs the actor's person out everywhere but in the current session,
// and returns how many sessions that ended.
func (s *Service) EndOtherSessions(ctx context.Context, by core.Actor, current string) (int64, error) {
	return db.Within(ctx, s.db, by, func(tx *db.Tx) (int64, error) {
		args := liveArgs(by, tx.Now)
		args["current"] = current
		ended, err := db.Exec(ctx, tx, endOtherSessionsSQL, args)
		if err != nil || ended == 0 {
			return ended, err
		}
		return ended, audit.Write(tx, by, audit.Entry{
			Action: "session.end_others", Subject: "staff", ID: by.ID, Name: by.Name, New: map[string]any{"ended": ended},
		})
	})
}

// liveArgs pick the live sessions of the actor's person.
func liveArgs(by core.Actor, now time.Time) db.Args {
	return db.Args{"staff": by.StaffID, "now": now, "seen": now.Add(-SessionIdle)}
}

// Actor tells who is signed in by a cookie's token on the host of a tenant, and writes
// nothing: core.ErrUnauthenticated for a stranger. A session of the platform is for its pages
// alone. One round trip.
func (s *Service) Actor(ctx context.Context, token, slug string) (core.Actor, error) {
	if slug == "" {
		return core.Actor{}, core.ErrUnauthenticated
	}
	f, err := findSession(ctx, s.db, sessionHash(token), slug)
	if err != nil {
		return core.Actor{}, err
	}
	if !f.signedIn() {
		return core.Actor{}, core.ErrUnauthenticated
	}
	return f.actor()
}

// EndSessions signs a person out everywhere, in the caller's transaction: for passwords that
// change and people who are deactivated. No round trip.
func EndSessions(tx *db.Tx, person int64) error {
	return db.Queue(tx, endSessionsSQL, db.Args{"staff": person, "now": tx.Now})
}

// forgetSessions is the job that deletes sessions an hour after they ended or expired: no
// request is that slow.
type forgetSessions struct{}

// Kind names the job in the queue.
func (forgetSessions) Kind() string { return "forget_sessions" }

func (s *Service) forgetSessions(ctx context.Context, _ forgetSessions) error {
	return job.Drain(ctx, s.db, "sessions", func(ctx context.Context, tx *db.Tx) (int64, error) {
		hourAgo := tx.Now.Add(-time.Hour)
		return db.Exec(ctx, tx, forgetSessionsSQL, db.Args{"before": hourAgo, "seen": hourAgo.Add(-SessionIdle), "up_to": job.Batch})
	})
}
