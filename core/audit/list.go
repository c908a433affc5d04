package audit

import (
	"context"
	"slices"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Service reads the logs of tenants.
type Service struct{ db *db.DB }

// NewService makes the service.
func NewService(d *db.DB) *Service { return &Service{db: d} }

// Line is an entry as it is read.
type Line struct {
	ID        core.ID
	At        time.Time
	Action    string
	Subject   string // the noun
	SubjectID string
	Record    *Record // the subject, as it is called now; nil: nothing by that id has a name
	Changes   []Change
	Actor     string // as in Filter
	ActorName string // as it was then
	Address   string
	RequestID string
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
// but people, tokens and the business's settings, which are the owner's to keep. Two
// round trips, at the same cost whatever is picked and however long the log is: the
// entries, and what their subjects are called.
func (s *Service) List(ctx context.Context, by core.Actor, f Filter, p core.Page) (core.List[Line], error) {
	if err := by.Require(core.Manager); err != nil {
		return core.List[Line]{}, err
	}
	statement, args, err := f.statement(by, p)
	if err != nil {
		return core.List[Line]{}, err
	}
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
	if err := s.name(ctx, by, lines); err != nil {
		return core.List[Line]{}, err
	}
	return core.NewList(p, lines, func(l Line) core.Cursor { return core.Cursor{At: l.At, ID: l.ID} }), nil
}

// statement picks the SQL of a page, and its arguments. Entries are ordered by their
// ids, which are made when they are written: a day and a cursor are both a place there.
func (f Filter) statement(by core.Actor, p core.Page) (string, db.Args, error) {
	check := core.NewCheck(p.Unreadable)
	args := db.Args{"limit": p.Limit()}
	args["after"], args["before"] = f.between(check, by.Tenant.TimeZone, p)
	subjectID := f.subject(check)
	who := f.actor(check)
	if err := check.Err(); err != nil {
		return "", nil, err
	}
	actions, err := pick(by, f.Subject, f.Action)
	if err != nil {
		return "", nil, err
	}
	if who != nil || subjectID != nil {
		args["actor_kind"], args["actor_id"] = who.arguments()
	}
	everything := by.Require(core.Owner) == nil && f.Action == nil && f.Subject == nil
	switch {
	case subjectID != nil:
		args["subject"], args["subject_id"], args["actions"] = *f.Subject, *subjectID, actions
		return either(p, ofSubjectSQL, ofSubjectBackSQL), args, nil
	case who != nil:
		args["actions"] = actions
		return either(p, ofActorSQL, ofActorBackSQL), args, nil
	case everything:
		return either(p, listSQL, listBackSQL), args, nil
	}
	args["actions"] = actions
	return either(p, ofActionsSQL, ofActionsBackSQL), args, nil
}

func either(p core.Page, newestFirst, oldestFirst string) string {
	if p.Back() {
		return oldestFirst
	}
	return newestFirst
}

// subject checks what is asked for, and reads the id of the one record.
func (f Filter) subject(check *core.Check) (id *string) {
	if f.Subject != nil && !knownSubject(*f.Subject) {
		check.Add("subject", core.Selected)
	}
	if f.Action != nil && !knownAction(*f.Action) {
		check.Add("action", core.Selected)
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
		check.Add("actor", core.Selected)
		return nil
	}
	core.OneOf(check, "actor", core.ActorKind(kind), core.ByToken, core.ByStaff, core.ByAdmin, core.ByCustomer, core.BySystem)
	return &actor{core.ActorKind(kind), id}
}

func (a *actor) arguments() (kind, id any) {
	if a == nil {
		return nil, nil
	}
	return a.kind, a.id
}

const maxText = 255

// The lowest id and the highest one are no entry's.
var lowest, highest = core.ID{}, core.ID{
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
}

// between are the ids between which the page lies.
func (f Filter) between(check *core.Check, zone *time.Location, p core.Page) (after, before core.ID) {
	after, before = lowest, highest
	if f.From != nil {
		after = core.FirstID(core.StartOfDate(*f.From, zone))
	}
	if f.To != nil {
		before = core.FirstID(core.StartOfDate(f.To.AddDate(0, 0, 1), zone)) // the whole day
		if f.From != nil && f.To.Before(*f.From) {
			check.Add("to", core.AfterOrEqual("from"))
		}
	}
	switch {
	case p.Cursor == nil:
	case p.Back():
		after = later(after, p.Cursor.ID)
	default:
		before = earlier(before, p.Cursor.ID)
	}
	return after, before
}

func later(a, b core.ID) core.ID {
	if slices.Compare(a[:], b[:]) > 0 {
		return a
	}
	return b
}

func earlier(a, b core.ID) core.ID {
	if slices.Compare(a[:], b[:]) < 0 {
		return a
	}
	return b
}

type row struct {
	ID          core.ID
	CreatedAt   time.Time
	Action      string
	SubjectKind string
	SubjectID   string
	Old         []byte
	New         []byte
	ActorKind   core.ActorKind
	ActorID     string
	ActorName   string
	Address     string
	RequestID   string
}

func (r row) line() (Line, error) {
	changed, err := changes(r.Old, r.New)
	return Line{
		ID: r.ID, At: r.CreatedAt, Action: r.Action, Subject: r.SubjectKind, SubjectID: r.SubjectID, Changes: changed,
		Actor: string(r.ActorKind) + ":" + r.ActorID, ActorName: r.ActorName, Address: r.Address, RequestID: r.RequestID,
	}, err
}

const (
	selectLines = `
	select id, created_at, action, subject_kind, subject_id, old, new, actor_kind, actor_id, actor_name, address, request_id
	from loyalty.audit_entry
	where tenant_id = @tenant_id`

	between = `
		and id > @after
		and id < @before`

	newestFirst = `
	order by id desc
	limit @limit`

	oldestFirst = `
	order by id
	limit @limit`
)

const (
	listSQL     = selectLines + between + newestFirst
	listBackSQL = selectLines + between + oldestFirst
)

// A record's own history is short.
const (
	ofSubject = `
		and subject_kind = @subject
		and subject_id = @subject_id
		and action = any(@actions::text[])
		and (@actor_kind::text is null or (actor_kind = @actor_kind and actor_id = @actor_id))`

	ofSubjectSQL     = selectLines + ofSubject + between + newestFirst
	ofSubjectBackSQL = selectLines + ofSubject + between + oldestFirst
)

// A page of each action is at the end of its index; the page of all is among them. An
// array, so that the entries are looked up by its ids whatever else the planner expects.
const (
	ofEachAction = `
		and id = any(array(
			select found.id
			from unnest(@actions::text[]) as wanted (action)
			cross join lateral (
				select id
				from loyalty.audit_entry
				where tenant_id = @tenant_id
					and action = wanted.action`

	byActor = `
		and actor_kind = @actor_kind
		and actor_id = @actor_id`

	ofActionsSQL = selectLines + ofEachAction + between + newestFirst + `
			) found` + newestFirst + `
		))` + newestFirst

	ofActionsBackSQL = selectLines + ofEachAction + between + oldestFirst + `
			) found` + oldestFirst + `
		))` + oldestFirst

	ofActorSQL = selectLines + ofEachAction + byActor + between + newestFirst + `
			) found` + newestFirst + `
		))` + newestFirst

	ofActorBackSQL = selectLines + ofEachAction + byActor + between + oldestFirst + `
			) found` + oldestFirst + `
		))` + oldestFirst
)
