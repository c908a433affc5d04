package verify_test

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
)

// model is the expected behaviour of core, in memory and without SQL: a method for each rule, which returns
// the expected result. IDs and times are core's own.
type model struct {
	zone        *time.Location
	customers   shelf[customer.Customer]
	further     map[string]core.ID // the customers of further keys
	types       map[int64]*transaction.Type
	sales       shelf[transaction.Transaction]
	rewards     shelf[reward.Reward]
	redemptions shelf[reward.Redemption]
	coupons     shelf[coupon.Coupon]
	sends       shelf[send]
	vouchers    shelf[coupon.Voucher]

	now    func() time.Time
	rules  map[ledger.Unit]core.Expiry
	purses map[purseOf]*purse
	spent  map[core.ID]lots // of redemptions
}

type send struct {
	coupon.Sending
	coupon.Send
}

// shelf has the records of one kind in the order of creation.
type shelf[T any] struct {
	ids  []core.ID
	byID map[core.ID]*T
}

func (s *shelf[T]) put(id core.ID, record T) {
	if s.byID == nil {
		s.byID = map[core.ID]*T{}
	}
	s.ids = append(s.ids, id)
	s.byID[id] = &record
}

func (s *shelf[T]) remove(id core.ID) {
	s.ids = slices.DeleteFunc(slices.Clone(s.ids), func(other core.ID) bool { return other == id })
	delete(s.byID, id)
}

func (s *shelf[T]) each(yield func(core.ID, *T) bool) {
	for _, id := range s.ids {
		if !yield(id, s.byID[id]) {
			return
		}
	}
}

// newestFirst returns a filtered list.
func (s *shelf[T]) newestFirst(at func(*T) time.Time, wanted func(*T) bool) (records []T) {
	ids := slices.Clone(s.ids)
	slices.SortFunc(ids, func(a, b core.ID) int {
		return cmp.Or(at(s.byID[b]).Compare(at(s.byID[a])), strings.Compare(b.String(), a.String()))
	})
	for _, id := range ids {
		if wanted(s.byID[id]) {
			records = append(records, *s.byID[id])
		}
	}
	return records
}

func required(f core.Fields, field string) {
	f.Add(field, core.Required)
}

func refusal(f core.Fields) error {
	if len(f) == 0 {
		return nil
	}
	return core.Invalid(f)
}

func blank(s *string) bool { return s == nil || strings.TrimSpace(*s) == "" }

// phoneKey normalises Swedish numbers.
func phoneKey(phone string) string {
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, phone)
	if rest, abroad := strings.CutPrefix(digits, "46"); abroad {
		return "0" + rest
	}
	return digits
}

func checkPhone(f core.Fields, phone *string) {
	if blank(phone) {
		required(f, "phone")
	} else if phoneKey(*phone) == "" {
		f.Add("phone", core.MustBePhone)
	}
}

func checkEmail(f core.Fields, email *string) {
	if !blank(email) && !strings.Contains(*email, "@") {
		f.Add("email", core.MustBeEmail)
	}
}

func samePhone(c *customer.Customer, phone string) bool { return phoneKey(c.Phone) == phoneKey(phone) }

// furtherKeys returns what a phone number and an e-mail address are called among the further keys, by their fields.
func furtherKeys(phone string, email *string) map[string]string {
	keys := map[string]string{"phone": "phone " + phoneKey(phone)}
	if email != nil {
		keys["email"] = "email " + strings.ToLower(*email)
	}
	return keys
}

func sameEmail(c *customer.Customer, email *string) bool {
	return c.Email != nil && email != nil && strings.EqualFold(*c.Email, *email)
}

