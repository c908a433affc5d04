package sandbox

import (
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/level"
	"example.com/loyalty/core/promotion"
	"example.com/loyalty/core/sample"
	"example.com/loyalty/core/transaction"
)

// Earning has promotions, categories and levels. They change nothing about sales of the other types: promotions are for a type of
// their own, and levels add nothing.
type Earning struct {
	TransactionTypeID int64               `json:"transaction_type_id"` // 1 point for each whole 1.00 spent, at most 100 points for a sale
	Promotions        Promotions          `json:"promotions"`
	Categories        map[string]Category `json:"categories"`
	UnmappedCode      string              `json:"unmapped_code"` // which a sale sent
	Levels            Levels              `json:"levels"`
	Customers         AtLevels            `json:"customers"`
	Transactions      Earned              `json:"transactions"`
}

// Promotions has the ID of a promotion in each state. Each doubles what sales of the type in File earn with cakes.
type Promotions struct {
	Now      int64 `json:"now"`
	Upcoming int64 `json:"upcoming"`
	Ended    int64 `json:"ended"`
}

// Category is a category with its codes.
type Category struct {
	ID       int64    `json:"id"`
	Codes    []string `json:"codes"`
	Excluded bool     `json:"excluded"` // what is in it earns nothing
}

// Levels has the ID of each level.
type Levels struct {
	First  int64 `json:"first"`
	Silver int64 `json:"silver"` // from 10,000 points in a calendar year
	Gold   int64 `json:"gold"`   // from 50,000 points
}

// AtLevels has a customer at each level.
type AtLevels struct {
	First        core.ID `json:"first"`
	Silver       core.ID `json:"silver"`
	Gold         core.ID `json:"gold"`
	ByHand       core.ID `json:"by_hand"`        // Gold, for a reason
	EndsThisYear core.ID `json:"ends_this_year"` // Silver, reached last year
}

// Earned has sales of the customer at the first level.
type Earned struct {
	Items  core.ID `json:"items"`  // 15 points: 10.00 that earn, of which 5.00 are cakes, and a gift card of 10.00
	Capped core.ID `json:"capped"` // 100 points instead of 150
}

const (
	silverFrom = 10_000
	goldFrom   = 50_000
	mostEarned = 100
)

// addEarning adds what sales earn by besides their types, before the business has a sale.
func (b *business) addEarning() {
	e := &b.Earning
	e.UnmappedCode = "sandbox-unmapped"
	b.addLevels()
	b.addCategories()
	e.TransactionTypeID = b.shop.Type("Promoted purchase", ledger.Points, transaction.Rule{
		PointsPerUnit: 1, UnitCents: 100, MaxAward: new(int64(mostEarned)), ExcludedCategories: []int64{e.Categories["gift_cards"].ID},
	}).ID
	b.addPromotions()
	b.addCustomersAtLevels()
	e.Transactions.Items = b.sell(e.Customers.First, 2000,
		award.Item{Category: e.Categories["cakes"].Codes[0], AmountCents: 500},
		award.Item{Category: e.Categories["gift_cards"].Codes[0], AmountCents: 1000},
		award.Item{Category: e.UnmappedCode, AmountCents: 200})
	e.Transactions.Capped = b.sell(e.Customers.First, 15_000)
	b.shop.Check(b.shop.Transactions.Codes().Write(b.shop.Context()))
}

// lastYear returns the first day of the last calendar year.
func (b *business) lastYear() time.Time {
	return time.Date(b.DB.Now().In(b.shop.By.Tenant.TimeZone).Year()-1, time.January, 1, 0, 0, 0, 0, time.UTC)
}

