// Package migrations holds the steps that build the database, in order: one file a noun, from
// 0101 on. A step is never edited once it has landed: what comes later is a new step, with the
// next number.
package migrations

import (
	"embed"
	"io/fs"
	"slices"

	"github.com/pressly/goose/v3"
)

// SQL holds the steps written in SQL.
//
//go:embed *.sql
var SQL embed.FS

// Table is where the runner notes the steps taken.
const Table = "public.goose_db_version"

// Go returns the steps written in Go.
func Go() []*goose.Migration { return []*goose.Migration{jobs()} }

// Versions are those of all steps, in order.
func Versions() []int64 {
	var versions []int64
	files, _ := fs.Glob(SQL, "*.sql") // the pattern is right
	for _, file := range files {
		if version, err := goose.NumericComponent(file); err == nil {
			versions = append(versions, version)
		}
	}
	for _, m := range Go() {
		versions = append(versions, m.Version)
	}
	slices.Sort(versions)
	return versions
}

// Newest is the version of the last step.
func Newest() int64 { return slices.Max(Versions()) }
