package customer

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// The limits of what the staff write about a customer.
const (
	MaxNote = 1_000
	MaxTag  = 30
	MaxTags = 20 // of one customer

	suggestedTags = 100
)

const lockNoteSQL = `
	select c.note, coalesce(c.phone_key, c.email_key) is null as erased
	from loyalty.customer c
	where c.tenant_id = @tenant_id
		and c.id = @id
		and c.merged_into is null
	for no key update of c`

const setNoteSQL = `
	update loyalty.customer
	set note = @note
	where tenant_id = @tenant_id
		and id = @id`

// described is a customer whose note or tags are changed.
type described struct {
	Note   *string
	Erased bool
}

// lockDescribed locks a customer, or returns core.ErrNotFound or ErrErased.
func lockDescribed(ctx context.Context, tx *db.Tx, id core.ID) (described, error) {
	c, err := db.One[described](ctx, tx, lockNoteSQL, db.Args{"id": id})
	if err == nil && c.Erased {
		err = ErrErased
	}
	return c, err
}

// SetNote replaces what the staff noted about a customer; an empty note removes it.
func (s *Service) SetNote(ctx context.Context, by core.Actor, id core.ID, note string) error {
	return db.Run(ctx, s.db.Tenant(by), func(tx *db.Tx) error {
		if err := by.Require(core.Manager); err != nil {
			return err
		}
		check := core.NewCheck(nil)
		note := check.OptionalText("note", &note, MaxNote)
		if err := check.Err(); err != nil {
			return err
		}
		old, err := lockDescribed(ctx, tx, id)
		if err != nil || equal(old.Note, note) {
			return err
		}
		if err := db.Queue(tx, setNoteSQL, db.Args{"id": id, "note": note}); err != nil {
			return err
		}
		return audit.Write(tx, by, audit.Entry{
			Action: "customer.note", Subject: "customer", ID: id.String(),
			Old: map[string]any{"note": old.Note}, New: map[string]any{"note": note},
		})
	})
}

func equal(a, b *string) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

const tagsOfSQL = `
	select tag
	from loyalty.customer_tag
	where tenant_id = @tenant_id
		and customer_id = @id
	order by key`

const (
	dropTagsSQL = `
	delete from loyalty.customer_tag
	where tenant_id = @tenant_id
		and customer_id = @id
		and key <> all (@keys::text[])`

	// A tag that another customer has is spelled as theirs, whatever capitals were typed.
	addTagsSQL = `
	insert into loyalty.customer_tag (tenant_id, customer_id, key, tag, created_at)
	select c.tenant_id, c.id, given.key,
		coalesce((select g.tag from loyalty.customer_tag g where g.tenant_id = @tenant_id and g.key = given.key limit 1), given.tag), c.created_at
	from loyalty.customer c
	cross join unnest(@keys::text[], @tags::text[]) given (key, tag)
	where c.tenant_id = @tenant_id
		and c.id = @id
	on conflict do nothing`

	touchSQL = `
	update loyalty.customer
	set updated_at = @now
	where tenant_id = @tenant_id
		and id = @id`
)

const deleteTagsSQL = `
	delete from loyalty.customer_tag
	where tenant_id = @tenant_id
		and customer_id = @id`

// AddTag tags a customer. A tag that they have stays, whatever its capitals.
func (s *Service) AddTag(ctx context.Context, by core.Actor, id core.ID, tag string) error {
	return s.changeTags(ctx, by, id, tag, func(check *core.Check, old []string, tag string) []string {
		if hasTag(old, tag) {
			return old
		}
		if len(old) >= MaxTags {
			check.Add("tag", core.MaxItems(MaxTags))
		}
		return append(slices.Clone(old), tag)
	})
}

// RemoveTag removes a tag from a customer. Removing one that they don't have does nothing.
func (s *Service) RemoveTag(ctx context.Context, by core.Actor, id core.ID, tag string) error {
	return s.changeTags(ctx, by, id, tag, func(_ *core.Check, old []string, tag string) []string {
		return slices.DeleteFunc(slices.Clone(old), func(t string) bool { return tagKey(t) == tagKey(tag) })
	})
}