func (b *business) addLevels() {
	rise := func(name string, from int64, colour string) level.Edit {
		return level.Edit{Name: &name, Threshold: &from, Percent: new(int64(100)), Colour: &colour, Perks: new("Free delivery")}
	}
	made := sample.LaunchLevels(b.shop.Context(), b.DB, b.shop.Levels, b.shop.By, level.Rules{
		Basis: award.ByPoints, Period: award.ByYear, Month: new(int64(1)), Day: new(int64(1)), Drops: true, StartsOn: new(b.lastYear()),
	}, level.Edit{Name: new("Member"), Percent: new(int64(100))}, rise("Silver", silverFrom, "#7d8597"), rise("Gold", goldFrom, "#b8860b"))
	b.Earning.Levels = Levels{First: made[0].ID, Silver: made[1].ID, Gold: made[2].ID}
}

func (b *business) addCategories() {
	b.Earning.Categories = map[string]Category{}
	for key, n := range map[string]promotion.NewCategory{
		"cakes":      {Name: "Cakes", Codes: []string{"sandbox-cakes"}},
		"gift_cards": {Name: "Gift cards", Codes: []string{"sandbox-gift-cards"}},
	} {
		made := sample.Must(core.Result(b.shop.Promotions.AddCategory(b.shop.Context(), b.shop.By, n, nil)))
		b.Earning.Categories[key] = Category{ID: made.ID, Codes: made.Codes, Excluded: key == "gift_cards"}
	}
}

func (b *business) addPromotions() {
	today := core.DateOf(b.DB.Now(), b.shop.By.Tenant.TimeZone)
	add := func(name string, from int, to *int) int64 {
		p := award.Promotion{
			Name: name, Unit: ledger.Points, Percent: new(int64(200)), TypeIDs: []int64{b.Earning.TransactionTypeID},
			CategoryIDs: []int64{b.Earning.Categories["cakes"].ID}, StartsOn: today.AddDate(0, 0, from), Audience: award.Everyone,
		}
		if to != nil {
			p.EndsOn = new(today.AddDate(0, 0, *to))
		}
		return sample.Must(core.Result(b.shop.Promotions.Add(b.shop.Context(), b.shop.By, promotion.New{Promotion: p}, nil))).ID
	}
	b.Earning.Promotions = Promotions{
		Now: add("Double points for cakes", 0, nil), Upcoming: add("Double points for cakes next year", 366, nil), Ended: add("Double points for cakes last week", -7, new(-1)),
	}
}

func (b *business) addCustomersAtLevels() {
	at := &b.Earning.Customers
	at.First = b.addCustomer("Member", "First", "+46 8 465 400 01", "").ID
	at.Silver = b.addCustomer("Sixten", "Silver", "+46 8 465 400 02", "").ID
	b.shop.Sale(at.Silver, b.purchase, silverFrom*100)
	at.Gold = b.addCustomer("Greta", "Gold", "+46 8 465 400 03", "").ID
	b.shop.Sale(at.Gold, b.purchase, goldFrom*100)
	at.ByHand = b.addCustomer("Hanna", "Hand", "+46 8 465 400 04", "").ID
	b.shop.Must(core.Result(b.shop.Levels.Give(b.shop.Context(), b.shop.By, at.ByHand, level.Given{
		LevelID: b.Earning.Levels.Gold, Reason: "Was Gold in another town",
	}, nil)))
	middle := b.lastYear().AddDate(0, 6, 0)
	b.before(b.DB.Now().Sub(middle), func() {
		at.EndsThisYear = b.addCustomer("Edda", "Ending", "+46 8 465 400 05", "").ID
		b.shop.Sale(at.EndsThisYear, b.purchase, silverFrom*100)
	})
}

// sell records a sale with items, of the type that promotions are for.
func (b *business) sell(to core.ID, cents int64, items ...award.Item) core.ID {
	return sample.Must(core.Result(b.shop.Transactions.Record(b.shop.Context(), b.shop.By, transaction.Sale{
		CustomerID: to, TransactionTypeID: b.Earning.TransactionTypeID, SpendAmountCents: cents, Items: items, Source: transaction.API,
	}, nil, nil))).ID
}
