package billing_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/tenant"
)

// at returns the books at another instant.
func (b books) at(instant time.Time) books {
	b.T.Helper()
	return booksOf(b.T, b.DB.At(instant))
}

func (b books) plan(name string, monthly, yearly int64, currency string) billing.Plan {
	b.T.Helper()
	p, err := core.Result(b.CreatePlan(b.T.Context(), root, billing.PlanInput{Name: name, MonthlyCents: &monthly, YearlyCents: &yearly, Currency: currency}, nil))
	b.Check(err)
	return p
}

// business creates a tenant on a plan at the books' instant.
func (b books) business(slug, zone string, plan int64, cycle billing.Cycle) tenant.Tenant {
	b.T.Helper()
	made, err := core.Result(b.tenants.Create(b.T.Context(), root, tenant.New{
		Name: "Café " + slug, Slug: slug, Email: slug + "@example.com", PlanID: plan,
		BillingCycle: string(cycle), PaymentMethod: "manual", TimeZone: zone,
	}, nil))
	b.Check(err)
	return made
}

func (b books) bill() {
	b.T.Helper()
	b.Check(b.Bill(b.T.Context()))
}

// invoices returns a tenant's invoices in short, oldest first.
func (b books) invoices(id core.TenantID) (list []billing.Invoice) {
	b.T.Helper()
	p := core.Page{Size: 100}
	l := b.list(billing.Filter{TenantID: new(int64(id))}, p)
	for list = l.Items; l.Next != nil; list = append(list, l.Items...) {
		p.Cursor = l.Next
		l = b.list(billing.Filter{TenantID: new(int64(id))}, p)
	}
	slices.SortFunc(list, func(a, b billing.Invoice) int {
		return cmp.Or(a.PeriodStart.Compare(b.PeriodStart), cmp.Compare(a.ID, b.ID))
	})
	return list
}

func periods(list []billing.Invoice) (lines []string) {
	for _, i := range list {
		lines = append(lines, fmt.Sprintf("%s to %s: %d", i.PeriodStart.Format(time.DateOnly), i.PeriodEnd.Format(time.DateOnly), i.AmountCents))
	}
	return lines
}

func is(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %s\nwant %s", what, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func instant(text string) time.Time {
	at, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		panic(err)
	}
	return at
}

// A tenant that began on the 31st is billed on the last day of shorter months, and on the 31st of
// others.
func TestPeriodsAtTheEndsOfMonths(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	plan := b.plan("Growth", 4900, 49000, "EUR")
	began := b.at(instant("2028-01-31 12:00"))
	monthly := began.business("monthly", "UTC", plan.ID, billing.Monthly)
	leap := b.at(instant("2028-02-29 12:00")).business("leap", "UTC", plan.ID, billing.Yearly)
	b.at(instant("2028-05-31 00:00")).bill()
	is(t, "monthly", periods(b.invoices(monthly.ID)),
		"2028-01-31 to 2028-02-28: 4900", "2028-02-29 to 2028-03-30: 4900", "2028-03-31 to 2028-04-29: 4900",
		"2028-04-30 to 2028-05-30: 4900", "2028-05-31 to 2028-06-29: 4900")
	b.at(instant("2032-02-29 00:00")).bill()
	is(t, "yearly from a leap day", periods(b.invoices(leap.ID)),
		"2028-02-29 to 2029-02-27: 49000", "2029-02-28 to 2030-02-27: 49000", "2030-02-28 to 2031-02-27: 49000",
		"2031-02-28 to 2032-02-28: 49000", "2032-02-29 to 2033-02-27: 49000")
	b.Verify()
}

