package transaction

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// Filter picks sales. Fields that are nil pick all.
type Filter struct {
	Status            *string // completed or voided
	TypeID            *int64
	Source            *string // api, pos or panel
	CustomerID        *string // a ULID
	LocationID        *int64
	From              *time.Time // a day of the tenant's time zone, included; written as its midnight in UTC
	To                *time.Time // likewise
	ExternalReference *string    // exactly this one
}

// Named is a sale with the names of what it refers to.
type Named struct {
	Transaction
	CustomerName string
	TypeName     string
	LocationName *string
	ActorKind    core.ActorKind // who recorded it
	ActorName    string
	Voidable     bool // by whoever asks
}

// List returns a page of the sales that pass the filter, newest first. One round trip,
// of the same cost at any depth; of several filters it costs what the rarest one finds.
func (s *Service) List(ctx context.Context, by core.Actor, f Filter, p core.Page) (core.List[Named], error) {
	args, err := f.args(by.Tenant, p)
	if err != nil {
		return core.List[Named]{}, err
	}
	addVoidArgs(by, s.db.Now(), args)
	sales, err := db.ReadAll[Named](ctx, s.db, by, f.statement(args, p), args)
	return core.NewList(p, sales, func(n Named) core.Cursor { return n.position() }), err
}

func (f Filter) args(t core.Tenant, p core.Page) (db.Args, error) {
	check := core.NewCheck(p.Unreadable)
	args := db.Args{"limit": p.Limit()}
	if p.Cursor != nil {
		args["id"] = p.Cursor.ID
	}
	if f.Status != nil {
		core.OneOf(check, "status", Status(*f.Status), Completed, Voided)
	}
	if f.TypeID != nil {
		args["type"] = *f.TypeID
	}
	if f.Source != nil {
		core.OneOf(check, "source", Source(*f.Source), API, POS, Panel)
		args["source"] = *f.Source
	}
	if given := check.OptionalText("customer_ulid", f.CustomerID, 255); given != nil {
		id, err := core.ParseID(*given)
		if err != nil {
			check.Add("customer_ulid", core.Selected)
		}
		args["customer"] = id
	}
	if f.LocationID != nil {
		args["location"] = *f.LocationID
	}
	if reference := check.OptionalText("external_reference", f.ExternalReference, maxExternalReference); reference != nil {
		args["reference"] = *reference
	}
	// Ids are made at created_at.
	if f.From != nil {
		args["first_id"] = core.FirstID(core.StartOfDate(*f.From, t.TimeZone))
	}
	if f.To != nil {
		args["end_id"] = core.FirstID(core.StartOfDate(f.To.AddDate(0, 0, 1), t.TimeZone)) // the whole day
		if f.From != nil && f.To.Before(*f.From) {
			check.Add("to", core.AfterOrEqual("from"))
		}
	}
	return args, check.Err()
}

// statement puts the list's SQL together from constants.
func (f Filter) statement(args db.Args, p core.Page) string {
	sql := listSQL
	if f.Status != nil {
		if Status(*f.Status) == Voided {
			sql += whereVoided
		} else {
			sql += whereCompleted
		}
	}
	for _, condition := range []struct{ arg, sql string }{
		{"type", whereType},
		{"source", whereSource},
		{"customer", whereCustomer},
		{"location", whereLocation},
		{"reference", whereReference},
		{"first_id", whereFrom},
		{"end_id", whereUntil},
	} {
		if _, given := args[condition.arg]; given {
			sql += condition.sql
		}
	}
	switch {
	case p.Cursor == nil:
		return sql + newestFirst
	case p.Back():
		return sql + whereNewer + oldestFirst
	}
	return sql + whereOlder + newestFirst
}

// Detail is a sale, what became of it, and what it did to its customer's balance.
type Detail struct {
	Named
	VoidedByKind *core.ActorKind // nil: it stands
	VoidedByName *string
	Entries      []Entry // none where it earned nothing
}

// Entry is what the ledger holds of a sale, in its unit.
type Entry struct {
	Kind         ledger.Kind // earn or reversal
	Amount       int64
	BalanceAfter int64
	CreatedAt    time.Time
}

// Detail returns all there is to know of a sale, or core.ErrNotFound. One round trip.
func (s *Service) Detail(ctx context.Context, by core.Actor, id core.ID) (Detail, error) {
	args := db.Args{"id": id, "subject_id": id.String()}
	addVoidArgs(by, s.db.Now(), args)
	rows, err := db.ReadAll[record](ctx, s.db, by, detailSQL, args)
	if err != nil {
		return Detail{}, err
	}
	if len(rows) == 0 {
		return Detail{}, core.ErrNotFound
	}
	d := Detail{Named: rows[0].Named, VoidedByKind: rows[0].VoidedByKind, VoidedByName: rows[0].VoidedByName}
	for _, r := range rows {
		if r.EntryKind != nil {
			d.Entries = append(d.Entries, Entry{*r.EntryKind, *r.EntryAmount, *r.BalanceAfter, *r.EntryAt})
		}
	}
	return d, nil
}
