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

// The lifetime of a session (decisions §9): without a request, and in total.
const (
	SessionIdle     = 12 * time.Hour
	SessionLifetime = 7 * 24 * time.Hour
)

// SessionCookie is the name of the cookie with a session's token. Browsers accept this prefix only
// from the host itself, for all its paths, over TLS.
const SessionCookie = "__Host-session"

// Session is where and when a person is signed in.
type Session struct {
	ID         string // doesn't reveal the token
	UserAgent  string
	Address    string // of the last recorded request, like UserAgent
	CreatedAt  time.Time
	LastSeenAt time.Time // to the minute
	Current    bool      // the one that asks
}

// SessionID returns the ID of the session of a cookie's token.
func SessionID(token string) string { return sessionID(sessionHash(token)) }

// sessionID is short enough to read, and too long for two of a person's sessions to share.
func sessionID(hash []byte) string { return hex.EncodeToString(hash[:8]) }

// Sessions returns the live sessions of the actor's person, the one seen last first. current is the
// ID of the one that asks.
func (s *Service) Sessions(ctx context.Context, by core.Actor, current string) ([]Session, error) {
	args := liveArgs(by, s.db.Now())
	args["current"] = current
	return db.All[Session](ctx, s.db.Within(by), listSessionsSQL, args)
}

// EndSession signs the actor's person out of a session. Another person's is core.ErrNotFound.
func (s *Service) EndSession(ctx context.Context, by core.Actor, id string) error {
	return s.endSession(ctx, by, id, func(ended Session) audit.Entry {
		return audit.Entry{
			Action: "session.end", Subject: "session", ID: id,
			Old: map[string]any{"user_agent": ended.UserAgent, "address": ended.Address},
		}
	})
}

// SignOut signs the actor's person out where they are. current is the ID of the session that asks.
// It is no error if that has already ended.
func (s *Service) SignOut(ctx context.Context, by core.Actor, current string) error {
	err := s.endSession(ctx, by, current, func(Session) audit.Entry {
		return audit.Entry{Action: "staff.sign_out", Subject: "staff", ID: by.ID, Name: by.Name}
	})
	if errors.Is(err, core.ErrNotFound) {
		return nil
	}
	return err
}

// endSession ends a session of the actor's person and writes the audit entry.
func (s *Service) endSession(ctx context.Context, by core.Actor, id string, entry func(ended Session) audit.Entry) error {
	return db.Run(ctx, s.db.Within(by), func(tx *db.Tx) error {
		args := liveArgs(by, tx.Now)
		args["id"] = id
		ended, err := db.One[Session](ctx, tx, endSessionSQL, args)
		if err != nil {
			return err
		}
		return audit.Write(tx, by, entry(ended))
	})
}

// EndOtherSessions signs the actor's person out everywhere but in the current session, and returns
// the number of sessions it ended.
func (s *Service) EndOtherSessions(ctx context.Context, by core.Actor, current string) (int64, error) {
	return db.In(ctx, s.db.Within(by), func(tx *db.Tx) (int64, error) {
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

// liveArgs select the live sessions of the actor's person.
func liveArgs(by core.Actor, now time.Time) db.Args {
	return db.Args{"staff": by.StaffID, "now": now, "seen": now.Add(-SessionIdle)}
}

// Actor returns the person signed in by a cookie's token on the host of a tenant, or
// core.ErrUnauthenticated. It writes nothing. Sessions of the platform count only on its own pages.
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

// EndSessions queues that a person is signed out everywhere, when their password changes or they
// are deactivated.
func EndSessions(tx *db.Tx, person int64) error {
	return db.Queue(tx, endSessionsSQL, db.Args{"staff": person, "now": tx.Now})
}

// deleteOldSessions is the job that deletes sessions an hour after they ended or expired, when no slow
// request can need them.
type deleteOldSessions struct{}

// Kind names the job in the queue.
func (deleteOldSessions) Kind() string { return "delete_old_sessions" }

// KindAliases has the name that earlier builds queue it under.
func (deleteOldSessions) KindAliases() []string { return []string{"forget_sessions"} }

func (s *Service) deleteOldSessions(ctx context.Context, _ deleteOldSessions) error {
	return job.Drain(ctx, s.db, func(ctx context.Context, tx *db.Tx) (int64, error) {
		hourAgo := tx.Now.Add(-time.Hour)
		return db.Exec(ctx, tx, deleteOldSessionsSQL, db.Args{"before": hourAgo, "seen": hourAgo.Add(-SessionIdle), "up_to": job.Batch})
	})
}