// changeTags changes the tags of a customer, whose row it locks: two changes at once keep the limit.
func (s *Service) changeTags(
	ctx context.Context, by core.Actor, id core.ID, typed string, change func(check *core.Check, old []string, tag string) []string,
) error {
	return db.Run(ctx, s.db.Tenant(by), func(tx *db.Tx) error {
		if err := by.Require(core.Manager); err != nil {
			return err
		}
		check := core.NewCheck(nil)
		tag := readTag(check, "tag", typed)
		if err := check.Err(); err != nil {
			return err
		}
		if _, err := lockDescribed(ctx, tx, id); err != nil {
			return err
		}
		old, err := tagsOfCustomer(ctx, tx, id)
		if err != nil {
			return err
		}
		wanted := change(check, old, tag)
		if err := check.Err(); err != nil || slices.Equal(wanted, old) {
			return err
		}
		if err := setTags(tx, id, wanted); err != nil {
			return err
		}
		if err := db.Queue(tx, touchSQL, db.Args{"id": id, "now": tx.Now}); err != nil {
			return err
		}
		tags, err := tagsOfCustomer(ctx, tx, id)
		if err != nil {
			return err
		}
		return noteTags(tx, by, id, old, tags)
	})
}

// setTags queues that a customer has these tags and no others.
func setTags(tx *db.Tx, id core.ID, tags []string) error {
	keys := make([]string, len(tags))
	for i, tag := range tags {
		keys[i] = tagKey(tag)
	}
	if err := db.Queue(tx, dropTagsSQL, db.Args{"id": id, "keys": keys}); err != nil || len(tags) == 0 {
		return err
	}
	return db.Queue(tx, addTagsSQL, db.Args{"id": id, "keys": keys, "tags": tags})
}

// noteTags writes a change of tags into the audit log.
func noteTags(tx *db.Tx, by core.Actor, id core.ID, old, tags []string) error {
	if slices.Equal(old, tags) {
		return nil
	}
	return audit.Write(tx, by, audit.Entry{
		Action: "customer.tag", Subject: "customer", ID: id.String(),
		Old: map[string]any{"tags": strings.Join(old, ", ")}, New: map[string]any{"tags": strings.Join(tags, ", ")},
	})
}

// readTag reads a tag: one line with single spaces.
func readTag(check *core.Check, field, typed string) string {
	return strings.Join(strings.Fields(check.Text(field, &typed, MaxTag)), " ")
}

// readTags reads a customer's tags; of those that differ only by capitals, the first.
func readTags(check *core.Check, given []string) []string {
	var tags []string
	for i, tag := range given {
		if read := readTag(check, "tags."+strconv.Itoa(i), tag); !hasTag(tags, read) {
			tags = append(tags, read)
		}
	}
	if len(tags) > MaxTags {
		check.Add("tags", core.MaxItems(MaxTags))
	}
	return tags
}

func tagsOfCustomer(ctx context.Context, tx *db.Tx, id core.ID) ([]string, error) {
	rows, err := db.All[struct{ Tag string }](ctx, tx, tagsOfSQL, db.Args{"id": id})
	var tags []string
	for _, r := range rows {
		tags = append(tags, r.Tag)
	}
	return tags, err
}

func hasTag(tags []string, tag string) bool {
	return slices.ContainsFunc(tags, func(t string) bool { return tagKey(t) == tagKey(tag) })
}

// tagKey returns what tags are compared by.
func tagKey(tag string) string { return core.Fold(strings.Join(strings.Fields(tag), " ")) }

// Each step of the recursion jumps to the next tag in the index, however many customers have it.
const tagsSQL = `
	with recursive used as (
		(
			select key, tag
			from loyalty.customer_tag
			where tenant_id = @tenant_id
			order by key
			limit 1
		)
		union all
		select n.key, n.tag
		from used u
		cross join lateral (
			select key, tag
			from loyalty.customer_tag
			where tenant_id = @tenant_id
				and key > u.key
			order by key
			limit 1
		) n
	)
	select tag
	from used
	limit @limit`

// Tags returns the tags in use, by name: at most a hundred.
func (s *Service) Tags(ctx context.Context, by core.Actor) ([]string, error) {
	rows, err := db.All[struct{ Tag string }](ctx, s.db.Tenant(by), tagsSQL, db.Args{"limit": suggestedTags})
	tags := make([]string, len(rows))
	for i, r := range rows {
		tags[i] = r.Tag
	}
	return tags, err
}
