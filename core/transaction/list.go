package transaction

import (
	"context"
	"strings"
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

	WithoutLocation   bool
	RecordedBy        *string // as Recorder names them
	ExternalReference *string // a whole receipt number
}

// Recorder names who recorded sales, for a filter: a person, a token, or the platform.
func Recorder(kind core.ActorKind, id string) string { return string(kind) + ":" + id }

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

// Found is a page of sales and, of a search, where it left sales out.
type Found struct {
	core.List[Named]
	Limits SearchLimits
}

// List returns a page of the sales that match the filter, newest or oldest first.
func (s *Service) List(ctx context.Context, by core.Actor, f Filter, sort core.Sort, p core.Page) (Found, error) {
	check := core.NewCheck(p.Malformed)
	core.OneOf(check, "sort", sort, core.Newest, core.Oldest)
	args, err := f.args(check, by.Tenant, "from", "to")
	if err != nil {
		return Found{}, err
	}
	AddVoidArgs(by, s.db.Now(), args)
	list, limits := saleLists[sort], SearchLimits{}
	if text, searching := args["search"].(string); searching {
		list = foundSaleLists[sort]
		if args["buyers"], limits, err = s.search(ctx, by, text, f.SearchCents); err != nil {
			return Found{}, err
		}
	}
	page, err := db.ListPage(ctx, s.db, by, list, args, p, Named.position)
	return Found{List: page, Limits: limits}, err
}

// Recorded returns a page of the sales that match a filter without a search, newest first.
func (s *Service) Recorded(ctx context.Context, by core.Actor, f Filter, p core.Page) (core.List[Transaction], error) {
	args, err := f.args(core.NewCheck(p.Malformed), by.Tenant, "created_from", "created_to")
	if err != nil {
		return core.List[Transaction]{}, err
	}
	return db.ListPage(ctx, s.db, by, recordedList, args, p, Transaction.position)
}

// Among returns those of the sales with the ids that match a filter without a search, by ID.
func (s *Service) Among(ctx context.Context, by core.Actor, f Filter, ids []core.ID) ([]Transaction, error) {
	args, err := f.args(core.NewCheck(nil), by.Tenant, "created_from", "created_to")
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	args["ids"] = ids
	sql, args := amongList.Statement(core.Page{}, args)
	return db.All[Transaction](ctx, s.db.Tenant(by), sql, args)
}

// The customers that a search finds, once for its page and its count.
const searchSQL = `
	select array(` + customer.Found + `) as buyers`

const furtherSQL = `
	select @cents::bigint is not null and exists (
			select
			from loyalty.transaction
			where tenant_id = @tenant_id
			order by id
			offset @near
		) as further`

// search returns the newest customers that a search finds, and where it leaves sales out.
func (s *Service) search(ctx context.Context, by core.Actor, text string, cents *int64) ([]core.ID, SearchLimits, error) {
	args := customer.SearchArgs(text, by.Tenant)
	args["found"] = SearchedCustomers + 1
	var (
		found struct{ Buyers []core.ID }
		sales struct{ Further bool }
	)
	err := db.Together(ctx, s.db.Tenant(by),
		db.OneInto(&found, searchSQL, args),
		db.OneInto(&sales, furtherSQL, db.Args{"cents": cents, "near": SearchedSales}))
	limits := SearchLimits{Customers: len(found.Buyers) > SearchedCustomers, Sales: sales.Further}
	return found.Buyers[:min(len(found.Buyers), SearchedCustomers)], limits, err
}

// args returns the arguments of the lists, or the violations; those of the days have the given names.
func (f Filter) args(check *core.Check, t core.Tenant, from, to string) (db.Args, error) {
	args := db.Args{"type": f.TypeID, "source": f.Source, "location": f.LocationID}
	if f.Status != nil {
		core.OneOf(check, "status", Status(*f.Status), Completed, Voided)
		args[*f.Status] = true
	}
	if f.Source != nil {
		core.OneOf(check, "source", Source(*f.Source), API, POS, Panel)
	}
	if f.WithoutLocation {
		args["without_location"] = true
	}
	if given := check.OptionalText("recorded_by", f.RecordedBy, 255); given != nil {
		kind, id, _ := strings.Cut(*given, ":")
		core.OneOf(check, "recorded_by", core.ActorKind(kind), core.ByStaff, core.ByToken, core.ByAdmin, core.BySystem)
		args["recorder_kind"], args["recorder"] = kind, id
	}
	if given := check.OptionalText("customer_ulid", f.CustomerID, 255); given != nil {
		id, err := core.ParseID(*given)
		if err != nil {
			check.Add("customer_ulid", core.InvalidChoice)
		}
		args["customer"] = id
	}
	if search := check.OptionalText("search", f.Search, maxSearch); search != nil {
		args["search"], args["cents"], args["near"] = *search, f.SearchCents, SearchedSales
	}
	if reference := check.OptionalText("external_reference", f.ExternalReference, maxExternalReference); reference != nil {
		args["reference"] = *reference
	}
	// An ID contains its created_at.
	if f.From != nil {
		args["from"] = core.FirstID(core.StartOfDate(*f.From, t.TimeZone))
	}
	if f.To != nil {
		args["before"] = core.FirstID(core.StartOfDate(f.To.AddDate(0, 0, 1), t.TimeZone)) // the whole day
		if f.From != nil && f.To.Before(*f.From) {
			check.Add(to, core.AfterOrEqual(from))
		}
	}
	return args, check.Err()
}

// Detail is a sale with who voided it and its ledger entries.
type Detail struct {
	Named
	DiscountCents int64 // what vouchers took off at the till, before what was paid
	VoidReason    *string
	PromotionName *string         // nil: none counted
	LevelName     *string         // nil: none added something
	VoidedByName  *string         // nil: not voided
	Entries       []ledger.Posted `db:"-"` // also of its refunds; none for a sale that earned nothing
	Refunds       []Refund        `db:"-"` // the oldest first
	Ended         int64           `db:"-"` // of the award: what has expired, and would come back before a void takes the award
}

// Detail returns a sale in detail, or core.ErrNotFound.
func (s *Service) Detail(ctx context.Context, by core.Actor, id core.ID) (Detail, error) {
	args := db.Args{"id": id, "subject_id": id.String()}
	AddVoidArgs(by, s.db.Now(), args)
	var d Detail
	args["sees_tokens"], args["unnamed_token"] = by.SeesTokens(), core.UnnamedToken
	err := db.Together(ctx, s.db.Tenant(by), db.OneInto(&d, detailSQL, args), ledger.ReadPostedOfSale(&d.Entries, id),
		db.AllInto(&d.Refunds, refundsSQL, db.Args{"id": id}), ledger.ReadEnded(&d.Ended, id))
	return d, err
}
