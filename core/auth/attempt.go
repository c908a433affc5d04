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

// attempt is an action that is allowed a limited number of times within a period. The counts are
// in the database, so they survive a restart and all processes share them.
type attempt struct {
	action string
	key    []byte
	limit  int
	period time.Duration
}

func newAttempt(action, target string, limit int, period time.Duration) attempt {
	key := sha256.Sum256([]byte(action + "\x00" + target))
	return attempt{action, key[:], limit, period}
}

// attempts are the attempts that one request makes.
type attempts struct {
	accountID string    // identifies the account in the process's log, but not which it is
	own       []attempt // in the person's own browser, or on their account from one address
	shared    []attempt // on the account from all addresses, and from one address on all accounts
}

func (t attempts) all() []attempt { return slices.Concat(t.own, t.shared) }

// tenantKey identifies an account within its tenant or the platform.
func tenantKey(t core.Tenant, email string) string { return idText(int64(t.ID)) + " " + email }

// limits says how often an action may be tried within a period.
type limits struct {
	action           string
	own              int // on an account from one address, or in a browser known to the account
	within           time.Duration
	everywhere       int // on the account from all addresses
	everywhereWithin time.Duration
	fromAddress      int // on all accounts, within the first period
}

// Strangers can't lock a person out: their attempts count against their own addresses, and
// against the account only at a high limit. A browser in which the person signed in before has a
// count of its own. An authentication code has only a million values, of which three are valid.
var (
	signInLimits = limits{
		action: "sign in", own: 10, within: 15 * time.Minute, everywhere: 100, everywhereWithin: time.Hour, fromAddress: 50,
	}
	codeLimits = limits{
		action: "code", own: 5, within: 15 * time.Minute, everywhere: 20, everywhereWithin: time.Hour, fromAddress: 50,
	}
	forgotLimits = limits{
		action: "forgot", own: 3, within: time.Hour, everywhere: 10, everywhereWithin: time.Hour, fromAddress: 20,
	}
)

// attemptsOn returns the attempts of a visitor on the account with an e-mail address, which need
// not exist. A new password starts new counts.
func (s *Service) attemptsOn(v Visitor, l limits, email string, who account) (attempts, error) {
	target, address := tenantKey(v.Tenant, email), s.addressKey(v.Address)
	t := attempts{accountID: newAttempt("account", target, 0, 0).logID()}
	if who.PasswordSetAt != nil {
		target += " " + idText(who.PasswordSetAt.UnixMilli())
	}
	browser, err := s.knownDevice(v, who)
	if err != nil {
		return attempts{}, err
	}
	if browser != "" {
		t.own = []attempt{newAttempt(l.action+" by browser", target+" "+browser, l.own, l.within)}
		return t, nil
	}
	t.own = []attempt{newAttempt(l.action+" by address", target+" "+address, l.own, l.within)}
	t.shared = []attempt{
		newAttempt(l.action+" by all addresses", target, l.everywhere, l.everywhereWithin),
		newAttempt(l.action+" by address on all accounts", address, l.fromAddress, l.within),
	}
	return t, nil
}

// confirmAttempts returns the attempt of a signed-in person to give their password again.
func confirmAttempts(person int64) attempts {
	a := newAttempt("confirm as", idText(person), 10, 15*time.Minute)
	return attempts{accountID: a.logID(), own: []attempt{a}}
}

// logID identifies attempts on one account in the log without telling which account it is.
func (a attempt) logID() string { return hex.EncodeToString(a.key[:8]) }

func attemptKeys(list []attempt) [][]byte {
	keys := make([][]byte, len(list))
	for i, a := range list {
		keys[i] = a.key
	}
	return keys
}

type attemptCount struct {
	Key    []byte
	Used   int
	EndsAt time.Time
}

