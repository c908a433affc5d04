package mail

import "context"

// Deliver runs the job that delivers a mail.
func (s *Service) Deliver(ctx context.Context, d Delivery) error { return s.deliver(ctx, d) }
