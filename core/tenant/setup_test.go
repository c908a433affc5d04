package tenant_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/tenant"
)

// A step is done when its record exists, wherever it was created, and the guide ends with its last
// step.
func TestSetupFollowsWhatExists(t *testing.T) {
	t.Parallel()
	shop := shoptest.New(t)
	by, ctx := shop.By, t.Context()
	s := shop.Tenants
	at := func(want tenant.Step, done int) {
		t.Helper()
		got, err := s.Setup(ctx, by)
		shop.Check(err)
		if got.Next() != want || got.CountDone() != done || got.StepsDone != done || got.Finished() != (want == "") {
			t.Errorf("next %q with %d done (stored %d, finished %t), want %q with %d", got.Next(), got.CountDone(), got.StepsDone, got.Finished(), want, done)
		}
	}
	at(tenant.BusinessStep, 0)
	_, err := s.ConfirmBusiness(ctx, by)
	shop.Check(err)
	at(tenant.RuleStep, 1)
	purchase := shop.Points(100)
	at(tenant.RewardStep, 2)

	// A skipped step is done when its record exists.
	shop.Must(s.SkipSetupStep(ctx, by, tenant.RewardStep))
	at(tenant.CustomerStep, 2)
	shop.Reward(50, nil)
	at(tenant.CustomerStep, 3)

	elsa := shop.Customer()
	at(tenant.SaleStep, 4)
	shop.Sale(elsa.ID, purchase, 1250)
	at("", 5)
	at("", 5)
	log, err := shop.Audit.List(ctx, by, audit.Filter{Action: new("tenant.finish_setup")}, core.Page{Size: 10})
	shop.Check(err)
	if len(log.Items) != 1 {
		t.Errorf("finished %d times, want once", len(log.Items))
	}
}

func TestSetupIsDismissed(t *testing.T) {
	t.Parallel()
	d := dbtest.DB(t)
	by := dbtest.Tenant(t, d)
	s := tenant.NewService(d, nil)
	if _, err := s.SkipSetupStep(t.Context(), by, "dance"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("skip an unknown step = %v, want ErrNotFound", err)
	}
	for range 2 {
		if got, err := s.DismissSetup(t.Context(), by); err != nil || !got.Finished() || got.Next() != tenant.BusinessStep {
			t.Errorf("dismissed = %+v, %v", got, err)
		}
	}
	if got, err := s.Setup(t.Context(), by); err != nil || !got.Finished() {
		t.Errorf("after dismissing = %+v, %v", got, err)
	}
}

// Only owners use the guide.
func TestSetupIsForOwners(t *testing.T) {
	t.Parallel()
	d := dbtest.DB(t)
	manager := dbtest.Person(t, d, dbtest.Tenant(t, d), core.Manager)
	s := tenant.NewService(d, nil)
	_, read := s.Setup(t.Context(), manager)
	_, confirm := s.ConfirmBusiness(t.Context(), manager)
	_, skip := s.SkipSetupStep(t.Context(), manager, tenant.RuleStep)
	_, dismiss := s.DismissSetup(t.Context(), manager)
	for what, err := range map[string]error{"read": read, "confirm": confirm, "skip": skip, "dismiss": dismiss} {
		if !errors.Is(err, core.ErrRole) {
			t.Errorf("%s as a manager = %v, want ErrRole", what, err)
		}
	}
}

func TestTheNextSetupStepWrapsAround(t *testing.T) {
	t.Parallel()
	id := core.ID{1}
	s := tenant.Setup{RuleID: new(int64(1)), CustomerID: &id, Skipped: []string{"sale"}}
	var got []tenant.Step
	for _, step := range tenant.Steps {
		got = append(got, s.NextAfter(step))
	}
	want := []tenant.Step{tenant.RewardStep, tenant.RewardStep, tenant.BusinessStep, tenant.BusinessStep, tenant.BusinessStep}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSetupRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	by := dbtest.Tenant(t, d)
	s := tenant.NewService(d, nil)
	if _, err := s.SkipSetupStep(t.Context(), by, tenant.RuleStep); err != nil { // prepares the statements
		t.Fatal(err)
	}
	if _, err := s.Setup(t.Context(), by); err != nil {
		t.Fatal(err)
	}
	before := count()
	if _, err := s.Setup(t.Context(), by); err != nil {
		t.Fatal(err)
	}
	if got := count() - before; got != 1 {
		t.Errorf("%d round trips to read, want 1", got)
	}
	before = count()
	if _, err := s.SkipSetupStep(t.Context(), by, tenant.RuleStep); err != nil {
		t.Fatal(err)
	}
	if got := count() - before; got != 2 {
		t.Errorf("%d round trips to skip, want 2", got)
	}
}

// The owner is mailed the invitation again while they have no password, then the link to the guide.
func TestSetupLinkIsMailedAgain(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	made, err := core.Result(o.Create(t.Context(), o.By, described(slug()), nil))
	o.Check(err)
	mails := func() []string {
		t.Helper()
		return shoptest.QueryAll[string](o.Shop, "select text from loyalty.mail where tenant_id = $1 order by id", made.ID)
	}
	o.Check(o.MailSetupLink(t.Context(), o.By, made.ID))
	if got := mails(); len(got) != 2 || !strings.Contains(got[1], "Secret:") {
		t.Errorf("without a password: %q, want another invitation", got)
	}
	o.Exec(`
		insert into loyalty.credential (staff_id, tenant_id, password_hash)
		select id, tenant_id, 'known once' from loyalty.staff where tenant_id = $1
		on conflict (staff_id) do update set password_hash = excluded.password_hash`, made.ID)
	o.Check(o.MailSetupLink(t.Context(), o.By, made.ID))
	if got := mails(); len(got) != 3 || strings.Contains(got[2], "Secret:") || !strings.Contains(got[2], made.Slug) {
		t.Errorf("with a password: %q, want the link to the guide", got)
	}
	owner := core.Actor{Kind: core.ByStaff, Role: core.Owner, Tenant: core.Tenant{ID: made.ID}}
	if err := o.MailSetupLink(t.Context(), owner, made.ID); !errors.Is(err, core.ErrAdmin) {
		t.Errorf("as an owner = %v, want ErrAdmin", err)
	}
	o.Must(o.Suspend(t.Context(), o.By, made.ID, "Unpaid"))
	if err := o.MailSetupLink(t.Context(), o.By, made.ID); !errors.Is(err, tenant.ErrSuspended) {
		t.Errorf("while suspended = %v, want ErrSuspended", err)
	}
}
