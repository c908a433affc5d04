// Package coupons is the HTML of the pages about coupons, sends and vouchers.
package coupons

import (
	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/level"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// CouponList is a page of the coupons.
type CouponList struct {
	panel.Frame
	Filter   ui.Form
	Filtered bool
	List     []coupon.WithCounts
	Pager    ui.Pager
}

// CouponForm creates or edits a coupon.
type CouponForm struct {
	panel.Frame
	Form    ui.Form
	FormKey string
	Old     *coupon.WithCounts // nil: a new one
	Rewards []ui.Option        // that its vouchers can give
	Levels  level.Setup
}

// level is the field for the lowest level. Once the coupon was sent, its level can only be removed.
func (v CouponForm) level() ui.Field {
	var chosen *int64
	if v.Old != nil {
		chosen = v.Old.MinLevelID
	}
	if v.Sent() {
		of := v.Levels
		if of.Active = false; chosen == nil {
			of.Levels = nil
		}
		field := panel.LevelField(v.Form, of, chosen)
		field.Help = "Can only be removed after sending"
		return field
	}
	return panel.LevelField(v.Form, v.Levels, chosen)
}

// Sent reports whether the coupon was sent before. Its benefit is fixed then.
func (v CouponForm) Sent() bool { return v.Old != nil && v.Old.Sends > 0 }

// value completes the field for the value of one of the benefits. Core calls all of them benefit_value: what is wrong
// belongs to the field of the chosen one.
func (v CouponForm) value(kind coupon.BenefitType, name string, field ui.Field) ui.Field {
	known := ""
	if v.Form.Value("benefit_type") == string(kind) {
		known = "benefit_value"
	}
	return v.Form.FieldOf(known, name, field)
}

// CouponDetail is the page of a coupon.
type CouponDetail struct {
	panel.Frame
	Coupon   coupon.WithCounts
	Sends    core.List[coupon.SendDetail]
	Redeemed []coupon.RedeemedVoucher
	Pager    ui.Pager       // of the redeemed vouchers
	Exports  *panel.Exports // nil: no vouchers, or not for this role
	Warning  string         // what has become of the level that it asks for; "": customers can rise to it
}

// offersSend reports whether the reader may send the coupon, and it can be sent.
func (v CouponDetail) offersSend() bool { return v.Coupon.State.CanSend() && v.May(core.Manager) }
