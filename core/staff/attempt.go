package staff

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// attempt is something that may be tried so often within a while. The counts are in the
// database: they survive a restart, and all processes share them.
type attempt struct {
	key    []byte
	most   int
	within time.Duration
}

// try is an attempt at something, on somebody's account or from an address.
func try(what, whose string, most int, within time.Duration) attempt {
	key := sha256.Sum256([]byte(what + "\x00" + whose))
	return attempt{key[:], most, within}
}

func keys(attempts []attempt) [][]byte {
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
// commits before anything is checked: thousands at once are no more than few after
// each other. Where one is over its limit it refuses, and counts none: who is stopped
// by their address must not use up somebody's account. One round trip.
func admit(ctx context.Context, tx *db.Tx, attempts ...attempt) error {
	list := keys(attempts)
	ends, most := make([]time.Time, len(attempts)), map[string]int{}
	for i, a := range attempts {
		ends[i], most[string(a.key)] = tx.Now.Add(a.within), a.most
	}
	// Held until the commit: others that try the same wait here.
	counts, err := db.All[counted](ctx, tx, lockAttemptsSQL, db.Args{"keys": list, "ends": ends, "now": tx.Now})
	if err != nil {
		return err
	}
	var wait time.Duration
	for _, c := range counts {
		if c.Used >= most[string(c.Key)] {
			wait = max(wait, c.EndsAt.Sub(tx.Now))
		}
	}
	if wait > 0 {
		return tooMany(wait)
	}
	return db.Queue(tx, countAttemptsSQL, db.Args{"keys": list})
}

// admitted is admit in a transaction of its own. Two round trips.
func (s *Service) admitted(ctx context.Context, by core.Actor, attempts ...attempt) error {
	_, err := db.Platform(ctx, s.db, by, func(tx *db.Tx) (int, error) { return 0, admit(ctx, tx, attempts...) })
	return err
}

// forgive begins the counts of a person's account anew, since it was them, and takes one
// attempt from their address back. In a transaction of the platform.
func forgive(tx *db.Tx, account, address []attempt) error {
	return db.Queue(tx, forgiveAttemptsSQL, db.Args{
		"account": keys(account), "all": keys(slices.Concat(account, address)),
	})
}

// tooMany says when to try again, and nothing of what was tried.
func tooMany(wait time.Duration) error {
	in := "a minute"
	if minutes := int(math.Ceil(wait.Minutes())); minutes > 1 {
		in = fmt.Sprintf("%d minutes", minutes)
	}
	return &core.Error{Kind: core.KindThrottled, Message: "Too many attempts. Please try again in " + in + "."}
}

// forgetAttempts is the job that deletes counts whose while is over.
type forgetAttempts struct{}

// Kind names the job in the queue.
func (forgetAttempts) Kind() string { return "forget_attempts" }

func (s *Service) forgetAttempts(ctx context.Context, _ forgetAttempts) error {
	_, err := db.Platform(ctx, s.db, core.System(core.Tenant{}, "attempts"), func(tx *db.Tx) (int, error) {
		return 0, db.Queue(tx, forgetAttemptsSQL, db.Args{"now": tx.Now})
	})
	return err
}
