package platform_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/web/webtest"
)

// add puts a job into the queue as it is.
func (k desk) add(queue, state, scheduled, reason string) string {
	k.T.Helper()
	return shoptest.Query[string](k.shop, `
		insert into river.river_job (args, kind, queue, state, attempt, max_attempts, scheduled_at, attempted_at, finalized_at, metadata, errors)
		values ('{"secret": "hush"}', 'mail_delivery', $1, $2::text::river.river_job_state, 2, 150, now() + $3::text::interval, now() - interval '4 s',
			case when $2 in ('discarded', 'cancelled', 'completed') then now() - interval '2 h' end, jsonb_build_object('tenant', $4::bigint),
			case when $5 <> '' then array[jsonb_build_object('at', now(), 'attempt', 2, 'error', $5::text, 'trace', '')] end)
		returning id::text`, queue, state, scheduled, k.shop.By.Tenant.ID, reason)
}

func (k desk) state(id string) string {
	k.T.Helper()
	return shoptest.Query[string](k.shop, "select state::text from river.river_job where id = $1::text::bigint", id)
}

func ids(page webtest.Page) []string {
	return page.Find(".jobs tbody tr").Map(func(_ int, row *goquery.Selection) string {
		return strings.TrimPrefix(row.AttrOr("id", ""), "job-")
	})
}

// "It shows a summary per queue (waiting, running, failed, oldest), filters by state and
// queue, a table (newest first)".
func TestJobs(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	long := strings.Repeat("a reason ", 30)
	waiting := k.add("mail", "available", "-5 min", "")
	planned := k.add("sends", "scheduled", "3 h", "")
	retrying := k.add("mail", "retryable", "20 s", "connection refused")
	running := k.add("imports", "running", "0", "")
	failed := k.add("mail", "discarded", "0", long)
	cancelled := k.add("sends", "cancelled", "0", "")
	k.add("upkeep", "completed", "0", "")

	page := k.Get("/platform/jobs")
	if got, want := ids(page), []string{cancelled, failed, running, retrying, planned, waiting}; !slices.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
	cards := page.Find(".queue").Map(func(_ int, q *goquery.Selection) string { return webtest.Text(q.Find("a, dd")) })
	want := []string{"Mail 2 2 0 0 2 2", "Sends 1 1 0 0 0 0", "Imports 0 0 1 1 0 0", "Upkeep 0 0 0 0 0 0"} // waiting, running, failed: each a number and its link
	if !slices.Equal(cards, want) {
		t.Errorf("the queues are %q, want %q", cards, want)
	}
	if got := webtest.Text(page.Find(".queue-oldest").First()); !strings.HasSuffix(got, "5 min") {
		t.Errorf("oldest mail: %q, want one of 5 min", got)
	}
	for id, want := range map[string]struct {
		words   []string
		buttons string
	}{
		waiting:   {[]string{"Mail delivery", "Mail delivery " + waiting + " Mail", k.shop.By.Tenant.Name, "Waiting", "Due 5 min ago", "Attempt 2 of 150"}, "Cancel"},
		planned:   {[]string{"Waiting", "Starts in 2 h"}, "Cancel"},
		retrying:  {[]string{"Retrying", "Next attempt in 1", "connection refused"}, "Retry Cancel"},
		running:   {[]string{"Running", "Last active just now"}, "Cancel"},
		failed:    {[]string{"Failed", "Failed 2 h ago"}, "Retry"},
		cancelled: {[]string{"Cancelled 2 h ago"}, "Retry"},
	} {
		row := page.Find("#job-" + id)
		for _, text := range want.words {
			if !strings.Contains(webtest.Text(row), text) {
				t.Errorf("job %s lacks %q: %s", id, text, webtest.Text(row))
			}
		}
		row.Find(".visually-hidden").Remove()
		if got := webtest.Text(row.Find("button")); got != want.buttons {
			t.Errorf("job %s has the buttons %q, want %q", id, got, want.buttons)
		}
	}
	// "Long error texts folded".
	details := page.Find("#job-" + failed + " td.job-error details")
	if short := webtest.Text(details.Find("summary")); details.Length() != 1 || len(short) > 90 || !strings.HasSuffix(short, "…") || webtest.Text(details.Find("p")) != strings.TrimSpace(long) {
		t.Errorf("the error is shown as %q", webtest.Text(details))
	}
	if page.Find("#job-"+retrying+" td.job-error details").Length() != 0 {
		t.Error("a short error is folded")
	}

	// Filters lead to the list that they say, and count it.
	for path, want := range map[string][]string{
		"?state=queued": {retrying, planned, waiting}, "?state=running": {running}, "?state=failed": {failed, retrying},
		"?state=cancelled": {cancelled}, "?queue=mail": {failed, retrying, waiting}, "?queue=mail&state=failed": {failed, retrying},
	} {
		page := k.Get("/platform/jobs" + path)
		if got := ids(page); !slices.Equal(got, want) {
			t.Errorf("%s lists %v, want %v", path, got, want)
		}
		current := page.Find(".job-filters [aria-current]")
		if current.Length() != 2 {
			t.Errorf("%s marks %q", path, webtest.Text(current))
		}
		if count := current.Find(".num"); count.Length() > 0 && webtest.Text(count) != strconv.Itoa(len(want)) {
			t.Errorf("%s counts %s, want %d", path, webtest.Text(count), len(want))
		}
	}
	none := k.Get("/platform/jobs?queue=upkeep")
	if len(ids(none)) != 0 || none.Find(`.empty a[href="/platform/jobs"]`).Length() != 1 {
		t.Errorf("without jobs the page says %s", none.Text("main"))
	}
	for _, path := range []string{"/platform/jobs?state=completed", "/platform/jobs?queue=default", "/platform/jobs?cursor=x", "/platform/nowhere"} {
		if got := k.Ask(http.MethodGet, path); got.Code != http.StatusNotFound {
			t.Errorf("%s = %d", path, got.Code)
		}
	}
	if got := k.Ask(http.MethodGet, "/platform"); got.Code != http.StatusSeeOther || got.Header().Get("Location") != "/platform/tenants" {
		t.Errorf("/platform = %d %v", got.Code, got.Header())
	}
}

