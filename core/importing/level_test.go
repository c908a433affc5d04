package importing_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/core/shoptest"
)

// withLevels is an office on 6 March 2026 with levels: Member, Silver from 100 points and Gold from 500 in a calendar year, with its drops.
func withLevels(t *testing.T) (o office, ids []int64) {
	t.Helper()
	o = officeIn(t, dbtest.OwnDB(t))
	o.Shop = o.At(time.Date(2026, time.March, 5, 23, 30, 0, 0, time.UTC)) // in Stockholm, the 6th
	o.imports = o.Imports
	ids = o.Levels(award.LevelRules{Basis: award.ByPoints, Period: award.ByYear, Drops: true},
		award.Level{Name: "Member"}, award.Level{Name: "Silver", Threshold: 100}, award.Level{Name: "Gold", Threshold: 500})
	return o, ids
}

// levels lists what imported customers have: "070 174 06 05 Gold 2027-12-31 import", and their changes of level.
func (o office) levels() []string {
	o.T.Helper()
	return shoptest.QueryAll[string](o.Shop, `
		select concat_ws(' ', c.phone, coalesce(l.name, '-'), a.level_until, a.level_by,
			(select string_agg(concat_ws(' ', reason, actor_kind, until), ', ' order by seq) from loyalty.level_change where tenant_id = c.tenant_id and customer_id = c.id))
		from loyalty.customer c
		join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
		left join loyalty.level l on l.tenant_id = c.tenant_id and l.id = a.level_id
		where c.tenant_id = $1
		order by c.phone`, o.By.Tenant.ID)
}

