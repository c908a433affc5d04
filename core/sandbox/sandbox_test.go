package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pquerna/otp/totp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/sandbox"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/transaction"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func newMaker(t *testing.T, d *db.DB) sandbox.Maker {
	t.Helper()
	s := shoptest.Of(t, d, core.Actor{})
	return sandbox.Maker{
		Services: s.Services, DB: d, Keys: dbtest.Keys(),
		BaseURL: "https://localhost:8443", CAFile: "data/ca.pem", PostScope: token.TransactionsWrite,
		TenantURL: func(slug string) string { return "https://" + slug + ".localhost:8443" },
	}
}

func run(t *testing.T, m sandbox.Maker) sandbox.File {
	t.Helper()
	f, err := m.Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The parts in which two files differ.
var own = []struct{ found, name string }{
	{`"password":"[A-Z2-7]{26}"`, `"password":"PASSWORD"`}, // which might look like a ULID
	{`"totp_secret":"[A-Z2-7]{32}"`, `"totp_secret":"SECRET"`},
	{`"[1-9][0-9]*\|[A-Za-z0-9]{40}[0-9a-f]{8}"`, `"TOKEN"`},
	{`"[0-7][0-9A-HJKMNP-TV-Z]{25}"`, `"ULID"`},
	{`\bsandbox-([ab])-[a-z2-7]{5}\b`, `sandbox-$1`},
	{`/(v|unsubscribe|card)/[0-9A-HJKMNP-TV-Z]{26}-[0-9A-HJKMNP-TV-Z]{26}"`, `/$1/LINK"`},
	{`"(all|long_standing|recent_purchase)":\["ULID"(,"ULID")*\]`, `"$1":["ULIDs"]`},
	{`"(inactive|without_email|unsubscribed)":\["ULID"(,"ULID")*\]`, `"$1":["ULIDs"]`},
	{`\badmin-[a-z2-7]{8}@`, `admin@`},
	{`("draft"|"issued"|"overdue"|"paid"|"void"):[1-9][0-9]*`, `$1:1`},
	{`("id"|"transaction_type_id"|"stamps_transaction_type_id"|"now"|"upcoming"|"ended"|"first"|"silver"|"gold"):[1-9][0-9]*`, `$1:1`},
}

// list repeats an item n times.
func list(n int, one string) string {
	return "[" + strings.Repeat(one+",", n-1) + one + "]"
}

// "`loyalty sandbox --out FILE` makes two fresh tenants that have them all and writes one JSON file": exactly
// these fields.
func TestFieldsOfTheFile(t *testing.T) {
	t.Parallel()
	written, err := json.Marshal(run(t, newMaker(t, dbtest.DB(t))))
	if err != nil {
		t.Fatal(err)
	}
	got := string(written)
	for _, o := range own {
		got = regexp.MustCompile(o.found).ReplaceAllString(got, o.name)
	}
	const voucher = `{"ulid":"ULID","coupon":"ULID","customer":"ULID"}`
	piece := func(cost, stock int) string { return fmt.Sprintf(`{"ulid":"ULID","cost":%d,"stock":%d}`, cost, stock) }
	tenant := func(name, slug string) string {
		person := func(role string) string {
			return `"` + role + `":{"email":"` + role + `@` + slug + `.example","password":"PASSWORD"}`
		}
		return `{"id":1,"name":"` + name + `","slug":"` + slug + `","panel_url":"https://` + slug + `.localhost:8443/admin",` +
			`"staff":{` + person("cashier") + `,` + person("manager") + `,` + person("owner") + `},` +
			`"tokens":{"all":"TOKEN","coupons:read":"TOKEN","customers:read":"TOKEN","customers:write":"TOKEN","none":"TOKEN",` +
			`"reports:read":"TOKEN","rewards:read":"TOKEN","transactions:write":"TOKEN"},` +
			`"revoked_token":"TOKEN","transaction_type_id":1,"stamps_transaction_type_id":1,` +
			`"rewards":{"in_stock":` + piece(50, 1_000_000) + `,"out_of_stock":` + piece(10, 0) + `,"too_dear":` + piece(1_000_000_000_000, 1_000_000) +
			`,"inactive":` + piece(10, 10) + `,"last_one":` + list(3, piece(10, 1)) + `},` +
			`"voided_redemption":"ULID","coupon":"ULID",` +
			`"vouchers":{"pending":` + list(8, voucher) + `,"redeemed":` + voucher + `,"expired":` + voucher + `,"inactive_coupon":` + voucher +
			`,"cap_reached":` + voucher + `},` +
			`"till_url":"https://` + slug + `.localhost:8443/till",` +
			`"pages":{"join":"https://` + slug + `.localhost:8443/join","claim":"https://` + slug + `.localhost:8443/w",` +
			`"customer":"ULID","card":"https://` + slug + `.localhost:8443/card/LINK","voucher":"https://` + slug + `.localhost:8443/v/LINK","unsubscribe":"https://` + slug + `.localhost:8443/unsubscribe/LINK"},` +
			`"expiring":{"never":"ULID","one_lot":"ULID","three_lots":"ULID","due_tomorrow":"ULID","below_zero":"ULID","expired_and_voided":"ULID","refunded":"ULID"},` +
			`"earning":{"transaction_type_id":1,"promotions":{"now":1,"upcoming":1,"ended":1},` +
			`"categories":{"cakes":{"id":1,"codes":["sandbox-cakes"],"excluded":false},"gift_cards":{"id":1,"codes":["sandbox-gift-cards"],"excluded":true}},` +
			`"unmapped_code":"sandbox-unmapped","levels":{"first":1,"silver":1,"gold":1},` +
			`"customers":{"first":"ULID","silver":"ULID","gold":"ULID","by_hand":"ULID","ends_this_year":"ULID"},` +
			`"transactions":{"items":"ULID","capped":"ULID"}},` +
			`"send":{"coupon":"ULID","max_per_customer":1,"segments":{"all":["ULIDs"],"long_standing":["ULIDs"],"recent_purchase":["ULIDs"]},` +
			`"inactive":["ULIDs"],"without_email":["ULIDs"],"unsubscribed":["ULIDs"]},` +
			`"race":{"rewards":` + list(12, piece(10, 5)) + `,"big":` + list(3, piece(10, 300)) + `,"vouchers":` + list(12, voucher) +
			`,"capped":` + list(4, `{"coupon":"ULID","cap":5,"vouchers":`+list(24, `"ULID"`)+`}`) + `}}`
	}
	want := `{"base_url":"https://localhost:8443","ca_file":"data/ca.pem","transactions_post_scope":"transactions:write",` +
		`"tenants":[` + tenant("Sandbox A", "sandbox-a") + `,` + tenant("Sandbox B", "sandbox-b") + `],` +
		`"platform":{"panel_url":"https://localhost:8443/platform","email":"admin@sandbox.example","password":"PASSWORD","totp_secret":"SECRET",` +
		`"token":"TOKEN","invoices":{"draft":1,"issued":1,"overdue":1,"paid":1,"void":1},"tenant_create":{"plan_id":1,"billing_cycle":"monthly","payment_method":"manual"}}}`
	lines := strings.NewReplacer(",", ",\n", "{", "{\n", "}", "\n}")
	if diff := cmp.Diff(lines.Replace(want), lines.Replace(got)); diff != "" {
		t.Errorf("the file (-want +got):\n%s", diff)
	}
}

// Each token of the file has just its ability, and the revoked one doesn't work.
func TestTokensInTheFileWork(t *testing.T) {
	t.Parallel()
	d := dbtest.DB(t)
	m := newMaker(t, d)
	f := run(t, m)
	for _, one := range f.Tenants {
		for name, secret := range one.Tokens {
			c, err := m.Tokens.Authenticate(t.Context(), secret, one.Slug)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			want := []token.Ability{token.Ability(name)}
			switch name {
			case "all":
				want = token.Abilities
			case "none":
				want = []token.Ability{}
			}
			if diff := cmp.Diff(want, c.Abilities); diff != "" || c.Tenant.ID != one.ID {
				t.Errorf("%s of tenant %d (-want +got):\n%s", name, c.Tenant.ID, diff)
			}
		}
		if _, err := m.Tokens.Authenticate(t.Context(), one.RevokedToken, ""); !core.IsKind(err, core.KindUnauthenticated) {
			t.Errorf("the revoked token = %v, want ErrUnauthenticated", err)
		}
	}
	c, err := m.Tokens.Authenticate(t.Context(), f.Platform.Token, "")
	if err != nil || !c.IsPlatform() {
		t.Errorf("the platform token = %+v, %v", c, err)
	}
}

// The super-admin signs in with a code of the secret in the file.
func TestTheSuperAdminInTheFileSignsIn(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	m := newMaker(t, d)
	f := run(t, m)
	v := auth.Visitor{Address: "192.0.2.1"}
	in, err := m.Auth.SignIn(t.Context(), v, auth.Credentials{Email: f.Platform.Email, Password: f.Platform.Password.Password})
	if err != nil || !in.NeedsCode || in.Role != core.SuperAdmin {
		t.Fatalf("%+v, %v", in, err)
	}
	code, err := totp.GenerateCode(f.Platform.TOTPSecret, d.Now())
	if err != nil {
		t.Fatal(err)
	}
	if done, err := m.Auth.VerifyCode(t.Context(), v, in.Proof, code); err != nil || !done.Code {
		t.Errorf("%+v, %v", done, err)
	}
}

// "platform.invoices": one in each state, of a separate business.
func TestInvoicesInTheFile(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	m := newMaker(t, d)
	f := run(t, m)
	checkInvoices(t, m, f)
	// The draft stays a draft.
	if err := m.Billing.Bill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if i, err := m.Billing.Find(t.Context(), maker, f.Platform.Invoices[billing.Draft]); err != nil || i.Status != billing.Draft {
		t.Errorf("the draft is %s, %v", i.Status, err)
	}
}

// A server that bills at the same time doesn't disturb the file's invoices.
func TestInvoicesInTheFileBesideAServer(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	m := newMaker(t, d)
	ctx, stop := context.WithCancel(t.Context())
	var server sync.WaitGroup
	server.Go(func() {
		for ctx.Err() == nil {
			if err := m.Billing.Bill(ctx); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	})
	for range 3 {
		checkInvoices(t, m, run(t, m))
	}
	stop()
	server.Wait()
}

func checkInvoices(t *testing.T, m sandbox.Maker, f sandbox.File) {
	t.Helper()
	if len(f.Platform.Invoices) != 5 {
		t.Errorf("invoices %v", f.Platform.Invoices)
	}
	for status, id := range f.Platform.Invoices {
		i, err := m.Billing.Find(t.Context(), maker, id)
		if err != nil || i.Status != status || i.TenantID == f.Tenants[0].ID || i.TenantID == f.Tenants[1].ID || (i.Number == nil) != (status == billing.Draft) {
			t.Errorf("the %s one: %+v, %v", status, i, err)
		}
	}
}

var maker = core.System(core.Tenant{}, "test")

// "1 point for each whole 1.00 spent" and "1 stamp for each transaction".
func TestTypesInTheFileEarnWhatTheySay(t *testing.T) {
	t.Parallel()
	d := dbtest.DB(t)
	m := newMaker(t, d)
	one := run(t, m).Tenants[0]
	caller, err := m.Tokens.Authenticate(t.Context(), one.Tokens["all"], "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := core.Result(customer.NewService(d).Upsert(t.Context(), caller.Actor, customer.New{
		FirstName: "Anna", LastName: "Lindqvist", Phone: "+46 70 174 06 05",
	}, nil))
	if err != nil {
		t.Fatal(err)
	}
	sell := func(kind int64) transaction.Transaction {
		sold, err := core.Result(m.Transactions.Record(t.Context(), caller.Actor, transaction.Sale{
			CustomerID: c.ID, TransactionTypeID: kind, SpendAmountCents: 1299, Source: transaction.API,
		}, nil, nil))
		if err != nil {
			t.Fatal(err)
		}
		return sold
	}
	if got := sell(one.TransactionTypeID).PointsAwarded; got == nil || *got != 12 {
		t.Errorf("12.99 earned %v points, want 12", got)
	}
	if got := sell(one.StampsTransactionTypeID).StampsAwarded; got == nil || *got != 1 {
		t.Errorf("12.99 earned %v stamps, want 1", got)
	}
}

