package customer

import (
	"context"
	"slices"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// keyed is a phone number and what it is compared by.
type keyed struct {
	ID       core.ID
	Phone    string
	PhoneKey string
}

const (
	maxCollisions = 10 // that are named
	rekeyBatch    = 5_000
)

// Rekey reads every phone number of the transaction's tenant as of another country.
// Numbers that would be the same from then on refuse it, and are named. It
// waits for everybody who is writing a key as of the old one.
func Rekey(ctx context.Context, tx *db.Tx, country string) error {
	if err := db.TakeTime(tx); err != nil {
		return err
	}
	if err := db.Queue(tx, moveCountrySQL, nil); err != nil {
		return err
	}
	phones, err := db.All[keyed](ctx, tx, phonesSQL, nil)
	if err != nil {
		return err
	}
	moved, vacated, refusals := rekeyed(phones, country)
	if len(refusals) > 0 {
		return core.Invalid(core.Fields{"country": refusals})
	}
	for batch := range slices.Chunk(vacated, rekeyBatch) {
		if _, err := db.Exec(ctx, tx, vacateKeysSQL, db.Args{"ids": batch}); err != nil {
			return err
		}
	}
	for batch := range slices.Chunk(moved, rekeyBatch) {
		ids, keys := make([]core.ID, len(batch)), make([]string, len(batch))
		for i, m := range batch {
			ids[i], keys[i] = m.ID, m.PhoneKey
		}
		if _, err := db.Exec(ctx, tx, setKeysSQL, db.Args{"ids": ids, "keys": keys}); err != nil {
			return err
		}
	}
	return nil
}

// rekeyed are the numbers whose key changes, with the new one; those of them that must
// give up theirs first, because another gets it; and what stands against the country.
func rekeyed(phones []keyed, country string) (moved []keyed, vacated []core.ID, refusals []core.Violation) {
	holders := make(map[string]string, len(phones)) // the number behind each new key
	var old []string                                // keys of those that move
	for _, p := range phones {
		key, ok := phoneKey(p.Phone, country)
		other, taken := holders[key]
		switch {
		case !ok:
			refusals = append(refusals, core.Violation{Rule: "phone_in_country", Other: p.Phone})
		case taken:
			refusals = append(refusals, core.Violation{Rule: "same_phones_in_country", Other: other + " and " + p.Phone})
		}
		if len(refusals) == maxCollisions {
			return nil, nil, refusals
		}
		holders[key] = p.Phone
		if key != p.PhoneKey {
			old = append(old, p.PhoneKey)
			moved = append(moved, keyed{p.ID, p.Phone, key})
		}
	}
	for i, m := range moved {
		if _, wanted := holders[old[i]]; wanted {
			vacated = append(vacated, m.ID)
		}
	}
	return moved, vacated, refusals
}
