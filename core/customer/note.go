package customer

import (
	"context"
	"slices"
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
	select c.note, c.phone_key is null as erased
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

// A tag that another customer has is spelled as theirs, whatever capitals were typed.
const addTagSQL = `
	insert into loyalty.customer_tag (tenant_id, customer_id, key, tag, created_at)
	select c.tenant_id, c.id, @key,
		coalesce((select g.tag from loyalty.customer_tag g where g.tenant_id = @tenant_id and g.key = @key limit 1), @tag), c.created_at
	from loyalty.customer c
	where c.tenant_id = @tenant_id
		and c.id = @id
	on conflict do nothing`

const removeTagSQL = `
	delete from loyalty.customer_tag
	where tenant_id = @tenant_id
		and customer_id = @id
		and key = @key`

const deleteTagsSQL = `
	delete from loyalty.customer_tag
	where tenant_id = @tenant_id
		and customer_id = @id`

// AddTag tags a customer. A tag that they have stays, whatever its capitals.
func (s *Service) AddTag(ctx context.Context, by core.Actor, id core.ID, tag string) error {
	return s.changeTags(ctx, by, id, &tag, func(tx *db.Tx, check *core.Check, tag string, old []string) error {
		if len(old) >= MaxTags && !hasTag(old, tag) {
			check.Add("tag", core.MaxItems(MaxTags))
		}
		if err := check.Err(); err != nil {
			return err
		}
		return db.Queue(tx, addTagSQL, db.Args{"id": id, "key": tagKey(tag), "tag": tag})
	})
}

// RemoveTag removes a tag from a customer. Removing one that they don't have does nothing.
func (s *Service) RemoveTag(ctx context.Context, by core.Actor, id core.ID, tag string) error {
	return s.changeTags(ctx, by, id, &tag, func(tx *db.Tx, _ *core.Check, tag string, _ []string) error {
		return db.Queue(tx, removeTagSQL, db.Args{"id": id, "key": tagKey(tag)})
	})
}

// changeTags changes the tags of a customer, whose row it locks: two changes at once keep the limit.
func (s *Service) changeTags(
	ctx context.Context, by core.Actor, id core.ID, typed *string,
	change func(tx *db.Tx, check *core.Check, tag string, old []string) error,
) error {
	return db.Run(ctx, s.db.Tenant(by), func(tx *db.Tx) error {
		if err := by.Require(core.Manager); err != nil {
			return err
		}
		check := core.NewCheck(nil)
		tag := strings.Join(strings.Fields(check.Text("tag", typed, MaxTag)), " ")
		if err := check.Err(); err != nil {
			return err
		}
		if _, err := lockDescribed(ctx, tx, id); err != nil {
			return err
		}
		old, err := tagsOf(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := change(tx, check, tag, old); err != nil {
			return err
		}
		tags, err := tagsOf(ctx, tx, id)
		if err != nil || slices.Equal(tags, old) {
			return err
		}
		return audit.Write(tx, by, audit.Entry{
			Action: "customer.tag", Subject: "customer", ID: id.String(),
			Old: map[string]any{"tags": strings.Join(old, ", ")}, New: map[string]any{"tags": strings.Join(tags, ", ")},
		})
	})
}

func tagsOf(ctx context.Context, tx *db.Tx, id core.ID) ([]string, error) {
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
