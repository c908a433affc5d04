package sample

import (
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/loyalty"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
)

// Shop is a business, as one of its people sees it at one time. Its methods call the use cases, and end the run on an
// error.
type Shop struct {
	Run
	*loyalty.Services
	DB *db.DB
	By core.Actor
}

// Check ends the run on an error.
func (s Shop) Check(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// Must ends the run on the error of a call that has a result which isn't needed.
func (s Shop) Must(_ any, err error) {
	s.Helper()
	s.Check(err)
}

// AddCustomer adds a customer.
func (s Shop) AddCustomer(n customer.New) customer.Customer {
	s.Helper()
	added, err := core.Result(s.Customers.Upsert(s.Context(), s.By, n, nil))
	s.Check(err)
	return added.Customer
}

// Points adds a transaction type that gives a point for each full amount of cents.
func (s Shop) Points(cents int64) transaction.Type {
	s.Helper()
	return s.Type("Purchase", ledger.Points, transaction.Rule{PointsPerUnit: 1, UnitCents: cents})
}

// Stamps adds a transaction type that gives a stamp for each sale.
func (s Shop) Stamps() transaction.Type {
	s.Helper()
	return s.Type("Coffee card", ledger.Stamps, transaction.Rule{StampsPerTransaction: 1})
}

// Type adds a transaction type.
func (s Shop) Type(name string, unit ledger.Unit, rule transaction.Rule) transaction.Type {
	s.Helper()
	kind, err := core.Result(s.Transactions.AddType(s.Context(), s.By, transaction.NewType{Name: name, RuleType: unit, Rule: rule}, nil))
	s.Check(err)
	return kind
}

// Sale records a sale to a customer at the till.
func (s Shop) Sale(to core.ID, kind transaction.Type, cents int64) transaction.Transaction {
	s.Helper()
	sale, err := core.Result(s.Transactions.Record(s.Context(), s.By, transaction.Sale{
		CustomerID: to, TransactionTypeID: kind.ID, SpendAmountCents: cents, Source: transaction.POS,
	}, nil, nil))
	s.Check(err)
	return sale
}

// AddReward adds a reward.
func (s Shop) AddReward(n reward.New) core.ID {
	s.Helper()
	added, err := core.Result(s.Rewards.Add(s.Context(), s.By, n, nil))
	s.Check(err)
	return added.ID
}

// Redeem exchanges a customer's points or stamps for a reward.
func (s Shop) Redeem(customerID, rewardID core.ID) reward.Redemption {
	s.Helper()
	redemption, err := core.Result(s.Rewards.Redeem(s.Context(), s.By, reward.RedeemRequest{CustomerID: customerID, RewardID: rewardID}, nil, nil))
	s.Check(err)
	return redemption
}

// Coupon adds a coupon.
func (s Shop) Coupon(n coupon.New) coupon.Coupon {
	s.Helper()
	added, err := core.Result(s.Coupons.Add(s.Context(), s.By, n, nil))
	s.Check(err)
	return added
}

// Send sends a coupon and creates its vouchers.
func (s Shop) Send(id core.ID, send coupon.Send) coupon.Sending {
	s.Helper()
	if send.FormKey == "" {
		send.FormKey = core.NewID(s.DB.Now()).String()
	}
	sent, err := s.Coupons.Send(s.Context(), s.By, id, send)
	s.Check(err)
	sent, err = s.Coupons.Evaluate(s.Context(), s.By, sent.ID)
	s.Check(err)
	return sent
}

// RedeemVoucher redeems a voucher.
func (s Shop) RedeemVoucher(id core.ID) coupon.Voucher {
	s.Helper()
	redeemed, err := core.Result(s.Coupons.Redeem(s.Context(), s.By, id, nil))
	s.Check(err)
	return redeemed
}

// SetExpiry sets how a unit ends, for sales and everything else from then on.
func (s *Shop) SetExpiry(unit ledger.Unit, e core.Expiry, opening *time.Time) {
	s.Helper()
	var err error
	s.By, err = SetExpiry(s.Context(), s.DB, s.By, unit, e, opening)
	s.Check(err)
}

// ExpireDue posts everything that has ended, as a night does.
func (s Shop) ExpireDue() {
	s.Helper()
	s.Must(ExpireDue(s.Context(), s.DB, s.By))
}
