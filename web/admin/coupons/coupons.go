package coupons

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	views "example.com/loyalty/views/admin/coupons"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) couponRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Coupons, route.Cashiers, h.listCoupons),
		route.Get(links.Coupons+"/new", route.Managers, h.newCoupon),
		route.Post(links.Coupons+"/new", route.Managers, h.addCoupon),
		route.Get(links.Coupons+"/:ulid", route.Cashiers, h.showCoupon),
		route.Get(links.Coupons+"/:ulid/edit", route.Managers, h.changeCoupon),
		route.Post(links.Coupons+"/:ulid/edit", route.Managers, h.editCoupon),
		route.Get(links.Coupons+"/:ulid/deactivate", route.Managers, panel.WithEmptyForm(h.confirmDeactivateCoupon)),
		route.Post(links.Coupons+"/:ulid/active", route.Managers, h.setCouponActive),
	}
}

var couponStates = map[coupon.State]ui.Badge{
	coupon.StateActive: {Label: "Active", Tone: ui.Good}, coupon.StateUpcoming: {Label: "Upcoming", Tone: ui.Info},
	coupon.StateExpired: {Label: "Expired", Tone: ui.Neutral}, coupon.StateInactive: {Label: "Inactive", Tone: ui.Neutral},
}

func (h *Handlers) listCoupons(c echo.Context) error {
	by, q := page.Actor(c), forms.Query(c.QueryParams())
	filter := coupon.Filter{State: q.Filled("state")}
	list, err := h.Coupons.ListWithCounts(c.Request().Context(), by, filter, q.Position())
	status, err := q.Status(err)
	if err != nil {
		return err
	}
	v := views.CouponList{
		Frame:    h.Frame(c, "Coupons", links.Coupons),
		Pager:    page.Pager(list, c.Request().URL, "coupon", "coupons", "#coupons"),
		Filtered: filter.State != nil || status != http.StatusOK, CanEdit: by.Role.Includes(core.Manager),
		State: q.Field("state", ui.Field{Label: "Status"}),
	}
	v.State.Options = q.Options("state", ui.Option{Label: "All coupons"}, ui.Option{Value: "active", Label: "Active"}, ui.Option{Value: "upcoming", Label: "Upcoming"},
		ui.Option{Value: "expired", Label: "Expired"}, ui.Option{Value: "inactive", Label: "Inactive"})
	v.Problem = q.Problem()
	for _, found := range list.Items {
		v.Rows = append(v.Rows, couponRow(by, found))
	}
	return h.Render(c, status, views.CouponListPage(v), views.CouponTable(v))
}

func couponRow(by core.Actor, c coupon.WithCounts) views.CouponRow {
	return views.CouponRow{
		Path: links.Coupon(c.ID), Name: c.Name, Benefit: panel.BenefitInWords(c.Benefit, c.RewardName, by.Tenant.Currency), Validity: validity(c, by.Tenant.TimeZone),
		State: couponStates[c.State], Active: c.Active, Send: sendLink(by, c), SendLabel: sendLabel(c), Sends: c.Sends, Counts: panel.VoucherCounts(c.Sent, c.Redeemed, c.Pending, c.Expired),
	}
}

// validity is the days on which a coupon can be sent and used, in the tenant's zone, and how long each voucher
// is valid. Of one that has ended, sent vouchers keep their own dates.
func validity(c coupon.WithCounts, zone *time.Location) string {
	if c.State == coupon.StateExpired {
		ended := "Ended on " + panel.LastDay(*c.ExpiresAt, zone)
		if until := pendingUntil(c, zone); until != "" {
			ended += ", sent vouchers: " + until
		}
		return ended
	}
	days := ""
	if c.VoucherValidDays != nil {
		days = format.Count(*c.VoucherValidDays, "day", "days") + " after sending"
		if c.StartsAt == nil && c.ExpiresAt == nil {
			return "Valid for " + days
		}
		days = ", for " + days
	}
	return couponDates(c.Coupon, zone) + days
}

