package verify

import (
	"context"
	"iter"
)

// Check runs the job.
func (s *Service) Check(ctx context.Context, c Check) error { return s.check(ctx, c) }

// Due reports whether the nightly run is due.
var Due = isDue

// RunIn runs all checks in a transaction.
var RunIn = runIn

// Statements yields the claims of the checks with their statements.
func Statements() iter.Seq2[string, string] {
	return func(yield func(claim, sql string) bool) {
		for _, c := range checks {
			if !yield(c.claim, c.sql) {
				return
			}
		}
	}
}
