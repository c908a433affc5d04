package core

// Role is what a person may do (decisions §9).
type Role string

// The roles. A super-admin belongs to no tenant, everybody else to one.
const (
	SuperAdmin Role = "super_admin"
	Owner      Role = "owner"   // everything
	Manager    Role = "manager" // everything but people, tokens, business settings and billing
	Cashier    Role = "cashier" // the till
)

// ErrRole is a person whose role does not allow what they asked for.
var ErrRole = &Error{Kind: KindForbidden, Message: "Your role does not allow this. An owner of the business can do it, or give you another role."}

// Roles of a tenant, each with everything that the one before may do.
var ranks = map[Role]int{Cashier: 1, Manager: 2, Owner: 3}

// Require refuses a person whose role is below the one that is named, with ErrRole.
// What a token may do is said by its abilities, and a job does what was queued: neither
// is refused here.
func (a Actor) Require(least Role) error {
	if a.Kind == ByStaff && !a.Role.Includes(least) {
		return ErrRole
	}
	return nil
}

// ErrAdmin refuses what only super-admins of the platform may do.
var ErrAdmin = &Error{Kind: KindForbidden, Message: "Only super-admins of the platform can do this."}

// RequireAdmin refuses everyone but super-admins, their platform tokens, and jobs and
// commands, with ErrAdmin.
func (a Actor) RequireAdmin() error {
	if a.Kind == BySystem || a.Role == SuperAdmin && a.Tenant.ID == 0 {
		return nil
	}
	return ErrAdmin
}

// Includes reports whether a role of a tenant may do what another one may.
func (r Role) Includes(other Role) bool { return ranks[r] > 0 && ranks[r] >= ranks[other] }
