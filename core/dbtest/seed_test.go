package dbtest_test

import (
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/merging"
	"example.com/loyalty/core/notification"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
)

// seedEveryTable writes at least one row into every tenant table of the actor's tenant.
func seedEveryTable(t *testing.T, d *db.DB, by core.Actor) {
	t.Helper()
	shop := shoptest.Of(t, d, by)
	anna := shoptest.Anna(shoptest.Phone())
	anna.Email = new("anna@example.com")
	c := shop.AddCustomer(anna)
	shop.Sale(c.ID, shop.Points(100), 1250)
	mug := shop.Reward(5, new(int64(3)))
	shop.Redeem(c.ID, mug)
	shop.Must(shop.Rewards.Edit(t.Context(), by, mug, reward.Edit{Picture: core.Set(shoptest.Picture())}))
	shop.Voucher(shop.Coupon(coupon.New{Name: new("Welcome back"), BenefitType: new("points"), BenefitValue: new(int64(5))}).ID, c.ID)
	shop.Check(shop.Customers.AddTag(t.Context(), by, c.ID, new("Regular")))
	_, err := merging.NewService(d).Merge(t.Context(), by, c.ID, new(shop.AddCustomer(shoptest.Anna(shoptest.Phone())).ID.String()))
	shop.Check(err)
	seedImport(shop)
	seedLinks(shop)
	seedPIN(shop, c)
	_, err = location.NewService(d).Add(t.Context(), by, location.New{Name: new("Södermalm")})
	shop.Check(err)
	seedNotifications(shop)
	_, err = tenant.NewService(d, nil).EditSettings(t.Context(), by, tenant.SettingsEdit{Colour: core.Set("#5746d6"), Logo: core.Set(shoptest.Picture())})
	shop.Check(err)
}

// seedNotifications tells the actor about a reward that is low, with a threshold of their own.
func seedNotifications(shop shoptest.Shop) {
	shop.T.Helper()
	ctx, by, s := shop.T.Context(), shop.By, notification.NewService(shop.DB)
	shop.Must(s.EditSettings(ctx, by, notification.SettingsEdit{StockLow: core.Set(int64(10))}))
	shop.Check(s.Check(ctx, by.Tenant))
	shop.Must(s.List(ctx, by))
	shop.Check(s.Subscribe(ctx, by, false))
}

// seedImport checks a file with a problem.
func seedImport(shop shoptest.Shop) {
	shop.T.Helper()
	ctx, imports := shop.T.Context(), importing.NewService(shop.DB, shop.Jobs)
	i, err := imports.Upload(ctx, shop.By, importing.File{
		Name: "customers.csv", FormKey: "seed", Content: strings.NewReader("name,phone\nAnna Lindqvist,1\n"),
	})
	shop.Check(err)
	columns := []importing.Field{importing.FullNameField, importing.PhoneField}
	i, err = imports.Check(ctx, shop.By, i.ID, importing.Mapping{Columns: columns, Header: 1})
	shop.Check(err)
	if i, err = imports.Work(ctx, shop.By, i.ID, i.Attempt); err != nil || i.Problems == 0 {
		shop.T.Fatal(i, err)
	}
}

// seedPIN redeems a reward at the till, shows a PIN on a customer's card, and has another customer join.
func seedPIN(shop shoptest.Shop, c customer.Customer) {
	shop.T.Helper()
	s := walkin.NewService(shop.DB, shop.Jobs, shop.Mails, dbtest.Keys(), shop.Sales, func(address string) string { return address })
	shop.Must(s.Complete(shop.T.Context(), shop.By, "till", walkin.Sale{
		New: transaction.New{CustomerID: new(c.ID.String())}, Rewards: []core.ID{shop.Reward(1, nil)},
	}))
	_, err := s.ShowCard(shop.T.Context(), walkin.Card{Customer: c}.Actor(shop.By.Tenant, "", ""), c.ID)
	shop.Check(err)
	_, err = s.Join(shop.T.Context(), core.Actor{Kind: core.ByCustomer, Tenant: shop.By.Tenant}, walkin.Details{
		FirstName: new("Elsa"), LastName: new("Berg"), Phone: new(shoptest.Phone()), Agreed: true, Terms: "I agree.",
	})
	shop.Check(err)
}

// seedLinks invites the actor, and mails them a link for a forgotten password.
func seedLinks(shop shoptest.Shop) {
	shop.T.Helper()
	ctx, by := shop.T.Context(), shop.By
	_, err := db.InTenant(ctx, shop.DB, by, func(tx *db.Tx) (int, error) {
		return 0, auth.Invite(ctx, tx, by, shop.Mails, by.Tenant, staff.Person{ID: by.StaffID, Role: by.Role, Name: by.Name})
	})
	shop.Check(err)
	shop.Exec("update loyalty.staff set email_key = 'maja@example.com' where id = $1", by.StaffID)
	shop.GivePassword(by)
	shop.Check(dbtest.Auth(shop.DB, shop.Jobs, shop.Mails).SendReset(ctx, auth.ResetRequest{Tenant: by.Tenant.ID, Email: "maja@example.com"}))
}
