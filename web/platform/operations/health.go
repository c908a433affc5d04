package operations

import (
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/operation"
	"example.com/loyalty/core/verify"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/platform/operations"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

const (

	// checkOverdue is the age from which the last check of all records raises an alarm, and so does the last backup.
	checkOverdue  = 36 * time.Hour
	backupOverdue = 36 * time.Hour
)

func (h *Handlers) healthRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Health, route.SuperAdmins, h.health),
		route.Post(links.Verify, route.SuperAdmins, h.runVerify),
	}
}

func (h *Handlers) health(c echo.Context) error {
	found, err := h.Operations.Health(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	now := h.Now()
	v := views.Health{Frame: h.Frame(c, "Health", links.Health), Run: verifyRun(found.Verify, now)}
	v.Alarms = alarms(found, now)
	if trouble := h.MailTrouble(); trouble != "" {
		v.Alarms = append([]views.Alarm{{Text: "E-mails can't be sent: " + trouble, Bad: true}}, v.Alarms...)
	}
	if trouble := h.LimitTrouble(); trouble != "" {
		v.Alarms = append(v.Alarms, views.Alarm{Text: "Each process limits requests, sign-ins and PINs for itself, because Redis can't be reached: " + trouble})
	}
	v.Cards = []views.HealthCard{h.versionCard(found), databaseCard(found), queuesCard(found, now), mailsCard(found), backupsCard(found, now)}
	return h.Render(c, http.StatusOK, views.HealthPage(v), nil)
}

func (h *Handlers) runVerify(c echo.Context) error {
	err := h.Checks.Request(c.Request().Context(), page.Actor(c))
	switch {
	case errors.Is(err, verify.ErrRunning):
		h.Flash(c, ui.Warning, verify.ErrRunning.Message)
	case err != nil:
		return err
	default:
		h.Flash(c, ui.Done, "The check starts within a minute. Reload this page for the result.")
	}
	return h.Redirect(c, links.Health)
}

// causeOf is the technical cause of an error: super-admins run the installation.
func causeOf(err error) string {
	var refusal *core.Error
	if errors.As(err, &refusal) && refusal.Unwrap() != nil {
		err = refusal.Unwrap()
	}
	return err.Error()
}

func databaseCard(h operation.Health) views.HealthCard {
	card := views.HealthCard{Title: "Database"}
	if h.Database.Err != nil {
		card.Unknown = causeOf(h.Database.Err)
		return card
	}
	d := h.Database.Value
	number, _, _ := strings.Cut(d.Version, " ") // without the distribution's own number
	card.Facts = []ui.Pair{
		{Name: "PostgreSQL", Value: number},
		{Name: "Size", Value: formatBytes(d.Bytes)},
		{Name: "Connections", Value: fmt.Sprintf("%s of %s", format.Number(d.Connections), format.Number(d.MaxConns))},
	}
	return card
}

func formatBytes(bytes int64) string {
	const mb = 1 << 20
	if bytes < 1024*mb {
		return format.Number(bytes/mb) + " MB"
	}
	return strconv.FormatFloat(float64(bytes)/(1024*mb), 'f', 1, 64) + " GB"
}

func (h *Handlers) versionCard(found operation.Health) views.HealthCard {
	card := views.HealthCard{Title: "Version", Facts: []ui.Pair{
		{Name: "Build", Value: h.Version}, {Name: "Go", Value: strings.TrimPrefix(runtime.Version(), "go")},
	}}
	if found.Steps.Err != nil {
		card.Unknown = causeOf(found.Steps.Err)
		return card
	}
	s := found.Steps.Value
	card.Facts = append(card.Facts,
		ui.Pair{Name: "Migrations applied", Value: format.Number(int64(len(s.Applied)))},
		ui.Pair{Name: "Missing", Value: formatVersions(s.Missing)},
		ui.Pair{Name: "From a newer build", Value: formatVersions(s.Unknown)},
	)
	return card
}

func formatVersions(versions []int64) string {
	if len(versions) == 0 {
		return "None"
	}
	words := make([]string, len(versions))
	for i, v := range versions {
		words[i] = strconv.FormatInt(v, 10)
	}
	return strings.Join(words, ", ")
}

func queuesCard(h operation.Health, now time.Time) views.HealthCard {
	card := views.HealthCard{Title: "Jobs", Path: links.Jobs}
	if h.Queues.Err != nil {
		card.Unknown = causeOf(h.Queues.Err)
		return card
	}
	for _, l := range h.Queues.Value {
		words := []string{format.Number(l.Queued) + " waiting"}
		if l.DueSince != nil {
			words = append(words, "oldest "+formatDuration(now.Sub(*l.DueSince)))
		}
		if l.Failed > 0 {
			words = append(words, format.Number(l.Failed)+" failed")
		}
		if l.PausedBy != nil {
			words = append(words, "paused by "+*l.PausedBy)
		}
		card.Facts = append(card.Facts, ui.Pair{Name: laneNames[l.Lane], Value: strings.Join(words, ", ")})
	}
	return card
}

func mailsCard(h operation.Health) views.HealthCard {
	card := views.HealthCard{Title: "E-mails"}
	if h.Mails.Err != nil {
		card.Unknown = causeOf(h.Mails.Err)
		return card
	}
	m := h.Mails.Value
	card.Facts = []ui.Pair{
		{Name: "Waiting", Value: format.Number(m.Single.Waiting)},
		{Name: "Failed in 24 hours", Value: format.Number(m.Single.Failed)},
		{Name: "Coupon e-mails waiting", Value: format.Number(m.Sends.Waiting)},
		{Name: "Coupon e-mails failed in 24 hours", Value: format.Number(m.Sends.Failed)},
	}
	return card
}

func backupsCard(h operation.Health, now time.Time) views.HealthCard {
	card := views.HealthCard{Title: "Backups"}
	if h.Backups.Err != nil {
		card.Unknown = causeOf(h.Backups.Err)
		return card
	}
	b := h.Backups.Value
	last, archive := "None recorded", "Off"
	if b.FinishedAt != nil {
		last = formatDuration(now.Sub(*b.FinishedAt)) + " ago, " + *b.Label
	}
	switch {
	case b.Archives && b.ArchivedAt == nil:
		archive = "Nothing archived yet"
	case b.Archives:
		archive = "Last segment " + formatDuration(now.Sub(*b.ArchivedAt)) + " ago"
	}
	if b.Unarchived > 0 {
		archive += ", " + format.Number(b.Unarchived) + " waiting"
	}
	card.Facts = []ui.Pair{{Name: "Last backup", Value: last}, {Name: "WAL archive", Value: archive}}
	return card
}

// alarms lists what needs attention, errors first.
func alarms(h operation.Health, now time.Time) (list []views.Alarm) {
	addError := func(text string) { list = append(list, views.Alarm{Text: text, Bad: true}) }
	addWarning := func(text string) { list = append(list, views.Alarm{Text: text}) }
	for _, part := range []struct {
		name string
		err  error
	}{{"database", h.Database.Err}, {"migrations", h.Steps.Err}, {"jobs", h.Queues.Err}, {"e-mails", h.Mails.Err}, {"check of all records", h.Verify.Err}, {"backups", h.Backups.Err}} {
		if part.err != nil {
			addError("Can't read the state of the " + part.name)
		}
	}
	if missing := h.Steps.Value.Missing; len(missing) > 0 {
		addError("Missing migrations: " + formatVersions(missing) + ". Run `loyalty migrate up`.")
	}
	if len(h.Verify.Value) > 0 {
		last := h.Verify.Value[0]
		switch {
		case last.Clean != nil && !*last.Clean:
			addError("The check of all records found differences. See below.")
		case last.Error != nil:
			addError("The check of all records failed. See below.")
		case now.Sub(last.StartedAt) > checkOverdue:
			addWarning("The records were last checked " + formatDuration(now.Sub(last.StartedAt)) + " ago")
		}
	}
	switch b := h.Backups.Value; {
	case b.FinishedAt != nil && now.Sub(*b.FinishedAt) > backupOverdue:
		addWarning("The last backup is " + formatDuration(now.Sub(*b.FinishedAt)) + " old")
	case b.FinishedAt == nil && b.Expected:
		addWarning("No backup was recorded yet")
	}
	if h.Backups.Value.IsLate(now) {
		addError("PostgreSQL can't archive its WAL. Its log says why.")
	}
	if unknown := h.Steps.Value.Unknown; len(unknown) > 0 {
		addWarning("The database has migrations from a newer build: " + formatVersions(unknown))
	}
	for _, l := range h.Queues.Value {
		if l.PausedBy != nil {
			addWarning("The queue " + laneNames[l.Lane] + " is paused")
		} else if l.DueSince != nil && now.Sub(*l.DueSince) > lateAfter {
			addWarning("Jobs in the queue " + laneNames[l.Lane] + " have been waiting for " + formatDuration(now.Sub(*l.DueSince)))
		}
		if l.Failed > 0 {
			addWarning(format.Count(l.Failed, "job", "jobs") + " failed in the queue " + laneNames[l.Lane])
		}
	}
	if n := h.Mails.Value.Single.Failed + h.Mails.Value.Sends.Failed; n > 0 {
		addWarning(format.Count(n, "e-mail", "e-mails") + " failed in the last 24 hours")
	}
	return list
}

func verifyRun(part operation.Part[[]verify.PastRun], now time.Time) views.Run {
	r := views.Run{Status: ui.Badge{Label: "Not run yet", Tone: ui.Neutral}, Ask: links.Verify}
	if part.Err != nil {
		r.Status, r.Unknown = ui.Badge{Label: "Unknown", Tone: ui.Bad}, causeOf(part.Err)
		return r
	}
	if len(part.Value) == 0 {
		return r
	}
	last := part.Value[0]
	at := panel.MomentAt("Started "+format.Ago(last.StartedAt, now, panel.PlatformZone), last.StartedAt)
	r.When = &at
	if last.AskedBy != nil {
		r.By = *last.AskedBy
	}
	switch {
	case last.Error != nil:
		r.Status, r.Error = ui.Badge{Label: "Failed", Tone: ui.Bad}, *last.Error
	case last.Clean == nil:
		r.Status, r.Ask = ui.Badge{Label: "Running", Tone: ui.Info}, ""
	case *last.Clean:
		r.Status = ui.Badge{Label: "Clean", Tone: ui.Good}
	default:
		r.Status = ui.Badge{Label: "Differences found", Tone: ui.Bad}
	}
	for _, result := range last.Results {
		check := views.Check{Claim: result.Check, Counted: format.Number(result.Counted), Examples: result.Examples}
		if result.Wrong > 0 {
			check.Wrong = format.Number(result.Wrong) + " wrong"
			r.Checks = append([]views.Check{check}, r.Checks...) // wrong ones first
		} else {
			r.Checks = append(r.Checks, check)
		}
	}
	return r
}
