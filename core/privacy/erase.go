// Package privacy downloads and erases everything that is stored about a customer. It names every table
// with data about customers: a new one must be added here.
package privacy

import (
	"context"
	"slices"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/core/level"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/transaction"
)

// Service downloads and erases customers' data, for managers.
type Service struct{ db *db.DB }

// NewService makes the service.
func NewService(d *db.DB) *Service { return &Service{db: d} }

// The customers' rows take the calls to their node, in a distributed database.
const eraseSQL = `
	select loyalty.forget_customer(c.id, given.ulid), loyalty.forget_voucher_mails(c.id)
	from unnest(@ids::uuid[], @ulids::text[]) given (id, ulid)
	join loyalty.customer c on c.tenant_id = @tenant_id and c.id = given.id`

const (
	// The e-mail addresses that a customer has or had.
	addressesSQL = `
	select address
	from (
		select email
		from loyalty.customer
		where tenant_id = @tenant_id
			and id = @id
		union
		select text
		from loyalty.customer_key
		where tenant_id = @tenant_id
			and customer_id = @id
			and kind = 'email'
		union
		select fact ->> 'email'
		from loyalty.audit_entry e, lateral (values (e.old), (e.new)) given (fact)
		where e.tenant_id = @tenant_id
			and e.subject_kind = 'customer'
			and e.subject_id = any (@ulids::text[])
	) had (address)
	where address is not null
	order by address`

	// Of their keys, those that another customer has now.
	foreignKeysSQL = `
	select email_key as key
	from loyalty.customer
	where tenant_id = @tenant_id
		and email_key = any (@keys::text[])
		and id <> @id`
)

// Erase deletes a customer's personal data: name, phone number, e-mail address, external ID, metadata, note and tags in their record
// and in the audit log, e-mails to them, stored responses about them, what programs keep with their sales, why they were given a level, and files that
// wait to be imported, which may name them. Their sales and ledger entries stay, without a name, and they can't be activated again.
// Erasing again does nothing.
func (s *Service) Erase(ctx context.Context, by core.Actor, id core.ID) (customer.Customer, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (customer.Customer, error) {
		old, err := customer.Lock(ctx, tx, id)
		if err != nil || old.Erased {
			return old, err
		}
		everyone, err := withMerged(ctx, tx, id)
		if err != nil {
			return customer.Customer{}, err
		}
		addresses, err := findAddresses(ctx, tx, id, everyone)
		if err != nil {
			return customer.Customer{}, err
		}
		if err := mail.DeleteTo(tx, addresses); err != nil {
			return customer.Customer{}, err
		}
		if err := db.Queue(tx, eraseSQL, db.Args{"ids": everyone, "ulids": ulids(everyone)}); err != nil {
			return customer.Customer{}, err
		}
		if err := transaction.ForgetMetadata(tx, id); err != nil {
			return customer.Customer{}, err
		}
		if err := level.ForgetNotes(tx, everyone); err != nil {
			return customer.Customer{}, err
		}
		for _, one := range everyone {
			if err := db.DeleteResponsesNaming(tx, one); err != nil {
				return customer.Customer{}, err
			}
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

// withMerged returns a customer's ID and those of the duplicates that were merged into them.
func withMerged(ctx context.Context, tx *db.Tx, id core.ID) ([]core.ID, error) {
	merged, err := customer.MergedIn(ctx, tx, id)
	everyone := []core.ID{id}
	for _, m := range merged {
		everyone = append(everyone, m.ID)
	}
	return everyone, err
}

func ulids(ids []core.ID) []string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return texts
}

// findAddresses returns the e-mail addresses that a customer has or had, also as a duplicate, except those that
// another customer has now.
func findAddresses(ctx context.Context, tx *db.Tx, id core.ID, everyone []core.ID) ([]string, error) {
	found, err := db.All[struct{ Address string }](ctx, tx, addressesSQL, db.Args{"id": id, "ulids": ulids(everyone)})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	keys := make([]string, len(found))
	for i, f := range found {
		keys[i] = core.EmailKey(f.Address)
	}
	foreign, err := db.All[struct{ Key string }](ctx, tx, foreignKeysSQL, db.Args{"id": id, "keys": keys})
	if err != nil {
		return nil, err
	}
	var own []string
	for i, f := range found {
		if !slices.ContainsFunc(foreign, func(other struct{ Key string }) bool { return other.Key == keys[i] }) {
			own = append(own, f.Address)
		}
	}
	return own, nil
}
