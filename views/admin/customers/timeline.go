package customers

import (
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/level"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
)

// Timeline is a page of the changes of a customer's balances, and of their level.
type Timeline struct {
	format.Reader
	Of        core.ID // whose page shows it
	Entries   []customer.Entry
	Spent     map[string]int64 // on sales, by day
	ShownDay  string           // whose heading is on the page already; "": none
	Continued bool             // the entries are appended to those on the page
	Pager     ui.Pager

	Level     level.OfCustomer // whose changes are shown between the entries
	Narrowed  bool             // they aren't
	ShownFrom *time.Time       // of the entry before, on the page already; nil: none
}

// levelsAbove are the changes of the level after an entry and before the next one; after the last entry, those from before it.
func (t Timeline) levelsAbove(i int) (changes []level.Told) {
	if t.Narrowed || i == len(t.Entries) && t.Pager.Next != "" {
		return nil
	}
	for _, c := range t.Level.Changes {
		if i < len(t.Entries) && c.CreatedAt.Before(t.Entries[i].CreatedAt) {
			continue
		}
		newer := t.ShownFrom
		if i > 0 {
			newer = &t.Entries[i-1].CreatedAt
		}
		if newer == nil || c.CreatedAt.Before(*newer) {
			changes = append(changes, c)
		}
	}
	return changes
}

// onDayOf returns the changes of an entry's day, or else those of other days.
func (t Timeline) onDayOf(e customer.Entry, same bool, changes []level.Told) (of []level.Told) {
	for _, c := range changes {
		if (c.CreatedAt.In(t.Zone()).Format(time.DateOnly) == t.dayOf(e)) == same {
			of = append(of, c)
		}
	}
	return of
}

// levelName is the name of a level; nil is the first one.
func (t Timeline) levelName(id *int64) string {
	if l := t.Level.Find(id); l != nil {
		return l.Name
	}
	if l := t.Level.First(); l != nil {
		return l.Name
	}
	return ""
}

// changed says how a level changed.
func (t Timeline) changed(c level.Told) event {
	to, e := t.levelName(c.ToLevel), event{icon: "trending-up"}
	if t.Level.Rank(c.ToLevel) < t.Level.Rank(c.FromLevel) {
		e.icon = "trending-down"
	}
	switch c.Reason {
	case award.Rose:
		e.title = "Reached " + to
	case award.Kept:
		e.title = "Keeps " + to
	case award.Dropped:
		e.title, e.note = "Now "+to, t.levelName(c.FromLevel)+" wasn’t earned again"
	case award.Undone:
		e.title, e.note = "Back to "+to, "The sale doesn’t count any more"
	case award.ByHand:
		e.title, e.note = "Level set to "+to, "“"+core.OrZero(c.Note)+"”"
	case award.Imported:
		e.title, e.note = "Level set to "+to, "Imported"
	case award.Merged:
		e.title, e.note = "Now "+to, "From a merged customer"
	case award.NewRules:
		e.title, e.note = "Now "+to, "Levels were launched or changed"
	}
	if c.Cause != nil && (c.Reason == award.Rose || c.Reason == award.Undone) {
		e.path = links.Transaction(*c.Cause)
	}
	return e
}

// levelNotes are why a level changed and, away from its day, when, its last day, and who changed it.
func (t Timeline) levelNotes(c level.Told, dated bool, why string) string {
	var notes []string
	if dated {
		notes = append(notes, t.Date(c.CreatedAt))
	}
	if why != "" {
		notes = append(notes, why)
	}
	if c.Until != nil {
		notes = append(notes, "until "+format.LongDay(*c.Until))
	}
	if c.ActorKind != core.BySystem {
		notes = append(notes, t.Actor(c.ActorKind, c.ActorName))
	}
	return strings.Join(notes, " · ")
}

func (t Timeline) dayOf(e customer.Entry) string {
	return e.CreatedAt.In(t.Zone()).Format(time.DateOnly)
}

// startsDay reports whether an entry is the first of its day.
func (t Timeline) startsDay(i int) bool {
	if i == 0 {
		return t.dayOf(t.Entries[0]) != t.ShownDay
	}
	return t.dayOf(t.Entries[i]) != t.dayOf(t.Entries[i-1])
}

