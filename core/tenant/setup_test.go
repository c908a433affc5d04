package tenant_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
)

// A step is done when its record exists, wherever it was created, and the guide ends with its last
// step.
func TestSetupFollowsWhatExists(t *testing.T) {
	t.Parallel()
	d := dbtest.DB(t)
	by := dbtest.Tenant(t, d)
	s := tenant.NewService(d, nil)
	ctx := t.Context()
	at := func(want tenant.Step, done int) {
		t.Helper()
		got, err := s.Setup(ctx, by)
		if err != nil {
			t.Fatal(err)
		}
		if got.Next() != want || got.CountDone() != done || got.StepsDone != done || got.Finished() != (want == "") {
			t.Errorf("next %q with %d done (stored %d, finished %t), want %q with %d", got.Next(), got.CountDone(), got.StepsDone, got.Finished(), want, done)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	at(tenant.BusinessStep, 0)
	_, err := s.ConfirmBusiness(ctx, by)
	must(err)
	at(tenant.RuleStep, 1)
	sales := transaction.NewService(d)
	kind, err := sales.AddType(ctx, by, transaction.NewType{Name: "Purchase", RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 1}})
	must(err)
	at(tenant.RewardStep, 2)

	// A step that was skipped is done all the same when its record is there.
	_, err = s.SkipSetupStep(ctx, by, tenant.RewardStep)
	must(err)
	at(tenant.CustomerStep, 2)
	_, err = reward.NewService(d).Add(ctx, by, reward.New{Name: new("Coffee"), PointsCost: new(int64(50))})
	must(err)
	at(tenant.CustomerStep, 3)

	c, err := customer.NewService(d).Upsert(ctx, by, customer.New{FirstName: new("Elsa"), LastName: new("Berg"), Phone: new("08-465 004 12")})
	must(err)
	at(tenant.SaleStep, 4)
	_, err = sales.Record(ctx, by, transaction.New{
		CustomerID: new(c.ID.String()), TransactionTypeID: &kind.ID, SpendAmountCents: new(int64(1250)), Source: transaction.API,
	})
	must(err)
	at("", 5)
	at("", 5)
	log, err := audit.NewService(d).List(ctx, by, audit.Filter{Action: new("tenant.finish_setup")}, core.Page{Size: 10})
	must(err)
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

func TestSetupNextComesAround(t *testing.T) {
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
	made, err := o.Create(t.Context(), o.by, described(slug()))
	if err != nil {
		t.Fatal(err)
	}
	mails := func() (texts []string) {
		t.Helper()
		rows, err := dbtest.Owner(o.db).Query(t.Context(), "select text from loyalty.mail where tenant_id = $1 order by id", made.ID)
		if err != nil {
			t.Fatal(err)
		}
		if texts, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			t.Fatal(err)
		}
		return texts
	}
	if err := o.MailSetupLink(t.Context(), o.by, made.ID); err != nil {
		t.Fatal(err)
	}
	if got := mails(); len(got) != 2 || !strings.Contains(got[1], "Secret:") {
		t.Errorf("without a password: %q, want another invitation", got)
	}
	_, err = dbtest.Owner(o.db).Exec(t.Context(), `
		insert into loyalty.credential (staff_id, tenant_id, password_hash)
		select id, tenant_id, 'known once' from loyalty.staff where tenant_id = $1
		on conflict (staff_id) do update set password_hash = excluded.password_hash`, made.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.MailSetupLink(t.Context(), o.by, made.ID); err != nil {
		t.Fatal(err)
	}
	if got := mails(); len(got) != 3 || strings.Contains(got[2], "Secret:") || !strings.Contains(got[2], made.Slug) {
		t.Errorf("with a password: %q, want the link to the guide", got)
	}
	owner := core.Actor{Kind: core.ByStaff, Role: core.Owner, Tenant: core.Tenant{ID: made.ID}}
	if err := o.MailSetupLink(t.Context(), owner, made.ID); !errors.Is(err, core.ErrAdmin) {
		t.Errorf("as an owner = %v, want ErrAdmin", err)
	}
	if _, err := o.Suspend(t.Context(), o.by, made.ID, new("Unpaid")); err != nil {
		t.Fatal(err)
	}
	if err := o.MailSetupLink(t.Context(), o.by, made.ID); !errors.Is(err, tenant.ErrSuspended) {
		t.Errorf("while suspended = %v, want ErrSuspended", err)
	}
}
