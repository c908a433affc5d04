package dbtest

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/loyalty/core/db"
)

var owners sync.Map // pools, by the URL of the database

// Owner returns a pool of the login that owns the tables of d and is exempt from policies: for checking results and
// causing damage.
func Owner(d *db.DB) *pgxpool.Pool {
	url := d.OwnerURL()
	if known, ok := owners.Load(url); ok {
		return known.(*pgxpool.Pool)
	}
	pool, err := pgxpool.New(context.Background(), url)
	if err != nil {
		panic(err) // the database was opened by this URL
	}
	if known, raced := owners.LoadOrStore(url, pool); raced {
		pool.Close()
		return known.(*pgxpool.Pool)
	}
	return pool
}

// Analyze updates the statistics of customers, after a test made thousands. The tests' server has no autovacuum, and with the
// statistics of a few customers, PostgreSQL compares all customers of a business with all of its accounts.
func Analyze(ctx context.Context, d *db.DB) error {
	_, err := Owner(d).Exec(ctx, "analyze loyalty.customer, loyalty.account")
	return err
}
