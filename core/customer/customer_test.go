package customer_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a business in Sweden with customers.
type shop struct{ shoptest.Shop }

func newShop(t *testing.T) shop { return shop{shoptest.New(t)} }

func shopIn(t *testing.T, d *db.DB) shop { return shop{shoptest.In(t, d)} }

// in returns the shop in another country; "": none, where only the API adds customers.
func (s shop) in(country string) shop {
	s.T.Helper()
	s.By.Tenant.Country = country
	if country == "" {
		s.By.Kind = core.ByToken
	}
	s.Exec("update loyalty.tenant set country = nullif($2, '') where id = $1", s.By.Tenant.ID, country)
	return s
}

// as returns the shop with another actor.
func (s shop) as(role core.Role) shop {
	s.T.Helper()
	return shop{s.As(role)}
}

// voucherUsed sends a coupon for points and redeems the voucher.
func (s shop) voucherUsed(id core.ID, points int64) core.ID {
	s.T.Helper()
	welcome := s.Coupon(coupon.New{Name: "Welcome back", BenefitType: "points", BenefitValue: &points})
	return s.RedeemVoucher(s.Voucher(welcome.ID, id)).ID
}

func described(phone string, email *string) customer.New {
	return customer.New{FirstName: "Anna", LastName: "Lindqvist", Phone: phone, Email: core.OrZero(email)}
}

func (s shop) upsert(phone string, email *string) customer.Upserted {
	s.T.Helper()
	got, err := core.Result(s.Customers.Upsert(s.T.Context(), s.By, described(phone, email), nil))
	if err != nil {
		s.T.Fatalf("%s: %v", phone, err)
	}
	return got
}

// made creates a customer.
func (s shop) made(phone string, email *string) customer.Customer {
	s.T.Helper()
	got := s.upsert(phone, email)
	if !got.Created {
		s.T.Fatalf("%s already exists", phone)
	}
	return got.Customer
}

func (s shop) edit(id core.ID, e customer.Edit) customer.Customer {
	s.T.Helper()
	got, err := s.Customers.Edit(s.T.Context(), s.By, id, e)
	s.Check(err)
	return got
}

func (s shop) find(id core.ID) customer.Customer {
	s.T.Helper()
	got, err := s.Customers.Find(s.T.Context(), s.By, id)
	s.Check(err)
	return got
}

// logged returns the audit entries of a customer, in order.
type logged struct {
	Action   string
	Old, New map[string]any
}

func (s shop) log(id core.ID) []logged {
	s.T.Helper()
	return s.logOf(id.String())
}

// logOf returns the audit entries of a customer; "": of many.
func (s shop) logOf(id string) (entries []logged) {
	s.T.Helper()
	rows, err := dbtest.Owner(s.DB).Query(s.T.Context(), `
		select action, old, new from loyalty.audit_entry
		where tenant_id = $1 and subject_kind = 'customer' and subject_id = $2 and actor_id = $3
		order by id`, s.By.Tenant.ID, id, s.By.ID)
	s.Check(err)
	entries, err = pgx.CollectRows(rows, pgx.RowToStructByPos[logged])
	s.Check(err)
	return entries
}

