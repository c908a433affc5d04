package customer

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// MergedCustomer is a customer who was merged into another.
type MergedCustomer struct {
	ID          core.ID
	MergedInto  core.ID // at the end of a chain of merges
	FirstName   string
	LastName    string
	Points      int64 // moved
	Stamps      int64
	MergedAt    time.Time
	ActorKind   core.ActorKind
	ActorName   string
	LinkVersion int64
}

const selectMerged = `
	select c.id, c.merged_into, m.first_name, m.last_name, m.points, m.stamps, m.created_at as merged_at, m.actor_kind, m.actor_name, c.link_version
	from loyalty.customer c
	join loyalty.customer_merge m on m.tenant_id = c.tenant_id and m.merged_id = c.id
	where c.tenant_id = @tenant_id`

const findMergedSQL = selectMerged + `
		and c.id = @id
		and c.merged_into is not null`

// FindMerged returns a customer who was merged into another, or core.ErrNotFound.
func FindMerged(ctx context.Context, d *db.DB, by core.Actor, id core.ID) (MergedCustomer, error) {
	return db.One[MergedCustomer](ctx, d.Tenant(by), findMergedSQL, db.Args{"id": id})
}

// FindMerged returns a customer who was merged into another, or core.ErrNotFound.
func (s *Service) FindMerged(ctx context.Context, by core.Actor, id core.ID) (MergedCustomer, error) {
	return FindMerged(ctx, s.db, by, id)
}

const mergedOfSQL = selectMerged + `
		and c.merged_into = @kept
	order by m.created_at desc, c.id desc`

// Merged returns the customers who were merged into a customer, the last one first.
func (s *Service) Merged(ctx context.Context, by core.Actor, kept core.ID) ([]MergedCustomer, error) {
	return db.All[MergedCustomer](ctx, s.db.Tenant(by), mergedOfSQL, db.Args{"kept": kept})
}

// MergedIn is Merged in the caller's transaction.
func MergedIn(ctx context.Context, tx *db.Tx, kept core.ID) ([]MergedCustomer, error) {
	return db.All[MergedCustomer](ctx, tx, mergedOfSQL, db.Args{"kept": kept})
}

// MergedTimeline returns a page of the timeline of a customer before they were merged into kept, or
// core.ErrNotFound.
func (s *Service) MergedTimeline(ctx context.Context, by core.Actor, kept, merged core.ID, p core.Page) (MergedCustomer, core.List[Entry], error) {
	m, err := s.FindMerged(ctx, by, merged)
	if err == nil && m.MergedInto != kept {
		err = core.ErrNotFound
	}
	if err != nil {
		return MergedCustomer{}, core.List[Entry]{}, err
	}
	position := func(e Entry) core.Cursor { return core.NumberCursor(e.CreatedAt, e.Seq) }
	l, err := db.ListPage(ctx, s.db, by, timelineList, db.Args{"customer": merged, "since": nil, "voids_any": false}, p, position)
	return m, l, err
}

// Likely duplicates have the same name or the same last digits of their phone number: what indexes find.
const duplicatesSQL = `
	with this as (
		select id, last_name, first_name, phone_end
		from loyalty.customer
		where tenant_id = @tenant_id
			and id = @id
	), alike as (
		(
			select c.id, 1 as rank
			from this
			join loyalty.customer c on c.tenant_id = @tenant_id
				and c.last_name collate loyalty.name = this.last_name
				and c.first_name collate loyalty.name = this.first_name
			where c.id <> this.id
			limit @limit
		)
		union all
		(
			select c.id, 2
			from this
			join loyalty.customer c on c.tenant_id = @tenant_id
				and c.phone_end = this.phone_end
			where c.id <> this.id
			limit @limit
		)
	), ranked as (
		select id, min(rank) as rank
		from alike
		group by id
	)
	select ` + columns + `
	from ranked r
	join loyalty.customer c on c.tenant_id = @tenant_id and c.id = r.id
	join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id` + lastMove + `
	where c.merged_into is null
		and coalesce(c.phone_key, c.email_key) is not null
	order by r.rank, c.created_at desc, c.id desc
	limit @limit`

// maxDuplicates is how many likely duplicates are suggested.
const maxDuplicates = 5

// Duplicates returns at most five likely duplicates of a customer.
func (s *Service) Duplicates(ctx context.Context, by core.Actor, id core.ID) ([]Customer, error) {
	if err := by.Require(core.Manager); err != nil {
		return nil, err
	}
	return db.All[Customer](ctx, s.db.Tenant(by), duplicatesSQL, db.Args{"id": id, "limit": maxDuplicates})
}

// For update, which waits for everything that refers to one of them, and makes it wait.
const lockPairSQL = selectCustomer + `
	where c.tenant_id = @tenant_id
		and c.id = any (@ids::uuid[])
		and c.merged_into is null
	order by c.id
	for update of c`

