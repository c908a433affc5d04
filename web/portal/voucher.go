package portal

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/portal"
)

const (
	redeemVoucher = "Redeem this voucher"
	limitReached  = "All redemptions of this offer have been used."
	afterRising   = ". You can use it as soon as you have that level." // after the level
	offerPaused   = " has paused this offer."                          // after the name of the business
)

// showVoucher shows a voucher's value and state and, if it is valid, the code for the till.
func (p *Portal) showVoucher(c echo.Context, f front) error {
	found, err := p.Coupons.OpenVoucher(c.Request().Context(), f.Tenant, c.Param("token"))
	if err != nil {
		return err
	}
	v, err := p.voucher(c.Request().Context(), f, found)
	if err != nil {
		return err
	}
	label := redeemVoucher
	if found.Refusal() != nil {
		label = "Open in panel"
	}
	if v.Staff, err = p.staff(c, f.Slug, links.Voucher(found.ID), label); err != nil {
		return err
	}
	return render(c, http.StatusOK, views.VoucherPage(v))
}

func (p *Portal) voucher(ctx context.Context, f front, found coupon.ShownVoucher) (views.Voucher, error) {
	worth := format.VoucherValueOf(found.Benefit, found.RewardName, f.Currency)
	v := views.Voucher{
		Frame:  p.frame(f, "Voucher: "+worth.String()),
		Symbol: worth.Symbol, Value: worth.Value, What: worth.What,
		Customer: found.CustomerName, Coupon: found.CouponName, Code: format.CodeGroups(found.ID),
	}
	if !found.CustomerActive {
		v.Customer = ""
	}
	if found.Description != nil {
		v.Description = *found.Description
	}
	if found.ExpiresAt != nil {
		v.Until = format.LastDay(*found.ExpiresAt, f.TimeZone)
	}
	refusal := found.Refusal()
	switch {
	case refusal == nil:
		v.State = views.Valid
	case errors.Is(refusal, coupon.ErrAlreadyRedeemed):
		v.State, v.Ended = views.Used, "Used on "+format.Time(*found.RedeemedAt, f.TimeZone)
		return v, nil
	case errors.Is(refusal, coupon.ErrVoucherExpired):
		v.State, v.Ended = views.Expired, "Expired on "+v.Until
		return v, nil
	case errors.Is(refusal, coupon.ErrInactive):
		v.State, v.Words = views.Unavailable, f.Name+offerPaused
	case found.Lacking != nil:
		v.State, v.Words = views.Unavailable, format.ForLevel(found.Lacking.Name)+afterRising
	case errors.Is(refusal, coupon.ErrCapReached):
		v.State, v.Words = views.Unavailable, limitReached
	default:
		v.State, v.Words = views.Unavailable, f.Name+offerPaused
	}
	if found.ExpiresAt != nil {
		v.Left = daysLeft(p.Now(), *found.ExpiresAt, f.TimeZone)
	}
	if v.State != views.Valid {
		return v, nil
	}
	token, err := p.Coupons.VoucherToken(f.ID, found)
	if err != nil {
		return views.Voucher{}, err
	}
	v.QR, err = p.qr(ctx, f, p.Names.Tenant(f.Slug)+"/v/"+token, "QR code of this voucher")
	return v, err
}

func daysLeft(now, end time.Time, zone *time.Location) string {
	switch days := format.DaysLeft(now, end, zone); days {
	case 0:
		return "Last day"
	case 1:
		return "1 day left"
	default:
		return strconv.Itoa(days) + " days left"
	}
}

// staff links to the panel for staff who scanned a customer's code with their phone. It reads the
// session without extending it.
func (p *Portal) staff(c echo.Context, slug, path, label string) (*views.Staff, error) {
	person, signedIn, err := p.person(c, slug)
	if err != nil || !signedIn {
		return nil, err
	}
	return &views.Staff{Name: person.Name, Path: path, Link: label}, nil
}

// person is the person of the staff who is signed in.
func (p *Portal) person(c echo.Context, slug string) (person core.Actor, signedIn bool, err error) {
	cookie, err := c.Cookie(auth.SessionCookie)
	if err != nil {
		return person, false, nil //nolint:nilerr // not signed in
	}
	person, err = p.Auth.Actor(c.Request().Context(), cookie.Value, slug)
	if errors.Is(err, core.ErrUnauthenticated) {
		return person, false, nil // the session has ended
	}
	return person, err == nil, err
}
