package verify_test

import (
	"maps"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/transaction"
)

// purse is what a customer has of a unit, by its last day, and what has ended.
type purse struct {
	lots  lots
	idle  time.Time // when everything without a last day ends, unless the customer does something; zero: never
	ended map[ending]ended
}

// lots are amounts by their last day.
type lots map[time.Time]int64

// never is the last day of what doesn't end.
var never = time.Date(9999, time.January, 1, 0, 0, 0, 0, time.UTC)

// ending is the day on which a lot ended. A lot without a last day ends when it is idle.
type ending struct{ day, lot time.Time }

type ended struct {
	amount int64 // less what was returned
	at     time.Time
}

type purseOf struct {
	who  core.ID
	unit ledger.Unit
}

func (m *model) purse(who core.ID, unit ledger.Unit) *purse {
	of := purseOf{who, unit}
	if m.purses == nil {
		m.purses = map[purseOf]*purse{}
	}
	if m.purses[of] == nil {
		m.purses[of] = &purse{lots: lots{}, ended: map[ending]ended{}}
	}
	return m.purses[of]
}

// keep returns a function that restores a customer as they are now.
func (m *model) keep(who core.ID) (restore func()) {
	before, purses := *m.customers.byID[who], map[ledger.Unit]purse{}
	for _, unit := range units {
		p := *m.purse(who, unit)
		p.lots, p.ended = maps.Clone(p.lots), maps.Clone(p.ended)
		purses[unit] = p
	}
	return func() {
		*m.customers.byID[who] = before
		for unit, p := range purses {
			*m.purse(who, unit) = p
		}
	}
}

var units = []ledger.Unit{ledger.Points, ledger.Stamps}

func (m *model) balance(who core.ID, unit ledger.Unit) int64 {
	if c := m.customers.byID[who]; unit == ledger.Points {
		return c.PointsBalance
	}
	return m.customers.byID[who].StampsBalance
}

// today returns the local day.
func (m *model) today() time.Time { return m.date(m.now()) }

// date returns the local day of an instant.
func (m *model) date(at time.Time) time.Time {
	y, month, d := at.In(m.zone).Date()
	return time.Date(y, month, d, 0, 0, 0, 0, time.UTC)
}

// lastDay returns the last day of what is earned on a day. "31 Jan + 1 → 28 Feb", "then up to the end of the
// month/quarter/year"; "the next yearly_month/day that is at least 60 days away".
func (m *model) lastDay(unit ledger.Unit, earned time.Time) time.Time {
	switch r := m.rules[unit]; r.Rule {
	case core.ExpireAfter:
		return monthsAfter(earned, r)
	case core.ExpireYearly:
		day := earned.AddDate(0, 0, 60)
		for day.Month() != r.Month || day.Day() != r.Day {
			day = day.AddDate(0, 0, 1)
		}
		return day
	case core.ExpireInactive, core.NeverExpire:
	}
	return never
}

func monthsAfter(day time.Time, r core.Expiry) time.Time {
	last := time.Date(day.Year(), day.Month()+time.Month(r.Months), day.Day(), 0, 0, 0, 0, time.UTC)
	for d := day.Day(); last.Day() != d; d-- {
		last = time.Date(day.Year(), day.Month()+time.Month(r.Months), d-1, 0, 0, 0, 0, time.UTC)
	}
	for r.RoundTo == core.ToMonth && last.AddDate(0, 0, 1).Day() != 1 {
		last = last.AddDate(0, 0, 1)
	}
	return last
}

// earn adds an award of a day, which pays a debt first.
func (m *model) earn(who core.ID, unit ledger.Unit, amount int64, day time.Time) error {
	if err := m.post(who, unit, amount, false); err != nil {
		return err
	}
	m.put(who, unit, m.lastDay(unit, day), amount)
	return nil
}

// put puts what is left above zero of an amount, which the balance has already, into the lot of a day.
func (m *model) put(who core.ID, unit ledger.Unit, day time.Time, amount int64) {
	if kept := min(amount, m.balance(who, unit)); kept > 0 {
		m.purse(who, unit).lots[day] += kept
	}
}

