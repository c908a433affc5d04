package demo

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/transaction"
)

// Guests who are served at the same time. Each one's own sales come one after another,
// so that balances rise and fall in the order of the story.
const atOnce = 8

// filling is a story that is happening.
type filling struct {
	db     *db.DB
	tenant core.Tenant
	people []core.Actor // as in team
	types  []int64      // by kind
	done   map[string]recorded

	mu       sync.Mutex
	progress func(done, total int)
	steps    int
	total    int
}

// recorded is a sale that an earlier Fill came to.
type recorded struct {
	ExternalReference string
	ID                core.ID
	Status            transaction.Status
}

// fill lets the story happen, except what has happened already.
func fill(ctx context.Context, d *db.DB, t core.Tenant, s story, password string, progress func(done, total int)) (Made, error) {
	people, err := hire(ctx, d, t, s, password)
	if err != nil {
		return Made{}, fmt.Errorf("people of the demo: %w", err)
	}
	f := &filling{db: d, tenant: t, progress: progress, total: s.steps}
	for _, p := range people {
		f.people = append(f.people, actor(t, p))
	}
	if f.types, err = f.addTypes(ctx, s); err != nil {
		return Made{}, fmt.Errorf("transaction types of the demo: %w", err)
	}
	if f.done, err = f.recorded(ctx); err != nil {
		return Made{}, err
	}
	made := Made{Tenant: t, People: people, Customers: len(s.guests)}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(atOnce)
	for _, g := range s.guests {
		made.Sales += len(g.sales)
		made.Voided += g.voided()
		work.Go(func() error {
			if err := f.welcome(ctx, g); err != nil {
				return fmt.Errorf("%s %s in the demo: %w", g.first, g.last, err)
			}
			return nil
		})
	}
	return made, work.Wait()
}

func peopleOf(ctx context.Context, d *db.DB, t core.Tenant) ([]staff.Person, error) {
	emails := make([]string, len(team))
	for i, p := range team {
		emails[i] = p.Email
	}
	return db.ReadAll[staff.Person](ctx, d, system(t), peopleSQL, db.Args{"emails": emails})
}

func actor(t core.Tenant, p staff.Person) core.Actor {
	return core.Actor{
		Kind: core.ByStaff, ID: strconv.FormatInt(p.ID, 10), Name: p.Name, Tenant: t, StaffID: p.ID, Role: p.Role,
	}
}

// hire makes the team, all in one transaction.
func hire(ctx context.Context, d *db.DB, t core.Tenant, s story, password string) ([]staff.Person, error) {
	people, err := peopleOf(ctx, d, t)
	if err != nil || len(people) > 0 {
		return people, err
	}
	by := system(t)
	return db.InTenant(ctx, d.At(s.opened), by, func(tx *db.Tx) ([]staff.Person, error) {
		people = nil
		for _, n := range team {
			n.Password = password
			p, err := staff.Add(ctx, tx, by, n)
			if err != nil {
				return nil, err
			}
			people = append(people, p)
		}
		return people, nil
	})
}

func (f *filling) addTypes(ctx context.Context, s story) ([]int64, error) {
	sales := transaction.NewService(f.db.At(s.opened))
	have, err := sales.Types(ctx, f.people[0])
	if err != nil {
		return nil, err
	}
	byName := map[string]transaction.Type{}
	for _, t := range have {
		byName[t.Name] = t
	}
	ids := make([]int64, len(types))
	for i, wanted := range types {
		t, ok := byName[wanted.Name]
		if !ok {
			if t, err = sales.AddType(ctx, f.people[0], wanted.NewType); err != nil {
				return nil, err
			}
		}
		if wanted.ended && t.Active {
			later := transaction.NewService(f.db.At(s.opened.AddDate(0, 1, 0)))
			if _, err := later.SetTypeActive(ctx, f.people[0], t.ID, false); err != nil {
				return nil, err
			}
		}
		ids[i] = t.ID
	}
	return ids, nil
}

func (f *filling) recorded(ctx context.Context) (map[string]recorded, error) {
	rows, err := db.ReadAll[recorded](ctx, f.db, f.people[0], recordedSQL, nil)
	done := make(map[string]recorded, len(rows))
	for _, r := range rows {
		done[r.ExternalReference] = r
	}
	return done, err
}

// welcome makes a guest a customer and lets them buy. A customer who is there already
// is found by their phone.
func (f *filling) welcome(ctx context.Context, g guest) error {
	c, err := customer.NewService(f.db.At(g.joined)).Upsert(ctx, f.people[g.by], customer.New{
		FirstName: &g.first, LastName: &g.last, Phone: &g.phone, Email: g.email,
	})
	if err != nil {
		return err
	}
	f.step()
	if !g.left.IsZero() && c.Status == customer.Active {
		gone := customer.Edit{Status: core.Set(string(customer.Inactive))}
		if _, err := customer.NewService(f.db.At(g.left)).Edit(ctx, f.people[1], c.ID, gone); err != nil {
			return err
		}
	}
	id := c.ID.String()
	for _, s := range g.sales {
		if err := f.sell(ctx, id, s); err != nil {
			return fmt.Errorf("receipt %s: %w", s.receipt, err)
		}
	}
	return nil
}

// sell records a sale and voids it where it was rung up wrongly, each unless an
// earlier Fill did.
func (f *filling) sell(ctx context.Context, customerID string, s sale) error {
	by := core.Actor{Kind: core.ByToken, Name: "Ordering app", Tenant: f.tenant}
	if s.by != byOrderingApp {
		by = f.people[s.by]
	}
	r, ok := f.done[s.receipt]
	if !ok {
		made, err := transaction.NewService(f.db.At(s.at)).Record(ctx, by, transaction.New{
			CustomerID: &customerID, TransactionTypeID: &f.types[s.kind], SpendAmountCents: &s.cents,
			ExternalReference: &s.receipt, Source: s.source,
		})
		if err != nil {
			return err
		}
		r = recorded{ID: made.ID, Status: made.Status}
	}
	f.step()
	if s.voided.IsZero() {
		return nil
	}
	if r.Status == transaction.Completed {
		if _, err := transaction.NewService(f.db.At(s.voided)).Void(ctx, by, r.ID); err != nil {
			return err
		}
	}
	f.step()
	return nil
}

func (f *filling) step() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.steps++
	if f.progress != nil {
		f.progress(f.steps, f.total)
	}
}
