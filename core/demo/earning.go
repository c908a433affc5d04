package demo

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/level"
	"example.com/loyalty/core/promotion"
	"example.com/loyalty/core/sample"
	"example.com/loyalty/core/transaction"
)

const (
	// monthsToYear is how many months after the opening the year of the levels begins, so that the present one is well under way.
	monthsToYear = 3

	// daysSorted is how many days before the last the café began to say what a sale is about, and daysCapped when it set a cap.
	daysSorted = 190
	daysCapped = 100
	dayCap     = 2 // stamps, because points are for large orders, too

	// daysSummer is how many days before the last the ordering app got drinks whose codes no category has.
	daysSummer = 35
)

// launchLevels launches the levels of the café, before its year.
func (c *cafe) launchLevels(ctx context.Context, opened time.Time) {
	first := opened.AddDate(0, monthsToYear, 1-opened.Day())
	rules := level.Rules{
		Basis: award.BySpend, Period: award.ByYear, Month: new(int64(first.Month())), Day: new(int64(1)), Drops: true,
		StartsOn: new(core.DateOf(opened, opened.Location())),
	}
	c.levels = sample.LaunchLevels(ctx, c.db.At(opened), c.services.At(opened).Levels, c.people[owner], rules, c.Levels...)
}

// changeEarning changes on the evening of a day what sales earn from the next one on. Promotions are for items, levels or birthdays, so
// a sale of an amount to a new customer earns the same at all times.
func (c *cafe) changeEarning(ctx context.Context, days int, at time.Time) {
	promotions := c.services.At(at).Promotions
	if days == daysSorted {
		c.sortSales(ctx, at)
	}
	if days == daysCapped {
		sample.Must(promotions.EditLimits(ctx, c.people[owner], promotion.EditLimits{StampsDayCap: core.Set(int64(dayCap))}))
	}
	for _, p := range c.Promotions {
		if p.Created == days {
			sample.Must(core.Result(promotions.Add(ctx, c.people[manager], promotion.New{Promotion: c.completePromotion(p)}, nil)))
		}
	}
	for _, g := range c.Guests {
		if g.Given != nil && g.Given.Day == days {
			c.give(ctx, g, at)
		}
	}
}

// sortSales adds the categories, of which the till asks from now on.
func (c *cafe) sortSales(ctx context.Context, at time.Time) {
	by, then := c.people[manager], c.services.At(at)
	var excluded []int64
	for _, n := range c.Categories {
		n.made = sample.Must(core.Result(then.Promotions.AddCategory(ctx, by, n.NewCategory, nil)))
		if n.Excluded {
			excluded = append(excluded, n.made.ID)
		}
	}
	c.types[purchase] = sample.Must(then.Transactions.EditType(ctx, by, c.types[purchase].ID, transaction.EditType{ExcludedCategories: core.Set(excluded)}))
	sample.Must(then.Promotions.EditLimits(ctx, by, promotion.EditLimits{TillCategories: core.Set(true)}))
}

// completePromotion adds to a promotion what depends on the demo: its days, and the records that it names.
func (c *cafe) completePromotion(p cafePromotion) award.Promotion {
	day := func(days int) time.Time { return core.DateOf(c.ago(days, 0), c.until.Location()) }
	if p.Starts == 0 {
		p.Starts = p.Created - 1
	}
	p.StartsOn = day(p.Starts)
	if p.Ends != 0 {
		p.EndsOn = new(day(p.Ends))
	}
	if p.Audience == "" {
		p.Audience = award.Everyone
	}
	for _, category := range c.Categories {
		if slices.Contains(p.Categories, category.Name) {
			p.CategoryIDs = append(p.CategoryIDs, category.made.ID)
		}
	}
	for i, who := range c.Team {
		if slices.Contains(p.Locations, who.Location) {
			p.LocationIDs = append(p.LocationIDs, *c.locations[i])
		}
	}
	if p.Level != "" {
		p.LevelID = new(c.levelNamed(p.Level))
	}
	return p.Promotion
}

func (c *cafe) levelNamed(name string) int64 {
	return c.levels[slices.IndexFunc(c.levels, func(l award.Level) bool { return l.Name == name })].ID
}