// pendingUntil says until when the pending vouchers of a coupon are valid; "" if there are none.
func pendingUntil(c coupon.WithCounts, zone *time.Location) string {
	switch {
	case c.Pending == 0:
		return ""
	case c.PendingOnward || c.PendingUntil == nil:
		return "no end date"
	}
	return "until " + panel.LastDay(*c.PendingUntil, zone)
}

func couponDates(c coupon.Coupon, zone *time.Location) string {
	switch {
	case c.StartsAt != nil && c.ExpiresAt != nil:
		return firstDay(*c.StartsAt, zone) + " to " + panel.LastDay(*c.ExpiresAt, zone)
	case c.StartsAt != nil:
		return "From " + firstDay(*c.StartsAt, zone)
	case c.ExpiresAt != nil:
		return "Until " + panel.LastDay(*c.ExpiresAt, zone)
	}
	return "No end date"
}

// firstDay is the day that begins at an instant, with the time unless that is midnight.
func firstDay(at time.Time, zone *time.Location) string {
	if isMidnight(at, zone) {
		return format.Date(at, zone)
	}
	return format.Time(at, zone)
}

// isMidnight reports whether a day of the zone begins at an instant.
func isMidnight(at time.Time, zone *time.Location) bool {
	year, month, day := at.In(zone).Date()
	return core.StartOfDay(year, month, day, zone).Equal(at)
}

// sendLink is the path of the page that sends a coupon, or "" if the coupon can't be sent or the role may
// not send it.
func sendLink(by core.Actor, c coupon.WithCounts) string {
	if !canSend(c.State) || !by.Role.Includes(core.Manager) {
		return ""
	}
	return links.SendForm(c.ID)
}

// sendLabel is the label of that link: a coupon that hasn't started can only be scheduled.
func sendLabel(c coupon.WithCounts) string {
	if c.State == coupon.StateUpcoming {
		return "Schedule send"
	}
	return "Send vouchers"
}

func (h *Handlers) newCoupon(c echo.Context) error {
	return h.couponForm(c, http.StatusOK, nil, forms.Blank(map[string]string{"benefit_type": "percent", "max_per_customer": "1"}))
}

// couponForm shows the form of a new coupon, or of an existing one, which may keep a reward that is
// inactive by now.
func (h *Handlers) couponForm(c echo.Context, status int, old *coupon.WithCounts, form *forms.Form) error {
	by := page.Actor(c)
	v := views.CouponForm{
		Frame:  h.Frame(c, "New coupon", links.Coupons, ui.Crumb{Label: "Coupons", Path: links.Coupons}),
		Action: links.Coupons + "/new", Button: "Create coupon", Cancel: links.Coupons, FormKey: h.NewFormKey(),
		Name: form.Field("name", ui.Field{Label: "Name"}), Description: form.Field("description", ui.Field{Label: "Description"}),
	}
	if old != nil {
		v.Title, v.Action, v.Button, v.Cancel, v.Began = "Edit coupon", links.Coupon(old.ID)+"/edit", "Save", links.Coupon(old.ID), form.Original()
		v.Crumbs = append(v.Crumbs, ui.Crumb{Label: old.Name, Path: v.Cancel})
	}
	sent := old != nil && old.Sends > 0
	if sent {
		v.Benefit = panel.BenefitInWords(old.Benefit, old.RewardName, by.Tenant.Currency)
	} else if err := h.benefitFields(c, old, form, &v); err != nil {
		return err
	}
	v.Starts, v.Ends = form.Field("starts_at", ui.Field{Label: "Start date"}), form.Field("expires_at", ui.Field{Label: "End date"})
	v.Days = form.Field("voucher_valid_days", ui.Field{Label: "Voucher validity"})
	v.Each, v.InAll = form.Field("max_per_customer", ui.Field{Label: "Vouchers per customer"}), form.Field("max_redemptions", ui.Field{Label: "Total redemption limit"})
	v.Problem = form.Problem()
	v.Zone = by.Tenant.TimeZone.String()
	v.Name.Autofocus, v.Name.Autocomplete, v.Name.Help = true, "off", "Shown to customers, e.g. Welcome back"
	v.Description.Optional, v.Description.Help = true, "Shown in the e-mail and on the voucher"
	v.Starts.Type, v.Starts.Optional, v.Starts.Help = "date", true, "Can't be sent before this day"
	v.Ends.Type, v.Ends.Optional, v.Ends.Help = "date", true, "Valid until the end of this day"
	v.Days.Mode, v.Days.Optional, v.Days.After, v.Days.Help = "numeric", true, "days", "Leave empty to use the coupon's end date"
	v.Each.Mode, v.Each.Help = "numeric", "Across all sends"
	v.InAll.Mode, v.InAll.Optional, v.InAll.Help = "numeric", true, "Leave empty for no limit"
	if sent {
		v.Ends.Help = "Sent vouchers keep their end date"
		v.Each.Help = "Can't be lowered after sending"
	}
	return h.Render(c, status, views.CouponFormPage(v), nil)
}