// countAttempts counts all the attempts in a transaction of the platform that commits before
// anything is checked, so a thousand at once get no further than one after another. If one is over
// its limit it refuses and counts none: a person stopped by their address must not use up an
// account. The refusal is written to the process's log, not to the audit log, which thousands
// would fill.
func (s *Service) countAttempts(ctx context.Context, tx *db.Tx, by core.Actor, t attempts) error {
	keys := attemptKeys(t.all())
	ends, counted := make([]time.Time, len(keys)), map[string]attempt{}
	for i, a := range t.all() {
		ends[i], counted[string(a.key)] = tx.Now.Add(a.period), a
	}
	// Locked until the commit: other requests that try the same wait here.
	counts, err := db.All[attemptCount](ctx, tx, lockAttemptsSQL, db.Args{"keys": keys, "ends": ends, "now": tx.Now})
	if err != nil {
		return err
	}
	var wait time.Duration
	var over []string
	for _, c := range counts {
		if a := counted[string(c.Key)]; c.Used >= a.limit {
			wait, over = max(wait, c.EndsAt.Sub(tx.Now)), append(over, a.action)
		}
	}
	if wait > 0 {
		slices.Sort(over)
		s.log.WarnContext(ctx, "too many attempts",
			slog.String("request", by.RequestID), slog.Int64("tenant", int64(by.Tenant.ID)), slog.String("attempts", strings.Join(over, ", ")),
			slog.String("account", t.accountID), slog.String("address", by.Address))
		return errTooMany(wait)
	}
	return db.Queue(tx, countAttemptsSQL, db.Args{"keys": keys})
}

// countAttemptsAlone is countAttempts in a transaction of its own.
func (s *Service) countAttemptsAlone(ctx context.Context, by core.Actor, t attempts) error {
	return db.Run(ctx, s.db.Platform(), func(tx *db.Tx) error { return s.countAttempts(ctx, tx, by, t) })
}

// forgiveAttempts resets the counts of a person's own attempts, because they proved to be that
// person, and takes one attempt off the counts they share with strangers. In a transaction of the
// platform.
func forgiveAttempts(tx *db.Tx, counted ...attempts) error {
	var own, all []attempt
	for _, t := range counted {
		own, all = append(own, t.own...), append(all, t.all()...)
	}
	return db.Queue(tx, forgiveAttemptsSQL, db.Args{"own": attemptKeys(own), "all": attemptKeys(all)})
}

// compare is passwordMatches for an attempt that was counted. The attempt is taken back if too
// many others wait to hash, since the password was not checked.
func (s *Service) compare(ctx context.Context, by core.Actor, t attempts, password string, hash *string) (bool, error) {
	right, err := passwordMatches(ctx, by.Tenant.ID, password, hash)
	if core.IsKind(err, core.KindUnavailable) {
		err = errors.Join(err, db.Run(ctx, s.db.Platform(), func(tx *db.Tx) error {
			return db.Queue(tx, forgiveAttemptsSQL, db.Args{"own": [][]byte{}, "all": attemptKeys(t.all())})
		}))
	}
	return right, err
}

// errTooMany says when to try again, but not what was tried.
func errTooMany(wait time.Duration) error {
	in := "a minute"
	if minutes := int(math.Ceil(wait.Minutes())); minutes > 1 {
		in = fmt.Sprintf("%d minutes", minutes)
	}
	return &core.Error{Kind: core.KindThrottled, Message: "Too many attempts. Please try again in " + in + ".", Wait: wait}
}

// deleteOldAttempts is the job that deletes counts whose period is over.
type deleteOldAttempts struct{}

// Kind names the job in the queue.
func (deleteOldAttempts) Kind() string { return "delete_old_attempts" }

// KindAliases has the name that earlier builds queue it under.
func (deleteOldAttempts) KindAliases() []string { return []string{"forget_attempts"} }

func (s *Service) deleteOldAttempts(ctx context.Context, _ deleteOldAttempts) error {
	return job.Drain(ctx, s.db, func(ctx context.Context, tx *db.Tx) (int64, error) {
		return db.Exec(ctx, tx, deleteOldAttemptsSQL, db.Args{"now": tx.Now, "up_to": job.Batch})
	})
}
