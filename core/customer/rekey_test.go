package customer_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
)

// move changes the country like the platform: it locks the tenant, then changes all keys.
func (s *shop) move(country string) error {
	s.T.Helper()
	const holdSQL = "update loyalty.tenant set country = nullif(@country, '') where id = @id"
	_, err := db.In(s.T.Context(), s.DB.Platform(), func(tx *db.Tx) (int, error) {
		if _, err := db.Exec(s.T.Context(), tx, holdSQL, db.Args{"country": country, "id": int64(s.By.Tenant.ID)}); err != nil {
			return 0, err
		}
		if err := tx.Enter(s.By.Tenant.ID); err != nil {
			return 0, err
		}
		return 0, customer.Rekey(s.T.Context(), tx, country)
	})
	if err == nil {
		s.By.Tenant.Country = country
	}
	return err
}

// keys returns the stored keys by phone number.
func (s shop) keys() map[string]string {
	s.T.Helper()
	rows, err := dbtest.Owner(s.DB).Query(s.T.Context(), "select phone, coalesce(phone_key, '-') from loyalty.customer where tenant_id = $1", s.By.Tenant.ID)
	s.Check(err)
	keys := map[string]string{}
	for rows.Next() {
		var phone, key string
		s.Check(rows.Scan(&phone, &key))
		keys[phone] = key
	}
	if rows.Err() != nil {
		s.T.Fatal(rows.Err())
	}
	return keys
}

// A change of the tenant's country changes all keys of phone numbers, and nothing else.
func TestRekey(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	for _, phone := range []string{"070-174 06 05", "+46 70 174 06 06", "4711"} {
		s.made(phone, nil)
		other.made(phone, nil)
	}
	digits := s.made("45 32 12 34 56", nil)
	erased := s.made("0701740699", nil)
	s.Exec("update loyalty.customer set phone = '', phone_key = null where tenant_id = $1 and id = $2", s.By.Tenant.ID, erased.ID)
	before := other.keys()
	for _, c := range []struct {
		country string
		want    map[string]string
	}{
		{"", map[string]string{"070-174 06 05": "0701740605", "+46 70 174 06 06": "+46701740606", "4711": "4711", "45 32 12 34 56": "4532123456", "": "-"}},
		{"NO", map[string]string{"070-174 06 05": "+470701740605", "+46 70 174 06 06": "+46701740606", "4711": "4711", "45 32 12 34 56": "4532123456", "": "-"}},
		{"DE", map[string]string{"070-174 06 05": "+49701740605", "+46 70 174 06 06": "+46701740606", "4711": "+494711", "45 32 12 34 56": "+494532123456", "": "-"}},
		{"SE", map[string]string{"070-174 06 05": "+46701740605", "+46 70 174 06 06": "+46701740606", "4711": "4711", "45 32 12 34 56": "+464532123456", "": "-"}},
	} {
		s.Check(s.move(c.country))
		if diff := cmp.Diff(c.want, s.keys()); diff != "" {
			t.Errorf("in %q (-want +got):\n%s", c.country, diff)
		}
	}
	if found := s.upsert("+46 70 174 06 05", nil); found.Created {
		t.Error("a number is not found as of the new country")
	}
	if got := s.find(digits.ID); !got.UpdatedAt.Equal(digits.UpdatedAt) || got.Phone != digits.Phone {
		t.Errorf("what the customer sees was changed: %+v", got)
	}
	if diff := cmp.Diff(before, other.keys()); diff != "" {
		t.Errorf("another tenant's keys (-want +got):\n%s", diff)
	}
}

// A number can get the key that another number gives up.
func TestRekeyReusesKeys(t *testing.T) {
	t.Parallel()
	s := newShop(t).in("DE")
	for _, phone := range []string{"011 49 30 123 45 67", "030 123 45 67"} {
		s.made(phone, nil)
	}
	if got := s.keys()["030 123 45 67"]; got != "+49301234567" {
		t.Fatalf("in Germany the key is %s", got)
	}
	s.Check(s.move("US"))
	want := map[string]string{"011 49 30 123 45 67": "+49301234567", "030 123 45 67": "+10301234567"}
	if diff := cmp.Diff(want, s.keys()); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

// Numbers that would become the same are named and refuse the change.
func TestRekeyRefusesCollisions(t *testing.T) {
	t.Parallel()
	s := newShop(t).in("")
	var ids []core.ID
	for _, phone := range []string{"070-174 06 05", "+46 70 174 06 05", "070-174 06 06", "+46 70 174 06 06", "070-174 06 07"} {
		ids = append(ids, s.made(phone, nil).ID)
	}
	want := []core.Violation{
		{Rule: "same_phones_in_country", Other: "070-174 06 05 and +46 70 174 06 05", Records: [2]core.ID{ids[0], ids[1]}},
		{Rule: "same_phones_in_country", Other: "070-174 06 06 and +46 70 174 06 06", Records: [2]core.ID{ids[2], ids[3]}},
	}
	before := s.keys()
	shoptest.WantFields(t, s.move("SE"), core.Fields{"country": want})
	if diff := cmp.Diff(before, s.keys()); diff != "" {
		t.Errorf("keys after the refusal (-want +got):\n%s", diff)
	}
}

// While the country changes, customers are created and edited. No key of the old country is left.
func TestRekeyDuringUpserts(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	edited := s.made("070-174 06 05", nil)
	var tills sync.WaitGroup
	for n := range 3 {
		tills.Go(func() {
			for i := range 40 {
				phone := fmt.Sprintf("070-1%d 00 %02d", n, i)
				if _, err := core.Result(s.Customers.Upsert(t.Context(), s.By, described(phone, nil), nil)); err != nil && !core.IsKind(err, core.KindUnavailable) {
					t.Error(err)
				}
				if _, err := s.Customers.Edit(t.Context(), s.By, edited.ID, customer.Edit{Phone: core.Set(phone + "99")}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	closed := make(chan struct{})
	go func() { tills.Wait(); close(closed) }()
	moving := s
	for open := true; open; {
		for _, country := range []string{"SE", "DE"} {
			if err := moving.move(country); err != nil {
				t.Error(err)
			}
		}
		select {
		case <-closed:
			open = false
		default:
		}
	}
	_, err := core.Result(s.Customers.Upsert(t.Context(), s.By, described("070-199 99 99", nil), nil))
	if !core.IsKind(err, core.KindUnavailable) {
		t.Errorf("as of the old country = %v, want it unavailable", err)
	}
	after := moving.keys()
	var left []string
	for phone, key := range after {
		if key[:3] != "+49" {
			left = append(left, phone+" "+key)
		}
	}
	if len(left) != 0 || len(after) < 2 {
		t.Errorf("%d numbers, not as of the new country: %v", len(after), left)
	}
}
