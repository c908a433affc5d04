package core_test

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
)

// A cursor keeps position and direction.
func TestCursorRoundTrip(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 1, 12, 0, 0, 123_000_000, time.UTC)
	for _, c := range []core.Cursor{
		{At: at, ID: core.NewID(at)},
		{At: at, ID: core.NewID(at), Back: true},
		core.NumberCursor(at, 1),
		core.NumberCursor(at, 1<<62),
		{At: time.UnixMilli(0).UTC()},
		{At: time.Date(9999, 12, 30, 0, 0, 0, 0, time.UTC)},
	} {
		got, err := core.ParseCursor(c.String())
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(c, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if strings.Trim(c.String(), "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			t.Errorf("%q does not fit into a URL", c)
		}
	}
	if got := core.NumberCursor(at, 4711).Number(); got != 4711 {
		t.Errorf("Number = %d, want 4711", got)
	}
}

// encoded returns a forged cursor.
func encoded(direction byte, millis uint64, rest int) string {
	b := []byte{direction}
	for shift := 56; shift >= 0; shift -= 8 {
		b = append(b, byte(millis>>shift))
	}
	return base64.RawURLEncoding.EncodeToString(append(b, make([]byte, rest)...))
}

// Other texts are refused.
func TestParseCursorRefusesOtherTexts(t *testing.T) {
	t.Parallel()
	good := core.Cursor{At: time.Now(), ID: core.NewID(time.Now())}.String()
	if _, err := core.ParseCursor(encoded(0, 1_750_000_000_000, 16)); err != nil {
		t.Fatal("the example is no cursor")
	}
	for name, s := range map[string]string{
		"empty":                  "",
		"garbage":                "garbage",
		"truncated":              good[:len(good)-1],
		"truncated by 4":         good[:len(good)-4],
		"longer":                 good + "AAAA",
		"padded":                 good + "=",
		"standard alphabet":      "+/" + good[2:],
		"a space":                " " + good[1:],
		"of 24 bytes":            encoded(0, 1_750_000_000_000, 15),
		"of 26 bytes":            encoded(0, 1_750_000_000_000, 17),
		"no direction":           encoded(2, 1_750_000_000_000, 16),
		"before 1970":            encoded(0, 1<<64-1, 16),
		"year 10000":             encoded(0, uint64(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()), 16),
		"the end of time":        encoded(0, 1<<63-1, 16),
		"the beginning of time":  encoded(0, 1<<63, 16),
		"bits left over at last": good[:len(good)-1] + "_",
	} {
		if c, err := core.ParseCursor(s); err == nil {
			t.Errorf("%s: %q is read as %+v", name, s, c)
		}
	}
}

func FuzzParseCursor(f *testing.F) {
	for _, s := range []string{
		"", "AAAA", encoded(0, 1_750_000_000_000, 16), encoded(1, 0, 16), encoded(1, 1<<63-1, 16), encoded(2, 0, 16),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := core.ParseCursor(s)
		if err != nil {
			return
		}
		if c.At.Year() < 1970 || c.At.Year() > 9999 {
			t.Errorf("%q is at %s, which PostgreSQL may not know", s, c.At)
		}
		// Line breaks are passed over; all else has one spelling.
		if got := c.String(); got != strings.NewReplacer("\r", "", "\n", "").Replace(s) {
			t.Errorf("%q is written %q", s, got)
		}
	})
}

// items are records of which ten share an instant.
type item int

func (i item) position() core.Cursor { return core.NumberCursor(time.UnixMilli(int64(i/10)), int64(i)) }

// fetch orders by position and begins at the cursor, like a statement.
func fetch(all []item, p core.Page) []item {
	var picked []item
	for _, i := range all {
		if p.Cursor == nil || (p.Back() && i > item(p.Cursor.Number())) || (!p.Back() && i < item(p.Cursor.Number())) {
			picked = append(picked, i)
		}
	}
	slices.SortFunc(picked, func(a, b item) int {
		if p.Back() {
			return cmp.Compare(a, b)
		}
		return cmp.Compare(b, a)
	})
	return picked[:min(len(picked), p.Limit())]
}

func pageOf(all []item, size int, at *core.Cursor) core.List[item] {
	p := core.Page{Size: size, Cursor: at}
	return core.NewList(p, fetch(all, p), item.position)
}

// The first page has no previous one, the last no next one.
func TestPages(t *testing.T) {
	t.Parallel()
	all := []item{50, 40, 30, 20, 10}
	first := pageOf(all, 2, nil)
	middle := pageOf(all, 2, first.Next)
	last := pageOf(all, 2, middle.Next)
	back := pageOf(all, 2, last.Prev)
	front := pageOf(all, 2, back.Prev)
	for _, c := range []struct {
		name       string
		got        core.List[item]
		want       []item
		prev, next bool
	}{
		{"first", first, []item{50, 40}, false, true},
		{"middle", middle, []item{30, 20}, true, true},
		{"last", last, []item{10}, true, false},
		{"back to the middle", back, []item{30, 20}, true, true},
		{"back to the front", front, []item{50, 40}, false, true},
		{"all", pageOf(all, 5, nil), all, false, false},
		{"none", pageOf(nil, 5, nil), nil, false, false},
		{"past the end", pageOf(all, 5, &core.Cursor{}), nil, false, false},
	} {
		if diff := gocmp.Diff(c.want, c.got.Items); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if (c.got.Prev != nil) != c.prev || (c.got.Next != nil) != c.next {
			t.Errorf("%s: prev %v, next %v, want %v, %v", c.name, c.got.Prev, c.got.Next, c.prev, c.next)
		}
		if c.got.Prev != nil && !c.got.Prev.Back || c.got.Next != nil && c.got.Next.Back {
			t.Errorf("%s: a cursor points the wrong way", c.name)
		}
	}
}

// For every list and page size, pages have each item once, in order, forward and back.
func TestAWalkGivesEveryItemOnce(t *testing.T) {
	t.Parallel()
	for length := range 25 {
		all := make([]item, length)
		for i := range all {
			all[i] = item(3*i + 1)
		}
		want := slices.Clone(all)
		slices.Reverse(want)
		for size := 1; size <= length+2; size++ {
			forward, back := walk(t, all, size)
			if !slices.Equal(forward, want) || !slices.Equal(back, want) {
				t.Fatalf("%d by %d: want %v, forward %v, back %v", length, size, want, forward, back)
			}
		}
	}
}

// walk reads a list to its end and back.
func walk(t *testing.T, all []item, size int) (forward, back []item) {
	t.Helper()
	l := pageOf(all, size, nil)
	for steps := 0; ; steps++ {
		forward = append(forward, l.Items...)
		if l.Next == nil {
			break
		}
		if steps > len(all) {
			t.Fatal("the walk does not end")
		}
		l = pageOf(all, size, l.Next)
	}
	for steps := 0; ; steps++ {
		back = append(slices.Clone(l.Items), back...)
		if l.Prev == nil {
			return forward, back
		}
		if steps > len(all) {
			t.Fatal("the way back does not end")
		}
		l = pageOf(all, size, l.Prev)
	}
}
