package coupon_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a business that sends coupons, at an instant.
type shop struct{ shoptest.Shop }

func newShop(t *testing.T) shop { return shop{shoptest.New(t)} }

// at returns the shop at another instant.
func (s shop) at(instant time.Time) shop {
	s.T.Helper()
	return shop{s.At(instant)}
}

func instant(t *testing.T, s string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func (s shop) leave(who core.ID) {
	s.T.Helper()
	s.Must(s.Customers.Edit(s.T.Context(), s.By, who, customer.Edit{Status: core.Set("inactive")}))
}

// sale records a sale at the shop's instant.
func (s shop) sale(to core.ID) core.ID {
	s.T.Helper()
	return s.Sale(to, s.Points(100), 1000).ID
}

// fivePoints describes a coupon.
func fivePoints() coupon.New {
	return coupon.New{Name: "Welcome back", BenefitType: "points", BenefitValue: new(int64(5))}
}

func toAll() coupon.Send { return to(coupon.All) }

// to returns a send to a segment from a new form.
func to(segment coupon.Segment, members ...core.ID) coupon.Send {
	s := coupon.Send{Segment: segment, FormKey: core.NewID(time.Now()).String()}
	for _, id := range members {
		s.Customers = append(s.Customers, id.String())
	}
	return s
}

func (s shop) confirmed(c coupon.Coupon, send coupon.Send) coupon.Sending {
	s.T.Helper()
	confirmed, err := s.Coupons.Send(s.T.Context(), s.By, c.ID, send)
	s.Check(err)
	return confirmed
}

func (s shop) evaluated(send core.ID) coupon.Sending {
	s.T.Helper()
	evaluated, err := s.Coupons.Evaluate(s.T.Context(), s.By, send)
	s.Check(err)
	return evaluated
}

// stored is a voucher as stored, without regard to its expiry.
type stored struct {
	ID         core.ID
	SendID     core.ID
	CustomerID core.ID
	Status     coupon.VoucherStatus
	ExpiresAt  *time.Time
}

func (s shop) stored(c coupon.Coupon) []stored {
	s.T.Helper()
	rows, err := dbtest.Owner(s.DB).Query(s.T.Context(), `
		select id, send_id, customer_id, status, expires_at
		from loyalty.voucher
		where tenant_id = $1 and coupon_id = $2
		order by send_id, customer_id`, s.By.Tenant.ID, c.ID)
	s.Check(err)
	vouchers, err := pgx.CollectRows(rows, pgx.RowToStructByName[stored])
	s.Check(err)
	return vouchers
}

// holders returns the customers with vouchers of the coupon, once for each voucher.
func (s shop) holders(c coupon.Coupon) []core.ID {
	s.T.Helper()
	var ids []core.ID
	for _, v := range s.stored(c) {
		ids = append(ids, v.CustomerID)
	}
	return sorted(ids)
}

func sorted(ids []core.ID) []core.ID {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b core.ID) int { return strings.Compare(a.String(), b.String()) })
	return ids
}

func (s shop) wantHolders(c coupon.Coupon, want ...core.ID) {
	s.T.Helper()
	if diff := cmp.Diff(sorted(want), s.holders(c)); diff != "" {
		s.T.Errorf("holders (-want +got):\n%s", diff)
	}
}

func wantCounts(t *testing.T, sent coupon.Sending, matched, made, inactive, limit int64) {
	t.Helper()
	if sent.Matched != matched || sent.Sent != made || sent.SkippedInactive != inactive || sent.SkippedLimit != limit {
		t.Errorf("matched %d, sent %d, skipped %d inactive and %d at their limit; want %d, %d, %d, %d",
			sent.Matched, sent.Sent, sent.SkippedInactive, sent.SkippedLimit, matched, made, inactive, limit)
	}
}

// find returns the coupon as in the list.
func (s shop) find(id core.ID) coupon.Coupon {
	s.T.Helper()
	l, err := s.Coupons.List(s.T.Context(), s.By, core.Page{Size: core.MaxPageSize})
	s.Check(err)
	for _, c := range l.Items {
		if c.ID == id {
			return c
		}
	}
	s.T.Fatalf("coupon %s is not listed", id)
	return coupon.Coupon{}
}

