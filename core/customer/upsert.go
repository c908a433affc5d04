package customer

import (
	"context"
	"errors"
	"maps"
	"strings"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/usage"
)

// Upserted is a customer and whether the upsert created them.
type Upserted struct {
	Customer
	Created bool
}

// Upsert returns the customer with an external ID, or else with a phone number, or else with an e-mail address, unchanged;
// if there is none, it creates one (specification §4). Only a customer who is found without an external ID gets the given
// one. Of concurrent upserts with the same phone number, one creates the customer and all return it. A new customer beyond
// the plan's limit is refused with usage.ErrLimit, and one that staff add before the business has a country with ErrNoCountry.
func (s *Service) Upsert(ctx context.Context, by core.Actor, n New, once *core.Once[Upserted]) (made core.Reply[Upserted], err error) {
	for range maxAttempts {
		made, err = db.In(ctx, s.db.TenantAs(by, core.Cashier), db.Once(ctx, by, once, func(tx *db.Tx) (Upserted, error) {
			in, err := n.Validate(by.Tenant.Country, by.Tenant.PhoneOptional, tx.Now)
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

// Enrol is Upsert in the caller's transaction, for customers who enter their own details. missing has the violations
// of other fields that they must enter. Everything is checked before any look-up, so that a refusal doesn't tell whether
// a phone number is known. The phone number of a new customer isn't checked yet. admit may refuse a new customer; nil: never.
func Enrol(ctx context.Context, tx *db.Tx, by core.Actor, n New, missing core.Fields, admit Admit) (Upserted, error) {
	in, wrong := n.Validate(by.Tenant.Country, false, tx.Now)
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

// getsExternalID keeps customers who can get the ID in given: not one of whom it is a further one, or who was erased, merged or
// given one meanwhile.
const getsExternalID = `
		and c.external_id is null
		and coalesce(c.phone_key, c.email_key) is not null
		and not exists (
			select
			from loyalty.customer_key
			where tenant_id = @tenant_id
				and kind = 'external_id'
				and key = given.external_id
		)`

const noteExternalIDSQL = `
	update loyalty.customer c
	set external_id = given.external_id,
		updated_at = @now
	from (values (@external_id::text)) given (external_id)
	cross join loyalty.account a` + lastMove + `
	where c.tenant_id = @tenant_id
		and c.id = @id` + getsExternalID + `
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
	return changed, true, logExternalID(tx, by, found.ID, id)
}

// logExternalID writes into the audit log that a customer got an external ID.
func logExternalID(tx *db.Tx, by core.Actor, id core.ID, externalID string) error {
	return audit.Write(tx, by, audit.Entry{
		Action: "customer.edit", Subject: "customer", ID: id.String(),
		Old: map[string]any{"external_id": nil}, New: map[string]any{"external_id": externalID},
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
	birthYear, birthMonth, birthDay := in.Birthday.parts()
	c, err := db.One[Customer](ctx, tx, insertSQL, db.Args{
		"id": core.NewID(tx.Now), "first_name": in.FirstName, "last_name": in.LastName,
		"phone": in.Phone, "phone_key": in.PhoneKey, "email": in.Email, "email_key": in.EmailKey,
		"external_id": in.ExternalID, "metadata": in.Metadata.Stored(),
		"birth_year": birthYear, "birth_month": birthMonth, "birth_day": birthDay,
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