// Each tenant is billed when the day begins in its zone.
func TestPeriodsAreDaysInTheTenantsZone(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	plan := b.plan("Growth", 4900, 49000, "EUR")
	began := b.at(instant("2026-03-10 12:00"))
	zones := map[string]core.TenantID{}
	for slug, zone := range map[string]string{"auckland": "Pacific/Auckland", "stockholm": "Europe/Stockholm", "honolulu": "Pacific/Honolulu"} {
		zones[slug] = began.business(slug, zone, plan.ID, billing.Monthly).ID
	}
	began.bill()
	for _, step := range []struct {
		at   string
		want map[string]int
	}{
		// 12:00 UTC on the 10th is the 11th in Auckland (UTC+13, from April on +12).
		{"2026-04-09 21:59", map[string]int{"auckland": 1, "stockholm": 1, "honolulu": 1}},
		{"2026-04-09 22:00", map[string]int{"auckland": 1, "stockholm": 2, "honolulu": 1}},
		{"2026-04-10 09:59", map[string]int{"auckland": 1, "stockholm": 2, "honolulu": 1}},
		{"2026-04-10 10:00", map[string]int{"auckland": 1, "stockholm": 2, "honolulu": 2}},
		{"2026-04-10 12:00", map[string]int{"auckland": 2, "stockholm": 2, "honolulu": 2}},
	} {
		b.at(instant(step.at)).bill()
		for slug, want := range step.want {
			if got := len(b.invoices(zones[slug])); got != want {
				t.Errorf("%s UTC, %s: %d invoices, want %d", step.at, slug, got, want)
			}
		}
	}
}

