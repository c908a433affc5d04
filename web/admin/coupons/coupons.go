package coupons

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
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

func (h *Handlers) listCoupons(c echo.Context) error {
	q := forms.Query(c.QueryParams())
	filter := coupon.Filter{State: q.Filled("state")}
	list, err := h.Coupons.ListWithCounts(c.Request().Context(), page.Actor(c), filter, q.Position())
	status, err := q.Status(err)
	if err != nil {
		return err
	}
	v := views.CouponList{
		Frame: h.Frame(c, "Coupons", links.Coupons), Filter: q, List: list.Items,
		Pager:    page.Pager(list, c.Request().URL, "coupon", "coupons", "#coupons"),
		Filtered: filter.State != nil || status != http.StatusOK,
	}
	return h.Render(c, status, views.CouponListPage(v), views.CouponTable(v))
}

func (h *Handlers) newCoupon(c echo.Context) error {
	return h.couponForm(c, http.StatusOK, nil, forms.Blank(map[string]string{"benefit_type": "percent", "max_per_customer": "1"}))
}

// couponForm shows the form of a new coupon, or of an existing one.
func (h *Handlers) couponForm(c echo.Context, status int, old *coupon.WithCounts, form *forms.Form) error {
	v := views.CouponForm{
		Frame: h.Frame(c, "New coupon", links.Coupons, ui.Crumb{Label: "Coupons", Path: links.Coupons}),
		Form:  form, FormKey: h.NewFormKey(), Old: old,
	}
	if old != nil {
		v.Title, v.Crumbs = "Edit coupon", append(v.Crumbs, ui.Crumb{Label: old.Name, Path: links.Coupon(old.ID)})
	}
	if !v.Sent() {
		var err error
		if v.Rewards, err = h.rewardOptions(c, old); err != nil {
			return err
		}
	}
	var err error
	if v.Levels, err = h.Levels.Setup(c.Request().Context(), page.Actor(c)); err != nil {
		return err
	}
	return h.Render(c, status, views.CouponFormPage(v), nil)
}

// rewardOptions are the active rewards, and the one that a coupon already gives.
func (h *Handlers) rewardOptions(c echo.Context, of *coupon.WithCounts) (options []ui.Option, err error) {
	names, err := h.Rewards.Choices(c.Request().Context(), page.Actor(c))
	for i, option := range panelviews.RewardOptions(names) {
		current := of != nil && core.OrZero(of.BenefitRewardID) == names[i].ID
		if names[i].Active || current {
			options = append(options, option)
		}
	}
	return options, err
}

// valueFields are the page's fields for the value of each benefit. Core calls all of them
// benefit_value.
var valueFields = map[coupon.BenefitType]string{coupon.Points: "points", coupon.Stamps: "stamps", coupon.Percent: "percent", coupon.Amount: "amount_cents"}

// newCouponOf is the coupon that a form describes.
func newCouponOf(form *forms.Form, t core.Tenant) coupon.New {
	n := coupon.New{
		Name: form.Value("name"), Description: form.Value("description"),
		BenefitType: form.Value("benefit_type"), MaxPerCustomer: form.Integer("max_per_customer"), MaxRedemptions: form.Integer("max_redemptions"),
		VoucherValidDays: form.Integer("voucher_valid_days"), MinLevelID: form.Integer("min_level_id"),
	}
	if n.BenefitType != "" {
		kind := coupon.BenefitType(n.BenefitType)
		if kind == coupon.Amount {
			n.BenefitValue = form.AmountOf("benefit_value", valueFields[kind], t.Currency)
		} else {
			form.Values.Set("benefit_value", form.Value(valueFields[kind]))
			n.BenefitValue = form.Integer("benefit_value")
		}
		if ulid := form.Filled("reward_ulid"); ulid != nil {
			id, _ := core.ParseID(*ulid) // the zero ID is refused as unknown
			n.BenefitRewardID = &id
		}
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
		RunOnce: func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[coupon.Coupon]) (core.Reply[coupon.Coupon], error) {
			return h.Coupons.Add(ctx, by, newCouponOf(form, by.Tenant), once)
		},
		Refused: func(status int, form *forms.Form) error { return h.couponForm(c, status, nil, form) },
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
		"max_per_customer": strconv.FormatInt(old.MaxPerCustomer, 10), "max_redemptions": digits(old.MaxRedemptions), "voucher_valid_days": digits(old.VoucherValidDays),
		"min_level_id": digits(old.MinLevelID),
	}
	values["starts_at"], values["expires_at"] = couponDays(old.Coupon, t.TimeZone)
	switch old.BenefitType {
	case coupon.Amount:
	case coupon.Reward:
		values["reward_ulid"] = old.BenefitRewardID.String()
	case coupon.Points, coupon.Stamps, coupon.Percent:
		values[valueFields[old.BenefitType]] = digits(old.BenefitValue)
	}
	form := forms.Blank(values)
	if old.BenefitType == coupon.Amount {
		form.SetAmount(valueFields[coupon.Amount], *old.BenefitValue, t.Currency)
	}
	return h.couponForm(c, http.StatusOK, &old, form)
}

// digits is a number as a form field has it; "" for nil.
func digits(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
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
		Name: panel.IfChanged(form, &n.Name, "name"), Description: panel.IfChanged(form, &n.Description, "description"),
		MaxPerCustomer: panel.IfChanged(form, n.MaxPerCustomer, "max_per_customer"), MaxRedemptions: panel.IfChanged(form, n.MaxRedemptions, "max_redemptions"),
		VoucherValidDays: panel.IfChanged(form, n.VoucherValidDays, "voucher_valid_days"), MinLevelID: panel.IfChanged(form, n.MinLevelID, "min_level_id"),
		Malformed: n.Malformed,
	}
	// A coupon that was sent has no benefit fields, and those of other benefits don't count.
	if n.BenefitType != "" && form.Changed("benefit_type", cmp.Or(valueFields[coupon.BenefitType(n.BenefitType)], "reward_ulid")) {
		edit.BenefitType, edit.BenefitValue, edit.BenefitRewardID = panel.SetTo(&n.BenefitType), panel.SetTo(n.BenefitValue), panel.SetTo(n.BenefitRewardID)
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
	var redeemed core.List[coupon.RedeemedVoucher]
	if part := forms.Position(c.QueryParams()); found.Redeemed > 0 || part.Cursor != nil || part.Err() != nil {
		if redeemed, err = h.Coupons.ListRedeemed(ctx, by, id, part); err != nil {
			return err
		}
	}
	pager := page.Pager(redeemed, c.Request().URL, "voucher", "vouchers", "#vouchers")
	if page.IsFragment(c) {
		return h.Render(c, http.StatusOK, views.RedeemedTable(h.Reader(c), redeemed.Items, pager), nil)
	}
	v := views.CouponDetail{
		Frame:  h.Frame(c, found.Name, links.Coupons, ui.Crumb{Label: "Coupons", Path: links.Coupons}),
		Coupon: found, Redeemed: redeemed.Items, Pager: pager,
	}
	if found.MinLevelID != nil {
		levels, err := h.Levels.Setup(ctx, by)
		if err != nil {
			return err
		}
		v.Warning = panelviews.LevelWarning(levels, found.MinLevelID, "use its vouchers")
	}
	if found.Sends > 0 {
		v.Exports = panel.ExportsOf(c, links.CouponVouchers(id))
		if v.Sends, err = h.Coupons.ListSends(ctx, by, id, forms.Position(nil)); err != nil {
			return err
		}
	}
	return h.Render(c, http.StatusOK, views.CouponDetailPage(v), nil)
}
