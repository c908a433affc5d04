package daily

import (
	"context"

	"example.com/loyalty/core"
)

// CountNext counts one day, as a job that is killed after it.
func (s *Service) CountNext(ctx context.Context, by core.Actor) (more bool, err error) {
	return s.countNext(ctx, by)
}

// HoursFrom is the service with another number of sales from which hours are counted.
func (s *Service) HoursFrom(sales int) *Service {
	other := *s
	other.manySales = sales
	return &other
}
