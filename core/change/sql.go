package change

import (
	"slices"

	"example.com/loyalty/core"
)

// audited is what the actions of the audit log change of what the API shows. What creates a record, or changes a balance, is read from
// the record and from the ledger.
var audited = map[string]struct {
	kind Kind
	what What
}{
	"customer.edit":         {Customers, Changed},
	"customer.erase":        {Customers, Erased},
	"customer.merge":        {Customers, Changed}, // the one who is kept
	"customer.remove_key":   {Customers, Changed},
	"customer.replace_link": {Customers, Changed},
	"customer.subscribe":    {Customers, Changed},
	"customer.tag":          {Customers, Changed},
	"customer.unsubscribe":  {Customers, Changed},
	"redemption.fulfil":     {Redemptions, Changed},
	"redemption.reopen":     {Redemptions, Changed},
	"redemption.void":       {Redemptions, Voided},
	"transaction.refund":    {Transactions, Changed},
	"transaction.void":      {Transactions, Voided},
	"voucher.redeem":        {Vouchers, Changed},
	"voucher.return":        {Vouchers, Changed},
}

func actionsOf(kinds []Kind) []string {
	var actions []string
	for action, a := range audited {
		if slices.Contains(kinds, a.kind) {
			actions = append(actions, action)
		}
	}
	slices.Sort(actions)
	return actions
}

const settleSQL = `
	select loyalty.settle_changes()`

// row is a change with its place in the order: the ID of what made it.
type row struct {
	Place   core.ID
	Kind    Kind
	ID      *core.ID
	KeptID  *core.ID
	Action  string // of the audit log, with the subject's ULID; "": none
	Subject string
}

func (r row) change() Change {
	c := Change{Kind: r.Kind, What: Created, KeptID: r.KeptID, place: r.Place}
	if r.ID != nil {
		c.ID = *r.ID
	}
	switch a, of := audited[r.Action], r.Action; {
	case of == changedBalance:
		c.What = Changed
	case r.KeptID != nil:
		c.What = Merged
	case of != "":
		c.Kind, c.What = a.kind, a.what
		c.ID, _ = core.ParseID(r.Subject) // written by the product
	}
	return c
}

// changedBalance stands where an entry of the audit log has its action.
const changedBalance = "balance"

// Each source is read from its index, after a position and before the one that settleSQL set, and gives at most a page. The log is
// read action by action, so that entries of others aren't looked at.
const changesSQL = `
	with settled as materialized (
		select current_setting('app.settled')::uuid as before
	)
	select place, kind, id, kept_id, action, subject
	from (
		(
			select c.id as place, 'customer' as kind, c.id, null::uuid as kept_id, '' as action, '' as subject
			from loyalty.customer c
			where c.tenant_id = @tenant_id
				and @customer
				and c.id > @after
				and c.id < (select before from settled)
			order by c.id
			limit @limit
		)
		union all
		(
			select m.id, 'customer', m.merged_id, m.kept_id, '', ''
			from loyalty.customer_merge m
			where m.tenant_id = @tenant_id
				and @customer
				and m.id > @after
				and m.id < (select before from settled)
			order by m.id
			limit @limit
		)
		union all
		(
			select e.id, 'customer', e.customer_id, null, '` + changedBalance + `', ''
			from loyalty.ledger_entry e
			where e.tenant_id = @tenant_id
				and @customer
				and e.id > @after
				and e.id < (select before from settled)
			order by e.id
			limit @limit
		)
		union all
		(
			select t.id, 'transaction', t.id, null, '', ''
			from loyalty.transaction t
			where t.tenant_id = @tenant_id
				and @transaction
				and t.id > @after
				and t.id < (select before from settled)
			order by t.id
			limit @limit
		)
		union all
		(
			select r.id, 'redemption', r.id, null, '', ''
			from loyalty.redemption r
			where r.tenant_id = @tenant_id
				and @redemption
				and r.id > @after
				and r.id < (select before from settled)
			order by r.id
			limit @limit
		)
		union all
		(
			select v.id, 'voucher', v.id, null, '', ''
			from loyalty.voucher v
			where v.tenant_id = @tenant_id
				and @voucher
				and v.id > @after
				and v.id < (select before from settled)
			order by v.id
			limit @limit
		)
		union all
		select logged.id, '', null, null, wanted.action, logged.subject_id
		from unnest(@actions::text[]) wanted (action)
		cross join lateral (
			select a.id, a.subject_id
			from loyalty.audit_entry a
			where a.tenant_id = @tenant_id
				and a.action = wanted.action
				and a.id > @after
				and a.id < (select before from settled)
			order by a.id
			limit @limit
		) logged
	) change
	order by place
	limit @limit`