// "Upsert finds by phone first, then by e-mail, and changes nothing."
func (m *model) upsert(n customer.New, id core.ID, at time.Time) (customer.Upserted, error) {
	f := core.Fields{}
	if blank(&n.FirstName) {
		required(f, "first_name")
	}
	checkPhone(f, &n.Phone)
	checkEmail(f, optional(n.Email))
	if err := refusal(f); err != nil {
		return customer.Upserted{}, err
	}
	for _, c := range m.customers.each {
		if samePhone(c, n.Phone) {
			return customer.Upserted{Customer: *c}, nil
		}
	}
	if who, found := m.further[furtherKeys(n.Phone, nil)["phone"]]; found {
		return customer.Upserted{Customer: *m.customers.byID[who]}, nil
	}
	for _, c := range m.customers.each {
		if sameEmail(c, optional(n.Email)) {
			return customer.Upserted{Customer: *c}, nil
		}
	}
	if who, found := m.further[furtherKeys("", &n.Email)["email"]]; found {
		return customer.Upserted{Customer: *m.customers.byID[who]}, nil
	}
	made := customer.Customer{
		ID: id, FirstName: n.FirstName, LastName: n.LastName, Phone: n.Phone, Email: optional(n.Email), Status: customer.Active,
		CreatedAt: at, UpdatedAt: at, Tags: []string{},
	}
	m.customers.put(id, made)
	return customer.Upserted{Customer: made, Created: true}, nil
}

// "PATCH: absent keeps, email: null clears, other nulls are 422."
func (m *model) edit(id core.ID, e customer.Edit, at time.Time) (customer.Customer, error) {
	c := m.customers.byID[id]
	if c == nil {
		return customer.Customer{}, core.ErrNotFound
	}
	f, edited := core.Fields{}, *c
	if e.Phone.Set {
		if checkPhone(f, e.Phone.Value); len(f) == 0 {
			edited.Phone = *e.Phone.Value
		}
	}
	if e.Email.Set {
		checkEmail(f, e.Email.Value)
		edited.Email = e.Email.Value
	}
	if e.Status.Set {
		switch edited.Status = customer.Status(*e.Status.Value); edited.Status {
		case customer.Active, customer.Inactive:
		default:
			f.Add("status", core.InvalidChoice)
		}
	}
	if err := refusal(f); err != nil {
		return customer.Customer{}, err
	}
	for field, key := range furtherKeys(edited.Phone, edited.Email) {
		if who, taken := m.further[key]; taken && who != id {
			of := m.customers.byID[who]
			f.Add(field, core.Violation{Rule: "taken_by", Other: of.FirstName + " " + of.LastName, Records: [2]core.ID{who}})
		}
	}
	if err := refusal(f); err != nil {
		return customer.Customer{}, err
	}
	for other, o := range m.customers.each {
		if other != id && samePhone(o, edited.Phone) {
			return customer.Customer{}, core.Invalid(core.Fields{"phone": {core.Duplicate}})
		}
	}
	for other, o := range m.customers.each {
		if other != id && sameEmail(o, edited.Email) {
			return customer.Customer{}, core.Invalid(core.Fields{"email": {core.Duplicate}})
		}
	}
	for _, key := range furtherKeys(edited.Phone, edited.Email) {
		delete(m.further, key)
	}
	if !samePhone(c, edited.Phone) || !sameEmail(c, edited.Email) && (c.Email != nil || edited.Email != nil) {
		edited.LinkVersion++ // "so does any change of a phone number or e-mail address"
	}
	edited.UpdatedAt = at
	*c = edited
	return edited, nil
}

// "Both balances are added; vouchers, redemptions and sales move; an empty e-mail address is taken over." An overflow
// can't happen with the amounts of a play.
func (m *model) merge(id, duplicate core.ID, at time.Time) (customer.Customer, error) {
	kept, merged := m.customers.byID[id], m.customers.byID[duplicate]
	if kept == nil {
		return customer.Customer{}, core.ErrNotFound
	}
	if merged == nil || merged == kept {
		return customer.Customer{}, core.Invalid(core.Fields{"customer_ulid": {core.InvalidChoice}})
	}
	if m.further == nil {
		m.further = map[string]core.ID{}
	}
	for key, who := range m.further {
		if who == duplicate {
			m.further[key] = id
		}
	}
	for field, key := range furtherKeys(merged.Phone, merged.Email) {
		if field == "phone" || kept.Email != nil {
			m.further[key] = id
		}
	}
	m.settle(id)
	m.settle(duplicate)
	m.pour(duplicate, id)
	kept.PointsBalance += merged.PointsBalance
	kept.StampsBalance += merged.StampsBalance
	if kept.Email == nil {
		kept.Email = merged.Email
	}
	kept.UpdatedAt = at
	for _, t := range m.sales.each {
		if t.CustomerID == duplicate {
			t.CustomerID = id
		}
	}
	for _, r := range m.redemptions.each {
		if r.CustomerID == duplicate {
			r.CustomerID = id
		}
	}
	for _, v := range m.vouchers.each {
		if v.CustomerID == duplicate {
			v.CustomerID = id
		}
	}
	for _, s := range m.sends.each {
		s.Customers = slices.Clone(s.Customers)
		for i, member := range s.Customers {
			if member == duplicate.String() {
				s.Customers[i] = id.String()
			}
		}
	}
	m.customers.remove(duplicate)
	return *kept, nil
}

