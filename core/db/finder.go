package db

import (
	"context"

	"example.com/loyalty/core"
)

// Finder finds records of a tenant by ID. Those asked for at the same time are read by one statement.
type Finder[T any] struct {
	db       *DB
	together Combined[core.ID, T]
}

// NewFinder returns a finder. One statement selects the record with @id, the other those with @ids; id returns a
// record's. The other compares with array(select unnest(@ids::uuid[])): knowing the array, PostgreSQL would make
// a new plan for each, which takes longer than a read.
func NewFinder[T any](d *DB, one, all string, id func(T) core.ID) *Finder[T] {
	return &Finder[T]{d, NewCombiner(MaxTogether, func(ctx context.Context, tenant core.TenantID, ids []core.ID) (map[core.ID]T, error) {
		sql, args := all, Args{"ids": ids}
		if len(ids) == 1 {
			sql, args = one, Args{"id": ids[0]}
		}
		rows, err := All[T](ctx, Scope{db: d, tenant: tenant}, sql, args)
		found := make(map[core.ID]T, len(rows))
		for _, row := range rows {
			found[id(row)] = row
		}
		return found, err
	}).Do}
}

// Find returns a record of the actor's tenant, or core.ErrNotFound.
func (f *Finder[T]) Find(ctx context.Context, by core.Actor, id core.ID) (T, error) {
	s := f.db.Tenant(by)
	if s.err != nil {
		var none T
		return none, s.err
	}
	return f.together(ctx, s.tenant, id)
}
