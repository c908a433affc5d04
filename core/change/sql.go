package change

import (
	"slices"

	"example.com/loyalty/core"
)

// audited is what the actions of the audit log change of what the API shows. What creates a record, or changes a balance, is read from
// the record, the ledger and the changes of levels.
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
	"voucher.restore":       {Vouchers, Changed},
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
	case of == unlogged:
		c.What = Changed
	case r.KeptID != nil:
		c.What = Merged
	case of != "":
		c.Kind, c.What = a.kind, a.what
		c.ID, _ = core.ParseID(r.Subject) // written by the product
	}
	return c
}

// unlogged stands where an entry of the audit log has its action, for changes of a balance or a level.
const unlogged = "unlogged"

// Each source is read from its index, after a position and before the one that settleSQL set, and gives at most a page. The log is
// read action by action, so that entries of others aren't looked at.
const changesSQL = `
	with settled as materialized (
		select current_setting('app.settled')::uuid as before
	)
	select place, kind, id, kept_id, action, subject
	from (
		(
			select id as place, 'customer' as kind, id, null::uuid as kept_id, '' as action, '' as subject
			from loyalty.customer
			where @customer
				and ` + onPage + `
		)
		union all
		(
			select id, 'customer', merged_id, kept_id, '', ''
			from loyalty.customer_merge
			where @customer
				and ` + onPage + `
		)
		union all
		(
			select id, 'customer', customer_id, null, '` + unlogged + `', ''
			from loyalty.ledger_entry
			where @customer
				and ` + onPage + `
		)
		union all
		(
			select id, 'customer', customer_id, null, '` + unlogged + `', ''
			from loyalty.level_change
			where @customer
				and ` + onPage + `
		)
		union all
		(
			select id, 'transaction', id, null, '', ''
			from loyalty.transaction
			where @transaction
				and ` + onPage + `
		)
		union all
		(
			select id, 'redemption', id, null, '', ''
			from loyalty.redemption
			where @redemption
				and ` + onPage + `
		)
		union all
		(
			select id, 'voucher', id, null, '', ''
			from loyalty.voucher
			where @voucher
				and ` + onPage + `
		)
		union all
		select logged.id, '', null, null, wanted.action, logged.subject_id
		from unnest(@actions::text[]) wanted (action)
		cross join lateral (
			select id, subject_id
			from loyalty.audit_entry
			where action = wanted.action
				and ` + onPage + `
		) logged
	) change
	order by place
	limit @limit`

// onPage keeps the rows of a source that may be on the page.
const onPage = `tenant_id = @tenant_id
				and id > @after
				and id < (select before from settled)
			order by id
			limit @limit`