// give gives a guest a level by hand.
func (c *cafe) give(ctx context.Context, g *guest, at time.Time) {
	given := level.Given{LevelID: c.levelNamed(g.Given.Level), Reason: g.Given.Reason}
	if g.Given.Until != 0 {
		given.Until = new(core.DateOf(c.ago(g.Given.Until, 0), c.until.Location()))
	}
	sample.Must(core.Result(c.services.At(at).Levels.Give(ctx, c.people[manager], g.id, given, nil)))
}

// settleLevels settles in a night the levels that ended with the day before.
func (c *cafe) settleLevels(ctx context.Context, days int, at time.Time) {
	ended := func(g *guest) bool { return g.Given != nil && g.Given.Until == days+1 }
	if slices.ContainsFunc(c.Guests, ended) {
		sample.Must(0, c.services.At(at).Levels.SettleDue(ctx, level.Settling{Tenant: c.tenant.ID}))
	}
}

// birthday returns what a guest who gives an e-mail address tells, too. The day follows from the last digits of their number.
func (g *guest) birthday() string {
	if g.Email == nil {
		return ""
	}
	digits := sample.Must(strconv.Atoi(g.Phone[len(g.Phone)-2:]))
	return fmt.Sprintf("%02d-%02d", g.Birthday, 1+digits*11%28)
}

// codes are what the ordering app sends for the courses of the menu.
var codes = map[rune]string{'c': "coffee", 'p': "cake", 'l': "lunch"}

// summerDrinks are codes that no category has.
var summerDrinks = []string{"iced-tea", "kombucha", "smoothie"}

// itemOf returns an item of the ordering app.
func (c *cafe) itemOf(course rune, cents int64, days int) award.Item {
	code, known := codes[course]
	switch {
	case known:
	case days > daysSummer:
		code = "coffee" // other drinks, too
	default:
		code = pick(c.extras, summerDrinks)
	}
	return award.Item{Category: code, AmountCents: cents}
}

// withItem adds an item, which is one with another of its category.
func withItem(items []award.Item, more award.Item) []award.Item {
	i := slices.IndexFunc(items, func(i award.Item) bool { return i.Category == more.Category })
	if i < 0 {
		return append(items, more)
	}
	items[i].AmountCents += more.AmountCents
	return items
}

// sortOut leaves of a sale's items what its front end sends. The till sends one for the whole amount, of the category that the cashier chose.
func (c *cafe) sortOut(v *visit, days int) {
	takesHome := c.extras.IntN(40)
	chosen := c.extras.IntN(5) < 3
	switch {
	case days >= daysSorted:
		v.items = nil
	case v.source == transaction.API:
	case v.source == transaction.Panel:
		v.items = nil
	case takesHome == 0 && v.kind == purchase:
		v.cents, v.items = 1250, []award.Item{{Category: "beans-250", AmountCents: 1250}}
	case takesHome == 1 && v.kind == purchase:
		v.cents, v.items = 2500, []award.Item{{Category: "gift-card", AmountCents: 2500}}
	case chosen:
		most := slices.MaxFunc(v.items, func(a, b award.Item) int { return int(a.AmountCents - b.AmountCents) })
		v.items = []award.Item{{Category: most.Category, AmountCents: v.cents}}
	default:
		v.items = nil
	}
}

// weekOfOffice is how often the offices order.
const weekOfOffice = 7

// cupsOfOffice is how many cups an office collects with its order, each with a stamp until the day's cap.
const cupsOfOffice = 3

// officeOrders returns what guests order for their whole team on a day: yesterday for the last time.
func (c *cafe) officeOrders(days int) (orders []visit) {
	if days%weekOfOffice != 1 || days > daysSorted-weekOfOffice {
		return nil
	}
	for _, g := range c.Guests {
		if !g.Office || g.id.IsZero() || g.gone {
			continue
		}
		v := visit{guest: g, at: c.ago(days, forenoon+45), kind: purchase, source: transaction.API, by: orderingApp}
		for _, course := range "lllllpppp" {
			price := pick(c.extras, c.Menu[string(course)])
			v.cents += price
			v.items = withItem(v.items, award.Item{Category: codes[course], AmountCents: price})
		}
		orders = append(orders, v)
		for n := range cupsOfOffice {
			price := pick(c.extras, c.Menu["c"])
			orders = append(orders, visit{
				guest: g, at: v.at.Add(time.Duration(n+1) * time.Minute), kind: coffeeCard, source: transaction.API, by: orderingApp,
				cents: price, items: []award.Item{{Category: codes['c'], AmountCents: price}},
			})
		}
	}
	return orders
}
