package customer_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
)

// A search finds a name in whatever composition, case and width either is written.
func TestSearchesFindEveryFormOfALetter(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	at := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	for i, c := range []struct {
		first, last string
		found, not  []string
	}{
		{"Zoë", "Kraus", []string{"Zoe\u0308", "zoë", "ZOE\u0308", "ＺＯË", "kraus Zoe\u0308"}, []string{"zoe"}},
		{"Bjo\u0308rn", "A\u030aberg", []string{"björn", "Åberg", "ÅBERG BJÖRN"}, nil},
		{"İrem", "Işıl", []string{"irem ışıl", "İREM", "irem işil", "IREM IŞIL", "ışıl"}, nil},
		{"ΑΛΕΞΗΣ", "ΠΑΠΠΑΣ", []string{"παππας", "Παππασ", "ΠΑΠΠΑΣ", "αλεξης"}, nil},
		{"Jürgen", "Groß", []string{"gross", "GROSS", "groß", "GROẞ", "ju\u0308rgen"}, nil},
		{"Ｍａｒｉａ", "ﬁnn", []string{"maria", "FINN", "Ｆｉｎｎ"}, nil},
		{"Nguyễn", "Thị", []string{"nguye\u0302\u0303n", "NGUYỄN", "thi\u0323"}, nil},
		{"Ольга", "Йовович", []string{"ОЛЬГА", "и\u0306ОВОВИЧ"}, nil},
		{"ﾕｳｺ", "佐藤", []string{"ユウコ", "佐藤"}, nil},
	} {
		one := s.born(c.first, c.last, fmt.Sprintf("070 174 05 %02d", i), nil, at)
		s.tag(one.ID, fmt.Sprintf("Tag %d", i))
		for _, search := range c.found {
			for _, f := range []customer.Filter{{Search: &search}, {Search: &search, Tag: new(fmt.Sprintf("TAG %d", i))}} {
				if got := s.browse(f, core.Newest, 10); !slices.ContainsFunc(got, func(r customer.Row) bool { return r.ID == one.ID }) {
					t.Errorf("%q doesn't find %s %s", search, c.first, c.last)
				}
			}
		}
		for _, search := range c.not {
			if got := s.browse(customer.Filter{Search: &search}, core.Newest, 10); len(got) != 0 {
				t.Errorf("%q finds %v", search, lastNames(got))
			}
		}
	}
	renamed := s.born("Anna", "Ek", "070 174 06 99", nil, at)
	s.edit(renamed.ID, customer.Edit{LastName: core.Set("ΣΟΦΟΣ"), Email: core.Set("anna@bücher.example")})
	for _, search := range []string{"σοφος", "BÜCHER", "xn--bcher-kva", "anna@bu\u0308cher"} {
		if got := s.browse(customer.Filter{Search: &search}, core.Newest, 10); len(got) != 1 {
			t.Errorf("after the edit, %q finds %v", search, lastNames(got))
		}
	}
}

// A tag is one, however its letters are composed and written.
func TestOneTagInManyForms(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for i, same := range [][]string{{"Café", "cafe\u0301", "CAFÉ", "ｃａｆé"}, {"Groß", "GROSS"}, {"IŞIL", "ışıl", "Işıl"}} {
		c := s.made(fmt.Sprintf("070 174 06 %02d", i), nil)
		for _, tag := range same {
			s.tag(c.ID, tag)
			if got := s.browse(customer.Filter{Tag: &tag}, core.Newest, 5); len(got) != 1 || len(got[0].Tags) != 1 || got[0].Tags[0] != same[0] {
				t.Errorf("the tag %q: %+v", tag, got)
			}
		}
	}
}

// Both forms of a domain and of composed letters are one address. Letters that only look alike are two.
func TestOneAddressInManyForms(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := 0
	upsert := func(email string) customer.Upserted {
		n++
		return s.upsert(fmt.Sprintf("070 174 %04d", n), &email)
	}
	for _, same := range [][]string{
		{"zoë@example.com", "zoe\u0308@example.com", "ZOË@EXAMPLE.COM"},
		{"anna@bücher.example", "anna@xn--bcher-kva.example", "Anna@BÜCHER.example", "anna@bu\u0308cher.example", "anna@XN--BCHER-KVA.example"},
		{"παππας@example.com", "ΠΑΠΠΑΣ@example.com"},
		{"irem@example.com", "IREM@example.com"},
		{"İrem@example.com", "I\u0307rem@example.com"},
		{"ırem@example.com"},
		{"strasse@example.com"},
		{"straße@example.com"},
	} {
		first := upsert(same[0])
		if !first.Created {
			t.Errorf("%q is another address", same[0])
		}
		for _, email := range same {
			if got := upsert(email); got.ID != first.ID {
				t.Errorf("%q is not %q", email, same[0])
			}
			found, err := s.Customers.List(t.Context(), s.By, customer.Filter{Email: &email}, core.Page{Size: 5})
			if s.Check(err); len(found.Items) != 1 || found.Items[0].ID != first.ID {
				t.Errorf("the filter %q finds %+v", email, found.Items)
			}
		}
	}
}

