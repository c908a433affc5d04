package customer

import (
	"context"
	"slices"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// keyed is a customer's phone number and its key.
type keyed struct {
	ID       core.ID
	Phone    string
	PhoneKey string
}

const (
	maxRefusals = 10 // that are named
	rekeyBatch  = 5_000
)

// Rekey computes the keys of all phone numbers of the transaction's tenant for another country. It is
// refused, naming the numbers, if two of them would become the same. One that can't be read there keeps its
// key. It waits for transactions that write a key for the old country.
func Rekey(ctx context.Context, tx *db.Tx, country string) error {
	if err := db.TakeTime(tx); err != nil {
		return err
	}
	if err := db.Queue(tx, changeCountrySQL, nil); err != nil {
		return err
	}
	phones, err := db.All[keyed](ctx, tx, phonesSQL, nil)
	if err != nil {
		return err
	}
	moved, vacated, refusals := newKeys(phones, country)
	if len(refusals) > 0 {
		return core.Invalid(core.Fields{"country": refusals})
	}
	for batch := range slices.Chunk(vacated, rekeyBatch) {
		if _, err := db.Exec(ctx, tx, vacateKeysSQL, db.Args{"ids": batch}); err != nil {
			return err
		}
	}
	for batch := range slices.Chunk(moved, rekeyBatch) {
		ids, phoneKeys := make([]core.ID, len(batch)), make([]string, len(batch))
		for i, m := range batch {
			ids[i], phoneKeys[i] = m.ID, m.PhoneKey
		}
		if _, err := db.Exec(ctx, tx, setKeysSQL, db.Args{"ids": ids, "keys": phoneKeys}); err != nil {
			return err
		}
	}
	return nil
}

// rekeyed returns the number's key in a country: the present one if it can't be read there.
func (k keyed) rekeyed(country string) string {
	if read, refusal := readPhone(k.Phone, country); refusal == nil {
		return read.key
	}
	return k.PhoneKey
}

// newKeys returns the numbers with a new key; those that must give up their old key first, because
// another number gets it; and the violations of the country.
func newKeys(phones []keyed, country string) (moved []keyed, vacated []core.ID, refusals []core.Violation) {
	holders := make(map[string]int, len(phones)) // the number behind each new key
	var old []string                             // keys of those that move
	for i, p := range phones {
		key := p.rekeyed(country)
		if other, taken := holders[key]; taken {
			first := phones[other]
			refusals = append(refusals, core.Violation{
				Rule: "same_phones_in_country", Other: first.Phone + " and " + p.Phone, Records: [2]core.ID{first.ID, p.ID},
			})
		}
		if len(refusals) == maxRefusals {
			return nil, nil, refusals
		}
		holders[key] = i
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
