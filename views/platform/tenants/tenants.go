// Package tenants is the HTML of the pages about businesses.
package tenants

import (
	"net/url"

	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// Hosts knows the addresses of businesses.
type Hosts interface {
	// Tenant is the base URL of a business.
	Tenant(slug string) string
	// TenantHost is its host, with the port.
	TenantHost(slug string) string
}

// TenantList is a page of the tenants that match the filters.
type TenantList struct {
	panel.Frame
	Hosts    Hosts
	Form     ui.Form // the filters
	Asked    tenant.OverviewFilter
	Found    tenant.Overview
	Plans    []billing.Plan
	First    *url.URL // of the first page with these filters
	Fragment bool     // only the part that a filter changes; it also replaces the tabs and the export link
}

// filtered reports whether the list may lack tenants.
func (v TenantList) filtered() bool {
	a := v.Asked
	return a.Search != nil || a.Condition != nil || a.PlanID != nil || a.Country != nil || a.Number > 1
}

// TenantForm adds or edits a tenant.
type TenantForm struct {
	panel.Frame
	Hosts                 Hosts
	Form                  ui.Form
	FormKey               string
	Old                   *tenant.Detail // nil: a new one
	Plans                 []billing.Plan
	Countries, Currencies []ui.Option
	Zones                 []ui.Group
}

// TenantDetail is the page of a tenant.
type TenantDetail struct {
	panel.Frame
	Hosts    Hosts
	Tenant   tenant.Detail
	Invoices []billing.Invoice // the newest
	Entries  []ui.Entry        // the newest
}
