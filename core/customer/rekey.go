package customer

import (
	"context"
	"slices"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// keyed is a phone number and its key: a customer's own, or a further one.
type keyed struct {
	ID       core.ID
	Phone    string
	PhoneKey string
	Further  bool
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
	if err := LockKeys(tx); err != nil {
		return err
	}
	phones, err := db.All[keyed](ctx, tx, phonesSQL, nil)
	if err != nil {
		return err
	}
	change, refusals := newKeys(phones, country)
	if len(refusals) > 0 {
		return core.Invalid(core.Fields{"country": refusals})
	}
	for batch := range slices.Chunk(change.vacated, rekeyBatch) {
		if _, err := db.Exec(ctx, tx, vacateKeysSQL, db.Args{"ids": batch}); err != nil {
			return err
		}
	}
	for batch := range slices.Chunk(change.moved, rekeyBatch) {
		ids, phoneKeys := make([]core.ID, len(batch)), make([]string, len(batch))
		for i, m := range batch {
			ids[i], phoneKeys[i] = m.ID, m.PhoneKey
		}
		if _, err := db.Exec(ctx, tx, setKeysSQL, db.Args{"ids": ids, "keys": phoneKeys}); err != nil {
			return err
		}
	}
	return rekeyFurther(tx, change)
}

func rekeyFurther(tx *db.Tx, change rekeying) error {
	for _, step := range []struct {
		sql  string
		args db.Args
	}{
		{dropFurtherSQL, db.Args{"keys": change.dropped}},
		{vacateFurtherSQL, db.Args{"old": change.furtherOld}},
		{setFurtherSQL, db.Args{"old": change.furtherOld, "new": change.furtherNew}},
		{unfoldSQL, db.Args{"ids": change.furtherOf}},
	} {
		if err := db.Queue(tx, step.sql, step.args); err != nil {
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

// rekeying is what a change of the country does to the keys.
type rekeying struct {
	moved   []keyed   // own numbers with their new keys
	vacated []core.ID // who must give up their key first, because another number gets it

	furtherOld, furtherNew []string
	dropped                []string  // further keys that are their customers' own by now
	furtherOf              []core.ID // whose further keys change
}

// newKeys returns what changes, and the violations of the country.
func newKeys(phones []keyed, country string) (change rekeying, refusals []core.Violation) {
	holders := make(map[string]int, len(phones)) // the number behind each new key
	var old []string                             // keys of own numbers that move
	for i, p := range phones {
		key := p.rekeyed(country)
		if other, taken := holders[key]; taken {
			first := phones[other]
			if p.Further && first.ID == p.ID {
				change.dropped, change.furtherOf = append(change.dropped, p.PhoneKey), append(change.furtherOf, p.ID)
				continue
			}
			refusals = append(refusals, core.Violation{
				Rule: "same_phones_in_country", Other: first.Phone + " and " + p.Phone, Records: [2]core.ID{first.ID, p.ID},
			})
		}
		if len(refusals) == maxRefusals {
			return rekeying{}, refusals
		}
		holders[key] = i
		switch {
		case key == p.PhoneKey:
		case p.Further:
			change.furtherOld, change.furtherNew = append(change.furtherOld, p.PhoneKey), append(change.furtherNew, key)
			change.furtherOf = append(change.furtherOf, p.ID)
		default:
			old = append(old, p.PhoneKey)
			change.moved = append(change.moved, keyed{ID: p.ID, PhoneKey: key})
		}
	}
	for i, m := range change.moved {
		if _, wanted := holders[old[i]]; wanted {
			change.vacated = append(change.vacated, m.ID)
		}
	}
	return change, refusals
}
