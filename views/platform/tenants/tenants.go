// Package tenants is the HTML of the pages about businesses.
package tenants

import (
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// TenantList is the list of tenants.
type TenantList struct {
	panel.Frame
	Search, Plan, Country ui.Field
	Keep                  []ui.Pair // hidden fields of the filter form
	Tabs                  []panel.Choice
	Heads                 []SortHead
	Rows                  []TenantRow
	Pager                 ui.Pager
	Filtered              bool
	Problem               *ui.Problem
	CSV                   string
	Fragment              bool // only the part that a filter changes; it also replaces the tabs and the export link
}

// SortHead is the head of a sortable column.
type SortHead struct {
	Label, Path string
	End         bool   // right-aligned
	Class       string // hides it on narrow screens
	Sorted      string // "ascending", "descending", or "" if the list is sorted by another column
}

// TenantRow is a line of the list.
type TenantRow struct {
	ID, Name, Path, Host      string
	Colour                    string // of its square
	Plan                      string
	Customers, Sales          string
	Activity                  *panel.Moment // nil: none yet
	Added                     string        // "2 h ago"
	Status                    ui.Badge
	Panel                     string // the address of its panel
	Edit, Suspend, Reactivate string // the paths of the actions; "" if not possible
}

// TenantForm is the form of a tenant.
type TenantForm struct {
	panel.Frame
	Action, Cancel, Button      string
	Name, Slug, Email           ui.Field
	Proposed                    string // the slug that was proposed; "" for none
	Host                        string // of an existing one: the slug can't be changed
	Plan, Cycle, Payment        ui.Field
	Country, Currency, TimeZone ui.Field
	FormKey                     string // of a new one
	Original                    string // of an existing one
	Problem                     *ui.Problem
}

// Tenant is the page of one tenant.
type Tenant struct {
	panel.Frame
	HostPath                               string // of its panel
	Suspended                              *Suspension
	Edit, Suspend                          string // the paths of the actions; "" if not possible
	Reactivate                             string
	Uses                                   []TenantUse
	Sales                                  string
	Activity                               *panel.Moment
	Counted                                *panel.Moment
	Facts                                  []ui.Pair
	Billing                                []ui.Pair
	Invoices                               []TenantInvoice
	InvoicesPath                           string // of all of them
	People                                 []TenantPerson
	Tokens                                 string
	Invite                                 string // the action that e-mails the owner again; "" if not needed
	InviteTitle, InviteWords, InviteButton string
	Entries                                []ui.Entry
	Zone                                   string // time zone of the entries
	AuditPath                              string // of all entries
}

// Suspension is the suspension of a tenant.
type Suspension struct {
	Since  panel.Moment
	Reason string // "" if none was given
}

// TenantUse is the usage of a limit.
type TenantUse struct {
	Label, Used, Limit string // Limit: "" for none
	Bar                ui.Bar
	Near               bool   // almost reached
	Words              string // "12 left"
}

// TenantInvoice is a line of its invoices.
type TenantInvoice struct {
	Name, Path, Period, Total string
	Status                    ui.Badge
}

// TenantPerson is a line of its people.
type TenantPerson struct {
	Name, Email, Role string
	SignedIn          *panel.Moment // nil: never
	Status            *ui.Badge
}