// post changes a balance. Only a void may take it below zero, and an overflow is refused.
func (m *model) post(who core.ID, unit ledger.Unit, amount int64, void bool) error {
	c := m.customers.byID[who]
	balance, too := &c.PointsBalance, ledger.ErrInsufficientPoints
	if unit == ledger.Stamps {
		balance, too = &c.StampsBalance, ledger.ErrInsufficientStamps
	}
	switch {
	case amount > 0 && *balance > math.MaxInt64-amount:
		return ledger.ErrTooLarge
	case amount < 0 && *balance+amount < 0 && !void:
		return too
	}
	*balance += amount
	return nil
}

// adjust adds an adjustment. "One award is at most 10^12."
func (m *model) adjust(who core.ID, unit ledger.Unit, amount int64) error {
	if amount > ledger.MaxAward || amount < -ledger.MaxAward {
		return ledger.ErrTooLarge
	}
	if amount > 0 {
		return m.earn(who, unit, amount, m.today())
	}
	return m.pay(who, unit, -amount)
}

// pay takes an amount, if there is enough after what is due has ended.
func (m *model) pay(who core.ID, unit ledger.Unit, amount int64) error {
	restore := m.keep(who)
	m.settle(who)
	if err := m.post(who, unit, -amount, false); err != nil {
		restore()
		return err
	}
	m.purse(who, unit).spend(amount)
	return nil
}

func (m *model) active(who core.ID) bool {
	c := m.customers.byID[who]
	return c != nil && c.Status == customer.Active
}

// "points = points_per_unit × floor(spend ÷ unit_cents); stamps =
// stamps_per_transaction; both with min_spend_cents … and an optional cap."
func awardBy(k *transaction.Type, spend int64) int64 {
	earned := k.StampsPerTransaction
	if k.RuleType == ledger.Points {
		earned = k.PointsPerUnit * (spend / k.UnitCents)
	}
	if spend < k.MinSpendCents {
		earned = 0
	}
	if k.MaxAward != nil && earned > *k.MaxAward {
		earned = *k.MaxAward
	}
	return earned
}

func (m *model) record(n transaction.Sale, who core.ID, id core.ID, at time.Time) (transaction.Transaction, error) {
	f := core.Fields{}
	if m.customers.byID[who] != nil && !m.active(who) {
		f.Add("customer_ulid", customer.MustBeActive)
	} else if !m.active(who) {
		f.Add("customer_ulid", core.InvalidChoice)
	}
	k := m.types[n.TransactionTypeID]
	if k == nil || !k.Active {
		f.Add("transaction_type_id", core.InvalidChoice)
	}
	if n.SpendAmountCents < 0 {
		f.Add("spend_amount_cents", core.Min(0))
	}
	if err := refusal(f); err != nil {
		return transaction.Transaction{}, err
	}
	for _, t := range m.sales.each {
		if n.ExternalReference != nil && t.ExternalReference != nil && *t.ExternalReference == *n.ExternalReference {
			return transaction.Transaction{}, core.Invalid(core.Fields{"external_reference": {core.Duplicate}})
		}
	}
	earned := awardBy(k, n.SpendAmountCents)
	bought := at
	if n.OccurredAt != nil {
		bought = *n.OccurredAt
	}
	day := m.date(bought)
	if err := m.earn(who, k.RuleType, earned, day); err != nil {
		return transaction.Transaction{}, err
	}
	m.act(who, day)
	made := transaction.Transaction{
		ID: id, RuleType: k.RuleType, SpendAmountCents: n.SpendAmountCents, Status: transaction.Completed, CustomerID: who,
		TransactionTypeID: k.ID, Source: n.Source, ExternalReference: n.ExternalReference, OccurredAt: bought, CreatedAt: at,
		BaseAward: earned, EligibleCents: n.SpendAmountCents,
	}
	uncapped := *k
	uncapped.MaxAward = nil
	made.Capped = awardBy(&uncapped, n.SpendAmountCents) > earned
	if k.RuleType == ledger.Points {
		made.PointsAwarded = &earned
	} else {
		made.StampsAwarded = &earned
	}
	if last := m.lastDay(k.RuleType, day); earned > 0 && last.Before(never) {
		made.ExpiresOn = &last
	}
	m.sales.put(id, made)
	return made, nil
}

