package ledger_test

import (
	"cmp"
	"maps"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/shoptest"
)

// In histories of any order, what is left of each last day is what a customer would work out with a pencil: who keeps every
// lot as it changes, and lets a day end at midnight. The ledger does that only when it must.
func TestLotsAreWhatAPencilSays(t *testing.T) {
	t.Parallel()
	shop := shoptest.New(t)
	rapid.Check(t, func(rt *rapid.T) {
		p := newPencil(rt, shoptest.In(t, shop.DB))
		rt.Repeat(map[string]func(*rapid.T){
			"":           func(*rapid.T) { p.compare() },
			"earn":       p.earn,
			"adjust":     p.adjust,
			"redeem":     p.redeem,
			"give back":  p.giveBack,
			"void":       p.void,
			"refund":     p.refund,
			"merge":      p.merge,
			"set a rule": p.set,
			"days pass":  p.pass,
			"the job":    func(*rapid.T) { p.job() },
		})
		p.job()
		p.compare()
	})
}

const never = 1 << 40 // the day of what never ends

// pencil is a business with a few customers, and what someone with a pencil knows about them.
type pencil struct {
	shoptest.Shop
	t         *rapid.T
	unit      ledger.Unit
	now       time.Time
	customers []*account

	begun   bool // the first rule is set
	opening int  // its day for what was there before
	rule    core.Expiry
	hold    int // days; never: off
	turn    int // of everything that happens, in order

	awards      []*awarded
	redemptions []*redeemed
}

type account struct {
	id      core.ID
	balance int64
	lots    map[int]int64
	ended   map[ended]*returnable // of a customer and of everyone who was merged into them
	idle    int                   // 0: no such day
}

type ended struct{ lot, day int }

type returnable struct {
	amount int64
	turn   int // of the last expiry
}

type awarded struct {
	of           *account
	cause        core.ID
	amount, back int64 // back: refunded
	lot, turn    int
	voided       bool
}

type redeemed struct {
	of     *account
	cause  core.ID
	amount int64
	from   map[int]int64
	before bool // there were lots
	voided bool
}

func newPencil(t *rapid.T, s shoptest.Shop) *pencil {
	unit := rapid.SampledFrom([]ledger.Unit{ledger.Points, ledger.Stamps}).Draw(t, "unit")
	p := &pencil{Shop: s, t: t, unit: unit, now: time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)}
	for range 3 {
		p.customers = append(p.customers, &account{id: s.Customer().ID, lots: map[int]int64{}, ended: map[ended]*returnable{}})
	}
	return p
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func dayOf(date time.Time) int { return int(date.Sub(epoch)/(24*time.Hour)) + 1 }

func dateOf(day int) time.Time { return epoch.AddDate(0, 0, day-1) }

func (p *pencil) today() int { return dayOf(core.DateOf(p.now, p.By.Tenant.TimeZone)) }

func (p *pencil) someone(t *rapid.T) *account {
	return rapid.SampledFrom(p.customers).Draw(t, "customer")
}

func (p *pencil) must(err error) {
	if err != nil {
		p.t.Fatal(err)
	}
}

// do runs fn in a transaction a moment later.
func (p *pencil) do(fn func(tx *db.Tx) error) error {
	p.now, p.turn = p.now.Add(time.Second), p.turn+1
	return db.Run(p.T.Context(), p.DB.At(p.now).Tenant(p.By), fn)
}

func (p *pencil) post(e ledger.Entry) error {
	return p.do(func(tx *db.Tx) error {
		if e.Kind == ledger.Adjustment || e.Kind == ledger.Redemption {
			_, err := ledger.Post(p.T.Context(), tx, p.By, e)
			return err
		}
		return ledger.Queue(tx, p.By, e)
	})
}

func (p *pencil) cause() core.ID { return core.NewID(p.now) }

// lotOf is the day of an award of today.
func (p *pencil) lotOf() int {
	if day := p.rule.LastDay(dateOf(p.today())); day != nil {
		return dayOf(*day)
	}
	return never
}

