package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transfer"
)

// suffix ends the names of exported files.
const suffix = ".jsonl.gz"

type exportCmd struct {
	Slugs   []string `arg:"" optional:"" name:"slug" help:"The slugs of the businesses."`
	All     bool     `help:"Export all businesses."`
	Out     string   `default:"." placeholder:"DIR" help:"The directory to write to, one file a business."`
	Suspend string   `placeholder:"REASON" help:"Suspend each business first, and e-mail its owner this reason."`
}

var (
	errWhichBusinesses = errors.New("name the slugs of the businesses to export, or add --all")
	errNoBusinesses    = errors.New("this installation has no businesses to export")
)

// Run writes a file for each business.
func (cmd exportCmd) Run(ctx context.Context) error {
	if cmd.All == (len(cmd.Slugs) > 0) {
		return errWhichBusinesses
	}
	if err := os.MkdirAll(cmd.Out, 0o700); err != nil { // before anything is suspended
		return err
	}
	return withApp(ctx, func(a *app) error {
		mover, slugs := a.mover(), cmd.Slugs
		if cmd.All {
			var err error
			if slugs, err = mover.Slugs(ctx); err != nil {
				return err
			}
		}
		if len(slugs) == 0 {
			return errNoBusinesses
		}
		if err := cmd.suspend(ctx, a, slugs); err != nil {
			return err
		}
		var active []string
		for _, slug := range slugs {
			h, err := cmd.export(ctx, mover, slug)
			if err != nil {
				return err
			}
			if h.SuspendedAt == nil {
				active = append(active, slug)
			}
		}
		if len(active) > 0 {
			fmt.Printf("Not suspended: %s. The files don't have what happens there from now on. To move a business for good, "+
				"export it with --suspend.\n", strings.Join(active, ", "))
		}
		fmt.Println("The files contain personal data: delete them after the import.")
		return nil
	})
}

// suspend suspends all of the businesses before the first is exported, so that they wait for open requests together.
func (cmd exportCmd) suspend(ctx context.Context, a *app, slugs []string) error {
	for _, slug := range slugs {
		t, err := tenant.BySlug(ctx, a.db, slug)
		if errors.Is(err, core.ErrNotFound) {
			return fmt.Errorf("no business with the slug %s", slug)
		}
		if err == nil && cmd.Suspend != "" {
			_, err = a.Tenants.Suspend(ctx, core.System(core.Tenant{}, operator()), t.ID, cmd.Suspend)
		}
		if err != nil && !errors.Is(err, tenant.ErrSuspended) {
			return err
		}
	}
	return nil
}

func (cmd exportCmd) export(ctx context.Context, mover transfer.Mover, slug string) (h transfer.Header, err error) {
	name := filepath.Join(cmd.Out, slug+suffix)
	err = writeWholly(name, func(w io.Writer) (err error) {
		h, err = mover.Export(ctx, slug, w)
		return err
	})
	if err != nil {
		return h, fmt.Errorf("export %s: %w", slug, err)
	}
	fmt.Printf("exported %s to %s: %s\n", slug, name, h.Facts)
	for claim, wrong := range h.Differences {
		fmt.Printf("%s: %d records differ, as `loyalty verify` shows; they are exported as they are: %s\n", slug, wrong, claim)
	}
	return h, nil
}

type importCmd struct {
	Files    []string `arg:"" name:"file" help:"Files of loyalty export."`
	As       string   `placeholder:"SLUG" help:"Import the business under another slug."`
	Plan     string   `placeholder:"NAME" help:"Give the businesses this plan. By default they keep the plan with their plan's name."`
	Renumber bool     `help:"Import businesses although others have their numbers here: their links and API tokens stop working."`
	Activate bool     `help:"End the suspension of the businesses."`
}

// Run imports each file in a transaction of its own.
func (cmd importCmd) Run(ctx context.Context) error {
	if cmd.As != "" && len(cmd.Files) > 1 {
		return errors.New("--as is for one file: import the others by themselves")
	}
	return withApp(ctx, func(a *app) error {
		options := transfer.Options{As: cmd.As, Plan: cmd.Plan, Renumber: cmd.Renumber, Activate: cmd.Activate}
		for _, name := range cmd.Files {
			open := func() (io.ReadCloser, error) { return os.Open(name) }
			done, err := a.mover().Import(ctx, open, options)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			a.report(done)
		}
		return nil
	})
}

func (a *app) mover() transfer.Mover {
	return transfer.Mover{DB: a.db, Keys: a.keys, Operator: operator(), Version: buildVersion(), Progress: func(what string) transfer.Progress {
		return a.progress(what)
	}}
}

// report prints what an import did, and what is left to do.
func (a *app) report(done transfer.Imported) {
	fmt.Printf("imported %s (%s), plan %s: %s, as in the file\n", done.Name, a.names.Tenant(done.As), done.Plan, done.Facts)
	if done.Suspended {
		fmt.Println("It is suspended, as it was: reactivate it in the platform panel.")
	}
	switch {
	case done.As != done.Slug:
		fmt.Println("Its address is another one: links in e-mails and to customers' cards lead to the one before.")
	case done.Moved:
		fmt.Println("It has another number here: links in e-mails and to customers' cards don't work. Customers ask for new ones.")
	case done.NoSecret:
		fmt.Println("Links in e-mails and to customers' cards don't work until LOYALTY_SECRET has the other installation's secret, too:\n" +
			"add it after this one's (LOYALTY_SECRET=this,other), and restart every process.")
	}
	if n := len(done.StoppedTokens); n > 0 {
		fmt.Printf("API tokens that don't work, because others have their numbers here: %d. Owners create new ones in the panel.\n", n)
	}
	for _, p := range done.Unread {
		until := ", until LOYALTY_SECRET has the other installation's secret, too, or it is reset"
		if p.ForGood {
			until = ". Reset it"
		}
		fmt.Printf("two-step verification of %s can't be read%s: loyalty admin reset-factor --email=%s --tenant=%s\n", p.Email, until, p.Email, p.Slug)
	}
}
