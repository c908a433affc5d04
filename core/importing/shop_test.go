package importing_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a tenant in Sweden with customers.
type shop struct {
	*customer.Service
	db *db.DB
	by core.Actor
}

func shopOf(t *testing.T, d *db.DB) shop {
	t.Helper()
	return shop{customer.NewService(d), d, dbtest.Tenant(t, d)}
}

func described(phone string, email *string) customer.New {
	return customer.New{FirstName: new("Anna"), LastName: new("Lindqvist"), Phone: &phone, Email: email}
}

func (s shop) upsert(t *testing.T, phone string, email *string) customer.Upserted {
	t.Helper()
	got, err := s.Upsert(t.Context(), s.by, described(phone, email))
	if err != nil {
		t.Fatalf("%s: %v", phone, err)
	}
	return got
}

// made adds a new customer.
func (s shop) made(t *testing.T, phone string, email *string) customer.Customer {
	t.Helper()
	got := s.upsert(t, phone, email)
	if !got.Created {
		t.Fatalf("%s is another customer's", phone)
	}
	return got.Customer
}

func (s shop) find(t *testing.T, id core.ID) customer.Customer {
	t.Helper()
	got, err := s.Find(t.Context(), s.by, id)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (s shop) count(t *testing.T) (n int) {
	t.Helper()
	if err := dbtest.Owner(s.db).QueryRow(t.Context(), "select count(*) from loyalty.customer where tenant_id = $1", s.by.Tenant.ID).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// keys returns the stored keys by phone number.
func (s shop) keys(t *testing.T) map[string]string {
	t.Helper()
	rows, err := dbtest.Owner(s.db).Query(t.Context(), "select phone, coalesce(phone_key, '-') from loyalty.customer where tenant_id = $1", s.by.Tenant.ID)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{}
	for rows.Next() {
		var phone, key string
		if err := rows.Scan(&phone, &key); err != nil {
			t.Fatal(err)
		}
		keys[phone] = key
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return keys
}

func fieldsOf(t *testing.T, err error) core.Fields {
	t.Helper()
	var refusal *core.Error
	if !errors.As(err, &refusal) || refusal.Kind != core.KindInvalid {
		t.Fatalf("%v, want a refusal of fields", err)
	}
	return refusal.Fields
}

func wantFields(t *testing.T, err error, want core.Fields) {
	t.Helper()
	if diff := cmp.Diff(want, fieldsOf(t, err)); diff != "" {
		t.Errorf("refused fields (-want +got):\n%s", diff)
	}
}

// move changes the country like the platform: it locks the tenant, then reads all numbers again. Transactions
// that waited see the new country.
func (s *shop) move(t *testing.T, country string) error {
	t.Helper()
	const holdSQL = "update loyalty.tenant set country = nullif(@country, '') where id = @id"
	_, err := db.Platform(t.Context(), s.db, core.System(core.Tenant{}, "test"), func(tx *db.Tx) (int, error) {
		if _, err := db.Exec(t.Context(), tx, holdSQL, db.Args{"country": country, "id": int64(s.by.Tenant.ID)}); err != nil {
			return 0, err
		}
		if err := tx.Enter(s.by.Tenant.ID); err != nil {
			return 0, err
		}
		return 0, customer.Rekey(t.Context(), tx, country)
	})
	if err == nil {
		s.by.Tenant.Country = country
	}
	return err
}
