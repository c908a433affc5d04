package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"example.com/loyalty/api"
	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web"
	"example.com/loyalty/web/admin"
	"example.com/loyalty/web/admin/people"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/mailbox"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/platform"
	"example.com/loyalty/web/portal"
	"example.com/loyalty/web/till"
)

const (
	drainTime   = 20 * time.Second // for open requests on shutdown
	requestTime = 15 * time.Second // for an API request
)

type serve struct{}

// Run serves until the process gets a signal to stop.
func (serve) Run(ctx context.Context) error {
	if os.Getenv("GOGC") == "" {
		// Little of the heap is live. Collecting less often costs 18 MB and gives a sixth more
		// requests a second (docs/performance.md).
		debug.SetGCPercent(400)
	}
	started := time.Now()
	c, err := settings()
	if err != nil {
		return err
	}
	c.serves, c.waits, c.creates = true, true, true
	counting := c.counting(slog.LevelInfo)
	defer counting.flush()
	log := slog.New(core.LogRequests(counting))
	limitMemory(ctx, log, memlimit.FromCgroup)
	// The port first: a second server on it makes the rest pointless.
	listener, err := listen(ctx, "LOYALTY_ADDR", c.Addr, "choose another port in LOYALTY_ADDR and LOYALTY_BASE_URL")
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
	go a.db.Watch(ctx)
	if a.scratch, err = page.OpenScratch(os.TempDir()); err != nil {
		return err
	}
	defer a.scratch.Close() //nolint:errcheck // the next start removes leftovers
	demo, err := a.ensureDemo(ctx)
	if err != nil {
		return err
	}
	figures := newMetrics(a.db, a.direct, a.Operations.Backlog, localFigures{ready: a.ready, disks: a.disks(), redis: a.redis, live: a.Live, mail: a.mailTrouble}, log)
	figures.serve(ctx, c.metricsAccess(), log)
	server, err := a.server(ctx, figures, listener.Addr())
	if err != nil {
		return err
	}
	if err := a.db.Ready(ctx); err != nil {
		log.WarnContext(ctx, "serving, but not ready", slog.Any("error", err))
	}
	a.announce(ctx, listener.Addr(), demo, time.Since(started))
	if a.smtp != nil {
		go a.watchMailServer(ctx, recheckMail)
	}
	if a.redis != nil {
		go a.redis.Check()
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go a.removeLeftovers(ctx)
	go a.Live.Run(ctx, a.direct)
	go a.TokenMeter.Run(ctx)
	noted := func(err error) {
		log.WarnContext(ctx, "writing codes without a category failed", slog.Any("error", err))
	}
	go a.Transactions.Codes().Run(ctx, noted)
	jobsStarted := make(chan struct{})
	go func() {
		defer close(jobsStarted)
		a.startJobs(ctx)
	}()

	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }() // it stops with Shutdown, not with ctx, so that requests finish
	select {
	case err = <-failed:
		stop()
	case <-ctx.Done():
		a.stopping.Store(true)
		if a.StopDelay > 0 {
			log.InfoContext(ctx, "stopping: /readyz fails, requests are still served", slog.Duration("for", a.StopDelay))
			select {
			case <-time.After(a.StopDelay):
			case err = <-failed:
			}
		}
		log.InfoContext(ctx, "stopping: finishing open requests")
	}
	a.Live.Close() // ends open streams, which would delay the shutdown
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	<-jobsStarted
	err = errors.Join(err, server.Shutdown(drain), a.jobs.Stop(drain))
	a.TokenMeter.Write(context.WithoutCancel(ctx))
	if codes := a.Transactions.Codes().Write(context.WithoutCancel(ctx)); codes != nil {
		noted(codes)
	}
	log.InfoContext(ctx, "stopped")
	return err
}

// recheckMail is how often a mail server that fails is checked.
const recheckMail = 30 * time.Second

// watchMailServer checks the mail server at the start, and again and again while it fails, so that its failure is known
// and ends although no e-mail is due.
func (a *app) watchMailServer(ctx context.Context, every time.Duration) {
	if err := a.smtp.Check(ctx); err != nil && ctx.Err() == nil {
		a.log.ErrorContext(ctx, "e-mails can't be sent", slog.Any("error", err))
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if a.mailTrouble() == "" {
			continue
		}
		if err := a.smtp.Check(ctx); err == nil && a.mailTrouble() == "" {
			a.log.InfoContext(ctx, "the mail server works again")
		}
	}
}

// mailTrouble returns why the mail server failed last, or "".
func (a *app) mailTrouble() string {
	if a.smtp == nil {
		return ""
	}
	return a.smtp.Trouble()
}

// limitMemory sets the heap's soft limit to nine tenths of the container's memory (its cgroup),
// or to 300 MiB: with GOGC=400, a busy business's work would otherwise take a gigabyte.
// GOMEMLIMIT takes precedence.
func limitMemory(ctx context.Context, log *slog.Logger, container memlimit.Provider) {
	_, err := memlimit.Set(memlimit.WithRatio(0.9), memlimit.WithProvider(memlimit.ApplyFallback(container, memlimit.Limit(unlimitedHeap))))
	if err != nil {
		log.WarnContext(ctx, "the container's memory limit could not be read", slog.Any("error", err))
	}
}

