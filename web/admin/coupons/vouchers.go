package coupons

import (
	"context"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/ledger"
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

func (h *Handlers) voucherRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Vouchers, route.Cashiers, panel.WithEmptyForm(h.voucherSearch)),
		route.Post(links.Vouchers, route.Cashiers, h.findVoucher),
		route.Get(links.Vouchers+"/:ulid", route.Cashiers, h.showVoucher),
		route.Get(links.Vouchers+"/:ulid/redeem", route.Cashiers, h.askRedeemVoucher),
		route.Post(links.Vouchers+"/:ulid/redeem", route.Cashiers, h.redeemVoucher),
	}
}

func (h *Handlers) voucherSearch(c echo.Context, status int, form *forms.Form) error {
	v := views.VoucherSearch{Frame: h.Frame(c, "Redeem voucher", links.Coupons, ui.Crumb{Label: "Coupons", Path: links.Coupons}), Form: form}
	return h.Render(c, status, views.VoucherSearchPage(v), nil)
}

var errNoVoucher = core.Invalid(core.Fields{"code": {{Rule: "unknown_voucher"}}})

// findVoucher redirects to the voucher that was typed or scanned. It is a POST because links are
// secrets, which must stay out of the browser's history.
func (h *Handlers) findVoucher(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	found, err := h.TypedVoucher(c, form.Value("code"))
	if errors.Is(err, core.ErrNotFound) {
		err = errNoVoucher
	}
	if form.Refused(err) {
		return h.voucherSearch(c, http.StatusUnprocessableEntity, form)
	}
	if err != nil {
		return err
	}
	return h.Redirect(c, links.Voucher(found.ID))
}

func (h *Handlers) voucherOf(c echo.Context) (coupon.ShownVoucher, error) {
	id, err := panel.PathID(c)
	if err != nil {
		return coupon.ShownVoucher{}, err
	}
	return h.Coupons.FindVoucher(c.Request().Context(), page.Actor(c), id)
}

func (h *Handlers) showVoucher(c echo.Context) error {
	found, err := h.voucherOf(c)
	if err != nil {
		return err
	}
	by := page.Actor(c)
	v := views.VoucherDetail{
		Frame: h.Frame(c, "Voucher of "+format.StoredName(found.CustomerName), links.Coupons,
			ui.Crumb{Label: "Coupons", Path: links.Coupons}, ui.Crumb{Label: "Redeem voucher", Path: links.Vouchers}),
		Voucher: found,
	}
	if found.RedemptionID != nil {
		d, err := h.Rewards.RedemptionDetail(c.Request().Context(), by, *found.RedemptionID)
		if err != nil {
			return err
		}
		v.Redemption = &d.NamedRedemption
	}
	if by.Role.Includes(core.Manager) {
		token, err := h.Coupons.VoucherToken(by.Tenant.ID, found)
		if err != nil {
			return err
		}
		v.Link = "https://" + c.Request().Host + "/v/" + token
	}
	return h.Render(c, http.StatusOK, views.VoucherDetailPage(v), nil)
}

func (h *Handlers) askRedeemVoucher(c echo.Context) error {
	found, err := h.voucherOf(c)
	if err != nil {
		return err
	}
	return h.confirmRedeemVoucher(c, http.StatusOK, found, found.Refusal())
}

// confirmRedeemVoucher asks for confirmation, since redeeming can't be undone, or says why
// the voucher can't be redeemed.
func (h *Handlers) confirmRedeemVoucher(c echo.Context, status int, found coupon.ShownVoucher, refusal error) error {
	name, path := format.StoredName(found.CustomerName), links.Voucher(found.ID)
	v := panelviews.Confirm{
		Frame: h.Frame(c, "Redeem this voucher?", links.Coupons,
			ui.Crumb{Label: "Coupons", Path: links.Coupons}, ui.Crumb{Label: "Voucher of " + name, Path: path}),
		Confirm: ui.Confirm{
			Action: path + "/redeem", Cancel: path, Leave: "Back to voucher",
		},
	}
	if refusal != nil {
		v.Problem = &ui.Problem{Sentence: views.Refusal(h.Reader(c), found, forms.RefusalOf(refusal))}
		return h.Confirm(c, status, v)
	}
	v.Button = "Redeem"
	v.Words = []string{views.Instruction(h.Reader(c), found) + ".", "For " + name + ". A redeemed voucher can't be used again."}
	v.Hidden = []ui.Pair{{Name: page.FormKey, Value: h.NewFormKey()}}
	return h.Confirm(c, status, v)
}

func (h *Handlers) redeemVoucher(c echo.Context) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	var words string
	var refusal error
	return page.Submit(h.Kit, c, page.Submission[coupon.Voucher]{
		RunOnce: func(ctx context.Context, by core.Actor, _ *forms.Form, once *core.Once[coupon.Voucher]) (core.Reply[coupon.Voucher], error) {
			redeemed, err := h.Coupons.Redeem(ctx, by, id, once)
			if refusal = err; err == nil {
				words, err = h.redeemedWords(c, id)
			}
			return redeemed, err
		},
		Refused: func(status int, _ *forms.Form) error {
			found, err := h.voucherOf(c)
			if err != nil {
				return err
			}
			return h.confirmRedeemVoucher(c, status, found, refusal)
		},
		To:   page.To[coupon.Voucher](links.Voucher(id)),
		Done: func(coupon.Voucher) string { return words },
	})
}

// redeemedWords says what redeeming a voucher changed, or what the cashier has to do.
func (h *Handlers) redeemedWords(c echo.Context, id core.ID) (string, error) {
	ctx, by := c.Request().Context(), page.Actor(c)
	v, err := h.Coupons.FindVoucher(ctx, by, id)
	if err != nil {
		return "", err
	}
	switch v.BenefitType {
	case coupon.Points, coupon.Stamps:
		who, err := h.Customers.Find(ctx, by, v.CustomerID)
		unit, balance := ledger.Points, who.PointsBalance
		if v.BenefitType == coupon.Stamps {
			unit, balance = ledger.Stamps, who.StampsBalance
		}
		return "Redeemed. " + format.Units(*v.BenefitValue, unit) + " added, the balance is " + format.Number(balance) + ".", err
	case coupon.Percent, coupon.Amount, coupon.Reward:
	}
	return "Redeemed. " + views.Instruction(h.Reader(c), v) + ".", nil
}
