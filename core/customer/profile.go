package customer

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// Profile is a customer with what their page shows beside the timeline. Its cost doesn't grow with the
// number of their sales.
type Profile struct {
	Row
	SpentCents int64 // on completed sales
	Note       *string

	TermsAt  *time.Time // agreed to the terms; nil: added by the staff or imported
	OffersAt *time.Time // agreed to e-mails with offers when they joined

	Merged  int64 // duplicates that were merged into the customer
	Further []FurtherKey

	Expiring []ledger.Ending `db:"-"` // with the days to show (ledger.Shown); nil if nothing ends at the business

	// Counted up to ProfileCount+1.
	Sales, Redemptions, Vouchers int64
}

// ProfileCount is the number of records after which a profile's counts end.
const ProfileCount = 100

// AverageCents returns what the customer spends on a sale, rounded; 0 without sales.
func (p Profile) AverageCents() int64 {
	if p.Visits == 0 {
		return 0
	}
	return p.SpentCents/p.Visits + (p.SpentCents%p.Visits*2)/p.Visits
}

// The account has the figures, so that no page adds up sales.
const profileSQL = `
	select ` + rowColumns + `, least(a.spent_cents, 9223372036854775807)::bigint as spent_cents, c.note,` + furtherKeys + `,
		(select given_at from loyalty.consent where tenant_id = @tenant_id and customer_id = c.id and kind = 'terms') as terms_at,
		(select given_at from loyalty.consent where tenant_id = @tenant_id and customer_id = c.id and kind = 'offers') as offers_at,
		(select count(*) from loyalty.customer d where d.tenant_id = @tenant_id and d.merged_into = c.id) as merged,
		(select count(*) from (select from loyalty.transaction where tenant_id = @tenant_id and customer_id = c.id limit @limit) t) as sales,
		(select count(*) from (select from loyalty.redemption where tenant_id = @tenant_id and customer_id = c.id limit @limit) d) as redemptions,
		(select count(*) from (select from loyalty.voucher where tenant_id = @tenant_id and customer_id = c.id limit @limit) v) as vouchers` + fromRow + `
	where c.tenant_id = @tenant_id
		and c.id = @id
		and c.merged_into is null`

// Profile returns a customer's profile, or core.ErrNotFound.
func (s *Service) Profile(ctx context.Context, by core.Actor, id core.ID) (Profile, error) {
	var p Profile
	var endings []ledger.Ending
	readings := []db.Reading{db.OneInto(&p, profileSQL, db.Args{"id": id, "limit": ProfileCount + 1})}
	if by.Tenant.Expires() {
		readings = append(readings, ledger.ReadEndings(&endings, id))
	}
	err := db.Together(ctx, s.db.Tenant(by), readings...)
	p.Expiring = ledger.Shown(by.Tenant, endings)
	return p, err
}
