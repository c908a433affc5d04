package api_test

import (
	"encoding/json"
	"testing"
)

// page is a page of a list.
type page struct {
	Data []struct {
		ULID string `json:"ulid"`
		ID   int64  `json:"id"`
	} `json:"data"`
	Links struct{ First, Last, Prev, Next *string } `json:"links"`
	Meta  struct {
		Path       string  `json:"path"`
		PerPage    int     `json:"per_page"`
		NextCursor *string `json:"next_cursor"`
		PrevCursor *string `json:"prev_cursor"`
	} `json:"meta"`
}

func (a answer) page(t testing.TB) (p page) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), &p); err != nil || a.status != 200 {
		t.Fatalf("status %d, no page: %s", a.status, a.body)
	}
	return p
}
