package platform

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
	views "example.com/loyalty/views/platform"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

const (
	jobsPath = home + "/jobs"
	pageSize = 25

	// late is how long a job may be due before that is worth a look.
	late = 2 * time.Minute

	// shortError is how much of an error is seen without opening it.
	shortError = 90
)

var laneNames = map[job.Lane]string{job.Mail: "Mail", job.Sends: "Sends", job.Imports: "Imports", job.Upkeep: "Upkeep"}

// listed is the part of the list that a page shows. It travels in the address, also of
// forms, so that changing a job leads back to the same part.
type listed struct {
	state, lane, cursor string
}

func listedBy(q url.Values) listed { return listed{q.Get("state"), q.Get("queue"), q.Get("cursor")} }

// query are the values of an address.
func (l listed) query() string {
	q := url.Values{}
	for name, value := range map[string]string{"state": l.state, "queue": l.lane, "cursor": l.cursor} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

func (l listed) path() string { return jobsPath + l.query() }

func (p *Platform) jobRoutes() []route {
	return []route{
		{method: get, path: jobsPath, handle: p.listJobs},
		{method: post, path: jobsPath + "/:id/retry", handle: p.retryJob},
		{method: post, path: jobsPath + "/:id/cancel", handle: p.cancelJob},
		{method: post, path: jobsPath + "/queues/:queue/pause", handle: p.pauseQueue},
		{method: post, path: jobsPath + "/queues/:queue/resume", handle: p.resumeQueue},
	}
}

func (p *Platform) listJobs(c echo.Context) error { return p.showJobs(c, http.StatusOK, "") }

func (p *Platform) retryJob(c echo.Context) error {
	return p.changeJob(c, p.Operations.Retry, " will run again as soon as a worker is free.")
}

func (p *Platform) cancelJob(c echo.Context) error {
	return p.changeJob(c, p.Operations.Cancel, " was cancelled. If it was running, it stops within a moment.")
}

func (p *Platform) pauseQueue(c echo.Context) error {
	return p.changeQueue(c, p.Operations.Pause, " is paused: its jobs wait until you resume it. Jobs that run are finished.")
}

func (p *Platform) resumeQueue(c echo.Context) error {
	return p.changeQueue(c, p.Operations.Resume, " takes jobs again.")
}

// changeQueue changes the queue in the path and leads back to the list, which says so.
func (p *Platform) changeQueue(c echo.Context, change func(context.Context, core.Actor, job.Lane) error, done string) error {
	lane := job.Lane(c.Param("queue"))
	if err := change(c.Request().Context(), actor(c), lane); err != nil {
		return err
	}
	p.Flash(c, ui.Done, "The queue "+laneNames[lane]+done)
	return p.Redirect(c, listedBy(c.QueryParams()).path())
}

// changeJob changes the job in the path and leads back to the list, which says so.
func (p *Platform) changeJob(c echo.Context, change func(context.Context, core.Actor, int64) error, done string) error {
	number, err := number(c)
	if err != nil {
		return err
	}
	id := "Job " + strconv.FormatInt(number, 10)
	err = change(c.Request().Context(), actor(c), number)
	if errors.Is(err, core.ErrNotFound) {
		return p.showJobs(c, http.StatusNotFound, id+" no longer exists.")
	}
	if sentence, refused := page.RuleMessage(err); refused {
		return p.showJobs(c, http.StatusUnprocessableEntity, id+": "+sentence)
	}
	if err != nil {
		return err
	}
	p.Flash(c, ui.Done, id+done)
	return p.Redirect(c, listedBy(c.QueryParams()).path())
}

// showJobs shows the queues, the part of the list that the address asks for, and why a job
// was not changed; "": none was to be.
func (p *Platform) showJobs(c echo.Context, status int, refused string) error {
	ctx, at := c.Request().Context(), listedBy(c.QueryParams())
	position := core.Page{Size: pageSize}
	if at.cursor != "" {
		cursor, err := core.ParseCursor(at.cursor)
		if err != nil {
			return echo.ErrNotFound
		}
		position.Cursor = &cursor
	}
	filter := job.Filter{State: job.State(at.state), Lane: job.Lane(at.lane)}
	list, err := p.Jobs.List(ctx, filter, position)
	if core.IsKind(err, core.KindInvalid) {
		return echo.ErrNotFound
	}
	if err != nil {
		return err
	}
	loads, err := p.Jobs.Load(ctx)
	if err != nil {
		return err
	}
	now := p.Now()
	v := views.Jobs{Frame: p.frame(c, "Jobs", jobsPath), Refused: refused}
	v.Queues, v.Lanes = queues(loads, at, now)
	v.States = states(loads, at)
	for _, j := range list.Items {
		v.Rows = append(v.Rows, jobRow(j, at, now))
	}
	u := &url.URL{Path: jobsPath, RawQuery: strings.TrimPrefix(listed{state: at.state, lane: at.lane}.query(), "?")}
	v.Pager = page.Pager(list, u, page.Count(int64(len(list.Items)), "job", "jobs"), "")
	if at != (listed{}) {
		v.Clear = jobsPath
	}
	return p.Render(c, status, views.JobsPage(v), nil)
}

// queues are the summaries of the queues, and the choice between them.
func queues(loads []job.Load, at listed, now time.Time) (cards []views.Queue, choices []views.Choice) {
	choices = []views.Choice{{Label: "All queues", Path: listed{state: at.state}.path(), Current: at.lane == ""}}
	for _, l := range loads {
		lane := string(l.Lane)
		figure := func(n int64, state job.State) views.Figure {
			return views.Figure{Text: page.Number(n), Path: listed{state: string(state), lane: lane}.path()}
		}
		card := views.Queue{
			Label: laneNames[l.Lane], Path: listed{lane: lane}.path(), Current: lane == at.lane,
			Queued: figure(l.Queued, job.Queued), Running: figure(l.Running, job.Running), Failed: figure(l.Failed, job.Failed),
		}
		card.Pause = jobsPath + "/queues/" + lane + "/pause" + at.query()
		if l.Paused != nil {
			card.Pause, card.Resume = "", jobsPath+"/queues/"+lane+"/resume"+at.query()
			card.PausedBy = l.Paused.ActorName
		}
		if l.DueSince != nil {
			card.Oldest, card.Late = span(now.Sub(*l.DueSince)), now.Sub(*l.DueSince) > late
		}
		cards = append(cards, card)
		choices = append(choices, views.Choice{Label: card.Label, Path: listed{state: at.state, lane: lane}.path(), Current: card.Current})
	}
	return cards, choices
}

// states are the choice between states, with counts for the chosen queue.
func states(loads []job.Load, at listed) []views.Choice {
	var sum job.Load
	for _, l := range loads {
		if at.lane == "" || at.lane == string(l.Lane) {
			sum.Queued, sum.Running, sum.Failed, sum.Cancelled = sum.Queued+l.Queued, sum.Running+l.Running, sum.Failed+l.Failed, sum.Cancelled+l.Cancelled
		}
	}
	choices := []views.Choice{{Label: "All", Path: listed{lane: at.lane}.path(), Current: at.state == ""}}
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
		choices = append(choices, views.Choice{
			Label: s.label, Count: page.Number(s.count), Path: listed{state: string(s.state), lane: at.lane}.path(), Current: at.state == string(s.state),
		})
	}
	return choices
}

