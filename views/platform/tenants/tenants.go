// Package tenants is the HTML of the pages about businesses.
package tenants

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"slices"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/sandbox"
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

// TestBusiness shows the sign-ins and tokens of a new test business.
type TestBusiness struct {
	panel.Frame
	Made sandbox.Business
	Docs string // the quick start
}

// people are the sign-ins, owners first.
func (v TestBusiness) people() []core.Role {
	return []core.Role{core.Owner, core.Manager, core.Cashier}
}

// tokens are the names of the tokens: the one with all scopes, those with one each, and the one with none.
func (v TestBusiness) tokens() []string {
	rank := func(name string) int {
		switch name {
		case "all":
			return 0
		case "none":
			return 2
		}
		return 1
	}
	return slices.SortedFunc(maps.Keys(v.Made.Tenant().Tokens), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
}

// scopes words the scopes of a token by its name.
func scopes(name string) string {
	switch name {
	case "all":
		return "All scopes"
	case "none":
		return "No scope"
	}
	return name
}

// file is the business in the form of a file for tests.
func (v TestBusiness) file() (string, error) {
	text, err := json.MarshalIndent(v.Made, "", "  ")
	return string(text), err
}
