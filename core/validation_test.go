package core_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
)

type color string

func wantFields(t *testing.T, err error, want core.Fields) {
	t.Helper()
	var refusal *core.Error
	if !errors.As(err, &refusal) || refusal.Kind != core.KindInvalid || refusal.Message != "The given data was invalid." {
		t.Fatalf("%v, want a refusal of fields", err)
	}
	if diff := cmp.Diff(want, refusal.Fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

// A violation has a rule and its parameters.
func TestViolations(t *testing.T) {
	t.Parallel()
	c := core.NewCheck(nil)
	c.Text("first_name", nil, 100)
	c.Text("phone", new(strings.Repeat("1", 31)), 30)
	c.Add("email", core.MustBeEmail)
	c.Integer("transaction_type_id", nil, 0, 9)
	c.Integer("spend_amount_cents", new(int64(-1)), 0, 9)
	c.Integer("stock", new(int64(10)), 0, 9)
	c.Add("customer_ulid", core.InvalidChoice)
	c.Add("slug", core.Duplicate)
	core.OneOf(c, "favourite_color", color("mauve"), "red", "green")
	core.OneOf(c, "color", color("red"), "red", "green")
	c.Text("note", new("a\x00b"), 30)
	for _, v := range []core.Violation{core.Required, core.Min(-3), core.Max(0), core.AfterOrEqual("from"), core.WithinDays(9, "from")} {
		if got := core.ParseViolation(v.String()); got != v {
			t.Errorf("%q is read as %+v, want %+v", v, got, v)
		}
	}
	wantFields(t, c.Err(), core.Fields{
		"first_name":          {core.Required},
		"phone":               {core.MaxLength(30)},
		"email":               {core.MustBeEmail},
		"transaction_type_id": {core.Required},
		"spend_amount_cents":  {core.Min(0)},
		"stock":               {core.Max(9)},
		"customer_ulid":       {core.InvalidChoice},
		"slug":                {core.Duplicate},
		"favourite_color":     {core.InvalidChoice},
		"note":                {core.NoNUL},
	})
}

// Texts are trimmed; their length is in characters, not bytes.
func TestTexts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		given *string
		want  *string // nil: nothing is there
		ok    bool    // as an optional text
	}{
		{"absent", nil, nil, true},
		{"empty", new(""), nil, true},
		{"blank", new(" \t\r\n\u00a0 "), nil, true},
		{"nothing to see", new("\u200b \u2060\ufeff\u00ad"), nil, true},
		{"trimmed", new("\n Åsa \t"), new("Åsa"), true},
		{"copied from an address book", new("\u202a070 174 06\u202c"), new("070 174 06"), true},
		{"a flag ends in what is not seen alone", new("🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F"), new("🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F"), true},
		{"nothing to see but fillers", new("\u3164\u2800\ufe0f"), nil, true},
		{"a heart in colour", new("Åsa ❤\ufe0f"), new("Åsa ❤\ufe0f"), true},
		{"composed, as a Mac's keyboard doesn't", new("A\u030asa Zoe\u0308"), new("Åsa Zoë"), true},
		{"composed before it is measured", new(strings.Repeat("a\u030a", 12)), new(strings.Repeat("å", 12)), true},
		{"spaces within stay", new("Anna  Maria"), new("Anna  Maria"), true},
		{"as long as may be, in bytes longer", new(strings.Repeat("å", 12)), new(strings.Repeat("å", 12)), true},
		{"emoji are one character", new(strings.Repeat("🎉", 12)), new(strings.Repeat("🎉", 12)), true},
		{"trimmed before it is measured", new(strings.Repeat(" ", 50) + "a"), new("a"), true},
		{"too long", new(strings.Repeat("å", 13)), nil, false},
		{"NUL at the end", new("abc\x00"), nil, false},
	} {
		check := core.NewCheck(nil)
		if diff := cmp.Diff(c.want, check.OptionalText("name", c.given, 12)); diff != "" || (check.Err() == nil) != c.ok {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, check.Err(), diff)
		}
		check = core.NewCheck(nil)
		got := check.Text("name", c.given, 12)
		if want := c.want != nil; (check.Err() == nil) != want || (want && got != *c.want) {
			t.Errorf("%s, required: %q, %v", c.name, got, check.Err())
		}
	}
}

