package customer_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
)

// keyedRequest is a request to upsert a customer, with a key.
func keyedRequest(key, phone string) customer.Request {
	n := described(phone, nil)
	body, _ := json.Marshal(n)
	return customer.Request{New: n, Once: &core.Once[customer.Upserted]{
		RequestKey: core.RequestKey{Key: key, Fingerprint: sha256.Sum256(body)},
		Respond: func(u customer.Upserted) (core.Response, error) {
			return core.Response{Status: 201, Body: fmt.Append(nil, u.ID)}, nil
		},
	}}
}

// Batches and single requests with the same phone numbers and keys at once: each number has one customer, each key one response,
// and none waits for another in a circle.
func TestUpsertEachBesideOthers(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	const people = 30
	phones := make([]string, people)
	for i := range phones {
		phones[i] = shoptest.Phone()
	}
	var all sync.WaitGroup
	for turn := range 12 {
		all.Go(func() {
			requests := make([]customer.Request, people)
			for i := range requests {
				requests[i] = keyedRequest(fmt.Sprint("key ", i), phones[i])
			}
			if turn%2 == 1 { // in the other order
				for i, j := 0, people-1; i < j; i, j = i+1, j-1 {
					requests[i], requests[j] = requests[j], requests[i]
				}
			}
			if turn%3 == 2 {
				for _, r := range requests {
					if _, err := s.Customers.Upsert(t.Context(), s.By, r.New, nil); err != nil {
						t.Error(err)
					}
				}
				return
			}
			outcomes, err := s.Customers.UpsertEach(t.Context(), s.By, requests)
			if err != nil {
				t.Error(err)
			}
			for _, o := range outcomes {
				if o.Err != nil && !errors.Is(o.Err, core.ErrKeyRunning) {
					t.Error(o.Err)
				}
			}
		})
	}
	all.Wait()
	if n := s.Count("customer"); n != people {
		t.Errorf("%d customers, want %d", n, people)
	}
	if n := s.Count("account"); n != people {
		t.Errorf("%d accounts, want %d", n, people)
	}
	if n := s.Count("idempotency"); n != people {
		t.Errorf("%d responses, want %d", n, people)
	}
	if n := shoptest.Query[int](s.Shop, "select count(*) from loyalty.audit_entry where tenant_id = $1 and action = 'customer.create'", s.By.Tenant.ID); n != people {
		t.Errorf("%d entries in the audit log, want %d", n, people)
	}
	if n := shoptest.Query[int](s.Shop, "select count(*) from loyalty.customer where tenant_id = $1 and imported_at is not null", s.By.Tenant.ID); n != 0 {
		t.Errorf("%d customers count as imported", n)
	}
}

// A customer whom another request creates at this moment is found once it is done.
func TestUpsertEachLeavesOutWhoIsBeingCreated(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	phone := shoptest.Phone()
	created, done := make(chan struct{}), make(chan struct{})
	var other customer.Customer
	go func() {
		defer close(done)
		once := keyedRequest("k", phone).Once
		once.Respond = func(u customer.Upserted) (core.Response, error) { // before the commit
			other = u.Customer
			close(created)
			s.Wait("the batch waits", "select exists (select from "+dbtest.Activity(t)+" where wait_event_type = 'Lock' and query ilike '%insert into loyalty.customer%')")
			return core.Response{Status: 201, Body: []byte("{}")}, nil
		}
		if _, err := s.Customers.Upsert(t.Context(), s.By, described(phone, nil), once); err != nil {
			t.Error(err)
		}
	}()
	<-created
	outcomes, err := s.Customers.UpsertEach(t.Context(), s.By, []customer.Request{
		{New: described(shoptest.Phone(), nil)}, {New: described(phone, nil)}, {New: described(phone, nil)},
	})
	s.Check(err)
	<-done
	for i, o := range outcomes {
		if o.Err != nil || o.Result.Created != (i == 0) || i > 0 && o.Result.ID != other.ID {
			t.Errorf("request %d: %+v", i, o)
		}
	}
}

