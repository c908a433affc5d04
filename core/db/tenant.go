package db

import (
	"context"
	"time"

	"example.com/loyalty/core"
)

// TenantColumns selects a TenantRow from a tenant n, which may be missing.
const TenantColumns = `coalesce(n.id, 0) as tenant_id, coalesce(n.name, '') as tenant_name, coalesce(n.slug, '') as tenant_slug,
		coalesce(n.timezone, 'UTC') as timezone, coalesce(n.currency, '') as currency, coalesce(n.country, '') as country,
		coalesce(n.confirm_above_cents, 0) as confirm_above_cents, coalesce(n.status, 'active') <> 'active' as suspended,
		coalesce(n.phone_optional, false) as phone_optional, coalesce(n.test, false) as test,
		coalesce(n.programme, '{}') as programme, coalesce(n.earning_version, 0) as earning_version`

// ThemeColumns selects a core.Theme from ThemeOf.
const ThemeColumns = `look.colour, look.logo_hash, look.logo_width, look.logo_height`

// ThemeOf joins the theme of a tenant n, in a transaction of the platform: the table has row-level
// security.
const ThemeOf = `left join lateral loyalty.theme(n.id) look on true`

// TenantRow is a tenant as TenantColumns selects it; zero for the platform.
type TenantRow struct {
	TenantID          core.TenantID
	TenantName        string
	TenantSlug        string
	Timezone          string
	Currency          string
	Country           string
	ConfirmAboveCents int64
	Suspended         bool
	PhoneOptional     bool
	Test              bool
	Programme         struct{ Points, Stamps expiry }
	EarningVersion    int64
}

// expiry is a row of loyalty.programme, of which loyalty.share_programme makes JSON. Dates are texts, because one may be
// infinity.
type expiry struct {
	Expiry    core.ExpiryRule `json:"expiry"`
	Months    int             `json:"months"`
	RoundTo   core.Rounding   `json:"round_to"`
	Month     time.Month      `json:"yearly_month"`
	Day       int             `json:"yearly_day"`
	GraceDays int             `json:"grace_days"`
	HoldUntil string          `json:"hold_until"`
}

func (e expiry) core() core.Expiry {
	rule := core.Expiry{
		Rule: e.Expiry, Months: e.Months, RoundTo: e.RoundTo, Month: e.Month, Day: e.Day, GraceDays: e.GraceDays,
		HoldsAll: e.HoldUntil == "infinity",
	}
	if e.HoldUntil != "" && !rule.HoldsAll {
		rule.Hold, _ = time.Parse(time.DateOnly, e.HoldUntil)
	}
	return rule
}

const findTenantSQL = `
	select ` + TenantColumns + `
	from loyalty.tenant n
	where n.id = @id`

// FindTenant finds a tenant without its theme, for jobs, or core.ErrNotFound.
func FindTenant(ctx context.Context, d *DB, id core.TenantID) (core.Tenant, error) {
	row, err := One[TenantRow](ctx, d.Platform(), findTenantSQL, Args{"id": int64(id)})
	if err != nil {
		return core.Tenant{}, err
	}
	return row.Tenant()
}

// Tenant returns the tenant for serving it.
func (r TenantRow) Tenant() (core.Tenant, error) {
	zone, err := core.Zone(r.Timezone)
	return core.Tenant{
		ID: r.TenantID, Name: r.TenantName, Slug: r.TenantSlug, TimeZone: zone, Currency: r.Currency, Country: r.Country,
		Suspended: r.Suspended, Test: r.Test, ConfirmAboveCents: r.ConfirmAboveCents, PhoneOptional: r.PhoneOptional,
		PointsExpiry: r.Programme.Points.core(), StampsExpiry: r.Programme.Stamps.core(),
		EarningVersion: r.EarningVersion,
	}, err
}
