package importing_test

import (
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func described(phone string, email *string) customer.New {
	return customer.New{FirstName: new("Anna"), LastName: new("Lindqvist"), Phone: &phone, Email: email}
}

func (s office) upsert(phone string, email *string) customer.Upserted {
	s.T.Helper()
	got, err := s.Customers.Upsert(s.T.Context(), s.By, described(phone, email))
	if err != nil {
		s.T.Fatalf("%s: %v", phone, err)
	}
	return got
}

// made adds a new customer.
func (s office) made(phone string, email *string) customer.Customer {
	s.T.Helper()
	got := s.upsert(phone, email)
	if !got.Created {
		s.T.Fatalf("%s is another customer's", phone)
	}
	return got.Customer
}

func (s office) find(id core.ID) customer.Customer {
	s.T.Helper()
	got, err := s.Customers.Find(s.T.Context(), s.By, id)
	s.Check(err)
	return got
}

// keys returns the stored keys by phone number.
func (s office) keys() map[string]string {
	s.T.Helper()
	rows, err := dbtest.Owner(s.DB).Query(s.T.Context(), "select phone, coalesce(phone_key, '-') from loyalty.customer where tenant_id = $1", s.By.Tenant.ID)
	s.Check(err)
	keys := map[string]string{}
	for rows.Next() {
		var phone, key string
		if err := rows.Scan(&phone, &key); err != nil {
			s.T.Fatal(err)
		}
		keys[phone] = key
	}
	if rows.Err() != nil {
		s.T.Fatal(rows.Err())
	}
	return keys
}

// move changes the country like the platform: it locks the tenant, then reads all numbers again. Transactions
// that waited see the new country.
func (s *office) move(country string) error {
	s.T.Helper()
	const holdSQL = "update loyalty.tenant set country = nullif(@country, '') where id = @id"
	_, err := db.Platform(s.T.Context(), s.DB, core.System(core.Tenant{}, "test"), func(tx *db.Tx) (int, error) {
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
