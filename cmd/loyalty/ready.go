package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
)

const (
	readyFresh = time.Second     // how long a result is cached
	writeEvery = 5 * time.Second // how often a write is tested
)

// readinessCheck checks whether this process can serve requests.
type readinessCheck struct {
	db  *db.DB
	now func() time.Time

	mu     sync.Mutex // held during a check: concurrent callers share its result
	at     time.Time  // of the last check
	wrote  time.Time  // when a write last succeeded
	notice string
	err    error
}

func newReadiness(d *db.DB) *readinessCheck { return &readinessCheck{db: d, now: time.Now} }

// check returns the cached result, or that of a new check, which continues when its caller
// disconnects.
func (r *readinessCheck) check(ctx context.Context) (notice string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.now(); r.at.IsZero() || now.Sub(r.at) >= readyFresh || now.Before(r.at) {
		r.notice, r.err = r.query(context.WithoutCancel(ctx), now)
		r.at = r.now()
	}
	return r.notice, r.err
}

func (r *readinessCheck) query(ctx context.Context, now time.Time) (notice string, err error) {
	if notice, err = r.db.CheckReady(ctx); err != nil {
		return "", err
	}
	if r.wrote.IsZero() || now.Sub(r.wrote) >= writeEvery {
		if err := r.db.CheckWritable(ctx); err != nil {
			r.wrote = time.Time{} // tested again by the next check
			return "", err
		}
		r.wrote = now
	}
	return notice, nil
}

var errStopping = errors.New("this process is stopping")

// ready reports whether requests should be sent to this process. A stopping process fails at
// once, but serves requests until its proxy has noticed (LOYALTY_STOP_DELAY).
func (a *app) ready(ctx context.Context) (notice string, err error) {
	switch {
	case a.stopping.Load():
		return "", errStopping
	case a.wrongSecret.Load():
		return "", auth.ErrWrongSecret
	}
	return a.readiness.check(ctx)
}
