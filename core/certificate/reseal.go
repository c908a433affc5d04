package certificate

import (
	"context"
	"errors"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/vault"
)

// resealBatch is the number of files in a transaction of Reseal.
const resealBatch = 200

// Resealed is the result of a rotation of the secret.
type Resealed struct {
	Sealed  int // files sealed again
	Current int // files that were already sealed with the first secret
	Lost    int // files that no secret opens, which were deleted
}

const lockSealedSQL = `
	select key, sealed
	from loyalty.tls_file
	where key > @after
	order by key
	limit @most
	for update`

const resealSQL = `
	update loyalty.tls_file f
	set sealed = n.sealed
	from unnest(@files::text[], @sealed::bytea[]) n (key, sealed)
	where f.key = n.key`

const deleteLostSQL = `
	delete from loyalty.tls_file
	where key = any(@lost)`

// Reseal seals all files with the first secret, in batches, while processes serve. A file that no secret opens
// is deleted, and its certificate requested again. The caller has checked that the secret is the database's.
func Reseal(ctx context.Context, d *db.DB, by core.Actor, keys vault.Keys) (Resealed, error) {
	var done Resealed
	for after := ""; ; {
		type batch struct {
			Resealed
			last string
		}
		b, err := db.In(ctx, d.Platform(), func(tx *db.Tx) (b batch, err error) {
			files, err := db.All[struct {
				Key    string
				Sealed []byte
			}](ctx, tx, lockSealedSQL, db.Args{"after": after, "most": resealBatch})
			if err != nil {
				return b, err
			}
			var names, lost []string
			var fresh [][]byte
			for _, file := range files {
				b.last = file.Key
				sealed, err := keys.Reseal(purpose, file.Key, file.Sealed)
				switch {
				case errors.Is(err, vault.ErrSealed):
					lost = append(lost, file.Key)
				case err != nil:
					return b, err
				case sealed == nil:
					b.Current++
				default:
					names, fresh = append(names, file.Key), append(fresh, sealed)
				}
			}
			b.Sealed, b.Lost = len(names), len(lost)
			return b, errors.Join(
				db.Queue(tx, resealSQL, db.Args{"files": names, "sealed": fresh}),
				db.Queue(tx, deleteLostSQL, db.Args{"lost": lost}),
			)
		})
		if err != nil {
			return done, err
		}
		done.Sealed, done.Current, done.Lost = done.Sealed+b.Sealed, done.Current+b.Current, done.Lost+b.Lost
		if b.last == "" {
			return done, nil
		}
		after = b.last
	}
}
