// Package operations is the HTML of operators' pages.
package operations

import (
	"net/url"
	"strconv"
	"time"

	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/deprecation"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/operation"
	"example.com/loyalty/core/token"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// Jobs is a page of the job queue.
type Jobs struct {
	panel.Frame
	Refused string // why a job wasn't changed; else ""
	Asked   JobQuery
	Loads   []job.Load
	List    []job.Job
	Pager   ui.Pager
}

// JobQuery is the part of the list that a page shows. The addresses of forms have it too, so that
// changing a job leads back to the same part.
type JobQuery struct {
	State  job.State
	Lane   job.Lane
	Cursor string
}

// At adds the query to a path.
func (q JobQuery) At(path string) string {
	values := url.Values{}
	for name, value := range map[string]string{"state": string(q.State), "queue": string(q.Lane), "cursor": q.Cursor} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// LaneNames are the labels of the queues.
var LaneNames = map[job.Lane]string{job.Mail: "Mail", job.Sends: "Sends", job.Imports: "Imports", job.Upkeep: "Upkeep"}

// lateAfter is how long a job may be due before it counts as late.
const lateAfter = 2 * time.Minute

// formatDuration writes a duration: 40 s, 5 min, 2 h, 3 days.
func formatDuration(d time.Duration) string {
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(max(d, time.Second)/time.Second)) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min"
	case d < 24*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + " h"
	}
	return format.Count(int64(d/(24*time.Hour)), "day", "days")
}

// Health is the page with the state of the installation.
type Health struct {
	panel.Frame
	operation.Health
	Build, Go    string // versions
	MailTrouble  string // the last error of the mail server, or ""
	LimitTrouble string // the last error of Redis, or ""
}

// AuditLog is a page of the audit log of all tenants and of the platform.
type AuditLog struct {
	panel.Frame
	Form     ui.Form // the filters
	Asked    audit.PlatformFilter
	Subjects []ui.Option
	Slugs    []string // suggested businesses
	Entries  []ui.Entry
	Pager    ui.Pager
	Filtered bool
}

// Deprecations is the page with the deprecated API requests.
type Deprecations struct {
	panel.Frame
	List []deprecation.Announced
}

// DeprecationForm announces a deprecation.
type DeprecationForm struct {
	panel.Frame
	Form     ui.Form
	FormKey  string
	Requests []string // that can be deprecated
}

// Tokens is a page of a super-admin's API tokens.
type Tokens struct {
	panel.Frame
	List  []token.Token
	Pager ui.Pager
}

// TokenDetail is the page of a token.
type TokenDetail struct {
	panel.Frame
	Use token.Use
}

// TokenForm creates a token.
type TokenForm struct {
	panel.Frame
	Form    ui.Form
	FormKey string
}

// TokenCreated shows the secret of a new token.
type TokenCreated struct {
	panel.Frame
	Token token.Created
}

// Settings is the page with the platform's settings.
type Settings struct {
	panel.Frame
	Form       ui.Form
	Incomplete bool // invoices can't be issued yet
}
