package customer_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
)

// phoneOptional returns the shop with the setting on or off.
func (s shop) phoneOptional(on bool) shop {
	s.T.Helper()
	s.Exec("update loyalty.tenant set phone_optional = $2 where id = $1", s.By.Tenant.ID, on)
	s.By.Tenant.PhoneOptional = on
	return s
}

// put upserts a customer.
func (s shop) put(n customer.New) customer.Upserted {
	s.T.Helper()
	if n.FirstName == "" {
		n.FirstName, n.LastName = "Anna", "Lindqvist"
	}
	got, err := core.Result(s.Customers.Upsert(s.T.Context(), s.By, n, nil))
	s.Check(err)
	return got
}

// An external ID finds a customer before the phone number and the e-mail address do. One who is found by these and has
// none gets it; one who has another keeps it.
func TestAnExternalIDFindsFirst(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.put(customer.New{Phone: "070 174 06 05", ExternalID: " wc-1 "})
	bo := s.put(customer.New{FirstName: "Bo", LastName: "Ek", Phone: "070 174 06 06", Email: "bo@example.com"})
	if !anna.Created || core.OrZero(anna.ExternalID) != "wc-1" || !bo.Created || bo.ExternalID != nil {
		t.Fatalf("made: %+v, %+v", anna, bo)
	}
	if found := s.put(customer.New{FirstName: "Bo", LastName: "Ek", Phone: "070 174 06 06", ExternalID: "wc-1"}); found.ID != anna.ID || found.Created {
		t.Errorf("with Bo's number, wc-1 leads to %s", found.FirstName)
	}
	if s.Count("audit_entry where action = 'customer.edit'") != 0 {
		t.Error("finding a customer changed one")
	}
	s.Shop = s.Later(time.Minute)
	noted := s.put(customer.New{FirstName: "Bob", LastName: "Ek", Email: "BO@example.com", Phone: "070 174 06 07", ExternalID: "wc-2"})
	if noted.ID != bo.ID || noted.Created || core.OrZero(noted.ExternalID) != "wc-2" || noted.FirstName != "Bo" || !noted.UpdatedAt.After(bo.UpdatedAt) {
		t.Errorf("found by e-mail: %+v", noted)
	}
	if diff := cmp.Diff(logged{"customer.edit", map[string]any{"external_id": nil}, map[string]any{"external_id": "wc-2"}}, s.log(bo.ID)[1]); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if other := s.put(customer.New{Phone: "070 174 06 06", ExternalID: "wc-3"}); other.ID != bo.ID || core.OrZero(other.ExternalID) != "wc-2" {
		t.Errorf("with another ID: %+v", other)
	}
	if upper := s.put(customer.New{Phone: "070 174 06 08", ExternalID: "WC-2"}); !upper.Created {
		t.Error("IDs that differ by capitals are one")
	}
	for id, want := range map[string][]string{"wc-2": {"Bo"}, "wc-1": {"Anna"}, "WC-1": nil, "wc": nil} {
		if got := s.names(customer.Filter{ExternalID: &id}); !slices.Equal(got, want) {
			t.Errorf("the filter %q finds %q, want %q", id, got, want)
		}
	}
	for search, want := range map[string][]string{"ek": {"Bo"}, "lindqvist": nil} {
		if got := s.names(customer.Filter{ExternalID: new("wc-2"), Search: &search}); !slices.Equal(got, want) {
			t.Errorf("with a search for %q: %q, want %q", search, got, want)
		}
	}
	_, err := core.Result(s.Customers.Upsert(t.Context(), s.By, customer.New{FirstName: "A", LastName: "B", Phone: "070 174 06 09", ExternalID: strings.Repeat("x", 101)}, nil))
	shoptest.WantFields(t, err, core.Fields{"external_id": {core.MaxLength(100)}})

	// Another business has customers of its own with these IDs.
	stranger := shopIn(t, s.DB)
	if theirs := stranger.put(customer.New{Phone: "070 174 06 05", ExternalID: "wc-1"}); !theirs.Created || theirs.ID == anna.ID {
		t.Error("two businesses share an ID")
	}
	if got := stranger.names(customer.Filter{ExternalID: new("wc-2")}); len(got) != 0 {
		t.Errorf("a stranger's filter finds %q", got)
	}
}

