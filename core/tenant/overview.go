package tenant

import (
	"context"
	"maps"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// Condition is the most important thing about a tenant for the people who run the platform.
type Condition string

// The conditions, the most urgent first: a tenant has the first that applies.
const (
	IsSuspended Condition = "suspended"
	IsTest      Condition = "test"       // for tests of an integration: counted apart from businesses
	IsLate      Condition = "late"       // an invoice is overdue
	IsSettingUp Condition = "setting_up" // no sale yet, and the guide is not finished
	IsActive    Condition = "active"
)

// Status returns the status of a tenant in a condition, which the API calls by these names.
func (c Condition) Status() Status {
	if c == IsSuspended {
		return Suspended
	}
	return Active
}

// SortOrder is the order of an overview.
type SortOrder string

// The orders.
const (
	ByActivity  SortOrder = "activity"
	ByName      SortOrder = "name"
	ByPlan      SortOrder = "plan"
	ByCustomers SortOrder = "customers"
	BySales     SortOrder = "sales"
	ByCreation  SortOrder = "created"
)

// OverviewFilter selects the tenants of an overview. A nil field selects all.
type OverviewFilter struct {
	Search    *string // part of the name, the slug or an owner's e-mail address
	Condition *string
	PlanID    *int64
	Country   *string // ISO 3166-1 alpha-2
	Order     *string // nil: ByActivity
	Reverse   bool    // texts from Z to A, figures from the lowest, times from the oldest
	Number    int64   // of the page, from 1
	Size      int64   // of a page; 0: all

	Malformed core.Fields // what the front end could not read
}

// Summary is a tenant as an overview shows it. Its figures are of Overview.CountedAt.
type Summary struct {
	ID            core.TenantID
	Name          string
	Slug          string
	Email         string // the owner's
	PlanID        int64
	PlanName      string
	BillingCycle  BillingCycle
	PaymentMethod PaymentMethod
	Currency      string
	Country       *string
	TimeZone      string
	CreatedAt     time.Time
	Test          bool
	Condition     Condition
	SetupSteps    int // steps of the guide that are done

	Customers      int64 // active ones
	SalesLately    int64 // completed in the last 30 days
	Staff          int64 // active people
	SendsThisMonth int64
	LastActivityAt *time.Time // of its people, tokens and customers; nil: none yet
}

// Overview is a page of tenants with their totals.
type Overview struct {
	Tenants   []Summary
	Total     int64               // on all pages
	Counts    map[Condition]int64 // tenants that match the other filters, by condition
	Countries []string            // of all tenants
	CountedAt *time.Time          // when the figures were counted; nil: not yet
}

// All returns the number of tenants that match the other filters, of any condition.
func (o Overview) All() (n int64) {
	for _, c := range o.Counts {
		n += c
	}
	return n
}

// Overview returns a page of the selected tenants, for super-admins. Its cost does not grow with the
// tenants' customers and sales.
func (s *Service) Overview(ctx context.Context, by core.Actor, p OverviewFilter) (Overview, error) {
	if err := by.RequireAdmin(); err != nil {
		return Overview{}, err
	}
	filter, part, err := p.args()
	if err != nil {
		return Overview{}, err
	}
	o := Overview{Counts: map[Condition]int64{}}
	var counted []struct {
		Condition Condition
		N         int64
	}
	var facts struct {
		CountedAt *time.Time
		Countries []string
	}
	listSQL, part := overviewList.Statement(core.Page{}, part)
	countSQL, filter := conditionCounts.Statement(core.Page{}, filter)
	err = db.Together(ctx, s.db.Platform(),
		db.AllInto(&o.Tenants, listSQL, part),
		db.AllInto(&counted, countSQL, filter),
		db.OneInto(&facts, countedSQL, nil),
	)
	for _, c := range counted {
		o.Counts[c.Condition] = c.N
	}
	o.Total = o.All()
	if p.Condition != nil {
		o.Total = o.Counts[Condition(*p.Condition)]
	}
	o.CountedAt, o.Countries = facts.CountedAt, facts.Countries
	return o, err
}

// args checks the filter and returns the arguments of its statements: for the counts and for the
// page.
func (p OverviewFilter) args() (filter, part db.Args, err error) {
	check := core.NewCheck(p.Malformed)
	search := check.OptionalText("search", p.Search, maxText)
	if p.Condition != nil {
		core.OneOf(check, "status", Condition(*p.Condition), IsSuspended, IsTest, IsLate, IsSettingUp, IsActive)
	}
	order := ByActivity
	if p.Order != nil {
		order = SortOrder(*p.Order)
		core.OneOf(check, "sort", order, ByActivity, ByName, ByPlan, ByCustomers, BySales, ByCreation)
	}
	filter = db.Args{"search": search, "plan": p.PlanID, "country": p.Country}
	part = maps.Clone(filter)
	part["condition"], part["order"] = p.Condition, string(order)
	// By default texts begin with A, figures with the highest.
	part["descending"] = p.Reverse == (order == ByName || order == ByPlan)
	part["size"], part["offset"] = nil, int64(0)
	if p.Size > 0 {
		number := check.Integer("page", &p.Number, 1, 1_000_000)
		part["size"], part["offset"] = p.Size, (number-1)*p.Size
	}
	return filter, part, check.Err()
}

// RecentPeriod is the period in which an overview counts sales: 30 days of 24 hours.
const RecentPeriod = 30 * 24 * time.Hour

const (
	countEvery = 10 * time.Minute
	countTime  = 8 * time.Minute
)

// count is the job that counts the usage of each tenant.
type count struct{}

// Kind names the job in the queue.
func (count) Kind() string { return "tenant_usage" }

// CountEvery registers the job that counts the figures of the overview: every ten minutes, once in the
// whole installation.
func (s *Service) CountEvery(jobs *job.Queue) {
	job.HandleWithin(jobs, job.Upkeep, countTime, func(ctx context.Context, _ count) error { return s.Count(ctx) })
	job.Every(jobs, countEvery, count{})
}

// Count counts the usage of each tenant for the overview.
func (s *Service) Count(ctx context.Context) error {
	_, err := db.In(ctx, s.db.Platform(), func(tx *db.Tx) (int64, error) {
		if err := db.TakeTime(tx); err != nil {
			return 0, err
		}
		return db.One[int64](ctx, tx, countSQL, db.Args{"now": tx.Now, "since": core.FirstID(tx.Now.Add(-RecentPeriod))})
	})
	return err
}