// A malformed field isn't checked again. All violations are reported at once.
func TestMalformedFieldsAreNotCheckedAgain(t *testing.T) {
	t.Parallel()
	unreadable := core.Fields{
		"name": {core.MustBeString}, "age": {core.MustBeInteger}, "color": {core.MustBeString},
	}
	c := core.NewCheck(unreadable)
	c.Text("name", nil, 5)
	c.Text("name", new("too long a name"), 5)
	c.Integer("age", nil, 0, 9)
	c.Integer("age", new(int64(-1)), 0, 9)
	core.OneOf(c, "color", color(""), "red")
	c.Add("city", core.Required)
	if c.OK("name") || c.OK("city") || !c.OK("street") {
		t.Error("OK does not know what is wrong")
	}
	wantFields(t, c.Err(), core.Fields{
		"name":  {core.MustBeString},
		"age":   {core.MustBeInteger},
		"color": {core.MustBeString},
		"city":  {core.Required},
	})
	if len(unreadable) != 3 || len(unreadable["name"]) != 1 {
		t.Error("the front end's own map was changed")
	}
	if err := core.NewCheck(nil).Err(); err != nil {
		t.Errorf("nothing wrong = %v", err)
	}
	if err := (core.Page{Malformed: core.Fields{"per_page": {core.InvalidChoice}}}).Err(); !core.IsKind(err, core.KindInvalid) {
		t.Errorf("Page.Err = %v", err)
	}
}

// A wrapped refusal is found, and has its cause for the log.
func TestErrors(t *testing.T) {
	t.Parallel()
	rule := core.Refuse("already-voided", "This transaction has already been voided.")
	wrapped := fmt.Errorf("void: %w", rule)
	if !core.IsKind(wrapped, core.KindRule) || core.IsKind(wrapped, core.KindInvalid) || core.IsKind(errors.New("x"), core.KindRule) || core.IsKind(nil, core.KindRule) {
		t.Error("IsKind is wrong")
	}
	cause := errors.New("connection refused")
	down := core.Unavailable(cause)
	if !errors.Is(down, cause) || !strings.Contains(down.Error(), "connection refused") || strings.Contains(down.Message, "refused") {
		t.Errorf("Unavailable = %v, told %q", down, down.Message)
	}
	invalid := core.Invalid(core.Fields{"b": {core.Required}, "a": {core.Max(9)}})
	if got := invalid.Error(); !strings.Contains(got, "a:[max 9]") || !strings.Contains(got, "b:[required]") {
		t.Errorf("Error = %q, want the log to say which fields", got)
	}
	for err, message := range map[*core.Error]string{
		core.ErrNotFound:        "The requested resource was not found.",
		core.ErrUnauthenticated: "Authentication required.",
		core.ErrForbidden:       "Invalid ability provided.",
		core.ErrKeyReused:       "This idempotency key was used with a different request.",
		core.ErrKeyRunning:      "A request with this idempotency key is still running.",
		down:                    "The service is temporarily unavailable.",
	} {
		if err.Message != message {
			t.Errorf("%q, want %q", err.Message, message)
		}
	}
}

// A request's log has its attributes; without a request they are ignored.
func TestRequestLog(t *testing.T) {
	t.Parallel()
	core.AddLogAttrs(t.Context(), slog.String("token", "1"))
	ctx, trail := core.WithRequestLog(t.Context(), "")
	core.AddLogAttrs(ctx, slog.String("token", "1"))
	core.AddLogAttrs(ctx, slog.String("tenant", "demo"), slog.Int("n", 2))
	if got := fmt.Sprint(trail.Attrs); got != "[token=1 tenant=demo n=2]" {
		t.Errorf("trail = %s", got)
	}
}

// An absent field keeps the stored value, null clears it.
func TestOptionalFieldsKeepWhatIsStored(t *testing.T) {
	t.Parallel()
	stored := new("stored")
	for name, c := range map[string]struct {
		field core.Optional[string]
		want  *string
	}{
		"absent": {core.Optional[string]{}, stored},
		"null":   {core.Optional[string]{Set: true}, nil},
		"set":    {core.Set("new"), new("new")},
	} {
		if diff := cmp.Diff(c.want, c.field.Or(stored)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
