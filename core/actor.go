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

	// NeedsActive has each of the actor's transactions ask whether the business is active, and refuse with
	// ErrSuspended if it isn't.
	NeedsActive bool
}

// System returns the actor of commands, and of jobs of the platform.
func System(t Tenant, name string) Actor {
	return Actor{Kind: BySystem, Name: name, Tenant: t}
}

// Job returns the actor of a job that acts for a business: never while it is suspended.
func Job(t Tenant, name string) Actor {
	by := System(t, name)
	by.NeedsActive = true
	return by
}

// EvenSuspended returns the actor for what must be written even if the business was suspended meanwhile:
// the result of what was done before, or a customer's wish to get no more e-mails.
func (a Actor) EvenSuspended() Actor {
	a.NeedsActive = false
	return a
}

// SeesTokens reports whether an actor may know the names of API tokens: those who manage them, and the platform.
func (a Actor) SeesTokens() bool {
	return a.Role == Owner || a.Role == SuperAdmin || a.Kind == BySystem
}

// NameOf returns the name of what acted, as another actor may know it.
func (a Actor) NameOf(kind ActorKind, name string) string {
	if kind == ByToken && !a.SeesTokens() {
		return UnnamedToken
	}
	return name
}

// UnnamedToken is what a token is called where its name isn't told.
const UnnamedToken = "API token"
