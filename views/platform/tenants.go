package platform

import "example.com/loyalty/views/ui"

// TenantList is the list of tenants, or the part of it that a filter changes.
type TenantList struct {
	Frame
	Search, Plan, Country ui.Field
	Keep                  []ui.Pair // what the form of filters carries along
	Tabs                  []Choice
	Heads                 []SortHead
	Rows                  []TenantRow
	Pager                 ui.Pager
	Filtered              bool
	Problem               *ui.Problem
	CSV                   string
	Fragment              bool // the tabs and the file are swapped, too
}

// SortHead is the head of a column, and what sorts by it.
type SortHead struct {
	Label, Path string
	End         bool   // its values are aligned at their end
	Class       string // from which width on it is shown
	Sorted      string // "ascending", "descending", or "" for another column
}

// TenantRow is a line of the list.
type TenantRow struct {
	ID, Name, Path, Host      string
	Colour                    string // of its square
	Plan                      string
	Customers, Sales          string
	Activity                  *Moment // nil: none yet
	Status                    ui.Badge
	Panel                     string // the address of its panel
	Edit, Suspend, Reactivate string // where these lead; "" where that is not possible
}

// TenantForm adds a tenant or changes one.
type TenantForm struct {
	Frame
	Action, Cancel, Button      string
	Name, Slug, Email           ui.Field
	Host                        string // of one that is there, whose slug stays
	Plan, Cycle, Payment        ui.Field
	Country, Currency, TimeZone ui.Field
	FormKey                     string // of a new one
	Original                    string // of one that is there
	Problem                     *ui.Problem
}

// Tenant is the page of one tenant.
type Tenant struct {
	Frame
	HostPath                               string // of its panel
	Suspended                              *Suspension
	Edit, Suspend                          string // where these lead; "" where that is not possible
	Reactivate                             string
	Uses                                   []TenantUse
	Sales                                  string
	Activity                               *Moment
	Counted                                *Moment
	Facts                                  []ui.Pair
	Billing                                []ui.Pair
	Invoices                               []TenantInvoice
	InvoicesPath                           string // of all of them; "" where invoices have no pages
	People                                 []TenantPerson
	Tokens                                 string
	Invite                                 string // where the owner is mailed the way in again; "": it isn't needed
	InviteTitle, InviteWords, InviteButton string
	Entries                                []ui.Entry
	Zone                                   string // of their times
	AuditPath                              string // of all of them; "" where the log has no page
}

// Suspension is since when and why a tenant is suspended.
type Suspension struct {
	Since  Moment
	Reason string // "": none was given
}

// TenantUse is how much of a limit a tenant uses.
type TenantUse struct {
	Label, Used, Limit string // Limit "": none
	Bar                ui.Bar
	Near               bool   // little is left
	Words              string // what is left
}

// TenantInvoice is a line of its invoices.
type TenantInvoice struct {
	Name, Path, Period, Total string
	Status                    ui.Badge
}

// TenantPerson is a line of its people.
type TenantPerson struct {
	Name, Email, Role string
	SignedIn          *Moment // nil: never
	Status            *ui.Badge
}