// "Two upserts at once with the same external_id make one customer": also if it is noted on customers who are there.
func TestUpsertsAtOnceWithOneExternalID(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]bool{"of new customers": false, "of customers who have none": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			const n = 12
			var before int64
			if known {
				for i := range n {
					s.put(customer.New{Phone: fmt.Sprintf("070 174 06 %02d", i)})
				}
				before = n
			}
			ids := make([]core.ID, n)
			var wait sync.WaitGroup
			for i := range n {
				wait.Go(func() {
					got, err := core.Result(s.Customers.Upsert(t.Context(), s.By, customer.New{
						FirstName: "Anna", LastName: "Lindqvist", Phone: fmt.Sprintf("070 174 06 %02d", i), ExternalID: "wc-1",
					}, nil))
					if err != nil || core.OrZero(got.ExternalID) != "wc-1" {
						t.Errorf("%+v, %v", got, err)
					}
					ids[i] = got.ID
				})
			}
			wait.Wait()
			for _, id := range ids {
				if id != ids[0] {
					t.Fatalf("wc-1 leads to several customers: %v", ids)
				}
			}
			if got := s.Count("customer"); got != max(before, 1) {
				t.Errorf("%d customers, want %d", got, max(before, 1))
			}
		})
	}
}

// A PATCH sets, changes and removes external IDs, metadata and tags, and each of these changes updated_at.
func TestEditOfAProgramsFields(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.put(customer.New{
		Phone: "070 174 06 05", ExternalID: "wc-1", Metadata: core.Metadata{"shop": "web", "size": ""}, Tags: []string{"Regular", "decaf", "REGULAR "},
	}).Customer
	other := s.put(customer.New{Phone: "070 174 06 06", ExternalID: "wc-2", Tags: []string{"Regular"}})
	if !slices.Equal(c.Tags, []string{"decaf", "Regular"}) || !cmp.Equal(c.Metadata, core.Metadata{"shop": "web", "size": ""}) {
		t.Errorf("made with %q and %v", c.Tags, c.Metadata)
	}
	metadata := core.Set[map[string]*string]
	for _, step := range []struct {
		says     string
		edit     customer.Edit
		id       *string
		metadata core.Metadata
		tags     []string
	}{
		{
			"keys of metadata are replaced, removed and kept",
			customer.Edit{Metadata: metadata(map[string]*string{"size": new("XL"), "shop": nil, "none": nil, "tax": new("1")})},
			new("wc-1"),
			core.Metadata{"size": "XL", "tax": "1"},
			[]string{"decaf", "Regular"},
		},
		{"another field", customer.Edit{LastName: core.Set("Ek")}, new("wc-1"), core.Metadata{"size": "XL", "tax": "1"}, []string{"decaf", "Regular"}},
		{"tags are replaced, and spelled as they are", customer.Edit{Tags: core.Set([]string{"regular", "Vegan"})}, new("wc-1"), core.Metadata{"size": "XL", "tax": "1"}, []string{"Regular", "Vegan"}},
		{"null metadata", customer.Edit{Metadata: core.Optional[map[string]*string]{Set: true}}, new("wc-1"), nil, []string{"Regular", "Vegan"}},
		{"no tags, another ID", customer.Edit{Tags: core.Set([]string{}), ExternalID: core.Set("wc-9")}, new("wc-9"), nil, nil},
		{"null", customer.Edit{ExternalID: core.Optional[string]{Set: true}}, nil, nil, nil},
	} {
		s.Shop = s.Later(time.Minute)
		got := s.edit(c.ID, step.edit)
		if !cmp.Equal(got.ExternalID, step.id) || !cmp.Equal(got.Metadata, step.metadata) || strings.Join(got.Tags, " ") != strings.Join(step.tags, " ") {
			t.Errorf("%s: %v, %v, %q", step.says, got.ExternalID, got.Metadata, got.Tags)
		}
		if !got.UpdatedAt.After(c.UpdatedAt) || !cmp.Equal(s.find(c.ID), got) {
			t.Errorf("%s: updated at %s, stored: %+v", step.says, got.UpdatedAt, s.find(c.ID))
		}
		c = got
	}
	var log []string
	for _, l := range s.log(c.ID) {
		log = append(log, strings.ReplaceAll(fmt.Sprintf("%s %v/%v/%v %v/%v/%v",
			l.Action, l.Old["tags"], l.Old["metadata"], l.Old["external_id"], l.New["tags"], l.New["metadata"], l.New["external_id"]), "<nil>", "-"))
	}
	if diff := cmp.Diff([]string{
		"customer.create -/-/- -/shop, size/wc-1",
		"customer.tag /-/- decaf, Regular/-/-",
		"customer.edit -/-/wc-1 -/shop, size, tax/wc-1",
		"customer.edit -/-/wc-1 -/-/wc-1",
		"customer.tag decaf, Regular/-/- Regular, Vegan/-/-",
		"customer.edit -/-/wc-1 -/size, tax/wc-1",
		"customer.tag Regular, Vegan/-/- /-/-",
		"customer.edit -/-/wc-1 -/-/wc-9",
		"customer.edit -/-/wc-9 -/-/-",
	}, log); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}

	s.Shop = s.Later(time.Minute)
	s.tag(c.ID, "From the panel")
	if tagged := s.find(c.ID); !tagged.UpdatedAt.After(c.UpdatedAt) {
		t.Error("a tag of the panel leaves updated_at as it was")
	}
	many := make([]string, customer.MaxTags+1)
	for i := range many {
		many[i] = fmt.Sprint("Tag ", i)
	}
	full := map[string]*string{}
	for i := range core.MaxMetadataKeys {
		full[fmt.Sprint(i)] = new("")
	}
	s.edit(c.ID, customer.Edit{Metadata: metadata(full)})
	for _, refused := range []struct {
		edit customer.Edit
		want core.Fields
	}{
		{customer.Edit{ExternalID: core.Set("wc-2")}, core.Fields{"external_id": {core.Duplicate}}},
		{customer.Edit{Tags: core.Set(many)}, core.Fields{"tags": {core.MaxItems(20)}}},
		{customer.Edit{Tags: core.Set([]string{"a", " ", strings.Repeat("x", 31)})}, core.Fields{"tags.1": {core.Required}, "tags.2": {core.MaxLength(30)}}},
		{customer.Edit{Metadata: metadata(map[string]*string{"one more": new("")})}, core.Fields{"metadata": {core.MaxItems(20)}}},
	} {
		_, err := s.Customers.Edit(t.Context(), s.By, c.ID, refused.edit)
		shoptest.WantFields(t, err, refused.want)
	}
	if _, err := s.Customers.Edit(t.Context(), shopIn(t, s.DB).By, other.ID, customer.Edit{ExternalID: core.Set("mine")}); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a stranger's edit: %v", err)
	}
}

