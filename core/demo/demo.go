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
	"example.com/loyalty/core/sample"
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
	made, err := Find(ctx, d)
	if !errors.Is(err, core.ErrNotFound) {
		return made, err
	}
	err = db.Run(ctx, d.Platform(), func(tx *db.Tx) error {
		d, err := tx.Parts(ctx)
		if err != nil {
			return err
		}
		return sample.Do(ctx, func(sample.Run) {
			c := open(ctx, d)
			made = Made{Tenant: c.tenant, People: c.hire(ctx, o.Password)}
			c.simulate(ctx, o.Progress)
			made.Tenant = c.tenant // with how its points end
			c.addInvoices(ctx)
		})
	})
	if err != nil {
		return Made{}, fmt.Errorf("make the demo: %w", err)
	}
	return made, nil
}

// findPeopleSQL also recognises the demo: its e-mail addresses are reserved for examples, and can't be changed.
const findPeopleSQL = `
	select id, role, name, email
	from loyalty.staff
	where tenant_id = @tenant_id
		and email_key = any(@emails::text[])
	order by id`

// Find returns the demo tenant, or core.ErrNotFound.
func Find(ctx context.Context, d *db.DB) (Made, error) {
	t, err := tenant.BySlug(ctx, d, Slug)
	if err != nil {
		return Made{}, err
	}
	var emails []string
	for _, p := range readFacts().Team {
		emails = append(emails, p.Email)
	}
	people, err := db.All[staff.Person](ctx, d.Tenant(system(t)), findPeopleSQL, db.Args{"emails": emails})
	if err == nil && len(people) == 0 {
		err = ErrNotDemo
	}
	return Made{Tenant: t, People: people, Existed: true}, err
}

// Token creates a token with every ability for the demo's owner, and returns its secret. The owner gets the usual
// mail.
func Token(ctx context.Context, tokens *token.Service, made Made) (string, error) {
	scopes := make([]string, len(token.Abilities))
	for i, ability := range token.Abilities {
		scopes[i] = string(ability)
	}
	created, err := core.Result(tokens.Create(ctx, sample.Actor(made.Tenant, made.People[0]), token.New{Name: "Demo", Scopes: &scopes}, nil))
	return created.Secret, err
}

func system(t core.Tenant) core.Actor { return core.System(t, "demo") }
