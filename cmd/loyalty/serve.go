package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"example.com/loyalty/api"
	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/privacy"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/usage"
	"example.com/loyalty/web"
	"example.com/loyalty/web/admin"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/mailbox"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/platform"
	"example.com/loyalty/web/portal"
	"example.com/loyalty/web/till"
)

// How long requests in flight get to finish after Ctrl-C, and how long one may take.
const (
	drainTime   = 20 * time.Second
	requestTime = 15 * time.Second
)

type serve struct{}

// Run serves until the process is told to stop.
func (serve) Run(ctx context.Context) error {
	if os.Getenv("GOGC") == "" {
		// Little of the heap is live. Collecting it less often cost 18 MB and gave a sixth
		// more requests a second (docs/performance.md).
		debug.SetGCPercent(400)
	}
	began := time.Now()
	c, err := settings()
	if err != nil {
		return err
	}
	log := c.logger()
	limitMemory(ctx, log, memlimit.FromCgroup)
	// The port first: with a second server on it, nothing else is worth starting.
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	a, err := open(ctx, c, log)
	if err != nil {
		return err
	}
	defer a.close(ctx)
	go a.db.KeepTime(ctx)
	if a.scratch, err = page.OpenScratch(os.TempDir()); err != nil {
		return err
	}
	defer a.scratch.Close() //nolint:errcheck // the next start removes what this one leaves
	demo, err := a.ensureDemo(ctx)
	if err != nil {
		return err
	}
	figures := newMetrics(a.db, a.direct, a.operations.Backlog, localFigures{a.ready, a.disks()}, log)
	figures.serve(ctx, c.metricsDoor(), log)
	server, err := a.server(figures) //nolint:contextcheck // requests bring their own
	if err != nil {
		return err
	}
	if err := a.db.Ready(ctx); err != nil {
		log.WarnContext(ctx, "serving, but not ready", slog.Any("error", err))
	}
	a.screen(os.Stdout, demo, time.Since(began))
	if a.smtp != nil {
		go a.checkMailServer(ctx)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go a.keepScratchClean(ctx)
	go a.live.Run(ctx, a.direct)
	begun := make(chan struct{})
	go func() {
		defer close(begun)
		a.beginJobs(ctx)
	}()

	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }() //nolint:contextcheck // it ends with Shutdown, not with ctx: requests drain
	select {
	case err = <-failed:
		stop()
	case <-ctx.Done():
		a.stopping.Store(true)
		if a.StopDelay > 0 {
			log.InfoContext(ctx, "stopping: /readyz refuses, requests are still answered", slog.Duration("for", a.StopDelay))
			select {
			case <-time.After(a.StopDelay):
			case err = <-failed:
			}
		}
		log.InfoContext(ctx, "stopping: requests in flight finish")
	}
	a.live.Close() // pages that wait for news hold up nothing
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	<-begun
	err = errors.Join(err, server.Shutdown(drain), a.jobs.Stop(drain))
	log.InfoContext(ctx, "stopped")
	return err
}

// checkMailServer says at the start what would otherwise be found by the first e-mail.
func (a *app) checkMailServer(ctx context.Context) {
	if err := a.smtp.Check(ctx); err != nil && ctx.Err() == nil {
		a.log.ErrorContext(ctx, "e-mails can't be sent", slog.Any("error", err))
	}
}

// mailTrouble is why the mail server couldn't be used the last time, or "".
func (a *app) mailTrouble() string {
	if a.smtp == nil {
		return ""
	}
	return a.smtp.Trouble()
}

// limitMemory has the collector work harder before the memory of the container (its cgroup) is
// used up: a tenth of it is left for what is not the heap. GOMEMLIMIT in the environment comes
// first. Without a limit the heap is held at 300 MiB, where the relaxed collector would let a busy
// business's work take a gigabyte.
func limitMemory(ctx context.Context, log *slog.Logger, container memlimit.Provider) {
	_, err := memlimit.Set(memlimit.WithRatio(0.9), memlimit.WithProvider(memlimit.ApplyFallback(container, memlimit.Limit(unlimitedHeap))))
	if err != nil {
		log.WarnContext(ctx, "the memory limit of the container could not be read", slog.Any("error", err))
	}
}

const unlimitedHeap = (300 << 20) * 10 / 9 // of which nine tenths count

// keepScratchClean removes what exports have left on disk, once an hour.
func (a *app) keepScratchClean(ctx context.Context) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := a.scratch.RemoveLeftovers(time.Now()); err != nil {
				a.log.WarnContext(ctx, "temporary files of exports not removed", slog.Any("error", err))
			}
		}
	}
}