// LockPair locks two customers, in one order, and returns the duplicate and the customer who is kept. Of a
// missing one, the ID is zero.
func LockPair(ctx context.Context, tx *db.Tx, merged, kept core.ID) (duplicate, other Customer, err error) {
	found, err := db.All[Customer](ctx, tx, lockPairSQL, db.Args{"ids": []core.ID{merged, kept}})
	for _, c := range found {
		if c.ID == merged {
			duplicate = c
		}
		if c.ID == kept {
			other = c
		}
	}
	return duplicate, other, err
}

const (
	// The kept customer gets the consents that they haven't given themselves. Where both have given one, theirs stays.
	moveConsentSQL = `
	update loyalty.consent
	set customer_id = @kept
	where tenant_id = @tenant_id
		and customer_id = @merged
		and kind not in (
			select kind
			from loyalty.consent
			where tenant_id = @tenant_id
				and customer_id = @kept
		)`

	moveTagsSQL = `
	insert into loyalty.customer_tag (tenant_id, customer_id, key, tag, created_at)
	select g.tenant_id, k.id, g.key, g.tag, k.created_at
	from loyalty.customer_tag g
	join loyalty.customer k on k.tenant_id = @tenant_id and k.id = @kept
	where g.tenant_id = @tenant_id
		and g.customer_id = @merged
		and not exists (
			select
			from loyalty.customer_tag h
			where h.tenant_id = @tenant_id
				and h.customer_id = @kept
				and h.key = g.key
		)
	order by g.key
	limit (select greatest(@most - count(*), 0) from loyalty.customer_tag where tenant_id = @tenant_id and customer_id = @kept)
	returning 1`

	// Earlier duplicates of the duplicate lead to the kept customer.
	repointSQL = `
	update loyalty.customer
	set merged_into = @kept
	where tenant_id = @tenant_id
		and merged_into = @merged`

	closeSQL = `
	update loyalty.customer
	set first_name = '',
		last_name = '',
		phone = '',
		phone_key = null,
		email = null,
		email_key = null,
		external_id = null,
		metadata = null,
		birth_year = null,
		birth_month = null,
		birth_day = null,
		folded = '',
		note = null,
		status = 'inactive',
		merged_into = @kept,
		updated_at = @now
	where tenant_id = @tenant_id
		and id = @merged`

	takeOverSQL = `
	update loyalty.customer
	set phone = @phone,
		phone_key = nullif(@phone_key, ''),
		unchecked_since = case when phone_key is null then @unchecked_since::timestamptz else unchecked_since end,
		email = @email,
		email_key = @email_key,
		external_id = @external_id,
		metadata = @metadata::jsonb,
		birth_year = @birth_year::int,
		birth_month = @birth_month::int,
		birth_day = @birth_day::int,
		folded = @folded,
		note = coalesce(note, @note),
		unsubscribed_at = coalesce(unsubscribed_at, @unsubscribed_at),
		updated_at = @now
	where tenant_id = @tenant_id
		and id = @kept`

	insertMergeSQL = `
	insert into loyalty.customer_merge (tenant_id, id, merged_id, kept_id, first_name, last_name, points, stamps,
		sales, redemptions, vouchers, actor_kind, actor_id, actor_name, created_at)
	values (@tenant_id, @id, @merged, @kept, @first_name, @last_name, @points, @stamps,
		@sales, @redemptions, @vouchers, @actor_kind, @actor_id, @actor_name, @now)`

	pairSQL = `
	select m.note, coalesce(m.phone_key, '') as phone_key, m.email_key, coalesce(c.phone_key, '') as kept_phone_key, c.email_key as kept_email_key,
		(
			select coalesce(jsonb_agg(jsonb_build_object('Kind', f.kind, 'Key', f.key, 'Text', f.text)), '[]')
			from loyalty.customer_key f
			where f.tenant_id = @tenant_id
				and f.customer_id in (@merged, @kept)
		) as further
	from loyalty.customer m
	join loyalty.customer c on c.tenant_id = m.tenant_id and c.id = @kept
	where m.tenant_id = @tenant_id
		and m.id = @merged`

	moveKeysSQL = `
	update loyalty.customer_key
	set customer_id = @kept
	where tenant_id = @tenant_id
		and customer_id = @merged`

	// An earlier build that serves beside this one may have given a key to two customers: then the last merge decides.
	addKeySQL = `
	insert into loyalty.customer_key (tenant_id, kind, key, customer_id, text, created_at)
	values (@tenant_id, @kind, @key, @kept, @text, @now)
	on conflict (tenant_id, kind, key) do update
	set customer_id = excluded.customer_id,
		text = excluded.text`
)

// Merge is what core/merging moved between two customers.
type Merge struct {
	ID                           core.ID
	Merged, Kept                 Customer
	Sales, Redemptions, Vouchers int64
	Points, Stamps               int64
}

