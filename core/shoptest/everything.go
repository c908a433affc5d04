package shoptest

import (
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/level"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/notification"
	"example.com/loyalty/core/programme"
	"example.com/loyalty/core/promotion"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
)

// WriteEverything writes at least one row into every tenant table of the business.
func (s Shop) WriteEverything() {
	s.T.Helper()
	s = s.Rule(ledger.Points, programme.Change{Rule: core.ExpireAfter, Months: new(int64(12))})
	anna := Anna(Phone())
	anna.Email = "anna@example.com"
	c := s.AddCustomer(anna)
	sale := s.Sale(c.ID, seedPromotion(s), 1250)
	s.Refund(sale.ID, 250)
	mug := s.Reward(5, new(int64(3)))
	s.Redeem(c.ID, mug)
	s.Must(s.Rewards.Edit(s.T.Context(), s.By, mug, reward.Edit{Picture: core.Set(Picture())}))
	s.Voucher(s.Coupon(coupon.New{Name: "Welcome back", BenefitType: "points", BenefitValue: new(int64(5))}).ID, c.ID)
	s.Check(s.Customers.AddTag(s.T.Context(), s.By, c.ID, "Regular"))
	s.Must(core.Result(s.Merging.Merge(s.T.Context(), s.By, c.ID, s.AddCustomer(Anna(Phone())).ID, nil, nil)))
	silver := seedLevels(s, c)
	seedImport(s)
	seedLinks(s)
	seedPIN(s, c)
	seedDays(s, silver)
	s.Must(core.Result(s.Locations.Add(s.T.Context(), s.By, location.New{Name: "Södermalm"}, nil)))
	seedNotifications(s)
	s.Must(s.Tenants.EditSettings(s.T.Context(), s.By, tenant.SettingsEdit{Colour: core.Set("#5746d6"), Logo: core.Set(Picture())}))
}

// seedDays counts days on which something happened, and changes one of them.
func seedDays(s Shop, silver int64) {
	s.T.Helper()
	past := s.At(s.DB.Now().Add(-40 * 24 * time.Hour)) // in a month that is over
	c := past.Customer()
	sold := past.Sale(c.ID, past.Points(100), 1250)
	past.Redeem(c.ID, past.Reward(5, nil))
	past.Must(core.Result(past.Services.Levels.Give(past.T.Context(), past.By, c.ID, level.Given{LevelID: silver, Reason: "Regular"}, nil)))
	past.RedeemVoucher(past.Voucher(past.Coupon(coupon.New{Name: "Three days ago", BenefitType: "points", BenefitValue: new(int64(5))}).ID, c.ID))
	s.Check(s.Days.Count(s.T.Context(), daily.Counting{Tenant: s.By.Tenant.ID}))
	s.VoidSale(sold.ID)
}

// seedPromotion adds a promotion about a category, and returns a type whose sale sent a code that no category has.
func seedPromotion(shop Shop) transaction.Type {
	shop.T.Helper()
	ctx, by, s := shop.T.Context(), shop.By, shop.Promotions
	cakes, err := core.Result(s.AddCategory(ctx, by, promotion.NewCategory{Name: "Cakes", Codes: []string{"cake"}}, nil))
	shop.Check(err)
	shop.Must(core.Result(s.Add(ctx, by, promotion.New{Promotion: award.Promotion{
		Name: "Double points on cakes", Unit: ledger.Points, Percent: new(int64(200)), CategoryIDs: []int64{cakes.ID},
		StartsOn: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Audience: award.Everyone,
	}}, nil)))
	kind := shop.Points(100)
	shop.Must(core.Result(shop.Transactions.Record(ctx, by, transaction.Sale{
		CustomerID: shop.Customer().ID, TransactionTypeID: kind.ID, SpendAmountCents: 900, Items: []award.Item{{Category: "tea", AmountCents: 900}},
		Source: transaction.Panel,
	}, nil, nil)))
	shop.Check(shop.Transactions.Codes().Write(ctx))
	return kind
}

// seedLevels launches levels, and gives one to a customer.
func seedLevels(shop Shop, c customer.Customer) (given int64) {
	shop.T.Helper()
	ctx, by, s := shop.T.Context(), shop.By, shop.Services.Levels
	today := core.DateOf(shop.DB.Now(), by.Tenant.TimeZone)
	for i, change := range []level.Change{
		{Rules: &level.Rules{Basis: award.ByPoints, Period: award.ByYear, Month: new(int64(1)), Day: new(int64(1)), Drops: true, StartsOn: &today}},
		{Level: &level.Edit{Name: new("Silver"), Threshold: new(int64(1_000_000)), Percent: new(int64(110))}},
		{On: new(true)},
	} {
		change.Version = int64(i)
		setup, err := s.Change(ctx, by, change)
		shop.Check(err)
		if setup.Active {
			given = setup.Levels[1].ID
			shop.Must(core.Result(s.Give(ctx, by, c.ID, level.Given{LevelID: given, Reason: "Regular"}, nil)))
		}
	}
	return given
}

// seedNotifications tells the actor about a reward that is low, with a threshold of their own.
func seedNotifications(shop Shop) {
	shop.T.Helper()
	ctx, by, s := shop.T.Context(), shop.By, shop.Notifications
	shop.Must(s.EditSettings(ctx, by, notification.SettingsEdit{StockLow: core.Set(int64(10))}))
	shop.Check(s.Check(ctx, by.Tenant))
	shop.Must(s.List(ctx, by))
	shop.Check(s.Subscribe(ctx, by, false))
}

// seedImport checks a file with a problem.
func seedImport(shop Shop) {
	shop.T.Helper()
	ctx, imports := shop.T.Context(), shop.Imports
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
func seedPIN(shop Shop, c customer.Customer) {
	shop.T.Helper()
	s := shop.Walkins
	shop.Must(core.Result(s.Complete(shop.T.Context(), shop.By, "till", walkin.Sale{
		CustomerID: c.ID, Rewards: []core.ID{shop.Reward(1, nil)},
	}, nil, nil)))
	_, err := s.ShowCard(shop.T.Context(), walkin.Card{Customer: c}.Actor(shop.By.Tenant, "", ""), c.ID)
	shop.Check(err)
	_, err = core.Result(s.Join(shop.T.Context(), core.Actor{Kind: core.ByCustomer, Tenant: shop.By.Tenant}, walkin.Details{
		FirstName: "Elsa", LastName: "Berg", Phone: Phone(), Agreed: true, Terms: "I agree.",
	}, nil))
	shop.Check(err)
}

// seedLinks invites the actor, and mails them a link for a forgotten password.
func seedLinks(shop Shop) {
	shop.T.Helper()
	ctx, by := shop.T.Context(), shop.By
	_, err := db.In(ctx, shop.DB.Tenant(by), func(tx *db.Tx) (int, error) {
		return 0, auth.Invite(ctx, tx, by, shop.Mails, by.Tenant, staff.Person{ID: by.StaffID, Role: by.Role, Name: by.Name})
	})
	shop.Check(err)
	shop.Exec("update loyalty.staff set email_key = 'maja@example.com' where id = $1", by.StaffID)
	shop.GivePassword(by)
	shop.Check(shop.Auth.SendReset(ctx, auth.ResetRequest{Tenant: by.Tenant.ID, Email: "maja@example.com"}))
}
