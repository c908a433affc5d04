package token_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
)

// expiring creates a token that ends after a number of days.
func (o office) expiring(name string, days int) token.Created {
	o.T.Helper()
	made, err := core.Result(o.Create(o.T.Context(), o.By, token.New{Name: name, Scopes: &[]string{}, ExpiresAt: new(o.DB.Now().AddDate(0, 0, days))}, nil))
	o.Check(err)
	return made
}

// warnings returns the e-mails about tokens that expire: "owner@… {Till,Web shop}".
func (o office) warnings() []string {
	o.T.Helper()
	return shoptest.QueryAll[string](o.Shop, `
		select recipient || ' ' || array(select m[1] from regexp_matches(text, 'Token:(\w+)', 'g') m)::text
		from loyalty.mail
		where subject = 'token.ExpiryEmail'
		order by created_at, recipient, text`)
}

// warnAfter runs the job in several processes some days later.
func (o office) warnAfter(days float64) {
	o.T.Helper()
	later := o.at(o.DB.Now().Add(time.Duration(days * 24 * float64(time.Hour))))
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if err := later.Warn(o.T.Context()); err != nil {
				o.T.Error(err)
			}
		})
	}
	all.Wait()
}

// "An e-mail 14 and 2 days before a token expires": to each owner, once.
func TestExpiringTokensAreToldTwice(t *testing.T) {
	t.Parallel()
	o := officeIn(t, dbtest.OwnDB(t)) // the job works on all tenants
	o.Exec("update loyalty.staff set email = 'maja@example.com' where id = $1", o.By.StaffID)
	colleague := o.Person(core.Owner)
	o.Exec("update loyalty.staff set email = 'ida@example.com' where id = $1", colleague.StaffID)
	o.Exec("update loyalty.staff set email = 'manager@example.com' where id = $1", o.Person(core.Manager).StaffID)
	o.expiring("Till", 30)
	o.expiring("Brief", 10) // who created it knows
	revoked := o.expiring("Revoked", 30)
	o.Must(core.Result(o.Revoke(t.Context(), o.By, revoked.ID, nil)))
	o.create("Endless")

	steps := []struct {
		after float64
		want  string
	}{
		{7, ""},
		{8.5, "ida@example.com {Brief} maja@example.com {Brief}"}, // two days before
		{15.9, "ida@example.com {Brief} maja@example.com {Brief}"},
		{16.1, "ida@example.com {Brief} maja@example.com {Brief} ida@example.com {Till} maja@example.com {Till}"},
		{20, "ida@example.com {Brief} maja@example.com {Brief} ida@example.com {Till} maja@example.com {Till}"},
		{28.5, "ida@example.com {Brief} maja@example.com {Brief} ida@example.com {Till} maja@example.com {Till} ida@example.com {Till} maja@example.com {Till}"},
		{29.9, "ida@example.com {Brief} maja@example.com {Brief} ida@example.com {Till} maja@example.com {Till} ida@example.com {Till} maja@example.com {Till}"},
		{31, "ida@example.com {Brief} maja@example.com {Brief} ida@example.com {Till} maja@example.com {Till} ida@example.com {Till} maja@example.com {Till}"},
	}
	for _, step := range steps {
		o.warnAfter(step.after)
		if got := strings.Join(o.warnings(), " "); got != step.want {
			t.Errorf("after %.1f days told: %s\nwant %s", step.after, got, step.want)
		}
	}
}

// A process that was away for long mails the last warning alone. Tokens of one owner are in one e-mail.
func TestLateWarnings(t *testing.T) {
	t.Parallel()
	o := officeIn(t, dbtest.OwnDB(t))
	o.Exec("update loyalty.staff set email = 'maja@example.com' where id = $1", o.By.StaffID)
	o.expiring("Till", 30)
	o.expiring("Shop", 31)
	o.warnAfter(29.5)
	wantLines(t, "told", o.warnings(), "maja@example.com {Till,Shop}")
}

// The tokens of a suspended business don't work, so no one is told until it is reactivated.
func TestSuspendedBusinessesAreNotWarned(t *testing.T) {
	t.Parallel()
	o := officeIn(t, dbtest.OwnDB(t))
	o.Exec("update loyalty.staff set email = 'maja@example.com' where id = $1", o.By.StaffID)
	o.expiring("Till", 30)
	system := core.System(core.Tenant{}, "test")
	o.Must(o.Tenants.Edit(t.Context(), system, o.By.Tenant.ID, tenant.Edit{Status: core.Set("suspended")}))
	o.warnAfter(20)
	wantLines(t, "told while suspended", o.warnings())
	o.Must(o.Tenants.Edit(t.Context(), system, o.By.Tenant.ID, tenant.Edit{Status: core.Set("active")}))
	o.warnAfter(21)
	wantLines(t, "told", o.warnings(), "maja@example.com {Till}")
}
