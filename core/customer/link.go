package customer

import (
	"context"
	"errors"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

const (
	revokeLinksSQL = `
	update loyalty.customer c
	set link_version = c.link_version + 1,
		updated_at = @now
	from loyalty.account a` + lastMove + `
	where c.tenant_id = @tenant_id
		and c.id = @id
		and coalesce(c.phone_key, c.email_key) is not null
		and c.merged_into is null
		and a.tenant_id = c.tenant_id
		and a.customer_id = c.id
	returning ` + columns

	// The links of the customers who were merged into one lead to the same card.
	revokeMergedSQL = `
	update loyalty.customer
	set link_version = link_version + 1
	where tenant_id = @tenant_id
		and merged_into = @id`

	revokeAllSQL = `
	update loyalty.customer
	set link_version = link_version + 1
	where tenant_id = @tenant_id
		and (id = @id or merged_into = @id)`

	checkedSQL = `
	update loyalty.customer
	set unchecked_since = null
	where tenant_id = @tenant_id
		and id = @id
		and unchecked_since is not null`
)

// ReplaceLinks revokes the links to a customer's card and vouchers, and those of the customers who were merged into them.
// Links that unsubscribe stay. It refuses an erased customer (ErrErased).
func (s *Service) ReplaceLinks(ctx context.Context, by core.Actor, id core.ID) (Customer, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Cashier), func(tx *db.Tx) (Customer, error) {
		c, err := db.One[Customer](ctx, tx, revokeLinksSQL, db.Args{"id": id, "now": tx.Now})
		if errors.Is(err, core.ErrNotFound) {
			if c, err = FindIn(ctx, tx, id); err == nil {
				err = ErrErased
			}
		}
		if err != nil {
			return Customer{}, err
		}
		return c, replacedLinks(tx, by, id)
	})
}

// replacedLinks completes the replacement of the links of a customer whose own version was raised.
func replacedLinks(tx *db.Tx, by core.Actor, id core.ID) error {
	if err := db.Queue(tx, revokeMergedSQL, db.Args{"id": id}); err != nil {
		return err
	}
	return noteReplaced(tx, by, id)
}

func noteReplaced(tx *db.Tx, by core.Actor, id core.ID) error {
	return audit.Write(tx, by, audit.Entry{Action: "customer.replace_link", Subject: "customer", ID: id.String()})
}

// Checked queues that a cashier has checked the phone number of a card that was opened online.
func Checked(tx *db.Tx, id core.ID) error { return db.Queue(tx, checkedSQL, db.Args{"id": id}) }

// Distrust revokes links when two customers are merged of whom the staff know one, while the other's card was opened online
// and never checked: a stranger may have opened it, and its links would show them the points of the known customer.
func Distrust(tx *db.Tx, one, other Customer) error {
	if (one.UncheckedSince == nil) == (other.UncheckedSince == nil) {
		return nil
	}
	if one.UncheckedSince == nil {
		one = other
	}
	return db.Queue(tx, revokeAllSQL, db.Args{"id": one.ID})
}
