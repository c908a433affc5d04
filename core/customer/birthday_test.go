package customer_test

import (
	"regexp"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
)

func TestReadBirthday(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text       string
		monthFirst bool
		want       customer.Birthday // "": none
	}{
		{"1990-05-21", false, "1990-05-21"},
		{"05-21", false, "05-21"},
		{" 02-29 ", true, "02-29"},
		{"2000-02-29", false, "2000-02-29"},
		{"2001-02-29", false, ""},
		{"02-30", false, ""},
		{"1899-12-31", false, ""},
		{"21.5.1990", false, "1990-05-21"},
		{"21.05.", false, "05-21"},
		{"29.2", false, "02-29"},
		{"4/3/1990", false, "1990-03-04"},
		{"4/3/1990", true, "1990-04-03"},
		{"4/3", true, "04-03"},
		{"4/3", false, "03-04"},
		{"21/5", true, ""},
		{"1990-05-21 00:00:00", false, "1990-05-21"},
		{"1990-05-21T00:00:00Z", false, "1990-05-21"},
		{"1990/5/21", true, "1990-05-21"},
		{"19900521", false, "1990-05-21"},
		{"33014", false, ""},
		{"21 May", false, ""},
		{"", false, ""},
	} {
		if got, ok := customer.ReadBirthday(c.text, c.monthFirst); got != c.want || ok != (c.want != "") {
			t.Errorf("ReadBirthday(%q, %t) = %q, %t; want %q", c.text, c.monthFirst, got, ok, c.want)
		}
	}
}

// A birthday is erased with the customer, also from the audit log.
func TestErasingABirthday(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	c := s.made("070 174 06 05", nil)
	c = s.edit(c.ID, customer.Edit{Birthday: core.Set("1931-08-17")})
	if c.Birthday == nil || *c.Birthday != "1931-08-17" || !strings.Contains(s.everything(), "1931-08-17") {
		t.Fatalf("%+v, want the birthday in the row and in the audit log", c)
	}
	year := regexp.MustCompile(`\b1931\b`) // an ID may have these digits among others
	if erased := s.erase(c.ID); erased.Birthday != nil || year.MatchString(s.everything()) {
		t.Errorf("%+v, want no birthday left", erased)
	}
}