// A changed rule applies to later sales; the unit is fixed after the first sale.
func (m *model) editType(id int64, e transaction.EditType) (transaction.Type, error) {
	k := m.types[id]
	if k == nil {
		return transaction.Type{}, core.ErrNotFound
	}
	for _, t := range m.sales.each {
		if t.TransactionTypeID == id && e.RuleType.Set && *e.RuleType.Value != string(k.RuleType) {
			return transaction.Type{}, core.Invalid(core.Fields{
				"rule_type": {core.Violation{Rule: "fixed_after_sales"}},
			})
		}
	}
	if e.RuleType.Set {
		k.RuleType = ledger.Unit(*e.RuleType.Value)
	}
	k.PointsPerUnit, k.MaxAward = *e.PointsPerUnit.Value, e.MaxAward.Value
	return *k, nil
}

// "Voiding reverses the whole award even if it was spent."
func (m *model) void(id core.ID, at *time.Time) (transaction.Transaction, error) {
	t := m.sales.byID[id]
	if t == nil {
		return transaction.Transaction{}, core.ErrNotFound
	}
	if t.Status == transaction.Voided {
		return transaction.Transaction{}, transaction.ErrAlreadyVoided
	}
	t.Status, t.VoidedAt = transaction.Voided, at
	return *t, m.takeAward(t, earned(t)-t.RefundedAward)
}

func earned(t *transaction.Transaction) int64 {
	if t.PointsAwarded != nil {
		return *t.PointsAwarded
	}
	return *t.StampsAwarded
}

// "kept = floor(award × what isn't refunded ÷ spend): the parts never add up to more or less than the whole."
func (m *model) refund(id core.ID, amount int64, made core.ID, at time.Time) (transaction.Refund, error) {
	t := m.sales.byID[id]
	if t == nil {
		return transaction.Refund{}, core.ErrNotFound
	}
	left := t.SpendAmountCents - t.RefundedCents
	f := core.Fields{}
	switch {
	case amount < 1:
		f.Add("amount_cents", core.Min(1))
	case amount > left && t.Status == transaction.Completed:
		f.Add("amount_cents", core.Max(left))
	}
	switch err := refusal(f); {
	case err != nil:
		return transaction.Refund{}, err
	case t.Status == transaction.Voided:
		return transaction.Refund{}, transaction.ErrAlreadyVoided
	case amount == t.SpendAmountCents:
		return transaction.Refund{}, transaction.ErrRefundIsVoid
	}
	kept := earned(t) * (left - amount) / t.SpendAmountCents
	taken := earned(t) - t.RefundedAward - kept
	t.RefundedCents += amount
	t.RefundedAward += taken
	r := transaction.Refund{ID: made, TransactionID: id, AmountCents: amount, CreatedAt: at}
	if t.RuleType == ledger.Points {
		r.Points = &taken
	} else {
		r.Stamps = &taken
	}
	return r, m.takeAward(t, taken)
}

