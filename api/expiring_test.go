package api_test

import (
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
)

// lastDay is the last day of what is earned now, where points end some months later.
func (s *shop) lastDay(months int) string {
	rule := core.Expiry{Rule: core.ExpireAfter, Months: months, RoundTo: core.ToMonth}
	return rule.LastDay(core.DateOf(s.db.Now(), s.By.Tenant.TimeZone)).Format(time.DateOnly)
}

// entry is the JSON of a ledger entry.
func entry(kind, unit, amount, after, sale, expires string) string {
	return `{"ulid":"<ulid>","kind":"` + kind + `","unit":"` + unit + `","amount":` + amount + `,"balance_after":` + after +
		`,"transaction_ulid":` + sale + `,"expires_on":` + expires + `,"created_at":"<time>"}`
}

const readAs = "/customers/{anna}"

// A customer has the soonest day, /expiring has all of them, which add up to the balance, and the ledger says how it came.
func TestWhatExpiresWhen(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.fill("{voided}{stamp_sale}{sale}") // before the rule
	s.Shop = s.ExpireAfter(ledger.Points, 3, core.ToMonth)
	dbtest.Tick(s.db)
	shows(readAs, `<anything>"points_balance":12,"stamps_balance":1,<anything>`+earnedRest+`<anything>`)(s, answer{})
	shows(readAs+"/expiring", one(`[{"unit":"points","amount":12,"expires_on":null},{"unit":"stamps","amount":1,"expires_on":null}]`))(s, answer{})

	first := s.sale("{anna}", "{points}", 500)
	s.Shop = s.ExpireAfter(ledger.Points, 1, core.ToMonth)
	second := s.sale("{anna}", "{points}", 300)
	third, one1 := s.lastDay(3), s.lastDay(1)
	shows(readAs, `<anything>"points_balance":20,"stamps_balance":1,<anything>"points_expire_on":"`+one1+`","stamps_expire_on":null<anything>`)(s, answer{})
	shows("/customers", `<anything>"points_expire_on":"`+one1+`","stamps_expire_on":null<anything>`)(s, answer{})
	shows(readAs+"/expiring", one(`[{"unit":"points","amount":3,"expires_on":"`+one1+`"},{"unit":"points","amount":5,"expires_on":"`+third+`"},`+
		`{"unit":"points","amount":12,"expires_on":null},{"unit":"stamps","amount":1,"expires_on":null}]`))(s, answer{})

	for _, rows := range [][2]string{
		{"?per_page=2", entry("earn", "points", "3", "20", `"`+second+`"`, `"`+one1+`"`) + "," + entry("earn", "points", "5", "17", `"`+first+`"`, `"`+third+`"`)},
		{"", entry("earn", "points", "12", "12", `"{sale}"`, "null") + "," + entry("earn", "stamps", "1", "1", `"{stamp_sale}"`, "null") + "," +
			entry("reversal", "points", "-7", "0", `"{voided}"`, "null") + "," + entry("earn", "points", "7", "7", `"{voided}"`, "null")},
	} {
		shows(readAs+"/ledger-entries"+rows[0], `<anything>`+rows[1]+`<anything>`)(s, answer{})
	}

	// Under a hold, nothing ends before its day, and that of both is one row; switched off, nothing ends.
	hold := "2199-12-31"
	s.Hold(ledger.Points, hold)
	shows(readAs, `<anything>"points_expire_on":"`+hold+`"<anything>`)(s, answer{})
	shows(readAs+"/expiring", one(`[{"unit":"points","amount":8,"expires_on":"`+hold+`"},{"unit":"points","amount":12,"expires_on":null},{"unit":"stamps","amount":1,"expires_on":null}]`))(s, answer{})
	s.Hold(ledger.Points, "infinity")
	shows(readAs, `<anything>`+earnedRest+`<anything>`)(s, answer{})
	shows(readAs+"/expiring", one(`[{"unit":"points","amount":20,"expires_on":null},{"unit":"stamps","amount":1,"expires_on":null}]`))(s, answer{})
}

// An award that only pays a debt has no last day, and what is left of one after a debt has.
func TestADebtHasNoLastDay(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Shop = s.ExpireAfter(ledger.Points, 3, core.ToMonth)
	s.fill("{redemption}") // 12 earned, 10 spent
	dbtest.Tick(s.db)
	s.call("POST", "/api/v1/transactions/{sale}/void", s.token, "").is(t, 200, "<anything>") // -10
	check := func(what, expires, rows string) {
		t.Helper()
		shows(readAs, `<anything>"points_expire_on":`+expires+`,<anything>`)(s, answer{})
		shows(readAs+"/expiring", one("["+rows+"]"))(s, answer{})
		if t.Failed() {
			t.Fatal(what)
		}
	}
	check("below zero", "null", "")
	s.sale("{anna}", "{points}", 700)
	check("still below zero", "null", "")
	s.Shop = s.ExpireAfter(ledger.Points, 9, core.ToMonth)
	s.sale("{anna}", "{points}", 700)
	ends := `"` + s.lastDay(9) + `"`
	check("above", ends, `{"unit":"points","amount":4,"expires_on":`+ends+`}`)
}

func TestLedgerEntriesArePaginated(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.fill("{sale}{stamp_sale}{redemption}")
	first := s.call("GET", "/api/v1"+readAs+"/ledger-entries?per_page=2", s.token, "").page(t)
	if len(first.Data) != 2 || first.Meta.NextCursor == nil || first.Meta.PrevCursor != nil {
		t.Fatalf("the first page: %+v", first)
	}
	next := s.call("GET", "/api/v1"+readAs+"/ledger-entries?per_page=2&cursor="+*first.Meta.NextCursor, s.token, "").page(t)
	if len(next.Data) != 1 || next.Meta.NextCursor != nil || next.Meta.PrevCursor == nil {
		t.Errorf("the last page: %+v", next)
	}
	s.call("GET", "/api/v1"+readAs+"/ledger-entries?cursor=x", s.token, "").is(t, 422, invalid(`"cursor":["The selected cursor is invalid."]`))
	s.call("GET", "/api/v1"+strings.Replace(readAs, "{anna}", "{bo}", 1)+"/ledger-entries", s.token, "").is(t, 200, s.fill(only("/customers/{bo}/ledger-entries")))
	s.call("GET", "/api/v1"+strings.Replace(readAs, "{anna}", "{bo}", 1)+"/expiring", s.token, "").is(t, 200, one("[]"))
}
