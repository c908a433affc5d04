package demo

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"example.com/loyalty/core/transaction"
)

// What happens in the demo, until an instant: who comes, when, and what they buy (and
// in spend.go, what they get for it).
// Nothing here asks the database or the clock, and chance is seeded by the day, so
// that the same instant always tells the same story.

const (
	guests     = 400
	newcomers  = 105        // of them, who came first in the days that are told
	daysTold   = 90         // before today
	daysOpen   = 2 * 365    // before today
	opens      = 7*60 + 30  // minutes of the day
	lastOrders = 17*60 + 45 // the rest until 18:00 is for what was rung up wrongly
)

// story is everything there is to do.
type story struct {
	opened  time.Time // the day the café joined
	until   time.Time
	guests  []guest
	coupons []plan
	sends   []send // in order of time
	Counts
}

type guest struct {
	first, last, phone string
	email              *string
	joined             time.Time
	by                 int       // of team: who made them a customer
	left               time.Time // zero: still a customer
	sales              []sale    // in order of time
}

type sale struct {
	at      time.Time
	kind    kind
	cents   int64
	source  transaction.Source
	by      int       // of team, or byOrderingApp
	receipt string    // in order of time over all guests
	voided  time.Time // zero: it stands

	// What comes next at that visit: never at one that is rung up again.
	voucher    *voucher
	redemption *redemption
}

// habit is how somebody uses the café. Those who come on some days come back on
// some of them, for fika.
type habit struct {
	share            int     // of a hundred guests
	workday, weekend float64 // the chance that they come
	around, spread   float64 // minutes of the day
	comesBack        float64 // the chance of that
	order            func(r *rand.Rand) (cents int64, justCoffee bool)
	byApp            float64 // the share of their sales that the ordering app makes
}

const (
	toWork = iota
	fromTheOffices
	forFika
	nowAndThen
	hardlyEver
)

var habits = []habit{
	toWork: {
		share: 17, workday: .62, weekend: .06, around: 8*60 + 15, spread: 32, comesBack: .13, order: morning, byApp: .2,
	},
	fromTheOffices: {
		share: 19, workday: .24, weekend: .04, around: 12*60 + 5, spread: 38, comesBack: .06, order: lunch, byApp: .3,
	},
	forFika: {
		share: 24, workday: .07, weekend: .27, around: 14*60 + 20, spread: 95, comesBack: .06, order: fika, byApp: .02,
	},
	nowAndThen: {
		share: 30, workday: .055, weekend: .085, around: 11*60 + 30, spread: 170, order: anything, byApp: .05,
	},
	hardlyEver: {
		share: 10, workday: .004, weekend: .008, around: 13 * 60, spread: 120, order: anything,
	},
}

func morning(r *rand.Rand) (int64, bool) {
	switch r.IntN(10) {
	case 0, 1, 2:
		return bill(r, coffees, pastries), false
	case 3:
		return bill(r, otherDrinks), false
	case 4:
		return bill(r, coffees, coffees), false
	default:
		return bill(r, coffees), true
	}
}

func lunch(r *rand.Rand) (int64, bool) {
	switch r.IntN(10) {
	case 0:
		return bill(r, lunches, lunches), false
	case 1, 2, 3:
		return bill(r, lunches, coffees), false
	case 4, 5:
		return bill(r, lunches, otherDrinks), false
	case 6:
		return bill(r, lunches, coffees, pastries), false
	case 7:
		return bill(r, coffees), true
	default:
		return bill(r, lunches), false
	}
}

func fika(r *rand.Rand) (int64, bool) {
	switch r.IntN(10) {
	case 0, 1, 2, 3:
		return bill(r, coffees, pastries), false
	case 4, 5, 6:
		return bill(r, coffees, coffees, pastries, pastries), false
	case 7:
		return bill(r, coffees, otherDrinks, otherDrinks, pastries, pastries, pastries), false
	case 8:
		return bill(r, otherDrinks, pastries), false
	default:
		return bill(r, coffees), true
	}
}

func anything(r *rand.Rand) (int64, bool) {
	return one(r, []func(*rand.Rand) (int64, bool){morning, lunch, fika})(r)
}

// tell tells everything that happened until then.
func tell(until time.Time, zone *time.Location) story {
	today := until.In(zone)
	year, month, day := today.Date()
	r := rand.New(rand.NewPCG(uint64(year*10_000+int(month)*100+day), 1))
	calendar := days(r, year, month, day, zone)

	s := story{until: today, opened: time.Date(year, month, day-daysOpen-3, 9, 0, 0, 0, zone)}
	known := newCrowd(r)
	for i := range guests {
		h, isNew := pick(r), i >= guests-newcomers
		switch {
		case i < len(regulars):
			h = habits[toWork]
		case isNew && r.IntN(2) == 0:
			h = habits[nowAndThen] // few fall in love at first sight
		}
		g := guest{by: aCashier(r)}
		g.first, g.last, g.phone, g.email = known.next()
		firstDay := 0
		if isNew {
			firstDay = r.IntN(daysTold + 1)
			g.joined = moment(r, calendar[firstDay].midnight, h)
		} else {
			before := daysTold + 1 + int(math.Pow(r.Float64(), 1.3)*(daysOpen-daysTold-1))
			g.joined = moment(r, time.Date(year, month, day-before, 0, 0, 0, 0, zone), h)
			if h.comesBack == 0 && r.IntN(30) == 0 {
				// Moved away: told so at the till before these days began.
				g.left = g.joined.AddDate(0, 0, min(before-daysTold, 30))
			}
		}
		if g.left.IsZero() {
			g.visit(r, h, calendar[firstDay:], isNew)
		}
		s.guests = append(s.guests, g)
	}
	s.end(r)
	return s
}