func second[T any](_ T, err error) error { return err }

func refused(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

// A new coupon has the given values and the defaults of the others.
func TestAdd(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	espresso := s.Reward(1000, nil)
	starts, ends := instant(t, "2026-03-01T00:00:00Z"), instant(t, "2126-03-31T22:00:00Z")
	full := coupon.New{
		Name: " Spring ", Description: " For those we have not seen for long. ", BenefitType: "amount", BenefitValue: new(int64(250)),
		MaxPerCustomer: new(int64(2)), MaxRedemptions: new(int64(100)), StartsAt: &starts, ExpiresAt: &ends, VoucherValidDays: new(int64(14)),
	}
	for _, c := range []struct {
		name string
		new  coupon.New
		want coupon.Coupon
	}{
		{"plain", fivePoints(), coupon.Coupon{
			Name: "Welcome back", Benefit: coupon.Benefit{BenefitType: coupon.Points, BenefitValue: new(int64(5))}, MaxPerCustomer: 1,
		}},
		{"full", full, coupon.Coupon{
			Name: "Spring", Description: new("For those we have not seen for long."),
			Benefit:        coupon.Benefit{BenefitType: coupon.Amount, BenefitValue: new(int64(250))},
			MaxPerCustomer: 2, MaxRedemptions: new(int64(100)), StartsAt: &starts, ExpiresAt: &ends, VoucherValidDays: new(int64(14)),
		}},
		{"a reward", coupon.New{Name: "Coffee", BenefitType: "reward", BenefitRewardID: &espresso}, coupon.Coupon{
			Name: "Coffee", Benefit: coupon.Benefit{BenefitType: coupon.Reward, BenefitRewardID: &espresso}, MaxPerCustomer: 1,
		}},
	} {
		made := s.Coupon(c.new)
		c.want.ID, c.want.CreatedAt, c.want.Active = made.ID, made.CreatedAt, true
		if diff := cmp.Diff(c.want, made); diff != "" {
			t.Errorf("%s (-want +made):\n%s", c.name, diff)
		}
		if diff := cmp.Diff(made, s.find(made.ID)); diff != "" {
			t.Errorf("%s (-made +listed):\n%s", c.name, diff)
		}
	}
}

// All invalid fields are reported at once, among them an unknown reward or another tenant's.
func TestAddReportsEveryWrongFieldAtOnce(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	day := instant(t, "2026-03-01T00:00:00Z")
	for _, reward := range []core.ID{stranger.Reward(1000, nil), core.NewID(day), {}} {
		_, err := core.Result(s.Coupons.Add(t.Context(), s.By, coupon.New{
			Name: " ", Description: strings.Repeat("å", 1001), BenefitType: "reward", BenefitRewardID: &reward,
			MaxPerCustomer: new(int64(0)), MaxRedemptions: new(int64(0)), StartsAt: &day, ExpiresAt: &day, VoucherValidDays: new(int64(36_501)),
		}, nil))
		shoptest.WantFields(t, err, core.Fields{
			"name":                {core.Required},
			"description":         {core.MaxLength(1000)},
			"benefit_reward_ulid": {core.InvalidChoice},
			"max_per_customer":    {core.Min(1)},
			"max_redemptions":     {core.Min(1)},
			"expires_at":          {core.Violation{Rule: "after_start"}},
			"voucher_valid_days":  {core.Max(36500)},
		})
	}
	_, err := core.Result(s.Coupons.Add(t.Context(), s.By, coupon.New{Malformed: core.Fields{"max_redemptions": {core.MustBeInteger}}}, nil))
	shoptest.WantFields(t, err, core.Fields{
		"name":            {core.Required},
		"benefit_type":    {core.Required},
		"max_redemptions": {core.MustBeInteger},
	})
}

// Each type of benefit needs its own value.
func TestBenefits(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, c := range []struct {
		name  string
		kind  string
		value *int64
		want  core.Fields
	}{
		{"points", "points", new(int64(1)), nil},
		{"no points", "points", new(int64(0)), core.Fields{"benefit_value": {core.Min(1)}}},
		{"stamps of no number", "stamps", nil, core.Fields{"benefit_value": {core.Required}}},
		{"everything off", "percent", new(int64(100)), nil},
		{"more than everything", "percent", new(int64(101)), core.Fields{"benefit_value": {core.Max(100)}}},
		{"an amount", "amount", new(int64(1_000_000_000_000)), nil},
		{"too large an amount", "amount", new(int64(1_000_000_000_001)), core.Fields{"benefit_value": {core.Max(1000000000000)}}},
		{"a reward of no name", "reward", nil, core.Fields{"benefit_reward_ulid": {core.Required}}},
		{"something else", "miles", new(int64(1)), core.Fields{"benefit_type": {core.InvalidChoice}}},
	} {
		n := fivePoints()
		n.BenefitType, n.BenefitValue = c.kind, c.value
		_, err := core.Result(s.Coupons.Add(t.Context(), s.By, n, nil))
		t.Run(c.name, func(t *testing.T) {
			if c.want != nil {
				shoptest.WantFields(t, err, c.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// Coupons are listed newest first, in pages forward and back.
func TestList(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	var newestFirst []core.ID
	for hour := range time.Duration(5) {
		then := s.at(s.DB.Now().Add((hour - 5) * time.Hour))
		newestFirst = slices.Insert(newestFirst, 0, then.Coupon(fivePoints()).ID)
	}
	listed := shoptest.Walk(t, 2, func(p core.Page) (core.List[coupon.Coupon], error) { return s.Coupons.List(t.Context(), s.By, p) })
	if diff := cmp.Diff(newestFirst, shoptest.Keys(listed, func(c coupon.Coupon) core.ID { return c.ID })); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
	if _, err := s.Coupons.List(t.Context(), s.By, core.Page{Size: 2, Malformed: core.Fields{"cursor": {core.InvalidChoice}}}); !core.IsKind(err, core.KindInvalid) {
		t.Errorf("a bad query = %v", err)
	}
}

// An inactive coupon is listed, and can be activated again.
func TestSetActive(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.Coupon(fivePoints())
	for _, active := range []bool{false, true} {
		edited, err := s.Coupons.SetActive(t.Context(), s.By, c.ID, active)
		if err != nil || edited.Active != active || s.find(c.ID).Active != active {
			t.Errorf("SetActive(%t) = %+v, %v", active, edited, err)
		}
	}
	refused(t, second(s.Coupons.SetActive(t.Context(), s.By, core.NewID(s.DB.Now()), false)), core.ErrNotFound)
}

// Changes of coupons are in the audit log.
func TestCouponsAreLogged(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.Coupon(fivePoints())
	dbtest.Tick(s.DB)
	voucher := s.Voucher(c.ID, s.Customer().ID)
	send := s.stored(c)[0].SendID
	s.RedeemVoucher(voucher)
	dbtest.Tick(s.DB) // so that entries have one order
	for range 2 {
		s.Must(s.Coupons.SetActive(t.Context(), s.By, c.ID, false))
	}
	dbtest.Tick(s.DB)
	s.Must(s.Coupons.Edit(t.Context(), s.By, c.ID, coupon.Edit{Description: core.Set("For you."), Active: core.Set(true)}))
	want := []string{
		`coupon.create - {"name": "Welcome back", "active": true, "starts_at": null, "expires_at": null, "description": null, "benefit_type": "points", ` +
			`"benefit_value": 5, "max_redemptions": null, "max_per_customer": 1, "voucher_valid_days": null, "benefit_reward_ulid": null} by A owner`,
		`coupon.send - {"send": "` + send.String() + `", "segment": "manual", "customers": 1} by A owner`,
		`coupon.edit {"active": true} {"active": false} by A owner`,
		`coupon.edit {"name": "Welcome back", "active": false, "starts_at": null, "expires_at": null, "description": null, "benefit_type": "points", ` +
			`"benefit_value": 5, "max_redemptions": null, "max_per_customer": 1, "voucher_valid_days": null, "benefit_reward_ulid": null} ` +
			`{"name": "Welcome back", "active": true, "starts_at": null, "expires_at": null, "description": "For you.", "benefit_type": "points", ` +
			`"benefit_value": 5, "max_redemptions": null, "max_per_customer": 1, "voucher_valid_days": null, "benefit_reward_ulid": null} by A owner`,
	}
	if diff := cmp.Diff(want, s.Log("coupon", c.ID)); diff != "" {
		t.Errorf("of the coupon (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`voucher.redeem {"status": "pending"} {"status": "redeemed"} by A owner`}, s.Log("voucher", voucher)); diff != "" {
		t.Errorf("of the voucher (-want +got):\n%s", diff)
	}
}

// Another tenant's coupons look like missing ones.
func TestAnotherTenantsCouponsDoNotExist(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	c := s.Coupon(fivePoints())
	voucher := s.Voucher(c.ID, s.Customer().ID)
	waiting := s.confirmed(c, toAll())
	for name, err := range map[string]error{
		"set active":   second(stranger.Coupons.SetActive(t.Context(), stranger.By, c.ID, false)),
		"leave active": second(stranger.Coupons.SetActive(t.Context(), stranger.By, c.ID, true)),
		"find":         second(stranger.Coupons.Find(t.Context(), stranger.By, c.ID)),
		"edit":         second(stranger.Coupons.Edit(t.Context(), stranger.By, c.ID, coupon.Edit{Name: core.Set("Mine")})),
		"a bad edit":   second(stranger.Coupons.Edit(t.Context(), stranger.By, c.ID, coupon.Edit{Name: core.Set("")})),
		"send":         second(stranger.Coupons.Send(t.Context(), stranger.By, c.ID, toAll())),
		"a bad send":   second(stranger.Coupons.Send(t.Context(), stranger.By, c.ID, coupon.Send{})),
		"evaluate":     second(stranger.Coupons.Evaluate(t.Context(), stranger.By, waiting.ID)),
		"redeem":       second(core.Result(stranger.Coupons.Redeem(t.Context(), stranger.By, voucher, nil))),
		"list sends":   second(stranger.Coupons.ListSends(t.Context(), stranger.By, c.ID, core.Page{Size: 3})),
		"list sends with a bad query": second(stranger.Coupons.ListSends(t.Context(), stranger.By, c.ID,
			core.Page{Size: 3, Malformed: core.Fields{"cursor": {core.InvalidChoice}}})),
		"list redeemed": second(stranger.Coupons.ListRedeemed(t.Context(), stranger.By, c.ID, core.Page{Size: 3})),
		"list redeemed with a bad query": second(stranger.Coupons.ListRedeemed(t.Context(), stranger.By, c.ID,
			core.Page{Size: 3, Malformed: core.Fields{"cursor": {core.InvalidChoice}}})),
	} {
		if !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s = %v, want ErrNotFound", name, err)
		}
	}
	if l, err := stranger.Coupons.List(t.Context(), stranger.By, core.Page{Size: 3}); err != nil || len(l.Items) != 0 {
		t.Errorf("a stranger's list: %+v, %v", l.Items, err)
	}
	if l, err := stranger.Coupons.ListWithCounts(t.Context(), stranger.By, coupon.Filter{}, core.Page{Size: 3}); err != nil || len(l.Items) != 0 {
		t.Errorf("a stranger's list with counts: %+v, %v", l.Items, err)
	}
	if again := s.evaluated(waiting.ID); again.Status != coupon.Done || !s.find(c.ID).Active {
		t.Errorf("the send is %+v", again)
	}
}

// redeeming redeems a voucher of the coupon twice.
func (s shop) redeeming(c coupon.Coupon, who core.ID) func() error {
	s.T.Helper()
	vouchers := []core.ID{s.Voucher(c.ID, who), s.Voucher(c.ID, who)}
	return func() error {
		voucher := vouchers[0]
		vouchers = vouchers[1:]
		return second(core.Result(s.Coupons.Redeem(s.T.Context(), s.By, voucher, nil)))
	}
}

// The round trips of each use case.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shop{shoptest.In(t, d)}
	ctx := t.Context()
	anna, espresso := s.Customer().ID, s.Reward(1000, nil)
	many := fivePoints()
	many.MaxPerCustomer = new(int64(10))
	plain, unsent := s.Coupon(many), s.Coupon(many)
	bilal, rewards := s.Customer().ID, []core.ID{espresso, s.Reward(1000, nil)}
	many.BenefitType, many.BenefitRewardID = "reward", new(espresso)
	coffee := s.Coupon(many)
	less := *fivePoints().BenefitValue
	for _, c := range []struct {
		name string
		want int
		do   func() error
	}{
		{name: "add", want: 2, do: func() error { return second(core.Result(s.Coupons.Add(ctx, s.By, fivePoints(), nil))) }},
		{name: "add a reward", want: 3, do: func() error { return second(core.Result(s.Coupons.Add(ctx, s.By, many, nil))) }},
		{name: "list", want: 1, do: func() error { return second(s.Coupons.List(ctx, s.By, core.Page{Size: 3})) }},
		{name: "list with counts", want: 1, do: func() error { return second(s.Coupons.ListWithCounts(ctx, s.By, coupon.Filter{}, core.Page{Size: 3})) }},
		{name: "find", want: 1, do: func() error { return second(s.Coupons.Find(ctx, s.By, plain.ID)) }},
		{name: "edit", want: 3, do: func() error { return second(s.Coupons.Edit(ctx, s.By, plain.ID, coupon.Edit{Name: core.Set("x")})) }},
		{name: "edit to less", want: 3, do: func() error {
			less--
			return second(s.Coupons.Edit(ctx, s.By, unsent.ID, coupon.Edit{BenefitType: core.Set("points"), BenefitValue: core.Set(less)}))
		}},
		{name: "edit to another reward", want: 4, do: func() error {
			slices.Reverse(rewards)
			return second(s.Coupons.Edit(ctx, s.By, unsent.ID, coupon.Edit{BenefitType: core.Set("reward"), BenefitRewardID: core.Set(rewards[0])}))
		}},
		{name: "switch on what is on", want: 3, do: func() error { return second(s.Coupons.SetActive(ctx, s.By, plain.ID, true)) }},
		{name: "no vouchers", want: 2, do: func() error { return second(s.Coupons.ListByCustomer(ctx, s.By, bilal, core.Page{Size: 3})) }},
		{name: "no sends", want: 2, do: func() error { return second(s.Coupons.ListSends(ctx, s.By, unsent.ID, core.Page{Size: 3})) }},
		{name: "redemptions of none", want: 2, do: func() error { return second(s.Coupons.ListRedeemed(ctx, s.By, plain.ID, core.Page{Size: 3})) }},
		{name: "send", want: 5, do: func() error { return second(s.Coupons.Send(ctx, s.By, plain.ID, toAll())) }},
		{name: "send to some", want: 6, do: func() error { return second(s.Coupons.Send(ctx, s.By, plain.ID, to(coupon.Manual, anna))) }},
		{name: "redeem", want: 3, do: s.redeeming(plain, anna)},
		{name: "redeem a reward", want: 4, do: s.redeeming(coffee, anna)},
		{name: "sends", want: 1, do: func() error { return second(s.Coupons.ListSends(ctx, s.By, plain.ID, core.Page{Size: 3})) }},
		{name: "vouchers", want: 1, do: func() error { return second(s.Coupons.ListByCustomer(ctx, s.By, anna, core.Page{Size: 3})) }},
		{name: "redemptions", want: 1, do: func() error { return second(s.Coupons.ListRedeemed(ctx, s.By, plain.ID, core.Page{Size: 3})) }},
	} {
		var trips int
		for range 2 { // the first run prepares the statements
			before := count()
			if err := c.do(); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			d.WaitForNotifications()
			trips = count() - before
		}
		if trips != c.want {
			t.Errorf("%s: %d round trips, want %d", c.name, trips, c.want)
		}
	}
}
