package verify

import "context"

// Check runs the job.
func (s *Service) Check(ctx context.Context, c Check) error { return s.check(ctx, c) }

// Due reports whether the nightly run is due.
var Due = isDue

// RunIn runs all checks in a transaction.
var RunIn = runIn
