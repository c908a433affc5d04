package report_test

import (
	"testing"
	"time"

	"example.com/loyalty/core/shoptest"
)

// The quietest hours lie between the first and the last sale of a weekday.
func TestSlowHours(t *testing.T) {
	t.Parallel()
	s := shoptest.New(t)
	kind, anna := s.Points(100), s.Customer()
	// Tuesday, 3 November 2026: busy from 9 to 12 and from 16 to 17, one sale at 13.
	for hour, sales := range map[int]int{9: 12, 10: 12, 11: 12, 13: 1, 16: 14} {
		at := s.At(time.Date(2026, 11, 3, hour, 30, 0, 0, s.By.Tenant.TimeZone))
		for range sales {
			at.Sale(anna.ID, kind, 500)
		}
	}
	later := s.At(time.Date(2026, 11, 10, 12, 0, 0, 0, s.By.Tenant.TimeZone))
	slow, err := later.Reports.SlowHours(t.Context(), s.By)
	s.Check(err)
	if len(slow.Slow) != 1 || slow.Total != 51 {
		t.Fatalf("slow hours are %+v", slow)
	}
	if h := slow.Slow[0]; h.Day() != time.Tuesday || h.From != 12 || h.To != 15 || h.Sales != 1 {
		t.Errorf("the quietest hours are %+v, want Tuesday from 12 to 15 with one sale", h)
	}
	if early, err := s.At(time.Date(2026, 11, 3, 12, 0, 0, 0, s.By.Tenant.TimeZone)).Reports.SlowHours(t.Context(), s.By); err != nil || len(early.Slow) > 0 {
		t.Errorf("without sales: %+v, %v", early, err)
	}
}
