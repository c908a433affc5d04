package customer

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

const maxReason = 255

// Adjustment describes a change of a balance by hand.
type Adjustment struct {
	Unit   string // points or stamps
	Amount int64  // signed, not 0
	Reason string
	Lasts  bool // what is added never ends, where a rule gives it a last day

	Malformed core.Fields // what the front end could not read
}

// Adjust changes a balance by hand, for a reason that the customer's timeline shows, and returns the new
// balances. It refuses a balance below zero, and erased customers.
func (s *Service) Adjust(ctx context.Context, by core.Actor, id core.ID, a Adjustment, once *core.Once[ledger.Account]) (core.Reply[ledger.Account], error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), db.Once(ctx, by, once, func(tx *db.Tx) (ledger.Account, error) {
		c, err := db.One[Customer](ctx, tx, holdSQL, db.Args{"id": id})
		if err != nil {
			return ledger.Account{}, err
		}
		entry, err := a.validate(tx, by, id)
		if err != nil {
			return ledger.Account{}, err
		}
		if c.Erased {
			return ledger.Account{}, ErrErased
		}
		account, err := ledger.Post(ctx, tx, by, entry)
		if err != nil {
			return ledger.Account{}, err
		}
		facts := map[string]any{"unit": entry.Unit, "amount": entry.Amount, "reason": entry.Reason}
		if entry.Lasts {
			facts["expires"] = false
		}
		return account, audit.Write(tx, by, audit.Entry{
			Action: "customer.adjust", Subject: "customer", ID: id.String(),
			New: facts,
		})
	}))
}

// DatesAwards reports whether a rule gives what is added today a last day.
func DatesAwards(t core.Tenant, unit ledger.Unit, now time.Time) bool {
	rule := unit.Of(t)
	return rule.Ends() && rule.LastDay(core.DateOf(now, t.TimeZone)) != nil
}

func (a Adjustment) validate(tx *db.Tx, by core.Actor, id core.ID) (ledger.Entry, error) {
	check := core.NewCheck(a.Malformed)
	e := ledger.Entry{
		Customer: id, Kind: ledger.Adjustment,
		Unit:   ledger.Unit(check.Text("unit", &a.Unit, maxReason)),
		Amount: check.Integer("amount", &a.Amount, -ledger.MaxAward, ledger.MaxAward),
	}
	if check.OK("unit") {
		core.OneOf(check, "unit", e.Unit, ledger.Points, ledger.Stamps)
	}
	if check.OK("amount") && e.Amount == 0 {
		check.Add("amount", core.NotZero)
	}
	reason := check.Text("reason", &a.Reason, maxReason)
	e.Reason = &reason
	e.Lasts = a.Lasts && e.Amount > 0 && DatesAwards(by.Tenant, e.Unit, tx.Now)
	return e, check.Err()
}
