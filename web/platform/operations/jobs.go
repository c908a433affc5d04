package operations

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/job"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/platform/operations"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

const pageSize = 25

func jobQuery(c echo.Context) views.JobQuery {
	q := c.QueryParams()
	return views.JobQuery{State: job.State(q.Get("state")), Lane: job.Lane(q.Get("queue")), Cursor: q.Get("cursor")}
}

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
	h.Flash(c, ui.Done, "The queue "+views.LaneNames[lane]+done)
	return h.Redirect(c, jobQuery(c).At(links.Jobs))
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
	return h.Redirect(c, jobQuery(c).At(links.Jobs))
}

// showJobs shows the queues and the jobs that the address asks for. refused says why a job wasn't
// changed, or is "".
func (h *Handlers) showJobs(c echo.Context, status int, refused string) error {
	ctx, query := c.Request().Context(), jobQuery(c)
	position := core.Page{Size: pageSize}
	if query.Cursor != "" {
		cursor, err := core.ParseCursor(query.Cursor)
		if err != nil {
			return echo.ErrNotFound
		}
		position.Cursor = &cursor
	}
	list, err := h.Jobs.List(ctx, job.Filter{State: query.State, Lane: query.Lane}, position)
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
	v := views.Jobs{
		Frame: h.Frame(c, "Jobs", links.Jobs), Refused: refused, Asked: query, Loads: loads, List: list.Items,
		Pager: page.Pager(list, &url.URL{Path: links.Jobs, RawQuery: c.QueryString()}, "job", "jobs", ""),
	}
	return h.Render(c, status, views.JobsPage(v), nil)
}
