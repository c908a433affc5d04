package customers

import (
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	views "example.com/loyalty/views/admin/customers"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// sinceDays are the choices of how far back a timeline goes.
var sinceDays = map[string]int{"30": 30, "90": 90, "365": 365}

// timeline adds a page of the timeline. Its query has the day on which the page before ended ("day"), so
// that a day's heading isn't repeated.
func (h *Handlers) timeline(c echo.Context, id core.ID, v *views.History) error {
	ctx, by, q := c.Request().Context(), page.Actor(c), forms.Query(c.QueryParams())
	filter := customer.TimelineFilter{Events: q.Filled("events")}
	if since := q.Filled("since"); since != nil {
		days, known := sinceDays[*since]
		if !known {
			return core.Invalid(core.Fields{"since": {core.InvalidChoice}})
		}
		filter.Since = new(h.Now().AddDate(0, 0, -days))
	}
	v.Narrowed = filter != customer.TimelineFilter{}
	list, err := h.Customers.Timeline(ctx, by, id, filter, q.Position())
	if err != nil {
		return err
	}
	v.Events, v.Since = q.Field("events", ui.Field{Label: "Events"}), q.Field("since", ui.Field{Label: "Time"})
	v.Events.Options = q.Options("events",
		ui.Option{Label: "All events"}, ui.Option{Value: string(customer.Sales), Label: "Sales"}, ui.Option{Value: string(customer.Redemptions), Label: "Redemptions"},
		ui.Option{Value: string(customer.Vouchers), Label: "Vouchers"}, ui.Option{Value: string(customer.Adjustments), Label: "Adjustments"})
	v.Since.Options = q.Options("since",
		ui.Option{Label: "Any time"}, ui.Option{Value: "30", Label: "Last 30 days"}, ui.Option{Value: "90", Label: "Last 90 days"}, ui.Option{Value: "365", Label: "Last year"})
	v.Pager = page.Pager(list, c.Request().URL, "event", "events", "#history")
	if len(list.Items) == 0 {
		return nil
	}
	newest, oldest := list.Items[0].CreatedAt, list.Items[len(list.Items)-1].CreatedAt
	var spent map[string]int64
	if filter.Events == nil || *filter.Events == string(customer.Sales) {
		if spent, err = h.Customers.SpendByDay(ctx, by, id, oldest, newest); err != nil {
			return err
		}
	}
	v.Days = timelineDays(by, id, list.Items, spent, h.Now())
	zone := by.Tenant.TimeZone
	if v.Days[0].Label != "" && newest.In(zone).Format(time.DateOnly) == q.Value("day") && page.IsFragment(c) {
		v.Days[0].Label = ""
	}
	if v.Pager.Next != "" {
		next := *c.Request().URL
		next.RawQuery = strings.TrimPrefix(v.Pager.Next, next.Path+"?")
		v.Pager.Next = page.With(&next, "day", oldest.In(zone).Format(time.DateOnly))
	}
	return nil
}

// timelineDays groups entries by local day.
func timelineDays(by core.Actor, of core.ID, entries []customer.Entry, spent map[string]int64, now time.Time) (days []views.TimelineDay) {
	last, zone := "", by.Tenant.TimeZone
	for _, e := range entries {
		if day := e.CreatedAt.In(zone).Format(time.DateOnly); day != last {
			added := views.TimelineDay{Label: dayLabel(e.CreatedAt, now, zone)}
			if cents := spent[day]; cents > 0 {
				added.Spent = format.Money(cents, by.Tenant.Currency) + " spent"
			}
			days, last = append(days, added), day
		}
		d := &days[len(days)-1]
		d.Entries = append(d.Entries, timelineEntry(by, of, e))
	}
	return days
}

// dayLabel is "Today, 22 Nov", "Thu 19 Nov", or with the year if it isn't the current one.
func dayLabel(at, now time.Time, zone *time.Location) string {
	at, now = at.In(zone), now.In(zone)
	for label, days := range map[string]int{"Yesterday": -1, "Today": 0} {
		if at.Format(time.DateOnly) == now.AddDate(0, 0, days).Format(time.DateOnly) {
			return label + at.Format(", 2 Jan")
		}
	}
	if at.Year() != now.Year() {
		return at.Format("Mon 2 Jan 2006")
	}
	return at.Format("Mon 2 Jan")
}

// timelineEntry explains a change of a balance: what, when, by whom and why.
func timelineEntry(by core.Actor, of core.ID, e customer.Entry) views.TimelineEntry {
	v := views.TimelineEntry{
		ID:   e.ID.String(),
		When: e.CreatedAt.In(by.Tenant.TimeZone).Format("15:04"), Amount: signedAmount(e.Amount, e.Unit), Gain: e.Amount > 0,
		Voided: e.Voided, Balance: format.Number(e.BalanceAfter),
	}
	if e.BalanceVoided != nil {
		v.Amount, v.Balance = format.Units(0, e.Unit), format.Number(*e.BalanceVoided)
	}
	sale := "Sale"
	if e.SpendAmountCents != nil {
		sale = "Sale of " + format.Money(*e.SpendAmountCents, by.Tenant.Currency)
	}
	var notes []string
	var causePath func(core.ID) string // nil: the cause has no page
	switch e.Kind {
	case "earn":
		v.Icon, v.Title, causePath = "receipt", sale, links.Transaction
	case "reversal":
		v.Icon, v.Title, causePath = "receipt-refund", "Voided: "+sale, links.Transaction
		if e.CouponName != nil {
			v.Icon, v.Title, causePath = "arrow-back-up", "Undone: “"+*e.CouponName+"”", links.Voucher
			notes = append(notes, "Voucher valid again")
		}
	case "redemption":
		v.Icon, v.Title, causePath = "gift", "Redeemed "+core.OrZero(e.RewardName), links.Redemption
	case "redemption_refund":
		v.Icon, v.Title, causePath = "arrow-back-up", "Voided: "+core.OrZero(e.RewardName), links.Redemption
	case "voucher":
		v.Icon, v.Title, causePath = "ticket", "Redeemed “"+core.OrZero(e.CouponName)+"”", links.Voucher
		notes = append(notes, "Voucher")
	case "adjustment":
		v.Icon, v.Title = "adjustments", "Balance adjusted"
		notes = append(notes, quoted(e.Reason))
	case "opening":
		v.Icon, v.Title = "file-import", "Opening balance"
		notes = append(notes, core.OrZero(e.Reason))
	case "merge":
		v.Icon, v.Title = "users", "Moved by a merge"
		if e.MergedID != nil {
			v.Title, v.Path = "Merged with "+core.OrZero(e.MergedName), page.WithQuery(links.Customer(of)+"/merged", "merged", e.MergedID.String())
		}
	}
	if e.Cause != nil && causePath != nil {
		v.Path = causePath(*e.Cause)
		if e.Voidable {
			v.VoidPath = v.Path + "/void"
		}
	}
	for _, name := range []*string{e.TypeName, e.LocationName} {
		if name != nil {
			notes = append(notes, *name)
		}
	}
	v.Note = strings.Join(append(notes, actorLabel(by, e.ActorKind, e.ActorName)), " · ")
	return v
}

// actorLabel names an actor, with their kind where the name alone doesn't tell it.
func actorLabel(by core.Actor, kind core.ActorKind, name string) string {
	switch kind {
	case core.ByToken:
		if !by.SeesTokens() {
			return core.UnnamedToken
		}
		return "API token “" + name + "”"
	case core.ByAdmin:
		return name + " (platform)"
	case core.ByCustomer:
		return "The customer"
	case core.BySystem:
		return page.AuditSystem
	case core.ByStaff:
	}
	return name
}

func quoted(name *string) string {
	if name == nil {
		return ""
	}
	return "“" + *name + "”"
}