// "Run again it makes two more."
func TestEachRunMakesItsOwnTenants(t *testing.T) {
	t.Parallel()
	m := newMaker(t, dbtest.DB(t))
	slugs, tokens, admins := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for range 2 {
		f := run(t, m)
		for _, one := range f.Tenants {
			slugs[one.Slug], tokens[one.Tokens["all"]] = true, true
			if !strings.Contains(one.PanelURL, one.Slug) {
				t.Errorf("panel of %s is %s", one.Slug, one.PanelURL)
			}
		}
		admins[f.Platform.Email] = true
	}
	if len(slugs) != 4 || len(tokens) != 4 || len(admins) != 2 {
		t.Errorf("%d tenants, %d tokens, %d admins in two runs, want 4, 4, 2", len(slugs), len(tokens), len(admins))
	}
}

// "in_stock": 50 of 1000000, "out_of_stock": 10 of 0, "too_dear", "inactive", three of "last_one"; a
// "voided_redemption" that returned its unit of stock.
func TestRewardsInTheFileAreInTheirStates(t *testing.T) {
	t.Parallel()
	d := dbtest.DB(t)
	m := newMaker(t, d)
	one := run(t, m).Tenants[0]
	caller, err := m.Tokens.Authenticate(t.Context(), one.Tokens["all"], "")
	if err != nil {
		t.Fatal(err)
	}
	l, err := m.Rewards.ListActive(t.Context(), caller.Actor, core.Page{Size: 100})
	if err != nil {
		t.Fatal(err)
	}
	offered := map[core.ID]sandbox.Reward{}
	for _, r := range l.Items {
		offered[r.ID] = sandbox.Reward{ULID: r.ID, Cost: *r.PointsCost, Stock: *r.Stock}
	}
	want := slices.Concat([]sandbox.Reward{one.Rewards.InStock, one.Rewards.OutOfStock, one.Rewards.TooDear},
		one.Rewards.LastOne, one.Race.Rewards, one.Race.Big)
	for _, r := range want {
		if offered[r.ULID] != r {
			t.Errorf("on offer %+v, in the file %+v", offered[r.ULID], r)
		}
	}
	if len(offered) != len(want) || len(one.Rewards.LastOne) != 3 || len(one.Race.Rewards) != 12 || len(one.Race.Big) != 3 {
		t.Errorf("%d on offer, %d in the file: %+v, %+v", len(offered), len(want), one.Rewards, one.Race)
	}
	withdrawn, err := m.Rewards.Find(t.Context(), caller.Actor, one.Rewards.Inactive.ULID)
	if err != nil || withdrawn.Active || *withdrawn.PointsCost != one.Rewards.Inactive.Cost || *withdrawn.Stock != one.Rewards.Inactive.Stock {
		t.Errorf("the inactive one is %+v, %v, in the file %+v", withdrawn, err, one.Rewards.Inactive)
	}
	_, err = core.Result(m.Rewards.Fulfil(t.Context(), caller.Actor, one.VoidedRedemption, nil))
	if !errors.Is(err, reward.ErrVoided) {
		t.Errorf("fulfilling the voided redemption: %v", err)
	}
}

