// Package earning is the HTML of the pages about what sales earn besides the rules of their types.
package earning

import (
	"strconv"
	"strings"
	"time"

	"example.com/loyalty/core/award"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/promotion"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// Tab is the frame of a page that has a tab.
type Tab struct {
	panel.Frame
	Current string // the path
}

var tabs = []struct{ label, path string }{
	{"Promotions", links.Earning},
	{"Calendar", links.EarningCalendar},
	{"Simulator", links.EarningSimulator},
	{"Categories", links.Categories},
	{"Daily limits", links.EarningLimits},
}

// PromotionList is the list of promotions.
type PromotionList struct {
	Tab
	State   promotion.State // "": any
	List    []promotion.Promotion
	Parts   promotion.Parts
	Pager   ui.Pager
	Problem *ui.Problem
}

// stateLabels are the filters of the list.
var stateLabels = []struct {
	state promotion.State
	label string
}{{"", "All"}, {promotion.Now, "Now"}, {promotion.Upcoming, "Upcoming"}, {promotion.Ended, "Ended"}, {promotion.Off, "Inactive"}}

// badge is the state of a promotion.
func badge(r format.Reader, p promotion.Promotion) ui.Badge {
	switch p.State(r.Today()) {
	case promotion.Upcoming:
		return ui.Badge{Label: "Starts " + format.LongDay(p.StartsOn), Tone: ui.Neutral}
	case promotion.Ended:
		return ui.Badge{Label: "Ended " + format.LongDay(*p.EndsOn), Tone: ui.Neutral}
	case promotion.Off:
		return ui.Badge{Label: "Inactive", Tone: ui.Neutral}
	case promotion.Now:
	}
	if p.IsOn(r.Now.In(r.Zone())) {
		return ui.Badge{Label: "On now", Tone: ui.Good}
	}
	return ui.Badge{Label: "At other hours", Tone: ui.Neutral}
}

// PromotionForm creates or edits a promotion.
type PromotionForm struct {
	panel.Frame
	Form     ui.Form
	Original string
	FormKey  string
	Old      *promotion.Promotion // nil: a new one
	Parts    promotion.Parts
	Windows  int // lines for times of the week
	Sentence string
}

// Incomplete stands for the sentence of a promotion that isn't complete.
const Incomplete = "Complete the promotion to read it here."

// WindowField is the name of a field of a time of the week: windows.0.from.
func WindowField(i int, name string) string { return "windows." + strconv.Itoa(i) + "." + name }

// partOptions are the records that can be chosen, and those that are.
func partOptions(parts []promotion.Part, chosen []int64) (options []ui.Option) {
	for _, p := range parts {
		if !p.Active && !contains(chosen, p.ID) {
			continue
		}
		options = append(options, ui.Option{Value: strconv.FormatInt(p.ID, 10), Label: p.Name})
	}
	return options
}

func contains(ids []int64, id int64) bool {
	for _, one := range ids {
		if one == id {
			return true
		}
	}
	return false
}

// old is the promotion that is edited, or an empty one.
func (v PromotionForm) old() award.Promotion {
	if v.Old == nil {
		return award.Promotion{}
	}
	return v.Old.Promotion
}

// chosenLevel is the level of the old promotion.
func (v PromotionForm) chosenLevel() []int64 {
	if id := v.old().LevelID; id != nil {
		return []int64{*id}
	}
	return nil
}

func weekdayOptions() (options []ui.Option) {
	for d := award.Weekday(1); d <= 7; d++ {
		options = append(options, ui.Option{Value: strconv.Itoa(int(d)), Label: d.Time().String()[:3]})
	}
	return options
}

// Calendar is a month with its promotions.
type Calendar struct {
	Tab
	Month  time.Time             // its first day
	Always []promotion.Promotion // on at any time of the month
	Days   []Day                 // with the other ones
}

// Day is a day of a calendar.
type Day struct {
	Date       time.Time
	IsToday    bool
	Promotions []promotion.Promotion
}

// before is how many days of the first week are in the month before.
func (v Calendar) before() int { return int(award.WeekdayOf(v.Month)) - 1 }

// any reports whether the month has a promotion.
func (v Calendar) any() bool {
	if len(v.Always) > 0 {
		return true
	}
	for _, d := range v.Days {
		if len(d.Promotions) > 0 {
			return true
		}
	}
	return false
}

// hours are the hours of a promotion on a day: 16:00–18:00. "": all day.
func hours(p promotion.Promotion, day time.Time) (all string) {
	for _, w := range p.Windows {
		if w.From == w.To || !onDay(w, day) {
			continue
		}
		if all != "" {
			all += ", "
		}
		to := w.To
		if to == 0 {
			to = award.EndOfDay
		}
		all += w.From.String() + "–" + to.String()
	}
	return all
}

func onDay(w award.Window, day time.Time) bool {
	for _, d := range w.Days {
		if d == award.WeekdayOf(day) {
			return true
		}
	}
	return false
}

func monthPath(first time.Time, months int) string {
	return links.CalendarOf(first.AddDate(0, months, 0).Format("2006-01"))
}

// SlowHours proposes promotions for quiet hours.
type SlowHours struct {
	panel.Frame
	report.SlowHours
}

// inWords is a slow hour: Tuesdays 14:00–17:00 brought 4% of the sales of the last four weeks.
func (v SlowHours) inWords(h report.SlowHour) string {
	return h.Day().String() + "s from " + clockOf(h.From) + " to " + clockOf(h.To) + " brought " + format.Percent(h.Sales, v.Total) + " of the sales of the last four weeks."
}

func clockOf(hour int) string { return award.Clock(hour * 60).String() }

// Simulator shows how an award is computed.
type Simulator struct {
	Tab
	Form       form
	Types      []transaction.Type
	Parts      promotion.Parts
	Categories []promotion.Category // those with codes
	Customer   *customer.Customer
	Result     *transaction.Preview // nil: nothing was simulated
}

// form is what a simulator needs of its form, to read it, too.
type form interface {
	ui.Form
	Amount(name, currency string) *int64
}

// itemField is the field with the amount of a category.
func itemField(c promotion.Category) string { return "item_" + strconv.FormatInt(c.ID, 10) }

// Items are the amounts by category on the form. A category is sent by its first code.
func (v Simulator) Items(f form, currency string) (items []award.Item) {
	for _, c := range v.Categories {
		if cents := f.Amount(itemField(c), currency); cents != nil && len(items) < 100 {
			items = append(items, award.Item{Category: c.Codes[0], AmountCents: *cents})
		}
	}
	return items
}

func typeOptions(types []transaction.Type) (options []ui.Option) {
	for _, t := range types {
		options = append(options, ui.Option{Value: strconv.FormatInt(t.ID, 10), Label: t.Name})
	}
	return options
}

// line is a line of how an award is computed.
type line struct{ Name, Value, Why string }

// lines explain a simulated award, in the order in which it is computed.
func (v Simulator) lines() (all []line) {
	p, a := v.Result, v.Result.Award
	units := func(n int64) string { return format.SignedUnits(n, a.Unit) }
	eligible := line{Name: "Spend that earns", Value: v.Money(a.EligibleCents)}
	if spend := v.Form.Amount("spend_amount_cents", v.By.Tenant.Currency); spend != nil && a.EligibleCents < *spend {
		eligible.Why = "Without categories that the type excludes"
	}
	all = append(all, eligible)
	base := line{Name: "By the rule of the type", Value: format.Units(a.Base, a.Unit)}
	if a.BelowMinimum {
		base.Why = "The spend is below the minimum, so nothing else counts"
	}
	all = append(all, base)
	switch {
	case a.Promotion != nil:
		why := "The only promotion for this sale"
		if len(p.Offers) > 1 {
			var offers []string
			for _, o := range p.Offers {
				offers = append(offers, o.Name+" "+units(o.Gives))
			}
			why = "The best of " + format.Number(int64(len(offers))) + ": " + strings.Join(offers, ", ")
		}
		all = append(all, line{"Promotion: " + a.Promotion.Name, units(a.PromotionAward), why})
	case !a.BelowMinimum:
		all = append(all, line{"Promotion", "None", "No promotion is for this sale at that time"})
	}
	if a.Level != nil {
		all = append(all, line{"Level: " + a.Level.Name, units(a.LevelAward), format.Number(a.Level.Percent-100) + "% of what the rule gives"})
	}
	if less := a.Base + a.PromotionAward + a.LevelAward - a.Total; less > 0 {
		why := "The type’s maximum of one sale"
		if a.CappedBy == award.DayCap {
			why = "The daily limit is " + format.Units(*p.DayCap, a.Unit) + ", of which " + format.Number(p.Earned) + " are used"
		}
		all = append(all, line{"Limit", units(-less), why})
	}
	return all
}

// Categories are the categories, and codes that none of them has.
type Categories struct {
	Tab
	List     []promotion.Category
	Unmapped []promotion.UnmappedCode
	Form     ui.Form
	FormKey  string
}

// active are the categories that a code can be given to.
func (v Categories) active() (options []ui.Option) {
	for _, c := range v.List {
		if c.Active {
			options = append(options, ui.Option{Value: strconv.FormatInt(c.ID, 10), Label: c.Name})
		}
	}
	return options
}

// CategoryForm edits a category.
type CategoryForm struct {
	panel.Frame
	Category promotion.Category
	Form     ui.Form
	Original string
}

// Limits edits the caps of a day.
type Limits struct {
	Tab
	Form     ui.Form
	Original string
}

func number(n int64) string { return strconv.FormatInt(n, 10) }
