package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/demo"
	"example.com/loyalty/core/staff"
)

// newPassword returns 26 random letters and digits.
func newPassword() string { return rand.Text() }

type demoCmd struct{}

// Run creates the demo business.
func (demoCmd) Run(ctx context.Context) error {
	return withApp(ctx, func(a *app) error {
		made, password, err := a.fillDemo(ctx)
		if err != nil {
			return err
		}
		if made.Existed {
			fmt.Printf("the demo business already exists: %s\n", a.names.Tenant(made.Tenant.Slug))
		} else {
			fmt.Println("sign in at", a.names.Tenant(demo.Slug)+"/admin")
			fmt.Println("as", signIns(made.People))
			fmt.Println("with the password, shown once:", password)
		}
		secret, err := demo.Token(ctx, a.tokens, made)
		if err != nil {
			return err
		}
		fmt.Println("API token, shown once:", secret)
		return nil
	})
}

// fillDemo creates the demo business unless it exists, and returns the password of its people.
func (a *app) fillDemo(ctx context.Context) (made demo.Made, password string, err error) {
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
	return c.stored("demo-password", func() (string, error) { return newPassword(), nil })
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

// ensureAdmin creates the super-admin of a private installation on its first start, and
// returns their password, which is stored in the data directory.
func (a *app) ensureAdmin(ctx context.Context) (password string, err error) {
	if password, err = a.stored("admin-password", func() (string, error) { return newPassword(), nil }); err != nil {
		return "", err
	}
	by := core.System(core.Tenant{}, "start")
	_, err = staff.FindAdmin(ctx, a.db, by, demoAdminEmail)
	if errors.Is(err, core.ErrNotFound) {
		_, err = staff.CreateAdmin(ctx, a.db, by, staff.New{Name: demoAdminName, Email: demoAdminEmail, Password: password})
	}
	return password, err
}

// demoFacts are what the start-up screen shows of the demo.
type demoFacts struct {
	tenant   core.Tenant
	people   []staff.Person
	password string // of all people
	admin    string // the super-admin's password
	token    string
	customer customer.Customer // the newest
	typeID   int64             // a transaction type that earns points
}

// ensureDemo creates the demo business of a private installation on its first start. Its
// people's password and its token are stored in the data directory, so that every start can
// print them.
func (a *app) ensureDemo(ctx context.Context) (*demoFacts, error) {
	if !a.private() {
		return nil, nil //nolint:nilnil // no demo
	}
	made, password, err := a.fillDemo(ctx)
	if err != nil {
		return nil, err
	}
	facts := &demoFacts{tenant: made.Tenant, people: made.People, password: password}
	if facts.admin, err = a.ensureAdmin(ctx); err != nil {
		return nil, err
	}
	facts.token, err = a.stored("demo-token", func() (string, error) { return demo.Token(ctx, a.tokens, made) })
	if err != nil {
		return nil, err
	}
	by := core.System(made.Tenant, "start-up screen")
	latest, err := a.customers.List(ctx, by, customer.Filter{}, core.Page{Size: 1})
	if err != nil {
		return nil, err
	}
	types, err := a.transactions.Types(ctx, by)
	if err != nil || len(latest.Items) == 0 || len(types) == 0 {
		return nil, errors.Join(errors.New("the demo business is incomplete"), err)
	}
	facts.customer, facts.typeID = latest.Items[0], types[0].ID
	return facts, nil
}

// screen prints the addresses, the sign-ins and example requests.
func (a *app) screen(w io.Writer, d *demoFacts, took time.Duration) {
	base := a.names.Base()
	// Written at once, so that no log line comes in between.
	var text strings.Builder
	defer func() { fmt.Fprint(w, text.String()) }()
	say := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	say("")
	say("  Loyalty is running (ready in %s). Press Ctrl-C to stop it.", took.Round(10*time.Millisecond))
	say("")
	say("  API         %s/api/v1", base)
	say("  Reference   %s/docs", base)
	say("  Health      %s/readyz", base)
	if a.mailbox != nil {
		say("  Mail        %s (no mail server is set: e-mails appear here)", a.mailbox.Address())
	}
	if a.cluster != nil {
		say("  Database    private PostgreSQL in %s", a.cluster.Dir())
	}
	ca := a.authorityFile()
	if ca != "" {
		say("  Trust       %s (this machine's certificate authority: import it in your browser or client)", ca)
	}
	if d == nil {
		say("")
		return
	}
	curl := "curl"
	if ca != "" {
		curl += " --cacert '" + ca + "'"
	}
	curl += " -H 'Authorization: Bearer " + d.token + "'"
	say("")
	say("  Demo        %s, %s/admin", d.tenant.Name, a.names.Tenant(d.tenant.Slug))
	say("  Till        %s/till; customers join at %s/join", a.names.Tenant(d.tenant.Slug), a.names.Tenant(d.tenant.Slug))
	say("  Sign in     %s", signIns(d.people))
	say("  Password    %s (the initial one, for all)", d.password)
	say("  Token       %s", d.token)
	say("  Platform    %s/platform, sign in as %s with the password %s", base, demoAdminEmail, d.admin)
	say("")
	say("  Find or add a customer:")
	say("    %s -H 'Content-Type: application/json' %s/api/v1/customers \\", curl, base)
	say(`      -d '{"first_name":"Elsa","last_name":"Berg","phone":"08-465 004 12"}'`)
	say("  Record a sale of 12.50 for %s %s:", d.customer.FirstName, d.customer.LastName)
	say("    %s -H 'Content-Type: application/json' %s/api/v1/transactions \\", curl, base)
	say(`      -d '{"customer_ulid":"%s","transaction_type_id":%d,"spend_amount_cents":1250}'`, d.customer.ID, d.typeID)
	say("  Show the new balance:")
	say("    %s %s/api/v1/customers/%s", curl, base, d.customer.ID)
	say("")
}
