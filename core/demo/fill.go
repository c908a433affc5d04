package demo

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/staff"
)

// filling is a story that is happening.
type filling struct {
	db      *db.DB
	tenant  core.Tenant
	story   story
	people  []core.Actor // as in team
	types   []int64      // by kind
	rewards []offered    // as in rewards
	coupons []offered    // as in the story

	done     earlier
	served   []served // as the story's guests
	vouchers map[holder]issued

	mu       sync.Mutex
	progress func(done, total int)
	steps    int
}

// fill lets the story happen, except what has happened already.
func fill(ctx context.Context, d *db.DB, t core.Tenant, s story, o Options) (Made, error) {
	people, err := hire(ctx, d, t, s, o)
	if err != nil {
		return Made{}, fmt.Errorf("people of the demo: %w", err)
	}
	f, err := prepare(ctx, d, t, people, s)
	if err != nil {
		return Made{}, err
	}
	f.progress = o.Progress
	if err := f.happen(ctx); err != nil {
		return Made{}, err
	}
	return Made{Tenant: t, People: people, Counts: s.Counts}, f.withdraw(ctx)
}

// prepare makes what the café offers and asks what has happened already.
func prepare(ctx context.Context, d *db.DB, t core.Tenant, people []staff.Person, s story) (*filling, error) {
	f := &filling{db: d, tenant: t, story: s, served: make([]served, len(s.guests)), vouchers: map[holder]issued{}}
	for _, p := range people {
		f.people = append(f.people, actor(t, p))
	}
	if err := f.offer(ctx); err != nil {
		return nil, err
	}
	var err error
	f.done, err = f.recall(ctx)
	return f, err
}

// happen lets guests be served until a send, and on until the next. A segment is made
// of what the database holds: a send waits for all that comes before it, and what
// comes after it waits for the send.
func (f *filling) happen(ctx context.Context) error {
	for _, x := range f.story.sends {
		if err := f.serve(ctx, x.at); err != nil {
			return err
		}
		if err := f.send(ctx, x); err != nil {
			return fmt.Errorf("send %q: %w", x.formKey(), err)
		}
		f.step()
	}
	return f.serve(ctx, f.story.until)
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

// hire makes the team, all in one transaction, unless an earlier Fill did. Who asked is
// told at once: a Fill that is cut off later has made the password all the same.
func hire(ctx context.Context, d *db.DB, t core.Tenant, s story, o Options) ([]staff.Person, error) {
	people, err := peopleOf(ctx, d, t)
	if err != nil || len(people) > 0 {
		return people, err
	}
	by := system(t)
	people, err = db.InTenant(ctx, d.At(s.opened), by, func(tx *db.Tx) ([]staff.Person, error) {
		people = nil
		for _, n := range team {
			n.Password = o.Password
			p, err := staff.Add(ctx, tx, by, n)
			if err != nil {
				return nil, err
			}
			people = append(people, p)
		}
		return people, nil
	})
	if err == nil && o.Hired != nil {
		o.Hired(people)
	}
	return people, err
}

func (f *filling) step() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.steps++
	if f.progress != nil {
		f.progress(f.steps, f.story.steps())
	}
}
