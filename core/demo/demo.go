// Package demo makes the demo tenant: a café in Stockholm and its first year, with customers, sales, rewards,
// coupons and invoices. It uses the product's use cases with the clock set back, in one transaction, so an
// interrupted demo leaves nothing behind. The random numbers are seeded with the date, so that demos of the
// same day are alike.
package demo

import (
	"context"
	"errors"
	"fmt"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/fixture"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
)

// Slug is the demo's host name label.
const Slug = "demo"

// ErrNotDemo refuses to change a real business that has the demo's slug.
var ErrNotDemo = errors.New(`the slug "` + Slug + `" belongs to a tenant that is not the demo`)

// Made is the demo tenant.
type Made struct {
	Tenant  core.Tenant
	People  []staff.Person // the owner first
	Existed bool           // nothing was changed
}

// Options of a Fill. With the zero value, people can't sign in.
type Options struct {
	Password string                // of each person
	Progress func(done, total int) // counts the days
}

// Fill makes the demo tenant, or returns it unchanged if it exists. Of two concurrent calls, either may fail.
func Fill(ctx context.Context, d *db.DB, o Options) (Made, error) {
	t, err := find(ctx, d)
	if err == nil {
		people, err := findPeople(ctx, d, t)
		return Made{Tenant: t, People: people, Existed: true}, err
	}
	if !errors.Is(err, core.ErrNotFound) {
		return Made{}, err
	}
	var made Made
	err = db.Atomic(ctx, d, func(d *db.DB) error {
		return fixture.Run(func() {
			c := open(ctx, d)
			people := c.hire(ctx, o.Password)
			c.addTypes(ctx)
			c.addRewards(ctx)
			c.addCoupons(ctx)
			c.simulate(ctx, o.Progress)
			c.tidyUp(ctx)
			c.addInvoices(ctx)
			made = Made{Tenant: c.tenant, People: people}
		})
	})
	if err != nil {
		return Made{}, fmt.Errorf("make the demo: %w", err)
	}
	return made, nil
}

// Token creates a token with every ability for the demo's owner, and returns its secret. The owner gets the usual
// mail.
func Token(ctx context.Context, d *db.DB, tokens *token.Service, t core.Tenant) (string, error) {
	people, err := findPeople(ctx, d, t)
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
	created, err := tokens.Create(ctx, fixture.Actor(t, people[0]), token.New{Name: &name, Scopes: &scopes})
	return created.Secret, err
}

func system(t core.Tenant) core.Actor { return core.System(t, "demo") }

// isDemoSQL recognises the demo by its sends, which are never deleted and have keys that no form has.
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

const findPeopleSQL = `
	select id, role, name, email
	from loyalty.staff
	where tenant_id = @tenant_id
		and email_key = any(@emails::text[])
	order by id`

func findPeople(ctx context.Context, d *db.DB, t core.Tenant) ([]staff.Person, error) {
	var emails []string
	for _, p := range readFacts().Team {
		emails = append(emails, p.Email)
	}
	return db.ReadAll[staff.Person](ctx, d, system(t), findPeopleSQL, db.Args{"emails": emails})
}
