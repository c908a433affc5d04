package admin

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

const couponsPath = "/admin/coupons"

func (a *Admin) couponRoutes() []route {
	return []route{
		{method: get, path: couponsPath, least: core.Cashier, handle: a.listCoupons},
		{method: get, path: couponsPath + "/new", least: core.Manager, handle: a.newCoupon},
		{method: post, path: couponsPath + "/new", least: core.Manager, handle: a.addCoupon},
		{method: get, path: couponsPath + "/:ulid", least: core.Cashier, handle: a.showCoupon},
		{method: get, path: couponsPath + "/:ulid/edit", least: core.Manager, handle: a.changeCoupon},
		{method: post, path: couponsPath + "/:ulid/edit", least: core.Manager, handle: a.editCoupon},
		{method: post, path: couponsPath + "/:ulid/active", least: core.Manager, handle: a.setCouponActive},
	}
}

func couponPath(id core.ID) string { return couponsPath + "/" + id.String() }

var couponStates = map[coupon.State]ui.Badge{
	coupon.StateActive: {Label: "Active", Tone: ui.Good}, coupon.StateUpcoming: {Label: "Upcoming", Tone: ui.Info},
	coupon.StateExpired: {Label: "Expired", Tone: ui.Neutral}, coupon.StateInactive: {Label: "Inactive", Tone: ui.Neutral},
}

func (a *Admin) listCoupons(c echo.Context) error {
	by, q := page.Actor(c), page.Query(c.QueryParams())
	filter := coupon.Filter{State: q.Filled("state")}
	list, err := a.Coupons.ListWithCounts(c.Request().Context(), by, filter, q.Position())
	status, err := q.Status(err)
	if err != nil {
		return err
	}
	v := views.CouponList{
		Frame:    a.frame(c, "Coupons", couponsPath),
		Pager:    page.Pager(list, c.Request().URL, page.Count(int64(len(list.Items)), "coupon on this page", "coupons on this page"), "#coupons"),
		Filtered: filter.State != nil || status != http.StatusOK, CanEdit: by.Role.Includes(core.Manager),
		State: q.Field("state", "Status"),
	}
	v.State.Options = q.Options("state", ui.Option{Label: "All coupons"}, ui.Option{Value: "active", Label: "Active"}, ui.Option{Value: "upcoming", Label: "Upcoming"},
		ui.Option{Value: "expired", Label: "Expired"}, ui.Option{Value: "inactive", Label: "Inactive"})
	v.Problem = q.Problem()
	for _, found := range list.Items {
		v.Rows = append(v.Rows, views.CouponRow{
			Path: couponPath(found.ID), Name: found.Name, Benefit: benefitInWords(found.Benefit, found.RewardName, by.Tenant.Currency), Validity: validity(found.Coupon, by.Tenant.TimeZone),
			State: couponStates[found.State], Active: found.Active, Send: sendLink(by, found), Counts: voucherCounts(found),
		})
	}
	return a.Render(c, status, views.CouponListPage(v), views.CouponTable(v))
}

// benefitInWords is "20% off", or what else a voucher gives.
func benefitInWords(b coupon.Benefit, rewardName *string, currency string) string {
	switch b.BenefitType {
	case coupon.Points:
		return amount(*b.BenefitValue, "points")
	case coupon.Stamps:
		return amount(*b.BenefitValue, "stamps")
	case coupon.Percent:
		return page.Number(*b.BenefitValue) + "% off"
	case coupon.Amount:
		return page.Money(*b.BenefitValue, currency) + " off"
	case coupon.Reward:
	}
	return "Reward: " + optional(rewardName)
}

// validity is from when to when a coupon can be used, in days of the tenant's zone, and for
// how long each voucher can.
func validity(c coupon.Coupon, zone *time.Location) string {
	days := ""
	if c.VoucherValidDays != nil {
		days = page.Count(*c.VoucherValidDays, "day", "days") + " after sending"
		if c.StartsAt == nil && c.ExpiresAt == nil {
			return "Valid for " + days
		}
		days = ", for " + days
	}
	return dates(c, zone) + days
}

func dates(c coupon.Coupon, zone *time.Location) string {
	switch {
	case c.StartsAt != nil && c.ExpiresAt != nil:
		return firstDay(*c.StartsAt, zone) + " to " + lastDay(*c.ExpiresAt, zone)
	case c.StartsAt != nil:
		return "From " + firstDay(*c.StartsAt, zone)
	case c.ExpiresAt != nil:
		return "Until " + lastDay(*c.ExpiresAt, zone)
	}
	return "No end date"
}

