package core

// Role says what a person may do (decisions §9).
type Role string

// The roles. Super-admins belong to no tenant, all others to one.
const (
	SuperAdmin Role = "super_admin"
	Owner      Role = "owner"   // everything
	Manager    Role = "manager" // everything but people, tokens, business settings and billing
	Cashier    Role = "cashier" // the till
)

// ErrRole refuses a person whose role doesn't allow an action.
var ErrRole = &Error{Kind: KindForbidden, Message: "Your role does not allow this. An owner of the business can do it, or give you another role."}

// The roles of a tenant. Each may do everything that the lower ones may.
var ranks = map[Role]int{Cashier: 1, Manager: 2, Owner: 3}

// Require refuses a person below a role with ErrRole. It doesn't refuse tokens, which have abilities, nor
// jobs, which do what was allowed before.
func (a Actor) Require(least Role) error {
	if a.Kind == ByStaff && !a.Role.Includes(least) {
		return ErrRole
	}
	return nil
}

// ErrAdmin refuses actions that are only for super-admins.
var ErrAdmin = &Error{Kind: KindForbidden, Message: "Only super-admins of the platform can do this."}

// RequireAdmin refuses all but super-admins, their platform tokens, jobs and commands, with ErrAdmin.
func (a Actor) RequireAdmin() error {
	if a.Kind == BySystem || a.Role == SuperAdmin && a.Tenant.ID == 0 {
		return nil
	}
	return ErrAdmin
}

// Includes reports whether a role of a tenant may do everything that another role may.
func (r Role) Includes(other Role) bool { return ranks[r] > 0 && ranks[r] >= ranks[other] }
