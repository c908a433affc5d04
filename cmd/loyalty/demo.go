package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/demo"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/views/links"
)

// newPassword returns 26 random letters and digits.
func newPassword() string { return rand.Text() }

// The files of a private installation with what its demo is signed in with. A person may have changed or revoked it since.
const (
	demoPasswordFile  = "demo-password"
	demoTokenFile     = "demo-token"
	adminPasswordFile = "admin-password"
)

type demoCmd struct{}

// Run creates the demo business.
func (demoCmd) Run(ctx context.Context) error {
	return onProduct(ctx, true, func(a *app) error {
		made, password, err := a.fillDemo(ctx)
		if err != nil {
			return err
		}
		able, err := a.whoHave(ctx, made, password)
		if err != nil {
			return err
		}
		if made.Existed {
			fmt.Printf("the demo business already exists: %s\n", a.names.Tenant(made.Tenant.Slug))
		}
		a.printSignIns(able, password)
		secret, err := demo.Token(ctx, a.Tokens, made)
		if err != nil {
			return err
		}
		fmt.Println("API token, shown once:", secret)
		return nil
	})
}

// printSignIns prints how to sign in to the demo, or how to get a password that works.
func (a *app) printSignIns(able []staff.Person, password string) {
	panel, file := a.names.Tenant(demo.Slug)+links.Panel, filepath.Join(a.DataDir, demoPasswordFile)
	switch {
	case len(able) == 0 && a.private():
		fmt.Printf("its first password was changed, or %s was deleted; reset it at %s/forgot\n", file, panel)
		return
	case len(able) == 0:
		fmt.Println("its password was shown when it was created")
		return
	}
	fmt.Println("sign in at", panel)
	fmt.Println("as", signIns(able))
	if a.private() {
		fmt.Printf("with the password, which is in %s: %s\n", file, password)
	} else {
		fmt.Println("with the password, shown once:", password)
	}
}

// fillDemo creates the demo business unless it exists, and returns the password that its people have, or had at first; "" if that
// isn't known.
func (a *app) fillDemo(ctx context.Context) (made demo.Made, password string, err error) {
	made, err = demo.Find(ctx, a.db)
	switch {
	case err == nil && a.private():
		password, err = a.kept(demoPasswordFile)
		return made, password, err
	case !errors.Is(err, core.ErrNotFound):
		return made, "", err
	}
	if password, err = a.demoPassword(); err != nil {
		return demo.Made{}, "", err
	}
	made, err = demo.Fill(ctx, a.db, demo.Options{Password: password, Progress: a.progress("creating the demo business")})
	if err != nil {
		err = fmt.Errorf("create the demo business: %w", err)
	}
	return made, password, err
}

// demoPassword returns a new password, or that in the data directory of a private installation.
func (c *config) demoPassword() (string, error) {
	if !c.private() {
		return newPassword(), nil
	}
	return c.stored(demoPasswordFile, func() (string, error) { return newPassword(), nil })
}

// whoHave returns, for each role, the first person of the demo who has a password: what is printed must work.
func (a *app) whoHave(ctx context.Context, made demo.Made, password string) (able []staff.Person, err error) {
	if password == "" {
		return nil, nil
	}
	seen := map[core.Role]bool{}
	for _, p := range made.People {
		if seen[p.Role] {
			continue
		}
		has := !made.Existed // they were just created with it
		if !has {
			if has, err = a.Auth.IsPassword(ctx, made.Tenant, p.Email, password); err != nil {
				return nil, err
			}
		}
		if has {
			able, seen[p.Role] = append(able, p), true
		}
	}
	return able, nil
}

// signIns lists the e-mail address of one person of each role.
func signIns(people []staff.Person) string {
	var addresses []string
	seen := map[core.Role]bool{}
	for _, p := range people {
		if !seen[p.Role] {
			addresses = append(addresses, fmt.Sprintf("%s (%s)", p.Email, p.Role))
		}
		seen[p.Role] = true
	}
	return strings.Join(addresses, ", ")
}

// The super-admin of a private installation.
const (
	demoAdminName  = "Platform admin"
	demoAdminEmail = "admin@loyalty.example"
)

// ensureAdmin creates the super-admin of a private installation on its first start, and returns their password, which is stored
// in the data directory; "" if it was changed since.
func (a *app) ensureAdmin(ctx context.Context) (password string, err error) {
	by := core.System(core.Tenant{}, "start")
	_, err = staff.FindAdmin(ctx, a.db, by, demoAdminEmail)
	if errors.Is(err, core.ErrNotFound) {
		if password, err = a.stored(adminPasswordFile, func() (string, error) { return newPassword(), nil }); err != nil {
			return "", err
		}
		_, err = staff.CreateAdmin(ctx, a.db, by, staff.New{Name: demoAdminName, Email: demoAdminEmail, Password: password})
		return password, err
	}
	if err == nil {
		password, err = a.kept(adminPasswordFile)
	}
	if err != nil || password == "" {
		return "", err
	}
	works, err := a.Auth.IsPassword(ctx, core.Tenant{}, demoAdminEmail, password)
	if err != nil || !works {
		return "", err
	}
	return password, nil
}

// demoToken returns the token of a private installation's demo, which is stored in the data directory; "" if it was revoked since.
func (a *app) demoToken(ctx context.Context, made demo.Made) (string, error) {
	secret, err := a.kept(demoTokenFile)
	if err != nil {
		return "", err
	}
	if secret == "" || !made.Existed { // of an earlier database
		if secret, err = demo.Token(ctx, a.Tokens, made); err != nil {
			return "", err
		}
		return secret, writeWhole(filepath.Join(a.DataDir, demoTokenFile), []byte(secret+"\n"))
	}
	works, err := a.Tokens.Works(ctx, secret)
	if err != nil || !works {
		return "", err
	}
	return secret, nil
}

// demoFacts are what the start-up screen shows of the demo. What doesn't work any more is left out.
type demoFacts struct {
	tenant   core.Tenant
	people   []staff.Person    // of every role
	able     []staff.Person    // those of them who have the password
	password string            // the first one; "" if it isn't known
	admin    string            // the super-admin's password; "" if it was changed
	token    string            // "" if it was revoked
	customer customer.Customer // the newest
	typeID   int64             // a transaction type that earns points
}

// ensureDemo creates the demo business of a private installation on its first start. Its people's password and its token are
// stored in the data directory, so that every start can print them.
func (a *app) ensureDemo(ctx context.Context) (*demoFacts, error) {
	if !a.private() {
		return nil, nil //nolint:nilnil // no demo
	}
	made, password, err := a.fillDemo(ctx)
	if err != nil {
		return nil, err
	}
	facts := &demoFacts{tenant: made.Tenant, people: made.People, password: password}
	if facts.able, err = a.whoHave(ctx, made, password); err != nil {
		return nil, err
	}
	if facts.admin, err = a.ensureAdmin(ctx); err != nil {
		return nil, err
	}
	if facts.token, err = a.demoToken(ctx, made); err != nil {
		return nil, err
	}
	by := core.System(made.Tenant, "start-up screen")
	latest, err := a.Customers.List(ctx, by, customer.Filter{}, core.Page{Size: 1})
	if err != nil {
		return nil, err
	}
	types, err := a.Transactions.Types(ctx, by)
	if err != nil || len(latest.Items) == 0 || len(types) == 0 {
		return nil, errors.Join(errors.New("the demo business is incomplete"), err)
	}
	facts.customer, facts.typeID = latest.Items[0], types[0].ID
	return facts, nil
}