// firstDay is the day that begins at an instant; with the time where none does.
func firstDay(at time.Time, zone *time.Location) string {
	if isMidnight(at, zone) {
		return page.Date(at, zone)
	}
	return page.Time(at, zone)
}

// lastDay is the day that ends at an instant; with the time where none does.
func lastDay(at time.Time, zone *time.Location) string { return page.LastDay(at, zone) }

// isMidnight reports whether a day of the zone begins at that instant.
func isMidnight(at time.Time, zone *time.Location) bool {
	year, month, day := at.In(zone).Date()
	return core.StartOfDay(year, month, day, zone).Equal(at)
}

func voucherCounts(c coupon.WithCounts) views.VoucherCounts {
	v := views.VoucherCounts{
		None: c.Sends == 0, Sent: page.Number(c.Sent), Pending: page.Number(c.Pending), Redeemed: page.Number(c.Redeemed), Expired: page.Number(c.Expired),
		Rate: page.Percent(c.Redeemed, c.Sent),
	}
	if c.Sent > 0 {
		redeemed, pending := 100*float64(c.Redeemed)/float64(c.Sent), 100*float64(c.Pending)/float64(c.Sent)
		v.Bar.Parts = []ui.BarPart{
			{Length: redeemed, Tone: ui.First},
			{Start: redeemed, Length: pending, Tone: ui.Second},
			{Start: redeemed + pending, Length: max(0, 100-redeemed-pending), Tone: ui.Rest},
		}
	}
	return v
}

// sendLink is the page that sends a coupon, or "" where it can't be sent or the role may not.
func sendLink(by core.Actor, c coupon.WithCounts) string {
	if !canSend(c.State) || !by.Role.Includes(core.Manager) {
		return ""
	}
	return sendFormPath(c.ID)
}

func (a *Admin) newCoupon(c echo.Context) error {
	return a.couponForm(c, http.StatusOK, nil, page.Blank(map[string]string{"benefit_type": "percent", "max_per_customer": "1"}))
}

// couponForm shows the form of a coupon to be, or of one that exists. One that promises a
// reward can keep it, also where that is no longer on offer. The page makes two round
// trips, the session and the rewards, and a third for a coupon that exists.
func (a *Admin) couponForm(c echo.Context, status int, old *coupon.WithCounts, form *page.Form) error {
	by := page.Actor(c)
	v := views.CouponForm{
		Frame:  a.frame(c, "New coupon", couponsPath, ui.Crumb{Label: "Coupons", Path: couponsPath}),
		Action: couponsPath + "/new", Button: "Make the coupon", Cancel: couponsPath, FormKey: a.NewFormKey(),
		Name: form.Field("name", "Name"), Description: form.Field("description", "Description"),
	}
	if old != nil {
		v.Title, v.Action, v.Button, v.Cancel, v.Began = "Edit", couponPath(old.ID)+"/edit", "Save", couponPath(old.ID), form.Original()
		v.Crumbs = append(v.Crumbs, ui.Crumb{Label: old.Name, Path: v.Cancel})
	}
	if old != nil && old.Sends > 0 {
		v.Benefit = benefitInWords(old.Benefit, old.RewardName, by.Tenant.Currency)
	} else if err := a.benefitFields(c, old, form, &v); err != nil {
		return err
	}
	v.Starts, v.Ends = form.Field("starts_at", "First day"), form.Field("expires_at", "Last day")
	v.Days = form.Field("voucher_valid_days", "Days that a voucher is good")
	v.Each, v.InAll = form.Field("max_per_customer", "Vouchers for each customer"), form.Field("max_redemptions", "Redemptions in all")
	v.Problem = form.Problem()
	v.Zone = by.Tenant.TimeZone.String()
	v.Name.Autofocus, v.Name.Autocomplete, v.Name.Help = true, "off", "What customers read: “Welcome back”, “Happy birthday”."
	v.Description.Optional, v.Description.Help = true, "Stands in the mail and on the voucher."
	v.Starts.Type, v.Starts.Optional, v.Starts.Help = "date", true, "It cannot be sent before."
	v.Ends.Type, v.Ends.Optional, v.Ends.Help = "date", true, "Good until this day ends."
	v.Days.Mode, v.Days.Optional, v.Days.After, v.Days.Help = "numeric", true, "days", "Counted from the day after it is sent. Without, a voucher is good as long as the coupon."
	v.Each.Mode, v.Each.Help = "numeric", "However often the coupon is sent."
	v.InAll.Mode, v.InAll.Optional, v.InAll.Help = "numeric", true, "Then no further voucher is taken."
	if old != nil && old.Sends > 0 {
		v.Ends.Help += " What was sent already keeps its end."
		v.Each.Help = "Not fewer than before: customers were sent it."
	}
	return a.Render(c, status, views.CouponFormPage(v), nil)
}