// Close closes a duplicate, whose row and the kept customer's are locked, like all keys (LockKeys): it loses its name,
// its keys, note and tags, and the kept customer takes over what they don't have. What they have, too, of its phone number,
// e-mail address and external ID become further keys of the kept customer. For core/merging.
func Close(ctx context.Context, tx *db.Tx, by core.Actor, m Merge) error {
	pair := db.Args{"merged": m.Merged.ID, "kept": m.Kept.ID}
	old, err := db.One[struct {
		Note, EmailKey, KeptEmailKey *string
		PhoneKey, KeptPhoneKey       string
		Further                      []FurtherKey
	}](ctx, tx, pairSQL, pair)
	if err != nil {
		return err
	}
	kept := Details{
		FirstName: m.Kept.FirstName, LastName: m.Kept.LastName,
		Phone: m.Kept.Phone, PhoneKey: old.KeptPhoneKey, Email: m.Kept.Email, EmailKey: old.KeptEmailKey,
	}
	external, further := m.Kept.ExternalID, []FurtherKey(nil)
	switch {
	case old.PhoneKey == "":
	case kept.PhoneKey == "":
		kept.Phone, kept.PhoneKey = m.Merged.Phone, old.PhoneKey
	default:
		further = append(further, FurtherKey{PhoneKey, old.PhoneKey, m.Merged.Phone})
	}
	switch {
	case m.Merged.Email == nil:
	case kept.Email == nil:
		kept.Email, kept.EmailKey = m.Merged.Email, old.EmailKey
	default:
		further = append(further, FurtherKey{EmailKey, *old.EmailKey, *m.Merged.Email})
	}
	switch {
	case m.Merged.ExternalID == nil:
	case external == nil:
		external = m.Merged.ExternalID
	default:
		further = append(further, FurtherKey{ExternalKey, *m.Merged.ExternalID, *m.Merged.ExternalID})
	}
	birthYear, birthMonth, birthDay := cmp.Or(m.Kept.Birthday, m.Merged.Birthday).parts()
	type step struct {
		sql  string
		args db.Args
	}
	steps := []step{
		{moveKeysSQL, pair},
		{moveConsentSQL, pair},
		{deleteConsentSQL, db.Args{"id": m.Merged.ID}},
		{moveTagsSQL, db.Args{"merged": m.Merged.ID, "kept": m.Kept.ID, "most": MaxTags}},
		{deleteTagsSQL, db.Args{"id": m.Merged.ID}},
		{repointSQL, pair},
		{closeSQL, db.Args{"merged": m.Merged.ID, "kept": m.Kept.ID, "now": tx.Now}},
		{takeOverSQL, db.Args{
			"kept": m.Kept.ID, "phone": kept.Phone, "phone_key": kept.PhoneKey, "unchecked_since": m.Merged.UncheckedSince,
			"email": kept.Email, "email_key": kept.EmailKey, "external_id": external, "note": old.Note,
			"metadata":   MergedMetadata(m.Kept.Metadata, m.Merged.Metadata),
			"folded":     kept.searchText(append(old.Further, further...)),
			"birth_year": birthYear, "birth_month": birthMonth, "birth_day": birthDay,
			"unsubscribed_at": m.Merged.UnsubscribedAt, "now": tx.Now,
		}},
		{insertMergeSQL, db.Args{
			"id": m.ID, "merged": m.Merged.ID, "kept": m.Kept.ID, "first_name": m.Merged.FirstName, "last_name": m.Merged.LastName,
			"points": m.Points, "stamps": m.Stamps, "sales": m.Sales, "redemptions": m.Redemptions, "vouchers": m.Vouchers,
			"actor_kind": by.Kind, "actor_id": by.ID, "actor_name": by.Name, "now": tx.Now,
		}},
	}
	for _, f := range further {
		steps = append(steps, step{addKeySQL, db.Args{"kind": f.Kind, "key": f.Key, "text": f.Text, "kept": m.Kept.ID, "now": tx.Now}})
	}
	for _, step := range steps {
		if err := db.Queue(tx, step.sql, step.args); err != nil {
			return err
		}
	}
	return audit.Write(tx, by, audit.Entry{
		Action: "customer.merge", Subject: "customer", ID: m.Kept.ID.String(),
		Old: m.Merged.mergeFacts(), New: m.Kept.mergeFacts(),
	})
}

// MergedMetadata returns the metadata of a kept customer with the keys of a duplicate that they don't have, by name, up to
// the limit; nil: none.
func MergedMetadata(kept, duplicate core.Metadata) core.Metadata {
	if len(duplicate) == 0 {
		return kept
	}
	all := core.Metadata{}
	maps.Copy(all, kept)
	for _, key := range slices.Sorted(maps.Keys(duplicate)) {
		if _, known := all[key]; !known && len(all) < core.MaxMetadataKeys {
			all[key] = duplicate[key]
		}
	}
	return all
}

// mergeFacts names a customer of a merge in the audit log.
func (c Customer) mergeFacts() map[string]any {
	facts := c.facts()
	facts["ulid"], facts["points"], facts["stamps"] = c.ID.String(), c.PointsBalance, c.StampsBalance
	return facts
}
