// Package privacy downloads and erases everything that is stored about a customer. It names every table
// with data about customers: a new one must be added here.
package privacy

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/core/mail"
)

// Service downloads and erases customers' data, for managers.
type Service struct{ db *db.DB }

// NewService makes the service.
func NewService(d *db.DB) *Service { return &Service{db: d} }

const forgetSQL = `
	select loyalty.forget_customer(@id, @ulid), loyalty.forget_voucher_mails(@id)`

// The e-mail addresses that a customer has or had, except those that another customer has now. The
// keys come from a subquery, so that the index is used.
const addressesSQL = `
	with known as materialized (
		select address, lower(address) as key
		from (
			select email
			from loyalty.customer
			where tenant_id = @tenant_id
				and id = @id
			union
			select fact ->> 'email'
			from loyalty.audit_entry e, lateral (values (e.old), (e.new)) given (fact)
			where e.tenant_id = @tenant_id
				and e.subject_kind = 'customer'
				and e.subject_id = @ulid
		) had (address)
		where address is not null
	)
	select k.address
	from known k
	left join loyalty.customer o on o.tenant_id = @tenant_id and o.email_key = k.key and o.id <> @id
	where o.id is null
	order by k.address`

// Erase deletes a customer's personal data: name, phone number, e-mail address, note and tags in their record
// and in the audit log, e-mails to them, stored responses about them, and files that wait to be imported, which
// may name them. Their sales and ledger entries stay, without a name, and they can't be activated again.
// Erasing again does nothing.
func (s *Service) Erase(ctx context.Context, by core.Actor, id core.ID) (customer.Customer, error) {
	return db.InTenantAs(ctx, s.db, by, core.Manager, func(tx *db.Tx) (customer.Customer, error) {
		old, err := customer.Lock(ctx, tx, id)
		if err != nil || old.Erased {
			return old, err
		}
		addresses, err := findAddresses(ctx, tx, id)
		if err != nil {
			return customer.Customer{}, err
		}
		if err := mail.Forget(tx, addresses); err != nil {
			return customer.Customer{}, err
		}
		if err := db.Queue(tx, forgetSQL, db.Args{"id": id, "ulid": id.String()}); err != nil {
			return customer.Customer{}, err
		}
		if err := db.DeleteResponsesNaming(tx, id); err != nil {
			return customer.Customer{}, err
		}
		if err := importing.DiscardWaiting(tx); err != nil {
			return customer.Customer{}, err
		}
		erased, err := customer.Anonymise(ctx, tx, id)
		if err != nil {
			return customer.Customer{}, err
		}
		return erased, audit.Write(tx, by, audit.Entry{
			Action: "customer.erase", Subject: "customer", ID: id.String(),
			Old: map[string]any{"status": old.Status}, New: map[string]any{"status": erased.Status},
		})
	})
}

// findAddresses returns the e-mail addresses that a customer has or had.
func findAddresses(ctx context.Context, tx *db.Tx, id core.ID) ([]string, error) {
	found, err := db.All[struct{ Address string }](ctx, tx, addressesSQL, db.Args{"id": id, "ulid": id.String()})
	list := make([]string, len(found))
	for i, f := range found {
		list[i] = f.Address
	}
	return list, err
}