// worth are the fields of the page that say how much of its benefit a voucher gives: core
// knows all of them as benefit_value.
var worth = map[coupon.BenefitType]string{coupon.Points: "points", coupon.Stamps: "stamps", coupon.Percent: "percent", coupon.Amount: "amount_cents"}

func (a *Admin) benefitFields(c echo.Context, old *coupon.WithCounts, form *page.Form, v *views.CouponForm) error {
	by := page.Actor(c)
	names, err := a.Rewards.Choices(c.Request().Context(), by)
	if err != nil {
		return err
	}
	v.Type = form.Field("benefit_type", "Benefit")
	v.Type.Options = form.Options("benefit_type",
		ui.Option{Value: "percent", Label: "Percent off", Help: "The cashier takes it off the bill."},
		ui.Option{Value: "amount", Label: "An amount off", Help: "The cashier takes it off the bill."},
		ui.Option{Value: "points", Label: "Points", Help: "They are added to the balance."},
		ui.Option{Value: "stamps", Label: "Stamps", Help: "They are added to the balance."},
		ui.Option{Value: "reward", Label: "A reward", Help: "It costs them nothing."})
	chosen := coupon.BenefitType(form.Value("benefit_type"))
	field := func(of coupon.BenefitType, label string) ui.Field {
		known := "" // what is wrong is wrong with the chosen one
		if of == chosen {
			known = "benefit_value"
		}
		return form.FieldOf(known, worth[of], label)
	}
	v.Points, v.Stamps = field(coupon.Points, "Points"), field(coupon.Stamps, "Stamps")
	v.Percent, v.Amount = field(coupon.Percent, "Percent"), field(coupon.Amount, "Amount")
	v.Reward = form.FieldOf("benefit_reward_ulid", "reward_ulid", "Reward")
	v.Points.Mode, v.Stamps.Mode, v.Percent.Mode, v.Amount.Mode = "numeric", "numeric", "numeric", "decimal"
	v.Percent.After, v.Amount.Before = "%", page.Symbol(by.Tenant.Currency)
	var choices []ui.Option
	for i, option := range rewardOptions(names) {
		promised := old != nil && old.BenefitRewardID != nil && *old.BenefitRewardID == names[i].ID
		if names[i].Active || promised {
			choices = append(choices, option)
		}
	}
	v.Reward.Options, v.NoRewards = form.Options("reward_ulid", choices...), len(choices) == 0
	return nil
}

// newCouponOf is the coupon that a form describes.
func newCouponOf(form *page.Form, t core.Tenant) coupon.New {
	n := coupon.New{
		Name: form.Text("name"), Description: form.Text("description"),
		BenefitType: form.Filled("benefit_type"), MaxPerCustomer: form.Integer("max_per_customer"), MaxRedemptions: form.Integer("max_redemptions"),
		VoucherValidDays: form.Integer("voucher_valid_days"),
	}
	if n.BenefitType != nil {
		of := coupon.BenefitType(*n.BenefitType)
		if of == coupon.Amount {
			n.BenefitValue = form.AmountOf("benefit_value", worth[of], t.Currency)
		} else {
			form.Values.Set("benefit_value", form.Value(worth[of]))
			n.BenefitValue = form.Integer("benefit_value")
		}
		n.BenefitRewardID = form.Filled("reward_ulid")
	}
	if day := form.Date("starts_at"); day != nil {
		n.StartsAt = new(core.StartOfDate(*day, t.TimeZone))
	}
	if day := form.Date("expires_at"); day != nil {
		n.ExpiresAt = new(core.StartOfDate(day.AddDate(0, 0, 1), t.TimeZone)) // the whole day
	}
	n.Malformed = form.Malformed
	return n
}

func (a *Admin) addCoupon(c echo.Context) error {
	return page.Submit(a.Kit, c, page.Submission[coupon.Coupon]{
		Run: func(ctx context.Context, by core.Actor, form *page.Form) (coupon.Coupon, error) {
			return a.Coupons.Add(ctx, by, newCouponOf(form, by.Tenant))
		},
		Refused: func(status int, form *page.Form) error { return a.couponForm(c, status, nil, form) },
		Once:    true,
		To:      pathOfCoupon,
		Done: func(made coupon.Coupon) string {
			return "“" + made.Name + "” was created. Send it to give it to customers."
		},
	})
}

