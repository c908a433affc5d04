package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
)

// How long what was found is told to everyone who asks, and how often it is tried whether the
// database can write.
const (
	readyFresh = time.Second
	writeEvery = 5 * time.Second
)

// readinessCheck is whether requests should be sent to this process. Its database has one connection,
// which nothing else uses: however busy the others are, it says how the database is.
type readinessCheck struct {
	db  *db.DB
	now func() time.Time

	mu     sync.Mutex // held while one looks: the others wait for what it finds
	at     time.Time  // of the last look
	wrote  time.Time  // when a write last succeeded
	notice string
	err    error
}

func newReadiness(d *db.DB) *readinessCheck { return &readinessCheck{db: d, now: time.Now} }

// check is what the last look found, or a new look's result. A look belongs to none of the requests that ask:
// it goes on when they hang up.
func (r *readinessCheck) check(ctx context.Context) (notice string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.now(); r.at.IsZero() || now.Sub(r.at) >= readyFresh || now.Before(r.at) {
		r.notice, r.err = r.look(context.WithoutCancel(ctx), now)
		r.at = r.now()
	}
	return r.notice, r.err
}

func (r *readinessCheck) look(ctx context.Context, now time.Time) (notice string, err error) {
	steps, err := r.db.CheckReady(ctx)
	if err != nil {
		return "", err
	}
	if r.wrote.IsZero() || now.Sub(r.wrote) >= writeEvery {
		if err := r.db.CheckWritable(ctx); err != nil {
			r.wrote = time.Time{} // tried again at the next look
			return "", err
		}
		r.wrote = now
	}
	return steps.Notice(), nil
}

var errStopping = errors.New("this process is stopping")

// ready says whether requests should be sent to this process. One that was told to stop says
// no at once, and answers all the same until its proxy has seen that (LOYALTY_STOP_DELAY).
func (a *app) ready(ctx context.Context) (notice string, err error) {
	switch {
	case a.stopping.Load():
		return "", errStopping
	case a.wrongSecret.Load():
		return "", auth.ErrWrongSecret
	}
	return a.readiness.check(ctx)
}
