package tenant_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
)

// stocked gives a business in a currency amounts of every kind.
func (s shop) stocked(currency string, amounts [5]int64) {
	s.T.Helper()
	s.Exec("update loyalty.tenant set currency = $2, confirm_above_cents = $3 where id = $1", s.owner.Tenant.ID, currency, amounts[4])
	owner := shoptest.Of(s.T, s.DB, s.owner)
	owner.Type("Food", ledger.Points, transaction.Rule{PointsPerUnit: 1, UnitCents: amounts[0], MinSpendCents: amounts[1]})
	owner.Type("Coffee", ledger.Stamps, transaction.Rule{StampsPerTransaction: 1})
	owner.AddReward(reward.New{Name: "Cake", PointsCost: new(int64(10)), CostCents: &amounts[2]})
	owner.AddReward(reward.New{Name: "Tea", PointsCost: new(int64(10)), ValueCents: &amounts[1]})
	owner.Coupon(coupon.New{Name: "Off", BenefitType: "amount", BenefitValue: &amounts[3]})
	owner.Coupon(coupon.New{Name: "Percent", BenefitType: "percent", BenefitValue: new(int64(20))})
}

// amounts returns what stocked set.
func (s shop) amounts() string {
	s.T.Helper()
	var got string
	s.Check(dbtest.Owner(s.DB).QueryRow(s.T.Context(), `
		select concat_ws(' ', n.currency, t.unit_cents, t.min_spend_cents, r.cost_cents, w.value_cents, c.benefit_value, n.confirm_above_cents, p.benefit_value)
		from loyalty.tenant n
		join loyalty.transaction_type t on t.tenant_id = n.id and t.name = 'Food'
		join loyalty.reward r on r.tenant_id = n.id and r.name = 'Cake'
		join loyalty.reward w on w.tenant_id = n.id and w.name = 'Tea'
		join loyalty.coupon c on c.tenant_id = n.id and c.name = 'Off'
		join loyalty.coupon p on p.tenant_id = n.id and p.name = 'Percent'
		where n.id = $1`, s.owner.Tenant.ID).Scan(&got))
	return got
}

// Before the first sale, a new currency converts what is stored by the decimals of both: "1 point for every $ 1.00"
// becomes "every KWD 1.000". It lists each amount first.
func TestCurrencyConvertsAmounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		amounts  [5]int64 // unit, minimum spend and worth, cost, discount, ceiling
		want     string
		rounded  string
	}{
		{"USD", "KWD", [5]int64{100, 550, 275, 300, 50_000}, "KWD 1000 5500 2750 5500 3000 500000 20", ""},
		{"USD", "JPY", [5]int64{100, 150, 275, 20, 50_049}, "JPY 1 2 3 2 1 500 20", "min_spend reward_cost reward_value coupon ceiling"},
		{"KWD", "EUR", [5]int64{1000, 5500, 2755, 3004, 500_000}, "EUR 100 550 276 550 300 50000 20", "reward_cost coupon"},
		{"JPY", "EUR", [5]int64{100, 550, 275, 300, 50_000}, "EUR 10000 55000 27500 55000 30000 5000000 20", ""},
		{"JPY", "KWD", [5]int64{100, 550, 275, 300, 50_000}, "KWD 100000 550000 275000 550000 300000 50000000 20", ""},
		{"KWD", "JPY", [5]int64{1000, 1499, 4, 1500, 1_000_000}, "JPY 1 1 1 1 2 100000 20", "min_spend reward_cost reward_value coupon"},
		{"EUR", "SEK", [5]int64{100, 550, 275, 300, 50_000}, "SEK 100 550 275 550 300 50000 20", ""},
		{"EUR", "IDR", [5]int64{100, 550, 275, 300, 100_000}, "IDR 100 550 275 550 300 10000000 20", ""}, // the default becomes the default
	} {
		t.Run(c.from+" to "+c.to, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			s.stocked(c.from, c.amounts)
			before := s.amounts()
			_, err := s.EditSettings(t.Context(), s.owner, tenant.SettingsEdit{Currency: core.Set(c.to)})
			var change *tenant.CurrencyChangeError
			if !errors.As(err, &change) || change.From != c.from || change.To != c.to {
				t.Fatalf("not asked: %v", err)
			}
			if got := s.amounts(); got != before {
				t.Errorf("unconfirmed, it changed %s to %s", before, got)
			}
			var kinds, rounded []string
			for _, a := range change.Amounts {
				kinds = append(kinds, fmt.Sprint(a.Kind, " ", a.Name, " ", a.Old))
				if change.Rounded(a) {
					rounded = append(rounded, string(a.Kind))
				}
			}
			want := []string{
				fmt.Sprint("rule Food ", c.amounts[0]), fmt.Sprint("min_spend Food ", c.amounts[1]), fmt.Sprint("reward_cost Cake ", c.amounts[2]),
				fmt.Sprint("reward_value Tea ", c.amounts[1]), fmt.Sprint("coupon Off ", c.amounts[3]),
			}
			if c.amounts[4] != core.DefaultCeiling(c.from) {
				want = append(want, fmt.Sprint("ceiling  ", c.amounts[4]))
			}
			if diff := cmp.Diff(want, kinds); diff != "" {
				t.Errorf("listed (-want +got):\n%s", diff)
			}
			if got := strings.Join(rounded, " "); got != c.rounded {
				t.Errorf("rounded: %q, want %q", got, c.rounded)
			}
			s.change(tenant.SettingsEdit{Currency: core.Set(c.to), Confirmed: change.Key()})
			if got := s.amounts(); got != c.want {
				t.Errorf("%s became %s, want %s", before, got, c.want)
			}
		})
	}
}