// Two edits of one customer's tags at once: one wins, and the log tells both as they were.
func TestEditsOfTagsAtOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.put(customer.New{Phone: "070 174 06 05"})
	var wait sync.WaitGroup
	for i := range 6 {
		wait.Go(func() { s.edit(c.ID, customer.Edit{Tags: core.Set([]string{fmt.Sprint("Tag ", i)})}) })
	}
	wait.Wait()
	changed, steps := map[any]any{}, 0
	for _, l := range s.log(c.ID)[1:] { // in no order: all may be of one millisecond
		changed[l.Old["tags"]] = l.New["tags"]
	}
	last := any("")
	for next, more := changed[last]; more; next, more = changed[last] {
		last = next
		steps++
	}
	if got := s.find(c.ID).Tags; len(got) != 1 || got[0] != last || steps != 6 {
		t.Errorf("the tags are %q; after %d of 6 changes, the log says %q", got, steps, last)
	}
}

// With the setting, a customer with an e-mail address needs no phone number, and is a customer like any other.
func TestACustomerWithoutAPhoneNumber(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	ctx := t.Context()
	guest := customer.New{FirstName: "Greta", LastName: "Nyman", Email: "greta@example.com"}
	refuse := func(n customer.New, want core.Fields) {
		t.Helper()
		_, err := core.Result(s.Customers.Upsert(ctx, s.By, n, nil))
		shoptest.WantFields(t, err, want)
	}
	refuse(guest, core.Fields{"phone": {core.Required}})
	off := s
	s = s.phoneOptional(true)
	refuse(customer.New{FirstName: "Greta", LastName: "Nyman"}, core.Fields{"email": {core.RequiredWithout("phone")}})
	refuse(customer.New{FirstName: "Greta", LastName: "Nyman", Email: "greta"}, core.Fields{"email": {core.MustBeEmail}})
	refuse(customer.New{FirstName: "Greta", LastName: "Nyman", Phone: "x", Email: "greta@example.com"}, core.Fields{"phone": {core.MustBePhone}})

	greta := s.put(guest)
	again := s.put(customer.New{FirstName: "G", LastName: "N", Email: "GRETA@example.com"})
	hugo := s.put(customer.New{FirstName: "Hugo", LastName: "Nyman", Email: "hugo@example.com"})
	if !greta.Created || greta.Phone != "" || greta.Erased || again.ID != greta.ID || again.Created || !hugo.Created || hugo.ID == greta.ID {
		t.Fatalf("%+v, %+v, %+v", greta, again, hugo)
	}
	if got := s.find(greta.ID); got.Erased || got.Phone != "" || got.Status != customer.Active {
		t.Errorf("found: %+v", got)
	}
	for _, typed := range []string{"greta", "nyman greta", "GRETA@example.com"} {
		if got, _, err := s.Customers.FindAtTill(ctx, s.By, typed); err != nil || len(got) != 1 || got[0].ID != greta.ID {
			t.Errorf("at the till, %q finds %+v, %v", typed, got, err)
		}
	}
	for _, f := range []customer.Filter{{Search: new("greta")}, {Email: new("greta@example.com")}, {Search: new("greta@ex")}} {
		if got := s.names(f); !slices.Equal(got, []string{"Greta"}) {
			t.Errorf("a filter finds %q", got)
		}
	}
	if suggested, err := s.Customers.Duplicates(ctx, s.By, greta.ID); err != nil || len(suggested) != 0 {
		t.Errorf("likely duplicates: %+v, %v", suggested, err)
	}
	s.tag(greta.ID, "Web shop")
	s.Check(s.Customers.SetNote(ctx, s.By, greta.ID, "Orders online"))
	s.Must(s.Customers.Unsubscribe(ctx, s.By, greta.ID))
	if replaced, err := s.Customers.ReplaceLinks(ctx, s.By, greta.ID); err != nil || replaced.LinkVersion != 1 || replaced.UnsubscribedAt == nil {
		t.Errorf("links replaced: %+v, %v", replaced, err)
	}

	// The phone number goes only if the e-mail address stays, and the other way round.
	edit := func(e customer.Edit) error {
		_, err := s.Customers.Edit(ctx, s.By, greta.ID, e)
		return err
	}
	null := core.Optional[string]{Set: true}
	shoptest.WantFields(t, edit(customer.Edit{Email: null}), core.Fields{"email": {core.RequiredWithout("phone")}})
	if got := s.edit(greta.ID, customer.Edit{Phone: core.Set("070 174 06 05")}); got.Phone != "070 174 06 05" || got.LinkVersion != 2 {
		t.Errorf("with a number: %+v", got)
	}
	if got := s.edit(greta.ID, customer.Edit{Email: null}); got.Email != nil {
		t.Errorf("without an address: %+v", got)
	}
	shoptest.WantFields(t, edit(customer.Edit{Phone: null}), core.Fields{"phone": {core.RequiredWithout("email")}})
	shoptest.WantFields(t, edit(customer.Edit{Phone: core.Set(""), Email: null}), core.Fields{"email": {core.RequiredWithout("phone")}})
	s.edit(greta.ID, customer.Edit{Email: core.Set("greta@example.com")})
	off.phoneOptional(false)
	shoptest.WantFields(t, edit(customer.Edit{Phone: null}), core.Fields{"phone": {core.Required}})
	s = s.phoneOptional(true)
	if got := s.edit(greta.ID, customer.Edit{Phone: null}); got.Phone != "" || got.Erased {
		t.Errorf("without a number again: %+v", got)
	}

	// Turned off, those who are there stay, and can be changed.
	s = s.phoneOptional(false)
	refuse(customer.New{FirstName: "Ida", LastName: "Ek", Email: "ida@example.com"}, core.Fields{"phone": {core.Required}})
	if got := s.edit(greta.ID, customer.Edit{LastName: core.Set("Ek"), Phone: core.Set("")}); got.LastName != "Ek" || got.Phone != "" {
		t.Errorf("changed: %+v", got)
	}
	s.Verify()
	s.put(customer.New{FirstName: "Gus", LastName: "Ek", Phone: "070 174 06 05"}) // the number is free again

	erased := s.erase(greta.ID)
	if !erased.Erased || !s.find(greta.ID).Erased {
		t.Errorf("erased: %+v", erased)
	}
	if got, _, err := s.Customers.FindAtTill(ctx, s.By, "erased"); err != nil || len(got) != 0 {
		t.Errorf("at the till, an erased customer: %+v, %v", got, err)
	}
}

