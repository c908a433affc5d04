// Package billing keeps plans, billed periods, prorations and invoices (decisions §6).
//
// Its surprising rule: the billing job can run in any process, any number of times, because a
// tenant is billed under a lock on its account and each billed period is a row. An invoice gets
// its number in the transaction that issues it, so numbers have no gap.
package billing

import (
	"log/slog"
	"strconv"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// Cycle is how often a tenant is billed.
type Cycle string

// The two cycles.
const (
	Monthly Cycle = "monthly"
	Yearly  Cycle = "yearly"
)

// Service keeps plans, platform settings and invoices.
type Service struct {
	db    *db.DB
	jobs  *job.Queue
	mails Mails
	log   *slog.Logger
}

// runEvery is how often tenants are billed. Time zones differ by quarters of an hour, so a day
// begins somewhere every 15 minutes.
const runEvery = 15 * time.Minute

// NewService makes the service and registers its jobs.
func NewService(d *db.DB, jobs *job.Queue, mails Mails, log *slog.Logger) *Service {
	s := &Service{db: d, jobs: jobs, mails: mails, log: log}
	job.HandleWithin(jobs, job.Upkeep, runTime, s.runJob)
	job.Every(jobs, runEvery, Run{})
	job.Handle(jobs, job.Mail, s.deliver)
	return s
}

// Party is one side of an invoice.
type Party struct {
	Name      string `json:"name"`
	Address   string `json:"address"` // several lines
	TaxNumber string `json:"tax_number"`
	Email     string `json:"email"`
}

// Limits of texts, in characters.
const (
	maxName    = 100
	maxText    = 255
	maxAddress = 500
	maxPayment = 1000
)

// maxCents is the highest price of a plan.
const maxCents = 1_000_000_000_000

// idText returns an id as the audit log stores it.
func idText(n int64) string { return strconv.FormatInt(n, 10) }

// withUnixLines replaces the line breaks that browsers send.
func withUnixLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// localDay returns the calendar day of an instant in a zone, as its midnight in UTC.
func localDay(at time.Time, zone *time.Location) time.Time {
	year, month, day := at.In(zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

var system = core.System(core.Tenant{}, "billing")

// At returns the service at another instant, for the demo, the sandbox and tests.
func (s *Service) At(instant time.Time) *Service {
	past := *s
	past.db = s.db.At(instant)
	return &past
}
