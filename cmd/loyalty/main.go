// Command loyalty is the whole product in one binary: it serves, and it holds the
// tools of whoever runs it. This package only wires: settings, packages, commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	_ "time/tzdata" // tenants' time zones, wherever this runs

	"github.com/alecthomas/kong"
	"github.com/caarlos0/env/v11"

	"example.com/loyalty/core"
	"example.com/loyalty/web/page"
)

// commands are what the binary can do.
type commands struct {
	Serve   serve      `cmd:"" help:"Serve the API and the pages. Without DATABASE_URL, with a private PostgreSQL and demo data."`
	Migrate migrate    `cmd:"" help:"Bring the database up to date, or say what is missing."`
	Demo    demoCmd    `cmd:"" help:"Make the demo business, with customers, sales, rewards and coupons."`
	Sandbox sandboxCmd `cmd:"" help:"Make two businesses with a record in every state, and write them to a file."`
	Admin   adminCmd   `cmd:"" help:"Super-admins of the platform."`
	Secret  secretCmd  `cmd:"" help:"The secret that stored values are sealed with."`
	Verify  verify     `cmd:"" help:"Recompute every balance and check what must be so; exit 1 on any difference."`
	Health  health     `cmd:"" help:"Ask the process that serves on this machine whether it is up; exit 1 if not."`
	Psql    psql       `cmd:"" help:"Open psql as the role that serves, inside one business."`
	Version version    `cmd:"" help:"Print the version."`
}

func main() { os.Exit(run()) }

func run() (code int) {
	var c commands
	parsed := kong.Parse(&c, kong.Name("loyalty"),
		kong.Description("Loyalty programmes for many businesses. Settings are environment variables: see the README."),
		kong.UsageOnError())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second Ctrl-C ends the process at once.
	context.AfterFunc(ctx, stop)
	parsed.BindTo(ctx, (*context.Context)(nil))
	err := parsed.Run()
	var quiet exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &quiet):
		return int(quiet)
	}
	var refusal *core.Error
	if errors.As(err, &refusal) && refusal.Kind == core.KindInvalid {
		err = errors.New(page.FirstMessage(refusal.Fields))
	}
	fmt.Fprintln(os.Stderr, "loyalty:", err)
	return 1
}

// exit ends the process with a code, everything having been said.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// settings reads the environment, for commands that need it.
func settings() (*config, error) { return readConfig(env.ToMap(os.Environ())) }

func (c *config) logger() *slog.Logger { return c.loggerFrom(slog.LevelInfo) }

func (c *config) loggerFrom(level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if c.Log == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, options))
}

type version struct{}

// Run prints the version. Kong only takes methods that may fail.
func (version) Run() error {
	_, err := fmt.Println("loyalty", buildVersion(), runtime.Version())
	return err
}

// buildVersion is the version of this binary, as Go derives it from the tag or the commit.
func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
