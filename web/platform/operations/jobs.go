package operations

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/job"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	views "example.com/loyalty/views/platform/operations"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

const (
	pageSize = 25

	// lateAfter is how long a job may be due before it counts as late.
	lateAfter = 2 * time.Minute

	// shortError is the length from which an error is folded, in characters.
	shortError = 90
)

var laneNames = map[job.Lane]string{job.Mail: "Mail", job.Sends: "Sends", job.Imports: "Imports", job.Upkeep: "Upkeep"}

// jobQuery is the part of the list that a page shows. The addresses of forms have it too, so that
// changing a job leads back to the same part.
type jobQuery struct {
	state, lane, cursor string
}

func jobQueryOf(q url.Values) jobQuery {
	return jobQuery{q.Get("state"), q.Get("queue"), q.Get("cursor")}
}

// of is the address of a path with the query.
func (q jobQuery) of(path string) string {
	values := url.Values{}
	for name, value := range map[string]string{"state": q.state, "queue": q.lane, "cursor": q.cursor} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

func (q jobQuery) path() string { return q.of(links.Jobs) }

func (h *Handlers) jobRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Jobs, route.SuperAdmins, h.listJobs),
		route.Post(links.Jobs+"/:id/retry", route.SuperAdmins, h.retryJob),
		route.Post(links.Jobs+"/:id/cancel", route.SuperAdmins, h.cancelJob),
		route.Post(links.Jobs+"/queues/:queue/pause", route.SuperAdmins, h.pauseQueue),
		route.Post(links.Jobs+"/queues/:queue/resume", route.SuperAdmins, h.resumeQueue),
	}
}

func (h *Handlers) listJobs(c echo.Context) error { return h.showJobs(c, http.StatusOK, "") }

func (h *Handlers) retryJob(c echo.Context) error {
	return h.changeJob(c, h.Operations.Retry, " will run again as soon as a worker is free.")
}

func (h *Handlers) cancelJob(c echo.Context) error {
	return h.changeJob(c, h.Operations.Cancel, " was cancelled.")
}

func (h *Handlers) pauseQueue(c echo.Context) error {
	return h.changeQueue(c, h.Operations.Pause, " was paused. Running jobs will finish.")
}

func (h *Handlers) resumeQueue(c echo.Context) error {
	return h.changeQueue(c, h.Operations.Resume, " was resumed.")
}

func (h *Handlers) changeQueue(c echo.Context, change func(context.Context, core.Actor, job.Lane) error, done string) error {
	lane := job.Lane(c.Param("queue"))
	if err := change(c.Request().Context(), page.Actor(c), lane); err != nil {
		return err
	}
	h.Flash(c, ui.Done, "The queue "+laneNames[lane]+done)
	return h.Redirect(c, jobQueryOf(c.QueryParams()).path())
}

func (h *Handlers) changeJob(c echo.Context, change func(context.Context, core.Actor, int64) error, done string) error {
	id, err := panel.PathNumber(c)
	if err != nil {
		return err
	}
	name := "Job " + strconv.FormatInt(id, 10)
	err = change(c.Request().Context(), page.Actor(c), id)
	if errors.Is(err, core.ErrNotFound) {
		return h.showJobs(c, http.StatusNotFound, name+" no longer exists.")
	}
	if sentence, refused := page.RuleMessage(err); refused {
		return h.showJobs(c, http.StatusUnprocessableEntity, name+": "+sentence)
	}
	if err != nil {
		return err
	}
	h.Flash(c, ui.Done, name+done)
	return h.Redirect(c, jobQueryOf(c.QueryParams()).path())
}

// showJobs shows the queues and the jobs that the address asks for. refused says why a job wasn't
// changed, or is "".
func (h *Handlers) showJobs(c echo.Context, status int, refused string) error {
	ctx, query := c.Request().Context(), jobQueryOf(c.QueryParams())
	position := core.Page{Size: pageSize}
	if query.cursor != "" {
		cursor, err := core.ParseCursor(query.cursor)
		if err != nil {
			return echo.ErrNotFound
		}
		position.Cursor = &cursor
	}
	filter := job.Filter{State: job.State(query.state), Lane: job.Lane(query.lane)}
	list, err := h.Jobs.List(ctx, filter, position)
	if core.IsKind(err, core.KindInvalid) {
		return echo.ErrNotFound
	}
	if err != nil {
		return err
	}
	loads, err := h.Jobs.Load(ctx)
	if err != nil {
		return err
	}
	now := h.Now()
	v := views.Jobs{Frame: h.Frame(c, "Jobs", links.Jobs), Refused: refused}
	v.Queues, v.Lanes = queueCards(loads, query, now)
	v.States = stateChoices(loads, query)
	for _, j := range list.Items {
		v.Rows = append(v.Rows, jobRow(j, query, now))
	}
	v.Pager = page.Pager(list, &url.URL{Path: links.Jobs, RawQuery: c.QueryString()}, "job", "jobs", "")
	if query != (jobQuery{}) {
		v.Clear = links.Jobs
	}
	return h.Render(c, status, views.JobsPage(v), nil)
}

