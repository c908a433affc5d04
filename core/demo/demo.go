// Package demo makes the demo tenant: a café in Stockholm and its first year, with customers,
// sales, rewards, coupons and invoices. Everything goes through the same use cases as in real
// life, with the clock set back, and is committed at once: a demo that was interrupted leaves
// nothing behind. What happens is drawn at random with the day as the seed, so the demos of one
// moment are alike.
package demo

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
)

// Slug is the demo's label in front of the host.
const Slug = "demo"

// ErrNotDemo refuses to touch a business that has the demo's slug and is a real one.
var ErrNotDemo = errors.New(`the slug "` + Slug + `" belongs to a tenant that is not the demo`)

// Made is the demo tenant.
type Made struct {
	Tenant  core.Tenant
	People  []staff.Person // the owner first
	Existed bool           // it was there before; nothing was changed
}

// Options of a Fill. The zero value makes people who can't sign in.
type Options struct {
	Password string                // of each of the people
	Progress func(done, total int) // counts the days
}

// Fill makes the demo tenant. One that exists is returned unchanged. Of two calls at once,
// either may be refused.
func Fill(ctx context.Context, d *db.DB, o Options) (Made, error) {
	t, err := find(ctx, d)
	if err == nil {
		people, err := peopleOf(ctx, d, t)
		return Made{Tenant: t, People: people, Existed: true}, err
	}
	if !errors.Is(err, core.ErrNotFound) {
		return Made{}, err
	}
	var made Made
	err = db.Atomic(ctx, d, func(d *db.DB) error {
		made, err = fill(ctx, d, o)
		return err
	})
	return made, err
}

// failure is an error of a use case, as must panics with it.
type failure struct{ error }

// must returns what a use case returned. The demo has one answer to an error, wherever it happens:
// fill returns it, and nothing is committed.
func must[T any](v T, err error) T {
	if err != nil {
		panic(failure{err})
	}
	return v
}

func fill(ctx context.Context, d *db.DB, o Options) (made Made, err error) {
	defer func() {
		switch f := recover().(type) {
		case nil:
		case failure:
			err = fmt.Errorf("make the demo: %w", f.error)
		default:
			panic(f)
		}
	}()
	c := open(ctx, d)
	people := c.hire(ctx, o.Password)
	c.addTypes(ctx)
	c.addRewards(ctx)
	c.addCoupons(ctx)
	c.live(ctx, o.Progress)
	c.tidyUp(ctx)
	c.addInvoices(ctx)
	return Made{Tenant: c.tenant, People: people}, nil
}

// Token makes a token with every ability for the demo's owner, who is told by mail
// like anybody else, and returns its secret.
func Token(ctx context.Context, d *db.DB, tokens *token.Service, t core.Tenant) (string, error) {
	people, err := peopleOf(ctx, d, t)
	if err != nil {
		return "", err
	}
	if len(people) == 0 {
		return "", ErrNotDemo
	}
	name, scopes := "Demo", make([]string, len(token.Abilities))
	for i, ability := range token.Abilities {
		scopes[i] = string(ability)
	}
	created, err := tokens.Create(ctx, actor(t, people[0]), token.New{Name: &name, Scopes: &scopes})
	return created.Secret, err
}

func system(t core.Tenant) core.Actor { return core.System(t, "demo") }

func actor(t core.Tenant, p staff.Person) core.Actor {
	return core.Actor{
		Kind: core.ByStaff, ID: strconv.FormatInt(p.ID, 10), Name: p.Name, Tenant: t, StaffID: p.ID, Role: p.Role,
	}
}

// isDemoSQL recognises the demo by its sends, which are never deleted and have keys that no form
// makes.
const isDemoSQL = `
	select count(*) > 0 as demo
	from loyalty.coupon_send
	where tenant_id = @tenant_id
		and starts_with(form_key, 'demo ')`

func find(ctx context.Context, d *db.DB) (core.Tenant, error) {
	t, err := tenant.BySlug(ctx, d, Slug)
	if err != nil {
		return t, err
	}
	is, err := db.ReadOne[struct{ Demo bool }](ctx, d, system(t), isDemoSQL, nil)
	if err == nil && !is.Demo {
		err = ErrNotDemo
	}
	return t, err
}

const peopleSQL = `
	select id, role, name, email
	from loyalty.staff
	where tenant_id = @tenant_id
		and email_key = any(@emails::text[])
	order by id`

func peopleOf(ctx context.Context, d *db.DB, t core.Tenant) ([]staff.Person, error) {
	emails := make([]string, len(team))
	for i, p := range team {
		emails[i] = p.Email
	}
	return db.ReadAll[staff.Person](ctx, d, system(t), peopleSQL, db.Args{"emails": emails})
}