// reached says how far the timeline reaches: "50 of 58". Each part that is loaded replaces it.
func (t Timeline) reached() string {
	if _, end, ok := strings.Cut(t.Pager.Shown, "–"); ok {
		return end
	}
	return t.Pager.Shown
}

// change is the amount of an entry and the balance after it. If a sale was voided before anything else happened, the void
// has no entry of its own: that of the sale shows the balance after it.
func change(e customer.Entry) (amount, balance string) {
	if e.BalanceVoided != nil {
		return format.Units(0, e.Unit), format.Number(*e.BalanceVoided)
	}
	return format.SignedUnits(e.Net(), e.Unit), format.Number(e.BalanceAfter)
}

// event says what changed a balance.
type event struct {
	icon, title string
	path        string // of the sale, redemption, voucher or merge; "": none
	note        string // why; "": the title says it
}

func (t Timeline) event(e customer.Entry) event {
	sale := "Sale"
	if e.SpendAmountCents != nil {
		sale = "Sale of " + t.Money(*e.SpendAmountCents)
	}
	reward, voucher := core.OrZero(e.RewardName), "“"+core.OrZero(e.CouponName)+"”"
	switch e.Kind {
	case ledger.Earn:
		return event{icon: "receipt", title: sale, path: causePath(e, links.Transaction)}
	case ledger.Reversal:
		if e.CouponName != nil {
			return event{icon: "arrow-back-up", title: "Undone: " + voucher, path: causePath(e, links.Voucher), note: "Voucher valid again"}
		}
		return event{icon: "receipt-refund", title: "Voided: " + sale, path: causePath(e, links.Transaction), note: format.HadExpired(e)}
	case ledger.Refunded:
		refund := event{icon: "receipt-refund", title: "Refunded " + t.Money(core.OrZero(e.RefundedCents)) + " of a " + strings.ToLower(sale), note: format.HadExpired(e)}
		if e.SaleID != nil {
			refund.path = links.Transaction(*e.SaleID)
		}
		return refund
	case ledger.Expired:
		expired := event{icon: "hourglass", title: format.Units(-e.Amount, e.Unit) + " expired"}
		if e.ExpiresOn != nil {
			expired.note = "Last day " + e.ExpiresOn.Format("2 Jan 2006")
		}
		return expired
	case ledger.Redemption:
		return event{icon: "gift", title: "Redeemed " + reward, path: causePath(e, links.Redemption)}
	case ledger.RedemptionRefund:
		return event{icon: "arrow-back-up", title: "Voided: " + reward, path: causePath(e, links.Redemption)}
	case ledger.VoucherAward:
		return event{icon: "ticket", title: "Redeemed " + voucher, path: causePath(e, links.Voucher), note: "Voucher"}
	case ledger.Adjustment:
		return event{icon: "adjustments", title: "Balance adjusted", note: "“" + core.OrZero(e.Reason) + "”"}
	case ledger.Opened:
		return event{icon: "file-import", title: "Opening balance", note: core.OrZero(e.Reason)}
	case ledger.Merged:
		if e.MergedID != nil {
			return event{icon: "users", title: "Merged with " + core.OrZero(e.MergedName), path: links.MergedInto(t.Of, *e.MergedID)}
		}
		return event{icon: "users", title: "Moved by a merge"}
	case ledger.ExpiryReturned: // folded into what follows it
	}
	return event{}
}

// causePath is the page of the sale, redemption or voucher that changed a balance; "": it has none.
func causePath(e customer.Entry, pathOf func(core.ID) string) string {
	if e.Cause == nil {
		return ""
	}
	return pathOf(*e.Cause)
}

// notes are why a balance changed, the type and location of the sale, and who recorded it.
func (t Timeline) notes(e customer.Entry, why string) string {
	var notes []string
	for _, note := range []string{why, core.OrZero(e.TypeName), core.OrZero(e.LocationName), t.Actor(e.ActorKind, e.ActorName)} {
		if note != "" {
			notes = append(notes, note)
		}
	}
	return strings.Join(notes, " · ")
}
