package token

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// The owners are mailed twice before a token expires, this many days before.
const (
	FirstWarning = 14
	LastWarning  = 2
)

// warnEvery is how often expiring tokens are looked for.
const warnEvery = 15 * time.Minute

// ExpiryEmail tells an owner that tokens expire soon: their own, and those of the other owners.
type ExpiryEmail struct {
	Tenant string // name of the business, or "" for the platform
	Slug   string
	Person string
	Tokens []ExpiringToken // at least one, the first to expire first
}

// ExpiringToken is a token in an ExpiryEmail.
type ExpiringToken struct {
	ID         int64
	Token      string // its name
	Owner      string // "": the person who is mailed
	ExpiresAt  time.Time
	LastUsedAt *time.Time
}

// warnExpiring is the job that mails the owners of tokens that expire soon.
type warnExpiring struct{}

// Kind names the job in the queue.
func (warnExpiring) Kind() string { return "token_expiry" }

// warning is an expiring token and an owner who is told.
type warning struct {
	ID         int64
	Token      string
	ExpiresAt  time.Time
	LastUsedAt *time.Time
	StaffID    int64 // of the token's person
	Owner      string

	TenantName, TenantSlug, Timezone string

	ReaderID                int64
	ReaderName, ReaderEmail string
}

const warnBatch = 50

// warn marks tokens and queues their e-mails in one transaction, so that no one is told twice.
func (s *Service) warn(ctx context.Context, _ warnExpiring) error {
	for {
		told, err := db.In(ctx, s.db.Platform(), func(tx *db.Tx) (int, error) {
			warnings, err := db.All[warning](ctx, tx, dueSQL, db.Args{"now": tx.Now, "up_to": warnBatch, "first": FirstWarning, "last": LastWarning})
			told := len(warnings)
			if err == nil && told > 0 {
				err = markWarned(tx, warnings)
			}
			for err == nil && len(warnings) > 0 {
				to := warnings[0].ReaderEmail
				var e ExpiryEmail
				if e, warnings, err = nextExpiryEmail(warnings); err == nil {
					err = s.mails.Queue(ctx, tx, s.mails.ExpiringTokens(to, e))
				}
			}
			return told, err
		})
		if err != nil || told == 0 {
			return err
		}
	}
}

// nextExpiryEmail gathers the warnings of the first reader, and returns the others.
func nextExpiryEmail(list []warning) (e ExpiryEmail, rest []warning, err error) {
	first := list[0]
	e = ExpiryEmail{Tenant: first.TenantName, Slug: first.TenantSlug, Person: first.ReaderName}
	zone, err := core.Zone(first.Timezone)
	if err != nil {
		return e, nil, err
	}
	for len(list) > 0 && list[0].ReaderID == first.ReaderID {
		w := list[0]
		t := ExpiringToken{ID: w.ID, Token: w.Token, ExpiresAt: w.ExpiresAt.In(zone), LastUsedAt: w.LastUsedAt}
		if w.StaffID != w.ReaderID {
			t.Owner = w.Owner
		}
		if t.LastUsedAt != nil {
			t.LastUsedAt = new(t.LastUsedAt.In(zone))
		}
		e.Tokens, list = append(e.Tokens, t), list[1:]
	}
	return e, list, nil
}

// By which warning an owner is told of a token t at an instant.
const dueWarning = `case when t.expires_at <= @now::timestamptz + make_interval(days => @last::int) then @last::int else @first::int end`

// Locks tokens whose owners weren't told yet, and returns them once for each owner; one of the platform only for its
// person. Who creates a token that ends sooner knows. A token that doesn't work isn't missed, so no one is told of it;
// it is told of if its business is reactivated before it ends. They are marked by a statement of their own: a distributed database can't
// change a table that only the coordinator has in one that reads businesses, too.
const dueSQL = `
	with due as materialized (
		select t.id, t.tenant_id, t.staff_id, t.name, t.expires_at, t.last_used_at
		from loyalty.token t
		join loyalty.staff s on s.id = t.staff_id and s.tenant_id is not distinct from t.tenant_id
		left join loyalty.tenant n on n.id = t.tenant_id
		where t.revoked_at is null
			and t.expires_at > @now
			and t.expires_at <= @now::timestamptz + make_interval(days => @first::int)
			and (t.warned_days is null or t.warned_days > ` + dueWarning + `)
			and t.created_at <= t.expires_at - make_interval(days => ` + dueWarning + `)
			and s.status = 'active'
			and s.role = case when t.tenant_id is null then 'super_admin' else 'owner' end
			and coalesce(n.status, 'active') = 'active'
		order by t.id
		limit @up_to
		for no key update of t
	)
	select d.id, d.name as token, d.expires_at, d.last_used_at, d.staff_id, o.name as owner,
		coalesce(n.name, '') as tenant_name, coalesce(n.slug, '') as tenant_slug, coalesce(n.timezone, 'UTC') as timezone,
		p.id as reader_id, p.name as reader_name, p.email as reader_email
	from due d
	join loyalty.staff o on o.id = d.staff_id
	join loyalty.staff p on p.id = d.staff_id or p.tenant_id = d.tenant_id and p.role = 'owner' and p.status = 'active'
	left join loyalty.tenant n on n.id = d.tenant_id
	order by p.id, d.expires_at, d.id`

const warnedSQL = `
	update loyalty.token t
	set warned_days = ` + dueWarning + `
	where t.id = any (@tokens::bigint[])`

func markWarned(tx *db.Tx, warnings []warning) error {
	tokens := make([]int64, len(warnings))
	for i, w := range warnings {
		tokens[i] = w.ID
	}
	return db.Queue(tx, warnedSQL, db.Args{"tokens": tokens, "now": tx.Now, "first": FirstWarning, "last": LastWarning})
}