// date is a day the café was open.
type date struct {
	midnight time.Time
	weekend  bool
	weather  float64 // what it does to business
}

func days(r *rand.Rand, year int, month time.Month, day int, zone *time.Location) []date {
	all := make([]date, daysTold+1)
	for i := range all {
		midnight := time.Date(year, month, day-daysTold+i, 0, 0, 0, 0, zone)
		weekday := midnight.Weekday()
		weather := .84 + .32*r.Float64()
		all[i] = date{midnight, weekday == time.Saturday || weekday == time.Sunday, weather}
	}
	return all
}

func pick(r *rand.Rand) habit {
	n := r.IntN(100)
	for _, h := range habits {
		if n -= h.share; n < 0 {
			return h
		}
	}
	return habits[0]
}

// moment is when on that day somebody of that habit comes, between opening and last orders.
func moment(r *rand.Rand, midnight time.Time, h habit) time.Time {
	for {
		minutes := h.around + h.spread*r.NormFloat64()
		if minutes >= opens && minutes < lastOrders {
			year, month, day := midnight.Date()
			// By the clock on the wall: not every midnight is followed by 24 hours.
			return time.Date(year, month, day, 0, 0, int(minutes*60), r.IntN(1000)*1e6, midnight.Location())
		}
	}
}

// visit lets a guest come and buy for some days. Who is new buys something at once.
func (g *guest) visit(r *rand.Rand, h habit, calendar []date, isNew bool) {
	keenness := math.Exp(.45 * r.NormFloat64())
	hasCard := r.IntN(4) > 0
	for i, d := range calendar {
		if isNew && i == 0 {
			g.buy(r, h, hasCard, g.joined.Add(time.Duration(20+r.IntN(60))*time.Second))
			continue
		}
		chance := h.workday
		if d.weekend {
			chance = h.weekend
		}
		if r.Float64() >= min(chance*keenness*d.weather, .95) {
			continue
		}
		at := moment(r, d.midnight, h)
		g.buy(r, h, hasCard, at)
		later := at.Add(time.Duration(150+r.IntN(180)) * time.Minute)
		if r.Float64() < h.comesBack && later.Before(clock(at, lastOrders)) {
			g.buy(r, habits[forFika], hasCard, later)
		}
	}
}

func aCashier(r *rand.Rand) int { return 2 + r.IntN(2) }

func clock(day time.Time, minutes int) time.Time {
	year, month, date := day.Date()
	return time.Date(year, month, date, 0, minutes, 0, 0, day.Location())
}

func (g *guest) buy(r *rand.Rand, h habit, hasCard bool, at time.Time) {
	s := sale{at: at}
	var justCoffee bool
	if s.cents, justCoffee = h.order(r); justCoffee && hasCard {
		s.kind = coffeeCard
	}
	switch n := r.Float64(); {
	case n < h.byApp:
		s.source, s.by = transaction.API, byOrderingApp
	case n > .96:
		s.source, s.by = transaction.Panel, r.IntN(2) // entered afterwards, by the owner or the manager
	default:
		s.source, s.by = transaction.POS, aCashier(r)
	}
	g.sales = append(g.sales, s)
	if s.source != transaction.API && r.Float64() < .016 {
		// Rung up wrongly: voided after some minutes, and rung up again.
		again := s
		s.voided = at.Add(time.Duration(90+r.IntN(450)) * time.Second)
		again.at = s.voided.Add(time.Duration(15+r.IntN(45)) * time.Second)
		again.cents, _ = h.order(r)
		again.kind = purchase
		g.sales[len(g.sales)-1] = s
		g.sales = append(g.sales, again)
	}
}

// justNow has somebody who was not in today drop by a few minutes ago: whoever opens
// the demo during the day finds the café at work.
func (s *story) justNow() {
	at := s.until.Add(-3 * time.Minute)
	if at.Before(clock(at, opens)) || at.After(clock(at, lastOrders)) {
		return
	}
	for i := range s.guests {
		g := &s.guests[i]
		if g.left.IsZero() && len(g.sales) > 0 && g.sales[len(g.sales)-1].at.Before(clock(at, opens)) {
			g.sales = append(g.sales, sale{at: at, cents: coffees[0], source: transaction.POS, by: g.by})
			return
		}
	}
}

// end takes away what has not happened yet, and numbers the receipts.
func (s *story) end(r *rand.Rand) {
	s.guests = slices.DeleteFunc(s.guests, func(g guest) bool { return !g.joined.Before(s.until) })
	for i := range s.guests {
		g := &s.guests[i]
		g.sales = slices.DeleteFunc(g.sales, func(x sale) bool { return !x.at.Before(s.until) })
	}
	s.justNow()
	// The first to come is the first in the book.
	slices.SortStableFunc(s.guests, func(a, b guest) int { return cmp.Compare(a.joined.UnixNano(), b.joined.UnixNano()) })
	var visits []visit
	for i, g := range s.guests {
		for j := range g.sales {
			x := &g.sales[j]
			if !x.voided.Before(s.until) {
				x.voided = time.Time{}
			}
			visits = append(visits, visit{i, x})
		}
	}
	slices.SortStableFunc(visits, func(a, b visit) int { return a.sale.at.Compare(b.sale.at) })
	for i, v := range visits {
		v.sale.receipt = fmt.Sprintf("R-%06d", i+1)
	}
	s.planCoupons()
	s.spend(r, visits)
	s.count(visits)
}