func (p *pencil) isActive(a *account) {
	if day := p.rule.IdleDay(dateOf(p.today())); day != nil {
		a.idle = max(a.idle, dayOf(*day))
	}
}

// give adds to a balance. A debt is paid first.
func (a *account) give(amount int64, lot int, begun bool) {
	a.balance += amount
	if kept := min(amount, max(0, a.balance)); begun && kept > 0 {
		a.lots[lot] += kept
	}
}

// take takes from a lot and then from the soonest, and returns from which.
func (a *account) take(amount int64, own int) map[int]int64 {
	a.balance -= amount
	taken := map[int]int64{}
	days := slices.SortedFunc(maps.Keys(a.lots), func(x, y int) int {
		return cmp.Or(cmp.Compare(btoi(x != own), btoi(y != own)), cmp.Compare(x, y))
	})
	for _, day := range days {
		n := min(amount, a.lots[day])
		if n == 0 {
			continue
		}
		amount -= n
		taken[day] = n
		if a.lots[day] -= n; a.lots[day] == 0 {
			delete(a.lots, day)
		}
	}
	return taken
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// expire ends what is due of a customer.
func (p *pencil) expire(a *account) {
	if !p.begun || p.hold >= p.today() {
		return
	}
	for lot, amount := range maps.Clone(a.lots) {
		day := lot
		if lot == never && p.rule.Rule == core.ExpireInactive && a.idle > 0 {
			day = a.idle
		}
		if day >= p.today() {
			continue
		}
		delete(a.lots, lot)
		a.balance -= amount
		key := ended{lot, day}
		if a.ended[key] == nil {
			a.ended[key] = &returnable{}
		}
		a.ended[key].amount += amount
		a.ended[key].turn = p.turn + 1
	}
	if a.idle < p.today() {
		a.idle = 0
	}
}

// refused is what a refusal undoes: also what it would have expired, which by other rules has ended at midnight anyway.
func (p *pencil) refused(a *account, before account) {
	if p.rule.Rule == core.ExpireInactive {
		*a = before
	}
}

func (a *account) copy() account {
	c := *a
	c.lots, c.ended = maps.Clone(a.lots), map[ended]*returnable{}
	for key, gone := range a.ended {
		c.ended[key] = &returnable{gone.amount, gone.turn}
	}
	return c
}

func (p *pencil) earn(t *rapid.T) {
	a, cause, amount := p.someone(t), p.cause(), rapid.Int64Range(1, 50).Draw(t, "amount")
	p.must(p.do(func(tx *db.Tx) error {
		if err := ledger.Queue(tx, p.By, ledger.Entry{Customer: a.id, Unit: p.unit, Amount: amount, Kind: ledger.Earn, Cause: &cause}); err != nil {
			return err
		}
		return ledger.CountVisit(tx, p.By, a.id, tx.Now, 0, nil)
	}))
	lot := p.lotOf()
	a.give(amount, lot, p.begun)
	if !p.begun {
		lot = 0 // that of the first rule
	}
	p.isActive(a)
	p.awards = append(p.awards, &awarded{of: a, cause: cause, amount: amount, lot: lot, turn: p.turn})
}

func (p *pencil) adjust(t *rapid.T) {
	a, amount, lasts := p.someone(t), rapid.Int64Range(-30, 30).Draw(t, "amount"), rapid.Bool().Draw(t, "lasts")
	if amount == 0 {
		return
	}
	before := a.copy()
	if amount < 0 {
		p.expire(a)
	}
	err := p.post(ledger.Entry{Customer: a.id, Unit: p.unit, Amount: amount, Kind: ledger.Adjustment, Reason: new("x"), Lasts: lasts && p.begun})
	switch {
	case amount < 0 && a.balance+amount < 0:
		if err == nil {
			p.t.Fatalf("%d of %d: not refused", amount, a.balance)
		}
		p.refused(a, before)
	case amount < 0:
		p.must(err)
		a.take(-amount, 0)
	default:
		p.must(err)
		lot := p.lotOf()
		if lasts && p.begun {
			lot = never
		}
		a.give(amount, lot, p.begun)
	}
}

func (p *pencil) redeem(t *rapid.T) {
	a, cause, amount := p.someone(t), p.cause(), rapid.Int64Range(1, 60).Draw(t, "amount")
	before := a.copy()
	p.expire(a)
	err := p.post(ledger.Entry{Customer: a.id, Unit: p.unit, Amount: -amount, Kind: ledger.Redemption, Cause: &cause})
	if a.balance < amount {
		if err == nil {
			p.t.Fatalf("%d of %d: not refused", amount, a.balance)
		}
		p.refused(a, before)
		return
	}
	p.must(err)
	r := &redeemed{of: a, cause: cause, amount: amount, from: a.take(amount, 0), before: p.begun}
	p.isActive(a)
	p.redemptions = append(p.redemptions, r)
}

func (p *pencil) giveBack(t *rapid.T) {
	var open []*redeemed
	for _, r := range p.redemptions {
		if !r.voided {
			open = append(open, r)
		}
	}
	if len(open) == 0 {
		return
	}
	r := rapid.SampledFrom(open).Draw(t, "redemption")
	a := r.of
	p.expire(a)
	p.must(p.post(ledger.Entry{Customer: a.id, Unit: p.unit, Amount: r.amount, Kind: ledger.RedemptionRefund, Cause: &r.cause}))
	r.voided = true
	a.balance += r.amount
	if !p.begun {
		return
	}
	from := maps.Clone(r.from)
	if !r.before {
		from = map[int]int64{p.opening: r.amount}
	}
	days := map[int]int64{}
	for day, n := range from {
		if day < p.today() {
			day = p.today() + 30
		}
		days[day] += n
	}
	kept := min(r.amount, max(0, a.balance))
	latest := slices.Sorted(maps.Keys(days))
	slices.Reverse(latest)
	for _, day := range latest {
		if n := min(days[day], kept); n > 0 {
			a.lots[day] += n
			kept -= n
		}
	}
}

// takeBack takes back what is left of an award, or a part of it.
func (p *pencil) takeBack(w *awarded, e ledger.Entry) {
	a := w.of
	p.expire(a)
	p.must(p.post(e))
	lot := w.lot
	if lot == 0 {
		lot = p.opening
	}
	if p.begun {
		first := -1
		for key, gone := range a.ended {
			if key.lot == lot && gone.turn > w.turn && (first < 0 || key.day < first) {
				first = key.day
			}
		}
		if first >= 0 {
			gone := a.ended[ended{lot, first}]
			back := min(-e.Amount, gone.amount)
			gone.amount -= back
			if back > 0 {
				a.give(back, lot, true)
			}
		}
	}
	a.take(-e.Amount, lot)
}

func (p *pencil) openAward(t *rapid.T) *awarded {
	var open []*awarded
	for _, w := range p.awards {
		if !w.voided && w.back < w.amount {
			open = append(open, w)
		}
	}
	if len(open) == 0 {
		return nil
	}
	return rapid.SampledFrom(open).Draw(t, "award")
}

func (p *pencil) void(t *rapid.T) {
	if w := p.openAward(t); w != nil {
		w.voided = true
		p.takeBack(w, ledger.Entry{Customer: w.of.id, Unit: p.unit, Amount: w.back - w.amount, Kind: ledger.Reversal, Cause: &w.cause})
	}
}

func (p *pencil) refund(t *rapid.T) {
	if w := p.openAward(t); w != nil {
		cause, part := p.cause(), rapid.Int64Range(1, w.amount-w.back).Draw(t, "part")
		w.back += part
		p.takeBack(w, ledger.Entry{Customer: w.of.id, Unit: p.unit, Amount: -part, Kind: ledger.Refunded, Cause: &cause, Sale: &w.cause})
	}
}

func (p *pencil) merge(t *rapid.T) {
	if len(p.customers) < 2 {
		return
	}
	order := rapid.Permutation(p.customers).Draw(t, "kept, merged")
	kept, merged, id := order[0], order[1], p.cause()
	p.expire(kept)
	p.expire(merged)
	p.must(p.do(func(tx *db.Tx) error {
		balances, err := ledger.LockPair(p.T.Context(), tx, p.By, merged.id, kept.id)
		if err != nil {
			return err
		}
		if err := db.Queue(tx, `
			insert into loyalty.customer_merge (tenant_id, id, merged_id, kept_id, first_name, last_name, points, stamps, sales, redemptions, vouchers,
				actor_kind, actor_id, actor_name, created_at)
			values (@tenant_id, @id, @merged, @kept, '', '', 0, 0, 0, 0, 0, 'system', '', '', @now)`,
			db.Args{"id": id, "merged": merged.id, "kept": kept.id, "now": tx.Now}); err != nil {
			return err
		}
		if err := db.Queue(tx, `
			update loyalty.customer
			set merged_into = @kept
			where tenant_id = @tenant_id
				and (id = @merged or merged_into = @merged)`, db.Args{"merged": merged.id, "kept": kept.id}); err != nil {
			return err
		}
		return ledger.Merge(tx, p.By, id, merged.id, kept.id, balances.Merged.Account)
	}))
	debt := max(0, kept.balance) + max(0, merged.balance) - max(0, kept.balance+merged.balance)
	kept.balance += merged.balance
	for day, n := range merged.lots {
		kept.lots[day] += n
	}
	if p.begun {
		balance := kept.balance
		kept.take(debt, 0)
		kept.balance = balance
	}
	kept.idle = max(kept.idle, merged.idle)
	for key, gone := range merged.ended {
		if kept.ended[key] == nil {
			kept.ended[key] = &returnable{}
		}
		kept.ended[key].amount += gone.amount
		kept.ended[key].turn = max(kept.ended[key].turn, gone.turn)
	}
	for _, w := range p.awards {
		if w.of == merged {
			w.of = kept
		}
	}
	for _, r := range p.redemptions {
		if r.of == merged {
			r.of = kept
		}
	}
	p.customers = slices.DeleteFunc(p.customers, func(a *account) bool { return a == merged })
}

// set sets a rule, or switches it off.
func (p *pencil) set(t *rapid.T) {
	e := core.Expiry{Rule: rapid.SampledFrom([]core.ExpiryRule{core.ExpireAfter, core.ExpireYearly, core.ExpireInactive, core.NeverExpire}).Draw(t, "rule"), GraceDays: 30}
	var months, round, month, day any
	switch e.Rule {
	case core.ExpireAfter, core.ExpireInactive:
		e.Months, e.RoundTo = rapid.IntRange(1, 3).Draw(t, "months"), rapid.SampledFrom([]core.Rounding{core.ToDay, core.ToMonth}).Draw(t, "round")
		months, round = e.Months, e.RoundTo
	case core.ExpireYearly:
		e.Month, e.Day = time.March, 31
		month, day = 3, 31
	case core.NeverExpire:
		if !p.begun {
			return
		}
	}
	p.job()
	for _, a := range p.customers { // a day of the rule before last may be kept or forgotten
		a.idle = 0
		if idle := shoptest.Query[*time.Time](p.Shop, "select "+string(p.unit)+"_idle_on from loyalty.account where tenant_id = $1 and customer_id = $2", p.By.Tenant.ID, a.id); idle != nil {
			a.idle = dayOf(*idle)
		}
	}
	var hold, opening any
	switch {
	case e.Rule == core.NeverExpire:
		hold, p.hold = "infinity", never
	case !p.begun || p.hold == never: // here soon, to see more
		p.hold = p.today() + rapid.IntRange(0, 10).Draw(t, "hold")
		hold = dateOf(p.hold)
	default:
		hold = dateOf(p.hold)
	}
	if !p.begun {
		p.opening = never
		if e.Rule != core.ExpireInactive && rapid.Bool().Draw(t, "opening ends") {
			p.opening = p.today() + rapid.IntRange(0, 60).Draw(t, "opening")
			opening = dateOf(p.opening)
		}
	}
	p.Exec(`
		insert into loyalty.programme (tenant_id, unit, expiry, months, round_to, yearly_month, yearly_day, hold_until, opening_expires_on, begun_at, updated_at)
		values ($1, $10, $2, $3, $4, $5, $6, $7, $8, $9, $9)
		on conflict (tenant_id, unit) do update
		set expiry = excluded.expiry, months = excluded.months, round_to = excluded.round_to, yearly_month = excluded.yearly_month,
			yearly_day = excluded.yearly_day, hold_until = excluded.hold_until`, p.By.Tenant.ID, e.Rule, months, round, month, day, hold, opening, p.now, p.unit)
	p.rule, p.By.Tenant.PointsExpiry, p.By.Tenant.StampsExpiry = e, core.Expiry{}, core.Expiry{}
	if p.unit == ledger.Points {
		p.By.Tenant.PointsExpiry = e
	} else {
		p.By.Tenant.StampsExpiry = e
	}
	if p.begun {
		return
	}
	p.begun = true
	for _, a := range p.customers {
		if a.balance > 0 {
			a.lots[p.opening] = a.balance
		}
	}
	if p.opening < never {
		day := dateOf(p.opening)
		p.must(p.do(func(tx *db.Tx) error {
			_, err := ledger.OpenBefore(p.T.Context(), tx, p.unit, &day, nil, core.ID{}, 100)
			return err
		}))
	}
}

func (p *pencil) pass(t *rapid.T) {
	for range rapid.IntRange(1, 40).Draw(t, "days") {
		p.now = p.now.AddDate(0, 0, 1)
		if p.rule.Rule == core.ExpireInactive { // the first activity after a day may come before the job
			continue
		}
		for _, a := range p.customers { // at midnight
			p.expire(a)
		}
	}
}

// job expires what is due of all.
func (p *pencil) job() {
	for _, a := range p.customers {
		p.expire(a)
	}
	if !p.begun || p.hold >= p.today() {
		return
	}
	for looked := 1; looked > 0; {
		p.must(p.do(func(tx *db.Tx) (err error) {
			looked, _, err = ledger.ExpireDue(p.T.Context(), tx, p.By, p.unit, 2)
			return err
		}))
	}
}

func (p *pencil) balance(a *account) int64 {
	if account := p.Account(a.id); p.unit == ledger.Points {
		return account.Points
	} else {
		return account.Stamps
	}
}

// compare compares balances, without what is due, and what is left of each day.
func (p *pencil) compare() {
	for _, a := range p.customers {
		var endings []ledger.Ending
		p.must(db.Together(p.T.Context(), p.DB.Tenant(p.By), ledger.ReadEndings(&endings, a.id)))
		got := map[int]int64{}
		var due int64
		for _, e := range endings {
			day := never
			if e.ExpiresOn != nil && !e.Idle {
				day = dayOf(*e.ExpiresOn)
			}
			if e.Unit != p.unit {
				continue
			}
			if p.rule.Rule != core.ExpireInactive && p.begun && p.hold < p.today() && day < p.today() {
				due += e.Amount
				continue
			}
			got[day] += e.Amount
		}
		want := a.lots
		if !p.begun {
			want = map[int]int64{}
			if a.balance > 0 {
				want[never] = a.balance
			}
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			p.t.Fatalf("lots on day %d (-want +got):\n%s", p.today(), diff)
		}
		if balance := p.balance(a); balance-due != a.balance {
			p.t.Fatalf("balance on day %d: %d with %d due, want %d", p.today(), balance, due, a.balance)
		}
	}
}
