package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
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

const notifySQL = `
	select pg_notify(@channel, @payload)`

// Notify tells everyone who listens to a channel, in all processes, with the commit.
func Notify(tx *Tx, channel, payload string) error {
	return Queue(tx, notifySQL, Args{"channel": channel, "payload": payload})
}