// act notes that a customer did something on a day: what is idle lasts longer.
func (m *model) act(who core.ID, day time.Time) {
	for _, unit := range units {
		if r := m.rules[unit]; r.Rule == core.ExpireInactive {
			p := m.purse(who, unit)
			p.idle = later(p.idle, monthsAfter(day, r))
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// settle ends what is due: "spending posts what is due first", and so does the job.
func (m *model) settle(who core.ID) {
	for _, unit := range units {
		p := m.purse(who, unit)
		for lot, amount := range p.lots {
			day := lot
			if lot.Equal(never) && !p.idle.IsZero() {
				day = p.idle
			}
			if !day.Before(m.today()) {
				continue
			}
			delete(p.lots, lot)
			p.ended[ending{day, lot}] = ended{p.ended[ending{day, lot}].amount + amount, m.now()}
			_ = m.post(who, unit, -amount, true) // the lots add up to the balance
		}
		if p.idle.Before(m.today()) {
			p.idle = time.Time{}
		}
	}
}

// spend takes an amount from lots, the soonest first, and returns what it took of each. The rest is below zero.
func (p *purse) spend(amount int64, first ...time.Time) lots {
	taken := lots{}
	for _, day := range slices.Concat(first, slices.SortedFunc(maps.Keys(p.lots), time.Time.Compare)) {
		part := min(amount, p.lots[day])
		if part == 0 {
			continue
		}
		taken[day] += part
		amount -= part
		if p.lots[day] -= part; p.lots[day] == 0 {
			delete(p.lots, day)
		}
	}
	return taken
}

// takeAward takes back a sale's award, or a part of it. "If the award's day has ended: first expiry_return of least(award,
// expired of that day − returned of that day), then the reversal of the whole award."
func (m *model) takeAward(t *transaction.Transaction, amount int64) error {
	if amount == 0 {
		return nil
	}
	who, unit, lot := t.CustomerID, t.RuleType, orNever(t.ExpiresOn)
	m.settle(who)
	p := m.purse(who, unit)
	days := slices.DeleteFunc(slices.Collect(maps.Keys(p.ended)), func(e ending) bool {
		return !e.lot.Equal(lot) || p.ended[e].at.Before(t.CreatedAt)
	})
	slices.SortFunc(days, func(a, b ending) int { return a.day.Compare(b.day) })
	if len(days) > 0 {
		back := min(amount, p.ended[days[0]].amount)
		p.ended[days[0]] = ended{p.ended[days[0]].amount - back, p.ended[days[0]].at}
		if err := m.post(who, unit, back, false); err != nil {
			return err
		}
		m.put(who, unit, lot, back)
	}
	p.spend(amount, lot)
	return m.post(who, unit, -amount, true)
}

// giveBack returns the cost of a redemption. "Points back to the days they came from. A day that has passed becomes today +
// grace_days. Part that pays a debt is taken from the soonest of them."
func (m *model) giveBack(who core.ID, unit ledger.Unit, amount int64, taken lots) error {
	m.settle(who)
	if err := m.post(who, unit, amount, false); err != nil {
		return err
	}
	days := lots{}
	for day, part := range taken {
		if day.Before(m.today()) {
			day = m.today().AddDate(0, 0, m.rules[unit].GraceDays)
		}
		days[day] += part
	}
	left := min(amount, max(0, m.balance(who, unit)))
	for _, day := range slices.Backward(slices.SortedFunc(maps.Keys(days), time.Time.Compare)) {
		if part := min(left, days[day]); part > 0 {
			m.purse(who, unit).lots[day] += part
			left -= part
		}
	}
	return nil
}

// pour moves a duplicate's lots to the customer who is kept, before the balances are added. "A debt on either side takes the
// soonest."
func (m *model) pour(from, to core.ID) {
	for _, unit := range units {
		debt := max(0, -m.balance(from, unit)) + max(0, -m.balance(to, unit))
		p, source := m.purse(to, unit), m.purse(from, unit)
		for day, amount := range source.lots {
			p.lots[day] += amount
		}
		p.spend(debt)
		for e, gone := range source.ended {
			p.ended[e] = ended{p.ended[e].amount + gone.amount, later(p.ended[e].at, gone.at)}
		}
		p.idle = later(p.idle, source.idle)
		delete(m.purses, purseOf{from, unit})
	}
}

// endings returns what a customer's page shows.
func (m *model) endings(who core.ID) []ledger.Ending {
	all := []ledger.Ending{}
	for _, unit := range units {
		p := m.purse(who, unit)
		var of []ledger.Ending
		for day, amount := range p.lots {
			e := ledger.Ending{Unit: unit, Amount: amount, ExpiresOn: &day}
			if day.Equal(never) {
				e.ExpiresOn, e.Idle = nil, !p.idle.IsZero()
				if e.Idle {
					e.ExpiresOn = &p.idle
				}
			}
			of = append(of, e)
		}
		slices.SortFunc(of, func(a, b ledger.Ending) int { return orNever(a.ExpiresOn).Compare(orNever(b.ExpiresOn)) })
		all = append(all, of...)
	}
	return all
}

func orNever(day *time.Time) time.Time {
	if day == nil {
		return never
	}
	return *day
}