// "eight of these, of the open coupon above", one "redeemed", "expired", of an
// "inactive_coupon" and "cap_reached"; "Vouchers belong to customers of their own; the
// benefit of the coupons is points (5)."
func TestVouchersInTheFileAreInTheirStates(t *testing.T) {
	t.Parallel()
	d := dbtest.DB(t)
	m := newMaker(t, d)
	one := run(t, m).Tenants[0]
	caller, err := m.Tokens.Authenticate(t.Context(), one.Tokens["all"], "")
	if err != nil {
		t.Fatal(err)
	}
	redeem := func(id core.ID) error {
		v, err := core.Result(m.Coupons.Redeem(t.Context(), caller.Actor, id, nil))
		if err == nil && (v.BenefitType != coupon.Points || *v.BenefitValue != 5) {
			t.Errorf("a benefit of %s %d", v.BenefitType, *v.BenefitValue)
		}
		return err
	}
	for name, c := range map[string]struct {
		voucher sandbox.Voucher
		want    error
	}{
		"redeemed":        {one.Vouchers.Redeemed, coupon.ErrAlreadyRedeemed},
		"expired":         {one.Vouchers.Expired, coupon.ErrVoucherExpired},
		"inactive_coupon": {one.Vouchers.InactiveCoupon, coupon.ErrInactive},
		"cap_reached":     {one.Vouchers.CapReached, coupon.ErrCapReached},
	} {
		if err := redeem(c.voucher.ULID); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	open := slices.Concat(one.Vouchers.Pending, one.Race.Vouchers)
	if len(one.Vouchers.Pending) != 8 || len(one.Race.Vouchers) != 12 || len(one.Race.Capped) != 4 {
		t.Fatalf("%d pending, %d in the race, %d capped coupons", len(one.Vouchers.Pending), len(one.Race.Vouchers), len(one.Race.Capped))
	}
	holders := map[core.ID]bool{}
	for _, v := range open {
		holders[v.Customer] = true
		if err := redeem(v.ULID); err != nil || v.Coupon != one.Coupon {
			t.Errorf("a pending voucher %+v: %v", v, err)
		}
	}
	if len(holders) != len(open) {
		t.Errorf("%d customers hold %d vouchers", len(holders), len(open))
	}
	for _, c := range one.Race.Capped {
		if len(c.Vouchers) != 24 || c.Cap != 5 {
			t.Fatalf("a capped coupon of %d vouchers and cap %d", len(c.Vouchers), c.Cap)
		}
		for i, id := range c.Vouchers {
			want := error(nil)
			if i >= 5 {
				want = coupon.ErrCapReached
			}
			if err := redeem(id); !errors.Is(err, want) {
				t.Errorf("voucher %d of a capped coupon: %v, want %v", i, err, want)
			}
		}
	}
}

// "An active coupon with nothing sent, and exactly who is in each segment at this moment".
func TestSegmentsInTheFileAreWhatASendReaches(t *testing.T) {
	t.Parallel()
	d := dbtest.DB(t)
	m := newMaker(t, d)
	one := run(t, m).Tenants[0]
	caller, err := m.Tokens.Authenticate(t.Context(), one.Tokens["all"], "")
	if err != nil {
		t.Fatal(err)
	}
	by := caller.Actor
	for segment, want := range one.Send.Segments {
		p, err := m.Coupons.Preview(t.Context(), by, one.Send.Coupon, coupon.Send{Segment: segment})
		if err != nil || p.Matched != int64(len(want)) || p.Matched < 5 || p.Pending != 0 {
			t.Errorf("%s: %+v, %v; the file has %d", segment, p, err, len(want))
		}
	}
	sent, err := m.Coupons.Send(t.Context(), by, one.Send.Coupon, coupon.Send{Segment: coupon.RecentPurchase, FormKey: "sandbox test"})
	if err != nil {
		t.Fatal(err)
	}
	if sent, err = m.Coupons.Evaluate(t.Context(), by, sent.ID); err != nil {
		t.Fatal(err)
	}
	l, err := m.Coupons.ListSent(t.Context(), by, sent.ID, core.Page{Size: 100})
	if err != nil {
		t.Fatal(err)
	}
	var got, want []core.ID
	for _, v := range l.Items {
		got = append(got, v.CustomerID)
		if mailed := !slices.Contains(one.Send.WithoutEmail, v.CustomerID) && !slices.Contains(one.Send.Unsubscribed, v.CustomerID); mailed != (v.MailStatus != nil) {
			t.Errorf("customer %s is mailed: %t, the file says %t", v.CustomerID, v.MailStatus != nil, mailed)
		}
	}
	for _, who := range one.Send.Segments[coupon.RecentPurchase] {
		if !slices.Contains(one.Send.Inactive, who) {
			want = append(want, who)
		}
	}
	order := func(a, b core.ID) int { return strings.Compare(a.String(), b.String()) }
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("vouchers, and the file (-want +got):\n%s", diff)
	}
}