// A request that began while the setting was on can't add a customer after it was turned off.
func TestTheSettingIsReadWithTheCustomer(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.phoneOptional(true).phoneOptional(false)
	s.By.Tenant.PhoneOptional = true // as it was when the token was read
	_, err := core.Result(s.Customers.Upsert(t.Context(), s.By, customer.New{FirstName: "Greta", LastName: "Nyman", Email: "greta@example.com"}, nil))
	var refusal *core.Error
	if !errors.As(err, &refusal) || refusal.Kind != core.KindUnavailable || s.Count("customer") != 0 {
		t.Errorf("added after the setting was turned off: %v", err)
	}
}

// The keys of a customer without a phone number are renewed like others', and a new country changes none.
func TestRenewKeysWithoutAPhoneNumber(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t)).phoneOptional(true)
	greta := s.put(customer.New{FirstName: "Greta", LastName: "Nyman", Email: "greta@example.com"})
	s.put(customer.New{FirstName: "Gus", LastName: "Ek", Phone: "070 174 06 05"})
	s.Check(db.Run(t.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) error { return customer.Rekey(t.Context(), tx, "NO") }))
	s.Exec("update loyalty.customer set folded = null where tenant_id = $1", s.By.Tenant.ID)
	for more := true; more; {
		done, err := db.In(t.Context(), s.DB.Platform(), func(tx *db.Tx) (int64, error) {
			done, _, err := customer.RenewKeys(t.Context(), tx)
			return done, err
		})
		s.Check(err)
		more = done > 0
	}
	if got := s.names(customer.Filter{Search: new("greta@example")}); !slices.Equal(got, []string{"Greta"}) || s.find(greta.ID).Erased {
		t.Errorf("found %q", got)
	}
	if n := s.Count("customer where folded is null"); n != 0 {
		t.Errorf("%d customers have no search text", n)
	}
}

