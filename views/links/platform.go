package links

import (
	"strconv"

	"example.com/loyalty/core"
)

// Forms of new records.
const (
	NewTenant        = Tenants + "/new"
	NewPlan          = Plans + "/new"
	NewPlatformToken = PlatformTokens + "/new"
	NewDeprecation   = Deprecations + "/new"
)

// TenantsOn lists the businesses on a plan.
func TenantsOn(plan int64) string { return WithQuery(Tenants, "plan", strconv.FormatInt(plan, 10)) }

// InvoicesOf lists the invoices of a business.
func InvoicesOf(id core.TenantID) string {
	return WithQuery(Invoices, "tenant", strconv.FormatInt(int64(id), 10))
}

// AuditOf lists the entries about a business.
func AuditOf(slug string) string { return WithQuery(PlatformAudit, "business", slug) }
