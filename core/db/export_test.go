package db

import "github.com/jackc/pgx/v5/pgxpool"

// Pool is the pool that serves.
func Pool(d *DB) *pgxpool.Pool { return d.pool }
