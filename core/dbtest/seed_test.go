package dbtest_test

import (
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
)

// seedEveryTable writes at least one row into every tenant table of the actor's tenant.
func seedEveryTable(t *testing.T, d *db.DB, by core.Actor) {
	t.Helper()
	ctx := t.Context()
	sales := transaction.NewService(d)
	kind, err := sales.AddType(ctx, by, transaction.NewType{
		Name: "Purchase", RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 1, UnitCents: 100},
	})
	if err != nil {
		t.Fatal(err)
	}
	first, last, phone := "Anna", "Lindqvist", "070 174 06 05"
	c, err := customer.NewService(d).Upsert(ctx, by, customer.New{FirstName: &first, LastName: &last, Phone: &phone})
	if err != nil {
		t.Fatal(err)
	}
	id, spend := c.ID.String(), int64(1250)
	if _, err := sales.Record(ctx, by, transaction.New{CustomerID: &id, TransactionTypeID: &kind.ID, SpendAmountCents: &spend, Source: transaction.API}); err != nil {
		t.Fatal(err)
	}
	rewards := reward.NewService(d)
	name, cost, stock := "Free espresso", int64(5), int64(3)
	offered, err := rewards.Add(ctx, by, reward.New{Name: &name, PointsCost: &cost, Stock: &stock})
	if err != nil {
		t.Fatal(err)
	}
	rewardID := offered.ID.String()
	if _, err := rewards.Redeem(ctx, by, reward.Order{CustomerID: &id, RewardID: &rewardID}); err != nil {
		t.Fatal(err)
	}
	// Locations are kept by the panel; until it is here, a plain row stands for one.
	if _, err := d.Pool().Exec(ctx, "insert into loyalty.location (tenant_id, name) values ($1, 'Södermalm')", by.Tenant.ID); err != nil {
		t.Fatal(err)
	}
}
