package db

import "github.com/jackc/pgx/v5/pgxpool"

// Pool returns the database's pool.
func Pool(d *DB) *pgxpool.Pool { return d.pool }

// Queues returns the number of tenants for which a combiner holds something.
func Queues[K comparable, V any](c *Combiner[K, V]) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queues)
}
