package staff_test

import (
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/staff"
)

// E-mail addresses that an earlier build stored get the key of this one; a key that a colleague has stays theirs.
func TestRenewKeys(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	first, second, plain := s.Person(core.Manager), s.Person(core.Cashier), s.Person(core.Cashier)
	write := func(id int64, email, key string) {
		s.Exec("update loyalty.staff set email = $2, email_key = $3 where id = $1", id, email, key)
	}
	write(first.StaffID, "Zoe\u0308@bücher.example", "zoe\u0308@bücher.example")
	write(second.StaffID, "zoë@xn--bcher-kva.example", "zoë@xn--bcher-kva.example") // has the key
	write(plain.StaffID, "İrem@example.com", "irem@example.com")
	for _, want := range [][2]int64{{1, 1}, {0, 1}} { // done, and the same
		got, err := db.In(t.Context(), s.DB.Platform(), func(tx *db.Tx) (got [2]int64, err error) {
			got[0], got[1], err = staff.RenewKeys(t.Context(), tx)
			return got, err
		})
		if s.Check(err); got != want {
			t.Errorf("done and the same: %v, want %v", got, want)
		}
	}
	for id, want := range map[int64]string{
		first.StaffID: "zoe\u0308@bücher.example", second.StaffID: "zoë@xn--bcher-kva.example", plain.StaffID: core.EmailKey("İrem@example.com"),
	} {
		if got := shoptest.Query[string](s.Shop, "select email_key from loyalty.staff where id = $1", id); got != want {
			t.Errorf("key %q, want %q", got, want)
		}
	}
}