// What changed since it was listed is listed again; nothing is asked if there is nothing to convert, nor of a program.
func TestCurrencyChangesAreConfirmed(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	if got := s.change(tenant.SettingsEdit{Currency: core.Set("KWD")}); *got.ConfirmAboveCents != 1_000_000 {
		t.Errorf("the default ceiling became %d", *got.ConfirmAboveCents)
	}
	s.stocked("USD", [5]int64{100, 100, 100, 100, 100})
	var listed, again *tenant.CurrencyChangeError
	_, err := s.EditSettings(t.Context(), s.owner, tenant.SettingsEdit{Currency: core.Set("KWD")})
	if !errors.As(err, &listed) {
		t.Fatal(err)
	}
	shoptest.Of(t, s.DB, s.owner).Type("Late", ledger.Points, transaction.Rule{PointsPerUnit: 2, UnitCents: 500})
	_, err = s.EditSettings(t.Context(), s.owner, tenant.SettingsEdit{Currency: core.Set("KWD"), Confirmed: listed.Key()})
	if !errors.As(err, &again) || len(again.Amounts) != len(listed.Amounts)+1 {
		t.Fatalf("a rule that wasn't listed: %v", err)
	}
	_, err = s.EditSettings(t.Context(), s.owner, tenant.SettingsEdit{Currency: core.Set("JPY"), Confirmed: again.Key()})
	if !errors.As(err, &again) {
		t.Fatalf("another currency than was confirmed: %v", err)
	}
	root := core.Actor{Kind: core.ByAdmin, ID: "1", Name: "Root", Role: core.SuperAdmin}
	if _, err = s.Edit(t.Context(), root, s.owner.Tenant.ID, tenant.Edit{Currency: core.Set("KWD"), Confirmed: new("")}); !errors.As(err, &again) {
		t.Fatalf("a person of the platform isn't asked: %v", err)
	}
	if _, err := s.Edit(t.Context(), root, s.owner.Tenant.ID, tenant.Edit{Currency: core.Set("KWD")}); err != nil {
		t.Fatalf("a program is asked: %v", err)
	}
	if got := s.amounts(); got != "KWD 1000 1000 1000 1000 1000 1000 20" {
		t.Errorf("of a program: %s", got)
	}
}