func pathOfCoupon(c coupon.Coupon) string { return couponPath(c.ID) }

func (a *Admin) couponOf(c echo.Context) (coupon.WithCounts, error) {
	id, err := id(c)
	if err != nil {
		return coupon.WithCounts{}, err
	}
	return a.Coupons.Find(c.Request().Context(), page.Actor(c), id)
}

// couponDays are the days of a coupon as its form shows them, "" for none.
func couponDays(c coupon.Coupon, zone *time.Location) (starts, ends string) {
	if c.StartsAt != nil {
		starts = c.StartsAt.In(zone).Format(time.DateOnly)
	}
	if c.ExpiresAt != nil {
		ends = c.ExpiresAt.Add(-time.Millisecond).In(zone).Format(time.DateOnly)
	}
	return starts, ends
}

func (a *Admin) changeCoupon(c echo.Context) error {
	old, err := a.couponOf(c)
	if err != nil {
		return err
	}
	t := page.Actor(c).Tenant
	values := map[string]string{
		"name": old.Name, "description": optional(old.Description), "benefit_type": string(old.BenefitType),
		"max_per_customer": strconv.FormatInt(old.MaxPerCustomer, 10), "max_redemptions": digits(old.MaxRedemptions), "voucher_valid_days": digits(old.VoucherValidDays),
	}
	values["starts_at"], values["expires_at"] = couponDays(old.Coupon, t.TimeZone)
	switch old.BenefitType {
	case coupon.Amount:
	case coupon.Reward:
		values["reward_ulid"] = old.BenefitRewardID.String()
	case coupon.Points, coupon.Stamps, coupon.Percent:
		values[worth[old.BenefitType]] = digits(old.BenefitValue)
	}
	form := page.Blank(values)
	if old.BenefitType == coupon.Amount {
		form.SetAmount(worth[coupon.Amount], *old.BenefitValue, t.Currency)
	}
	return a.couponForm(c, http.StatusOK, &old, form)
}

