// Package deprecation keeps the deprecated requests of the API and mails the tenants that may use them.
// Every request asks it, so it answers from memory: all processes know a new deprecation within a
// minute.
package deprecation

import (
	"context"
	"log/slog"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// NoticePeriod is how long a deprecated request works at least (specification §9).
const NoticePeriod = 90 * 24 * time.Hour

// Deprecation is a deprecated request.
type Deprecation struct {
	ID        int64
	Method    string
	Path      string    // as documented: /api/v1/customers/{ulid}
	Sunset    time.Time // midnight in UTC; the request works until then
	Link      string    // to what to do instead
	CreatedAt time.Time
}

// New describes a new deprecation.
type New struct {
	Method string
	Path   string
	Sunset *time.Time // a day
	Link   string

	Malformed core.Fields // what the front end could not read
}

var pathPattern = regexp.MustCompile(`^/api/v1(/[a-z0-9_-]+|/\{[a-z]+\})+$`)

func (n New) validate(now time.Time) (Deprecation, error) {
	check := core.NewCheck(n.Malformed)
	d := Deprecation{
		Method: check.Text("method", &n.Method, 20),
		Path:   check.Text("path", &n.Path, 255),
		Link:   check.Text("link", &n.Link, 2000),
	}
	if check.OK("method") {
		core.OneOf(check, "method", d.Method, "GET", "POST", "PUT", "PATCH", "DELETE")
	}
	if check.OK("path") && !pathPattern.MatchString(d.Path) {
		check.Add("path", core.InvalidChoice)
	}
	if check.OK("link") && !isLink(d.Link) {
		check.Add("link", core.MustBeURL)
	}
	if n.Sunset == nil {
		check.Add("sunset", core.Required)
		return d, check.Err()
	}
	if d.Sunset = n.Sunset.UTC().Truncate(24 * time.Hour); d.Sunset.Before(now.Add(NoticePeriod)) {
		check.Add("sunset", core.Violation{Rule: "days_ahead", Limit: 90})
	}
	return d, check.Err()
}

// isLink reports whether a text is a web address that can be put into a header unchanged.
func isLink(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme == "https" && u.Host != "" &&
		!strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`<>"`, r) })
}

// Service keeps and announces deprecations.
type Service struct {
	db    *db.DB
	jobs  *job.Queue
	mails Mails
	log   *slog.Logger

	known   atomic.Pointer[knowledge]
	reading sync.Mutex
}

// NewService makes the service and registers its job.
func NewService(d *db.DB, jobs *job.Queue, mails Mails, log *slog.Logger) *Service {
	s := &Service{db: d, jobs: jobs, mails: mails, log: log}
	job.Handle(jobs, job.Upkeep, s.notify)
	return s
}

// Announced is a deprecation and the number of tenants that were mailed.
type Announced struct {
	Deprecation
	Told int64
}

// List returns all deprecations, newest first, for super-admins. There are at most as many as requests.
func (s *Service) List(ctx context.Context, by core.Actor) ([]Announced, error) {
	if err := by.RequireAdmin(); err != nil {
		return nil, err
	}
	return db.All[Announced](ctx, s.db.Platform(), listSQL, nil)
}

// Add deprecates a request, for super-admins: its answers say so, and the owner of every tenant with a
// working token is mailed once.
func (s *Service) Add(ctx context.Context, by core.Actor, n New, once *core.Once[Deprecation]) (core.Reply[Deprecation], error) {
	if err := by.RequireAdmin(); err != nil {
		return core.Reply[Deprecation]{}, err
	}
	d, err := db.In(ctx, s.db.Platform(), db.Once(ctx, by, once, func(tx *db.Tx) (Deprecation, error) {
		d, err := n.validate(tx.Now)
		if err != nil {
			return Deprecation{}, err
		}
		d, err = db.One[Deprecation](ctx, tx, insertSQL, db.Args{
			"method": d.Method, "path": d.Path, "sunset": d.Sunset, "link": d.Link, "now": tx.Now,
		})
		if db.Violates(err, "deprecation_request") {
			return Deprecation{}, core.Invalid(core.Fields{"path": {core.Duplicate}})
		}
		if err != nil {
			return Deprecation{}, err
		}
		err = audit.Write(tx, by, audit.Entry{
			Action: "deprecation.create", Subject: "deprecation", ID: strconv.FormatInt(d.ID, 10), Name: d.Method + " " + d.Path,
			New: map[string]any{"method": d.Method, "path": d.Path, "sunset": d.Sunset.Format(time.DateOnly), "link": d.Link},
		})
		if err != nil {
			return Deprecation{}, err
		}
		return d, s.jobs.Add(ctx, tx, Notice{Deprecation: d.ID})
	}))
	if err == nil {
		s.forget()
	}
	return d, err
}
