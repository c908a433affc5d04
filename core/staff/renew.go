package staff

import (
	"context"
	"log/slog"
	"time"

	"github.com/riverqueue/river"

	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// renewKeys is the job that computes the keys of e-mail addresses again that an earlier build wrote.
type renewKeys struct{}

// Kind names the job in the queue.
func (renewKeys) Kind() string { return "staff_keys" }

// RegisterRenewal registers the job that renews keys.
func RegisterRenewal(d *db.DB, jobs *job.Queue, log *slog.Logger) {
	job.Handle(jobs, job.Upkeep, func(ctx context.Context, _ renewKeys) error { return RenewKeys(ctx, d, log) })
	job.Every(jobs, river.PeriodicInterval(time.Hour), renewKeys{})
}

const (
	// The key of an address in ASCII has always been the same.
	foreignEmailsSQL = `
	select id, email, email_key
	from loyalty.staff
	where email ~ '[^[:ascii:]]' or email ~* '@(.*\.)?xn--'
	order by id`

	// A key that another person has stays theirs.
	renewSQL = `
	update loyalty.staff p
	set email_key = given.key
	from unnest(@ids::bigint[], @keys::text[]) given (id, key)
	where p.id = given.id
		and not exists (
			select
			from loyalty.staff o
			where o.email_key = given.key
				and o.tenant_id is not distinct from p.tenant_id
		)`
)

// RenewKeys computes the keys of e-mail addresses that have letters outside ASCII. Of two people whose addresses are the
// same by now, the second keeps the old key, and the log has a line.
func RenewKeys(ctx context.Context, d *db.DB, log *slog.Logger) error {
	return job.Drain(ctx, d, "staff keys", func(ctx context.Context, tx *db.Tx) (int64, error) {
		people, err := db.All[struct {
			ID              int64
			Email, EmailKey string
		}](ctx, tx, foreignEmailsSQL, nil)
		if err != nil {
			return 0, err
		}
		var ids []int64
		var keys []string
		wanted := map[string]bool{} // one at a time: two that want one key are decided by the next batch
		for _, p := range people {
			if key := auth.EmailKey(p.Email); key != "" && key != p.EmailKey && !wanted[key] {
				wanted[key] = true
				ids, keys = append(ids, p.ID), append(keys, key)
			}
		}
		if len(ids) == 0 {
			return 0, nil
		}
		renewed, err := db.Exec(ctx, tx, renewSQL, db.Args{"ids": ids, "keys": keys})
		if err == nil && renewed == 0 {
			log.WarnContext(ctx, "people with the same e-mail address", slog.Int("count", len(ids)))
		}
		return renewed, err
	})
}
