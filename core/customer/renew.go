package customer

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// renewBatch is how many customers get new keys at a time.
const renewBatch = 500

const (
	unfoldedTenantSQL = `
	select loyalty.unfolded_tenant()`

	unfoldedSQL = selectKeys + `
	where c.tenant_id = @tenant_id
		and c.folded is null
		and (c.phone_key is not null or c.email_key is not null)
	order by c.id
	limit @limit
	for no key update of c`

	renewSQL = `
	update loyalty.customer c
	set phone_key = nullif(given.phone_key, ''),
		email_key = given.email_key,
		folded = given.folded
	from unnest(@ids::uuid[], @phone_keys::text[], @email_keys::text[], @folded::text[]) given (id, phone_key, email_key, folded)
	where c.tenant_id = @tenant_id
		and c.id = given.id`

	tagKeysSQL = `
	select customer_id, key, tag
	from loyalty.customer_tag
	where tenant_id = @tenant_id
		and customer_id = any (@ids::uuid[])
	order by customer_id, key`

	renewTagsSQL = `
	update loyalty.customer_tag g
	set key = given.new
	from unnest(@ids::uuid[], @old::text[], @new::text[]) given (id, old, new)
	where g.tenant_id = @tenant_id
		and g.customer_id = given.id
		and g.key = given.old`
)

// RenewKeys computes the search texts and keys again of a batch of customers whose rows an earlier build wrote, or a change
// of the country: they are made here and not in the database. It enters the customers' tenant, and returns how many were
// done. A number that can't be read keeps its key; so do the customers, counted as same, whose new key is another's, and
// the audit log says so.
func RenewKeys(ctx context.Context, tx *db.Tx) (done, same int64, err error) {
	tenant, err := db.One[*int64](ctx, tx, unfoldedTenantSQL, nil)
	if err != nil || tenant == nil {
		return 0, 0, err
	}
	if err := tx.Enter(core.TenantID(*tenant)); err != nil {
		return 0, 0, err
	}
	if err := LockCountry(tx); err != nil {
		return 0, 0, err
	}
	waiting, err := db.All[lockedCustomer](ctx, tx, unfoldedSQL, db.Args{"limit": renewBatch})
	if err != nil {
		return 0, 0, err
	}
	kept, err := renew(ctx, tx, waiting)
	return int64(len(waiting)), int64(len(kept)), err
}

// renew computes the keys of locked customers, and returns those whose new key is another's.
func renew(ctx context.Context, tx *db.Tx, waiting []lockedCustomer) (same []core.ID, err error) {
	wanted := make([]Details, len(waiting))
	var keys keySet
	for i, c := range waiting {
		wanted[i] = c.renewed()
		if wanted[i].PhoneKey != c.PhoneKey { // both "" without a phone number
			keys.phones = append(keys.phones, wanted[i].PhoneKey)
		}
		if c.EmailKey != nil && *wanted[i].EmailKey != *c.EmailKey {
			keys.emails = append(keys.emails, wanted[i].EmailKey)
		}
	}
	holders := Taken{}
	if len(keys.phones)+len(keys.emails) > 0 {
		if holders, err = takenKeys(ctx, tx, keys); err != nil {
			return nil, err
		}
	}
	// isFree takes a key for a customer, or writes into the audit log who has it.
	isFree := func(kind KeyKind, key string, of core.ID) (bool, error) {
		holder, taken := holders[takenKey{kind, key}]
		if !taken || holder == of {
			holders[takenKey{kind, key}] = of
			return true, nil
		}
		same = append(same, of)
		return false, audit.Write(tx, core.System(core.Tenant{ID: tx.Tenant}, "customer keys"), audit.Entry{
			Action: "customer.same_key", Subject: "customer", ID: of.String(), New: map[string]any{"field": kind, "same_as": holder.String()},
		})
	}
	n := len(waiting)
	ids, phoneKeys, emailKeys, folded := make([]core.ID, n), make([]string, n), make([]*string, n), make([]string, n)
	for i, c := range waiting {
		to := wanted[i]
		if to.PhoneKey != c.PhoneKey {
			if free, err := isFree(PhoneKey, to.PhoneKey, c.ID); err != nil {
				return nil, err
			} else if !free {
				to.PhoneKey = c.PhoneKey
			}
		}
		if c.EmailKey != nil && *to.EmailKey != *c.EmailKey {
			if free, err := isFree(EmailKey, *to.EmailKey, c.ID); err != nil {
				return nil, err
			} else if !free {
				to.EmailKey = c.EmailKey
			}
		}
		ids[i], phoneKeys[i], emailKeys[i], folded[i] = c.ID, to.PhoneKey, to.EmailKey, to.searchText(c.Further)
	}
	if err := renewTags(ctx, tx, ids); err != nil {
		return nil, err
	}
	return same, db.Queue(tx, renewSQL, db.Args{"ids": ids, "phone_keys": phoneKeys, "email_keys": emailKeys, "folded": folded})
}

// renewed returns a customer's details with the keys that they would have as a new one.
func (c lockedCustomer) renewed() Details {
	d := c.details()
	d.PhoneKey = keyed{Phone: c.Phone, PhoneKey: c.PhoneKey}.rekeyed(c.Country)
	if d.Email != nil && d.EmailKey != nil {
		d.EmailKey = new(core.EmailKey(*d.Email))
	}
	return d
}

func renewTags(ctx context.Context, tx *db.Tx, of []core.ID) error {
	tags, err := db.All[struct {
		CustomerID core.ID
		Key, Tag   string
	}](ctx, tx, tagKeysSQL, db.Args{"ids": of})
	if err != nil {
		return err
	}
	type tagOf struct {
		customer core.ID
		key      string
	}
	known := map[tagOf]bool{}
	for _, t := range tags {
		known[tagOf{t.CustomerID, t.Key}] = true
	}
	var ids []core.ID
	var before, after []string
	for _, t := range tags {
		key := tagKey(t.Tag)
		if known[tagOf{t.CustomerID, key}] {
			continue
		}
		known[tagOf{t.CustomerID, key}] = true
		ids, before, after = append(ids, t.CustomerID), append(before, t.Key), append(after, key)
	}
	if len(ids) == 0 {
		return nil
	}
	return db.Queue(tx, renewTagsSQL, db.Args{"ids": ids, "old": before, "new": after})
}
