// Package migrations contains the steps that build the database, in order, with one file for each noun, from 0101 on. A
// released step is never edited; a change is a new step with the next number.
package migrations

import (
	"embed"
	"io/fs"
	"slices"

	"github.com/pressly/goose/v3"
)

// SQL contains the steps.
//
//go:embed *.sql
var SQL embed.FS

// Table is the table of the applied steps.
const Table = "public.goose_db_version"

// Versions returns the versions of all steps, in order.
func Versions() []int64 {
	var versions []int64
	files, _ := fs.Glob(SQL, "*.sql") // the pattern is valid
	for _, file := range files {
		if version, err := goose.NumericComponent(file); err == nil {
			versions = append(versions, version)
		}
	}
	return versions
}

// Newest returns the version of the last step.
func Newest() int64 { return slices.Max(Versions()) }
