// Package transfer moves businesses between installations: Export writes everything of a business into a file, and
// Import reads it into another database, or into the same one under another slug.
//
// Both work from the database's catalog, so a new table moves by itself. Both see one tenant alone, as the serving role
// inside of it: row-level security keeps others' rows out of the file, and the file's rows out of other tenants.
package transfer

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/vault"
	"example.com/loyalty/core/verify"
)

// format is the number of the file's format. A file of another one is refused.
const format = 1

// Progress is told the rows that were read or written, and how many there are.
type Progress func(done, count int)

// Header is the first line of a file.
type Header struct {
	Format     int       `json:"format"`
	Schema     int64     `json:"schema"`  // the newest migration of the database
	Version    string    `json:"version"` // of the program
	ExportedAt time.Time `json:"exported_at"`

	TenantID    int64      `json:"tenant_id"`
	Slug        string     `json:"slug"`
	Name        string     `json:"name"`
	Plan        string     `json:"plan"`
	CreatedAt   time.Time  `json:"created_at"`
	SuspendedAt *time.Time `json:"suspended_at"`

	Facts
	Rows        map[string]int64   `json:"rows"`        // by table
	Numbers     map[string][]int64 `json:"numbers"`     // that are unique over all tenants, by table
	LiveTokens  []int64            `json:"live_tokens"` // those that a program may use
	Differences map[string]int64   `json:"differences"` // that verify finds, by its sentence
	Secret      []byte             `json:"secret"`      // a text that only the installation's secret opens
}

// Facts are what a business is recognised by after the move.
type Facts struct {
	Customers int64  `json:"customers"`
	People    int64  `json:"people"`
	Points    string `json:"points"` // the sum of the ledger, which may exceed 64 bits
	Stamps    string `json:"stamps"`
}

// String returns the facts as a person reads them.
func (f Facts) String() string {
	return fmt.Sprintf("customers: %d, people: %d, points: %s, stamps: %s", f.Customers, f.People, f.Points, f.Stamps)
}

const factsSQL = `
	select
		(select count(*) from loyalty.customer where tenant_id = @tenant_id) as customers,
		(select count(*) from loyalty.staff where tenant_id = @tenant_id) as people,
		coalesce(sum(amount) filter (where unit = 'points'), 0)::text as points,
		coalesce(sum(amount) filter (where unit = 'stamps'), 0)::text as stamps
	from loyalty.ledger_entry
	where tenant_id = @tenant_id`

// What a file must be like. The errors of this package wrap these.
var (
	ErrNotOurs   = errors.New("this is not a file of `loyalty export`")
	ErrDamaged   = errors.New("the file is damaged: copy it again, or export the business again")
	ErrTruncated = errors.New("the file ends too early: copy it again, or export the business again")
)

// checkSchema refuses a file whose tables may differ from the database's.
func (h Header) checkSchema(applied []int64) error {
	here := slices.Max(append(applied, 0))
	switch {
	case h.Format != format:
		return fmt.Errorf("the file has format %d, and this build reads format %d: import it with the build that exported it (%s)", h.Format, format, h.Version)
	case h.Schema < here:
		return fmt.Errorf("the file was written with migration %04d, and this database has %04d: upgrade the other installation "+
			"(`loyalty migrate up`) and export again, or import into a database of the same build and upgrade that", h.Schema, here)
	case h.Schema > here:
		return fmt.Errorf("the file was written with migration %04d, and this database has %04d: upgrade this installation "+
			"(`loyalty migrate up` of a newer build), then import again", h.Schema, here)
	}
	return nil
}

// The text in a header by which an import knows whether this installation has the other one's secret.
const (
	secretPurpose = "transfer"
	secretText    = "loyalty"
)

func sealSecret(keys vault.Keys, slug string) ([]byte, error) {
	return keys.Seal(secretPurpose, slug, secretText)
}

// hasSecret reports whether the installation can read what the other one sealed, and check the links that it signed.
func (h Header) hasSecret(keys vault.Keys) (bool, error) {
	_, err := keys.Open(secretPurpose, h.Slug, h.Secret)
	if errors.Is(err, vault.ErrSealed) {
		return false, nil
	}
	return err == nil, err
}

// row is a line of the file between the header and the end.
type row struct {
	Table string          `json:"table"`
	Row   json.RawMessage `json:"row"`
}

// end is the last line of a file.
type end struct {
	Rows   int64  `json:"rows"`
	SHA256 []byte `json:"sha256"` // of all lines before it
}

// differences returns how many records verify finds wrong, by its sentences.
func differences(results []verify.Result) map[string]int64 {
	wrong := map[string]int64{}
	for _, r := range results {
		if r.Wrong > 0 {
			wrong[r.Check] = r.Wrong
		}
	}
	return wrong
}

// Mover moves businesses out of an installation and into it.
type Mover struct {
	DB       *db.DB
	Keys     vault.Keys
	Operator string // who exports and imports, for the audit log
	Version  string // of the program
	Progress func(what string) Progress
}

func (m Mover) progress(what string) Progress {
	if m.Progress != nil {
		if shown := m.Progress(what); shown != nil {
			return shown
		}
	}
	return func(int, int) {}
}

// Imported tells what an operator needs to know after an import.
type Imported struct {
	Header
	As        string // its slug here
	Plan      string // its plan here
	Suspended bool   // as in the file
	Moved     bool   // it has another number here, so links made before don't open anything
	NoSecret  bool   // the other installation's secret is missing here, with the same effect until it is added

	Unread        []auth.Moved // people whose two-step verification can't be read
	StoppedTokens []int64      // numbers of API tokens that were revoked, because others have them here
}
