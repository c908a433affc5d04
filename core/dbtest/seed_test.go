package dbtest_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
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
	first, last, phone, email := "Anna", "Lindqvist", "070 174 06 05", "anna@example.com"
	c, err := customer.NewService(d).Upsert(ctx, by, customer.New{FirstName: &first, LastName: &last, Phone: &phone, Email: &email})
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
	if _, err := rewards.Redeem(ctx, by, reward.RedeemRequest{CustomerID: &id, RewardID: &rewardID}); err != nil {
		t.Fatal(err)
	}
	seedVoucher(t, d, by)
	seedImport(t, d, by)
	seedLinks(t, d, by)
	seedPIN(t, d, by, c.Customer)
	branch := "Södermalm"
	if _, err := location.NewService(d).Add(ctx, by, location.New{Name: &branch}); err != nil {
		t.Fatal(err)
	}
	if _, err := tenant.NewService(d, nil).EditSettings(ctx, by, tenant.SettingsEdit{Colour: core.Set("#5746d6")}); err != nil {
		t.Fatal(err)
	}
}

// seedImport checks a file with a problem.
func seedImport(t *testing.T, d *db.DB, by core.Actor) {
	t.Helper()
	imports := importing.NewService(d, queue(t, d))
	i, err := imports.Upload(t.Context(), by, importing.File{
		Name: "customers.csv", FormKey: "seed", Content: strings.NewReader("name,phone\nAnna Lindqvist,1\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	columns := []importing.Field{importing.FullNameField, importing.PhoneField}
	if i, err = imports.Check(t.Context(), by, i.ID, importing.Mapping{Columns: columns, HasHeader: true}); err != nil {
		t.Fatal(err)
	}
	if i, err = imports.Work(t.Context(), by, i.ID, i.Attempt); err != nil || i.Problems == 0 {
		t.Fatal(i, err)
	}
}

// seedPIN shows a PIN on a customer's card, and has another customer join.
func seedPIN(t *testing.T, d *db.DB, by core.Actor, c customer.Customer) {
	t.Helper()
	jobs := queue(t, d)
	s := walkin.NewService(d, jobs, dbtest.Mails(d, jobs), dbtest.Keys(), transaction.NewService(d), func(address string) string { return address })
	if _, err := s.ShowCard(t.Context(), walkin.Card{Customer: c}.Actor(by.Tenant, "", ""), c.ID); err != nil {
		t.Fatal(err)
	}
	_, err := s.Join(t.Context(), core.Actor{Kind: core.ByCustomer, Tenant: by.Tenant}, walkin.Details{
		FirstName: new("Elsa"), LastName: new("Berg"), Phone: new("070 412 88 19"), Agreed: true, Terms: "I agree.",
	})
	if err != nil {
		t.Fatal(err)
	}
}

func queue(t *testing.T, d *db.DB) *job.Queue {
	t.Helper()
	jobs, err := job.New(d, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

// seedLinks invites the actor, and mails them a link for a forgotten password.
func seedLinks(t *testing.T, d *db.DB, by core.Actor) {
	t.Helper()
	render := func(context.Context, string, mail.Email) (mail.Rendered, error) { return mail.Rendered{}, nil }
	jobs := queue(t, d)
	log := slog.New(slog.DiscardHandler)
	mails := mail.New(d, jobs, render, nil, log)
	_, err := db.InTenant(t.Context(), d, by, func(tx *db.Tx) (int, error) {
		return 0, auth.Invite(t.Context(), tx, by, mails, by.Tenant, staff.Person{ID: by.StaffID, Role: by.Role, Name: by.Name})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, known := range []string{
		"update loyalty.staff set email_key = 'maja@example.com' where id = $1",
		"update loyalty.credential set password_hash = 'known once' where staff_id = $1",
	} {
		if _, err := dbtest.Owner(d).Exec(t.Context(), known, by.StaffID); err != nil {
			t.Fatal(err)
		}
	}
	if err := dbtest.Auth(d, jobs, mails).SendReset(t.Context(), auth.ResetRequest{Tenant: by.Tenant.ID, Email: "maja@example.com"}); err != nil {
		t.Fatal(err)
	}
}

func seedVoucher(t *testing.T, d *db.DB, by core.Actor) {
	t.Helper()
	coupons := coupon.NewService(d, queue(t, d), nil, link.Maker{}, slog.New(slog.DiscardHandler))
	name, points, kind := "Welcome back", int64(5), string(coupon.Points)
	made, err := coupons.Add(t.Context(), by, coupon.New{Name: &name, BenefitType: &kind, BenefitValue: &points})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := coupons.Send(t.Context(), by, made.ID, coupon.Send{Segment: coupon.All, FormKey: "seed"})
	if err != nil {
		t.Fatal(err)
	}
	if sent, err = coupons.Evaluate(t.Context(), by, sent.ID); err != nil || sent.Sent == 0 {
		t.Fatal(sent, err)
	}
}
