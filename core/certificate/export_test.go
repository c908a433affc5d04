package certificate

import "context"

const (
	LockLife  = lockLife
	LockRenew = lockRenew
)

// Renew renews a lock that another store of the same process holds.
func (s *Store) Renew(ctx context.Context, name string, holder *Store) error {
	return s.renewOnce(ctx, name, holder.held[name].holder)
}