func jobRow(j job.Job, at listed, now time.Time) views.Job {
	id := strconv.FormatInt(j.ID, 10)
	retry, cancel := jobsPath+"/"+id+"/retry"+at.query(), jobsPath+"/"+id+"/cancel"+at.query()
	r := views.Job{
		ID: id, Kind: kindName(j.Kind), Queue: laneNames[j.Lane], Tenant: j.TenantName, Created: moment(page.Ago(j.CreatedAt, now, zone), j.CreatedAt),
	}
	if j.Attempt > 0 {
		r.Attempts = "Attempt " + strconv.FormatInt(j.Attempt, 10) + " of " + strconv.FormatInt(j.MaxAttempts, 10)
	}
	if r.Error = j.LastError; len([]rune(r.Error)) > shortError {
		r.Error, r.Rest = string([]rune(r.Error)[:shortError-10])+"…", r.Error
	}
	due := func(word string) views.Moment {
		if wait := j.ScheduledAt.Sub(now); wait > 0 {
			return moment(word+" in "+span(wait), j.ScheduledAt)
		}
		return moment("Due "+page.Ago(j.ScheduledAt, now, zone), j.ScheduledAt)
	}
	past := func(word string, instant *time.Time) views.Moment {
		if instant == nil {
			return views.Moment{Text: word}
		}
		return moment(word+" "+page.Ago(*instant, now, zone), *instant)
	}
	switch j.State {
	case job.Queued:
		r.Status, r.Moment, r.Cancel = ui.Badge{Label: "Waiting", Tone: ui.Neutral}, due("Starts"), cancel
	case job.Retrying:
		r.Status, r.Moment, r.Retry, r.Cancel = ui.Badge{Label: "Retrying", Tone: ui.Notice}, due("Next attempt"), retry, cancel
	case job.Running:
		r.Status, r.Moment, r.Cancel = ui.Badge{Label: "Running", Tone: ui.Info}, past("Last active", j.AttemptedAt), cancel
	case job.Failed:
		r.Status, r.Moment, r.Retry = ui.Badge{Label: "Failed", Tone: ui.Bad}, past("Failed", j.FinalizedAt), retry
	case job.Cancelled:
		r.Status, r.Moment, r.Retry = ui.Badge{Label: "Cancelled", Tone: ui.Neutral}, past("Cancelled", j.FinalizedAt), retry
	}
	return r
}

// kindName writes a kind as people do: mail_delivery is Mail delivery.
func kindName(kind string) string {
	words := strings.ReplaceAll(kind, "_", " ")
	if words == "" {
		return kind
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

// span writes how long something takes: 40 s, 5 min, 2 h, 3 days.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(max(d, time.Second)/time.Second)) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min"
	case d < 24*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + " h"
	}
	return page.Count(int64(d/(24*time.Hour)), "day", "days")
}
