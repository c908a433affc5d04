package forms_test

import (
	"net/url"
	"testing"

	"example.com/loyalty/web/forms"
)

// "The tax rate typed as 25.5."
func TestRate(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]int64{"25": 2500, "25.5": 2550, "25,5 %": 2550, " 24% ": 2400, "0": 0, "0.05": 5, "100": 10000} {
		f := forms.Query(url.Values{"rate": {typed}})
		if got := f.Rate("rate"); got == nil || *got != want || f.Malformed != nil {
			t.Errorf("%q = %v %v, want %d", typed, got, f.Malformed, want)
		}
	}
	for _, typed := range []string{"25.555", "-1", "1.000,5", "a", "%", "25 5", "1000"} {
		f := forms.Query(url.Values{"rate": {typed}})
		if got := f.Rate("rate"); got != nil || f.Malformed["rate"] == nil {
			t.Errorf("%q = %v", typed, *got)
		}
	}
	if f := forms.Query(url.Values{}); f.Rate("rate") != nil || f.Malformed != nil {
		t.Error("nothing is a rate")
	}
	for hundredths, want := range map[int64]string{2550: "25.5", 2500: "25", 5: "0.05", 0: "0"} {
		if got := forms.Rate(hundredths); got != want {
			t.Errorf("Rate(%d) = %s", hundredths, got)
		}
	}
}
