package audit

import (
	"context"
	"slices"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// PlatformFilter picks lines of all tenants and of the platform.
type PlatformFilter struct {
	Filter           // SubjectID is not looked at
	Business *string // the slug of a tenant: its own lines, and the platform's about it
	Person   *string // an e-mail address: what the people with it did, wherever they work
}

// PlatformLine is a line and the tenant whose log it is in.
type PlatformLine struct {
	Line
	Tenant core.Tenant // of its name, slug, currency and time zone; zero: the platform's own
}

// PlatformNouns are the nouns of all lines there are, tenants' first.
func PlatformNouns() (names []string) {
	for _, n := range slices.Concat(nouns, platformNouns) {
		if !slices.Contains(names, n.name) {
			names = append(names, n.name)
		}
	}
	return names
}

// ListPlatform returns a page of the lines of all tenants and the platform, newest first,
// for super-admins. Days are days in UTC. One round trip, and one more for a business or a
// person, at the same cost whatever is picked and however long the logs are.
func (s *Service) ListPlatform(ctx context.Context, by core.Actor, f PlatformFilter, p core.Page) (core.List[PlatformLine], error) {
	if err := by.RequireAdmin(); err != nil {
		return core.List[PlatformLine]{}, err
	}
	args, err := s.everywhere(ctx, f, p)
	if err != nil {
		return core.List[PlatformLine]{}, err
	}
	statement, args := everywhereList.Statement(p, args)
	rows, err := db.PlatformAll[platformRow](ctx, s.db, statement, args)
	if err != nil {
		return core.List[PlatformLine]{}, err
	}
	lines := make([]PlatformLine, len(rows))
	for i, r := range rows {
		if lines[i], err = r.line(); err != nil {
			return core.List[PlatformLine]{}, err
		}
	}
	return core.NewList(p, lines, PlatformLine.position), nil
}

// everywhere returns the arguments of what the filter picks.
func (s *Service) everywhere(ctx context.Context, f PlatformFilter, p core.Page) (db.Args, error) {
	check := core.NewCheck(p.Malformed)
	args := db.Args{"tenant": nil, "actions": nil, "kinds": nil, "actors": nil}
	args["from"], args["before"] = f.days(check, time.UTC)
	actions := f.anywhere(check)
	who := f.actor(check)
	business, person := check.OptionalText("business", f.Business, maxText), check.OptionalText("person", f.Person, maxText)
	var kinds, ids []string
	if who != nil {
		kinds, ids = []string{string(who.kind)}, []string{who.id}
	}
	if check.Err() == nil && (business != nil || person != nil) {
		found, err := db.PlatformOne[named](ctx, s.db, namedSQL, db.Args{"slug": business, "email": lower(person)})
		if err != nil {
			return nil, err
		}
		if args["tenant"] = found.Tenant; business != nil && found.Tenant == nil {
			check.Add("business", core.InvalidChoice)
		}
		if person != nil {
			kinds, ids = found.actors()
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
			actions = everyAction()
		}
	}
	if actions != nil {
		args["actions"] = actions
	}
	return args, nil
}

func lower(s *string) *string {
	if s == nil {
		return nil
	}
	return new(strings.ToLower(*s))
}

func everyAction() (actions []string) {
	for _, n := range slices.Concat(nouns, platformNouns) {
		actions = append(actions, n.actions()...)
	}
	slices.Sort(actions)
	return slices.Compact(actions)
}

// anywhere are the actions that are picked; nil: all.
func (f Filter) anywhere(check *core.Check) []string {
	if f.Subject == nil && f.Action == nil {
		return nil
	}
	var actions []string
	for _, a := range everyAction() {
		noun, _, _ := strings.Cut(a, ".")
		if (f.Subject == nil || noun == *f.Subject) && (f.Action == nil || a == *f.Action) {
			actions = append(actions, a)
		}
	}
	if f.Subject != nil && !slices.Contains(PlatformNouns(), *f.Subject) {
		check.Add("subject", core.InvalidChoice)
	} else if len(actions) == 0 {
		check.Add("action", core.InvalidChoice)
	}
	return actions
}

// named is what the words of a filter stand for.
type named struct {
	Tenant *int64
	People []string // as in Filter.Actor
}

// actors are the people as whom somebody may have acted.
func (n named) actors() (kinds, ids []string) {
	for _, who := range n.People {
		kind, id, _ := strings.Cut(who, ":")
		kinds, ids = append(kinds, kind), append(ids, id)
	}
	return kinds, ids
}

const namedSQL = `
	select (select id from loyalty.tenant where slug = @slug::text) as tenant,
		array(
			select case when tenant_id is null then 'admin:' else 'staff:' end || id
			from loyalty.staff
			where email_key = @email::text
			order by id
			limit 100
		) as people`

type platformRow struct {
	row
	TenantID   *int64
	TenantName *string
	TenantSlug *string
	Currency   *string
	Timezone   *string
}

func (r platformRow) line() (PlatformLine, error) {
	l, err := r.row.line()
	if err != nil || r.TenantID == nil {
		return PlatformLine{Line: l}, err
	}
	zone, err := time.LoadLocation(*r.Timezone)
	if err != nil {
		return PlatformLine{}, err
	}
	return PlatformLine{Line: l, Tenant: core.Tenant{
		ID: core.TenantID(*r.TenantID), Name: *r.TenantName, Slug: *r.TenantSlug, Currency: *r.Currency, TimeZone: zone,
	}}, nil
}

// The function takes the two ids between which the entries of a page are, and their order.
var everywhereList = db.NewList(`
	select `+lineColumns+`, e.tenant_id, t.name as tenant_name, t.slug as tenant_slug, t.currency, t.timezone
	from loyalty.audit_page(
		of_tenant => @tenant,
		of_actions => @actions::text[],
		of_actor_kinds => @kinds::text[],
		of_actor_ids => @actors::text[],
		{position},
		up_to => @limit
	) e
	left join loyalty.tenant t on t.id = e.tenant_id
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