// "An insufficient balance is reported before an empty stock."
func (m *model) redeem(who, what core.ID, id core.ID, at time.Time) (reward.Redemption, error) {
	f := core.Fields{}
	if m.customers.byID[who] != nil && !m.active(who) {
		f.Add("customer_ulid", customer.MustBeActive)
	} else if !m.active(who) {
		f.Add("customer_ulid", core.InvalidChoice)
	}
	r := m.rewards.byID[what]
	if r == nil || !r.Active {
		f.Add("reward_ulid", core.InvalidChoice)
	}
	if err := refusal(f); err != nil {
		return reward.Redemption{}, err
	}
	made := reward.Redemption{ID: id, Status: reward.Pending, CustomerID: who, RewardID: what, RewardName: r.Name, TookStock: r.Stock != nil, CreatedAt: at}
	unit, cost := ledger.Points, r.PointsCost
	if cost == nil {
		unit, cost = ledger.Stamps, r.StampsCost
		made.StampsSpent = *cost
	} else {
		made.PointsSpent = *cost
	}
	restore := m.keep(who)
	m.settle(who)
	if err := m.post(who, unit, -*cost, false); err != nil {
		restore()
		return reward.Redemption{}, err
	}
	taken := m.purse(who, unit).spend(*cost)
	if !take(r) {
		restore()
		return reward.Redemption{}, reward.ErrOutOfStock
	}
	m.act(who, m.today())
	m.spent[id] = taken
	m.redemptions.put(id, made)
	return made, nil
}

// take takes a unit of stock if there is one.
func take(r *reward.Reward) bool {
	if r.Stock == nil {
		return true
	}
	if *r.Stock == 0 {
		return false
	}
	restock(r, new(*r.Stock-1))
	return true
}

// restock sets a reward's stock. The play doesn't change the threshold of low stock, so it is the default.
func restock(r *reward.Reward, units *int64) {
	r.Stock, r.LowStock = units, units != nil && *units > 0 && *units <= 5
}

// changeStock adds or removes units.
func (m *model) changeStock(id core.ID, change int64) (reward.Reward, error) {
	r := m.rewards.byID[id]
	switch {
	case r == nil:
		return reward.Reward{}, core.ErrNotFound
	case r.Stock == nil:
		return reward.Reward{}, core.Invalid(core.Fields{"units": {core.Violation{Rule: "unlimited"}}})
	case *r.Stock == 0 && change < 0:
		return reward.Reward{}, core.Invalid(core.Fields{"units": {core.Violation{Rule: "max_removed"}}})
	case *r.Stock+change < 0:
		return reward.Reward{}, core.Invalid(core.Fields{"units": {core.Violation{Rule: "max_removed", Limit: *r.Stock}}})
	}
	restock(r, new(*r.Stock+change))
	return *r, nil
}

// setStock replaces the displayed stock.
func (m *model) setStock(id core.ID, seen, units *int64) (reward.Reward, error) {
	r := m.rewards.byID[id]
	switch {
	case r == nil:
		return reward.Reward{}, core.ErrNotFound
	case (seen == nil) != (r.Stock == nil), seen != nil && *seen != *r.Stock:
		return reward.Reward{}, reward.ErrStockChanged
	}
	restock(r, units)
	return *r, nil
}

func (m *model) pending(id core.ID) (*reward.Redemption, error) {
	r := m.redemptions.byID[id]
	switch {
	case r == nil:
		return nil, core.ErrNotFound
	case r.Status == reward.Fulfilled:
		return nil, reward.ErrAlreadyFulfilled
	case r.Status == reward.Voided:
		return nil, reward.ErrVoided
	}
	return r, nil
}

func (m *model) fulfil(id core.ID, at *time.Time) (reward.Redemption, error) {
	r, err := m.pending(id)
	if err != nil {
		return reward.Redemption{}, err
	}
	r.Status, r.FulfilledAt = reward.Fulfilled, at
	return *r, nil
}

// "Voiding a pending one …: points and stock return once."
func (m *model) takeBack(id core.ID, now time.Time, at *time.Time) (reward.Redemption, error) {
	r, err := m.pending(id)
	if errors.Is(err, reward.ErrAlreadyFulfilled) {
		if r = m.redemptions.byID[id]; now.Sub(*r.FulfilledAt) < 24*time.Hour {
			err = nil
		}
	}
	if err != nil {
		return reward.Redemption{}, err
	}
	unit, cost := ledger.Points, r.PointsSpent
	if r.StampsSpent > 0 {
		unit, cost = ledger.Stamps, r.StampsSpent
	}
	if cost > 0 {
		if err := m.giveBack(r.CustomerID, unit, cost, m.spent[id]); err != nil {
			return reward.Redemption{}, err
		}
	}
	if what := m.rewards.byID[r.RewardID]; r.TookStock && what.Stock != nil {
		restock(what, new(*what.Stock+1))
	}
	r.Status, r.VoidedAt = reward.Voided, at
	return *r, nil
}

