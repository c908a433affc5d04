package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/sandbox"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/vault"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func newMaker(t *testing.T, d *db.DB) sandbox.Maker {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	jobs, err := job.New(d, log)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := vault.New([]string{"a secret of thirty-two characters"})
	if err != nil {
		t.Fatal(err)
	}
	render := func(context.Context, string, mail.Letter) (mail.Rendered, error) { return mail.Rendered{}, nil }
	return sandbox.Maker{
		DB: d, Tokens: token.NewService(d, mail.New(d, jobs, render, nil, log)), Transactions: transaction.NewService(d),
		Customers: customer.NewService(d), Rewards: reward.NewService(d),
		Coupons: coupon.NewService(d, jobs), Keys: keys,
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

func keys(t *testing.T, v any) (keys []string) {
	t.Helper()
	object, ok := v.(map[string]any)
	if !ok {
		t.Fatalf("%v is not an object", v)
	}
	for key, value := range object {
		if value == nil || value == "" || value == float64(0) {
			t.Errorf("%s is empty", key)
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// "Writes one JSON file": its keys are those of the form, as far as there are records
// of their kind.
func TestTheFilesKeys(t *testing.T) {
	t.Parallel()
	f := run(t, newMaker(t, dbtest.DB(t)))
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]any
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	subset := func(name string, v any, want ...string) {
		t.Helper()
		got := keys(t, v)
		for _, key := range want {
			if !slices.Contains(got, key) {
				t.Errorf("%s has no %s: %v", name, key, got)
			}
		}
	}
	subset("file", file, "base_url", "ca_file", "transactions_post_scope", "tenants", "platform")
	tenants, _ := file["tenants"].([]any)
	if len(tenants) != 2 {
		t.Fatalf("%d tenants, want two", len(tenants))
	}
	for _, one := range tenants {
		subset("tenant", one, "id", "name", "slug", "panel_url", "staff", "tokens", "revoked_token",
			"transaction_type_id", "stamps_transaction_type_id", "rewards", "voided_redemption", "coupon", "vouchers", "race")
		tenant, _ := one.(map[string]any)
		subset("rewards", tenant["rewards"], "in_stock", "out_of_stock", "too_dear", "inactive", "last_one")
		subset("vouchers", tenant["vouchers"], "pending", "redeemed", "expired", "inactive_coupon", "cap_reached")
		subset("race", tenant["race"], "rewards", "big", "vouchers", "capped")
		people, _ := tenant["staff"].(map[string]any)
		if diff := cmp.Diff([]string{"cashier", "manager", "owner"}, keys(t, people)); diff != "" {
			t.Errorf("staff (-want +got):\n%s", diff)
		}
		for _, person := range people {
			subset("person", person, "email", "password")
		}
		if diff := cmp.Diff([]string{
			"all", "coupons:read", "customers:read", "customers:write", "none", "reports:read", "rewards:read", "transactions:write",
		}, keys(t, tenant["tokens"])); diff != "" {
			t.Errorf("tokens (-want +got):\n%s", diff)
		}
	}
	platform, _ := file["platform"].(map[string]any)
	subset("platform", platform, "panel_url", "email", "password", "totp_secret", "token", "tenant_create")
	subset("tenant_create", platform["tenant_create"], "plan_id", "billing_cycle", "payment_method")
}

// The tokens of the file are what they are called: each works, with just its ability;
// the revoked one does not.
func TestTheFilesTokensWork(t *testing.T) {
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

// "1 point for each whole 1.00 spent" and "1 stamp for each transaction".
func TestTheFilesTypesEarnWhatTheySay(t *testing.T) {
	t.Parallel()
	d := dbtest.DB(t)
	m := newMaker(t, d)
	one := run(t, m).Tenants[0]
	caller, err := m.Tokens.Authenticate(t.Context(), one.Tokens["all"], "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := customer.NewService(d).Upsert(t.Context(), caller.Actor, customer.New{
		FirstName: new("Anna"), LastName: new("Lindqvist"), Phone: new("+46 70 174 06 05"),
	})
	if err != nil {
		t.Fatal(err)
	}
	sell := func(kind int64) transaction.Transaction {
		sold, err := m.Transactions.Record(t.Context(), caller.Actor, transaction.New{
			CustomerID: new(c.ID.String()), TransactionTypeID: &kind, SpendAmountCents: new(int64(1299)), Source: transaction.API,
		})
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
func TestEachRunMakesItsOwn(t *testing.T) {
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

// "in_stock": 50 of 1000000, "out_of_stock": 10 of 0, "too_dear", "inactive", three of
// "last_one"; a "voided_redemption" that gave its piece back.
func TestTheFilesRewardsAreInTheirStates(t *testing.T) {
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
	_, err = m.Rewards.Fulfil(t.Context(), caller.Actor, one.VoidedRedemption)
	if !errors.Is(err, reward.ErrVoided) {
		t.Errorf("fulfilling the voided redemption: %v", err)
	}
}

// "eight of these, of the open coupon above", one "redeemed", "expired", of an
// "inactive_coupon" and "cap_reached"; "Vouchers belong to customers of their own; the
// benefit of the coupons is points (5)."
func TestTheFilesVouchersAreInTheirStates(t *testing.T) {
	t.Parallel()
	d := dbtest.DB(t)
	m := newMaker(t, d)
	one := run(t, m).Tenants[0]
	caller, err := m.Tokens.Authenticate(t.Context(), one.Tokens["all"], "")
	if err != nil {
		t.Fatal(err)
	}
	redeem := func(id core.ID) error {
		v, err := m.Coupons.Redeem(t.Context(), caller.Actor, id)
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