// valueFields are the page's fields for the value of each benefit. Core calls all of them
// benefit_value.
var valueFields = map[coupon.BenefitType]string{coupon.Points: "points", coupon.Stamps: "stamps", coupon.Percent: "percent", coupon.Amount: "amount_cents"}

func (h *Handlers) benefitFields(c echo.Context, old *coupon.WithCounts, form *forms.Form, v *views.CouponForm) error {
	by := page.Actor(c)
	names, err := h.Rewards.Choices(c.Request().Context(), by)
	if err != nil {
		return err
	}
	v.Type = form.Field("benefit_type", ui.Field{Label: "Type"})
	v.Type.Options = form.Options("benefit_type",
		ui.Option{Value: "percent", Label: "Percentage off", Help: "Taken off the bill"},
		ui.Option{Value: "amount", Label: "Amount off", Help: "Taken off the bill"},
		ui.Option{Value: "points", Label: "Points", Help: "Added to the balance"},
		ui.Option{Value: "stamps", Label: "Stamps", Help: "Added to the balance"},
		ui.Option{Value: "reward", Label: "Reward", Help: "Free of charge"})
	chosen := coupon.BenefitType(form.Value("benefit_type"))
	field := func(kind coupon.BenefitType, label string) ui.Field {
		known := "" // violations belong to the chosen benefit's field
		if kind == chosen {
			known = "benefit_value"
		}
		return form.FieldOf(known, valueFields[kind], ui.Field{Label: label})
	}
	v.Points, v.Stamps = field(coupon.Points, "Points"), field(coupon.Stamps, "Stamps")
	v.Percent, v.Amount = field(coupon.Percent, "Percent"), field(coupon.Amount, "Amount")
	v.Reward = form.FieldOf("benefit_reward_ulid", "reward_ulid", ui.Field{Label: "Reward"})
	v.Points.Mode, v.Stamps.Mode, v.Percent.Mode, v.Amount.Mode = "numeric", "numeric", "numeric", "decimal"
	v.Percent.After, v.Amount.Before = "%", format.Symbol(by.Tenant.Currency)
	var choices []ui.Option
	for i, option := range panel.RewardOptions(names) {
		current := old != nil && core.OrZero(old.BenefitRewardID) == names[i].ID
		if names[i].Active || current {
			choices = append(choices, option)
		}
	}
	v.Reward.Options, v.NoRewards = form.Options("reward_ulid", choices...), len(choices) == 0
	return nil
}

