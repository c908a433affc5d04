package customer

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/usage"
)

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
		in, err := e.validate(old, tx.Now)
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
		birthYear, birthMonth, birthDay := in.Birthday.parts()
		edited, err := db.One[Customer](ctx, tx, updateSQL, db.Args{
			"id": id, "replaces": replaces, "first_name": in.FirstName, "last_name": in.LastName, "phone": in.Phone, "phone_key": in.PhoneKey,
			"email": in.Email, "email_key": in.EmailKey, "external_id": in.ExternalID, "metadata": in.Metadata.Stored(),
			"birth_year": birthYear, "birth_month": birthMonth, "birth_day": birthDay,
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
