package importing_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/shoptest"
)

// opened lists what imported customers have of which last day: "070 174 06 05 points 500 2026-12-31 opening".
func (o office) opened() []string {
	o.T.Helper()
	return shoptest.QueryAll[string](o.Shop, `
		select concat_ws(' ', c.phone, e.unit, e.amount, coalesce(e.expires_on::text, '-'),
			coalesce(case e.unit when 'points' then a.points_expire_on else a.stamps_expire_on end::text, '-'))
		from loyalty.customer c
		join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
		join loyalty.ledger_entry e on e.tenant_id = c.tenant_id and e.customer_id = c.id
		where c.tenant_id = $1
		order by c.phone, e.unit`, o.By.Tenant.ID)
}

// "Optional column “points expire on” (a day; today or later, else an error by row); without it, by the policy from the day
// of import. Opening entries are single-dated awards."
func TestLastDaysOfAFile(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Shop = o.At(time.Date(2026, time.March, 5, 23, 30, 0, 0, time.UTC)) // in Stockholm, the 6th
	o.imports = o.Imports
	o.SetExpiry(ledger.Points, core.Expiry{Rule: core.ExpireAfter, Months: 12, RoundTo: core.ToMonth}, nil)
	i := o.uploaded(lines(
		"name;phone;customer since;points;stamps;expires on",
		"Anna Ek;070 174 06 05;13.2.2020;500;5;31.12.2026",
		"Bo Ek;070 174 06 06;;200;;",
		"Cia Ek;070 174 06 07;;30;;2026-03-06",
		"Dan Ek;070 174 06 08;;40;;5.3.2026",
		"Eva Ek;070 174 06 09;;40;;soon",
		"Ida Ek;070 174 06 10;;40;;46387",
		"Jan Ek;070 174 06 11;;;;4.5.2026",
	))
	p := o.preview(i.ID)
	if got := p.Columns[5]; got != importing.ExpiresOnField {
		t.Errorf("guessed %q", got)
	}
	if p.Dates == nil || p.Dates.Order != importing.DayFirst || p.Dates.Row != 2 {
		t.Errorf("dates are read by %+v", p.Dates)
	}
	if s := p.Samples[0]; s.ExpiresOn == nil || s.ExpiresOn.Format(time.DateOnly) != "2026-12-31" {
		t.Errorf("first sample: %+v", s)
	}
	i = o.checkedAs(i.ID, p.Mapping)
	if diff := cmp.Diff([]importing.Problem{
		bad(5, "expires_on", "5.3.2026", core.Violation{Rule: "not_past"}),
		bad(6, "expires_on", "soon", core.Violation{Rule: "day"}),
		bad(7, "expires_on", "46387", core.Violation{Rule: "date_serial"}),
	}, o.problems(i.ID)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	o.worked(o.running(i.ID))
	// Stamps have no rule, so they end on no day.
	if diff := cmp.Diff([]string{
		"070 174 06 05 points 500 2026-12-31 2026-12-31",
		"070 174 06 05 stamps 5 - -",
		"070 174 06 06 points 200 2027-03-31 2027-03-31",
		"070 174 06 07 points 30 2026-03-06 2026-03-06",
	}, o.opened()); diff != "" {
		t.Errorf("opened (-want +got):\n%s", diff)
	}
}

// The last day counts for stamps, too, where a rule ends them.
func TestLastDayOfBothUnits(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Shop = o.At(time.Date(2026, time.March, 5, 11, 0, 0, 0, time.UTC))
	o.imports = o.Imports
	o.SetExpiry(ledger.Points, core.Expiry{Rule: core.ExpireInactive, Months: 6, RoundTo: core.ToDay}, nil)
	o.SetExpiry(ledger.Stamps, core.Expiry{Rule: core.ExpireYearly, Month: time.January, Day: 31}, nil)
	o.imported(lines(
		"Namn;Telefon;Poäng;Stämplar;Giltig till",
		"Anna Ek;070 174 06 05;500;5;2026-12-31",
		"Bo Ek;070 174 06 06;200;2;",
	))
	if diff := cmp.Diff([]string{
		"070 174 06 05 points 500 2026-12-31 2026-12-31",
		"070 174 06 05 stamps 5 2026-12-31 2026-12-31",
		"070 174 06 06 points 200 - -",
		"070 174 06 06 stamps 2 2027-01-31 2027-01-31",
	}, o.opened()); diff != "" {
		t.Errorf("opened (-want +got):\n%s", diff)
	}
}

// Where nothing ends, the column isn't guessed, and is refused with advice.
func TestNoLastDaysWithoutARule(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]core.Expiry{"no rule": {}, "switched off": {Rule: core.NeverExpire, HoldsAll: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			if rule.Rule != "" {
				o.SetExpiry(ledger.Points, rule, nil)
			}
			i := o.uploaded(lines("name;phone;points;expires on", "Anna Ek;070 174 06 05;500;2099-12-31"))
			m := o.preview(i.ID).Mapping
			if m.Header != 1 || m.Columns[3] != importing.NoField {
				t.Errorf("guessed %+v", m)
			}
			m.Columns[3] = importing.ExpiresOnField
			_, err := o.imports.Check(t.Context(), o.By, i.ID, m)
			shoptest.WantFields(t, err, core.Fields{"columns": {core.Violation{Rule: "nothing_expires"}}})
		})
	}
}
