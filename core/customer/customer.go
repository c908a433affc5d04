// Package customer keeps the customers of a tenant. A customer is found by phone
// first, then by e-mail, each compared by a stored key; both keys are unique within
// the tenant, so two tills that type the same number meet the same customer.
package customer

import (
	"context"
	"errors"
	"maps"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/usage"
)

// Status of a customer. An inactive one earns and redeems nothing.
type Status string

// The two statuses.
const (
	Active   Status = "active"
	Inactive Status = "inactive"
)

// Customer is a customer with the balances of the moment (specification §2).
type Customer struct {
	ID            core.ID
	FirstName     string
	LastName      string
	Phone         string // as written
	Email         *string
	Status        Status
	PointsBalance int64
	StampsBalance int64
	CreatedAt     time.Time // the first check-in
	UpdatedAt     time.Time
	Erased        bool // nothing is left of who they were

	UnsubscribedAt *time.Time // from coupon e-mails; nil: gets them
	LinkVersion    int64      // of the links that customers are mailed: raised to revoke them
}

// Upserted is a customer and whether the upsert made them.
type Upserted struct {
	Customer
	Created bool
}

// Service finds, makes and changes customers.
type Service struct {
	db    *db.DB
	meter *usage.Meter
}

// NewService makes the service.
func NewService(d *db.DB) *Service { return &Service{db: d, meter: usage.NewMeter(d)} }

// ErrErased refuses what would change a customer of whom nothing is left.
var ErrErased = core.Refuse("customer-erased", "This customer was erased and cannot be changed.")

// Upsert returns the customer with that phone, else with that e-mail, unchanged;
// there being none, it makes one (specification §4). Of several at once with one
// phone, one makes the customer and all return it. A new one that exceeds the plan is
// refused with usage.ErrLimit. Two round trips when found, three when made, and one a minute
// that counts the customers.
func (s *Service) Upsert(ctx context.Context, by core.Actor, n New) (Upserted, error) {
	if err := by.Require(core.Cashier); err != nil {
		return Upserted{}, err
	}
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Upserted, error) {
		in, err := n.Validate(by.Tenant.Country)
		if err != nil {
			return Upserted{}, err
		}
		return upsert(ctx, tx, by, in, func() error { return s.meter.Admit(ctx, tx, usage.Customers, 1) })
	})
}

// Enrol is Upsert in the caller's transaction, for customers who enter their own details:
// names, and what they agree to, are asked only of a new one. missing says what else is
// wrong with the details of a new customer; admit says whether there may be one, nil: there
// may.
func Enrol(ctx context.Context, tx *db.Tx, by core.Actor, n New, missing core.Fields, admit func() error) (Upserted, error) {
	in, wrong := n.Validate(by.Tenant.Country)
	fields := maps.Clone(missing)
	var refused *core.Error
	if errors.As(wrong, &refused) {
		fields = merged(refused.Fields, missing)
	}
	// A phone number that can't be read finds no customer, so nothing is looked up.
	if _, unreadable := fields["phone"]; unreadable {
		return Upserted{}, core.Invalid(fields)
	}
	if _, unreadable := fields["email"]; unreadable {
		in.Email, in.EmailKey = nil, nil
	}
	if len(fields) > 0 {
		admit = func() error { return core.Invalid(fields) }
	}
	return upsert(ctx, tx, by, in, admit)
}

// merged are the fields of both.
func merged(a, b core.Fields) core.Fields {
	all := core.Fields{}
	maps.Copy(all, b)
	maps.Copy(all, a)
	return all
}

// upsert finds the customer or makes one, if admit lets a new one in.
func upsert(ctx context.Context, tx *db.Tx, by core.Actor, in Details, admit func() error) (Upserted, error) {
	for range 3 {
		found, err := findByKeys(ctx, tx, in)
		if err == nil {
			return Upserted{Customer: found}, nil
		}
		if !errors.Is(err, core.ErrNotFound) {
			return Upserted{}, err
		}
		if admit != nil {
			if err := admit(); err != nil {
				return Upserted{}, err
			}
		}
		made, err := insert(ctx, tx, by, in)
		if err == nil {
			return Upserted{Customer: made, Created: true}, nil
		}
		// Another request made them since we looked, and has committed: look again.
		if !errors.Is(err, core.ErrNotFound) {
			return Upserted{}, err
		}
	}
	return Upserted{}, core.Unavailable(errMoved)
}

// errMoved is of a request that was let in before its tenant's country changed: the
// next one reads the phone number as of the new country.
var errMoved = errors.New("the tenant's country changed meanwhile")

func findByKeys(ctx context.Context, tx *db.Tx, in Details) (Customer, error) {
	return db.One[Customer](ctx, tx, findByKeysSQL, db.Args{"phone_key": in.PhoneKey, "email_key": in.EmailKey})
}

