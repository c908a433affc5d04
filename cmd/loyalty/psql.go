package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"os/user"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/tenant"
)

type psql struct {
	Tenant string `required:"" help:"The business's slug."`
	Write  bool   `help:"Allow changes. Without it, psql is read-only."`
}

// Run opens psql inside one tenant, with the serving role: it shows only that business's data.
// The business's audit log records who opened it.
func (cmd psql) Run(ctx context.Context) error {
	return withApp(ctx, func(a *app) error {
		t, err := tenant.OpenDirectly(ctx, a.db, cmd.Tenant, operator(), cmd.Write)
		if errors.Is(err, core.ErrNotFound) {
			return fmt.Errorf("no business with the slug %s", cmd.Tenant)
		}
		if err != nil {
			return err
		}
		login, err := url.Parse(a.urls.owner)
		if err != nil {
			return err
		}
		environment := append(os.Environ(),
			fmt.Sprintf("PGOPTIONS=-c role=%s -c app.tenant_id=%d -c search_path=loyalty -c default_transaction_read_only=%t", db.Role, t.ID, !cmd.Write))
		if password, set := login.User.Password(); set {
			// Other users of the machine can read the arguments of a process.
			login.User = url.User(login.User.Username())
			environment = append(environment, "PGPASSWORD="+password)
		}
		if a.db.IsDistributed() {
			start, err := writeStart(t.ID)
			if err != nil {
				return err
			}
			defer os.Remove(start) //nolint:errcheck // a temporary file
			environment = append(environment, "PSQLRC="+start)
		}
		// In psql, Ctrl-C cancels a statement.
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
		shell := exec.CommandContext(context.WithoutCancel(ctx), "psql", login.String())
		shell.Env = environment
		shell.Stdin, shell.Stdout, shell.Stderr = os.Stdin, os.Stdout, os.Stderr
		return shell.Run()
	})
}

// inDistributed is what psql runs first in a distributed database, whose nodes learn the tenant only in a transaction.
const inDistributed = `
\set QUIET on
\set enter 'begin \\; set local app.tenant_id = %d;'
\set ON_ERROR_ROLLBACK on
:enter
\echo 'This database is distributed: rows are seen in a transaction. It has begun. Enter "commit;" to keep changes, ":enter" to begin another.'
\unset QUIET
`

// writeStart writes inDistributed to a temporary file.
func writeStart(id core.TenantID) (file string, err error) {
	f, err := os.CreateTemp("", "loyalty-psql-*")
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(f, inDistributed, id)
	return f.Name(), errors.Join(err, f.Close())
}

// operator returns the user name of the person who runs the command.
func operator() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "an operator"
}
