package core_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/core"
)

// IDs are read in either case and written in upper case.
func TestAnIDIsReadInEitherCase(t *testing.T) {
	t.Parallel()
	id := core.NewID(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	text := id.String()
	if len(text) != 26 || text != strings.ToUpper(text) {
		t.Errorf("written %q", text)
	}
	for _, s := range []string{text, strings.ToLower(text), text[:13] + strings.ToLower(text[13:])} {
		if got, err := core.ParseID(s); err != nil || got != id {
			t.Errorf("ParseID(%q) = %s, %v, want %s", s, got, err, id)
		}
	}
}

// People read IDs in groups, copy what is around them, and take a 0 for an O.
func TestATypedIDIsRead(t *testing.T) {
	t.Parallel()
	id, err := core.ParseID("01JZ0Q1V8B5C7D9E2F4G6H8J0K")
	if err != nil {
		t.Fatal(err)
	}
	for _, typed := range []string{
		"01JZ0Q1V8B5C7D9E2F4G6H8J0K", "01jz0-q1v8b 5c7d9e 2f4g6h 8j0k", "\t01JZ0\u00a0Q1V8B5C7D9E2F4G6H8J0K\u200b", "01JZ0–Q1V8B‑5C7D9E−2F4G6H8J0K",
		"OIJZOQLV8B5C7D9E2F4G6H8JOK", "０１ＪＺ0Q1V8B5C7D9E2F4G6H8J0K",
	} {
		if got, err := core.TypedID(typed); err != nil || got != id {
			t.Errorf("TypedID(%q) = %s, %v", typed, got, err)
		}
	}
	for _, other := range []string{"", "01JZ0", "01JZ0Q1V8B5C7D9E2F4G6H8J0K1", "U1JZ0Q1V8B5C7D9E2F4G6H8J0K"} {
		if got, err := core.TypedID(other); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("TypedID(%q) = %s, %v", other, got, err)
		}
	}
}

// Other texts are ErrNotFound.
func TestParseIDRefusesOtherTexts(t *testing.T) {
	t.Parallel()
	good := core.NewID(time.Now()).String()
	for _, s := range []string{
		"", "1", good[:25], good + "0", " " + good[1:], good[:25] + "\n",
		good[:25] + "U", good[:25] + "I", good[:25] + "L", good[:25] + "O", // letters a ULID does not use
		good[:25] + "-", good[:24] + "å", "8" + good[1:], // 8…: more than 128 bits
		"01890a5d-ac96-774b-bcce-b302099a8057",
	} {
		if id, err := core.ParseID(s); !errors.Is(err, core.ErrNotFound) || !id.IsZero() {
			t.Errorf("ParseID(%q) = %s, %v, want ErrNotFound", s, id, err)
		}
	}
	if good, err := core.ParseID("7ZZZZZZZZZZZZZZZZZZZZZZZZZ"); err != nil || good.IsZero() {
		t.Errorf("the largest = %s, %v", good, err)
	}
}

// An ID is 26 characters in JSON.
func TestAnIDInJSON(t *testing.T) {
	t.Parallel()
	type record struct {
		ID core.ID `json:"id"`
	}
	id := core.NewID(time.Now())
	b, err := json.Marshal(record{id})
	if err != nil || string(b) != `{"id":"`+id.String()+`"}` {
		t.Errorf("Marshal = %s, %v", b, err)
	}
	var back record
	if err := json.Unmarshal([]byte(strings.ToLower(string(b))), &back); err != nil || back.ID != id {
		t.Errorf("Unmarshal = %v, %v, want %s", back, err, id)
	}
	for _, bad := range []string{`{"id":"x"}`, `{"id":7}`, `{"id":""}`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("Unmarshal(%s) = %v, want an error", bad, back)
		}
	}
}

// IDs of one millisecond keep the order of their creation, and concurrent ones differ.
func TestIDsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	before, after := core.NewID(at.Add(-time.Millisecond)), core.NewID(at.Add(time.Millisecond))
	var mu sync.Mutex
	seen := map[core.ID]bool{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 500 {
				id := core.NewID(at)
				mu.Lock()
				if seen[id] || id.String() <= before.String() || id.String() >= after.String() {
					t.Errorf("%s is there already or out of order", id)
				}
				seen[id] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// Also when transactions of other milliseconds create theirs in between.
func TestIDsOfOneMillisecondKeepTheirOrder(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	var made []string
	for i := range 1000 {
		made = append(made, core.NewID(at.Add(time.Duration(i)*time.Microsecond/2)).String())
		core.NewID(at.Add(-time.Duration(i%3) * time.Millisecond))
	}
	if !slices.IsSorted(made) || len(slices.Compact(made)) != 1000 {
		t.Error("IDs of one millisecond are out of order")
	}
}
