package coupon

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// RedeemAfter marks a voucher as redeemed that was found before something else happened.
func (s *Service) RedeemAfter(ctx context.Context, by core.Actor, id core.ID, happens func()) error {
	return db.Run(ctx, s.db.Tenant(by), func(tx *db.Tx) error {
		found, err := findForSale(ctx, tx, id, nil)
		if err != nil {
			return err
		}
		happens()
		_, err = found.redeem(ctx, tx, nil, nil)
		return err
	})
}

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
