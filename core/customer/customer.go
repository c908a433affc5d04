// Package customer keeps the customers of a tenant. A customer is found by a program's own ID first, then by phone, then
// by e-mail, the last two compared by a stored key. All are unique within the tenant, so two tills that type the same
// number find the same customer.
package customer

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/usage"
)

// Status of a customer. An inactive one earns and redeems nothing.
type Status string

// The two statuses.
const (
	Active   Status = "active"
	Inactive Status = "inactive"
)

// Customer is a customer with their current balances (specification §2).
type Customer struct {
	ID            core.ID
	FirstName     string
	LastName      string
	Phone         string // as typed; "": none
	Email         *string
	Status        Status
	PointsBalance int64
	StampsBalance int64
	CreatedAt     time.Time // the first check-in
	UpdatedAt     time.Time
	// When points or stamps last changed; nil: never.
	BalanceChangedAt *time.Time
	Erased           bool // their personal data was deleted

	ExternalID *string       // by which a program finds them; nil: none
	Metadata   core.Metadata // a program's own fields
	Tags       []string      // by name
	Birthday   *Birthday     // nil: unknown

	UnsubscribedAt *time.Time // from coupon e-mails; nil: subscribed
	// No unspent points or stamps end before, without the hold of a rule (ExpiresOn); nil: none have a last day.
	PointsExpireOn, StampsExpireOn *time.Time
	PointsIdleOn, StampsIdleOn     *time.Time // without a visit

	ledger.Standing // for awards and levels

	LinkVersion    int64      // of the customer's links; raised to revoke them
	UncheckedSince *time.Time // when they opened the card online; nil: the business knows that the phone number is theirs
}

// ExpiresOn returns the soonest day on which points or stamps of the customer end, or nil.
func (c Customer) ExpiresOn(t core.Tenant, unit ledger.Unit) *time.Time {
	balance, last, idle := c.PointsBalance, c.PointsExpireOn, c.PointsIdleOn
	if unit == ledger.Stamps {
		balance, last, idle = c.StampsBalance, c.StampsExpireOn, c.StampsIdleOn
	}
	rule := unit.Of(t)
	if rule.Rule == core.ExpireInactive && idle != nil && (last == nil || idle.Before(*last)) {
		last = idle
	}
	if balance <= 0 {
		return nil
	}
	return rule.Shown(last)
}

// Service finds, creates and changes customers.
type Service struct {
	db      *db.DB
	meter   *usage.Meter
	finder  *db.Finder[Customer]
	batches *limit.Lines[core.TenantID] // of UpsertEach
}

// NewService makes the service.
func NewService(d *db.DB) *Service {
	return &Service{
		db: d, meter: usage.NewMeter(d), finder: db.NewFinder(d, findSQL, findAllSQL, func(c Customer) core.ID { return c.ID }),
		batches: limit.NewLines[core.TenantID](1),
	}
}

// ShareMeter has the service count by the process's meter. It must be called before the service is used.
func (s *Service) ShareMeter(m *usage.Meter) { s.meter = m }

// ErrErased refuses to change an erased customer.
var ErrErased = core.Refuse("customer-erased", "This customer was erased and cannot be changed.")

// MustBeActive refuses an inactive customer.
var MustBeActive = core.Violation{Rule: "active_customer"}

// CheckBuyer adds a violation of a customer who can't buy: one who is missing (nil) or inactive.
func CheckBuyer(check *core.Check, field string, status *Status) {
	switch {
	case !check.OK(field):
	case status == nil:
		check.Add(field, core.InvalidChoice)
	case *status != Active:
		check.Add(field, MustBeActive)
	}
}

// Find returns a customer, or core.ErrNotFound.
func (s *Service) Find(ctx context.Context, by core.Actor, id core.ID) (Customer, error) {
	return s.finder.Find(ctx, by, id)
}

// FindIn is Find in the caller's transaction.
func FindIn(ctx context.Context, tx *db.Tx, id core.ID) (Customer, error) {
	return db.One[Customer](ctx, tx, findSQL, db.Args{"id": id})
}

// Reading is Find in one round trip with other statements (db.Together).
func Reading(to *Customer, id core.ID) db.Reading {
	return db.OneInto(to, findSQL, db.Args{"id": id})
}

// Contact is the phone number or e-mail address by which customers ask for their own card.
type Contact struct{ phoneKey, emailKey *string }

