package transaction

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// Filter selects sales. A nil field matches all.
type Filter struct {
	Status            *string // completed or voided
	TypeID            *int64
	Source            *string // api, pos or panel
	CustomerID        *string // a ULID
	LocationID        *int64
	From              *time.Time // the first day in the tenant's time zone, as its midnight in UTC
	To                *time.Time // the last day, likewise
	ExternalReference *string    // matches exactly
}

// Named is a sale with the names of what it refers to.
type Named struct {
	Transaction
	CustomerName string
	TypeName     string
	LocationName *string
	ActorKind    core.ActorKind // who recorded it
	ActorName    string
	Voidable     bool // by the caller
}

// List returns a page of the sales that match the filter, newest first.
func (s *Service) List(ctx context.Context, by core.Actor, f Filter, p core.Page) (core.List[Named], error) {
	args, err := f.args(by.Tenant, p)
	if err != nil {
		return core.List[Named]{}, err
	}
	addVoidArgs(by, s.db.Now(), args)
	return db.ListPage(ctx, s.db, by, saleList, args, p, Named.position)
}

func (f Filter) args(t core.Tenant, p core.Page) (db.Args, error) {
	check := core.NewCheck(p.Malformed)
	args := db.Args{"type": f.TypeID, "source": f.Source, "location": f.LocationID}
	if f.Status != nil {
		core.OneOf(check, "status", Status(*f.Status), Completed, Voided)
		args[*f.Status] = true
	}
	if f.Source != nil {
		core.OneOf(check, "source", Source(*f.Source), API, POS, Panel)
	}
	if given := check.OptionalText("customer_ulid", f.CustomerID, 255); given != nil {
		id, err := core.ParseID(*given)
		if err != nil {
			check.Add("customer_ulid", core.InvalidChoice)
		}
		args["customer"] = id
	}
	args["reference"] = check.OptionalText("external_reference", f.ExternalReference, maxExternalReference)
	// An ID contains its created_at.
	if f.From != nil {
		args["from"] = core.FirstID(core.StartOfDate(*f.From, t.TimeZone))
	}
	if f.To != nil {
		args["before"] = core.FirstID(core.StartOfDate(f.To.AddDate(0, 0, 1), t.TimeZone)) // the whole day
		if f.From != nil && f.To.Before(*f.From) {
			check.Add("to", core.AfterOrEqual("from"))
		}
	}
	return args, check.Err()
}

// Detail is a sale with who voided it and its ledger entries.
type Detail struct {
	Named
	VoidedByKind *core.ActorKind // nil: not voided
	VoidedByName *string
	Entries      []Entry // none for a sale that earned nothing
}

// Entry is a ledger entry of a sale, in its unit.
type Entry struct {
	Kind         ledger.Kind // earn or reversal
	Amount       int64
	BalanceAfter int64
	CreatedAt    time.Time
}

// Detail returns a sale in detail, or core.ErrNotFound.
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