// What an earlier build wrote gets the keys of this one, once. Two customers who have one key by now are told in the
// audit log, and keep what they had.
func TestRenewKeys(t *testing.T) {
	t.Parallel()
	s := shop{shoptest.In(t, dbtest.OwnDB(t))}
	s = s.in("SE")
	var ids []core.ID
	add := func(first, phone, phoneKey, email, emailKey string) {
		id := core.NewID(s.DB.Now().Add(time.Duration(len(ids)) * time.Millisecond))
		ids = append(ids, id)
		s.Exec(`insert into loyalty.customer (tenant_id, id, first_name, last_name, phone, phone_key, email, email_key, created_at, updated_at)
			values ($1, $2, $3, 'Ek', $4, $5, nullif($6, ''), nullif($7, ''), now(), now())`, s.By.Tenant.ID, id, first, phone, phoneKey, email, emailKey)
		s.Exec("insert into loyalty.account (tenant_id, customer_id) values ($1, $2)", s.By.Tenant.ID, id)
	}
	add("İrem", "08-123 456 78 ext 101", "+46812345678", "İrem@example.com", "irem@example.com")
	add("Bo", "4.67E+10", "46710", "", "")                                                     // can't be read any more
	add("Cleo", "0046705935836", "0046705935836", "", "")                                      // as without a country
	add("Dan", "0705935836", "+46705935836", "zoe\u0308@example.com", "zoe\u0308@example.com") // has it
	add("Eva", "0701740605", "+46701740605", "zoë@example.com", "zoë@example.com")
	add("Finn", "070-174 06 06", "+46701740606", "a@bücher.example", "a@bücher.example")
	s.Exec("insert into loyalty.customer_tag (tenant_id, customer_id, key, tag, created_at) values ($1, $2, 'groß', 'Groß', now())", s.By.Tenant.ID, ids[5])
	if got := s.browse(customer.Filter{Search: new("finn")}, core.Newest, 5); len(got) != 1 {
		t.Errorf("before: %v", lastNames(got))
	}

	renew := func() {
		t.Helper()
		for done := int64(1); done > 0; {
			var err error
			done, err = db.In(t.Context(), s.DB.Platform(), func(tx *db.Tx) (int64, error) {
				done, _, err := customer.RenewKeys(t.Context(), tx)
				return done, err
			})
			s.Check(err)
		}
	}
	renew()
	got := shoptest.QueryAll[string](s.Shop, `
		select concat_ws(' ', first_name, phone_key, email_key)
		from loyalty.customer where tenant_id = $1 order by id`, s.By.Tenant.ID)
	want := []string{
		"İrem +46812345678;ext=101 İrem@example.com", "Bo 46710", "Cleo 0046705935836", "Dan +46705935836 zoe\u0308@example.com",
		"Eva +46701740605 zoë@example.com", "Finn +46701740606 a@xn--bcher-kva.example",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	for _, search := range []string{"irem", "FINN", "a@bu\u0308cher"} {
		if got := s.browse(customer.Filter{Search: &search}, core.Newest, 5); len(got) != 1 {
			t.Errorf("%q finds %v", search, lastNames(got))
		}
	}
	if got := s.browse(customer.Filter{Tag: new("GROSS")}, core.Newest, 5); len(got) != 1 {
		t.Errorf("the tag finds %v", lastNames(got))
	}
	told := func() []string {
		return shoptest.QueryAll[string](s.Shop, `
			select concat_ws(' ', subject_name, new ->> 'field', new ->> 'same_as')
			from loyalty.audit_entry where tenant_id = $1 and action = 'customer.same_key' order by id`, s.By.Tenant.ID)
	}
	collisions := told()
	if len(collisions) != 2 {
		t.Errorf("told: %v", collisions)
	}
	// The trigger notices the edit of an earlier build.
	s.Exec("update loyalty.customer set first_name = 'ΣΟΦΟΣ' where tenant_id = $1 and id = $2", s.By.Tenant.ID, ids[1])
	if got := s.browse(customer.Filter{Search: new("ΣΟΦΟΣ")}, core.Newest, 5); len(got) != 1 {
		t.Error("not found after an earlier build's edit")
	}
	renew()
	if got := s.browse(customer.Filter{Search: new("σοφοσ")}, core.Newest, 5); len(got) != 1 {
		t.Error("not found after the renewal")
	}
	if again := told(); len(again) != len(collisions) {
		t.Errorf("told again: %v", again)
	}
}
