package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"example.com/loyalty/core/db"
	"example.com/loyalty/core/sandbox"
	"example.com/loyalty/core/token"
	checks "example.com/loyalty/core/verify"
)

// withApp runs a command on the opened product.
func withApp(ctx context.Context, fn func(a *app) error) error { return onProduct(ctx, false, fn) }

// onProduct may also create a private installation, for the command to fill.
func onProduct(ctx context.Context, creates bool, fn func(a *app) error) error {
	c, err := settings()
	if err != nil {
		return err
	}
	c.creates = creates
	a, err := open(ctx, c, c.logger())
	if err != nil {
		return err
	}
	defer a.close(ctx)
	return fn(a)
}

type migrate struct {
	Up     migrateUp     `cmd:"" help:"Apply missing migrations."`
	Status migrateStatus `cmd:"" help:"List the migrations and when they were applied."`
}

type migrateUp struct{}

// Run applies missing migrations. Any command that opens the private database does so, too.
func (migrateUp) Run(ctx context.Context) error {
	return onDatabase(ctx, true, func(url string) error {
		steps, err := db.Migrate(ctx, url)
		for _, s := range steps {
			fmt.Println("applied:", s.Name)
		}
		if err != nil {
			return err
		}
		distributed, err := db.Distribute(ctx, url)
		for _, table := range distributed {
			fmt.Println("distributed:", table)
		}
		if err == nil && len(steps)+len(distributed) == 0 {
			fmt.Println("the database is up to date")
		}
		return err
	})
}

type migrateStatus struct{}

// Run lists the migrations.
func (migrateStatus) Run(ctx context.Context) error {
	return onDatabase(ctx, false, func(url string) error {
		steps, err := db.MigrationStatus(ctx, url)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		for _, s := range steps {
			when := "missing"
			if !s.Applied.IsZero() {
				when = s.Applied.UTC().Format("2006-01-02 15:04 UTC")
			}
			fmt.Fprintf(table, "%s\t%s\n", s.Name, when)
		}
		return table.Flush()
	})
}

// onDatabase runs a command with the owner's login.
func onDatabase(ctx context.Context, waits bool, fn func(url string) error) error {
	c, err := settings()
	if err != nil {
		return err
	}
	c.waits = waits
	log := c.logger()
	urls, cluster, err := c.database(ctx, log)
	if err != nil {
		return err
	}
	if err = db.Await(ctx, urls.owner, c.patience(), log); err == nil {
		err = fn(urls.owner)
	}
	if cluster != nil {
		err = stopCluster(ctx, cluster, err)
	}
	return err
}

type verify struct{}

// Run recomputes everything and prints a line for each check.
func (verify) Run(ctx context.Context) error {
	return withApp(ctx, func(a *app) error {
		results, err := checks.Run(ctx, a.db)
		if err != nil {
			return err
		}
		wrong := int64(0)
		table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		for _, r := range results {
			verdict := "ok"
			if r.Wrong > 0 {
				verdict = fmt.Sprintf("%d WRONG: %s", r.Wrong, strings.Join(r.Examples, ", "))
			}
			fmt.Fprintf(table, "%s\t%d checked\t%s\n", r.Check, r.Counted, verdict)
			wrong += r.Wrong
		}
		if err := table.Flush(); err != nil {
			return err
		}
		if wrong > 0 {
			fmt.Printf("%d differences\n", wrong)
			return exit(1)
		}
		fmt.Println("no differences")
		return nil
	})
}

// sandboxMaker makes businesses for tests of an integration.
func (a *app) sandboxMaker() sandbox.Maker {
	return sandbox.Maker{
		Services: a.Services, DB: a.db, Keys: a.keys,
		BaseURL: a.names.Base(), TenantURL: a.names.Tenant, CAFile: a.authorityFile(),
		PostScope: token.Ability(a.CreateScope),
	}
}

type sandboxCmd struct {
	Out string `required:"" help:"The file to write."`
}

var errNoSandbox = errors.New("a sandbox creates businesses with known passwords: to create it in the database of DATABASE_URL, set LOYALTY_SANDBOX=1")

// Run creates a sandbox and writes its tokens to a file that only its owner can read.
func (cmd sandboxCmd) Run(ctx context.Context) error {
	return onProduct(ctx, true, func(a *app) error {
		if !a.Sandbox && !a.private() {
			return errNoSandbox
		}
		file, err := a.sandboxMaker().Make(ctx)
		if err != nil {
			return err
		}
		text, err := json.MarshalIndent(file, "", "  ")
		if err != nil {
			return err
		}
		if err := writePrivately(cmd.Out, append(text, '\n')); err != nil {
			return err
		}
		fmt.Printf("wrote %s: %s and %s\n", cmd.Out, file.Tenants[0].Slug, file.Tenants[1].Slug)
		return nil
	})
}

// writePrivately writes a file that only its owner can read, even if the file existed with
// other permissions.
func writePrivately(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if info, statErr := f.Stat(); statErr == nil && info.Mode().IsRegular() { // not a terminal or a pipe
		err = f.Chmod(0o600)
	}
	if err == nil {
		_, err = f.Write(text)
	}
	return errors.Join(err, f.Close())
}
