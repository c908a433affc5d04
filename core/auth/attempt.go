package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
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

// newAttempt is an attempt at something on an account or from an address, at most so often
// within a period.
func newAttempt(what, target string, most int, within time.Duration) attempt {
	key := sha256.Sum256([]byte(what + "\x00" + target))
	return attempt{what, key[:], most, within}
}

// attempts are the attempts that one request makes.
type attempts struct {
	account string    // names the account in the log, without telling which it is
	own     []attempt // by the person's own browser, or on their account from one address
	shared  []attempt // on the account from all addresses, and from one address on all accounts
}

// tenantKey names an account within its tenant, or within the platform.
func tenantKey(t core.Tenant, account string) string { return idText(int64(t.ID)) + " " + account }

// limits are how often something may be tried within a period: on an account from one address,
// or by a browser in which its person signed in before; on the account from all addresses; and
// from one address on all accounts.
type limits struct {
	what             string
	own              int
	within           time.Duration // for own and fromAddress
	everywhere       int
	everywhereWithin time.Duration
	fromAddress      int
}

// Strangers can't lock a person out: what they try counts against their own addresses, and their
// addresses together only where they are many. A browser in which the person signed in before
// has a count of its own. A code has only a million values, of which three are right.
var (
	signInLimits = limits{
		what: "sign in", own: 10, within: 15 * time.Minute, everywhere: 100, everywhereWithin: time.Hour, fromAddress: 50,
	}
	codeLimits = limits{
		what: "code", own: 5, within: 15 * time.Minute, everywhere: 20, everywhereWithin: time.Hour, fromAddress: 50,
	}
	forgotLimits = limits{
		what: "forgot", own: 3, within: time.Hour, everywhere: 10, everywhereWithin: time.Hour, fromAddress: 20,
	}
)

// attemptsOn are the attempts of a visitor on the account with an e-mail address, which need not
// exist. They are counted anew for each password that the account gets.
func (s *Service) attemptsOn(v Visitor, l limits, email string, who account) (attempts, error) {
	account, address := tenantKey(v.Tenant, email), s.addressKey(v.Address)
	t := attempts{account: newAttempt("account", account, 0, 0).logID()}
	if who.PasswordSetAt != nil {
		account += " " + idText(who.PasswordSetAt.UnixMilli())
	}
	browser, err := s.knownDevice(v, who)
	if err != nil {
		return attempts{}, err
	}
	if browser != "" {
		t.own = []attempt{newAttempt(l.what+" by browser", account+" "+browser, l.own, l.within)}
		return t, nil
	}
	t.own = []attempt{newAttempt(l.what+" by address", account+" "+address, l.own, l.within)}
	t.shared = []attempt{
		newAttempt(l.what+" by all addresses", account, l.everywhere, l.everywhereWithin),
		newAttempt(l.what+" by address on all accounts", address, l.fromAddress, l.within),
	}
	return t, nil
}

// confirmTries is how often a signed-in person may give their password again.
func confirmTries(person int64) attempts {
	a := newAttempt("confirm as", idText(person), 10, 15*time.Minute)
	return attempts{account: a.logID(), own: []attempt{a}}
}

// logID tells in the log which attempts are on one account, and not on which.
func (a attempt) logID() string { return hex.EncodeToString(a.key[:8]) }

func attemptKeys(attempts []attempt) [][]byte {
	list := make([][]byte, len(attempts))
	for i, a := range attempts {
		list[i] = a.key
	}
	return list
}

type attemptCount struct {
	Key    []byte
	Used   int
	EndsAt time.Time
}

// countAttempts counts the attempts, all of them, in a transaction of the platform that
// commits before anything is checked: a thousand at once get no further than one after
// the other. Where one is over its limit it refuses, and counts none: a person who is stopped
// by their address must not use up an account. Nor does that leave an entry in the
// audit log, which thousands would fill, but a line in the process's log. One round trip.
func (s *Service) countAttempts(ctx context.Context, tx *db.Tx, by core.Actor, t attempts) error {
	attempts := slices.Concat(t.own, t.shared)
	list := attemptKeys(attempts)
	ends, limits := make([]time.Time, len(attempts)), map[string]attempt{}
	for i, a := range attempts {
		ends[i], limits[string(a.key)] = tx.Now.Add(a.within), a
	}
	// Held until the commit: others that try the same wait here.
	counts, err := db.All[attemptCount](ctx, tx, lockAttemptsSQL, db.Args{"keys": list, "ends": ends, "now": tx.Now})
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
			slog.String("account", t.account), slog.String("address", by.Address))
		return errTooMany(wait)
	}
	return db.Queue(tx, countAttemptsSQL, db.Args{"keys": list})
}

// countAttemptsAlone is admit in a transaction of its own. Two round trips.
func (s *Service) countAttemptsAlone(ctx context.Context, by core.Actor, t attempts) error {
	_, err := db.Platform(ctx, s.db, by, func(tx *db.Tx) (int, error) { return 0, s.countAttempts(ctx, tx, by, t) })
	return err
}

// forgiveAttempts begins the counts of a person's own attempts anew, because they proved to be that
// person, and takes one attempt of those that they share with strangers back. In a transaction of
// the platform.
func forgiveAttempts(tx *db.Tx, all ...attempts) error {
	var own, list []attempt
	for _, t := range all {
		own, list = append(own, t.own...), append(append(list, t.own...), t.shared...)
	}
	return db.Queue(tx, forgiveAttemptsSQL, db.Args{"own": attemptKeys(own), "all": attemptKeys(list)})
}

// compare is matches for an attempt that was counted: where too many others wait to hash, the
// password was not looked at, and the attempt does not count.
func (s *Service) compare(ctx context.Context, by core.Actor, t attempts, password string, hash *string) (bool, error) {
	right, err := passwordMatches(ctx, by.Tenant.ID, password, hash)
	if core.IsKind(err, core.KindUnavailable) {
		_, failed := db.Platform(ctx, s.db, by, func(tx *db.Tx) (int, error) {
			return 0, db.Queue(tx, forgiveAttemptsSQL, db.Args{"own": [][]byte{}, "all": attemptKeys(slices.Concat(t.own, t.shared))})
		})
		err = errors.Join(err, failed)
	}
	return right, err
}

// errTooMany says when to try again, and nothing of what was tried.
func errTooMany(wait time.Duration) error {
	in := "a minute"
	if minutes := int(math.Ceil(wait.Minutes())); minutes > 1 {
		in = fmt.Sprintf("%d minutes", minutes)
	}
	return &core.Error{Kind: core.KindThrottled, Message: "Too many attempts. Please try again in " + in + ".", Wait: wait}
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