// "Erasure removes it": the external ID, its further ones, metadata and tags, also from the log.
func TestErasingAProgramsFields(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.put(customer.New{Phone: "070 174 06 05", ExternalID: "secret-id", Metadata: core.Metadata{"secret-key": "secret-value"}, Tags: []string{"secret-tag"}})
	s.Exec("insert into loyalty.customer_key values ($1, 'external_id', 'secret-further', $2, 'secret-further', now())", s.By.Tenant.ID, c.ID)
	if all := s.everything(); !strings.Contains(all, "secret-id") || !strings.Contains(all, "secret-key") {
		t.Fatal("the test reads nothing")
	}
	s.erase(c.ID)
	if all := s.everything(); strings.Contains(all, "secret") {
		t.Errorf("still there: %s", all)
	}
	if n := s.Count("customer_key"); n != 0 {
		t.Error("a further ID is still there")
	}
	if again := s.put(customer.New{Phone: "070 174 06 05", ExternalID: "secret-id"}); !again.Created {
		t.Error("an erased customer's ID leads to them")
	}
}

// An earlier build, which erases and merges without knowing these columns, leaves none of them behind.
func TestAnEarlierBuildErasesAProgramsFields(t *testing.T) {
	t.Parallel()
	dbtest.NeedsPlain(t, "a distributed database is upgraded while nothing else serves")
	s := newShop(t)
	c := s.put(customer.New{Phone: "070 174 06 05", ExternalID: "wc-1", Metadata: core.Metadata{"shop": "web"}})
	s.Exec("update loyalty.customer set first_name = 'Ann', folded = 'ann' where tenant_id = $1 and id = $2", s.By.Tenant.ID, c.ID)
	if got := s.find(c.ID); core.OrZero(got.ExternalID) != "wc-1" || len(got.Metadata) != 1 {
		t.Errorf("an edit took %+v", got)
	}
	s.Exec(`
		update loyalty.customer
		set first_name = 'Erased', last_name = 'Erased', phone = '', phone_key = null, email = null, email_key = null, folded = '', status = 'inactive'
		where tenant_id = $1 and id = $2`, s.By.Tenant.ID, c.ID)
	if got := s.find(c.ID); got.ExternalID != nil || got.Metadata != nil || !got.Erased {
		t.Errorf("erased: %+v", got)
	}
}

