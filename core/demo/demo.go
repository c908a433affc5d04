// Package demo makes the demo tenant: a café in Stockholm with two years of
// customers and ninety days of sales, rewards and coupons, made through the same use
// cases as everything else, with the clock set back. What happens is a pure function
// of the instant the demo was begun at, and that instant is kept with it: so a Fill
// that was cut off is taken up by the next one, at whatever time that runs, where the
// last one stopped.
package demo

import (
	"context"
	"errors"
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/transaction"
)

// Slug is the demo's label in front of the host.
const Slug = "demo"

// ErrNotDemo refuses to touch a business that has the demo's slug and is a real one.
var ErrNotDemo = errors.New(`the slug "` + Slug + `" belongs to a tenant that is not the demo`)

// Made is the demo tenant.
type Made struct {
	Tenant core.Tenant
	People []staff.Person // the owner first

	// Existed says that it was complete before; then nothing was changed and nothing is counted.
	Existed bool
	Counts
}

// Counts says how much happened.
type Counts struct {
	Customers   int
	Sales       int
	Voided      int // of the sales
	Redemptions int // that were paid for
	Sends       int
	Vouchers    int // that were redeemed
}

// steps are what progress counts.
func (c Counts) steps() int {
	return c.Customers + c.Sales + c.Voided + c.Redemptions + c.Sends + c.Vouchers
}

// The people of the café, the owner first. The ordering app is an integration that
// was switched off since: it left sales behind, and no token.
var team = []staff.New{
	{Role: core.Owner, Name: "Maja Sund", Email: "maja@cafearo.example"},
	{Role: core.Manager, Name: "Emre Aydın", Email: "emre@cafearo.example"},
	{Role: core.Cashier, Name: "Linnea Holm", Email: "linnea@cafearo.example"},
	{Role: core.Cashier, Name: "Yusuf Rahimi", Email: "yusuf@cafearo.example"},
}

const byOrderingApp = -1

// kind says which of the types a sale is of.
type kind int

const (
	purchase kind = iota
	coffeeCard
	openingWeeks
)

var types = []struct {
	transaction.NewType
	ended bool
}{
	purchase: {NewType: transaction.NewType{
		Name: "Purchase", RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 1, UnitCents: 100},
	}},
	coffeeCard: {NewType: transaction.NewType{
		Name: "Coffee card", RuleType: ledger.Stamps, Rule: transaction.Rule{StampsPerTransaction: 1},
	}},
	openingWeeks: {ended: true, NewType: transaction.NewType{
		Name: "Opening weeks", RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 2, UnitCents: 100, MinSpendCents: 500},
	}},
}

// Options of a Fill. The zero value makes people who cannot sign in.
type Options struct {
	Password string                // of each of the people
	Hired    func([]staff.Person)  // told as soon as there are people with that password, the owner first
	Progress func(done, total int) // told how far it is
}

// Fill makes the demo tenant, or completes it. One that is complete is returned
// unchanged. It is meant to run once at a time: of two at once either may be refused,
// and the next one completes what they left.
func Fill(ctx context.Context, d *db.DB, o Options) (Made, error) {
	t, state, err := find(ctx, d)
	if errors.Is(err, core.ErrNotFound) {
		t, state, err = begin(ctx, d)
	}
	if err != nil {
		return Made{}, err
	}
	if state.Complete {
		people, err := peopleOf(ctx, d, t)
		return Made{Tenant: t, People: people, Existed: true}, err
	}
	made, err := fill(ctx, d, t, tell(*state.Until, t.TimeZone), o)
	if err != nil {
		return Made{}, err
	}
	return made, finish(ctx, d, made)
}

// Token makes a token with every ability for the demo's owner, who is told by mail
// like anybody else, and returns its secret.
func Token(ctx context.Context, d *db.DB, tokens *token.Service, t core.Tenant) (string, error) {
	people, err := peopleOf(ctx, d, t)
	if err != nil {
		return "", err
	}
	if len(people) == 0 {
		return "", ErrNotDemo
	}
	name, scopes := "Demo", make([]string, len(token.Abilities))
	for i, ability := range token.Abilities {
		scopes[i] = string(ability)
	}
	created, err := tokens.Create(ctx, actor(t, people[0]), token.New{Name: &name, Scopes: &scopes})
	return created.Secret, err
}

func system(t core.Tenant) core.Actor { return core.System(t, "demo") }

// What the platform's log says of the demo: when it was begun, and that it is complete.
const (
	begun    = "demo.begin"
	complete = "demo.complete"
)

// state is how far the demo is.
type state struct {
	Until    *time.Time // the end of the story; nil: this is no demo
	Complete bool
}

func find(ctx context.Context, d *db.DB) (core.Tenant, state, error) {
	t, err := tenant.BySlug(ctx, d, Slug)
	if err != nil {
		return t, state{}, err
	}
	s, err := db.PlatformOne[state](ctx, d, stateSQL, db.Args{
		"tenant": subject(t), "begun": begun, "complete": complete,
	})
	if err == nil && s.Until == nil {
		err = ErrNotDemo
	}
	return t, s, err
}

func subject(t core.Tenant) string { return strconv.FormatInt(int64(t.ID), 10) }

const timeZone = "Europe/Stockholm"

// begin makes the tenant and, in the same transaction, writes down what it is.
func begin(ctx context.Context, d *db.DB) (core.Tenant, state, error) {
	zone, err := core.Zone(timeZone)
	if err != nil {
		return core.Tenant{}, state{}, err
	}
	until := d.Now()
	by := system(core.Tenant{})
	past := d.At(tell(until, zone).opened)
	t, err := db.Platform(ctx, past, by, func(tx *db.Tx) (core.Tenant, error) {
		t, err := tenant.Add(ctx, tx, by, tenant.New{
			Name: new("Café Åro"), Slug: new(Slug), Email: &team[0].Email, PlanID: new(int64(1)),
			BillingCycle: new("monthly"), PaymentMethod: new("manual"),
			TimeZone: new(timeZone), Currency: new("EUR"), Country: new("SE"),
		})
		if err != nil {
			return t, err
		}
		if err := tenant.FinishSetup(tx, t.ID); err != nil {
			return t, err
		}
		return t, audit.Write(tx, by, audit.Entry{
			Action: begun, Subject: "tenant", ID: subject(t), Name: t.Name, New: map[string]any{"until": until},
		})
	})
	return t, state{Until: &until}, err
}

// finish writes down that nothing is missing.
func finish(ctx context.Context, d *db.DB, made Made) error {
	by := system(core.Tenant{})
	_, err := db.Platform(ctx, d, by, func(tx *db.Tx) (struct{}, error) {
		return struct{}{}, audit.Write(tx, by, audit.Entry{
			Action: complete, Subject: "tenant", ID: subject(made.Tenant), Name: made.Tenant.Name,
			New: map[string]any{
				"customers": made.Customers, "sales": made.Sales, "voided": made.Voided,
				"redemptions": made.Redemptions, "sends": made.Sends, "vouchers": made.Vouchers,
			},
		})
	})
	return err
}
