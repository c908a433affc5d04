package customer

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Imported is a customer of an import.
type Imported struct {
	ID core.ID
	Details
	CreatedAt *time.Time // nil: now
}

// In the given order: of two customers with the same key, the first is created.
const insertAllSQL = `
	insert into loyalty.customer (tenant_id, id, first_name, last_name, phone, phone_key, email, email_key, folded,
		external_id, metadata, birth_year, birth_month, birth_day, created_at, updated_at, imported_at)
	select @tenant_id, id, first_name, last_name, phone, nullif(phone_key, ''), email, email_key, folded,
		external_id, metadata, birth_year, birth_month, birth_day, coalesce(created_at, @now), @now, @imported_at
	from unnest(@ids::uuid[], @first_names::text[], @last_names::text[], @phones::text[], @phone_keys::text[],
		@emails::text[], @email_keys::text[], @folded::text[], @external_ids::text[], @metadata::jsonb[],
		@birth_years::int[], @birth_months::int[], @birth_days::int[], @created_at::timestamptz[]) with ordinality
		given (id, first_name, last_name, phone, phone_key, email, email_key, folded, external_id, metadata,
			birth_year, birth_month, birth_day, created_at, place)
	where not exists (
		select
		from loyalty.customer_key f
		where f.tenant_id = @tenant_id
			and (f.kind = 'phone' and f.key = given.phone_key or f.kind = 'email' and f.key = given.email_key
				or f.kind = 'external_id' and f.key = given.external_id)
	)
	order by place
	on conflict do nothing
	returning id`

// InsertAll creates customers, except those with a phone number, an e-mail address or an external ID that leads to one, and
// returns the ids of the created ones. ledger.OpenAll opens their accounts. The caller holds the country
// (LockCountry).
func InsertAll(ctx context.Context, tx *db.Tx, all []Imported) (map[core.ID]bool, error) {
	return insertAll(ctx, tx, all, &tx.Now)
}

// insertAll is InsertAll also for customers who aren't imported.
func insertAll(ctx context.Context, tx *db.Tx, all []Imported, importedAt *time.Time) (map[core.ID]bool, error) {
	n := len(all)
	ids, created := make([]core.ID, n), make([]*time.Time, n)
	first, last, phones := make([]string, n), make([]string, n), make([]string, n)
	emails, folded := make([]*string, n), make([]string, n)
	years, months, days := make([]*int, n), make([]*int, n), make([]*int, n)
	keys := keysOf(all)
	for i, c := range all {
		ids[i], created[i], first[i], last[i], phones[i], emails[i] = c.ID, c.CreatedAt, c.FirstName, c.LastName, c.Phone, c.Email
		folded[i] = c.searchText(nil)
		years[i], months[i], days[i] = c.Birthday.parts()
	}
	rows, err := db.All[struct{ ID core.ID }](ctx, tx, insertAllSQL, db.Args{
		"ids": ids, "first_names": first, "last_names": last, "phones": phones, "phone_keys": keys.phones,
		"emails": emails, "email_keys": keys.emails, "external_ids": keys.externalIDs, "folded": folded, "created_at": created,
		"metadata": db.Column(all, func(c Imported) *string { return c.Metadata.Stored() }), "imported_at": importedAt, "now": tx.Now,
		"birth_years": years, "birth_months": months, "birth_days": days,
	})
	made := make(map[core.ID]bool, len(rows))
	for _, r := range rows {
		made[r.ID] = true
	}
	return made, err
}

// keySet has keys of several customers.
type keySet struct {
	phones              []string
	emails, externalIDs []*string
}

func keysOf(all []Imported) (k keySet) {
	for _, c := range all {
		k.phones, k.emails, k.externalIDs = append(k.phones, c.PhoneKey), append(k.emails, c.EmailKey), append(k.externalIDs, c.ExternalID)
	}
	return k
}

// Taken has the customers of phone numbers, e-mail addresses and external IDs, by the keys that find them.
type Taken map[takenKey]core.ID

type takenKey struct {
	kind KeyKind
	key  string
}

// Find returns the customer who has one of these details' keys, and by which field, as an upsert finds them.
func (t Taken) Find(d Details) (who core.ID, field string, found bool) {
	if d.ExternalID != nil {
		if who, found = t[takenKey{ExternalKey, *d.ExternalID}]; found {
			return who, string(ExternalKey), true
		}
	}
	if who, found = t[takenKey{PhoneKey, d.PhoneKey}]; found {
		return who, string(PhoneKey), true
	}
	if d.EmailKey != nil {
		who, found = t[takenKey{EmailKey, *d.EmailKey}]
	}
	return who, string(EmailKey), found
}

const takenKeysSQL = `
	select 'phone' as kind, phone_key as key, id
	from loyalty.customer
	where tenant_id = @tenant_id
		and phone_key = any(@phone_keys::text[])
	union all
	select 'email', email_key, id
	from loyalty.customer
	where tenant_id = @tenant_id
		and email_key = any(@email_keys::text[])
	union all
	select 'external_id', external_id, id
	from loyalty.customer
	where tenant_id = @tenant_id
		and external_id = any(@external_ids::text[])
	union all
	select kind, key, customer_id
	from loyalty.customer_key
	where tenant_id = @tenant_id
		and (kind = 'phone' and key = any(@phone_keys::text[]) or kind = 'email' and key = any(@email_keys::text[])
			or kind = 'external_id' and key = any(@external_ids::text[]))`

// TakenKeys returns which of the keys lead to existing customers.
func TakenKeys(ctx context.Context, tx *db.Tx, all []Imported) (Taken, error) {
	return takenKeys(ctx, tx, keysOf(all))
}

func takenKeys(ctx context.Context, tx *db.Tx, keys keySet) (Taken, error) {
	var rows []takenRow
	err := db.Together(ctx, tx, readTaken(&rows, keys))
	return takenOf(rows), err
}

type takenRow struct {
	Kind KeyKind
	Key  string
	ID   core.ID
}

func readTaken(to *[]takenRow, keys keySet) db.Reading {
	return db.AllInto(to, takenKeysSQL, db.Args{"phone_keys": keys.phones, "email_keys": keys.emails, "external_ids": keys.externalIDs})
}

func takenOf(rows []takenRow) Taken {
	taken := make(Taken, len(rows))
	for _, r := range rows {
		taken[takenKey{r.Kind, r.Key}] = r.ID
	}
	return taken
}

// add has the keys of a customer lead to them.
func (t Taken) add(c Imported) {
	if c.PhoneKey != "" {
		t[takenKey{PhoneKey, c.PhoneKey}] = c.ID
	}
	if c.EmailKey != nil {
		t[takenKey{EmailKey, *c.EmailKey}] = c.ID
	}
	if c.ExternalID != nil {
		t[takenKey{ExternalKey, *c.ExternalID}] = c.ID
	}
}

// LockCountry keeps the country of the transaction's tenant, by which phone numbers are read, from
// changing until the transaction ends, and customers from being merged.
func LockCountry(tx *db.Tx) error { return db.Queue(tx, lockCountrySQL, nil) }

// LockKeys keeps other transactions from writing keys of the transaction's tenant until this one ends. What locks
// customers, too, takes this lock first.
func LockKeys(tx *db.Tx) error { return db.Queue(tx, lockKeysSQL, nil) }