func (m *model) addCoupon(n coupon.New, what *core.ID, id core.ID, at time.Time) (coupon.Coupon, error) {
	if what != nil && m.rewards.byID[*what] == nil {
		return coupon.Coupon{}, core.Invalid(core.Fields{"benefit_reward_ulid": {core.InvalidChoice}})
	}
	made := coupon.Coupon{
		ID: id, Name: n.Name, MaxPerCustomer: *n.MaxPerCustomer, MaxRedemptions: n.MaxRedemptions, Active: true, CreatedAt: at,
		Benefit:  coupon.Benefit{BenefitType: coupon.BenefitType(n.BenefitType), BenefitValue: n.BenefitValue, BenefitRewardID: what},
		StartsAt: n.StartsAt, ExpiresAt: n.ExpiresAt, VoucherValidDays: n.VoucherValidDays,
	}
	m.coupons.put(id, made)
	return made, nil
}

// After sending, the benefit and the limit per customer are fixed.
func (m *model) editCoupon(id core.ID, e coupon.Edit) (coupon.Coupon, error) {
	c := m.coupons.byID[id]
	if c == nil {
		return coupon.Coupon{}, core.ErrNotFound
	}
	edited, f, sent := *c, core.Fields{}, false
	for _, s := range m.sends.each {
		sent = sent || s.CouponID == id
	}
	if e.BenefitType.Set {
		edited.Benefit = coupon.Benefit{BenefitType: coupon.BenefitType(*e.BenefitType.Value), BenefitValue: e.BenefitValue.Value}
		if sent && (c.BenefitType != edited.BenefitType || *c.BenefitValue != *edited.BenefitValue) {
			f.Add("benefit_type", core.Violation{Rule: "fixed_after_sending"})
		}
	}
	if e.MaxPerCustomer.Set {
		edited.MaxPerCustomer = *e.MaxPerCustomer.Value
		if sent && edited.MaxPerCustomer < c.MaxPerCustomer {
			f.Add("max_per_customer", core.Violation{Rule: "min_sent", Limit: c.MaxPerCustomer})
		}
	}
	if e.MaxRedemptions.Set {
		edited.MaxRedemptions = e.MaxRedemptions.Value
		if edited.MaxRedemptions != nil && *edited.MaxRedemptions < c.RedemptionsCount {
			f.Add("max_redemptions", core.Violation{Rule: "min_redeemed", Limit: c.RedemptionsCount})
		}
	}
	if e.ExpiresAt.Set {
		edited.ExpiresAt = e.ExpiresAt.Value
		if edited.ExpiresAt != nil && edited.StartsAt != nil && !edited.ExpiresAt.After(*edited.StartsAt) {
			f.Add("expires_at", core.Violation{Rule: "after_start"})
		}
	}
	if err := refusal(f); err != nil {
		return coupon.Coupon{}, err
	}
	*c = edited
	return edited, nil
}

