package audit

import (
	"context"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// PlatformFilter selects lines of all tenants and of the platform.
type PlatformFilter struct {
	Filter           // without SubjectID
	Business *string // the slug of a tenant: its own lines, and the platform's about it
	Person   *string // an e-mail address: what people with it did, in any business
}

// PlatformLine is a line and the tenant in whose log it is.
type PlatformLine struct {
	Line
	Tenant core.Tenant `db:"-"` // zero: the platform's own log
}

type platformRow struct {
	PlatformLine
	db.TenantRow
}

// ListPlatform returns a page of the lines of all tenants and the platform, newest first, for
// super-admins. Days are days in UTC. It costs the same however long the logs are.
func (s *Service) ListPlatform(ctx context.Context, by core.Actor, f PlatformFilter, p core.Page) (core.List[PlatformLine], error) {
	if err := by.RequireAdmin(); err != nil {
		return core.List[PlatformLine]{}, err
	}
	args, err := s.platformArgs(ctx, f, p)
	if err != nil {
		return core.List[PlatformLine]{}, err
	}
	statement, args := platformList.Statement(p, args)
	rows, err := db.All[platformRow](ctx, s.db.Platform(), statement, args)
	lines := make([]PlatformLine, len(rows))
	for i, r := range rows {
		lines[i] = r.PlatformLine
		if r.TenantID != 0 && err == nil {
			lines[i].Tenant, err = r.TenantRow.Tenant()
		}
	}
	return core.NewList(p, lines, PlatformLine.position), err
}

// platformArgs checks a filter and returns the arguments of its statement. One round trip for a
// business or a person.
func (s *Service) platformArgs(ctx context.Context, f PlatformFilter, p core.Page) (db.Args, error) {
	check := core.NewCheck(p.Malformed)
	args := db.Args{"tenant": nil, "actions": nil, "kinds": nil, "actors": nil}
	args["from"], args["before"] = f.days(check, time.UTC)
	actions := f.platformActions(check)
	who := f.actor(check)
	business, person := check.OptionalText("business", f.Business, maxText), check.OptionalText("person", f.Person, maxText)
	var kinds, ids []string
	if who != nil {
		kinds, ids = []string{string(who.kind)}, []string{who.id}
	}
	if check.Err() == nil && (business != nil || person != nil) {
		found, err := db.One[filterSubjects](ctx, s.db.Platform(), filterSubjectsSQL, db.Args{"slug": business, "email": emailKey(person)})
		if err != nil {
			return nil, err
		}
		if args["tenant"] = found.Tenant; business != nil && found.Tenant == nil {
			check.Add("business", core.InvalidChoice)
		}
		if person != nil {
			kinds, ids = found.Kinds, found.People
			if len(ids) == 0 {
				check.Add("person", core.InvalidChoice)
			}
		}
	}
	if err := check.Err(); err != nil {
		return nil, err
	}
	if len(ids) > 0 {
		args["kinds"], args["actors"] = kinds, ids
		if actions == nil {
			actions = actionsOf(slices.Concat(nouns, platformNouns), nil, nil)
		}
	}
	if actions != nil {
		args["actions"] = actions
	}
	return args, nil
}

func emailKey(s *string) *string {
	if s == nil {
		return nil
	}
	return new(core.EmailKey(*s))
}

// platformActions returns the selected actions; nil: all.
func (f Filter) platformActions(check *core.Check) []string {
	if f.Subject == nil && f.Action == nil {
		return nil
	}
	actions := actionsOf(slices.Concat(nouns, platformNouns), f.Subject, f.Action)
	if f.Subject != nil && !slices.Contains(PlatformNouns(), *f.Subject) {
		check.Add("subject", core.InvalidChoice)
	} else if len(actions) == 0 {
		check.Add("action", core.InvalidChoice)
	}
	return actions
}

// filterSubjects are the tenant with a slug and the people with an e-mail address.
type filterSubjects struct {
	Tenant *int64
	Kinds  []string // the kinds of actors that the people are
	People []string // their ids
}

const filterSubjectsSQL = `
	select (select id from loyalty.tenant where slug = @slug::text) as tenant,
		coalesce(array_agg(p.kind), '{}') as kinds,
		coalesce(array_agg(p.id), '{}') as people
	from (
		select case when tenant_id is null then 'admin' else 'staff' end as kind, id::text
		from loyalty.staff
		where email_key = @email::text
		order by id
		limit 100
	) p`

// The function takes the two ids between which the entries of a page lie, and their order.
var platformList = db.NewList(`
	select `+lineColumns+`, `+db.TenantColumns+`
	from loyalty.audit_page(
		of_tenant => @tenant,
		of_actions => @actions::text[],
		of_actor_kinds => @kinds::text[],
		of_actor_ids => @actors::text[],
		{position},
		up_to => @limit
	) e
	left join loyalty.tenant n on n.id = e.tenant_id
	{page}`, db.Order{
	First:    "after_id => " + lowestID + ", before_id => " + highestID + ", oldest => false",
	After:    "after_id => " + lowestID + ", before_id => least(" + highestID + ", @id), oldest => false",
	Before:   "after_id => greatest(" + lowestID + ", @id), before_id => " + highestID + ", oldest => true",
	Forward:  "order by e.id desc",
	Backward: "order by e.id",
}, nil)

const (
	lowestID  = "coalesce(@from, '00000000-0000-0000-0000-000000000000'::uuid)"
	highestID = "coalesce(@before, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)"
)