// newCouponOf is the coupon that a form describes.
func newCouponOf(form *forms.Form, t core.Tenant) coupon.New {
	n := coupon.New{
		Name: form.Text("name"), Description: form.Text("description"),
		BenefitType: form.Filled("benefit_type"), MaxPerCustomer: form.Integer("max_per_customer"), MaxRedemptions: form.Integer("max_redemptions"),
		VoucherValidDays: form.Integer("voucher_valid_days"),
	}
	if n.BenefitType != nil {
		kind := coupon.BenefitType(*n.BenefitType)
		if kind == coupon.Amount {
			n.BenefitValue = form.AmountOf("benefit_value", valueFields[kind], t.Currency)
		} else {
			form.Values.Set("benefit_value", form.Value(valueFields[kind]))
			n.BenefitValue = form.Integer("benefit_value")
		}
		n.BenefitRewardID = form.Filled("reward_ulid")
	}
	if day := form.Date("starts_at"); day != nil {
		n.StartsAt = new(core.StartOfDate(*day, t.TimeZone))
	}
	if day := form.Date("expires_at"); day != nil {
		n.ExpiresAt = new(core.StartOfDate(day.AddDate(0, 0, 1), t.TimeZone)) // includes that day
	}
	n.Malformed = form.Malformed
	return n
}

func (h *Handlers) addCoupon(c echo.Context) error {
	return page.Submit(h.Kit, c, page.Submission[coupon.Coupon]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (coupon.Coupon, error) {
			return h.Coupons.Add(ctx, by, newCouponOf(form, by.Tenant))
		},
		Refused: func(status int, form *forms.Form) error { return h.couponForm(c, status, nil, form) },
		Once:    true,
		To:      pathOfCoupon,
		Done: func(made coupon.Coupon) string {
			if made.StartsAt != nil && made.StartsAt.After(h.Now()) {
				return "“" + made.Name + "” was created. Schedule its send next."
			}
			return "“" + made.Name + "” was created. Send it to customers next."
		},
	})
}

func pathOfCoupon(c coupon.Coupon) string { return links.Coupon(c.ID) }

func (h *Handlers) couponOf(c echo.Context) (coupon.WithCounts, error) {
	id, err := panel.PathID(c)
	if err != nil {
		return coupon.WithCounts{}, err
	}
	return h.Coupons.Find(c.Request().Context(), page.Actor(c), id)
}

// couponDays are the dates in the form of a coupon; "" for none.
func couponDays(c coupon.Coupon, zone *time.Location) (starts, ends string) {
	if c.StartsAt != nil {
		starts = c.StartsAt.In(zone).Format(time.DateOnly)
	}
	if c.ExpiresAt != nil {
		ends = c.ExpiresAt.Add(-time.Millisecond).In(zone).Format(time.DateOnly)
	}
	return starts, ends
}

func (h *Handlers) changeCoupon(c echo.Context) error {
	old, err := h.couponOf(c)
	if err != nil {
		return err
	}
	t := page.Actor(c).Tenant
	values := map[string]string{
		"name": old.Name, "description": core.OrZero(old.Description), "benefit_type": string(old.BenefitType),
		"max_per_customer": strconv.FormatInt(old.MaxPerCustomer, 10), "max_redemptions": panel.Digits(old.MaxRedemptions), "voucher_valid_days": panel.Digits(old.VoucherValidDays),
	}
	values["starts_at"], values["expires_at"] = couponDays(old.Coupon, t.TimeZone)
	switch old.BenefitType {
	case coupon.Amount:
	case coupon.Reward:
		values["reward_ulid"] = old.BenefitRewardID.String()
	case coupon.Points, coupon.Stamps, coupon.Percent:
		values[valueFields[old.BenefitType]] = panel.Digits(old.BenefitValue)
	}
	form := forms.Blank(values)
	if old.BenefitType == coupon.Amount {
		form.SetAmount(valueFields[coupon.Amount], *old.BenefitValue, t.Currency)
	}
	return h.couponForm(c, http.StatusOK, &old, form)
}

