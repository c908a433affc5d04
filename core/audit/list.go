package audit

import (
	"context"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Service reads audit logs.
type Service struct{ db *db.DB }

// NewService makes the service.
func NewService(d *db.DB) *Service { return &Service{db: d} }

// Line is an entry as it is read. Names are those of the time when it was written, except that
// erasing a customer replaces theirs; they are empty where there was none, and in entries of
// earlier versions.
type Line struct {
	ID           core.ID
	At           time.Time
	Action       string
	Subject      string // the noun
	SubjectID    string
	SubjectName  string   // for a redemption its reward's, for a voucher its coupon's, for a sale ""
	CustomerID   *core.ID // the subject, or the customer of the sale, redemption or voucher
	CustomerName string
	SpendCents   *int64 // of a voided or refunded sale
	Changes      Changes
	Actor        string // as in Filter
	ActorName    string
	Address      string
	RequestID    string
}

// Filter selects lines. A nil field selects all.
type Filter struct {
	Action    *string    // one of Actions
	Subject   *string    // a noun
	SubjectID *string    // with Subject: one record
	Actor     *string    // kind and id: "staff:12", "system:"
	From      *time.Time // first day in the tenant's time zone, as its midnight in UTC
	To        *time.Time // last day, likewise
}

// List returns a page of the tenant's audit log, newest first. Managers don't see entries about
// people, tokens and the business's settings. It costs the same however long the log is.
func (s *Service) List(ctx context.Context, by core.Actor, f Filter, p core.Page) (core.List[Line], error) {
	if err := by.Require(core.Manager); err != nil {
		return core.List[Line]{}, err
	}
	list, args, err := f.list(by, p)
	if err != nil {
		return core.List[Line]{}, err
	}
	found, err := db.ListPage(ctx, s.db, by, list, args, p, Line.position)
	for i, l := range found.Items {
		kind, _, _ := strings.Cut(l.Actor, ":")
		found.Items[i].ActorName = by.NameOf(core.ActorKind(kind), l.ActorName)
	}
	return found, err
}

func (l Line) position() core.Cursor { return core.Cursor{At: l.At, ID: l.ID} }

// list returns the list that finds the selected lines, and its arguments.
func (f Filter) list(by core.Actor, p core.Page) (*db.List, db.Args, error) {
	check := core.NewCheck(p.Malformed)
	from, before := f.days(check, by.Tenant.TimeZone)
	subjectID := f.subjectID(check)
	who := f.actor(check)
	if err := check.Err(); err != nil {
		return nil, nil, err
	}
	args := db.Args{"from": from, "before": before}
	if who != nil {
		args["actor_kind"], args["actor_id"] = who.kind, who.id
	}
	if by.Require(core.Owner) == nil && f.Action == nil && f.Subject == nil && who == nil {
		return entryList, args, nil
	}
	actions, err := readableActions(by, f.Subject, f.Action)
	args["actions"] = actions
	if subjectID != nil {
		args["subject"], args["subject_id"] = *f.Subject, *subjectID
		return entryList, args, err
	}
	return actionList, args, err
}

// subjectID checks subject and action, and reads the id of the record.
func (f Filter) subjectID(check *core.Check) (id *string) {
	if f.Subject != nil && len(actionsOf(nouns, f.Subject, nil)) == 0 {
		check.Add("subject", core.InvalidChoice)
	}
	if f.Action != nil && len(actionsOf(nouns, nil, f.Action)) == 0 {
		check.Add("action", core.InvalidChoice)
	}
	id = check.OptionalText("subject_id", f.SubjectID, maxText)
	if id != nil && f.Subject == nil {
		check.Add("subject", core.Required)
	}
	return id
}

// actor is the actor that a filter selects.
type actor struct {
	kind core.ActorKind
	id   string
}

func (f Filter) actor(check *core.Check) *actor {
	text := check.OptionalText("actor", f.Actor, maxText)
	if text == nil {
		return nil
	}
	kind, id, found := strings.Cut(*text, ":")
	if !found {
		check.Add("actor", core.InvalidChoice)
		return nil
	}
	core.OneOf(check, "actor", core.ActorKind(kind), core.ByToken, core.ByStaff, core.ByAdmin, core.ByCustomer, core.BySystem)
	return &actor{core.ActorKind(kind), id}
}

const maxText = 255

// days returns the first id of the first day and the first id after the last day; nil: any. Entries
// get their ids when they are written, so ids are in order of time.
func (f Filter) days(check *core.Check, zone *time.Location) (from, before *core.ID) {
	if f.From != nil {
		from = new(core.FirstID(core.StartOfDate(*f.From, zone)))
	}
	if f.To != nil {
		before = new(core.FirstID(core.StartOfDate(f.To.AddDate(0, 0, 1), zone))) // the whole day
		if f.From != nil && f.To.Before(*f.From) {
			check.Add("to", core.AfterOrEqual("from"))
		}
	}
	return from, before
}

const (
	// A customer's name is stored once in an entry, so that erasing them changes one column.
	lineColumns = `e.id, e.created_at as at, e.action, e.subject_kind as subject, e.subject_id,
		case when e.subject_kind = 'customer' then e.customer_name else e.subject_name end as subject_name, e.customer_id, e.customer_name,
		case when e.action in ('transaction.void', 'transaction.refund') then (e.new ->> 'spend_amount_cents')::bigint end as spend_cents,
		jsonb_build_array(e.old, e.new) as changes,
		e.actor_kind || ':' || e.actor_id as actor, e.actor_name, e.address, e.request_id`

	selectLines = `
	select ` + lineColumns + `
	from loyalty.audit_entry e
	where tenant_id = @tenant_id`
)

var (
	newestFirst = db.Descending("id", "@id")

	filters = db.Filters{
		"from":       "id >= @from",
		"before":     "id < @before",
		"actor_id":   "actor_kind = @actor_kind and actor_id = @actor_id",
		"subject_id": "subject_kind = @subject and subject_id = @subject_id and action = any(@actions::text[])",
	}
)

// The whole log, or the entries about one record, which are few.
var entryList = db.NewList(selectLines+` {filters} {position}
	{page}`, newestFirst, filters)

// Takes the last page of each action from its index, and the page from these. The array makes the
// planner look the entries up by their ids.
var actionList = db.NewList(selectLines+`
		and id = any(array(
			select found.id
			from unnest(@actions::text[]) as wanted (action)
			cross join lateral (
				select id
				from loyalty.audit_entry
				where tenant_id = @tenant_id
					and action = wanted.action {filters} {position}
				{page}
			) found
			{page}
		))
	{page}`, newestFirst, filters)

// Person is a person or a token to filter by.
type Person struct {
	Actor string // as in Filter
	Name  string
}

// People returns the staff, including former staff, and for owners the tokens in use, by name. Other
// actors are found in the lines that name them.
func (s *Service) People(ctx context.Context, by core.Actor) ([]Person, error) {
	if err := by.Require(core.Manager); err != nil {
		return nil, err
	}
	return db.All[Person](ctx, s.db.Tenant(by), peopleSQL, db.Args{"tokens": by.SeesTokens()})
}

const peopleSQL = `
	select actor, name
	from (
		select 'staff' as kind, 'staff:' || id as actor, name
		from loyalty.staff
		where tenant_id = @tenant_id
		union all
		select 'token', 'token:' || t.id, t.name
		from loyalty.staff s
		join loyalty.token t on t.staff_id = s.id
		where @tokens::boolean
			and s.tenant_id = @tenant_id
			and t.tenant_id = @tenant_id
			and t.revoked_at is null
	) person
	order by kind, name, actor`
