package walkin

import "context"

// DeleteOldPINs runs the clean-up job.
func (s *Service) DeleteOldPINs(ctx context.Context) error {
	return s.deleteOldPINs(ctx, deleteOldPINs{})
}
