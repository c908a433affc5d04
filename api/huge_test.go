package api_test

import (
	"context"
	"strings"
	"testing"

	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/transaction"
)

const saturates = "sums in reports are `numeric` inside and saturate at 2^63−1, so that no record can break a report."

// holds sets a customer's points, past the ledger.
func (s *shop) holds(customer string, points int64) {
	s.t.Helper()
	_, err := dbtest.Owner(s.db).Exec(context.Background(), "update loyalty.account set points = $3 where tenant_id = $1 and customer_id = $2", s.by.Tenant.ID, s.id(customer), points)
	if err != nil {
		s.t.Fatal(err)
	}
}

// Two sales of 9·10^18 points, completed or voided, from before there was a limit: every answer
// about them is there, and so is every report.
func TestNoRecordBreaksAnAnswer(t *testing.T) {
	t.Parallel()
	proves(t, saturates)
	s := newShop(t)
	s.fill("{redemption} {voided} {stamp_sale} {redeemed}")
	s.sale("{anna}", "{points}", 100)
	s.sale("{bo}", "{points}", 100)
	again := s.sale("{bo}", "{points}", 100)
	s.must(s.sales.Void(context.Background(), s.by, s.id(again)))
	for _, statement := range []string{
		`update loyalty.transaction set points_awarded = 9000000000000000000 where tenant_id = $1 and points_awarded is not null`,
		`update loyalty.transaction set stamps_awarded = 9000000000000000000 where tenant_id = $1 and stamps_awarded is not null`,
		`update loyalty.redemption set points_spent = 9000000000000000000 where tenant_id = $1`,
		`update loyalty.account set points = 9000000000000000000 where tenant_id = $1`,
	} {
		if _, err := dbtest.Owner(s.db).Exec(t.Context(), statement, s.by.Tenant.ID); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"/reports/summary":                 `"points_awarded":9223372036854775807,"stamps_awarded":9000000000000000000,"points_reversed":9223372036854775807,"points_redeemed":9000000000000000000`,
		"/reports/customers/top?by=points": `"points_awarded":9223372036854775807`,
		"/reports/coupons":                 `"sent":`,
		"/customers":                       `"points_balance":9000000000000000000`,
		"/customers/{anna}":                `"points_balance":9000000000000000000`,
		"/customers/{anna}/transactions":   `"points_awarded":9000000000000000000`,
		"/transactions/{voided}":           `"points_awarded":9000000000000000000`,
		"/redemptions/{redemption}":        `"points_spent":9000000000000000000`,
	} {
		got := s.call("GET", s.fill("/api/v1"+path), s.token, "")
		if got.status != 200 || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	got := s.call("POST", s.fill("/api/v1/transactions/{sale}/void"), s.token, "")
	if got.status != 200 || !strings.Contains(got.body, `"status":"`+string(transaction.Voided)+`"`) {
		t.Errorf("void: %d %s", got.status, got.body)
	}
}
