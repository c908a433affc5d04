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
	return customer.New{FirstName: "Anna", LastName: "Lindqvist", Phone: phone, Email: core.OrZero(email)}
}

func (o office) upsert(phone string, email *string) customer.Upserted {
	o.T.Helper()
	got, err := core.Result(o.Customers.Upsert(o.T.Context(), o.By, described(phone, email), nil))
	if err != nil {
		o.T.Fatalf("%s: %v", phone, err)
	}
	return got
}

// made adds a new customer.
func (o office) made(phone string, email *string) customer.Customer {
	o.T.Helper()
	got := o.upsert(phone, email)
	if !got.Created {
		o.T.Fatalf("%s is another customer's", phone)
	}
	return got.Customer
}

func (o office) find(id core.ID) customer.Customer {
	o.T.Helper()
	got, err := o.Customers.Find(o.T.Context(), o.By, id)
	o.Check(err)
	return got
}

// keys returns the stored keys by phone number.
func (o office) keys() map[string]string {
	o.T.Helper()
	rows, err := dbtest.Owner(o.DB).Query(o.T.Context(), "select phone, coalesce(phone_key, '-') from loyalty.customer where tenant_id = $1", o.By.Tenant.ID)
	o.Check(err)
	keys := map[string]string{}
	for rows.Next() {
		var phone, key string
		o.Check(rows.Scan(&phone, &key))
		keys[phone] = key
	}
	if rows.Err() != nil {
		o.T.Fatal(rows.Err())
	}
	return keys
}

// move changes the country like the platform: it locks the tenant, then reads all numbers again. Transactions
// that waited see the new country.
func (o *office) move(country string) error {
	o.T.Helper()
	const holdSQL = "update loyalty.tenant set country = nullif(@country, '') where id = @id"
	_, err := db.In(o.T.Context(), o.DB.Platform(), func(tx *db.Tx) (int, error) {
		if _, err := db.Exec(o.T.Context(), tx, holdSQL, db.Args{"country": country, "id": int64(o.By.Tenant.ID)}); err != nil {
			return 0, err
		}
		if err := tx.Enter(o.By.Tenant.ID); err != nil {
			return 0, err
		}
		return 0, customer.Rekey(o.T.Context(), tx, country)
	})
	if err == nil {
		o.By.Tenant.Country = country
	}
	return err
}