// insert makes a customer with an account, or returns core.ErrNotFound when the
// phone or the e-mail is already somebody's, or the tenant has moved.
func insert(ctx context.Context, tx *db.Tx, by core.Actor, in Details) (Customer, error) {
	if err := db.Queue(tx, holdCountrySQL, nil); err != nil {
		return Customer{}, err
	}
	c, err := db.One[Customer](ctx, tx, insertSQL, db.Args{
		"id": core.NewID(tx.Now), "first_name": in.FirstName, "last_name": in.LastName,
		"phone": in.Phone, "phone_key": in.PhoneKey, "email": in.Email, "email_key": in.EmailKey,
		"country": by.Tenant.Country, "now": tx.Now,
	})
	if err != nil {
		return Customer{}, err
	}
	if err := ledger.Open(tx, c.ID); err != nil {
		return Customer{}, err
	}
	return c, audit.Write(tx, by, audit.Entry{Action: "customer.create", Subject: "customer", ID: c.ID.String(), New: c.facts()})
}

// Find returns a customer, or core.ErrNotFound. One round trip.
func (s *Service) Find(ctx context.Context, by core.Actor, id core.ID) (Customer, error) {
	return db.ReadOne[Customer](ctx, s.db, by, findSQL, db.Args{"id": id})
}

// FindIn is Find in the caller's transaction.
func FindIn(ctx context.Context, tx *db.Tx, id core.ID) (Customer, error) {
	return db.One[Customer](ctx, tx, findSQL, db.Args{"id": id})
}

// Reading is Find together with other statements (db.ReadTogether).
func Reading(to *Customer, id core.ID) db.Reading {
	return db.OneInto(to, findSQL, db.Args{"id": id})
}

// Contact is how customers ask for their own card: by their phone number or their e-mail address.
type Contact struct{ phoneKey, emailKey *string }

// ReadContact reads a phone number or an e-mail address. What can't be read is refused on the
// field "contact".
func ReadContact(text, country string) (Contact, error) {
	phone, email, err := contactKeys(text, country)
	return Contact{phone, email}, err
}

// FindByContact returns the customer with that contact, or core.ErrNotFound. One round trip.
func FindByContact(ctx context.Context, tx *db.Tx, c Contact) (Customer, error) {
	return db.One[Customer](ctx, tx, findByKeysSQL, db.Args{"phone_key": c.phoneKey, "email_key": c.emailKey})
}

// mostByPhone is how many customers with the same last digits are found.
const mostByPhone = 10

// FindByPhone returns active customers by a whole phone number or by its last four or more
// digits, those who were here last first, at most ten. One round trip.
func (s *Service) FindByPhone(ctx context.Context, by core.Actor, typed string) ([]Customer, error) {
	if err := by.Require(core.Cashier); err != nil {
		return nil, err
	}
	key, digits, err := phoneSearch(typed, by.Tenant.Country)
	if err != nil {
		return nil, err
	}
	return db.ReadAll[Customer](ctx, s.db, by, findByPhoneSQL, db.Args{"phone_key": key, "ending": digits, "limit": mostByPhone})
}

// FindAll returns the customers of those ids, in the order of the ids. Ids that don't exist
// are left out, and ids that are repeated count once.
func (s *Service) FindAll(ctx context.Context, by core.Actor, ids []core.ID) ([]Customer, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return db.ReadAll[Customer](ctx, s.db, by, findAllSQL, db.Args{"ids": ids})
}

// Edit changes the fields that are set. A phone or e-mail of another customer is
// refused on the field, an erased customer altogether, and activating one who exceeds the
// plan with usage.ErrLimit. Three round trips.
func (s *Service) Edit(ctx context.Context, by core.Actor, id core.ID, e Edit) (Customer, error) {
	if err := by.Require(core.Manager); err != nil {
		return Customer{}, err
	}
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Customer, error) {
		if err := db.Queue(tx, holdCountrySQL, nil); err != nil {
			return Customer{}, err
		}
		// Held until the end: the log must name the values this edit replaced.
		old, err := db.One[held](ctx, tx, lockSQL, db.Args{"id": id})
		if err != nil {
			return Customer{}, err
		}
		if old.Erased {
			return Customer{}, ErrErased
		}
		in, err := e.validate(old.Customer, old.Country)
		if err != nil {
			return Customer{}, err
		}
		if in.Status == Active && old.Status != Active {
			if err := s.meter.Admit(ctx, tx, usage.Customers, 1); err != nil {
				return Customer{}, err
			}
		}
		edited, err := db.One[Customer](ctx, tx, updateSQL, db.Args{
			"id": id, "first_name": in.FirstName, "last_name": in.LastName, "phone": in.Phone, "phone_key": in.PhoneKey,
			"email": in.Email, "email_key": in.EmailKey, "status": in.Status, "now": tx.Now,
		})
		switch {
		case db.Violates(err, "customer_phone"):
			return Customer{}, core.Invalid(core.Fields{"phone": {core.Duplicate}})
		case db.Violates(err, "customer_email"):
			return Customer{}, core.Invalid(core.Fields{"email": {core.Duplicate}})
		case err != nil:
			return Customer{}, err
		}
		return edited, audit.Write(tx, by, audit.Entry{
			Action: "customer.edit", Subject: "customer", ID: id.String(), Old: old.facts(), New: edited.facts(),
		})
	})
}

// held is a customer who is being edited, and the country their phone is read as of.
type held struct {
	Customer
	Country string
}

// facts are what the log tells of a customer.
func (c Customer) facts() map[string]any {
	return map[string]any{
		"first_name": c.FirstName, "last_name": c.LastName, "phone": c.Phone, "email": c.Email, "status": c.Status,
	}
}
