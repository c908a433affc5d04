package db

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Listen hands every notification of a channel to heard, until ctx ends or the connection
// is lost, which it returns. ready is called once the channel is listened to: what happened
// before may have been missed. It holds one connection, of a pool that was opened to listen.
func Listen(ctx context.Context, d *DB, channel string, ready func(), heard func(payload string)) error {
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	// A connection that listens is of no other use.
	own := conn.Hijack()
	defer func() { _ = own.Close(context.WithoutCancel(ctx)) }()
	if _, err := own.Exec(ctx, "listen "+pgx.Identifier{channel}.Sanitize()); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	ready()
	for {
		n, err := own.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		heard(n.Payload)
	}
}

// Notify tells everyone who listens to a channel, in all processes, right after the commit.
// It is no part of the transaction: PostgreSQL lets the transactions that notify commit one
// after the other, each with its wait for the disk, however little they have to do with each
// other. What a process that is killed had still to tell is lost, so listeners look again now
// and then.
func Notify(tx *Tx, channel, payload string) {
	tx.notes = append(tx.notes, notification{channel, payload})
}

type notification struct{ channel, payload string }

// outbox has the notes of committed transactions. They are sent together: those that come
// while some are being sent wait for these, and no longer.
type outbox struct {
	mu      sync.Mutex
	waiting []notification
	sending bool
	idle    *sync.Cond
}

func newOutbox() *outbox {
	o := &outbox{}
	o.idle = sync.NewCond(&o.mu)
	return o
}

// notifyLater sends the notes of a transaction that has committed, without waiting for it.
func (d *DB) notifyLater(ctx context.Context, notes []notification) {
	o := d.outbox
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = append(o.waiting, notes...)
	if !o.sending {
		o.sending = true
		go d.drain(context.WithoutCancel(ctx))
	}
}

// WaitForNotifications waits until all that was to be told is told, or given up.
func (d *DB) WaitForNotifications() {
	d.outbox.mu.Lock()
	defer d.outbox.mu.Unlock()
	for d.outbox.sending {
		d.outbox.idle.Wait()
	}
}

const tellTime = 5 * time.Second

// The transaction has nothing that could be lost, so its commit doesn't wait for the disk.
const (
	hastySQL  = "set local synchronous_commit = off"
	notifySQL = `
	select pg_notify(told.channel, told.payload)
	from unnest($1::text[], $2::text[]) told (channel, payload)`
)

// drain sends what waits until nothing does. Notes that can't be sent are given up: a page that
// waits for one looks again by itself.
func (d *DB) drain(ctx context.Context) {
	for {
		o := d.outbox
		o.mu.Lock()
		notes := o.waiting
		o.waiting = nil
		if len(notes) == 0 {
			o.sending = false
			o.idle.Broadcast()
			o.mu.Unlock()
			return
		}
		o.mu.Unlock()
		channels, payloads := make([]string, len(notes)), make([]string, len(notes))
		for i, n := range notes {
			channels[i], payloads[i] = n.channel, n.payload
		}
		limited, cancel := context.WithTimeout(ctx, tellTime)
		_ = d.onLiveConn(limited, func(conn *pgxpool.Conn) (done bool, err error) {
			err = roundTrip(limited, conn, []call{{sql: beginSQL}, {sql: hastySQL}, {notifySQL, []any{channels, payloads}}, {sql: commitSQL}}, nil)
			if died(conn, err) {
				return false, err // telling twice does no harm
			}
			if err != nil {
				_, _ = conn.Exec(limited, rollbackSQL)
			}
			conn.Release()
			return true, err
		})
		cancel()
	}
}
