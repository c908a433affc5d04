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

// sendUpkeep is the periodic job that checks that every send has its job.
type sendUpkeep struct{}

// Kind names the job in the queue.
func (sendUpkeep) Kind() string { return "send_upkeep" }

// KindAliases has the name that earlier builds queue it under.
func (sendUpkeep) KindAliases() []string { return []string{"coupon_send_round"} }

// overdue is how long a send is due before its job is checked. The queue itself restarts the jobs of
// a killed process (core/job): this is for jobs that failed too often. If an operator cancelled the
// job, the send is cancelled or its e-mails are stopped.
const overdue = time.Minute

// unfinished is a due send that has not ended.
type unfinished struct {
	TenantID core.TenantID
	ID       core.ID
	Status   SendStatus
}

func (s *Service) tendSends(ctx context.Context, _ sendUpkeep) error {
	halted, err := db.In(ctx, s.db.Platform(), func(tx *db.Tx) ([]unfinished, error) {
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
		var missing []job.Args
		for _, u := range due {
			evaluate, deliver := Evaluation{Tenant: u.TenantID, Send: u.ID}, Delivery{Tenant: u.TenantID, Send: u.ID}
			switch {
			case slices.Contains(evaluations, evaluate), slices.Contains(deliveries, deliver):
			case u.Status == Waiting && slices.Contains(noEvaluations, evaluate), u.Status == Mailing && slices.Contains(noDeliveries, deliver):
				halted = append(halted, u)
			case u.Status == Waiting:
				missing = append(missing, evaluate)
			default:
				missing = append(missing, deliver)
			}
		}
		return halted, s.jobs.AddAll(ctx, tx, missing)
	})
	for _, u := range halted {
		err = errors.Join(err, s.followJobState(ctx, u))
	}
	return err
}

// followJobState cancels a send, or stops its e-mails, after an operator cancelled its job.
func (s *Service) followJobState(ctx context.Context, u unfinished) error {
	by := core.System(core.Tenant{ID: u.TenantID}, "an operator")
	return db.Run(ctx, s.db.Tenant(by), func(tx *db.Tx) error {
		statement, action, args := haltSendSQL, "coupon.cancel_send", db.Args{"send": u.ID, "now": tx.Now}
		if u.Status == Mailing {
			statement, action, args = switchMailsSQL, "coupon.stop_mails", db.Args{"send": u.ID, "from": Mailing, "to": Stopped}
		}
		halted, err := db.One[Sending](ctx, tx, statement, args)
		if errors.Is(err, core.ErrNotFound) {
			return nil // it ended meanwhile
		}
		if err != nil {
			return err
		}
		return audit.Write(tx, by, sendEntry(action, halted))
	})
}

const unfinishedSendsSQL = `
	select tenant_id, id, status
	from loyalty.unfinished_sends(@before)`

const haltSend = `
	update loyalty.coupon_send s
	set status = 'cancelled',
		held_at = null,
		ended_at = @now
	where s.tenant_id = @tenant_id
		and s.id = @send
		and s.status = 'waiting'`

const haltSendSQL = haltSend + `
	returning ` + sendColumns
