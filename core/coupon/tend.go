package coupon

import (
	"context"
	"errors"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// sendUpkeep is the periodic job that makes sure that every send has its job.
type sendUpkeep struct{}

// Kind names the job in the queue.
func (sendUpkeep) Kind() string { return "coupon_send_round" }

// overdue is how long a send is due before its job is looked for. The queue itself takes
// back the job of a process that is gone (core/job): this is for jobs that failed too
// often. Where an operator cancelled the job, the send is cancelled, or its e-mails stopped.
const overdue = time.Minute

// unfinished is a send that is due and not over.
type unfinished struct {
	TenantID core.TenantID
	ID       core.ID
	Status   SendStatus
}

func (s *Service) tendSends(ctx context.Context, _ sendUpkeep) error {
	halted, err := db.Platform(ctx, s.db, core.System(core.Tenant{}, "coupon sends"), func(tx *db.Tx) ([]unfinished, error) {
		due, err := db.All[unfinished](ctx, tx, unfinishedSendsSQL, db.Args{"before": tx.Now.Add(-overdue)})
		if err != nil || len(due) == 0 {
			return nil, err
		}
		evaluations, noEvaluations, err := job.Pending[Evaluation](ctx, tx)
		if err != nil {
			return nil, err
		}
		deliveries, noDeliveries, err := job.Pending[Delivery](ctx, tx)
		if err != nil {
			return nil, err
		}
		var halted []unfinished
		for _, u := range due {
			evaluation, delivery := Evaluation{Tenant: u.TenantID, Send: u.ID}, Delivery{Tenant: u.TenantID, Send: u.ID}
			switch {
			case slices.Contains(evaluations, evaluation), slices.Contains(deliveries, delivery):
			case u.Status == Waiting && slices.Contains(noEvaluations, evaluation), u.Status == Mailing && slices.Contains(noDeliveries, delivery):
				halted = append(halted, u)
			case u.Status == Waiting:
				err = errors.Join(err, s.jobs.Add(ctx, tx, evaluation))
			default:
				err = errors.Join(err, s.jobs.Add(ctx, tx, delivery))
			}
		}
		return halted, err
	})
	for _, u := range halted {
		err = errors.Join(err, s.followJobState(ctx, u))
	}
	return err
}

// followJobState does to a send what an operator did to its job.
func (s *Service) followJobState(ctx context.Context, u unfinished) error {
	by := core.System(core.Tenant{ID: u.TenantID}, "an operator")
	_, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (int, error) {
		statement, action, args := haltSendSQL, "coupon.cancel_send", db.Args{"send": u.ID, "now": tx.Now}
		if u.Status == Mailing {
			statement, action, args = switchMailsSQL, "coupon.stop_mails", db.Args{"send": u.ID, "from": Mailing, "to": Stopped}
		}
		halted, err := db.One[Sending](ctx, tx, statement, args)
		if errors.Is(err, core.ErrNotFound) {
			return 0, nil // it is over since
		}
		if err != nil {
			return 0, err
		}
		return 0, audit.Write(tx, by, sendEntry(action, halted))
	})
	return err
}

const unfinishedSendsSQL = `
	select tenant_id, id, status
	from loyalty.unfinished_sends(@before)`

const haltSendSQL = `
	update loyalty.coupon_send
	set status = 'cancelled',
		ended_at = @now
	where tenant_id = @tenant_id
		and id = @send
		and status = 'waiting'
	returning ` + sendColumns
