package coupon

import (
	"context"

	"example.com/loyalty/core/job"
)

// RunEvaluation runs the job that creates a send's vouchers.
func (s *Service) RunEvaluation(ctx context.Context, e Evaluation) error {
	return job.OrHold(s.evaluate, s.holdEvaluation)(ctx, e)
}

// RunDelivery runs the job that mails them.
func (s *Service) RunDelivery(ctx context.Context, d Delivery) error {
	return job.OrHold(s.deliver, s.holdDelivery)(ctx, d)
}

// Tend runs the job that checks that every send has its job.
func (s *Service) Tend(ctx context.Context) error { return s.tendSends(ctx, sendUpkeep{}) }

// RunTestMail runs the job that sends a person a test mail.
func (s *Service) RunTestMail(ctx context.Context, j TestMail) error { return s.sendTest(ctx, j) }
