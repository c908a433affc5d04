package auth

import (
	"context"
	"errors"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/vault"
)

// A sealed constant tells whether a process has the installation's secret.
const (
	checkPurpose = "installation"
	checkOwner   = "secret"
	checkText    = "loyalty"
)

// ErrWrongSecret refuses a secret that is not the database's.
var ErrWrongSecret = errors.New("the secret is not the one that this database was used with")

// CheckSecret returns ErrWrongSecret unless one of the secrets is the database's. A new database
// adopts the first one.
func CheckSecret(ctx context.Context, d *db.DB, keys vault.Keys) error {
	return db.Run(ctx, d.Platform(), func(tx *db.Tx) error {
		sealed, err := db.One[[]byte](ctx, tx, secretCheckSQL, nil)
		if errors.Is(err, core.ErrNotFound) {
			return adoptSecret(ctx, tx, keys)
		}
		if err != nil {
			return err
		}
		return openCheck(keys, sealed)
	})
}

// HasSecret reports whether the database was used with a secret.
func HasSecret(ctx context.Context, d *db.DB) (bool, error) {
	_, err := db.In(ctx, d.Platform(), func(tx *db.Tx) ([]byte, error) { return db.One[[]byte](ctx, tx, secretCheckSQL, nil) })
	if errors.Is(err, core.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func openCheck(keys vault.Keys, sealed []byte) error {
	_, err := keys.Open(checkPurpose, checkOwner, sealed)
	if errors.Is(err, vault.ErrSealed) {
		return ErrWrongSecret
	}
	return err
}

// adoptSecret makes the first secret the database's. If two processes start at once, the second
// finds the secret of the first.
func adoptSecret(ctx context.Context, tx *db.Tx, keys vault.Keys) error {
	sealed, err := keys.Seal(checkPurpose, checkOwner, checkText)
	if err != nil {
		return err
	}
	if _, err := db.Exec(ctx, tx, adoptSecretSQL, db.Args{"sealed": sealed}); err != nil {
		return err
	}
	if sealed, err = db.One[[]byte](ctx, tx, secretCheckSQL, nil); err != nil {
		return err
	}
	return openCheck(keys, sealed)
}

// resealBatch is the number of people in a transaction of Reseal.
const resealBatch = 200

// Resealed is the result of a rotation of the secret.
type Resealed struct {
	Sealed  int             // secrets sealed again
	Current int             // secrets that were already sealed with the first secret
	Lost    []LostTwoFactor // people whose two-step verification no secret opens
}

// LostTwoFactor is a person whose two-step verification can't be opened.
type LostTwoFactor struct {
	Email string
	Slug  string // of their business; "": a super-admin
}

type sealedTwoFactor struct {
	StaffID     int64
	Email       string
	Slug        string
	TotpSecret  []byte
	TotpPending []byte
}

// Reseal seals everything that is stored sealed (secrets of two-step verification, in use and
// pending, and the check of CheckSecret) with the first secret. It commits in batches, can be
// stopped and run again, and works while other processes serve with the same secrets. Without
// lost, one of the secrets must be the database's (ErrWrongSecret). With lost, the first one becomes
// the database's, and sealed data that can't be opened is given up.
func Reseal(ctx context.Context, d *db.DB, by core.Actor, keys vault.Keys, lost bool) (Resealed, error) {
	var done Resealed
	if err := CheckSecret(ctx, d, keys); err != nil && (!lost || !errors.Is(err, ErrWrongSecret)) {
		return done, err
	}
	for after := int64(0); ; {
		type batch struct {
			Resealed
			last int64
		}
		b, err := db.In(ctx, d.Platform(), func(tx *db.Tx) (b batch, err error) {
			people, err := db.All[sealedTwoFactor](ctx, tx, lockSealedSQL, db.Args{"after": after, "most": resealBatch})
			if err != nil || len(people) == 0 {
				return b, err
			}
			b.last = people[len(people)-1].StaffID
			return b, reseal(tx, keys, people, &b.Resealed)
		})
		if err != nil {
			return done, err
		}
		done.Sealed, done.Current, done.Lost = done.Sealed+b.Sealed, done.Current+b.Current, append(done.Lost, b.Lost...)
		if b.last == 0 {
			break
		}
		after = b.last
	}
	return done, db.Run(ctx, d.Platform(), func(tx *db.Tx) error {
		sealed, err := keys.Seal(checkPurpose, checkOwner, checkText)
		if err != nil {
			return err
		}
		return errors.Join(
			db.Queue(tx, replaceSecretCheckSQL, db.Args{"sealed": sealed}),
			audit.Write(tx, by, audit.Entry{
				Action: "platform.rotate_secret", Subject: "platform", ID: "secret",
				New: map[string]any{"resealed": done.Sealed, "lost": len(done.Lost)},
			}),
		)
	})
}

// reseal seals the secrets of people again, in one statement.
func reseal(tx *db.Tx, keys vault.Keys, people []sealedTwoFactor, done *Resealed) error {
	var ids []int64
	var secrets, pendings [][]byte
	for _, p := range people {
		fresh := make([][]byte, 2) // nil: unchanged
		lost := false
		for i, sealed := range [][]byte{p.TotpSecret, p.TotpPending} {
			if sealed == nil {
				continue
			}
			var err error
			fresh[i], err = keys.Reseal(totpPurpose, idText(p.StaffID), sealed)
			switch {
			case errors.Is(err, vault.ErrSealed):
				lost = true
			case err != nil:
				return err
			case fresh[i] == nil:
				done.Current++
			default:
				done.Sealed++
			}
		}
		if lost {
			done.Lost = append(done.Lost, LostTwoFactor{p.Email, p.Slug})
		}
		if fresh[0] != nil || fresh[1] != nil {
			ids, secrets, pendings = append(ids, p.StaffID), append(secrets, fresh[0]), append(pendings, fresh[1])
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return db.Queue(tx, resealSQL, db.Args{"ids": ids, "secrets": secrets, "pendings": pendings})
}

// Moved is a person who came from another installation and whose two-step verification no secret of this one opens.
type Moved struct {
	LostTwoFactor
	ForGood bool // also with the other installation's secret: the person's number changed
}

// AdoptSealed seals the secrets of people who came to the transaction's tenant from another installation for their
// numbers here; before has the numbers there. What no secret opens stays as it is, so that two-step verification stays on.
func AdoptSealed(ctx context.Context, tx *db.Tx, keys vault.Keys, before map[int64]int64) (unread []Moved, err error) {
	people, err := db.All[sealedTwoFactor](ctx, tx, sealedOfTenantSQL, nil)
	if err != nil {
		return nil, err
	}
	var ids []int64
	var secrets, pendings [][]byte
	for _, p := range people {
		secret, err := adopt(keys, before[p.StaffID], p.StaffID, p.TotpSecret)
		pending, pendingErr := adopt(keys, before[p.StaffID], p.StaffID, p.TotpPending)
		err = errors.Join(err, pendingErr)
		switch {
		case errors.Is(err, vault.ErrSealed):
			unread = append(unread, Moved{LostTwoFactor{p.Email, p.Slug}, before[p.StaffID] != p.StaffID})
		case err != nil:
			return nil, err
		default:
			ids, secrets, pendings = append(ids, p.StaffID), append(secrets, secret), append(pendings, pending)
		}
	}
	return unread, db.Queue(tx, resealSQL, db.Args{"ids": ids, "secrets": secrets, "pendings": pendings})
}

// adopt seals a person's secret again, for their new number. It returns nil if they have none, or kept the number.
func adopt(keys vault.Keys, before, now int64, sealed []byte) ([]byte, error) {
	if sealed == nil {
		return nil, nil
	}
	text, err := keys.Open(totpPurpose, idText(before), sealed)
	if err != nil || before == now {
		return nil, err
	}
	return keys.Seal(totpPurpose, idText(now), text)
}

const secretCheckSQL = `
	select sealed
	from loyalty.secret_check`

const adoptSecretSQL = `
	insert into loyalty.secret_check (sealed)
	values (@sealed)
	on conflict do nothing`

const replaceSecretCheckSQL = `
	update loyalty.secret_check
	set sealed = @sealed`

const lockSealedSQL = `
	select c.staff_id, p.email, coalesce(n.slug, '') as slug, c.totp_secret, c.totp_pending
	from loyalty.credential c
	join loyalty.staff p on p.id = c.staff_id
	left join loyalty.tenant n on n.id = c.tenant_id
	where c.staff_id > @after
		and (c.totp_secret is not null or c.totp_pending is not null)
	order by c.staff_id
	limit @most
	for no key update of c`

const sealedOfTenantSQL = `
	select c.staff_id, p.email, n.slug, c.totp_secret, c.totp_pending
	from loyalty.credential c
	join loyalty.staff p on p.id = c.staff_id
	join loyalty.tenant n on n.id = c.tenant_id
	where c.tenant_id = @tenant_id
		and (c.totp_secret is not null or c.totp_pending is not null)
	order by c.staff_id`

const resealSQL = `
	update loyalty.credential c
	set totp_secret = coalesce(n.secret, c.totp_secret),
		totp_pending = coalesce(n.pending, c.totp_pending)
	from unnest(@ids::bigint[], @secrets::bytea[], @pendings::bytea[]) n (id, secret, pending)
	where c.staff_id = n.id`