func (h *Handlers) editCoupon(c echo.Context) error {
	old, err := h.couponOf(c)
	if err != nil {
		return err
	}
	return page.Submit(h.Kit, c, page.Submission[coupon.Coupon]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (coupon.Coupon, error) {
			return h.Coupons.Edit(ctx, by, old.ID, couponEditOf(form, by.Tenant, old.Coupon))
		},
		Refused: func(status int, form *forms.Form) error { return h.couponForm(c, status, &old, form) },
		To:      pathOfCoupon,
		Done:    func(edited coupon.Coupon) string { return "“" + edited.Name + "” was saved." },
	})
}

// couponEditOf is the edit that a form describes.
func couponEditOf(form *forms.Form, t core.Tenant, old coupon.Coupon) coupon.Edit {
	n := newCouponOf(form, t)
	edit := coupon.Edit{
		Name: panel.IfChanged(form, n.Name, "name"), Description: panel.IfChanged(form, n.Description, "description"),
		MaxPerCustomer: panel.IfChanged(form, n.MaxPerCustomer, "max_per_customer"), MaxRedemptions: panel.IfChanged(form, n.MaxRedemptions, "max_redemptions"),
		VoucherValidDays: panel.IfChanged(form, n.VoucherValidDays, "voucher_valid_days"), Malformed: n.Malformed,
	}
	// A coupon that was sent has no benefit fields, and those of other benefits don't count.
	if n.BenefitType != nil && form.Changed("benefit_type", cmp.Or(valueFields[coupon.BenefitType(*n.BenefitType)], "reward_ulid")) {
		edit.BenefitType, edit.BenefitValue, edit.BenefitRewardID = panel.SetTo(n.BenefitType), panel.SetTo(n.BenefitValue), panel.SetTo(n.BenefitRewardID)
	}
	// An unchanged day keeps its instant, which may be any time of that day.
	starts, ends := couponDays(old, t.TimeZone)
	if form.Value("starts_at") != starts {
		edit.StartsAt = panel.IfChanged(form, n.StartsAt, "starts_at")
	}
	if form.Value("expires_at") != ends {
		edit.ExpiresAt = panel.IfChanged(form, n.ExpiresAt, "expires_at")
	}
	return edit
}

// confirmDeactivateCoupon says how many customers hold vouchers that can't be redeemed then.
func (h *Handlers) confirmDeactivateCoupon(c echo.Context, status int, form *forms.Form) error {
	found, err := h.couponOf(c)
	if err != nil {
		return err
	}
	holders, err := h.Coupons.CountHolders(c.Request().Context(), page.Actor(c), found.ID)
	if err != nil {
		return err
	}
	path := links.Coupon(found.ID)
	v := panelviews.Confirm{
		Frame: h.Frame(c, "Deactivate “"+found.Name+"”?", links.Coupons,
			ui.Crumb{Label: "Coupons", Path: links.Coupons}, ui.Crumb{Label: found.Name, Path: path}),
		Confirm: ui.Confirm{
			Action: path + "/active", Button: "Deactivate coupon", Danger: true, Cancel: path, Problem: form.Problem(),
			Words:  []string{holdersInWords(holders), "You can activate it again. Vouchers still expire on their date."},
			Hidden: []ui.Pair{{Name: "active", Value: "0"}, panel.HiddenReturn(c, form, path)},
		},
	}
	return h.Confirm(c, status, v)
}

func holdersInWords(h coupon.Holders) string {
	if h.Customers == 0 {
		return "No customer holds a voucher that can still be redeemed."
	}
	words := format.Count(h.Customers, "customer holds", "customers hold") + " " + format.Count(h.Vouchers, "voucher", "vouchers")
	if h.More {
		words = "More than " + words
	}
	return words + " of it, which can't be redeemed while it is inactive."
}

func (h *Handlers) setCouponActive(c echo.Context) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	set := func(ctx context.Context, by core.Actor, active bool) (coupon.Coupon, error) {
		return h.Coupons.SetActive(ctx, by, id, active)
	}
	return panel.SetActive(&h.Panel, c, links.Coupon(id), set, func(k coupon.Coupon) string {
		return panel.ActiveMessage(k.Name, k.Active, "Its vouchers can't be redeemed.")
	})
}