// A level has a name, in any case; it is kept until the end of the next year. The first one is everybody's.
func TestLevelsOfAFile(t *testing.T) {
	t.Parallel()
	o, _ := withLevels(t)
	o.made("070 174 06 11", nil)
	i := o.uploaded(lines(
		"name;phone;points;level",
		"Anna Ek;070 174 06 05;500;GOLD",
		"Bo Ek;070 174 06 06;;silver ",
		"Cia Ek;070 174 06 07;30;",
		"Dan Ek;070 174 06 08;;member",
		"Eva Ek;070 174 06 09;;Platinum",
		"Ida Ek;070 174 06 11;;Gold",
	))
	p := o.preview(i.ID)
	if got := p.Columns[3]; got != importing.LevelField {
		t.Errorf("guessed %q", got)
	}
	if s := p.Samples[0]; s.Level == nil || s.Level.Name != "Gold" {
		t.Errorf("first sample: %+v", s)
	}
	i = o.checkedAs(i.ID, p.Mapping)
	if diff := cmp.Diff([]importing.Problem{
		bad(6, "level", "Platinum", core.Violation{Rule: "unknown_level", Other: "Member, Silver, Gold"}),
	}, o.problems(i.ID)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	o.worked(o.running(i.ID))
	if diff := cmp.Diff([]string{
		"070 174 06 05 Gold 2027-12-31 import import staff 2027-12-31",
		"070 174 06 06 Silver 2027-12-31 import import staff 2027-12-31",
		"070 174 06 07 -",
		"070 174 06 08 -",
		"070 174 06 11 -", // was there before
	}, o.levels()); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
	o.Verify()
}

// A level that can no longer be reached isn't one of a file's, and a sale raises a customer above the level of the file.
func TestLevelsOfAFileRiseAndRetire(t *testing.T) {
	t.Parallel()
	o, ids := withLevels(t)
	o.Exec("update loyalty.level set retired_at = now() where tenant_id = $1 and id = $2", o.By.Tenant.ID, ids[1])
	o.RulesChanged()
	i := o.checked(lines("name;phone;level", "Anna Ek;070 174 06 05;Silver", "Bo Ek;070 174 06 06;"))
	if diff := cmp.Diff([]importing.Problem{
		bad(2, "level", "Silver", core.Violation{Rule: "unknown_level", Other: "Member, Gold"}),
	}, o.problems(i.ID)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	o.Exec("update loyalty.level set retired_at = null where tenant_id = $1 and id = $2", o.By.Tenant.ID, ids[1])
	o.RulesChanged()
	o.imported(lines("name;phone;level", "Cia Ek;070 174 06 07;Silver"))
	cia := shoptest.Query[core.ID](o.Shop, "select id from loyalty.customer where tenant_id = $1 and phone = '070 174 06 07'", o.By.Tenant.ID)
	o.Sale(cia, o.Points(100), 60_000)
	if diff := cmp.Diff([]string{
		"070 174 06 07 Gold 2027-12-31 earned import staff 2027-12-31, reached staff 2027-12-31",
	}, o.levels()); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
	o.Verify()
}

// Without levels, the column isn't guessed, and is refused with advice. Where they were switched off after the check, it is left out.
func TestNoLevelsWithoutLevels(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	i := o.uploaded(lines("name;phone;level", "Anna Ek;070 174 06 05;Gold"))
	m := o.preview(i.ID).Mapping
	if m.Header != 1 || m.Columns[2] != importing.NoField {
		t.Errorf("guessed %+v", m)
	}
	m.Columns[2] = importing.LevelField
	_, err := o.imports.Check(t.Context(), o.By, i.ID, m)
	shoptest.WantFields(t, err, core.Fields{"columns": {core.Violation{Rule: "no_levels"}}})

	o, _ = withLevels(t)
	i = o.checked(lines("name;phone;level", "Anna Ek;070 174 06 05;Gold"))
	o.Exec("update loyalty.level_programme set active = false where tenant_id = $1", o.By.Tenant.ID)
	o.RulesChanged()
	o.worked(o.running(i.ID))
	if diff := cmp.Diff([]string{"070 174 06 05 -"}, o.levels()); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
}

// A birthday has its year or not, in the order of the file's dates; another text is an error by row.
func TestBirthdaysOfAFile(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Shop = o.At(time.Date(2026, time.March, 5, 11, 0, 0, 0, time.UTC))
	o.imports = o.Imports
	i := o.uploaded(lines(
		"name;phone;born",
		"Anna Ek;070 174 06 05;21.5.1990",
		"Bo Ek;070 174 06 06;05-21",
		"Cia Ek;070 174 06 07;2000-02-29",
		"Dan Ek;070 174 06 08;",
		"Eva Ek;070 174 06 09;in May",
		"Ida Ek;070 174 06 10;33379",
		"Jan Ek;070 174 06 11;2027-01-01",
		"Kia Ek;070 174 06 12;29.2.",
	))
	p := o.preview(i.ID)
	if got := p.Columns[2]; got != importing.BirthdayField {
		t.Errorf("guessed %q", got)
	}
	if s := p.Samples[0]; s.Birthday == nil || *s.Birthday != "1990-05-21" {
		t.Errorf("first sample: %+v", s)
	}
	i = o.checkedAs(i.ID, p.Mapping)
	if diff := cmp.Diff([]importing.Problem{
		bad(6, "birthday", "in May", core.Violation{Rule: "birthday"}),
		bad(7, "birthday", "33379", core.Violation{Rule: "date_serial"}),
		bad(8, "birthday", "2027-01-01", core.MustBePast),
	}, o.problems(i.ID)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	o.worked(o.running(i.ID))
	if diff := cmp.Diff([]string{
		"070 174 06 05 1990 5 21", "070 174 06 06 5 21", "070 174 06 07 2000 2 29", "070 174 06 08", "070 174 06 12 2 29",
	}, shoptest.QueryAll[string](o.Shop, `
		select concat_ws(' ', phone, birth_year, birth_month, birth_day) from loyalty.customer where tenant_id = $1 order by phone`, o.By.Tenant.ID)); diff != "" {
		t.Errorf("birthdays (-want +got):\n%s", diff)
	}
}

// Where the month is written first, 5/6 is the 6th of May.
func TestBirthdaysWithTheMonthFirst(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	i := o.uploaded(lines("name;phone;birthday", "Anna Ek;070 174 06 05;5/6/1990", "Bo Ek;070 174 06 06;5/21/1990"))
	o.worked(o.running(o.checkedAs(i.ID, o.preview(i.ID).Mapping).ID))
	if diff := cmp.Diff([]string{"1990-05-06", "1990-05-21"}, shoptest.QueryAll[string](o.Shop, `
		select make_date(birth_year, birth_month, birth_day)::text from loyalty.customer where tenant_id = $1 order by phone`, o.By.Tenant.ID)); diff != "" {
		t.Errorf("birthdays (-want +got):\n%s", diff)
	}
}