// digits is a number as it is typed, or "" where there is none.
func digits(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

func (a *Admin) editCoupon(c echo.Context) error {
	old, err := a.couponOf(c)
	if err != nil {
		return err
	}
	return page.Submit(a.Kit, c, page.Submission[coupon.Coupon]{
		Run: func(ctx context.Context, by core.Actor, form *page.Form) (coupon.Coupon, error) {
			return a.Coupons.Edit(ctx, by, old.ID, couponEditOf(form, by.Tenant, old.Coupon))
		},
		Refused: func(status int, form *page.Form) error { return a.couponForm(c, status, &old, form) },
		To:      pathOfCoupon,
		Done:    func(edited coupon.Coupon) string { return "“" + edited.Name + "” was saved." },
	})
}

// couponEditOf is what a form changes of a coupon.
func couponEditOf(form *page.Form, t core.Tenant, old coupon.Coupon) coupon.Edit {
	n := newCouponOf(form, t)
	edit := coupon.Edit{
		Name: touched(form, n.Name, "name"), Description: touched(form, n.Description, "description"),
		MaxPerCustomer: touched(form, n.MaxPerCustomer, "max_per_customer"), MaxRedemptions: touched(form, n.MaxRedemptions, "max_redemptions"),
		VoucherValidDays: touched(form, n.VoucherValidDays, "voucher_valid_days"), Malformed: n.Malformed,
	}
	// Once it was sent, the form does not ask. The fields of other benefits say nothing.
	if n.BenefitType != nil && form.Changed("benefit_type", cmp.Or(worth[coupon.BenefitType(*n.BenefitType)], "reward_ulid")) {
		edit.BenefitType, edit.BenefitValue, edit.BenefitRewardID = typed(n.BenefitType), typed(n.BenefitValue), typed(n.BenefitRewardID)
	}
	// A day that was not touched keeps its instant, which need not be where a day begins.
	starts, ends := couponDays(old, t.TimeZone)
	if form.Value("starts_at") != starts {
		edit.StartsAt = touched(form, n.StartsAt, "starts_at")
	}
	if form.Value("expires_at") != ends {
		edit.ExpiresAt = touched(form, n.ExpiresAt, "expires_at")
	}
	return edit
}

func (a *Admin) setCouponActive(c echo.Context) error {
	id, err := id(c)
	if err != nil {
		return err
	}
	return page.Submit(a.Kit, c, page.Submission[coupon.Coupon]{
		Run: func(ctx context.Context, by core.Actor, form *page.Form) (coupon.Coupon, error) {
			return page.Switch(form, "active", func(on bool) (coupon.Coupon, error) { return a.Coupons.SetActive(ctx, by, id, on) })
		},
		To: page.To[coupon.Coupon](page.Back(c, couponPath(id))),
		Done: func(switched coupon.Coupon) string {
			if switched.Active {
				return "“" + switched.Name + "” is active: its vouchers can be redeemed again."
			}
			return "“" + switched.Name + "” is inactive: its vouchers can't be redeemed."
		},
	})
}

// showCoupon makes four round trips for the page: the session, the coupon, and, where there
// are some, its redeemed vouchers and its sends; three for a fragment, which is the redeemed
// vouchers alone.
func (a *Admin) showCoupon(c echo.Context) error {
	found, err := a.couponOf(c)
	if err != nil {
		return err
	}
	ctx, by, id := c.Request().Context(), page.Actor(c), found.ID
	var vouchers views.RedeemedVouchers
	if part := page.Position(c.QueryParams()); found.Redeemed > 0 || part.Cursor != nil || part.Err() != nil {
		redeemed, err := a.Coupons.ListRedeemed(ctx, by, id, part)
		if err != nil {
			return err
		}
		vouchers.Pager = page.Pager(redeemed, c.Request().URL, page.Count(int64(len(redeemed.Items)), "voucher on this page", "vouchers on this page"), "#vouchers")
		for _, r := range redeemed.Items {
			vouchers.Rows = append(vouchers.Rows, redeemedVoucher(r, by.Tenant.TimeZone))
		}
	}
	if page.IsFragment(c) {
		return a.Render(c, http.StatusOK, views.RedeemedTable(vouchers), nil)
	}
	var sends core.List[coupon.SendDetail]
	if found.Sends > 0 {
		if sends, err = a.Coupons.ListSends(ctx, by, id, page.Position(nil)); err != nil {
			return err
		}
	}
	v := views.CouponDetail{
		Frame: a.frame(c, found.Name, couponsPath, ui.Crumb{Label: "Coupons", Path: couponsPath}),
		Path:  couponPath(id), Name: found.Name, Description: optional(found.Description), Benefit: benefitInWords(found.Benefit, found.RewardName, by.Tenant.Currency),
		State: couponStates[found.State], Validity: validity(found.Coupon, by.Tenant.TimeZone), Active: found.Active, CanEdit: by.Role.Includes(core.Manager),
		Send: sendLink(by, found), Counts: voucherCounts(found), Facts: couponFacts(found, by.Tenant.TimeZone), Vouchers: vouchers,
	}
	for _, s := range sends.Items {
		v.Sends = append(v.Sends, sendRow(s, a.Now(), by.Tenant.TimeZone))
	}
	if sends.Next != nil {
		v.SendsNote = latestSends(sends.Items, found.Sends)
	}
	return a.Render(c, http.StatusOK, views.CouponDetailPage(v), nil)
}

func redeemedVoucher(r coupon.RedeemedVoucher, zone *time.Location) views.RedeemedVoucher {
	v := views.RedeemedVoucher{
		Customer: customerLabel(r.CustomerName), CustomerPath: customerPath(r.CustomerID), When: page.Time(*r.RedeemedAt, zone), Sent: page.Date(r.CreatedAt, zone),
	}
	if r.RedemptionID != nil {
		v.RedemptionPath = redemptionPath(*r.RedemptionID)
	}
	return v
}

func couponFacts(c coupon.WithCounts, zone *time.Location) []ui.Pair {
	valid, left := "Until the coupon's end date", "No limit"
	switch {
	case c.VoucherValidDays != nil:
		valid = page.Count(*c.VoucherValidDays, "day", "days") + " after sending"
	case c.ExpiresAt == nil:
		valid = "No end date"
	}
	if c.MaxRedemptions != nil {
		left = page.Number(max(0, *c.MaxRedemptions-c.RedemptionsCount)) + " of " + page.Number(*c.MaxRedemptions)
	}
	return []ui.Pair{
		{Name: "Voucher validity", Value: valid},
		{Name: "Per customer", Value: page.Count(c.MaxPerCustomer, "voucher", "vouchers")},
		{Name: "Vouchers out", Value: page.Number(c.Pending)},
		{Name: "Redemptions left", Value: left},
		{Name: "Created", Value: page.Date(c.CreatedAt, zone)},
		{Name: "ULID", Value: c.ID.String()},
	}
}
