package audit

import (
	"context"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Service reads the logs of tenants.
type Service struct{ db *db.DB }

// NewService makes the service.
func NewService(d *db.DB) *Service { return &Service{db: d} }

// Line is an entry as it is read. Its names are those of the time when it was written; only
// erasing a customer replaces theirs. Where nothing had a name, or an earlier version wrote the
// entry, they are empty.
type Line struct {
	ID           core.ID
	At           time.Time
	Action       string
	Subject      string // the noun
	SubjectID    string
	SubjectName  string   // of a redemption: its reward's; of a voucher: its coupon's; of a sale: ""
	CustomerID   *core.ID // the subject, or the customer of the sale, redemption or voucher
	CustomerName string
	SpendCents   *int64 // of a sale that was voided
	Changes      []Change
	Actor        string // as in Filter
	ActorName    string
	Address      string
	RequestID    string
}

// Filter picks lines. Fields that are nil pick all.
type Filter struct {
	Action    *string    // one of Actions
	Subject   *string    // the noun of some of them
	SubjectID *string    // with Subject: the history of one record
	Actor     *string    // kind and id: "staff:12", "system:"
	From      *time.Time // a day of the tenant's time zone, included; written as its midnight in UTC
	To        *time.Time // likewise
}

// List returns a page of the tenant's log, newest first. A manager reads of everything
// but people, tokens and the business's settings, which are the owner's to keep. One
// round trip, at the same cost whatever is picked and however long the log is.
func (s *Service) List(ctx context.Context, by core.Actor, f Filter, p core.Page) (core.List[Line], error) {
	if err := by.Require(core.Manager); err != nil {
		return core.List[Line]{}, err
	}
	list, args, err := f.read(by, p)
	if err != nil {
		return core.List[Line]{}, err
	}
	statement, args := list.Statement(p, args)
	rows, err := db.ReadAll[row](ctx, s.db, by, statement, args)
	if err != nil {
		return core.List[Line]{}, err
	}
	lines := make([]Line, len(rows))
	for i, r := range rows {
		if lines[i], err = r.line(); err != nil {
			return core.List[Line]{}, err
		}
	}
	return core.NewList(p, lines, Line.position), nil
}

func (l Line) position() core.Cursor { return core.Cursor{At: l.At, ID: l.ID} }

// read returns the list that finds what the filter picks, and its arguments.
func (f Filter) read(by core.Actor, p core.Page) (*db.List, db.Args, error) {
	check := core.NewCheck(p.Malformed)
	from, before := f.days(check, by.Tenant.TimeZone)
	subjectID := f.subject(check)
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
	actions, err := pick(by, f.Subject, f.Action)
	args["actions"] = actions
	if subjectID != nil {
		args["subject"], args["subject_id"] = *f.Subject, *subjectID
		return entryList, args, err
	}
	return actionList, args, err
}

// subject checks what is asked for, and reads the id of the one record.
func (f Filter) subject(check *core.Check) (id *string) {
	if f.Subject != nil && !knownSubject(*f.Subject) {
		check.Add("subject", core.InvalidChoice)
	}
	if f.Action != nil && !knownAction(*f.Action) {
		check.Add("action", core.InvalidChoice)
	}
	id = check.OptionalText("subject_id", f.SubjectID, maxText)
	if id != nil && f.Subject == nil {
		check.Add("subject", core.Required)
	}
	return id
}

// actor is who is asked for; nil: anybody.
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
// are ordered by their ids, which are made when they are written.
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

type row struct {
	ID           core.ID
	CreatedAt    time.Time
	Action       string
	SubjectKind  string
	SubjectID    string
	SubjectName  string
	CustomerID   *core.ID
	CustomerName string
	SpendCents   *int64
	Old          []byte
	New          []byte
	ActorKind    core.ActorKind
	ActorID      string
	ActorName    string
	Address      string
	RequestID    string
}

func (r row) line() (Line, error) {
	changed, err := changes(r.Old, r.New)
	l := Line{
		ID: r.ID, At: r.CreatedAt, Action: r.Action, Subject: r.SubjectKind, SubjectID: r.SubjectID, SubjectName: r.SubjectName,
		CustomerID: r.CustomerID, CustomerName: r.CustomerName, SpendCents: r.SpendCents, Changes: changed,
		Actor: string(r.ActorKind) + ":" + r.ActorID, ActorName: r.ActorName, Address: r.Address, RequestID: r.RequestID,
	}
	if l.Subject == "customer" {
		l.SubjectName = l.CustomerName // stored once, so that erasing them cleans one place
	}
	return l, err
}

const (
	lineColumns = `e.id, e.created_at, e.action, e.subject_kind, e.subject_id, e.subject_name, e.customer_id, e.customer_name,
		case e.action when 'transaction.void' then (e.new ->> 'spend_amount_cents')::bigint end as spend_cents,
		e.old, e.new, e.actor_kind, e.actor_id, e.actor_name, e.address, e.request_id`

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

// The whole log, and the history of one record, which is short.
var entryList = db.NewList(selectLines+` {filters} {position}
	{page}`, newestFirst, filters)

// A page of each action is at the end of its index; the page of all is among them. An
// array, so that the entries are looked up by its ids whatever else the planner expects.
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
