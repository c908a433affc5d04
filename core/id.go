package core

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// ID is a ULID: 16 bytes in memory and in the database (a uuid column), 26 characters for people and
// clients. IDs sort by the millisecond of their creation. Of two IDs that one process creates for the
// same millisecond, the later is the higher.
type ID ulid.ULID

var ids = struct {
	sync.Mutex
	entropy increasing
}{entropy: increasing{ulid.Monotonic(rand.Reader, 0)}}

// increasing is entropy that grows with every ID. ulid.Monotonic alone starts again whenever the
// millisecond changes, and transactions that run side by side ask for their IDs with different ones.
type increasing struct{ *ulid.MonotonicEntropy }

// MonotonicRead implements ulid.MonotonicReader.
func (i increasing) MonotonicRead(_ uint64, p []byte) error {
	err := i.MonotonicEntropy.MonotonicRead(1, p)
	if errors.Is(err, ulid.ErrMonotonicOverflow) { // after about 2^48 IDs
		return i.MonotonicEntropy.MonotonicRead(0, p)
	}
	return err
}

// NewID returns a new ID for a record created at an instant.
func NewID(at time.Time) ID {
	ids.Lock()
	defer ids.Unlock()
	return ID(ulid.MustNew(ulid.Timestamp(at), ids.entropy))
}

// FirstID returns the lowest ID of an instant. Where IDs are created with their records, records since
// then have that ID or a higher one.
func FirstID(at time.Time) (id ID) {
	var u ulid.ULID
	_ = u.SetTime(ulid.Timestamp(at)) // fails after the year 10889
	return ID(u)
}

// ParseID reads the 26 characters of an ID, in either case. Other texts are ErrNotFound.
func ParseID(s string) (ID, error) {
	id, err := ulid.ParseStrict(s)
	if err != nil {
		return ID{}, ErrNotFound
	}
	return ID(id), nil
}

// TypedID reads an ID that a person typed or copied: in groups, in either case, with the letters O, I and L, which
// IDs don't have, for the digits that they look like. Other texts are ErrNotFound.
func TypedID(s string) (ID, error) { return ParseID(lookAlikes.Replace(PlainCode(s))) }

var lookAlikes = strings.NewReplacer("O", "0", "I", "1", "L", "1")

// String returns the 26 characters, in upper case.
func (id ID) String() string { return ulid.ULID(id).String() }

// MarshalText writes the 26 characters into JSON.
func (id ID) MarshalText() ([]byte, error) { return ulid.ULID(id).MarshalText() }

// UnmarshalText reads the 26 characters.
func (id *ID) UnmarshalText(text []byte) error {
	parsed, err := ParseID(string(text))
	*id = parsed
	return err
}

// Time returns the millisecond in which the ID was created.
func (id ID) Time() time.Time { return ulid.ULID(id).Timestamp() }

// IsZero reports whether id is the zero ID.
func (id ID) IsZero() bool { return id == ID{} }

// numberID packs an integer id into an ID, for cursors.
func numberID(n int64) (id ID) {
	binary.BigEndian.PutUint64(id[8:], uint64(n))
	return id
}

func (id ID) number() int64 { return int64(binary.BigEndian.Uint64(id[8:])) }