// No period is billed twice, whichever process runs the job and however often.
func TestConcurrentRunsBillOnce(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	plan := b.plan("Growth", 4900, 49000, "EUR")
	began := b.at(instant("2026-01-15 12:00"))
	var tenants []core.TenantID
	for i := range 5 {
		tenants = append(tenants, began.business(fmt.Sprintf("shop-%d", i), "Europe/Stockholm", plan.ID, billing.Monthly).ID)
	}
	later := b.at(instant("2026-06-20 12:00"))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := later.Bill(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	later.bill()
	for _, id := range tenants {
		is(t, "periods", periods(b.invoices(id)),
			"2026-01-15 to 2026-02-14: 4900", "2026-02-15 to 2026-03-14: 4900", "2026-03-15 to 2026-04-14: 4900",
			"2026-04-15 to 2026-05-14: 4900", "2026-05-15 to 2026-06-14: 4900", "2026-06-15 to 2026-07-14: 4900")
	}
	b.Verify()
}

func (b books) move(id core.TenantID, e tenant.Edit) {
	b.T.Helper()
	b.Must(b.tenants.Edit(b.T.Context(), root, id, e))
}

func lines(i billing.Invoice) (lines []string) {
	for _, l := range i.Lines {
		lines = append(lines, fmt.Sprintf("%s: %d", l.Description, l.AmountCents))
	}
	return lines
}

// A change of plan is prorated: a charge is invoiced at once, a credit goes on the next invoice.
func TestPlanChangeIsProrated(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	small, large := b.plan("Small", 3000, 30000, "EUR"), b.plan("Large", 9000, 90000, "EUR")
	shop := b.at(instant("2026-06-01 08:00")).business("kiosk", "UTC", small.ID, billing.Monthly)
	b.at(instant("2026-06-11 08:00")).move(shop.ID, tenant.Edit{PlanID: core.Set(large.ID)}) // 20 of 30 days are left
	got := b.invoices(shop.ID)
	is(t, "invoices after the upgrade", periods(got), "2026-06-01 to 2026-06-30: 3000", "2026-06-11 to 2026-06-30: 4000")
	is(t, "the upgrade", lines(got[1]), "Small plan, unused 11–30 June 2026: -2000", "Large plan, 11–30 June 2026: 6000")

	b.at(instant("2026-06-21 08:00")).move(shop.ID, tenant.Edit{PlanID: core.Set(small.ID)}) // 10 are left
	if got := b.invoices(shop.ID); len(got) != 2 {
		t.Errorf("a downgrade made an invoice: %v", periods(got))
	}
	b.at(instant("2026-07-01 08:00")).bill()
	got = b.invoices(shop.ID)
	is(t, "the next invoice", lines(got[2]), "Small plan, 1–31 July 2026: 3000", "Large plan, unused 21–30 June 2026: -3000", "Small plan, 21–30 June 2026: 1000")
	b.Verify()
}

// A change back on the same day costs nothing and makes no invoice.
func TestPlanChangeAndBackCostsNothing(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	small, large := b.plan("Small", 2999, 30000, "EUR"), b.plan("Large", 9001, 90000, "EUR")
	shop := b.at(instant("2026-06-01 08:00")).business("kiosk", "UTC", large.ID, billing.Monthly)
	noon := b.at(instant("2026-06-12 12:00"))
	noon.move(shop.ID, tenant.Edit{PlanID: core.Set(small.ID)})
	noon.move(shop.ID, tenant.Edit{PlanID: core.Set(large.ID)})
	b.at(instant("2026-07-01 08:00")).bill()
	is(t, "invoices", periods(b.invoices(shop.ID)), "2026-06-01 to 2026-06-30: 9001", "2026-07-01 to 2026-07-31: 9001")
	b.Verify()
}

// A credit is carried over to later invoices until it is used up.
func TestACreditIsCarriedOn(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	large, small := b.plan("Large", 0, 36500, "EUR"), b.plan("Small", 1000, 0, "EUR")
	shop := b.at(instant("2026-01-01 08:00")).business("kiosk", "UTC", large.ID, billing.Yearly)
	at := b.at(instant("2026-12-07 08:00")) // 25 of 365 days are left: 25.00
	at.move(shop.ID, tenant.Edit{PlanID: core.Set(small.ID), BillingCycle: core.Set("monthly")})
	is(t, "so far", periods(b.invoices(shop.ID)), "2026-01-01 to 2026-12-31: 36500")
	b.at(instant("2027-04-02 08:00")).bill()
	got := b.invoices(shop.ID)
	is(t, "invoices", periods(got), "2026-01-01 to 2026-12-31: 36500", "2027-03-01 to 2027-03-31: 500", "2027-04-01 to 2027-04-30: 1000")
	is(t, "the credit", lines(got[1]), "Small plan, 1–31 March 2027: 1000", "Credit from before 1 March 2027: -500")
	b.Verify()
}

// A plan in another currency and another cycle apply from the next period.
func TestCurrencyAndCycleChangeWithTheNextPeriod(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	euros, kronor := b.plan("Euros", 3000, 30000, "EUR"), b.plan("Kronor", 33000, 330000, "SEK")
	shop := b.at(instant("2026-06-01 08:00")).business("kiosk", "UTC", euros.ID, billing.Monthly)
	b.at(instant("2026-06-11 08:00")).move(shop.ID, tenant.Edit{PlanID: core.Set(kronor.ID)})
	b.at(instant("2026-07-11 08:00")).move(shop.ID, tenant.Edit{BillingCycle: core.Set("yearly")})
	b.at(instant("2026-08-01 08:00")).bill()
	got := b.invoices(shop.ID)
	is(t, "invoices", periods(got), "2026-06-01 to 2026-06-30: 3000", "2026-07-01 to 2026-07-31: 33000", "2026-08-01 to 2027-07-31: 330000")
	if got[0].Currency != "EUR" || got[1].Currency != "SEK" {
		t.Errorf("currencies %s, %s", got[0].Currency, got[1].Currency)
	}
	b.Verify()
}

// Days of a suspension are not billed.
func TestASuspendedTenantIsNotBilled(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	plan := b.plan("Growth", 4900, 49000, "EUR")
	shop := b.at(instant("2026-01-10 08:00")).business("kiosk", "UTC", plan.ID, billing.Monthly)
	b.at(instant("2026-01-20 08:00")).bill()
	b.at(instant("2026-01-25 08:00")).move(shop.ID, tenant.Edit{Status: core.Set("suspended")})
	b.at(instant("2026-04-01 08:00")).bill()
	b.at(instant("2026-04-05 08:00")).move(shop.ID, tenant.Edit{Status: core.Set("active")})
	b.at(instant("2026-04-06 08:00")).bill()
	is(t, "invoices", periods(b.invoices(shop.ID)), "2026-01-10 to 2026-02-09: 4900", "2026-04-05 to 2026-05-04: 4900")
	b.Verify()
}

// Three years in several time zones, with random changes of plan and cycle, suspensions and missed
// runs, give the same periods as a simple calendar.
func TestThreeYears(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	begin := instant("2026-11-22 05:00")
	issuer(t, b)
	plans := []billing.Plan{b.plan("Small", 1900, 19000, "EUR"), b.plan("Medium", 4900, 49000, "EUR"), b.plan("Large", 9900, 99000, "EUR")}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // which changes are tried is no secret
	zones := []string{"Pacific/Auckland", "Asia/Kolkata", "Europe/Stockholm", "UTC", "America/St_Johns", "Pacific/Honolulu"}
	type shop struct {
		tenant.Tenant
		zone    *time.Location
		active  bool
		covered map[string]bool // days on which it was active
	}
	var shops []*shop
	for n, zone := range zones {
		cycle := []billing.Cycle{billing.Monthly, billing.Yearly}[n%2]
		made := b.at(begin.AddDate(0, 0, n*11)).business(fmt.Sprintf("shop-%d", n), zone, plans[n%3].ID, cycle)
		where, err := core.Zone(zone)
		b.Check(err)
		shops = append(shops, &shop{made, where, true, map[string]bool{}})
	}
	end := begin.AddDate(3, 0, 0)
	at, standstill := begin.AddDate(0, 2, 0), 0
	for ; at.Before(end); at = at.Add(time.Duration(12+chance.IntN(96)) * time.Hour) {
		now := b.at(at)
		s := shops[chance.IntN(len(shops))]
		switch chance.IntN(24) {
		case 0:
			now.move(s.ID, tenant.Edit{PlanID: core.Set(plans[chance.IntN(3)].ID)})
		case 1:
			now.move(s.ID, tenant.Edit{BillingCycle: core.Set([]string{"monthly", "yearly"}[chance.IntN(2)])})
		case 2:
			now.bill() // bills periods that began before the suspension
			s.active = !s.active
			now.move(s.ID, tenant.Edit{Status: core.Set(map[bool]string{true: "active", false: "suspended"}[s.active])})
		case 3:
			standstill = chance.IntN(20)
		}
		if standstill--; standstill < 0 {
			now.bill()
			if chance.IntN(4) == 0 {
				now.bill()
			}
		}
	}
	at = end
	b.at(at).bill()

	type stretch struct {
		PeriodStart, PeriodEnd time.Time
	}
	for _, s := range shops {
		billed, err := db.All[stretch](t.Context(), b.DB.Platform(), "select period_start, period_end from loyalty.billing_period where tenant_id = @id order by 1", db.Args{"id": s.ID})
		b.Check(err)
		for n, p := range billed {
			if p.PeriodStart.After(p.PeriodEnd) || n > 0 && !p.PeriodStart.After(billed[n-1].PeriodEnd) {
				t.Errorf("%s: %v follows %v", s.Slug, p, billed[n-1])
			}
		}
		first, last := billed[0], billed[len(billed)-1]
		year, month, day := s.CreatedAt.In(s.zone).Date()
		if want := time.Date(year, month, day, 0, 0, 0, 0, time.UTC); !first.PeriodStart.Equal(want) {
			t.Errorf("%s begins on %v, want the day of its creation there, %v", s.Slug, first.PeriodStart, want)
		}
		year, month, day = at.In(s.zone).Date()
		today := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
		if s.active && (last.PeriodStart.After(today) || last.PeriodEnd.Before(today)) {
			t.Errorf("%s: the last period is %v, today %v", s.Slug, last, today)
		}
	}
	numbers := map[int64]bool{}
	issued := 0
	for _, s := range shops {
		for _, i := range b.invoices(s.ID) {
			if i.Number == nil {
				t.Errorf("%s: invoice %d was not issued", s.Slug, i.ID)
				continue
			}
			issued++
			numbers[*i.Number] = true
		}
	}
	for n := range issued { // "numbered without gaps"
		if !numbers[int64(n+1)] {
			t.Errorf("number %d of %d is missing", n+1, issued)
		}
	}
	if issued < 15 {
		t.Errorf("only %d invoices in three years", issued)
	}
	b.Verify()
}

// issuer sets the issuer, so that the job issues invoices.
func issuer(t *testing.T, b books) {
	t.Helper()
	_, err := b.EditSettings(t.Context(), root, billing.SettingsInput{
		IssuerName: "Loyalty AB", IssuerAddress: "Kungsgatan 12\n111 35 Stockholm", IssuerTaxNumber: "SE559900112201", IssuerEmail: "billing@loyalty.example",
		TaxName: "VAT", TaxRate: new(int64(2500)), PaymentText: "Pay to SE45 5000.", PaymentDays: new(int64(30)), IssueAutomatically: true,
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A tenant that can't be billed doesn't hold up the others.
func TestOneTenantFails(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	plan := b.plan("Growth", 4900, 49000, "EUR")
	at := b.at(instant("2026-06-01 08:00"))
	broken, whole := at.business("broken", "UTC", plan.ID, billing.Monthly), at.business("whole", "UTC", plan.ID, billing.Monthly)
	b.Exec("update loyalty.tenant set timezone = 'Europe/London' where id = $1", broken.ID)
	b.Exec("insert into loyalty.billing_period (tenant_id, period_start, period_end, billing_cycle, plan_id, rate_cents, price_cents, currency, created_at) values ($1, '2026-06-01', '2026-06-01', 'monthly', $2, 0, 0, 'EUR', now())", broken.ID, plan.ID)
	err := at.Bill(t.Context())
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("tenant %d", broken.ID)) {
		t.Errorf("Bill = %v, want the broken tenant's error", err)
	}
	if got := b.invoices(whole.ID); len(got) != 1 {
		t.Errorf("the other one has %v", periods(got))
	}
	if got := b.invoices(broken.ID); len(got) != 0 {
		t.Errorf("half of it was written: %v", periods(got))
	}
}

// Concurrent issues get consecutive numbers, also when one of them fails.
func TestNumbersHaveNoGap(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	shop := dbtest.Tenant(t, b.DB).Tenant.ID
	var drafts []int64
	for range 12 {
		drafts = append(drafts, b.drafted(shop))
	}
	if _, err := core.Result(b.Issue(t.Context(), root, drafts[0], nil)); !errors.Is(err, billing.ErrNoIssuer) {
		t.Errorf("Issue = %v, want ErrNoIssuer", err)
	}
	issuer(t, b)
	var all sync.WaitGroup
	for _, id := range drafts {
		for range 3 { // by three people
			all.Go(func() {
				if _, err := core.Result(b.Issue(context.Background(), root, id, nil)); err != nil && !errors.Is(err, billing.ErrNotDraft) {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	var numbers []int64
	for _, i := range b.invoices(shop) {
		numbers = append(numbers, *i.Number)
	}
	slices.Sort(numbers)
	if want := []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}; !slices.Equal(numbers, want) {
		t.Errorf("numbers %v", numbers)
	}
	b.Verify()
}

// An issued invoice keeps its details.
func TestIssuedInvoiceDoesNotChange(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	issuer(t, b)
	owner := dbtest.Tenant(t, b.DB)
	at := b.at(instant("2026-11-01 08:00"))
	_, err := at.EditDetails(t.Context(), owner, billing.DetailsInput{Name: "Café Åro AB", Address: "Storgatan 4\n111 23 Stockholm", TaxNumber: "SE556677889901"})
	b.Check(err)
	i, err := core.Result(at.Issue(t.Context(), root, b.drafted(owner.Tenant.ID), nil))
	b.Check(err)
	if i.Name() != "2026-0001" || i.DueAt.In(i.Zone()).Format("2 January 2006, 15:04:05") != "1 December 2026, 23:59:59" || i.TotalCents != 6125 {
		t.Errorf("issued %s, due %v, total %d", i.Name(), i.DueAt, i.TotalCents)
	}
	b.Must(b.EditSettings(t.Context(), root, billing.SettingsInput{IssuerName: "Another AB", IssuerAddress: "Elsewhere", TaxName: "GST", TaxRate: new(int64(100)), PaymentDays: new(int64(5))}))
	b.Must(b.EditDetails(t.Context(), owner, billing.DetailsInput{Name: "Renamed"}))
	found, err := at.FindOwn(t.Context(), owner, i.ID)
	b.Check(err)
	if found.Issuer.Name != "Loyalty AB" || found.Recipient != (billing.Party{Name: "Café Åro AB", Address: "Storgatan 4\n111 23 Stockholm", TaxNumber: "SE556677889901", Email: "owner@example.com"}) ||
		found.TaxName != "VAT" || found.TaxCents != 1225 || found.PaymentText != "Pay to SE45 5000." {
		t.Errorf("it says now %+v", found)
	}
	stranger := dbtest.Tenant(t, b.DB)
	if _, err := b.FindOwn(t.Context(), stranger, i.ID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a stranger: %v, want ErrNotFound", err)
	}
	if _, err := b.FindOwn(t.Context(), owner, b.drafted(owner.Tenant.ID)); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a draft: %v, want ErrNotFound", err)
	}
	if l, err := b.ListOwn(t.Context(), owner, core.Page{Size: 10}); err != nil || len(l.Items) != 1 || l.Items[0].ID != i.ID {
		t.Errorf("own invoices %+v, %v", l, err)
	}
	for _, role := range []core.Role{core.Manager, core.Cashier} {
		by := dbtest.Person(t, b.DB, owner, role)
		if _, err := b.ListOwn(t.Context(), by, core.Page{Size: 10}); !errors.Is(err, core.ErrRole) {
			t.Errorf("%s: %v, want ErrRole", role, err)
		}
		if _, err := b.Service.Account(t.Context(), by); !errors.Is(err, core.ErrRole) {
			t.Errorf("%s: %v, want ErrRole", role, err)
		}
	}
}

// An invoice goes from draft to issued, then to paid, overdue or void.
func TestStatesOfAnInvoice(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	issuer(t, b)
	owner := dbtest.Tenant(t, b.DB)
	at := b.at(instant("2026-11-01 08:00"))
	day := func(text string) time.Time { return instant(text + " 00:00") }
	pay := func(b books, id int64, on string) error {
		_, err := core.Result(b.MarkPaid(t.Context(), root, id, day(on), nil))
		return err
	}
	void := func(b books, id int64, reason string) error {
		_, err := core.Result(b.Void(t.Context(), root, id, reason, nil))
		return err
	}
	draft, late, bad := b.drafted(owner.Tenant.ID), b.drafted(owner.Tenant.ID), b.drafted(owner.Tenant.ID)
	if err := pay(at, draft, "2026-11-01"); !errors.Is(err, billing.ErrNotOpen) {
		t.Errorf("a draft is paid: %v", err)
	}
	for _, id := range []int64{draft, late} {
		b.Must(core.Result(at.Issue(t.Context(), root, id, nil)))
	}
	for _, on := range []string{"2026-10-31", "2026-11-02"} { // before its issue, and in the future
		if err := pay(at, draft, on); !core.IsKind(err, core.KindInvalid) {
			t.Errorf("paid on %s: %v", on, err)
		}
	}
	if err := pay(at, draft, "2026-11-01"); err != nil {
		t.Error(err)
	}
	if err := pay(at, draft, "2026-11-01"); !errors.Is(err, billing.ErrNotOpen) {
		t.Errorf("paid twice: %v", err)
	}
	if err := void(at, draft, "a mistake"); !errors.Is(err, billing.ErrNoVoid) {
		t.Errorf("a paid one is voided: %v", err)
	}
	if err := void(at, bad, " "); !core.IsKind(err, core.KindInvalid) {
		t.Errorf("voided without a reason: %v", err)
	}
	if err := void(at, bad, "a mistake"); err != nil {
		t.Error(err)
	}
	status := func(b books, id int64) billing.Status {
		i, err := b.Find(t.Context(), root, id)
		b.Check(err)
		return i.Status
	}
	// The due day is the last one, in the tenant's zone (23:00 UTC is midnight in Stockholm).
	before, after := b.at(instant("2026-12-01 22:59")), b.at(instant("2026-12-01 23:00"))
	if got := status(before, late); got != billing.Issued {
		t.Errorf("on its last day it is %s", got)
	}
	if got := status(after, late); got != billing.Overdue { // before any job ran
		t.Errorf("after its last day it is %s", got)
	}
	if got := after.list(billing.Filter{Status: new("overdue")}, core.Page{Size: 9}); len(got.Items) != 1 {
		t.Errorf("the list of overdue ones has %d", len(got.Items))
	}
	before.bill()
	after.bill()
	after.bill()
	mails := b.deliveries()
	is(t, "deliveries", mails, fmt.Sprintf("%d", draft), fmt.Sprintf("%d", late), fmt.Sprintf("%d reminder", late))
	if err := pay(after, late, "2026-12-01"); err != nil {
		t.Error(err)
	}
	b.Verify()
}

// deliveries returns the jobs that mail invoices, by invoice.
func (b books) deliveries() (list []string) {
	b.T.Helper()
	pending, err := db.In(b.T.Context(), b.DB.Platform(), func(tx *db.Tx) ([]billing.Delivery, error) {
		pending, _, err := job.Pending[billing.Delivery](b.T.Context(), tx)
		return pending, err
	})
	b.Check(err)
	for _, d := range pending {
		line := fmt.Sprint(d.Invoice)
		if d.Reminder {
			line += " reminder"
		}
		list = append(list, line)
	}
	slices.Sort(list)
	return list
}

// A plan in use can be retired, but not deleted.
func TestPlans(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	growth := b.plan("Growth", 4900, 49000, "EUR")
	unused := b.plan("Unused", 100, 1000, "EUR")
	shop := b.business("kiosk", "UTC", growth.ID, billing.Monthly)
	if err := b.DeletePlan(t.Context(), root, growth.ID); !errors.Is(err, billing.ErrPlanInUse) {
		t.Errorf("a plan in use is deleted: %v", err)
	}
	if err := b.DeletePlan(t.Context(), root, unused.ID); err != nil {
		t.Error(err)
	}
	if p, err := b.RetirePlan(t.Context(), root, growth.ID); err != nil || !p.Retired {
		t.Errorf("retired: %+v, %v", p, err)
	}
	if _, err := core.Result(b.tenants.Create(t.Context(), root, tenant.New{
		Name: "New", Slug: "new-one", Email: "new@example.com", PlanID: growth.ID, BillingCycle: "monthly", PaymentMethod: "manual",
	}, nil)); !core.IsKind(err, core.KindInvalid) {
		t.Errorf("a new tenant is on a retired plan: %v", err)
	}
	b.bill() // it keeps its plan
	if got := b.invoices(shop.ID); len(got) != 1 {
		t.Errorf("invoices %v", periods(got))
	}
	edit := func(currency string, monthly int64) error {
		_, err := b.EditPlan(t.Context(), root, growth.ID, billing.PlanInput{Name: "Growth", MonthlyCents: &monthly, YearlyCents: new(int64(1)), Currency: currency, StaffLimit: new(int64(3))})
		return err
	}
	if err := edit("SEK", 1); !core.IsKind(err, core.KindInvalid) {
		t.Errorf("another currency: %v", err)
	}
	if err := edit("EUR", -1); !core.IsKind(err, core.KindInvalid) {
		t.Errorf("a price below zero: %v", err)
	}
	if err := edit("EUR", 5900); err != nil {
		t.Error(err)
	}
	if _, err := core.Result(b.CreatePlan(t.Context(), root, billing.PlanInput{Name: "Growth", MonthlyCents: new(int64(1)), YearlyCents: new(int64(1)), Currency: "EUR"}, nil)); !core.IsKind(err, core.KindInvalid) {
		t.Errorf("a name twice: %v", err)
	}
	if _, err := b.ReopenPlan(t.Context(), root, growth.ID); err != nil {
		t.Error(err)
	}
	list, err := b.Plans(t.Context(), root)
	if err != nil || len(list) != 2 || list[1].Name != "Growth" || list[1].Tenants != 1 || list[1].MonthlyCents != 5900 || *list[1].StaffLimit != 3 {
		t.Errorf("plans %+v, %v", list, err)
	}
}

// No tenant's actor can use billing.
func TestBillingIsForSuperAdmins(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	owner := dbtest.Tenant(t, b.DB)
	ctx := t.Context()
	for name, call := range map[string]func() error{
		"Plans":        func() error { _, err := b.Plans(ctx, owner); return err },
		"Plan":         func() error { _, err := b.Plan(ctx, owner, 1); return err },
		"CreatePlan":   func() error { _, err := core.Result(b.CreatePlan(ctx, owner, billing.PlanInput{}, nil)); return err },
		"EditPlan":     func() error { _, err := b.EditPlan(ctx, owner, 1, billing.PlanInput{}); return err },
		"RetirePlan":   func() error { _, err := b.RetirePlan(ctx, owner, 1); return err },
		"ReopenPlan":   func() error { _, err := b.ReopenPlan(ctx, owner, 1); return err },
		"DeletePlan":   func() error { return b.DeletePlan(ctx, owner, 1) },
		"Settings":     func() error { _, err := b.Settings(ctx, owner); return err },
		"EditSettings": func() error { _, err := b.EditSettings(ctx, owner, billing.SettingsInput{}); return err },
		"List":         func() error { _, err := b.List(ctx, owner, billing.Filter{}, core.Page{Size: 1}); return err },
		"Counts":       func() error { _, err := b.Counts(ctx, owner, billing.Filter{}); return err },
		"Find":         func() error { _, err := b.Find(ctx, owner, 1); return err },
		"Issue":        func() error { _, err := core.Result(b.Issue(ctx, owner, 1, nil)); return err },
		"MarkPaid":     func() error { _, err := core.Result(b.MarkPaid(ctx, owner, 1, b.DB.Now(), nil)); return err },
		"Void":         func() error { _, err := core.Result(b.Void(ctx, owner, 1, "x", nil)); return err },
		"Send":         func() error { _, err := core.Result(b.Send(ctx, owner, 1, nil)); return err },
	} {
		if err := call(); !errors.Is(err, core.ErrAdmin) {
			t.Errorf("%s = %v, want ErrAdmin", name, err)
		}
	}
}