// A web shop's customers in a batch: with IDs of its own, tags and metadata, and with an e-mail address alone.
func TestUpsertEachOfAWebShop(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.By.Tenant.PhoneOptional = true
	s.Exec("update loyalty.tenant set phone_optional = true where id = $1", s.By.Tenant.ID)
	known := s.Customer()
	guest := func(email, id string) customer.Request {
		return customer.Request{New: customer.New{
			FirstName: "Bo", LastName: "Ek", Email: email, ExternalID: id,
			Tags: []string{"Web shop"}, Metadata: core.Metadata{"language": "sv"},
		}}
	}
	named := func(phone, id string) customer.Request {
		r := customer.Request{New: shoptest.Anna(phone)}
		r.ExternalID = id
		return r
	}
	outcomes, err := s.Customers.UpsertEach(t.Context(), s.By, []customer.Request{
		guest("bo@example.com", "shop-1"), guest("ek@example.com", "shop-2"), named(known.Phone, "shop-3"), guest("other@example.com", "shop-1"), guest("", "shop-9"),
	})
	s.Check(err)
	for i, want := range []struct {
		created bool
		id      string
		tags    []string
	}{{true, "shop-1", []string{"Web shop"}}, {true, "shop-2", []string{"Web shop"}}, {false, "shop-3", []string{}}, {false, "shop-1", []string{"Web shop"}}} {
		got := outcomes[i]
		if got.Err != nil || got.Result.Created != want.created || core.OrZero(got.Result.ExternalID) != want.id || !slices.Equal(got.Result.Tags, want.tags) {
			t.Errorf("customer %d: %+v, want %+v", i, got, want)
			continue
		}
		if stored := s.find(got.Result.ID); core.OrZero(stored.ExternalID) != want.id || want.created && stored.Metadata["language"] != "sv" {
			t.Errorf("customer %d is stored as %+v", i, stored)
		}
	}
	if outcomes[3].Result.ID != outcomes[0].Result.ID {
		t.Errorf("one external ID made two customers")
	}
	shoptest.WantFields(t, outcomes[4].Err, core.Fields{"email": {core.RequiredWithout("phone")}})
}

// Customers who are found get the shop's IDs, each once and in the log; one who has an ID keeps it, and an ID that they didn't get
// may be a new customer's.
func TestUpsertEachNotesIDs(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	named := func(phone, id string) customer.Request {
		r := customer.Request{New: described(phone, nil)}
		r.ExternalID = id
		return r
	}
	anna, bo, carl := s.Customer(), s.Customer(), s.Customer()
	for _, r := range []customer.Request{named(carl.Phone, "carl")} {
		s.Must(core.Result(s.Customers.Upsert(t.Context(), s.By, r.New, nil)))
	}
	outcomes, err := s.Customers.UpsertEach(t.Context(), s.By, []customer.Request{
		named(anna.Phone, "a"), named(bo.Phone, "b"), named(bo.Phone, "other"), named(carl.Phone, "new"), named(shoptest.Phone(), "new"), named(shoptest.Phone(), "a"),
	})
	s.Check(err)
	for i, want := range []struct {
		id       core.ID // zero: a new customer's
		external string
	}{{anna.ID, "a"}, {bo.ID, "b"}, {bo.ID, "b"}, {carl.ID, "carl"}, {external: "new"}, {anna.ID, "a"}} {
		got := outcomes[i]
		if got.Err != nil || got.Result.Created != (want.id == core.ID{}) || want.id != (core.ID{}) && got.Result.ID != want.id || core.OrZero(got.Result.ExternalID) != want.external {
			t.Errorf("request %d: %+v, want %+v", i, got, want)
		}
	}
	const logged = "select count(*) from loyalty.audit_entry where tenant_id = $1 and action = 'customer.edit' and new->>'external_id' is not null"
	if n := shoptest.Query[int](s.Shop, logged, s.By.Tenant.ID); n != 3 {
		t.Errorf("%d IDs in the log, want 3", n)
	}
}