const unlimitedHeap = (300 << 20) * 10 / 9 // of which nine tenths count

// removeLeftovers removes temporary files of failed exports, once an hour.
func (a *app) removeLeftovers(ctx context.Context) {
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

// startJobs starts running jobs as soon as the database has its tables, so that a server that
// waits for `loyalty migrate up` needs no restart. Running jobs finish after the signal.
func (a *app) startJobs(ctx context.Context) {
	for {
		if a.db.Ready(ctx) == nil {
			err := a.checkSecret(ctx) // it could not be checked without tables
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				a.wrongSecret.Store(true)
				a.log.ErrorContext(ctx, "jobs don't run", slog.Any("error", err))
				return
			}
			err = a.jobs.Start(context.WithoutCancel(ctx))
			if err == nil {
				return
			}
			a.log.WarnContext(ctx, "jobs can't start yet", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}

// Limits of an IP address, which several people may share.
const (
	signInViewsPerAddress = 120 // a minute

	failuresPerRequest = 3 // failed token look-ups, for each request without a valid token
)

// limitClock is the clock of the rate limits. Tests move it forward.
var limitClock = time.Now

// server combines the front ends behind TLS.
func (a *app) server(ctx context.Context, figures *metrics, addr net.Addr) (*host.Server, error) {
	address := host.ClientAddress(a.proxies)
	slug := func(h string) string { slug, _ := a.names.Slug(h); return slug }
	bySlug := func(ctx context.Context, slug string) (core.Tenant, error) { return tenant.BySlug(ctx, a.db, slug) }
	signInViews := limit.NewWindow(signInViewsPerAddress, time.Minute, limitClock).Shared(a.redis, "sign-in")
	kitOf := func(panel string) *page.Kit {
		return page.New(page.Config{
			Panel:    panel,
			Sessions: auth.NewStore(a.db),
			Tenant:   bySlug, Suspension: a.Tenants.FindSuspension,
			Start: a.names.Base(), Slug: slug, Address: address, SignInViews: signInViews, AddressKey: host.LimitKey, Now: a.db.Now, Log: a.log, Scratch: a.scratch,
		})
	}
	kit := kitOf(links.Panel)
	programs := api.New(api.Config{
		Services: a.Services,
		BaseURL:  a.names.Base(),
		Slug:     a.names.Slug,
		Address:  address, AddressKey: host.LimitKey,
		PerToken:               limit.NewWindow(a.RateToken, time.Minute, limitClock).Shared(a.redis, "token"),
		PerAddress:             limit.NewWindow(a.RateIP, time.Minute, limitClock).Shared(a.redis, "address"),
		Failures:               limit.NewWindow(failuresPerRequest*a.RateIP, time.Minute, limitClock).Shared(a.redis, "failure"),
		TransactionCreateScope: token.Ability(a.CreateScope),
		Timeout:                requestTime,
		Log:                    a.log,
	})
	pages := web.Config{
		Names: a.names,
		OwnCA: a.authorityFile() != "", Description: api.Description(a.names.Base()),
		Till: till.New(kit, a.Services),
		Tenants: admin.New(kit, a.Services, people.API{
			Base: a.names.Base(), Authority: a.authorityFile(), RecordScope: token.Ability(a.CreateScope),
		}),
		Portal: portal.New(portal.Config{
			Services: a.Services,
			Limits:   portal.NewLimits(limitClock, a.redis), AddressKey: host.LimitKey,
			Names: a.names, Tenant: bySlug, Address: address, Now: a.db.Now, Log: a.log,
		}),
		API:     programs,
		Gate:    web.NewGate(a.db.Size()),
		Address: address, RequestID: host.RequestID(a.proxies),
		Exists:  a.isTenant,
		Ready:   a.ready,
		Observe: figures.observe,
		Now:     time.Now,
		Log:     a.log,
	}
	if a.keepsMails() {
		a.mailbox = mailbox.New(a.mails.Service, a.names, address, time.Local, a.announceMailbox)
		pages.Mailbox = a.mailbox
	}
	pages.Platform = platform.New(kitOf(links.Platform), platform.Config{
		Services: a.Services, Jobs: a.jobs, Requests: programs.Requests(), Version: buildVersion(),
		MailTrouble: a.mailTrouble, LimitTrouble: a.redis.Trouble, Names: a.names, Sandbox: a.sandboxMaker(),
	})
	product := web.New(pages)
	plain := web.Plain(pages, host.PlainHandler(a.names, http.HandlerFunc(api.RefusePlainHTTP)))
	unread := func(status int) http.Handler { return web.Unread(pages, api.Refuse(status)) }
	if a.TLS == "proxy" {
		return host.NewServer(host.BehindProxy(a.proxies, product, plain), nil, unread, nil, a.proxies, a.log), nil
	}
	certificates, err := a.tls(ctx, addr)
	if err != nil {
		return nil, err
	}
	return host.NewServer(product, plain, unread, certificates, a.proxies, a.log), nil
}

// isTenant reports whether a business has this slug, even if it is suspended.
func (a *app) isTenant(ctx context.Context, slug string) (bool, error) {
	_, err := tenant.BySlug(ctx, a.db, slug)
	if errors.Is(err, core.ErrNotFound) {
		_, err = a.Tenants.FindSuspension(ctx, slug)
	}
	if errors.Is(err, core.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