// queueCards are the summaries of the queues, and the choice between them.
func queueCards(loads []job.Load, query jobQuery, now time.Time) (cards []views.Queue, choices []panelviews.Choice) {
	choices = []panelviews.Choice{{Label: "All queues", Path: jobQuery{state: query.state}.path(), Current: query.lane == ""}}
	for _, l := range loads {
		lane := string(l.Lane)
		figure := func(n int64, state job.State) views.Figure {
			return views.Figure{Text: format.Number(n), Path: jobQuery{state: string(state), lane: lane}.path()}
		}
		card := views.Queue{
			Label: laneNames[l.Lane], Path: jobQuery{lane: lane}.path(), Current: lane == query.lane,
			Queued: figure(l.Queued, job.Queued), Running: figure(l.Running, job.Running), Failed: figure(l.Failed, job.Failed),
		}
		card.Pause = query.of(links.Jobs + "/queues/" + lane + "/pause")
		if l.PausedBy != nil {
			card.Pause, card.Resume = "", query.of(links.Jobs+"/queues/"+lane+"/resume")
			card.PausedBy = *l.PausedBy
		}
		if l.DueSince != nil {
			card.Oldest, card.Late = formatDuration(now.Sub(*l.DueSince)), now.Sub(*l.DueSince) > lateAfter
		}
		cards = append(cards, card)
		choices = append(choices, panelviews.Choice{Label: card.Label, Path: jobQuery{state: query.state, lane: lane}.path(), Current: card.Current})
	}
	return cards, choices
}

// stateChoices is the choice between states, with the counts of the chosen queue.
func stateChoices(loads []job.Load, query jobQuery) []panelviews.Choice {
	var sum job.Load
	for _, l := range loads {
		if query.lane == "" || query.lane == string(l.Lane) {
			sum.Queued, sum.Running, sum.Failed, sum.Cancelled = sum.Queued+l.Queued, sum.Running+l.Running, sum.Failed+l.Failed, sum.Cancelled+l.Cancelled
		}
	}
	choices := []panelviews.Choice{{Label: "All", Path: jobQuery{lane: query.lane}.path(), Current: query.state == ""}}
	for _, s := range []struct {
		state job.State
		label string
		count int64
	}{
		{job.Queued, "Waiting", sum.Queued},
		{job.Running, "Running", sum.Running},
		{job.Failed, "Failed", sum.Failed},
		{job.Cancelled, "Cancelled", sum.Cancelled},
	} {
		choices = append(choices, panelviews.Choice{
			Label: s.label, Count: format.Number(s.count), Path: jobQuery{state: string(s.state), lane: query.lane}.path(), Current: query.state == string(s.state),
		})
	}
	return choices
}

func jobRow(j job.Job, query jobQuery, now time.Time) views.Job {
	id := strconv.FormatInt(j.ID, 10)
	retry, cancel := query.of(links.Jobs+"/"+id+"/retry"), query.of(links.Jobs+"/"+id+"/cancel")
	r := views.Job{
		ID: id, Kind: kindName(j.Kind), Queue: laneNames[j.Lane], Tenant: j.TenantName, Created: panel.MomentAt(format.Ago(j.CreatedAt, now, panel.PlatformZone), j.CreatedAt),
	}
	if j.Attempt > 0 {
		r.Attempt = strconv.FormatInt(j.Attempt, 10) + " of " + strconv.FormatInt(j.MaxAttempts, 10)
	}
	if r.Error = j.LastError; len([]rune(r.Error)) > shortError {
		r.Error, r.Rest = string([]rune(r.Error)[:shortError-10])+"…", r.Error
	}
	dueMoment := func(word string) panelviews.Moment {
		if wait := j.ScheduledAt.Sub(now); wait > 0 {
			return panel.MomentAt(word+" in "+formatDuration(wait), j.ScheduledAt)
		}
		return panel.MomentAt("Due "+format.Ago(j.ScheduledAt, now, panel.PlatformZone), j.ScheduledAt)
	}
	past := func(word string, instant *time.Time) panelviews.Moment {
		if instant == nil {
			return panelviews.Moment{Text: word}
		}
		return panel.MomentAt(word+" "+format.Ago(*instant, now, panel.PlatformZone), *instant)
	}
	switch j.State {
	case job.Queued:
		r.Status, r.Moment, r.Cancel = ui.Badge{Label: "Waiting", Tone: ui.Neutral}, dueMoment("Starts"), cancel
	case job.Retrying:
		r.Status, r.Moment, r.Retry, r.Cancel = ui.Badge{Label: "Retrying", Tone: ui.Notice}, dueMoment("Next attempt"), retry, cancel
	case job.Running:
		r.Status, r.Moment, r.Cancel = ui.Badge{Label: "Running", Tone: ui.Info}, past("Last active", j.AttemptedAt), cancel
	case job.Failed:
		r.Status, r.Moment, r.Retry = ui.Badge{Label: "Failed", Tone: ui.Bad}, past("Failed", j.FinalizedAt), retry
	case job.Cancelled:
		r.Status, r.Moment, r.Retry = ui.Badge{Label: "Cancelled", Tone: ui.Neutral}, past("Cancelled", j.FinalizedAt), retry
	}
	if waits := j.State == job.Queued || j.State == job.Retrying; waits && j.Suspended {
		r.Status = ui.Badge{Label: "Waiting: business suspended", Tone: ui.Notice}
	}
	return r
}

// kindName is the label of a kind of job: Mail delivery for mail_delivery.
func kindName(kind string) string {
	words := strings.ReplaceAll(kind, "_", " ")
	if words == "" {
		return kind
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

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
