package coupon_test

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/verify"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a tenant that sends coupons, at an instant.
type shop struct {
	*coupon.Service
	jobs *job.Queue
	db   *db.DB
	by   core.Actor
}

func newShop(t *testing.T) shop { return shopOf(t, dbtest.DB(t)) }

func shopOf(t *testing.T, d *db.DB) shop {
	t.Helper()
	return visit(t, d, dbtest.Tenant(t, d))
}

func visit(t *testing.T, d *db.DB, by core.Actor) shop {
	t.Helper()
	jobs, err := job.New(d, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return shop{coupon.NewService(d, jobs, dbtest.Mails(d, jobs), dbtest.Links(), slog.New(slog.DiscardHandler)), jobs, d, by}
}

// at returns the shop at another instant.
func (s shop) at(t *testing.T, instant time.Time) shop {
	t.Helper()
	return visit(t, s.db.At(instant), s.by)
}

// in returns the shop in another time zone.
func (s shop) in(t *testing.T, zone string) shop {
	t.Helper()
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	s.by.Tenant.TimeZone = location
	return s
}

func instant(t *testing.T, s string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

var phones atomic.Int64

// customer creates a customer at the shop's instant.
func (s shop) customer(t *testing.T) core.ID {
	t.Helper()
	c, err := customer.NewService(s.db).Upsert(t.Context(), s.by, customer.New{
		FirstName: new("Anna"), LastName: new("Lindqvist"), Phone: new(fmt.Sprintf("070 %07d", phones.Add(1))),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c.ID
}

func (s shop) customers(t *testing.T, n int) []core.ID {
	t.Helper()
	ids := make([]core.ID, n)
	for i := range ids {
		ids[i] = s.customer(t)
	}
	return ids
}

func (s shop) leave(t *testing.T, who core.ID) {
	t.Helper()
	if _, err := customer.NewService(s.db).Edit(t.Context(), s.by, who, customer.Edit{Status: core.Set("inactive")}); err != nil {
		t.Fatal(err)
	}
}

// sale records a sale at the shop's instant.
func (s shop) sale(t *testing.T, to core.ID) core.ID {
	t.Helper()
	sales := transaction.NewService(s.db)
	types, err := sales.Types(t.Context(), s.by)
	if err != nil {
		t.Fatal(err)
	}
	if len(types) == 0 {
		kind, err := sales.AddType(t.Context(), s.by, transaction.NewType{
			Name: "Purchase", RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, kind)
	}
	made, err := sales.Record(t.Context(), s.by, transaction.New{
		CustomerID: new(to.String()), TransactionTypeID: &types[0].ID, SpendAmountCents: new(int64(1000)), Source: transaction.POS,
	})
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

func (s shop) void(t *testing.T, sale core.ID) {
	t.Helper()
	if _, err := transaction.NewService(s.db).Void(t.Context(), s.by, sale); err != nil {
		t.Fatal(err)
	}
}

func (s shop) account(t *testing.T, who core.ID) ledger.Account {
	t.Helper()
	c, err := customer.NewService(s.db).Find(t.Context(), s.by, who)
	if err != nil {
		t.Fatal(err)
	}
	return ledger.Account{Points: c.PointsBalance, Stamps: c.StampsBalance}
}

// espresso is a reward that none of the customers can afford.
func (s shop) espresso(t *testing.T, stock *int64) core.ID {
	t.Helper()
	r, err := reward.NewService(s.db).Add(t.Context(), s.by, reward.New{Name: new("Espresso"), PointsCost: new(int64(1000)), Stock: stock})
	if err != nil {
		t.Fatal(err)
	}
	return r.ID
}

// fivePoints describes a coupon.
func fivePoints() coupon.New {
	return coupon.New{Name: new("Welcome back"), BenefitType: new("points"), BenefitValue: new(int64(5))}
}

func (s shop) coupon(t *testing.T, n coupon.New) coupon.Coupon {
	t.Helper()
	c, err := s.Add(t.Context(), s.by, n)
	if err != nil {
		t.Fatal(err)
	}
	return c
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

func (s shop) confirmed(t *testing.T, c coupon.Coupon, send coupon.Send) coupon.Sending {
	t.Helper()
	confirmed, err := s.Send(t.Context(), s.by, c.ID, send)
	if err != nil {
		t.Fatal(err)
	}
	return confirmed
}

func (s shop) evaluated(t *testing.T, send core.ID) coupon.Sending {
	t.Helper()
	evaluated, err := s.Evaluate(t.Context(), s.by, send)
	if err != nil {
		t.Fatal(err)
	}
	return evaluated
}

func (s shop) recordDelivery(t *testing.T, c coupon.Coupon, send coupon.Send) coupon.Sending {
	t.Helper()
	return s.evaluated(t, s.confirmed(t, c, send).ID)
}

// voucher sends a coupon to one customer and returns the voucher.
func (s shop) voucher(t *testing.T, c coupon.Coupon, who core.ID) core.ID {
	t.Helper()
	sent := s.recordDelivery(t, c, to(coupon.Manual, who))
	if sent.Sent != 1 {
		t.Fatalf("sent %+v, want one", sent)
	}
	for _, v := range s.stored(t, c) {
		if v.SendID == sent.ID {
			return v.ID
		}
	}
	t.Fatal("the voucher is not stored")
	return core.ID{}
}

// stored is a voucher as stored, without regard to its expiry.
type stored struct {
	ID         core.ID
	SendID     core.ID
	CustomerID core.ID
	Status     coupon.VoucherStatus
	ExpiresAt  *time.Time
}

func (s shop) stored(t *testing.T, c coupon.Coupon) []stored {
	t.Helper()
	rows, err := dbtest.Owner(s.db).Query(t.Context(), `
		select id, send_id, customer_id, status, expires_at
		from loyalty.voucher
		where tenant_id = $1 and coupon_id = $2
		order by send_id, customer_id`, s.by.Tenant.ID, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	vouchers, err := pgx.CollectRows(rows, pgx.RowToStructByName[stored])
	if err != nil {
		t.Fatal(err)
	}
	return vouchers
}

// holders returns the customers with vouchers of the coupon, once for each voucher.
func (s shop) holders(t *testing.T, c coupon.Coupon) []core.ID {
	t.Helper()
	var ids []core.ID
	for _, v := range s.stored(t, c) {
		ids = append(ids, v.CustomerID)
	}
	return sorted(ids)
}

func sorted(ids []core.ID) []core.ID {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b core.ID) int { return strings.Compare(a.String(), b.String()) })
	return ids
}

func (s shop) wantHolders(t *testing.T, c coupon.Coupon, want ...core.ID) {
	t.Helper()
	if diff := cmp.Diff(sorted(want), s.holders(t, c)); diff != "" {
		t.Errorf("holders (-want +got):\n%s", diff)
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
func (s shop) find(t *testing.T, id core.ID) coupon.Coupon {
	t.Helper()
	l, err := s.List(t.Context(), s.by, core.Page{Size: core.MaxPageSize})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range l.Items {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("coupon %s is not listed", id)
	return coupon.Coupon{}
}

// log returns the audit entries of a record, in order.
func (s shop) log(t *testing.T, subject core.ID) []string {
	t.Helper()
	rows, err := dbtest.Owner(s.db).Query(t.Context(), `
		select concat_ws(' ', action, coalesce(old::text, '-'), coalesce(new::text, '-'), 'by', actor_name)
		from loyalty.audit_entry
		where tenant_id = $1 and subject_id = $2
		order by created_at, id`, s.by.Tenant.ID, subject.String())
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// sound fails unless verify finds no errors in the shop's database, which must be separate.
func (s shop) sound(t *testing.T) {
	t.Helper()
	results, err := verify.Run(t.Context(), s.db)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Wrong > 0 {
			t.Errorf("%s: %d wrong: %v", r.Check, r.Wrong, r.Examples)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func refused(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func wantFields(t *testing.T, err error, want core.Fields) {
	t.Helper()
	var refusal *core.Error
	if !errors.As(err, &refusal) || refusal.Kind != core.KindInvalid {
		t.Fatalf("%v, want a refusal of fields", err)
	}
	if diff := cmp.Diff(want, refusal.Fields); diff != "" {
		t.Errorf("refused fields (-want +got):\n%s", diff)
	}
}

// A new coupon has the given values and the defaults of the others.
func TestAdd(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	espresso := s.espresso(t, nil)
	starts, ends := instant(t, "2026-03-01T00:00:00Z"), instant(t, "2026-03-31T22:00:00Z")
	full := coupon.New{
		Name: new(" Spring "), Description: new(" For those we have not seen for long. "), BenefitType: new("amount"), BenefitValue: new(int64(250)),
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
		{"a reward", coupon.New{Name: new("Coffee"), BenefitType: new("reward"), BenefitRewardID: new(strings.ToLower(espresso.String()))}, coupon.Coupon{
			Name: "Coffee", Benefit: coupon.Benefit{BenefitType: coupon.Reward, BenefitRewardID: &espresso}, MaxPerCustomer: 1,
		}},
	} {
		made := s.coupon(t, c.new)
		c.want.ID, c.want.CreatedAt, c.want.Active = made.ID, made.CreatedAt, true
		if diff := cmp.Diff(c.want, made); diff != "" {
			t.Errorf("%s (-want +made):\n%s", c.name, diff)
		}
		if diff := cmp.Diff(made, s.find(t, made.ID)); diff != "" {
			t.Errorf("%s (-made +listed):\n%s", c.name, diff)
		}
	}
}

// All invalid fields are reported at once, among them an unknown reward or another tenant's.
func TestAddReportsEveryWrongFieldAtOnce(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	day := instant(t, "2026-03-01T00:00:00Z")
	for _, reward := range []string{stranger.espresso(t, nil).String(), core.NewID(day).String(), "nonsense"} {
		_, err := s.Add(t.Context(), s.by, coupon.New{
			Name: new(" "), Description: new(strings.Repeat("å", 1001)), BenefitType: new("reward"), BenefitRewardID: &reward,
			MaxPerCustomer: new(int64(0)), MaxRedemptions: new(int64(0)), StartsAt: &day, ExpiresAt: &day, VoucherValidDays: new(int64(36_501)),
		})
		wantFields(t, err, core.Fields{
			"name":                {core.Required},
			"description":         {core.MaxLength(1000)},
			"benefit_reward_ulid": {core.InvalidChoice},
			"max_per_customer":    {core.Min(1)},
			"max_redemptions":     {core.Min(1)},
			"expires_at":          {core.Violation{Rule: "after_start"}},
			"voucher_valid_days":  {core.Max(36500)},
		})
	}
	_, err := s.Add(t.Context(), s.by, coupon.New{Malformed: core.Fields{"max_redemptions": {core.MustBeInteger}}})
	wantFields(t, err, core.Fields{
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
		n.BenefitType, n.BenefitValue = &c.kind, c.value
		_, err := s.Add(t.Context(), s.by, n)
		t.Run(c.name, func(t *testing.T) {
			if c.want != nil {
				wantFields(t, err, c.want)
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
		then := s.at(t, s.db.Now().Add((hour-5)*time.Hour))
		newestFirst = slices.Insert(newestFirst, 0, then.coupon(t, fivePoints()).ID)
	}
	page := core.Page{Size: 2}
	var forward, back []core.ID
	for {
		l, err := s.List(t.Context(), s.by, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range l.Items {
			forward = append(forward, c.ID)
		}
		if l.Next == nil {
			page.Cursor = l.Prev
			break
		}
		page.Cursor = l.Next
	}
	for page.Cursor != nil {
		l, err := s.List(t.Context(), s.by, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range slices.Backward(l.Items) {
			back = append(back, c.ID)
		}
		page.Cursor = l.Prev
	}
	if diff := cmp.Diff(newestFirst, forward); diff != "" {
		t.Errorf("forward (-want +got):\n%s", diff)
	}
	slices.Reverse(back)
	if diff := cmp.Diff(newestFirst[:4], back); diff != "" {
		t.Errorf("and back (-want +got):\n%s", diff)
	}
	if _, err := s.List(t.Context(), s.by, core.Page{Size: 2, Malformed: core.Fields{"cursor": {core.InvalidChoice}}}); !core.IsKind(err, core.KindInvalid) {
		t.Errorf("a bad query = %v", err)
	}
}

// An inactive coupon is listed, and can be activated again.
func TestSetActive(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.coupon(t, fivePoints())
	for _, active := range []bool{false, true} {
		edited, err := s.SetActive(t.Context(), s.by, c.ID, active)
		if err != nil || edited.Active != active || s.find(t, c.ID).Active != active {
			t.Errorf("SetActive(%t) = %+v, %v", active, edited, err)
		}
	}
	refused(t, second(s.SetActive(t.Context(), s.by, core.NewID(s.db.Now()), false)), core.ErrNotFound)
}

// Changes of coupons are in the audit log.
func TestCouponsAreLogged(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.coupon(t, fivePoints())
	dbtest.Tick(s.db)
	voucher := s.voucher(t, c, s.customer(t))
	send := s.stored(t, c)[0].SendID
	s.redeem(t, voucher)
	dbtest.Tick(s.db) // the log has one order
	for range 2 {
		if _, err := s.SetActive(t.Context(), s.by, c.ID, false); err != nil {
			t.Fatal(err)
		}
	}
	dbtest.Tick(s.db)
	if _, err := s.Edit(t.Context(), s.by, c.ID, coupon.Edit{Description: core.Set("For you."), Active: core.Set(true)}); err != nil {
		t.Fatal(err)
	}
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
	if diff := cmp.Diff(want, s.log(t, c.ID)); diff != "" {
		t.Errorf("of the coupon (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`voucher.redeem {"status": "pending"} {"status": "redeemed"} by A owner`}, s.log(t, voucher)); diff != "" {
		t.Errorf("of the voucher (-want +got):\n%s", diff)
	}
}

// Another tenant's coupons look like missing ones.
func TestAnotherTenantsCouponsDoNotExist(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	c := s.coupon(t, fivePoints())
	voucher := s.voucher(t, c, s.customer(t))
	waiting := s.confirmed(t, c, toAll())
	for name, err := range map[string]error{
		"set active":   second(stranger.SetActive(t.Context(), stranger.by, c.ID, false)),
		"leave active": second(stranger.SetActive(t.Context(), stranger.by, c.ID, true)),
		"find":         second(stranger.Find(t.Context(), stranger.by, c.ID)),
		"edit":         second(stranger.Edit(t.Context(), stranger.by, c.ID, coupon.Edit{Name: core.Set("Mine")})),
		"a bad edit":   second(stranger.Edit(t.Context(), stranger.by, c.ID, coupon.Edit{Name: core.Set("")})),
		"send":         second(stranger.Send(t.Context(), stranger.by, c.ID, toAll())),
		"a bad send":   second(stranger.Send(t.Context(), stranger.by, c.ID, coupon.Send{})),
		"evaluate":     second(stranger.Evaluate(t.Context(), stranger.by, waiting.ID)),
		"redeem":       second(stranger.Redeem(t.Context(), stranger.by, voucher)),
		"list sends":   second(stranger.ListSends(t.Context(), stranger.by, c.ID, core.Page{Size: 3})),
		"list sends with a bad query": second(stranger.ListSends(t.Context(), stranger.by, c.ID,
			core.Page{Size: 3, Malformed: core.Fields{"cursor": {core.InvalidChoice}}})),
		"list redeemed": second(stranger.ListRedeemed(t.Context(), stranger.by, c.ID, core.Page{Size: 3})),
		"list redeemed with a bad query": second(stranger.ListRedeemed(t.Context(), stranger.by, c.ID,
			core.Page{Size: 3, Malformed: core.Fields{"cursor": {core.InvalidChoice}}})),
	} {
		if !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s = %v, want ErrNotFound", name, err)
		}
	}
	if l, err := stranger.List(t.Context(), stranger.by, core.Page{Size: 3}); err != nil || len(l.Items) != 0 {
		t.Errorf("a stranger's list: %+v, %v", l.Items, err)
	}
	if l, err := stranger.ListWithCounts(t.Context(), stranger.by, coupon.Filter{}, core.Page{Size: 3}); err != nil || len(l.Items) != 0 {
		t.Errorf("a stranger's list with counts: %+v, %v", l.Items, err)
	}
	if again := s.evaluated(t, waiting.ID); again.Status != coupon.Done || !s.find(t, c.ID).Active {
		t.Errorf("the send is %+v", again)
	}
}

// redeeming redeems a voucher of the coupon twice.
func (s shop) redeeming(t *testing.T, c coupon.Coupon, who core.ID) func() error {
	t.Helper()
	vouchers := []core.ID{s.voucher(t, c, who), s.voucher(t, c, who)}
	return func() error {
		voucher := vouchers[0]
		vouchers = vouchers[1:]
		return second(s.Redeem(t.Context(), s.by, voucher))
	}
}

// The round trips of each use case.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shopOf(t, d)
	ctx := t.Context()
	anna, espresso := s.customer(t), s.espresso(t, nil)
	many := fivePoints()
	many.MaxPerCustomer = new(int64(10))
	plain, unsent := s.coupon(t, many), s.coupon(t, many)
	bilal, rewards := s.customer(t), []core.ID{espresso, s.espresso(t, nil)}
	many.BenefitType, many.BenefitRewardID = new("reward"), new(espresso.String())
	coffee := s.coupon(t, many)
	less := *fivePoints().BenefitValue
	for _, c := range []struct {
		name  string
		want  int
		do    func() error
		wakes bool // the workers, unless they were woken a tenth of a second ago: one more
	}{
		{name: "add", want: 2, do: func() error { return second(s.Add(ctx, s.by, fivePoints())) }},
		{name: "add a reward", want: 3, do: func() error { return second(s.Add(ctx, s.by, many)) }},
		{name: "list", want: 1, do: func() error { return second(s.List(ctx, s.by, core.Page{Size: 3})) }},
		{name: "list with counts", want: 1, do: func() error { return second(s.ListWithCounts(ctx, s.by, coupon.Filter{}, core.Page{Size: 3})) }},
		{name: "find", want: 1, do: func() error { return second(s.Find(ctx, s.by, plain.ID)) }},
		{name: "edit", want: 3, do: func() error { return second(s.Edit(ctx, s.by, plain.ID, coupon.Edit{Name: core.Set("x")})) }},
		{name: "edit to less", want: 3, do: func() error {
			less--
			return second(s.Edit(ctx, s.by, unsent.ID, coupon.Edit{BenefitType: core.Set("points"), BenefitValue: core.Set(less)}))
		}},
		{name: "edit to another reward", want: 4, do: func() error {
			slices.Reverse(rewards)
			return second(s.Edit(ctx, s.by, unsent.ID, coupon.Edit{BenefitType: core.Set("reward"), BenefitRewardID: core.Set(rewards[0].String())}))
		}},
		{name: "switch on what is on", want: 3, do: func() error { return second(s.SetActive(ctx, s.by, plain.ID, true)) }},
		{name: "no vouchers", want: 2, do: func() error { return second(s.ListByCustomer(ctx, s.by, bilal, core.Page{Size: 3})) }},
		{name: "no sends", want: 2, do: func() error { return second(s.ListSends(ctx, s.by, unsent.ID, core.Page{Size: 3})) }},
		{name: "redemptions of none", want: 2, do: func() error { return second(s.ListRedeemed(ctx, s.by, plain.ID, core.Page{Size: 3})) }},
		{name: "send", want: 5, do: func() error { return second(s.Send(ctx, s.by, plain.ID, toAll())) }, wakes: true},
		{name: "send to some", want: 6, do: func() error { return second(s.Send(ctx, s.by, plain.ID, to(coupon.Manual, anna))) }, wakes: true},
		{name: "redeem", want: 3, do: s.redeeming(t, plain, anna)},
		{name: "redeem a reward", want: 4, do: s.redeeming(t, coffee, anna)},
		{name: "sends", want: 1, do: func() error { return second(s.ListSends(ctx, s.by, plain.ID, core.Page{Size: 3})) }},
		{name: "vouchers", want: 1, do: func() error { return second(s.ListByCustomer(ctx, s.by, anna, core.Page{Size: 3})) }},
		{name: "redemptions", want: 1, do: func() error { return second(s.ListRedeemed(ctx, s.by, plain.ID, core.Page{Size: 3})) }},
	} {
		var trips int
		for range 2 { // the first run prepares the statements
			before := count()
			if err := c.do(); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			trips = count() - before
		}
		if c.wakes && trips == c.want+1 {
			trips--
		}
		if trips != c.want {
			t.Errorf("%s: %d round trips, want %d", c.name, trips, c.want)
		}
	}
}
