package format

import (
	"cmp"
	"strings"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
)

// CustomerName is a customer's full name, or "Erased customer".
func CustomerName(c customer.Customer) string {
	if c.Erased {
		return "Erased customer"
	}
	return strings.TrimSpace(c.FirstName + " " + c.LastName)
}

// StoredName is the name of a customer that is stored as one text. An erased customer's first and last name are both
// "Erased".
func StoredName(name string) string {
	if name == "Erased Erased" {
		return "Erased"
	}
	return name
}

// Phone is a customer's phone number, or says that there is none.
func Phone(phone string) string { return cmp.Or(phone, "No phone number") }

// Contact is what a customer is told apart by in one line: their phone number, or else their e-mail address.
func Contact(phone string, email *string) string {
	return cmp.Or(phone, core.OrZero(email), Phone(phone))
}

// Cost is what a reward is exchanged for: 250 points.
func Cost(r reward.Reward) string {
	unit, price := r.Price()
	return Units(price, unit)
}

// Spent is what a redemption took from the balance: 250 points.
func Spent(r reward.Redemption) string {
	if r.StampsSpent > 0 {
		return Units(r.StampsSpent, "stamps")
	}
	return Units(r.PointsSpent, "points")
}

// PaidWith is what a reward was redeemed for: 250 points, or a voucher.
func PaidWith(r reward.NamedRedemption) string {
	if r.CouponName != nil {
		return "Voucher: " + *r.CouponName
	}
	return Spent(r.Redemption)
}

// Awarded is what a sale gave: 24 points.
func Awarded(t transaction.Transaction) string {
	if t.StampsAwarded != nil {
		return Units(*t.StampsAwarded, "stamps")
	}
	return Units(*t.PointsAwarded, "points")
}

// Benefit is the benefit of a coupon: 20% off, 50 points, Reward: Free espresso.
func (r Reader) Benefit(b coupon.Benefit, rewardName *string) string {
	if b.BenefitType == coupon.Reward {
		return "Reward: " + core.OrZero(rewardName)
	}
	return r.Value(b, rewardName)
}

// Value is the benefit of a voucher: 20% off, or the name of a reward.
func (r Reader) Value(b coupon.Benefit, rewardName *string) string {
	switch b.BenefitType {
	case coupon.Points:
		return Units(*b.BenefitValue, "points")
	case coupon.Stamps:
		return Units(*b.BenefitValue, "stamps")
	case coupon.Percent:
		return Number(*b.BenefitValue) + "% off"
	case coupon.Amount:
		return r.Money(*b.BenefitValue) + " off"
	case coupon.Reward:
	}
	return core.OrZero(rewardName)
}

// Audience is the customers of a list of Reports › Customers.
func Audience(a daily.Audience) string {
	if l := a.Lapsed(); l > 0 {
		return "No visit for " + Number(int64(l)) + " days"
	}
	return groupNames[daily.Group(a)]
}

var groupNames = map[daily.Group]string{
	daily.Best: "Best customers", daily.Regulars: "Regulars", daily.Promising: "Promising", daily.New: "New", daily.AtRisk: "At risk", daily.Quiet: "Gone quiet",
}
