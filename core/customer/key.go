package customer

import (
	"context"
	"slices"
	"strings"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// KeyKind is what a key was made of.
type KeyKind string

// The kinds. They are also the names of the fields.
const (
	PhoneKey KeyKind = "phone"
	EmailKey KeyKind = "email"

	ExternalKey KeyKind = "external_id"
)

// FurtherKey is a phone number, an e-mail address or an external ID by which a customer is found besides their own: a duplicate
// had it who was merged into them.
type FurtherKey struct {
	Kind KeyKind
	Key  string
	Text string // as written
}

// furtherKeys selects a customer's further keys, the newest first, as FurtherKey.
const furtherKeys = `
		coalesce((
			select jsonb_agg(jsonb_build_object('Kind', f.kind, 'Key', f.key, 'Text', f.text) order by f.created_at desc, f.kind desc, f.key)
			from loyalty.customer_key f
			where f.tenant_id = @tenant_id
				and f.customer_id = c.id
		), '[]') as further`

// searchText returns what searches look at.
func (in Details) searchText(further []FurtherKey) string {
	texts := []string{in.FirstName, in.LastName}
	if in.PhoneKey != "" {
		texts = append(texts, in.Phone, in.PhoneKey)
	}
	if in.Email != nil {
		texts = append(texts, *in.Email, *in.EmailKey)
	}
	for _, f := range further {
		if f.Kind != ExternalKey {
			texts = append(texts, f.Text, f.Key)
		}
	}
	for i := range texts {
		texts[i] = core.Fold(texts[i])
	}
	// Most addresses are their own keys.
	return strings.Join(slices.Compact(texts), " ")
}

// furtherBeside returns the further keys that aren't the customer's own by the new details.
func (c lockedCustomer) furtherBeside(own Details) []FurtherKey {
	return slices.DeleteFunc(slices.Clone(c.Further), func(f FurtherKey) bool {
		return f.Kind == PhoneKey && f.Key == own.PhoneKey || f.Kind == EmailKey && own.EmailKey != nil && f.Key == *own.EmailKey
	})
}

const (
	// A key that the customer takes as their own again is no further one.
	ownKeysSQL = `
	delete from loyalty.customer_key
	where tenant_id = @tenant_id
		and customer_id = @id
		and (kind = 'phone' and key = @phone_key or kind = 'email' and key = @email_key or kind = 'external_id' and key = @external_id)`

	holderSQL = `
	select f.kind, c.id, c.first_name, c.last_name
	from loyalty.customer_key f
	join loyalty.customer c on c.tenant_id = f.tenant_id and c.id = f.customer_id
	where f.tenant_id = @tenant_id
		and f.customer_id <> @id
		and (f.kind = 'phone' and f.key = @phone_key or f.kind = 'email' and f.key = @email_key or f.kind = 'external_id' and f.key = @external_id)`

	removeKeySQL = `
	delete from loyalty.customer_key
	where tenant_id = @tenant_id
		and customer_id = @id
		and kind = @kind
		and key = @key`

	setFoldedSQL = `
	update loyalty.customer
	set folded = @folded,
		updated_at = @now
	where tenant_id = @tenant_id
		and id = @id`

	deleteKeysSQL = `
	delete from loyalty.customer_key
	where tenant_id = @tenant_id
		and customer_id = @id`
)

// refuseFurther refuses keys that lead to another customer, who is named.
func refuseFurther(ctx context.Context, tx *db.Tx, keys db.Args) error {
	holders, err := db.All[struct {
		Kind                string
		ID                  core.ID
		FirstName, LastName string
	}](ctx, tx, holderSQL, keys)
	if err != nil {
		return err
	}
	taken := core.Fields{}
	for _, h := range holders {
		taken.Add(h.Kind, core.Violation{Rule: "taken_by", Other: h.FirstName + " " + h.LastName, Records: [2]core.ID{h.ID}})
	}
	if len(taken) == 0 {
		return core.ErrNotFound
	}
	return core.Invalid(taken)
}

// RemoveKey removes a further key: the customer is no longer found by it, and another may have it. Like any other change
// of a phone number or an e-mail address, it replaces the customer's links, unless it is an external ID. Removing one that
// they don't have does nothing.
func (s *Service) RemoveKey(ctx context.Context, by core.Actor, id core.ID, kind KeyKind, key string) (Customer, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (Customer, error) {
		old, err := lockCustomer(ctx, tx, lockSQL, id)
		if err != nil {
			return Customer{}, err
		}
		var left []FurtherKey
		var removed *FurtherKey
		for _, f := range old.Further {
			if f.Kind == kind && f.Key == key {
				removed = &f
			} else {
				left = append(left, f)
			}
		}
		if removed == nil {
			return old.Customer, nil
		}
		if err := db.Queue(tx, removeKeySQL, db.Args{"id": id, "kind": kind, "key": key}); err != nil {
			return Customer{}, err
		}
		if err := db.Queue(tx, setFoldedSQL, db.Args{"id": id, "folded": old.details().searchText(left), "now": tx.Now}); err != nil {
			return Customer{}, err
		}
		if kind != ExternalKey {
			if err := db.Queue(tx, revokeAllSQL, db.Args{"id": id}); err != nil {
				return Customer{}, err
			}
			if err := noteReplaced(tx, by, id); err != nil {
				return Customer{}, err
			}
		}
		return old.Customer, audit.Write(tx, by, audit.Entry{
			Action: "customer.remove_key", Subject: "customer", ID: id.String(), Old: map[string]any{string(kind): removed.Text},
		})
	})
}
