package db

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Listen calls heard for every notification of some channels, until ctx ends or the connection is lost,
// and returns that error. It calls ready once it listens: earlier notifications may have been
// missed. It holds one connection of a pool that was opened to listen.
func Listen(ctx context.Context, d *DB, channels []string, ready func(), heard func(payload string)) error {
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	// A listening connection can't return to the pool.
	own := conn.Hijack()
	defer func() { _ = own.Close(context.WithoutCancel(ctx)) }()
	for _, channel := range channels {
		if _, err := own.Exec(ctx, "listen "+pgx.Identifier{channel}.Sanitize()); err != nil {
			return fmt.Errorf("listen: %w", err)
		}
	}
	ready()
	for {
		n, err := waitFor(ctx, own)
		switch {
		case err == nil:
			heard(n.Payload)
		case ctx.Err() == nil && pgconn.Timeout(err) && !own.IsClosed():
			// Silence, or a network that has lost the connection.
			if err := answers(ctx, own); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// silence is how long a connection that listens is trusted without a word.
const silence = 10 * time.Second

func waitFor(ctx context.Context, conn *pgx.Conn) (*pgconn.Notification, error) {
	ctx, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	return conn.WaitForNotification(ctx)
}

func answers(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return conn.Ping(ctx)
}

// Notify notifies the listeners of a channel, in all processes, right after the commit. It is not
// part of the transaction because PostgreSQL commits transactions that notify one after the other,
// each waiting for the disk. A process that is killed loses its unsent notifications, so listeners
// must also poll.
func Notify(tx *Tx, channel, payload string) {
	tx.notes = append(tx.notes, notification{channel, payload})
}

type notification struct{ channel, payload string }

// outbox holds the notifications of committed transactions. Those that arrive during a send are
// sent together after it.
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

// notifyLater sends the notifications of a committed transaction in the background.
func (d *DB) notifyLater(ctx context.Context, notes []notification) {
	o := d.outbox
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = append(o.waiting, notes...)
	if !o.sending {
		o.sending = true
		go d.sendNotifications(context.WithoutCancel(ctx))
	}
}

// WaitForNotifications waits until all notifications are sent or given up.
func (d *DB) WaitForNotifications() {
	d.outbox.mu.Lock()
	defer d.outbox.mu.Unlock()
	for d.outbox.sending {
		d.outbox.idle.Wait()
	}
}

const notifyTimeout = 5 * time.Second

// The transaction stores nothing, so its commit need not wait for the disk.
const (
	asyncSQL  = "set local synchronous_commit = off"
	notifySQL = `
	select pg_notify(note.channel, note.payload)
	from unnest($1::text[], $2::text[]) note (channel, payload)`
)

// sendNotifications empties the outbox. What can't be sent is given up, since listeners also poll.
func (d *DB) sendNotifications(ctx context.Context) {
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
		limited, cancel := context.WithTimeout(ctx, notifyTimeout)
		_ = d.onLiveConn(limited, func(conn *pgxpool.Conn) (done bool, err error) {
			err = d.roundTrip(limited, conn, []call{{sql: beginSQL}, {sql: asyncSQL}, {notifySQL, []any{channels, payloads}}, {sql: commitSQL}}, nil)
			if isDead(conn, err) {
				return false, err // a notification may be sent twice
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
