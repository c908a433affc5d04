package tenant

import (
	"context"

	"example.com/loyalty/core/db"
)

// Suspension is what anyone may know of a suspended business: never the reason.
type Suspension struct {
	Mailed  bool   // the owner got an e-mail with the reason
	Contact string // the e-mail address of the platform; "": it names none
}

// FindSuspension tells what anyone may know of a business's suspension, or core.ErrNotFound where the
// business is active. One round trip.
func (s *Service) FindSuspension(ctx context.Context, slug string) (Suspension, error) {
	return db.PlatformOne[Suspension](ctx, s.db, suspensionSQL, db.Args{"slug": slug})
}
