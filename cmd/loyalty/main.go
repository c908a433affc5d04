// Command loyalty is the whole product in one binary: the server and the operator's tools.
// This package only wires settings, packages and commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	_ "time/tzdata" // tenants' time zones, also on machines without them

	"github.com/alecthomas/kong"
	"github.com/caarlos0/env/v11"

	"example.com/loyalty/core"
	"example.com/loyalty/web/page"
)

// commands are the subcommands of the binary.
type commands struct {
	Serve   serve      `cmd:"" help:"Serve the API and the pages. Without DATABASE_URL, on a private PostgreSQL with demo data."`
	Migrate migrate    `cmd:"" help:"Update the database schema, or list missing migrations."`
	Demo    demoCmd    `cmd:"" help:"Create the demo business, with customers, sales, rewards and coupons."`
	Sandbox sandboxCmd `cmd:"" help:"Create businesses to test a client with, and write their tokens to a file."`
	Admin   adminCmd   `cmd:"" help:"Manage super-admins of the platform."`
	Secret  secretCmd  `cmd:"" help:"Manage the secret that encrypts stored values."`
	Verify  verify     `cmd:"" help:"Recompute every balance; exit 1 on any difference."`
	Health  health     `cmd:"" help:"Check that the process on this machine is up; exit 1 if not."`
	Psql    psql       `cmd:"" help:"Open psql inside one business, with the serving role."`
	Export  exportCmd  `cmd:"" help:"Export businesses, to import them into another installation."`
	Import  importCmd  `cmd:"" help:"Import businesses from files of loyalty export."`
	Reset   reset      `cmd:"" help:"Delete a private installation: its database, secret and demo."`
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

// exit ends the process with a code and without a message.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// settings reads the environment.
func settings() (*config, error) { return readConfig(env.ToMap(os.Environ())) }

func (c *config) logger() *slog.Logger { return c.loggerAt(slog.LevelInfo) }

// loggerAt returns a logger that leaves out lines below a level, and counts repeated ones.
func (c *config) loggerAt(lowest slog.Level) *slog.Logger {
	return slog.New(core.LogRequests(c.counting(lowest)))
}

func (c *config) counting(lowest slog.Level) *unrepeated {
	options := &slog.HandlerOptions{Level: lowest}
	if c.Log == "json" {
		options.ReplaceAttr = readableDurations
		return withoutRepeats(slog.NewJSONHandler(os.Stderr, options))
	}
	return withoutRepeats(slog.NewTextHandler(os.Stderr, options))
}

// readableDurations writes durations as the text log does, such as 1m30s: in JSON they would be nanoseconds.
func readableDurations(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

type version struct{}

// Run prints the version, and says if it is no release's.
func (version) Run() error {
	_, err := fmt.Println("loyalty", buildVersion(), runtime.Version()+unreleased(buildVersion()))
	return err
}

// pseudo matches the version that Go gives a commit without a tag: the next one, the commit's time and its hash.
var pseudo = regexp.MustCompile(`-(?:0\.)?\d{14}-[0-9a-f]{12}`)

// unreleased says why a version is no release's; "" for a release.
func unreleased(version string) string {
	switch {
	case strings.HasSuffix(version, "+dirty"):
		return ", not a release: it has changes that aren't committed"
	case pseudo.MatchString(version):
		return ", not a release: its commit has no tag"
	case !strings.HasPrefix(version, "v"):
		return ", not a release: it wasn't built in a clone"
	}
	return ""
}

// buildVersion returns the version of this binary, which Go derives from the tag or the commit.
func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