// beginJobs works jobs off as soon as the database has the tables for them, so that a
// server that waits for `loyalty migrate up` needs no second start. They outlive the
// signal: the running ones finish.
func (a *app) beginJobs(ctx context.Context) {
	for {
		if a.db.Ready(ctx) == nil {
			err := a.checkSecret(ctx) // a database without its tables could not be asked at the start
			if err != nil {
				a.wrongSecret.Store(true)
				a.log.ErrorContext(ctx, "no jobs are run", slog.Any("error", err))
				return
			}
			err = a.jobs.Start(context.WithoutCancel(ctx))
			if err == nil {
				return
			}
			a.log.WarnContext(ctx, "jobs cannot begin yet", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}

// How often an address may join, or ask for the link to a card: a shop's customers share its
// network.
const (
	joinsOfAddress = 20
	joinWindow     = 10 * time.Minute

	// A business's people share an address, and open the page more often than they sign in.
	signInViewsOfAddress = 120 // a minute
)

// failuresPerRequest is how many look-ups of tokens that fail an address has, for each request
// that it has without a valid token: several clients behind one address may have a wrong one.
const failuresPerRequest = 3

// server puts the front ends together behind TLS.
func (a *app) server(figures *metrics) (*host.Server, error) {
	address := host.ClientAddress(a.proxies)
	slug := func(h string) string { slug, _ := a.names.Slug(h); return slug }
	bySlug := func(ctx context.Context, slug string) (core.Tenant, error) { return tenant.BySlug(ctx, a.db, slug) }
	signInViews := limit.NewWindow(signInViewsOfAddress, time.Minute, time.Now)
	kitOf := func(panel string) *page.Kit {
		return page.New(page.Config{
			Panel:    panel,
			Sessions: auth.NewStore(a.db),
			Tenant:   bySlug, Suspension: a.tenants.FindSuspension,
			Slug: slug, Address: address, SignInViews: signInViews, AddressKey: host.LimitKey, Now: a.db.Now, Log: a.log, Scratch: a.scratch,
		})
	}
	kit := kitOf(page.PanelPath)
	programs := api.New(api.Config{
		Tokens: a.tokens, Auth: a.auth, Customers: a.customers, Transactions: a.transactions, Rewards: a.rewards, Coupons: a.coupons, Reports: a.reports,
		Tenants: a.tenants, Invoices: a.invoices, Deprecations: a.deprecations,
		BaseURL: a.names.Base(),
		Slug:    a.names.Slug,
		Address: address, AddressKey: host.LimitKey,
		PerToken:               limit.NewWindow(a.RateToken, time.Minute, time.Now),
		PerAddress:             limit.NewWindow(a.RateIP, time.Minute, time.Now),
		Failures:               limit.NewWindow(failuresPerRequest*a.RateIP, time.Minute, time.Now),
		TransactionCreateScope: token.Ability(a.CreateScope),
		Timeout:                requestTime,
		Log:                    a.log,
	})
	door := web.Config{
		Names: a.names,
		Till: till.New(kit, till.Services{
			Walkins: a.walkins, Transactions: a.transactions, Coupons: a.coupons, Locations: a.locations,
			Tenants: a.tenants, Live: a.live,
		}),
		Tenants: admin.New(
			kit,
			admin.Services{
				Staff: a.staff, Auth: a.auth, Tokens: a.tokens, Tenants: a.tenants, Customers: a.customers, Privacy: privacy.NewService(a.db), Imports: a.imports,
				Transactions: a.transactions, Rewards: a.rewards, Coupons: a.coupons,
				Locations: a.locations, Reports: a.reports, Audit: audit.NewService(a.db), Billing: a.invoices, Usage: usage.NewMeter(a.db),
				API: admin.API{Base: a.names.Base(), Authority: a.authorityFile(), RecordScope: token.Ability(a.CreateScope)},
			},
		),
		Portal: portal.New(portal.Config{
			Tenants: a.tenants, Customers: a.customers, Coupons: a.coupons, Auth: a.auth, Links: link.New(a.keys),
			Walkins: a.walkins, Sales: a.transactions, Rewards: a.rewards, Live: a.live,
			PerAddress: limit.NewWindow(joinsOfAddress, joinWindow, time.Now), AddressKey: host.LimitKey,
			Names: a.names, Tenant: bySlug, Address: address, Now: a.db.Now, Log: a.log,
		}),
		API:     programs,
		Address: address,
		Ready:   a.ready,
		Observe: figures.observe,
		Now:     time.Now,
		Log:     a.log,
	}
	if a.keepsMails() {
		a.mailbox = mailbox.New(a.mails, a.names, address, time.Local, func(address string) {
			fmt.Printf("  Mail        %s (for another browser)\n", address)
		})
		door.Mailbox = a.mailbox
	}
	door.Platform = platform.New(kitOf(page.PlatformPath), platform.Services{
		Auth: a.auth, Staff: a.staff, Tokens: a.tokens, Jobs: a.jobs, Operations: a.operations, Tenants: a.tenants, Invoices: a.invoices,
		Checks: a.checks, Audit: audit.NewService(a.db), Deprecations: a.deprecations,
		Requests: programs.Requests(), Version: buildVersion(), MailTrouble: a.mailTrouble, Names: a.names,
	})
	product := web.New(door)
	plain := web.Plain(door, host.PlainHandler(a.names, http.HandlerFunc(api.RefusePlainHTTP)))
	if a.TLS == "proxy" {
		return host.NewServer(host.BehindProxy(a.proxies, product, plain), nil, nil, a.log), nil
	}
	config, err := a.tls()
	if err != nil {
		return nil, err
	}
	return host.NewServer(product, plain, config, a.log), nil
}

func (a *app) tls() (*tls.Config, error) {
	if a.TLS == "files" {
		return host.Files(a.TLSCert, a.TLSKey, time.Now, a.log)
	}
	return host.LocalAuthority(a.DataDir, a.names, time.Now, a.log)
}

// authorityFile is what clients trust in TLS mode local, "" in the others.
func (c *config) authorityFile() string {
	if c.TLS != "local" {
		return ""
	}
	file := filepath.Join(c.DataDir, host.AuthorityFile)
	if absolute, err := filepath.Abs(file); err == nil {
		return absolute
	}
	return file
}

// progress shows on the terminal how far something long is. What reads a log in JSON
// is no terminal.
func (c *config) progress(what string) func(done, total int) {
	if c.Log == "json" {
		return nil
	}
	shown := -1
	return func(done, total int) {
		if percent := done * 100 / max(total, 1); percent != shown {
			shown = percent
			fmt.Fprintf(os.Stderr, "\r%s %3d%%", what, percent)
			if percent == 100 {
				fmt.Fprintln(os.Stderr)
			}
		}
	}
}
