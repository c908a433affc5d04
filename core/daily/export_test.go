package daily

import (
	"context"

	"example.com/loyalty/core"
)

// CountNext counts one day, as a job that is killed after it.
func (s *Service) CountNext(ctx context.Context, by core.Actor) (more bool, err error) {
	return s.countNext(ctx, by)
}
