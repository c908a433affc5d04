// Package change lists what changed in a business, in an order in which a reader skips nothing and which costs a sale nothing:
// it is read from the records themselves, the ledger, the changes of levels and the audit log, whose IDs hold the time. It reads tables of other
// packages and writes none.
//
// A transaction's records become visible when it commits, some later than others with a higher ID. So a page ends before the
// ID from which on records may still be missing (loyalty.settle_changes): about two seconds ago, or at the begin of the oldest
// transaction that writes.
package change

import (
	"context"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
)

// Kind is the kind of a record.
type Kind string

// The kinds whose changes are listed.
const (
	Customers    Kind = "customer"
	Transactions Kind = "transaction"
	Redemptions  Kind = "redemption"
	Vouchers     Kind = "voucher"
)

// Kinds are all of them.
var Kinds = []Kind{Customers, Transactions, Redemptions, Vouchers}

// What happened to a record.
type What string

// The things that happen. A customer is also changed by every change of a balance or their level.
const (
	Created What = "created"
	Changed What = "changed"
	Voided  What = "voided"
	Merged  What = "merged" // a customer, into the one who is kept, with all that is theirs
	Erased  What = "erased"
)

// Change is something that happened to a record.
type Change struct {
	Kind   Kind
	ID     core.ID // of the record
	What   What
	KeptID *core.ID // of a customer who was merged: into whom, who may have been merged later

	place core.ID // of the change
}

// At returns when it happened.
func (c Change) At() time.Time { return c.place.Time() }

const (
	// cursorAge is how long a position is valid: the audit log keeps its entries longer.
	cursorAge = 60 * 24 * time.Hour
	// RetryAfter is when a reader who has read everything should ask again.
	RetryAfter = 5 * time.Second
)

// ErrCursorExpired refuses a position that is too old to have all changes since.
var ErrCursorExpired = core.Refuse("cursor-expired", "This cursor is older than 60 days. Load all records again, and begin with a new cursor.")

// Service lists changes.
type Service struct {
	db           *db.DB
	customers    *customer.Service
	rewards      *reward.Service
	transactions *transaction.Service
}

// NewService makes the service.
func NewService(d *db.DB, customers *customer.Service, rewards *reward.Service, transactions *transaction.Service) *Service {
	return &Service{db: d, customers: customers, rewards: rewards, transactions: transactions}
}

// List returns a page of what changed in records of some kinds, the oldest first: after the page's cursor, or since an instant. One of
// more than 60 days ago is the beginning, and one that is still to come is now. The cursor of the result (core.List.Resume) is where to go on, now or later. Of several changes
// of a record on a page that are the same, it has the last.
func (s *Service) List(ctx context.Context, by core.Actor, kinds []Kind, since *time.Time, p core.Page) (core.List[Change], error) {
	after, err := s.position(since, p)
	if err != nil {
		return core.List[Change]{}, err
	}
	var (
		until core.ID
		rows  []row
	)
	args := db.Args{"after": after, "limit": p.Limit()}
	for _, kind := range Kinds {
		args[string(kind)] = slices.Contains(kinds, kind)
	}
	args["actions"] = actionsOf(kinds)
	err = db.Together(ctx, s.db.Tenant(by), db.OneInto(&until, settleSQL, nil), db.AllInto(&rows, changesSQL, args))
	if err != nil {
		return core.List[Change]{}, err
	}
	return s.page(p, rows, later(after, until)), nil
}

// position returns the ID after which a page begins.
func (s *Service) position(since *time.Time, p core.Page) (core.ID, error) {
	check := core.NewCheck(p.Malformed)
	if p.Back() && check.OK("cursor") {
		check.Add("cursor", core.InvalidChoice)
	}
	if err := check.Err(); err != nil {
		return core.ID{}, err
	}
	now := s.db.Now()
	oldest := now.Add(-cursorAge)
	switch {
	case p.Cursor == nil && (since == nil || since.Before(oldest)):
		return core.ID{}, nil
	case p.Cursor == nil && since.After(now): // of a clock that is ahead
		return core.FirstID(now), nil
	case p.Cursor == nil:
		return core.FirstID(*since), nil
	case p.Cursor.At.Before(oldest):
		return core.ID{}, ErrCursorExpired
	}
	return p.Cursor.ID, nil
}

