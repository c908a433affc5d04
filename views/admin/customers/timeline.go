package customers

import (
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
)

// Timeline is a page of the changes of a customer's balances.
type Timeline struct {
	format.Reader
	Of        core.ID // whose page shows it
	Entries   []customer.Entry
	Spent     map[string]int64 // on sales, by day
	ShownDay  string           // whose heading is on the page already; "": none
	Continued bool             // the entries are appended to those on the page
	Pager     ui.Pager
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