// A new customer has the trimmed input and balances of 0.
func TestUpsertCreatesCustomer(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	got, err := core.Result(s.Customers.Upsert(t.Context(), s.By, customer.New{
		FirstName: " Åsa ", LastName: "Öberg", Phone: " 070-174 06 05 ", Email: " Asa@Example.com ",
	}, nil))
	s.Check(err)
	want := customer.Upserted{Created: true, Customer: customer.Customer{
		ID: got.ID, FirstName: "Åsa", LastName: "Öberg", Phone: "070-174 06 05", Email: new("Asa@Example.com"),
		Status: customer.Active, CreatedAt: got.CreatedAt, UpdatedAt: got.CreatedAt, Tags: []string{},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Upsert (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(got.Customer, s.find(got.ID)); diff != "" {
		t.Errorf("Find (-made +found):\n%s", diff)
	}
	facts := map[string]any{"first_name": "Åsa", "last_name": "Öberg", "phone": "070-174 06 05", "email": "Asa@Example.com", "status": "active"}
	if diff := cmp.Diff([]logged{{"customer.create", nil, facts}}, s.log(got.ID)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// An upsert finds by phone first, then by e-mail, and changes nothing.
func TestUpsertFindsByPhoneThenByEmail(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	byPhone := s.made("070 174 06 05", new("anna@example.com"))
	byEmail := s.made("070 174 06 06", new("bo@example.com"))
	plain := s.made("070 174 06 07", nil)

	for _, c := range []struct {
		name  string
		phone string
		email *string
		want  customer.Customer
	}{
		{"both of one", "070 174 06 05", new("anna@example.com"), byPhone},
		{"phone alone", "070 174 06 05", nil, byPhone},
		{"phone, and a new e-mail", "070 174 06 05", new("new@example.com"), byPhone},
		{"phone of one, e-mail of another", "070 174 06 05", new("bo@example.com"), byPhone},
		{"new phone, e-mail known", "070 999 99 99", new("bo@example.com"), byEmail},
		{"e-mail in capitals", "070 999 99 99", new("BO@EXAMPLE.COM"), byEmail},
		{"no e-mail on either side", "070 174 06 07", nil, plain},
	} {
		got, err := core.Result(s.Customers.Upsert(t.Context(), s.By, customer.New{FirstName: "Other", LastName: "Name", Phone: c.phone, Email: core.OrZero(c.email)}, nil))
		s.Check(err)
		if diff := cmp.Diff(customer.Upserted{Customer: c.want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if diff := cmp.Diff(c.want, s.find(c.want.ID)); diff != "" {
			t.Errorf("%s changed something:\n%s", c.name, diff)
		}
	}
	if n := s.Count("customer"); n != 3 {
		t.Errorf("%d customers, want 3", n)
	}
	if got := s.log(byPhone.ID); len(got) != 1 {
		t.Errorf("finding was logged: %v", got)
	}
	// Two customers without an e-mail address differ.
	s.made("070 174 06 08", nil)
}

// Phone numbers are kept as typed and compared by their key: E.164 in the tenant's country, or else
// the digits.
func TestOneNumberInManyFormats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		country string
		same    []string
		others  []string
	}{
		{
			"SE",
			[]string{"+46 70 174 06 05", "070-174 06 05", "0046701740605", "0701740605", "+46701740605", "(070) 174 06 05", "070/1740605"},
			[]string{"070-174 06 06", "+47 70 17 40 60", "+45 70 17 40 60", "4711", "123", "12-34"},
		},
		{
			"DE",
			[]string{"0170 1234567", "+49 170 1234567", "0049 170 1234567"},
			[]string{"+46 170 1234567", "0170 1234568"},
		},
		{ // without a country, only international numbers are E.164
			"",
			[]string{"+46 70 174 06 05", "+46701740605", "0046701740605"},
			[]string{"070-174 06 05"},
		},
		{
			"",
			[]string{"070-174 06 05", "0701740605", "tel. 070 174 06 05"},
			[]string{"701740605"},
		},
	} {
		s := newShop(t).in(c.country)
		first := s.made(c.same[0], nil)
		for _, phone := range c.same {
			if got := s.upsert(phone, nil); got.ID != first.ID || got.Phone != c.same[0] {
				t.Errorf("in %q: %s is not %s", c.country, phone, c.same[0])
			}
		}
		for _, phone := range c.others {
			s.made(phone, nil)
		}
	}
}

// An address that can't get mail is refused where it is typed. One that an earlier version took stays until it is
// changed.
func TestAddressesWithoutAMailboxAreRefused(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.made(shoptest.Phone(), new("anna@example.com"))
	for _, typed := range shoptest.NoEmails() {
		anna := shoptest.Anna(shoptest.Phone())
		anna.Email = typed
		_, err := core.Result(s.Customers.Upsert(t.Context(), s.By, anna, nil))
		shoptest.WantFields(t, err, core.Fields{"email": {core.MustBeEmail}})
		_, err = s.Customers.Edit(t.Context(), s.By, c.ID, customer.Edit{Email: core.Set(typed)})
		shoptest.WantFields(t, err, core.Fields{"email": {core.MustBeEmail}})
	}
	s.Exec("update loyalty.customer set email = 'x@[127.0.0.1]', email_key = 'x@[127.0.0.1]' where id = $1", c.ID)
	if got := s.edit(c.ID, customer.Edit{FirstName: core.Set("Anne")}); got.FirstName != "Anne" || *got.Email != "x@[127.0.0.1]" {
		t.Errorf("edited: %+v", got)
	}
}

// A phone number needs three digits; all invalid fields of a new customer are reported.
func TestUpsertRefuses(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	badPhone := core.MustBePhone
	badEmail := core.MustBeEmail
	for _, c := range []struct {
		name string
		n    customer.New
		want core.Fields
	}{
		{"nothing", customer.New{}, core.Fields{
			"first_name": {core.Required},
			"last_name":  {core.Required},
			"phone":      {core.Required},
		}},
		{"blank", customer.New{FirstName: " ", LastName: "", Phone: "\t", Email: " "}, core.Fields{
			"first_name": {core.Required},
			"last_name":  {core.Required},
			"phone":      {core.Required},
		}},
		{"too long", customer.New{
			FirstName: strings.Repeat("å", 101), LastName: strings.Repeat("ö", 101),
			Phone: strings.Repeat("1", 31), Email: strings.Repeat("a", 250) + "@a.com",
		}, core.Fields{
			"first_name": {core.MaxLength(100)},
			"last_name":  {core.MaxLength(100)},
			"phone":      {core.MaxLength(30)},
			"email":      {core.MaxLength(255)},
		}},
		{"NUL", customer.New{FirstName: "a\x00b", LastName: "b", Phone: "0701740605"}, core.Fields{
			"first_name": {core.NoNUL},
		}},
		{"unreadable", customer.New{LastName: "b", Phone: "12", Malformed: core.Fields{
			"first_name": {core.MustBeString},
			"phone":      {core.MustBeString},
		}}, core.Fields{
			"first_name": {core.MustBeString},
			"phone":      {core.MustBeString},
		}},
		{"two digits", described("1-2", nil), core.Fields{"phone": {badPhone}}},
		{"no digits", described("anna", nil), core.Fields{"phone": {badPhone}}},
		{"no address", described("0701740605", new("anna")), core.Fields{"email": {badEmail}}},
		{"an address with a name", described("0701740605", new("Anna <anna@example.com>")), core.Fields{"email": {badEmail}}},
		{"two addresses", described("0701740605", new("a@example.com,b@example.com")), core.Fields{"email": {badEmail}}},
		{"a space in it", described("0701740605", new("an na@example.com")), core.Fields{"email": {badEmail}}},
		{"a line break in it", described("0701740605", new("anna@example.com\r\nBcc: b@example.com")), core.Fields{"email": {badEmail}}},
		{"no host", described("0701740605", new("anna@")), core.Fields{"email": {badEmail}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := core.Result(s.Customers.Upsert(t.Context(), s.By, c.n, nil))
			shoptest.WantFields(t, err, c.want)
		})
	}
	if n := s.Count("customer"); n != 0 {
		t.Errorf("%d refused customers were made", n)
	}
	longest := customer.New{
		FirstName: strings.Repeat("å", 100), LastName: strings.Repeat("ö", 100),
		Phone: strings.Repeat("1", 30), Email: "åsa@exämple.com",
	}
	if _, err := core.Result(s.Customers.Upsert(t.Context(), s.By, longest, nil)); err != nil {
		t.Errorf("as long as may be: %v", err)
	}
}

// Of concurrent upserts with one phone number, one creates the customer and all return it.
func TestConcurrentUpserts(t *testing.T) {
	t.Parallel()
	for name, phone := range map[string]func(i int) string{
		"same phone":                     func(int) string { return "070 174 06 05" },
		"same e-mail, different phones":  func(i int) string { return fmt.Sprintf("070 174 %04d", i) },
		"crossing phones, same e-mail":   func(i int) string { return fmt.Sprintf("070 174 000%d", i%3) },
		"formats of one phone, no clash": func(i int) string { return []string{"070 174 06 05", "+46701740605"}[i%2] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			var made atomic.Int32
			var mu sync.Mutex
			ids := map[core.ID]bool{}
			var wg sync.WaitGroup
			for i := range 100 {
				wg.Go(func() {
					got, err := core.Result(s.Customers.Upsert(t.Context(), s.By, described(phone(i), new("anna@example.com")), nil))
					if err != nil {
						t.Error(err)
						return
					}
					if got.Created {
						made.Add(1)
					}
					mu.Lock()
					defer mu.Unlock()
					ids[got.ID] = true
				})
			}
			wg.Wait()
			if made.Load() != 1 || len(ids) != 1 || s.Count("customer") != 1 {
				t.Errorf("%d made, %d returned, %d there, want 1 of each", made.Load(), len(ids), s.Count("customer"))
			}
		})
	}
}

// An edit changes only the fields that are set.
func TestEditChangesWhatIsSet(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	old := s.made("070 174 06 05", new("anna@example.com"))
	later := shop{s.At(old.CreatedAt.Add(time.Hour))}
	for _, c := range []struct {
		name string
		e    customer.Edit
		want func(c *customer.Customer)
	}{
		{"nothing", customer.Edit{}, func(*customer.Customer) {}},
		{"first name", customer.Edit{FirstName: core.Set(" Åsa ")}, func(c *customer.Customer) { c.FirstName = "Åsa" }},
		{"last name", customer.Edit{LastName: core.Set("Öberg")}, func(c *customer.Customer) { c.LastName = "Öberg" }},
		{"phone", customer.Edit{Phone: core.Set("+46 70 999 99 99")}, func(c *customer.Customer) { c.Phone, c.LinkVersion = "+46 70 999 99 99", 1 }},
		{"the same phone, written otherwise", customer.Edit{Phone: core.Set("0709999999")}, func(c *customer.Customer) { c.Phone = "0709999999" }},
		{"e-mail", customer.Edit{Email: core.Set("Bo@Example.com")}, func(c *customer.Customer) { c.Email, c.LinkVersion = new("Bo@Example.com"), 2 }},
		{"its own e-mail again", customer.Edit{Email: core.Set("bo@example.com")}, func(c *customer.Customer) { c.Email = new("bo@example.com") }},
		{"no e-mail", customer.Edit{Email: core.Optional[string]{Set: true}}, func(c *customer.Customer) { c.Email, c.LinkVersion = nil, 3 }},
		{"status", customer.Edit{Status: core.Set("inactive")}, func(c *customer.Customer) { c.Status = customer.Inactive }},
		{"status back", customer.Edit{Status: core.Set("active")}, func(c *customer.Customer) { c.Status = customer.Active }},
	} {
		want := s.find(old.ID)
		c.want(&want)
		got := later.edit(old.ID, c.e)
		want.UpdatedAt = got.UpdatedAt
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if diff := cmp.Diff(got, s.find(old.ID)); diff != "" {
			t.Errorf("%s: found differs:\n%s", c.name, diff)
		}
		if !got.UpdatedAt.After(old.UpdatedAt) {
			t.Errorf("%s: updated_at stayed at %s", c.name, got.UpdatedAt)
		}
	}
	// The keys changed, too: the old phone number and e-mail address are free, the new number is taken.
	if got := s.upsert("+46709999999", nil); got.ID != old.ID {
		t.Error("the new phone does not find them")
	}
	if got := s.upsert("070 174 06 05", new("bo@example.com")); !got.Created {
		t.Error("the old phone or e-mail still finds them")
	}
}

// Null clears the e-mail address and nothing else; all invalid fields are reported.
func TestEditRefuses(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.made("070 174 06 05", new("anna@example.com"))
	s.made("070 174 06 06", new("bo@example.com"))
	null := core.Optional[string]{Set: true}
	for _, e := range []struct {
		name string
		e    customer.Edit
		want core.Fields
	}{
		{"nulls", customer.Edit{FirstName: null, LastName: null, Phone: null, Status: null}, core.Fields{
			"first_name": {core.Required},
			"last_name":  {core.Required},
			"phone":      {core.Required},
			"status":     {core.Required},
		}},
		{"wrong", customer.Edit{FirstName: core.Set(""), Phone: core.Set("1"), Email: core.Set("anna"), Status: core.Set("erased")}, core.Fields{
			"first_name": {core.Required},
			"phone":      {core.MustBePhone},
			"email":      {core.MustBeEmail},
			"status":     {core.InvalidChoice},
		}},
		{"unreadable", customer.Edit{LastName: core.Set(""), Malformed: core.Fields{"status": {core.MustBeString}}}, core.Fields{
			"last_name": {core.Required},
			"status":    {core.MustBeString},
		}},
		{"another's phone", customer.Edit{Phone: core.Set("+46 70 174 06 06")}, core.Fields{"phone": {core.Duplicate}}},
		{"another's e-mail", customer.Edit{Email: core.Set("BO@example.com")}, core.Fields{"email": {core.Duplicate}}},
	} {
		_, err := s.Customers.Edit(t.Context(), s.By, c.ID, e.e)
		shoptest.WantFields(t, err, e.want)
	}
	if diff := cmp.Diff(c, s.find(c.ID)); diff != "" {
		t.Errorf("a refused edit changed something:\n%s", diff)
	}
	if got := s.log(c.ID); len(got) != 1 {
		t.Errorf("a refused edit was logged: %v", got)
	}
	// Another tenant's phone numbers and e-mail addresses are free.
	other := newShop(t)
	theirs := other.made("070 174 06 07", nil)
	other.edit(theirs.ID, customer.Edit{Phone: core.Set("070 174 06 06"), Email: core.Set("bo@example.com")})
}

// Of two concurrent edits, each entry has the values that it replaced.
func TestConcurrentEditsAreLogged(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.made("070 174 06 05", nil)
	const edits = 20
	var wg sync.WaitGroup
	for i := range edits {
		wg.Go(func() { s.edit(c.ID, customer.Edit{FirstName: core.Set(fmt.Sprint("Name ", i))}) })
	}
	wg.Wait()
	from := map[any]any{}
	for _, e := range s.log(c.ID) {
		if e.Action == "customer.edit" {
			from[e.Old["first_name"]] = e.New["first_name"]
		}
	}
	name, steps := any("Anna"), 0
	for from[name] != nil {
		name, steps = from[name], steps+1
	}
	if steps != edits || name != s.find(c.ID).FirstName {
		t.Errorf("the log leads through %d edits to %v, want all %d to %s: %v", steps, name, edits, s.find(c.ID).FirstName, from)
	}
}

// If two customers swap phone numbers at once, one is refused and neither hangs.
func TestConcurrentEditsSwapPhones(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	a, b := s.made("070 174 06 05", nil), s.made("070 174 06 06", nil)
	var wg sync.WaitGroup
	for c, phone := range map[core.ID]string{a.ID: b.Phone, b.ID: a.Phone} {
		wg.Go(func() {
			_, err := s.Customers.Edit(t.Context(), s.By, c, customer.Edit{Phone: core.Set(phone)})
			shoptest.WantFields(t, err, core.Fields{"phone": {core.Duplicate}})
		})
	}
	wg.Wait()
}

// Another tenant's customers look like missing ones.
func TestAnotherTenantsCustomersDoNotExist(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	c := s.made("070 174 06 05", new("anna@example.com"))
	for name, id := range map[string]core.ID{"another's": c.ID, "unknown": core.NewID(s.DB.Now()), "zero": {}} {
		if _, err := stranger.Customers.Find(t.Context(), stranger.By, id); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("find %s = %v, want ErrNotFound", name, err)
		}
		// The record is checked before the fields: 404, not 422.
		for _, e := range []customer.Edit{{FirstName: core.Set("Stolen")}, {FirstName: core.Set("")}} {
			if _, err := stranger.Customers.Edit(t.Context(), stranger.By, id, e); !errors.Is(err, core.ErrNotFound) {
				t.Errorf("edit %s = %v, want ErrNotFound", name, err)
			}
		}
	}
	if diff := cmp.Diff(c, s.find(c.ID)); diff != "" {
		t.Error(diff)
	}
	if got := stranger.upsert("070 174 06 05", new("anna@example.com")); !got.Created || got.ID == c.ID {
		t.Error("an upsert found another tenant's customer")
	}
}

// The round trips of each use case.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shopIn(t, d)
	made := 0
	upsert := func(phone string) func() error {
		return func() error {
			_, err := core.Result(s.Customers.Upsert(t.Context(), s.By, described(phone, nil), nil))
			return err
		}
	}
	counted := func(f customer.Filter, size int) func() error {
		return func() error {
			_, err := s.Customers.Browse(t.Context(), s.By, f, core.Newest, core.Page{Size: size, Counted: true})
			return err
		}
	}
	each := func(next func(i int) string) func() error {
		return func() error {
			requests := make([]customer.Request, 20)
			for i := range requests {
				requests[i].New = described(next(i), nil)
			}
			_, err := s.Customers.UpsertEach(t.Context(), s.By, requests)
			return err
		}
	}
	known := s.made("070 174 06 05", nil)
	erased, erasable := 0, []core.ID{s.made("070 174 06 06", new("bo@example.com")).ID, s.made("070 174 06 07", new("anna@example.com")).ID}
	for _, c := range []struct {
		name string
		want int
		do   func() error
	}{
		{"upsert, made", 3, func() error { made++; return upsert(fmt.Sprintf("070 175 %04d", made))() }},
		{"upsert, found", 2, upsert("070 174 06 05")},
		{"upsert 20, made", 4, each(func(int) string { made++; return fmt.Sprintf("070 175 %04d", made) })},
		{"upsert 20, found", 3, each(func(int) string { return "070 174 06 05" })},
		{"find", 1, func() error { _, err := s.Customers.Find(t.Context(), s.By, known.ID); return err }},
		{"edit", 3, func() error {
			_, err := s.Customers.Edit(t.Context(), s.By, known.ID, customer.Edit{FirstName: core.Set("Åsa")})
			return err
		}},
		{"list", 1, func() error {
			_, err := s.Customers.List(t.Context(), s.By, customer.Filter{}, core.Page{Size: 3})
			return err
		}},
		{"search", 1, func() error {
			_, err := s.Customers.List(t.Context(), s.By, customer.Filter{Search: new("anna")}, core.Page{Size: 3})
			return err
		}},
		{"browse", 1, func() error {
			_, err := s.Customers.Browse(t.Context(), s.By, customer.Filter{}, customer.ByName, core.Page{Size: 3})
			return err
		}},
		{"browse and count a page of many", 2, counted(customer.Filter{}, 2)},
		{"browse and count a page of all", 1, counted(customer.Filter{}, 100)},
		{"browse and count what is found", 1, counted(customer.Filter{Search: new("anna")}, 2)},
		{"timeline, nothing yet", 2, func() error {
			_, err := s.Customers.Timeline(t.Context(), s.By, known.ID, customer.TimelineFilter{}, core.Page{Size: 3})
			return err
		}},
		{"adjust", 3, func() error {
			_, err := core.Result(s.Customers.Adjust(t.Context(), s.By, known.ID, adjustment("points", 1, "Found in the drawer"), nil))
			return err
		}},
		{"timeline", 1, func() error {
			_, err := s.Customers.Timeline(t.Context(), s.By, known.ID, customer.TimelineFilter{}, core.Page{Size: 3})
			return err
		}},
		{"erase", 6, func() error {
			erased++
			_, err := s.Privacy.Erase(t.Context(), s.By, erasable[erased-1])
			return err
		}},
	} {
		var trips int
		for range 2 { // the first run prepares the statements
			before := count()
			if err := c.do(); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			trips = count() - before
		}
		if trips != c.want {
			t.Errorf("%s: %d round trips, want %d", c.name, trips, c.want)
		}
	}
}

// FindAll leaves out unknown ids and other tenants' ones, and repeats no customer.
func TestFindAll(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	anna := s.upsert("070-123 45 01", nil).ID
	bilal := s.upsert("070-123 45 02", nil).ID
	theirs := other.upsert("070-123 45 03", nil).ID
	for _, x := range []struct{ given, want []core.ID }{
		{[]core.ID{bilal, theirs, anna, core.NewID(s.DB.Now()), bilal}, []core.ID{anna, bilal}},
		{[]core.ID{theirs}, nil},
		{nil, nil},
	} {
		found, err := s.Customers.FindAll(t.Context(), s.By, x.given)
		s.Check(err)
		var got []core.ID
		for _, c := range found {
			got = append(got, c.ID)
		}
		if diff := cmp.Diff(x.want, got); diff != "" {
			t.Errorf("found (-want +got):\n%s", diff)
		}
	}
}