// page returns the page of the rows, up to one more than it has room for, where reading can go on at end if they are all.
func (s *Service) page(p core.Page, rows []row, end core.ID) core.List[Change] {
	var l core.List[Change]
	more := len(rows) > p.Size
	if more {
		rows = rows[:p.Size]
		end = rows[p.Size-1].Place
	}
	// The time of a cursor is the hour in which it was given.
	l.Resume = &core.Cursor{At: s.db.Now().Truncate(time.Hour), ID: end}
	if more {
		l.Next = l.Resume
	}
	type same struct {
		kind Kind
		id   core.ID
		what What
	}
	last := map[same]int{}
	changes := make([]Change, len(rows))
	for i, r := range rows {
		changes[i] = r.change()
		last[same{changes[i].Kind, changes[i].ID, changes[i].What}] = i
	}
	for i, c := range changes {
		if last[same{c.Kind, c.ID, c.What}] == i {
			l.Items = append(l.Items, c)
		}
	}
	return l
}

func later(a, b core.ID) core.ID {
	if slices.Compare(a[:], b[:]) > 0 {
		return a
	}
	return b
}

// Customers returns a page of the customers that match the filter: those that changed since an instant (zero: the beginning) as they are
// now, in the order of their changes, or all with a nil since, the newest first. In the order of changes, one who changes again comes
// again, and a page may have fewer customers than there is room for, and still have a next one.
func (s *Service) Customers(ctx context.Context, by core.Actor, f customer.Filter, since *time.Time, p core.Page) (core.List[customer.Customer], error) {
	if since == nil {
		return s.customers.List(ctx, by, f, p)
	}
	return records(ctx, s, by, Customers, since, p, func(ids []core.ID) ([]customer.Customer, error) { return s.customers.Among(ctx, by, f, ids) },
		func(c customer.Customer) core.ID { return c.ID })
}

// Transactions is Customers for sales.
func (s *Service) Transactions(ctx context.Context, by core.Actor, f transaction.Filter, since *time.Time, p core.Page) (core.List[transaction.Transaction], error) {
	if since == nil {
		return s.transactions.Recorded(ctx, by, f, p)
	}
	return records(ctx, s, by, Transactions, since, p, func(ids []core.ID) ([]transaction.Transaction, error) { return s.transactions.Among(ctx, by, f, ids) },
		func(t transaction.Transaction) core.ID { return t.ID })
}

// Redemptions is Customers for redemptions.
func (s *Service) Redemptions(ctx context.Context, by core.Actor, f reward.RedemptionFilter, since *time.Time, p core.Page) (core.List[reward.NamedRedemption], error) {
	if since == nil {
		return s.rewards.ListRedemptions(ctx, by, f, core.Newest, p)
	}
	return records(ctx, s, by, Redemptions, since, p, func(ids []core.ID) ([]reward.NamedRedemption, error) { return s.rewards.Among(ctx, by, f, ids) },
		func(r reward.NamedRedemption) core.ID { return r.ID })
}

// records returns a page of the records of a kind that changed.
func records[T any](ctx context.Context, s *Service, by core.Actor, kind Kind, since *time.Time, p core.Page, among func([]core.ID) ([]T, error), id func(T) core.ID) (core.List[T], error) {
	changes, err := s.List(ctx, by, []Kind{kind}, since, p)
	if err != nil {
		return core.List[T]{}, err
	}
	var ids []core.ID
	seen := map[core.ID]bool{}
	for _, c := range changes.Items {
		if !seen[c.ID] {
			seen[c.ID], ids = true, append(ids, c.ID)
		}
	}
	found, err := among(ids)
	if err != nil {
		return core.List[T]{}, err
	}
	byID := make(map[core.ID]T, len(found))
	for _, one := range found {
		byID[id(one)] = one
	}
	l := core.List[T]{Next: changes.Next, Resume: changes.Resume}
	for _, wanted := range ids {
		if one, ok := byID[wanted]; ok {
			l.Items = append(l.Items, one)
		}
	}
	return l, nil
}