// Of several changes at once each converts what the one before left.
func TestConcurrentCurrencyChanges(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.stocked("USD", [5]int64{100, 100, 100, 100, 100})
	root := core.Actor{Kind: core.ByAdmin, ID: "1", Name: "Root", Role: core.SuperAdmin}
	var all sync.WaitGroup
	for _, to := range []string{"KWD", "EUR", "BHD", "USD", "OMR", "SEK"} {
		all.Go(func() {
			if _, err := s.Edit(context.WithoutCancel(t.Context()), root, s.owner.Tenant.ID, tenant.Edit{Currency: core.Set(to)}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got := s.amounts()
	unit := int64(1)
	for range core.CurrencyDecimals(got[:3]) {
		unit *= 10
	}
	if want := fmt.Sprint(got[:3], strings.Repeat(fmt.Sprint(" ", unit), 6), " 20"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A withdrawn currency can't be chosen, and stays until another one is.
func TestWithdrawnCurrencyStays(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, code := range []string{"HRK", "BGN", "ANG", "CUC", "SLL", "ZWL", "VEF", "MRO", "CLF", "XDR"} {
		_, err := s.EditSettings(t.Context(), s.owner, tenant.SettingsEdit{Currency: core.Set(code)})
		shoptest.WantFields(t, err, core.Fields{"currency": {core.InvalidChoice}})
	}
	s.Exec("update loyalty.tenant set currency = 'HRK' where id = $1", s.owner.Tenant.ID)
	if got := s.change(tenant.SettingsEdit{Name: core.Set("Split"), Currency: core.Set("HRK")}); got.Currency != "HRK" || got.Name != "Split" {
		t.Errorf("%+v", got)
	}
	s.change(tenant.SettingsEdit{Currency: core.Set("EUR")})
}

// A new currency also converts what promotions and levels ask to be spent, and processes that remember rules read them anew.
func TestCurrencyConvertsPromotionsAndLevels(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Exec("update loyalty.tenant set currency = 'JPY' where id = $1", s.owner.Tenant.ID)
	s.Exec(`
		insert into loyalty.promotion (tenant_id, name, unit, percent, min_spend_cents, starts_on, created_at)
		values ($1, 'Double', 'points', 200, 500, '2026-01-01', now()), ($1, 'Always', 'points', 200, 0, '2026-01-01', now())`, s.owner.Tenant.ID)
	s.Exec(`
		insert into loyalty.level_programme (tenant_id, basis, period, starts_on, begun_at, updated_at)
		values ($1, 'spend', 'year', '2026-01-01', now(), now())`, s.owner.Tenant.ID)
	s.Exec("insert into loyalty.level (tenant_id, name, rank, threshold) values ($1, 'Member', 0, 0), ($1, 'Gold', 1, 50000)", s.owner.Tenant.ID)
	stored := func() string {
		return shoptest.Query[string](shoptest.Of(t, s.DB, s.owner), `
			select concat_ws(' ', (select string_agg(min_spend_cents::text, ' ' order by id) from loyalty.promotion where tenant_id = $1),
				(select string_agg(threshold::text, ' ' order by rank) from loyalty.level where tenant_id = $1), earning_version > 0)
			from loyalty.tenant where id = $1`, s.owner.Tenant.ID)
	}
	_, err := s.EditSettings(t.Context(), s.owner, tenant.SettingsEdit{Currency: core.Set("EUR")})
	var change *tenant.CurrencyChangeError
	if !errors.As(err, &change) {
		t.Fatalf("not asked: %v", err)
	}
	want := []tenant.ConvertedAmount{
		{Kind: tenant.PromotionMinSpend, Name: "Double", Old: 500, New: 50_000}, {Kind: tenant.LevelThreshold, Name: "Gold", Old: 50_000, New: 5_000_000},
	}
	if diff := cmp.Diff(want, change.Amounts[:2]); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	if got := stored(); got != "500 0 0 50000 f" {
		t.Errorf("unconfirmed: %s", got)
	}
	_, err = s.EditSettings(t.Context(), s.owner, tenant.SettingsEdit{Currency: core.Set("EUR"), Confirmed: change.Key()})
	s.Check(err)
	if got := stored(); got != "50000 0 0 5000000 t" {
		t.Errorf("converted to %s", got)
	}
}
