package platform_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/verify"
)

func (k desk) exec(t *testing.T, sql string) {
	t.Helper()
	if _, err := dbtest.Owner(k.db).Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

// "Jobs: queues, failures, retry, cancel, pause": a button that says so, here and in the
// page of health, and in the log.
func TestPauseAQueue(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	action := k.get(t, "/platform/jobs").Find(".queue-form").First().AttrOr("action", "")
	if action != "/platform/jobs/queues/mail/pause" {
		t.Fatalf("the first queue's button leads to %q", action)
	}
	to := k.posted(t, action, nil)
	page := k.get(t, to)
	if got := words(page.Find(".queue").First()); !strings.Contains(got, "Paused by Root") || !strings.Contains(got, "Resume queue") {
		t.Errorf("the queue says %q", got)
	}
	if got := flash(page); !strings.Contains(got, "Mail") {
		t.Errorf("the page says %q", got)
	}
	if got := words(k.get(t, "/platform/health").Find(".alert-warning")); !strings.Contains(got, "The queue Mail is paused") {
		t.Errorf("health says %q", got)
	}
	k.posted(t, "/platform/jobs/queues/mail/resume", nil)
	if got := words(k.get(t, "/platform/jobs").Find(".queue").First()); strings.Contains(got, "Paused") {
		t.Errorf("the queue says %q", got)
	}
	if got := k.get(t, "/platform/audit?subject=queue").Find(".audit-what > p").Map(texts); !slices.Equal(got, []string{"Root resumed the queue mail .", "Root paused the queue mail ."}) {
		t.Errorf("the log says %q", got)
	}
	if w := k.post("/platform/jobs/queues/bus/pause", nil); w.Code != http.StatusNotFound {
		t.Errorf("no such queue: %d", w.Code)
	}
}

// "Health: versions, migrations, database, queue lag, mail failures, last verify run, loudly
// red when not clean", and what is not known says why.
func TestHealth(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	page := k.get(t, "/platform/health")
	if got := words(page.Find(".alert-success")); got != "Everything is working" || page.Find(".alert-danger, .alert-warning").Length() > 0 {
		t.Errorf("nothing is wrong: %q, %q", got, words(page.Find(".alert-danger, .alert-warning")))
	}
	for _, want := range []string{"Build v0-test", "PostgreSQL 1", "Missing None", "Mail 0 waiting", "Failed in 24 hours 0"} {
		if got := words(page.Find(".health")); !strings.Contains(got, want) {
			t.Errorf("the page lacks %q: %s", want, got)
		}
	}
	if got := words(page.Find("#verify")); !strings.Contains(got, "Not run yet") {
		t.Errorf("verify: %q", got)
	}

	// "Run now".
	k.posted(t, page.Find("#verify form").AttrOr("action", ""), nil)
	if flash(k.get(t, "/platform/health")) == "" {
		t.Error("no flash after asking for a check")
	}
	k.posted(t, "/platform/health/verify", nil)
	if got := words(k.get(t, "/platform/health").Find(".alert-warning")); !strings.Contains(got, verify.ErrRunning.Message) {
		t.Errorf("asked twice: %q", got)
	}
	k.exec(t, `
		insert into loyalty.verify_run (started_at, finished_at, clean, results, asked_by) values (now(), now(), false,
			'[{"check":"Every tenant has an owner.","counted":3,"wrong":0},{"check":"Every balance is the sum.","counted":7,"wrong":2,"examples":["tenant 1: <b>"]}]', 'Root');
		delete from goose_db_version where version_id = 110;
		insert into loyalty.mail (id, recipient, subject, text, html, created_at, status, done_at) values (gen_random_uuid(), 'b@example.com', '', '', '', now(), 'failed', now())`)
	page = k.get(t, "/platform/health")
	bad := page.Find(".alert-danger").Map(texts)
	if len(bad) != 2 || !strings.Contains(bad[0], "110") || !strings.Contains(bad[1], "differences") {
		t.Errorf("what is wrong: %q", bad)
	}
	if got := words(page.Find(".alert-warning")); got != "1 e-mail failed in the last 24 hours" {
		t.Errorf("what is soon wrong: %q", got)
	}
	if got := words(page.Find("#verify tbody tr").First()); got != "Every balance is the sum. 7 2 wrong tenant 1: <b>" {
		t.Errorf("first is %q", got)
	}
	if got := words(page.Find("#verify")); !strings.Contains(got, "Differences found") || !strings.Contains(got, "asked for by Root") {
		t.Errorf("verify: %q", got)
	}
	k.exec(t, "alter table loyalty.verify_run rename to gone")
	page = k.get(t, "/platform/health")
	if got := words(page.Find("#verify .health-unknown")); !strings.Contains(got, "Unknown.") || !strings.Contains(got, "verify_run") {
		t.Errorf("unknown: %q", got)
	}
	if got := words(page.Find(".health")); !strings.Contains(got, "PostgreSQL 1") {
		t.Errorf("the rest is gone, too: %q", got)
	}
}

// "Audit across tenants: newest first, filters (business, action, person, from/to), platform's
// own entries and tenants' together, sentences as in the panel."
func TestAuditAcrossTenants(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	_, err := db.InTenant(t.Context(), k.db, k.by, func(tx *db.Tx) (int, error) {
		return 0, audit.Write(tx, k.by, audit.Entry{
			Action: "transaction_type.edit", Subject: "transaction_type", ID: "987", Name: "Purchase",
			Old: map[string]any{"min_spend_cents": 500}, New: map[string]any{"min_spend_cents": 123_450},
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	k.posted(t, "/platform/jobs/queues/mail/pause", nil)
	page := k.get(t, "/platform/audit")
	if got := page.Find(".audit-what > p").Map(texts)[:2]; !slices.Equal(got, []string{"Root paused the queue mail .", "A owner changed the transaction type Purchase ."}) {
		t.Errorf("the log begins %q", got)
	}
	if got := page.Find(".audit-row > .audit-when .audit-tenant").Map(texts)[:2]; !slices.Equal(got, []string{"Platform", k.by.Tenant.Name}) {
		t.Errorf("they are those of %q", got)
	}
	if got := words(page.Find(".audit-row").Eq(1).Find("tr").Last()); got != "Min spend € 5.00 € 1,234.50" {
		t.Errorf("what changed: %q", got)
	}
	own := k.get(t, "/platform/audit?"+url.Values{"business": {k.by.Tenant.Slug}, "subject": {"transaction_type"}}.Encode())
	if own.Find(".audit-row").Length() != 1 || own.Find("option[selected]").AttrOr("value", "") != "transaction_type" {
		t.Errorf("filtered: %s", words(own.Find("#audit")))
	}
	actor := own.Find(".audit-row .btn").First().AttrOr("href", "")
	if got := words(k.get(t, actor).Find("#audit .card-body")); got != "Only entries by A owner Show all" {
		t.Errorf("%s says %q", actor, got)
	}
	for query, want := range map[string]string{"business=nowhere": says("Business", core.InvalidChoice), "person=x@example.com": says("Person", core.InvalidChoice), "from=2026-06-02&to=2026-06-01": says("To", core.AfterOrEqual("from"))} {
		w := k.ask(http.MethodGet, "/platform/audit?"+query, nil)
		if got := words(k.read(t, w).Find("#audit .alert")); w.Code != http.StatusUnprocessableEntity || got != want {
			t.Errorf("%s = %d %q", query, w.Code, got)
		}
	}
	if got := words(k.get(t, "/platform/audit?from=2020-01-01&to=2020-01-02").Find(".empty-title")); got != "No entries match" {
		t.Errorf("nothing: %q", got)
	}
}

// "Deprecations: announce (route, sunset at least 90 days ahead, link), headers from that
// moment, one e-mail to each owner with active tokens."
func TestAnnounceADeprecation(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	if _, err := k.Tokens.Create(t.Context(), k.by, token.New{Name: new("Till"), Scopes: &[]string{}}); err != nil {
		t.Fatal(err)
	}
	form := k.get(t, k.get(t, "/platform/deprecations").Find(".btn-primary").AttrOr("href", ""))
	if got := form.Find("#field-request option").Map(texts); !slices.Equal(got, []string{"Choose a request", "GET /api/v1/customers", "POST /api/v1/customers"}) {
		t.Fatalf("to choose from: %q", got)
	}
	w := k.post("/platform/deprecations", url.Values{"request": {""}, "sunset": {k.db.Now().AddDate(0, 0, 80).Format("2006-01-02")}, "link": {"http://x"}})
	if got := k.read(t, w).Find(".invalid-feedback").Map(texts); w.Code != http.StatusUnprocessableEntity || len(got) != 3 {
		t.Errorf("refused with %d: %q", w.Code, got)
	}
	sent := url.Values{
		"form_key": {form.Find("[name=form_key]").AttrOr("value", "")}, "request": {"GET /api/v1/customers"},
		"sunset": {k.db.Now().AddDate(0, 0, 100).Format("2006-01-02")}, "link": {"https://loyalty.example/docs/changelog"},
	}
	to := k.posted(t, "/platform/deprecations", sent)
	k.posted(t, "/platform/deprecations", sent) // a double click
	if _, found := k.Deprecations.Find(t.Context(), "GET", "/api/v1/customers"); !found {
		t.Error("the API does not know of it")
	}
	if err := k.Jobs.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.Jobs.Stop(context.WithoutCancel(t.Context())) })
	told := func() (n int) {
		if err := dbtest.Owner(k.db).QueryRow(t.Context(), "select count(*) from loyalty.mail where tenant_id is null and text like '%/api/v1/customers%'").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for deadline := time.Now().Add(time.Minute); told() == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no owner is e-mailed")
		}
	}
	page := k.get(t, to)
	row := words(page.Find(".deprecations tbody tr"))
	if page.Find(".deprecations tbody tr").Length() != 1 || !strings.HasPrefix(row, "GET /api/v1/customers https://loyalty.example/docs/changelog") || !strings.HasSuffix(row, " 1") || told() != 1 {
		t.Errorf("the list says %q, %d are told", row, told())
	}
	w = k.post("/platform/deprecations", url.Values{"request": {"GET /api/v1/customers"}, "sunset": sent["sunset"], "link": sent["link"]})
	if got := words(k.read(t, w).Find(".invalid-feedback")); w.Code != http.StatusUnprocessableEntity || got != says("API request", core.Duplicate) {
		t.Errorf("twice: %d %q", w.Code, got)
	}
}

// A mail server that can't be used is the first thing that the page of health says.
func TestHealthTellsOfAMailServerThatFails(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	if k.get(t, "/platform/health").Find(".alert-danger").Length() != 0 {
		t.Error("there is an alarm, and nothing is wrong")
	}
	*k.trouble = "mail.example.com offers no encryption (STARTTLS)."
	want := "E-mails can't be sent: mail.example.com offers no encryption (STARTTLS)."
	if got := words(k.get(t, "/platform/health").Find(".alert").First()); !strings.Contains(got, want) {
		t.Errorf("the first alarm is %q, want %q", got, want)
	}
}
