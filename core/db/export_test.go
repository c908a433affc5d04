package db

import "github.com/jackc/pgx/v5/pgxpool"

// Pool returns the database's pool.
func Pool(d *DB) *pgxpool.Pool { return d.pool }
