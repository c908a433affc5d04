package core

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"time"
)

// Page sizes (decisions §2).
const (
	DefaultPageSize = 15
	MaxPageSize     = 100
)

// Page selects part of a list, newest first. Its cursor is a position in the list, not a number of
// records to skip, so page 5,000 costs what page 1 costs.
type Page struct {
	Size   int
	Cursor *Cursor // nil: the first page

	Counted bool // the list says where the page is in it (List.Place)

	Malformed Fields // what the front end could not read
}

// Err refuses what the front end could not read.
func (p Page) Err() error { return NewCheck(p.Malformed).Err() }

// Limit returns the number of records to fetch: one more than the page, to know whether there are more.
func (p Page) Limit() int { return p.Size + 1 }

// Back reports whether the page is before its cursor. Then records are fetched oldest first.
func (p Page) Back() bool { return p.Cursor != nil && p.Cursor.Back }

// Sort is the order of a list, where people may choose it.
type Sort string

// The orders by time.
const (
	Newest Sort = "newest"
	Oldest Sort = "oldest"
)

// Cursor is a position in a list and the direction of the page. The page excludes the record at the
// position.
type Cursor struct {
	At   time.Time // of the record, to the millisecond
	ID   ID        // breaks ties
	Back bool
}

// NumberCursor returns the position of a record with an integer id.
func NumberCursor(at time.Time, id int64) Cursor { return Cursor{At: at, ID: numberID(id)} }

// Number returns the integer id of the position.
func (c Cursor) Number() int64 { return c.ID.number() }

const cursorSize = 1 + 8 + 16

// String returns the cursor as an opaque text.
func (c Cursor) String() string {
	b := make([]byte, 1, cursorSize)
	if c.Back {
		b[0] = 1
	}
	b = binary.BigEndian.AppendUint64(b, uint64(c.At.UnixMilli()))
	return base64.RawURLEncoding.EncodeToString(append(b, c.ID[:]...))
}

var errCursor = errors.New("not a cursor")

// A forged cursor could have a year that PostgreSQL can't store.
var earliest, latest = time.Unix(0, 0), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// ParseCursor reads what String wrote.
func ParseCursor(s string) (Cursor, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != cursorSize || b[0] > 1 {
		return Cursor{}, errCursor
	}
	c := Cursor{Back: b[0] == 1, At: time.UnixMilli(int64(binary.BigEndian.Uint64(b[1:]))).UTC(), ID: ID(b[9:])}
	if c.At.Before(earliest) || c.At.After(latest) {
		return Cursor{}, errCursor
	}
	return c, nil
}

// List is a page of records, newest first, with the cursors of its neighbours.
type List[T any] struct {
	Items      []T
	Prev, Next *Cursor // nil: none
	Place      *Place  // nil: not counted
	Resume     *Cursor // of a list of changes, which grows: where to go on, also after its end
}

// Place is where a page is in its list: "26–50 of 397".
type Place struct {
	First int64 // number of the page's first record in the list, from 1
	Total int64 // number of records in the list
	More  bool  // there are more than Total, which were not counted
}

// MaxCount is the number of records after which a count ends, because counting a million records would
// take longer than reading a page of them.
const MaxCount = 1_000

// NewPlace returns the place of a page that follows before records in a list of total records, each
// counted up to MaxCount+1. It returns nil for a page that begins after MaxCount records.
func NewPlace(before, total int64) *Place {
	if before > MaxCount {
		return nil
	}
	return &Place{First: before + 1, Total: min(total, MaxCount), More: total > MaxCount}
}

// NewList returns the page of the fetched records: up to p.Limit() of them, oldest first if p.Back().
// position returns a record's position in the list.
func NewList[T any](p Page, fetched []T, position func(T) Cursor) List[T] {
	more := len(fetched) > p.Size
	if more {
		fetched = fetched[:p.Size]
	}
	if p.Back() {
		slices.Reverse(fetched)
	}
	l := List[T]{Items: fetched}
	if len(fetched) == 0 {
		return l
	}
	if more || p.Back() {
		next := position(fetched[len(fetched)-1])
		l.Next = &next
	}
	if (p.Back() && more) || (p.Cursor != nil && !p.Back()) {
		prev := position(fetched[0])
		prev.Back = true
		l.Prev = &prev
	}
	return l
}