// The round trips of what a program's fields add.
func TestExternalIDRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shopIn(t, d)
	n := 0
	number := func() string { n++; return fmt.Sprintf("070 175 %04d", n) }
	known := s.put(customer.New{Phone: number(), ExternalID: "known"})
	for _, c := range []struct {
		name string
		want int
		do   func() error
	}{
		{"find by ID", 2, func() error { s.put(customer.New{Phone: number(), ExternalID: "known"}); return nil }},
		{"add one with an ID and metadata", 3, func() error {
			s.put(customer.New{Phone: number(), ExternalID: number(), Metadata: core.Metadata{"a": "b"}})
			return nil
		}},
		{"and with tags", 4, func() error { s.put(customer.New{Phone: number(), Tags: []string{"Regular"}}); return nil }},
		{"edit tags and ID", 3, func() error {
			s.edit(known.ID, customer.Edit{Tags: core.Set([]string{"Regular", number()}), ExternalID: core.Set("known")})
			return nil
		}},
		{"list by ID", 1, func() error {
			_, err := s.Customers.List(t.Context(), s.By, customer.Filter{ExternalID: new("known")}, core.Page{Size: 3})
			return err
		}},
	} {
		var trips int
		for range 2 { // the first run prepares the statements
			before := count()
			s.Check(c.do())
			trips = count() - before
		}
		if trips != c.want {
			t.Errorf("%s: %d round trips, want %d", c.name, trips, c.want)
		}
	}
	var trips int
	for range 2 {
		phone := number()
		s.put(customer.New{Phone: phone})
		before := count()
		s.put(customer.New{Phone: phone, ExternalID: phone})
		trips = count() - before
	}
	if trips != 3 {
		t.Errorf("note an ID: %d round trips, want 3", trips)
	}
}