// "An inactive, expired or not yet started coupon cannot be sent"; "a unique form key
// makes a double click one send".
func (m *model) send(of core.ID, s coupon.Send, members []core.ID, id core.ID, at time.Time) (coupon.Sending, error) {
	c := m.coupons.byID[of]
	if c == nil {
		return coupon.Sending{}, core.ErrNotFound
	}
	f := core.Fields{}
	if s.Segment == coupon.Manual {
		if len(members) == 0 {
			required(f, "customers")
		}
		for _, who := range unique(members) {
			if m.customers.byID[who] == nil {
				f.Add("customers", core.Violation{Rule: "unknown_customer", Other: who.String()})
			}
		}
	}
	if err := refusal(f); err != nil {
		return coupon.Sending{}, err
	}
	switch {
	case !c.Active:
		return coupon.Sending{}, coupon.ErrInactive
	case c.ExpiresAt != nil && !c.ExpiresAt.After(at):
		return coupon.Sending{}, coupon.ErrExpired
	case c.StartsAt != nil && c.StartsAt.After(at):
		return coupon.Sending{}, coupon.ErrNotStarted
	}
	for _, earlier := range m.sends.each {
		if earlier.FormKey == s.FormKey {
			return earlier.Sending, nil
		}
	}
	made := coupon.Sending{ID: id, CouponID: of, CouponName: c.Name, Segment: s.Segment, Status: coupon.Waiting, Subject: c.Name, CreatedAt: at, SendAt: at}
	if c.Description != nil {
		made.Message = *c.Description
	}
	m.sends.put(id, send{made, s})
	return made, nil
}

func unique(ids []core.ID) []core.ID {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b core.ID) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(ids)
}

// members returns a segment's members by the specification.
func (m *model) members(s *send) (members []core.ID) {
	for id, c := range m.customers.each {
		in := false
		switch s.Sending.Segment {
		case coupon.All:
			in = c.Status == customer.Active && !c.CreatedAt.After(s.CreatedAt)
		case coupon.LongStanding:
			in = m.day(s.CreatedAt)-m.day(c.CreatedAt) > 90
		case coupon.RecentPurchase:
			in = m.bought(id, s.CreatedAt.Add(-30*24*time.Hour), s.CreatedAt)
		case coupon.Manual:
			in = slices.Contains(s.Customers, id.String())
		}
		if in {
			members = append(members, id)
		}
	}
	return members
}

// day counts local days.
func (m *model) day(at time.Time) int64 {
	y, month, d := at.In(m.zone).Date()
	return time.Date(y, month, d, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60)
}

func (m *model) bought(who core.ID, from, to time.Time) bool {
	for _, t := range m.sales.each {
		if t.CustomerID == who && t.Status == transaction.Completed && !t.CreatedAt.Before(from) && !t.CreatedAt.After(to) {
			return true
		}
	}
	return false
}

// "A member who is inactive, or already holds max_per_customer vouchers of this coupon (in any state), is
// matched and then skipped, with the reason counted." It also returns who gets a voucher.
func (m *model) evaluate(id core.ID, at, ended *time.Time) (sent coupon.Sending, recipients []core.ID, err error) {
	s := m.sends.byID[id]
	if s == nil {
		return coupon.Sending{}, nil, core.ErrNotFound
	}
	if s.Status != coupon.Waiting {
		return s.Sending, nil, nil
	}
	// "An inactive, expired or not yet started coupon cannot be sent", nor later at its scheduled time.
	c := m.coupons.byID[s.CouponID]
	for _, refused := range []struct {
		by   bool
		rule *core.Error
	}{
		{!c.Active, coupon.ErrInactive},
		{c.ExpiresAt != nil && !c.ExpiresAt.After(s.SendAt), coupon.ErrExpired},
		{c.StartsAt != nil && c.StartsAt.After(s.SendAt), coupon.ErrNotStarted},
	} {
		if refused.by {
			s.Status, s.EndedAt, s.Failure = coupon.Failed, ended, &refused.rule.Code
			return s.Sending, nil, nil
		}
	}
	s.Status, s.BegunAt, s.EvaluatedAt = coupon.Done, at, at
	for _, who := range m.members(s) {
		s.Matched++
		switch {
		case !m.active(who):
			s.SkippedInactive++
		case m.holds(who, s.CouponID) >= m.coupons.byID[s.CouponID].MaxPerCustomer:
			s.SkippedLimit++
		default:
			s.Sent++
			recipients = append(recipients, who)
			if m.customers.byID[who].Email == nil {
				s.NoEmail++
			} else {
				s.Mails++
			}
		}
	}
	if s.Mails > 0 {
		s.Status, s.EndedAt = coupon.Mailing, nil
	} else {
		s.EndedAt = at
	}
	return s.Sending, recipients, nil
}

func (m *model) holds(who, of core.ID) (n int64) {
	for _, v := range m.vouchers.each {
		if v.CustomerID == who && v.CouponID == of {
			n++
		}
	}
	return n
}