// ReadContact reads a phone number or an e-mail address; other texts are refused on the field
// "contact".
func ReadContact(text, country string) (Contact, error) {
	check := core.NewCheck(nil)
	text = check.Text("contact", &text, maxEmail)
	if !check.OK("contact") {
		return Contact{}, check.Err()
	}
	if core.IsEmail(text) {
		return Contact{emailKey: new(core.EmailKey(text))}, nil
	}
	read, refusal := readPhone(text, country)
	if refusal != nil {
		check.Add("contact", core.Violation{Rule: "phone_or_email"})
	}
	return Contact{phoneKey: &read.key}, check.Err()
}

// FindByContact returns the customer with a contact, or core.ErrNotFound.
func FindByContact(ctx context.Context, tx *db.Tx, c Contact) (Customer, error) {
	return db.One[Customer](ctx, tx, findByKeysSQL, db.Args{"external_id": nil, "phone_key": c.phoneKey, "email_key": c.emailKey})
}

const ownsEmailSQL = `
	select exists (
		select
		from loyalty.customer_key
		where tenant_id = @tenant_id
			and kind = 'email'
			and key = @email_key
			and customer_id = @id
	)`

// HasEmail reports whether an e-mail address is a customer's own, or one by which they are also found. "": none is
// given, which fits everyone.
func HasEmail(ctx context.Context, tx *db.Tx, c Customer, email string) (bool, error) {
	if email == "" {
		return true, nil
	}
	key := core.EmailKey(core.Trimmed(email))
	if c.Email != nil && core.EmailKey(*c.Email) == key {
		return true, nil
	}
	return db.One[bool](ctx, tx, ownsEmailSQL, db.Args{"id": c.ID, "email_key": key})
}

// maxAtTill is the maximum number of customers that a till lists.
const maxAtTill = 10

// FindAtTill returns at most ten customers by a whole phone number, by its last four or more digits, or by two or
// more letters of a name or an e-mail address: active ones first, of these the last visitor first. It reports whether
// there are more.
func (s *Service) FindAtTill(ctx context.Context, by core.Actor, typed string) (found []Customer, more bool, err error) {
	if err := by.Require(core.Cashier); err != nil {
		return nil, false, err
	}
	if isName(typed) {
		found, err = s.findByName(ctx, by, typed)
	} else {
		found, err = s.findByPhone(ctx, by, typed)
		if err == nil && len(found) == 1 {
			err = s.checkedByNumber(ctx, by, &found[0], typed)
		}
	}
	if len(found) > maxAtTill {
		return found[:maxAtTill], true, err
	}
	return found, false, err
}

func (s *Service) findByPhone(ctx context.Context, by core.Actor, typed string) ([]Customer, error) {
	key, digits, err := phoneSearch(typed, by.Tenant.Country)
	if err != nil {
		return nil, err
	}
	return db.All[Customer](ctx, s.db.Tenant(by), findByPhoneSQL, db.Args{"phone_key": key, "ending": digits, "limit": maxAtTill + 1})
}

// checkedByNumber notes that a customer who opened their card online told a cashier their whole number.
func (s *Service) checkedByNumber(ctx context.Context, by core.Actor, c *Customer, typed string) error {
	if c.UncheckedSince == nil {
		return nil
	}
	told, refusal := readPhone(typed, by.Tenant.Country)
	if own, _ := readPhone(c.Phone, by.Tenant.Country); refusal != nil || told.key != own.key {
		return nil
	}
	c.UncheckedSince = nil
	return db.Run(ctx, s.db.Tenant(by), func(tx *db.Tx) error { return Checked(tx, c.ID) })
}

// maxNamed is how many of the newest customers with a name the last visitors are chosen from.
const maxNamed = 100

func (s *Service) findByName(ctx context.Context, by core.Actor, typed string) ([]Customer, error) {
	check := core.NewCheck(nil)
	name := check.Text("phone", &typed, maxEmail)
	if err := check.Err(); err != nil {
		return nil, err
	}
	args := SearchArgs(name, by.Tenant)
	args["found"], args["limit"] = maxNamed, maxAtTill+1
	return db.All[Customer](ctx, s.db.Tenant(by), findByNameSQL, args)
}

// FindAll returns the customers with the ids, by id. It leaves out unknown and repeated ids.
func (s *Service) FindAll(ctx context.Context, by core.Actor, ids []core.ID) ([]Customer, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return db.All[Customer](ctx, s.db.Tenant(by), findAllSQL, db.Args{"ids": ids})
}

// facts returns what the audit log says about a customer.
func (c Customer) facts() map[string]any {
	facts := map[string]any{
		"first_name": c.FirstName, "last_name": c.LastName, "phone": c.Phone, "email": c.Email, "status": c.Status,
	}
	if c.ExternalID != nil {
		facts["external_id"] = *c.ExternalID
	}
	if c.Birthday != nil {
		facts["birthday"] = *c.Birthday
	}
	return facts
}
