// Package customer keeps the customers of a tenant. A customer is found by a program's own ID first, then by phone, then
// by e-mail, the last two compared by a stored key. All are unique within the tenant, so two tills that type the same
// number find the same customer.
package customer

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
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

	UnsubscribedAt *time.Time // from coupon e-mails; nil: subscribed
	// No unspent points or stamps end before, without the hold of a rule (ExpiresOn); nil: none have a last day.
	PointsExpireOn, StampsExpireOn *time.Time
	PointsIdleOn, StampsIdleOn     *time.Time // without a visit

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

// Upserted is a customer and whether the upsert created them.
type Upserted struct {
	Customer
	Created bool
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

// Upsert returns the customer with an external ID, or else with a phone number, or else with an e-mail address, unchanged;
// if there is none, it creates one (specification §4). Only a customer who is found without an external ID gets the given
// one. Of concurrent upserts with the same phone number, one creates the customer and all return it. A new customer beyond
// the plan's limit is refused with usage.ErrLimit, and one that staff add before the business has a country with ErrNoCountry.
func (s *Service) Upsert(ctx context.Context, by core.Actor, n New, once *core.Once[Upserted]) (made core.Reply[Upserted], err error) {
	for range maxAttempts {
		made, err = db.In(ctx, s.db.TenantAs(by, core.Cashier), db.Once(ctx, by, once, func(tx *db.Tx) (Upserted, error) {
			in, err := n.Validate(by.Tenant.Country, by.Tenant.PhoneOptional)
			if err != nil {
				return Upserted{}, err
			}
			return upsert(ctx, tx, by, in, Admission(ctx, tx, s.meter))
		}))
		// Another request has given the ID to another customer meanwhile: now it finds them.
		if !IDTaken(err) {
			return made, err
		}
	}
	return made, err
}

// maxAttempts is how often an upsert looks for a customer whom other requests change at the same time.
const maxAttempts = 3

// IDTaken reports whether an upsert failed because its external ID was given to another customer at the same time.
func IDTaken(err error) bool { return db.Violates(err, "customer_external_id") }

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

// Enrol is Upsert in the caller's transaction, for customers who enter their own details. missing has the violations
// of other fields that they must enter. Everything is checked before any look-up, so that a refusal doesn't tell whether
// a phone number is known. The phone number of a new customer isn't checked yet. admit may refuse a new customer; nil: never.
func Enrol(ctx context.Context, tx *db.Tx, by core.Actor, n New, missing core.Fields, admit Admit) (Upserted, error) {
	in, wrong := n.Validate(by.Tenant.Country, false)
	fields := core.Fields{}
	maps.Copy(fields, missing)
	var refused *core.Error
	if errors.As(wrong, &refused) {
		maps.Copy(fields, refused.Fields)
	}
	if len(fields) > 0 {
		return Upserted{}, core.Invalid(fields)
	}
	in.UncheckedSince = &tx.Now
	return upsert(ctx, tx, by, in, admit)
}

// Admit refuses a new customer, or returns how many there are. The statement that adds the customer compares this number with
// the plan's limit. If it adds nothing, the caller calls Admit anew, which counts again.
type Admit func(anew bool) (used int64, err error)

// Admission returns the Admit that refuses customers beyond the plan's limit with usage.ErrLimit.
func Admission(ctx context.Context, tx *db.Tx, meter *usage.Meter) Admit {
	return func(anew bool) (int64, error) { return meter.Admit(ctx, tx, usage.Customers, anew) }
}

// upsert finds the customer, or creates one unless admit refuses.
func upsert(ctx context.Context, tx *db.Tx, by core.Actor, in Details, admit Admit) (Upserted, error) {
	for attempt := range maxAttempts {
		found, err := findByKeys(ctx, tx, in)
		if err == nil && (in.ExternalID == nil || found.ExternalID != nil) {
			return Upserted{Customer: found}, nil
		}
		if err == nil {
			found, noted, err := noteExternalID(ctx, tx, by, found, *in.ExternalID)
			if err != nil || noted {
				return Upserted{Customer: found}, err
			}
			continue
		}
		if !errors.Is(err, core.ErrNotFound) {
			return Upserted{}, err
		}
		if err := RequireCountry(by); err != nil {
			return Upserted{}, err
		}
		var used *int64
		if admit != nil {
			n, err := admit(attempt > 0)
			if err != nil {
				return Upserted{}, err
			}
			used = &n
		}
		made, err := insert(ctx, tx, by, in, used)
		if err == nil {
			return Upserted{Customer: made, Created: true}, nil
		}
		// Another request has created them meanwhile, or the plan's limit or a setting was changed.
		if !errors.Is(err, core.ErrNotFound) {
			return Upserted{}, err
		}
	}
	return Upserted{}, core.Unavailable(errSettingsChanged)
}

// errSettingsChanged fails a request that read the phone number by the old country, or needed none before.
var errSettingsChanged = errors.New("the tenant's country or its rule about phone numbers changed meanwhile")

func findByKeys(ctx context.Context, tx *db.Tx, in Details) (Customer, error) {
	return db.One[Customer](ctx, tx, findByKeysSQL, db.Args{"external_id": in.ExternalID, "phone_key": in.PhoneKey, "email_key": in.EmailKey})
}

// Changes nothing if the ID is the customer's further one, or if they were erased, merged or given one meanwhile.
const noteExternalIDSQL = `
	update loyalty.customer c
	set external_id = @external_id,
		updated_at = @now
	from loyalty.account a` + lastMove + `
	where c.tenant_id = @tenant_id
		and c.id = @id
		and c.external_id is null
		and coalesce(c.phone_key, c.email_key) is not null
		and not exists (
			select
			from loyalty.customer_key
			where tenant_id = @tenant_id
				and kind = 'external_id'
				and key = @external_id
		)
		and a.tenant_id = c.tenant_id
		and a.customer_id = c.id
	returning ` + columns

// noteExternalID gives a customer who was found the ID by which a program knows them. They stay as they are if it is a
// further one of theirs. It reports whether they are the customer to return.
func noteExternalID(ctx context.Context, tx *db.Tx, by core.Actor, found Customer, id string) (Customer, bool, error) {
	if err := LockCountry(tx); err != nil { // a merge hands on IDs, too
		return Customer{}, false, err
	}
	changed, err := db.One[Customer](ctx, tx, noteExternalIDSQL, db.Args{"id": found.ID, "external_id": id, "now": tx.Now})
	if errors.Is(err, core.ErrNotFound) {
		further, err := db.One[bool](ctx, tx, hasExternalIDSQL, db.Args{"id": found.ID, "external_id": id})
		return found, further, err
	}
	if err != nil {
		return Customer{}, false, err
	}
	return changed, true, audit.Write(tx, by, audit.Entry{
		Action: "customer.edit", Subject: "customer", ID: found.ID.String(),
		Old: map[string]any{"external_id": nil}, New: map[string]any{"external_id": id},
	})
}

const hasExternalIDSQL = `
	select exists (
		select
		from loyalty.customer_key
		where tenant_id = @tenant_id
			and kind = 'external_id'
			and key = @external_id
			and customer_id = @id
	)`

// insert creates a customer with an account, or returns core.ErrNotFound if the external ID, the phone number or the e-mail
// address exists, a setting of the tenant has changed, or the plan's limit is used (used nil: it doesn't count).
func insert(ctx context.Context, tx *db.Tx, by core.Actor, in Details, used *int64) (Customer, error) {
	if err := LockCountry(tx); err != nil {
		return Customer{}, err
	}
	c, err := db.One[Customer](ctx, tx, insertSQL, db.Args{
		"id": core.NewID(tx.Now), "first_name": in.FirstName, "last_name": in.LastName,
		"phone": in.Phone, "phone_key": in.PhoneKey, "email": in.Email, "email_key": in.EmailKey,
		"external_id": in.ExternalID, "metadata": in.Metadata.Stored(),
		"folded": in.searchText(nil), "country": by.Tenant.Country, "used": used,
		"unchecked_since": in.UncheckedSince, "now": tx.Now,
	})
	if err != nil {
		return Customer{}, err
	}
	if err := ledger.Open(tx, c.ID); err != nil {
		return Customer{}, err
	}
	if len(in.Tags) > 0 {
		if err := setTags(tx, c.ID, in.Tags); err != nil {
			return Customer{}, err
		}
		if c.Tags, err = tagsOfCustomer(ctx, tx, c.ID); err != nil { // as other customers' are spelled
			return Customer{}, err
		}
	}
	return c, c.noteCreated(tx, by)
}

// noteCreated writes a new customer into the audit log.
func (c Customer) noteCreated(tx *db.Tx, by core.Actor) error {
	facts := c.facts()
	if len(c.Metadata) > 0 {
		facts["metadata"] = strings.Join(changedKeys(nil, c.Metadata), ", ")
	}
	return errors.Join(
		audit.Write(tx, by, audit.Entry{Action: "customer.create", Subject: "customer", ID: c.ID.String(), New: facts}),
		noteTags(tx, by, c.ID, nil, c.Tags))
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

// Edit changes the fields that are set. A new phone number or e-mail address replaces the customer's links
// (ReplaceLinks): a person with the old one may have opened the card. It refuses another customer's phone number or e-mail address,
// erased customers (ErrErased), and to activate one beyond the plan's limit (usage.ErrLimit).
func (s *Service) Edit(ctx context.Context, by core.Actor, id core.ID, e Edit) (Customer, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (Customer, error) {
		if e.Tags.Set { // which are read once the row is locked
			if err := LockCountry(tx); err != nil {
				return Customer{}, err
			}
			if err := db.Queue(tx, lockNoteSQL, db.Args{"id": id}); err != nil {
				return Customer{}, err
			}
		}
		// Locked: the audit log must have the values that this edit replaces.
		old, err := lockCustomer(ctx, tx, lockSQL, id)
		if err != nil {
			return Customer{}, err
		}
		if old.Erased {
			return Customer{}, ErrErased
		}
		if e.If != nil && !e.If(old.Customer) {
			return Customer{}, core.ErrStale
		}
		in, err := e.validate(old)
		if err != nil {
			return Customer{}, err
		}
		if in.Status == Active && old.Status != Active {
			if err := usage.Check(ctx, tx, usage.Customers, 1); err != nil {
				return Customer{}, err
			}
		}
		if e.Tags.Set {
			if err := setTags(tx, id, in.Tags); err != nil {
				return Customer{}, err
			}
		}
		keys := db.Args{"id": id, "phone_key": in.PhoneKey, "email_key": in.EmailKey, "external_id": in.ExternalID}
		if err := db.Queue(tx, ownKeysSQL, keys); err != nil {
			return Customer{}, err
		}
		replaces := int64(0)
		if in.PhoneKey != old.PhoneKey || !sameKey(in.EmailKey, old.EmailKey) {
			replaces = 1
		}
		edited, err := db.One[Customer](ctx, tx, updateSQL, db.Args{
			"id": id, "replaces": replaces, "first_name": in.FirstName, "last_name": in.LastName, "phone": in.Phone, "phone_key": in.PhoneKey,
			"email": in.Email, "email_key": in.EmailKey, "external_id": in.ExternalID, "metadata": in.Metadata.Stored(),
			"folded": in.searchText(old.furtherBeside(in)), "status": in.Status, "now": tx.Now,
		})
		switch {
		case errors.Is(err, core.ErrNotFound):
			return Customer{}, refuseFurther(ctx, tx, keys)
		case db.Violates(err, "customer_phone"):
			return Customer{}, core.Invalid(core.Fields{"phone": {core.Duplicate}})
		case db.Violates(err, "customer_email"):
			return Customer{}, core.Invalid(core.Fields{"email": {core.Duplicate}})
		case IDTaken(err):
			return Customer{}, core.Invalid(core.Fields{"external_id": {core.Duplicate}})
		case err != nil:
			return Customer{}, err
		}
		err = noteEdit(tx, by, old.Customer, edited)
		if err == nil && replaces > 0 {
			err = replacedLinks(tx, by, id)
		}
		return edited, err
	})
}

// noteEdit writes an edit into the audit log, a change of the tags by itself, as the panel does.
func noteEdit(tx *db.Tx, by core.Actor, old, edited Customer) error {
	was, is := old.facts(), edited.facts()
	if keys := changedKeys(old.Metadata, edited.Metadata); len(keys) > 0 {
		was["metadata"], is["metadata"] = nil, strings.Join(keys, ", ")
	}
	if err := noteTags(tx, by, old.ID, old.Tags, edited.Tags); err != nil {
		return err
	}
	if reflect.DeepEqual(was, is) && !slices.Equal(old.Tags, edited.Tags) {
		return nil
	}
	return audit.Write(tx, by, audit.Entry{Action: "customer.edit", Subject: "customer", ID: old.ID.String(), Old: was, New: is})
}

// changedKeys returns the keys in which metadata differ, by name. The audit log has no values: they are a program's, and
// may be long.
func changedKeys(a, b core.Metadata) (keys []string) {
	for key, value := range a {
		if other, has := b[key]; !has || other != value {
			keys = append(keys, key)
		}
	}
	for key := range b {
		if _, had := a[key]; !had {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

func sameKey(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// lockedCustomer is a customer to change with their keys, and the country by which phone numbers are read.
type lockedCustomer struct {
	Customer
	PhoneKey string
	EmailKey *string
	Further  []FurtherKey
	Country  string

	PhoneOptional bool
}

func (c lockedCustomer) details() Details {
	return Details{
		FirstName: c.FirstName, LastName: c.LastName, Phone: c.Phone, PhoneKey: c.PhoneKey, Email: c.Email, EmailKey: c.EmailKey,
	}
}

func lockCustomer(ctx context.Context, tx *db.Tx, lockSQL string, id core.ID) (lockedCustomer, error) {
	if err := LockCountry(tx); err != nil {
		return lockedCustomer{}, err
	}
	return db.One[lockedCustomer](ctx, tx, lockSQL, db.Args{"id": id})
}

// facts returns what the audit log says about a customer.
func (c Customer) facts() map[string]any {
	facts := map[string]any{
		"first_name": c.FirstName, "last_name": c.LastName, "phone": c.Phone, "email": c.Email, "status": c.Status,
	}
	if c.ExternalID != nil {
		facts["external_id"] = *c.ExternalID
	}
	return facts
}
