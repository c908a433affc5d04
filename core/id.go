package core

import (
	"crypto/rand"
	"encoding/binary"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// ID names a record: a ULID. 16 bytes in memory and in the database (a uuid
// column), 26 characters wherever a person or a client sees it. IDs sort by the
// millisecond they were made in.
type ID ulid.ULID

// The database gives the instant, so only the randomness is ours. Monotonic: of IDs
// made one right after another for one millisecond the later is the higher.
var ids = struct {
	sync.Mutex
	entropy *ulid.MonotonicEntropy
}{entropy: ulid.Monotonic(rand.Reader, 0)}

// NewID makes the ID of a record created at that instant.
func NewID(at time.Time) ID {
	ids.Lock()
	defer ids.Unlock()
	return ID(ulid.MustNew(ulid.Timestamp(at), ids.entropy))
}

// FirstID is the lowest ID that can be made at that instant: where IDs are made at
// the instant a record is from, records since then have that ID or a higher one.
func FirstID(at time.Time) (id ID) {
	var u ulid.ULID
	_ = u.SetTime(ulid.Timestamp(at)) // fails after the year 10889
	return ID(u)
}

// ParseID reads the 26 characters of an ID, in either case. What does not parse
// names no record: ErrNotFound.
func ParseID(s string) (ID, error) {
	id, err := ulid.ParseStrict(s)
	if err != nil {
		return ID{}, ErrNotFound
	}
	return ID(id), nil
}

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

// IsZero reports whether id names nothing.
func (id ID) IsZero() bool { return id == ID{} }

// numberID packs an integer id into the room of an ID, for cursors.
func numberID(n int64) (id ID) {
	binary.BigEndian.PutUint64(id[8:], uint64(n))
	return id
}

func (id ID) number() int64 { return int64(binary.BigEndian.Uint64(id[8:])) }
