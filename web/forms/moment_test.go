package forms_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/web/forms"
)

// A date and a time of day are an instant of their zone; what is wrong with either is noted
// for the field that core knows.
func TestAMomentThatIsTyped(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Stockholm")
	if err != nil {
		t.Fatal(err)
	}
	unreadable := core.Violation{Rule: "date_and_time"}
	for _, c := range []struct {
		date, clock, want string
		wrong             core.Violation
	}{
		{"2026-07-01", "08:30", "2026-07-01T06:30:00Z", core.Violation{}},
		{"2026-12-01", " 23:59 ", "2026-12-01T22:59:00Z", core.Violation{}},
		{"2026-03-29", "02:30", "2026-03-29T01:30:00Z", core.Violation{}}, // which the clocks skip
		{"", "08:30", "", core.Required},
		{"2026-07-01", "", "", core.Required},
		{"2026-07-01", "8 o'clock", "", unreadable},
		{"2026-07-01", "24:00", "", unreadable},
		{"1 July", "08:30", "", unreadable},
		{"1 July", "", "", unreadable},
	} {
		form := forms.Query(url.Values{"date": {c.date}, "time": {c.clock}})
		got := ""
		at, moved := form.Moment("date", "time", "send_at", zone)
		if (moved == "02:30 doesn't exist on 29 Mar 2026, when clocks go forward.") != (c.clock == "02:30") {
			t.Errorf("%s %s is moved: %q", c.date, c.clock, moved)
		}
		if at != nil {
			got = at.UTC().Format(time.RFC3339)
		}
		var want core.Fields
		if c.wrong != (core.Violation{}) {
			want = core.Fields{"send_at": {c.wrong}}
		}
		if diff := cmp.Diff(want, form.Malformed); got != c.want || diff != "" {
			t.Errorf("%s %s is %q, want %q\n%s", c.date, c.clock, got, c.want, diff)
		}
	}
}

// West of Greenwich, too, a time that clocks skip is later, and said.
func TestASkippedMomentIsLater(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	form := forms.Query(url.Values{"date": {"2026-03-08"}, "time": {"02:30"}})
	at, moved := form.Moment("date", "time", "send_at", zone)
	if got := at.Format("15:04"); got != "03:30" || moved == "" {
		t.Errorf("02:30 is %s, %q", got, moved)
	}
}
