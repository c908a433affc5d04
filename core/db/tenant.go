package db

import "example.com/loyalty/core"

// TenantColumns selects a TenantRow from a tenant n, which may be missing.
const TenantColumns = `coalesce(n.id, 0) as tenant_id, coalesce(n.name, '') as tenant_name, coalesce(n.slug, '') as tenant_slug,
		coalesce(n.timezone, 'UTC') as timezone, coalesce(n.currency, '') as currency, coalesce(n.country, '') as country,
		coalesce(n.confirm_above_cents, 0) as confirm_above_cents, coalesce(n.status, 'active') <> 'active' as suspended`

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
}

// Tenant returns the tenant for serving it.
func (r TenantRow) Tenant() (core.Tenant, error) {
	zone, err := core.Zone(r.Timezone)
	return core.Tenant{
		ID: r.TenantID, Name: r.TenantName, Slug: r.TenantSlug, TimeZone: zone, Currency: r.Currency, Country: r.Country,
		Suspended: r.Suspended, ConfirmAboveCents: r.ConfirmAboveCents,
	}, err
}