// showCoupon shows a coupon. A fragment is a page of its redeemed vouchers.
func (h *Handlers) showCoupon(c echo.Context) error {
	found, err := h.couponOf(c)
	if err != nil {
		return err
	}
	ctx, by, id := c.Request().Context(), page.Actor(c), found.ID
	var vouchers views.RedeemedVouchers
	if part := forms.Position(c.QueryParams()); found.Redeemed > 0 || part.Cursor != nil || part.Err() != nil {
		redeemed, err := h.Coupons.ListRedeemed(ctx, by, id, part)
		if err != nil {
			return err
		}
		vouchers.Pager = page.Pager(redeemed, c.Request().URL, "voucher", "vouchers", "#vouchers")
		for _, r := range redeemed.Items {
			vouchers.Rows = append(vouchers.Rows, redeemedVoucher(r, h.Now(), by.Tenant.TimeZone))
		}
	}
	if page.IsFragment(c) {
		return h.Render(c, http.StatusOK, views.RedeemedTable(vouchers), nil)
	}
	var sends core.List[coupon.SendDetail]
	if found.Sends > 0 {
		if sends, err = h.Coupons.ListSends(ctx, by, id, forms.Position(nil)); err != nil {
			return err
		}
	}
	v := views.CouponDetail{
		Frame:  h.Frame(c, found.Name, links.Coupons, ui.Crumb{Label: "Coupons", Path: links.Coupons}),
		Coupon: couponRow(by, found), Description: core.OrZero(found.Description), CanEdit: by.Role.Includes(core.Manager),
		Facts: couponFacts(found, by.Tenant.TimeZone), Vouchers: vouchers,
	}
	if found.Sends > 0 {
		v.Exports = panel.ExportsOf(c, links.CouponVouchers(id))
	}
	for _, s := range sends.Items {
		v.Sends = append(v.Sends, sendRow(s, h.Now(), by.Tenant.TimeZone))
	}
	if sends.Next != nil {
		v.SendsNote = latestSends(sends.Items, found.Sends)
	}
	return h.Render(c, http.StatusOK, views.CouponDetailPage(v), nil)
}

func redeemedVoucher(r coupon.RedeemedVoucher, now time.Time, zone *time.Location) views.RedeemedVoucher {
	v := views.RedeemedVoucher{
		Customer: format.StoredName(r.CustomerName), CustomerPath: links.Customer(r.CustomerID), When: format.Moment(*r.RedeemedAt, now, zone), Sent: format.Date(r.CreatedAt, zone),
	}
	if r.RedemptionID != nil {
		v.RedemptionPath = links.Redemption(*r.RedemptionID)
	}
	return v
}

func couponFacts(c coupon.WithCounts, zone *time.Location) []ui.Pair {
	valid, left := "Until the coupon's end date", "No limit"
	switch {
	case c.State == coupon.StateExpired:
		valid = "Can't be sent any more"
	case c.VoucherValidDays != nil:
		valid = format.Count(*c.VoucherValidDays, "day", "days") + " after sending"
	case c.ExpiresAt == nil:
		valid = "No end date"
	}
	if c.MaxRedemptions != nil {
		left = format.Number(max(0, *c.MaxRedemptions-c.RedemptionsCount)) + " of " + format.Number(*c.MaxRedemptions)
	}
	pending := format.Number(c.Pending)
	if until := pendingUntil(c, zone); until != "" {
		pending += ", valid " + strings.Replace(until, "no end date", "without an end date", 1)
	}
	return []ui.Pair{
		{Name: "Voucher validity", Value: valid},
		{Name: "Per customer", Value: format.Count(c.MaxPerCustomer, "voucher", "vouchers")},
		{Name: "Pending vouchers", Value: pending},
		{Name: "Redemptions left", Value: left},
		{Name: "Created", Value: format.Date(c.CreatedAt, zone)},
		{Name: "ULID", Value: c.ID.String()},
	}
}
