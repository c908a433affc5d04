package transaction

import (
	"context"
	"maps"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// Filter selects sales. A nil field matches all.
type Filter struct {
	Status      *string // completed or voided
	TypeID      *int64
	Source      *string // api, pos or panel
	CustomerID  *string // a ULID
	LocationID  *int64
	From        *time.Time // the first day in the tenant's time zone, as its midnight in UTC
	To          *time.Time // the last day, likewise
	Search      *string    // part of the customer's name, phone number or e-mail address, or a whole receipt number
	SearchCents *int64     // with Search: or this amount
}

// SearchLimits says where a search left sales out.
type SearchLimits struct {
	Customers bool // more than SearchedCustomers match
	Sales     bool // an amount was looked for, in the first SearchedSales of the list's order only
}

// Limits of a search: it looks at the sales of the newest customers that match, and for an amount at the
// first sales in the list's order, because no index has the amounts.
const (
	SearchedCustomers = 200
	SearchedSales     = 10_000
)

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

// List returns a page of the sales that match the filter, newest or oldest first.
func (s *Service) List(ctx context.Context, by core.Actor, f Filter, sort core.Sort, p core.Page) (core.List[Named], error) {
	check := core.NewCheck(p.Malformed)
	core.OneOf(check, "sort", sort, core.Newest, core.Oldest)
	args, err := f.args(check, by.Tenant)
	if err != nil {
		return core.List[Named]{}, err
	}
	addVoidArgs(by, s.db.Now(), args)
	list := saleLists[sort]
	if args["search"] != nil {
		list = foundSaleLists[sort]
	}
	return db.ListPage(ctx, s.db, by, list, args, p, Named.position)
}

func (f Filter) args(check *core.Check, t core.Tenant) (db.Args, error) {
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
	if search := check.OptionalText("search", f.Search, maxSearch); search != nil {
		maps.Copy(args, customer.SearchArgs(*search, t))
		args["search"], args["cents"], args["found"], args["near"] = *search, f.SearchCents, SearchedCustomers, SearchedSales
	}
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

const searchLimitsSQL = `
	select (select count(*) from (` + customer.Found + `) found) > @customers as customers,
		@cents::bigint is not null and exists (
			select
			from loyalty.transaction
			where tenant_id = @tenant_id
			order by id
			offset @sales
		) as sales`

// SearchLimits returns where the search of the filter leaves sales out. Without a search it leaves out none.
func (s *Service) SearchLimits(ctx context.Context, by core.Actor, f Filter) (SearchLimits, error) {
	if f.Search == nil {
		return SearchLimits{}, nil
	}
	args := customer.SearchArgs(*f.Search, by.Tenant)
	args["found"], args["customers"], args["cents"], args["sales"] = SearchedCustomers+1, SearchedCustomers, f.SearchCents, SearchedSales
	return db.ReadOne[SearchLimits](ctx, s.db, by, searchLimitsSQL, args)
}

// Detail is a sale with who voided it and its ledger entries.
type Detail struct {
	Named
	VoidReason   *string
	VoidedByKind *core.ActorKind // nil: not voided
	VoidedByName *string
	Entries      []ledger.Posted `db:"-"` // none for a sale that earned nothing
}

// Detail returns a sale in detail, or core.ErrNotFound.
func (s *Service) Detail(ctx context.Context, by core.Actor, id core.ID) (Detail, error) {
	args := db.Args{"id": id, "subject_id": id.String()}
	addVoidArgs(by, s.db.Now(), args)
	var d Detail
	err := db.ReadTogether(ctx, s.db, by, db.OneInto(&d, detailSQL, args), ledger.ReadPosted(&d.Entries, id))
	return d, err
}
