package customer_test

import (
	"log/slog"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
)

// till records and voids sales of the shop.
type till struct {
	*transaction.Service
	shop
	kind int64
}

func (s shop) till(t *testing.T) till {
	t.Helper()
	sales := transaction.NewService(s.db)
	kind, err := sales.AddType(t.Context(), s.by, transaction.NewType{
		Name: "Purchase", RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 1, UnitCents: 100},
	})
	if err != nil {
		t.Fatal(err)
	}
	return till{sales, s, kind.ID}
}

// sold records a sale.
func (s till) sold(t *testing.T, id core.ID, cents int64) transaction.Transaction {
	t.Helper()
	sale, err := s.Record(t.Context(), s.by, transaction.New{
		CustomerID: new(id.String()), TransactionTypeID: &s.kind, SpendAmountCents: &cents, Source: transaction.POS,
	})
	if err != nil {
		t.Fatal(err)
	}
	return sale
}

func (s till) void(t *testing.T, id core.ID) {
	t.Helper()
	if _, err := s.Void(t.Context(), s.by, id); err != nil {
		t.Fatal(err)
	}
}

// redeemed exchanges points for an espresso.
func (s shop) redeemed(t *testing.T, id core.ID, points int64) core.ID {
	t.Helper()
	rewards := reward.NewService(s.db)
	offered, err := rewards.Add(t.Context(), s.by, reward.New{Name: new("Espresso"), PointsCost: &points})
	if err != nil {
		t.Fatal(err)
	}
	r, err := rewards.Redeem(t.Context(), s.by, reward.RedeemRequest{CustomerID: new(id.String()), RewardID: new(offered.ID.String())})
	if err != nil {
		t.Fatal(err)
	}
	return r.ID
}

// voidRedemption voids a redemption.
func (s shop) voidRedemption(t *testing.T, redemption core.ID) {
	t.Helper()
	if _, err := reward.NewService(s.db).Void(t.Context(), s.by, redemption); err != nil {
		t.Fatal(err)
	}
}

// voucherUsed sends a coupon for points and redeems the voucher.
func (s shop) voucherUsed(t *testing.T, id core.ID, points int64) core.ID {
	t.Helper()
	jobs, err := job.New(s.db, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	coupons := coupon.NewService(s.db, jobs, nil, link.Maker{}, slog.New(slog.DiscardHandler))
	made, err := coupons.Add(t.Context(), s.by, coupon.New{Name: new("Welcome back"), BenefitType: new("points"), BenefitValue: &points})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := coupons.Send(t.Context(), s.by, made.ID, coupon.Send{Segment: coupon.Manual, Customers: []string{id.String()}, FormKey: made.ID.String()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := coupons.Evaluate(t.Context(), s.by, sent.ID); err != nil {
		t.Fatal(err)
	}
	vouchers, err := coupons.ListSent(t.Context(), s.by, sent.ID, core.Page{Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	v, err := coupons.Redeem(t.Context(), s.by, vouchers.Items[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	return v.ID
}