// "Of one active customer with 120 points, an e-mail and two pending vouchers".
func TestPagesInTheFileAreOfOneCustomer(t *testing.T) {
	t.Parallel()
	d := dbtest.DB(t)
	m := newMaker(t, d)
	one := run(t, m).Tenants[0]
	caller, err := m.Tokens.Authenticate(t.Context(), one.Tokens["all"], "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.Customers.Find(t.Context(), caller.Actor, one.Pages.Customer)
	if err != nil || c.PointsBalance != 120 || c.Email == nil || c.Status != customer.Active {
		t.Errorf("the customer is %+v, %v", c, err)
	}
	l, err := m.Coupons.ListByCustomer(t.Context(), caller.Actor, one.Pages.Customer, core.Page{Size: 10})
	if err != nil || len(l.Items) != 2 || !l.Items[0].Redeemable || !l.Items[1].Redeemable {
		t.Errorf("vouchers %+v, %v", l.Items, err)
	}
	_, token, _ := strings.Cut(one.Pages.Voucher, "/v/")
	v, err := m.Coupons.OpenVoucher(t.Context(), caller.Tenant, token)
	if err != nil || v.CustomerID != c.ID || v.Refusal() != nil {
		t.Errorf("%s opens %+v, %v", one.Pages.Voucher, v, err)
	}
	_, token, _ = strings.Cut(one.Pages.Card, "/card/")
	if err := link.New(m.Keys).Check(token, link.Card, one.ID, c.ID, c.LinkVersion); err != nil {
		t.Errorf("%s: %v", one.Pages.Card, err)
	}
	_, token, _ = strings.Cut(one.Pages.Unsubscribe, "/unsubscribe/")
	if err := link.New(m.Keys).Check(token, link.Unsubscribe, one.ID, c.ID, 0); err != nil {
		t.Errorf("%s: %v", one.Pages.Unsubscribe, err)
	}
}