// issue adds a voucher of a send. "expires_at …: the earlier of the coupon's and the end of the local day
// voucher_valid_days later."
func (m *model) issue(s core.ID, who core.ID, id core.ID, at time.Time) coupon.Voucher {
	sent := m.sends.byID[s]
	c := m.coupons.byID[sent.CouponID]
	made := coupon.Voucher{
		ID: id, CouponID: c.ID, CustomerID: who, Status: coupon.VoucherPending, Benefit: c.Benefit, ExpiresAt: c.ExpiresAt, CreatedAt: at,
	}
	if c.VoucherValidDays != nil {
		y, month, d := sent.CreatedAt.In(m.zone).Date()
		end := time.Date(y, month, d+int(*c.VoucherValidDays)+1, 0, 0, 0, 0, m.zone)
		if c.ExpiresAt == nil || end.Before(*c.ExpiresAt) {
			made.ExpiresAt = &end
		}
	}
	m.vouchers.put(id, made)
	return made
}

// "Checks on redeem …, in order: exists (404), redeemed, expired, coupon inactive, cap."
func (m *model) redeemVoucher(id core.ID, redemption *core.ID, now time.Time) (coupon.Voucher, error) {
	v := m.vouchers.byID[id]
	if v == nil {
		return coupon.Voucher{}, core.ErrNotFound
	}
	c := m.coupons.byID[v.CouponID]
	switch {
	case v.Status == coupon.VoucherRedeemed:
		return coupon.Voucher{}, coupon.ErrAlreadyRedeemed
	case v.ExpiresAt != nil && !v.ExpiresAt.After(now):
		return coupon.Voucher{}, coupon.ErrVoucherExpired
	case !c.Active:
		return coupon.Voucher{}, coupon.ErrInactive
	case c.MaxRedemptions != nil && c.RedemptionsCount == *c.MaxRedemptions:
		return coupon.Voucher{}, coupon.ErrCapReached
	}
	switch v.BenefitType {
	case coupon.Points, coupon.Stamps:
		if err := m.earn(v.CustomerID, ledger.Unit(v.BenefitType), *v.BenefitValue, m.today()); err != nil {
			return coupon.Voucher{}, err
		}
	case coupon.Reward:
		what := m.rewards.byID[*v.BenefitRewardID]
		if !take(what) {
			return coupon.Voucher{}, reward.ErrOutOfStock
		}
		m.redemptions.put(*redemption, reward.Redemption{
			ID: *redemption, Status: reward.Pending, CustomerID: v.CustomerID, RewardID: what.ID, RewardName: what.Name, TookStock: what.Stock != nil, CreatedAt: now,
		})
		v.RedemptionID = redemption
	case coupon.Percent, coupon.Amount:
	}
	m.act(v.CustomerID, m.today())
	c.RedemptionsCount++
	v.Status, v.RedeemedAt = coupon.VoucherRedeemed, &now
	return *v, nil
}

// status returns a voucher's status at an instant: after its expiry it is expired.
func status(v *coupon.Voucher, now time.Time) coupon.VoucherStatus {
	if v.Status == coupon.VoucherPending && v.ExpiresAt != nil && !v.ExpiresAt.After(now) {
		return coupon.VoucherExpired
	}
	return v.Status
}

// counted counts a coupon's vouchers by status.
func (m *model) counted(id core.ID, now time.Time) (sent, pending, redeemed, expired int64) {
	for _, v := range m.vouchers.each {
		if v.CouponID != id {
			continue
		}
		sent++
		switch status(v, now) {
		case coupon.VoucherPending:
			pending++
		case coupon.VoucherRedeemed:
			redeemed++
		case coupon.VoucherExpired:
			expired++
		}
	}
	return sent, pending, redeemed, expired
}

// redeemed counts a reward's redemptions, and the pending ones.
func (m *model) redeemed(id core.ID) (pending, redeemed int64) {
	for _, r := range m.redemptions.each {
		if r.RewardID == id && r.Status != reward.Voided {
			redeemed++
			if r.Status == reward.Pending {
				pending++
			}
		}
	}
	return pending, redeemed
}