// Page by page and back, with the filter.
func TestPages(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	var want []string
	for range 60 {
		want = append([]string{k.add("mail", "available", "0", "")}, want...)
		k.add("imports", "available", "0", "")
	}
	page := k.Get("/platform/jobs?queue=mail")
	forward := ids(page)
	for next := page.Find("a#page-next"); next.Length() > 0; next = page.Find("a#page-next") {
		page = k.Get(next.AttrOr("href", ""))
		forward = append(forward, ids(page)...)
	}
	back := ids(page)
	for prev := page.Find("a#page-previous"); prev.Length() > 0; prev = page.Find("a#page-previous") {
		page = k.Get(prev.AttrOr("href", ""))
		back = append(ids(page), back...)
	}
	if !slices.Equal(forward, want) || !slices.Equal(back, want) {
		t.Errorf("forward %v\nback %v\nwant %v", forward, back, want)
	}
}

// The buttons do what they say and lead back to the same part of the list, which says so.
func TestRetryAndCancel(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	failed, waiting := k.add("mail", "discarded", "0", "no luck"), k.add("mail", "available", "0", "")
	for _, c := range []struct{ id, state, button, after, said string }{
		{failed, "failed", "Retry", "available", "Job " + failed + " will run again"},
		{waiting, "queued", "Cancel", "cancelled", "Job " + waiting + " was cancelled"},
	} {
		page := k.Get("/platform/jobs?queue=mail&state=" + c.state)
		form := page.Find("#job-" + c.id + " form").FilterFunction(func(_ int, f *goquery.Selection) bool {
			return strings.HasPrefix(webtest.Text(f), c.button)
		})
		method, action := form.AttrOr("method", ""), form.AttrOr("action", "")
		w := k.Do(k.Request(strings.ToUpper(method), action, nil, "Sec-Fetch-Site", "same-origin"))
		to := w.Header().Get("Location")
		if w.Code != http.StatusSeeOther || !strings.HasPrefix(to, "/platform/jobs?") || !strings.Contains(to, "queue=mail") || !strings.Contains(to, "state="+c.state) {
			t.Fatalf("%s %s = %d, to %s", method, action, w.Code, to)
		}
		if got := k.state(c.id); got != c.after {
			t.Errorf("after %s the job is %s", c.button, got)
		}
		if said := k.Get(to).Text("main [role=status]"); !strings.HasPrefix(said, c.said) {
			t.Errorf("the page says %q", said)
		}
	}
	// What can no longer be done is refused, with the list below.
	running, done := k.add("mail", "running", "0", ""), k.add("mail", "completed", "0", "")
	for path, want := range map[string]int{
		"/platform/jobs/" + running + "/retry": 422, "/platform/jobs/" + done + "/retry": 422, "/platform/jobs/" + done + "/cancel": 422,
		"/platform/jobs/999999/retry": 404, "/platform/jobs/999999/cancel": 404,
	} {
		page := k.Post(path+"?queue=mail", nil)
		if page.Code != want || len(ids(page)) == 0 || page.Find("main [role=alert]").Length() != 1 {
			t.Errorf("%s = %d: %s", path, page.Code, page.Text("main [role=alert]"))
		}
		for _, path := range page.Links(".job-filters a, .queue a") {
			if !strings.HasPrefix(path, "/platform/jobs") || strings.Contains(path, "retry") {
				t.Errorf("a filter leads to %s", path)
			}
		}
	}
	if w := k.Post("/platform/jobs/x/retry", nil); w.Code != http.StatusNotFound {
		t.Errorf("no number: %d", w.Code)
	}
}

// Nothing of others, and no script or style in the page itself.
func TestPolicy(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	w := k.Ask(http.MethodGet, "/platform/jobs")
	policy := w.Header().Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "font-src 'self'", "form-action 'self'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy lacks %s: %s", part, policy)
		}
	}
	source := w.Body.String()
	if strings.Contains(policy, "unsafe") || strings.Contains(source, "style=") || strings.Contains(source, "<style") || strings.Contains(source, "onclick") {
		t.Errorf("the page has what its policy %s forbids", policy)
	}
	if w.Find(".empty").Length() != 1 || w.Text("title") != "Jobs · Platform" {
		t.Errorf("without jobs: %s", w.Text("main"))
	}
}
