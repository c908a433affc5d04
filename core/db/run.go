package db

import (
	"context"

	"example.com/loyalty/core"
)

// RunInTenant is InTenant for work without a result.
func RunInTenant(ctx context.Context, d *DB, by core.Actor, fn func(tx *Tx) error) error {
	_, err := InTenant(ctx, d, by, withoutResult(fn))
	return err
}

// RunPlatform is Platform for work without a result.
func RunPlatform(ctx context.Context, d *DB, by core.Actor, fn func(tx *Tx) error) error {
	_, err := Platform(ctx, d, by, withoutResult(fn))
	return err
}

// RunWithin is Within for work without a result.
func RunWithin(ctx context.Context, d *DB, by core.Actor, fn func(tx *Tx) error) error {
	_, err := Within(ctx, d, by, withoutResult(fn))
	return err
}

func withoutResult(fn func(tx *Tx) error) func(tx *Tx) (struct{}, error) {
	return func(tx *Tx) (struct{}, error) { return struct{}{}, fn(tx) }
}
