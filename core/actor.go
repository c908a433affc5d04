package core

// ActorKind is the kind of an actor.
type ActorKind string

// The kinds of actors, as they are stored with their actions.
const (
	ByToken    ActorKind = "token"    // an API token
	ByStaff    ActorKind = "staff"    // a person of a tenant, in the panel or at the till
	ByAdmin    ActorKind = "admin"    // a super-admin
	ByCustomer ActorKind = "customer" // a customer, on their own pages
	BySystem   ActorKind = "system"   // a job or a command
)

// Actor is who acts, for which business, and from where. Every use case takes one, and sees only the
// actor's tenant.
type Actor struct {
	Kind   ActorKind
	ID     string // of the token, the person or the customer
	Name   string
	Tenant Tenant // zero for the platform

	StaffID int64 // the person acting, or the owner of the token; 0 for none
	Role    Role  // of that person

	Address   string // of the client, for the audit log
	RequestID string

	Idempotency *Idempotency // nil: none
}

// System returns the actor of jobs and commands.
func System(t Tenant, name string) Actor {
	return Actor{Kind: BySystem, Name: name, Tenant: t}
}
