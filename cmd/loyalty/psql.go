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
	Write  bool   `help:"Lets statements change its data. Without it they only read."`
}

// Run opens psql as the role that serves, inside one tenant: it shows the data as
// that business sees it, and nothing else. The business's log says who did so.
func (cmd psql) Run(ctx context.Context) error {
	return with(ctx, func(a *app) error {
		t, err := tenant.OpenDirectly(ctx, a.db, cmd.Tenant, operator(), cmd.Write)
		if errors.Is(err, core.ErrNotFound) {
			return fmt.Errorf("there is no business %q", cmd.Tenant)
		}
		if err != nil {
			return err
		}
		login, err := url.Parse(a.logins.owner)
		if err != nil {
			return err
		}
		environment := append(os.Environ(),
			fmt.Sprintf("PGOPTIONS=-c role=%s -c app.tenant_id=%d -c search_path=loyalty -c default_transaction_read_only=%t", db.Role, t.ID, !cmd.Write))
		if password, set := login.User.Password(); set {
			// Everybody on the machine can read the arguments of a process.
			login.User = url.User(login.User.Username())
			environment = append(environment, "PGPASSWORD="+password)
		}
		// Ctrl-C is psql's: there it cancels a statement.
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
		shell := exec.CommandContext(context.WithoutCancel(ctx), "psql", login.String())
		shell.Env = environment
		shell.Stdin, shell.Stdout, shell.Stderr = os.Stdin, os.Stdout, os.Stderr
		return shell.Run()
	})
}

// operator is who runs the command: their login on this machine.
func operator() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "an operator"
}
