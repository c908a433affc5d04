package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// attempt is something that may be tried a limited number of times within a period. The counts
// are in the database: they survive a restart, and all processes share them.
type attempt struct {
	what   string
	key    []byte
	most   int
	within time.Duration
}

// newAttempt is an attempt at something on an account or from an address.
func newAttempt(what, target string, most int, within time.Duration) attempt {
	key := sha256.Sum256([]byte(what + "\x00" + target))
	return attempt{what, key[:], most, within}
}

// tenantKey names an account within its tenant, or within the platform.
func tenantKey(t core.Tenant, account string) string { return id(int64(t.ID)) + " " + account }

// How often a person may try to sign in, and to give a code. A code has only a million values,
// of which three are right.
func (s *Service) signInAttempts(v Visitor, email string) (account, address []attempt) {
	return []attempt{newAttempt("sign in to", tenantKey(v.Tenant, email), 10, 15*time.Minute)},
		[]attempt{newAttempt("sign in from", s.addressKey(v.Address), 50, 15*time.Minute)}
}

func (s *Service) codeAttempts(v Visitor, person int64) (account, address []attempt) {
	return []attempt{newAttempt("code of", id(person), 5, 15*time.Minute)},
		[]attempt{newAttempt("code from", s.addressKey(v.Address), 50, 15*time.Minute)}
}

// confirmAttempt is how often a signed-in person may give their password again.
func confirmAttempt(person int64) attempt {
	return newAttempt("confirm as", id(person), 10, 15*time.Minute)
}

// name tells in the log which attempts are on one account, and not on which.
func (a attempt) name() string { return hex.EncodeToString(a.key[:8]) }

func attemptKeys(attempts []attempt) [][]byte {
	list := make([][]byte, len(attempts))
	for i, a := range attempts {
		list[i] = a.key
	}
	return list
}

type counted struct {
	Key    []byte
	Used   int
	EndsAt time.Time
}

// admit counts the attempts, all of them, in a transaction of the platform that
// commits before anything is checked: a thousand at once get no further than one after
// the other. Where one is over its limit it refuses, and counts none: a person who is stopped
// by their address must not use up an account. Nor does that leave an entry in the
// audit log, which thousands would fill, but a line in the process's log. The first of the
// attempts is the one on the account. One round trip.
func (s *Service) admit(ctx context.Context, tx *db.Tx, by core.Actor, attempts ...attempt) error {
	list := attemptKeys(attempts)
	ends, limits := make([]time.Time, len(attempts)), map[string]attempt{}
	for i, a := range attempts {
		ends[i], limits[string(a.key)] = tx.Now.Add(a.within), a
	}
	// Held until the commit: others that try the same wait here.
	counts, err := db.All[counted](ctx, tx, lockAttemptsSQL, db.Args{"keys": list, "ends": ends, "now": tx.Now})
	if err != nil {
		return err
	}
	var wait time.Duration
	var over []string
	for _, c := range counts {
		if limit := limits[string(c.Key)]; c.Used >= limit.most {
			wait, over = max(wait, c.EndsAt.Sub(tx.Now)), append(over, limit.what)
		}
	}
	if wait > 0 {
		slices.Sort(over)
		s.log.WarnContext(ctx, "too many attempts",
			slog.String("request", by.RequestID), slog.Int64("tenant", int64(by.Tenant.ID)), slog.String("attempts", strings.Join(over, ", ")),
			slog.String("account", attempts[0].name()), slog.String("address", by.Address))
		return errTooMany(wait)
	}
	return db.Queue(tx, countAttemptsSQL, db.Args{"keys": list})
}

// admitAlone is admit in a transaction of its own. Two round trips.
func (s *Service) admitAlone(ctx context.Context, by core.Actor, attempts ...attempt) error {
	_, err := db.Platform(ctx, s.db, by, func(tx *db.Tx) (int, error) { return 0, s.admit(ctx, tx, by, attempts...) })
	return err
}

// forgive resets the counts of a person's account, because they proved to be that person, and
// takes one attempt from their address back. In a transaction of the platform.
func forgive(tx *db.Tx, account, address []attempt) error {
	return db.Queue(tx, forgiveAttemptsSQL, db.Args{
		"account": attemptKeys(account), "all": attemptKeys(slices.Concat(account, address)),
	})
}

// errTooMany says when to try again, and nothing of what was tried.
func errTooMany(wait time.Duration) error {
	in := "a minute"
	if minutes := int(math.Ceil(wait.Minutes())); minutes > 1 {
		in = fmt.Sprintf("%d minutes", minutes)
	}
	return &core.Error{Kind: core.KindThrottled, Message: "Too many attempts. Please try again in " + in + "."}
}

// forgetAttempts is the job that deletes counts whose period is over.
type forgetAttempts struct{}

// Kind names the job in the queue.
func (forgetAttempts) Kind() string { return "forget_attempts" }

func (s *Service) forgetAttempts(ctx context.Context, _ forgetAttempts) error {
	return job.Drain(ctx, s.db, "attempts", func(ctx context.Context, tx *db.Tx) (int64, error) {
		return db.Exec(ctx, tx, forgetAttemptsSQL, db.Args{"now": tx.Now, "up_to": job.Batch})
	})
}
