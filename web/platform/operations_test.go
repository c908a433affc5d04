package platform_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/verify"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/webtest"
)

// "Jobs: queues, failures, retry, cancel, pause": a button that says so, here and in the
// page of health, and in the log.
func TestPauseAQueue(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	action := k.Get("/platform/jobs").Find(".queue-form").First().AttrOr("action", "")
	if action != "/platform/jobs/queues/mail/pause" {
		t.Fatalf("the first queue's button leads to %q", action)
	}
	to := k.Submitted(action, nil)
	page := k.Get(to)
	if got := webtest.Text(page.Find(".queue").First()); !strings.Contains(got, "Paused by Root") || !strings.Contains(got, "Resume queue") {
		t.Errorf("the queue says %q", got)
	}
	if !page.Flashed(ui.Done, "Mail") {
		t.Errorf("the page says %q", page.Text("#flashes"))
	}
	if got := k.Get("/platform/health").Text(".alert-warning"); !strings.Contains(got, "The queue Mail is paused") {
		t.Errorf("health says %q", got)
	}
	k.Submitted("/platform/jobs/queues/mail/resume", nil)
	if got := webtest.Text(k.Get("/platform/jobs").Find(".queue").First()); strings.Contains(got, "Paused") {
		t.Errorf("the queue says %q", got)
	}
	if got := k.Get("/platform/audit?subject=queue").Texts(".audit-words"); !slices.Equal(got, []string{"Root resumed the queue mail .", "Root paused the queue mail ."}) {
		t.Errorf("the log says %q", got)
	}
	if w := k.Post("/platform/jobs/queues/bus/pause", nil); w.Code != http.StatusNotFound {
		t.Errorf("no such queue: %d", w.Code)
	}
}

// "Health: versions, migrations, database, queue lag, mail failures, last verify run, loudly
// red when not clean", and what is not known says why.
func TestHealth(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	page := k.Get("/platform/health")
	if got := page.Text(".alert-success"); got != "Everything is working" || page.Find(".alert-danger, .alert-warning").Length() > 0 {
		t.Errorf("nothing is wrong: %q, %q", got, page.Text(".alert-danger, .alert-warning"))
	}
	for _, want := range []string{"Build v0-test", "PostgreSQL 1", "Missing None", "Mail 0 waiting", "Failed in 24 hours 0"} {
		if got := page.Text(".health"); !strings.Contains(got, want) {
			t.Errorf("the page lacks %q: %s", want, got)
		}
	}
	if got := page.Text("#verify"); !strings.Contains(got, "Not run yet") {
		t.Errorf("verify: %q", got)
	}

	// "Run now".
	if asked := k.Submit(page.Attr("#verify form", "action"), nil); !asked.Flashed(ui.Done, "") {
		t.Error("no flash after asking for a check")
	}
	k.Submitted("/platform/health/verify", nil)
	if got := k.Get("/platform/health").Text(".alert-warning"); !strings.Contains(got, verify.ErrRunning.Message) {
		t.Errorf("asked twice: %q", got)
	}
	k.shop.Exec(`
		insert into loyalty.verify_run (started_at, finished_at, clean, results, asked_by) values (now(), now(), false,
			'[{"check":"Every tenant has an owner.","counted":3,"wrong":0},{"check":"Every balance is the sum.","counted":7,"wrong":2,"examples":["tenant 1: <b>"]}]', 'Root');
		delete from goose_db_version where version_id = 110;
		insert into loyalty.mail (id, recipient, subject, text, html, created_at, status, done_at) values (gen_random_uuid(), 'b@example.com', '', '', '', now(), 'failed', now())`)
	page = k.Get("/platform/health")
	bad := page.Texts(".alert-danger")
	if len(bad) != 2 || !strings.Contains(bad[0], "110") || !strings.Contains(bad[1], "differences") {
		t.Errorf("what is wrong: %q", bad)
	}
	if got := page.Text(".alert-warning"); got != "1 e-mail failed in the last 24 hours" {
		t.Errorf("what is soon wrong: %q", got)
	}
	if got := webtest.Text(page.Find("#verify tbody tr").First()); got != "Every balance is the sum. 7 2 wrong tenant 1: <b>" {
		t.Errorf("first is %q", got)
	}
	if got := page.Text("#verify"); !strings.Contains(got, "Differences found") || !strings.Contains(got, "asked for by Root") {
		t.Errorf("verify: %q", got)
	}
	k.shop.Exec("alter table loyalty.verify_run rename to gone")
	page = k.Get("/platform/health")
	if got := page.Text("#verify .health-unknown"); !strings.Contains(got, "Unknown.") || !strings.Contains(got, "verify_run") {
		t.Errorf("unknown: %q", got)
	}
	if got := page.Text(".health"); !strings.Contains(got, "PostgreSQL 1") {
		t.Errorf("the rest is gone, too: %q", got)
	}
}

// The page says how old the last backup is, and warns of one that is missing.
func TestHealthTellsOfBackups(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	card := func() string { return k.Get("/platform/health").Text(`.health [aria-label="Backups"]`) }
	if got := card(); got != "Backups Last backup None recorded WAL archive Off" {
		t.Errorf("without backups: %q", got)
	}
	k.shop.Exec("select loyalty.record_backup('base', '20260501T020000Z'); update loyalty.backup set finished_at = now() - interval '3 h'")
	page := k.Get("/platform/health")
	if got := card(); !strings.Contains(got, "3 h ago, 20260501T020000Z") || page.Find(".alert-danger, .alert-warning").Length() > 0 {
		t.Errorf("after a backup: %q, %q", got, page.Text(".alert"))
	}
	k.shop.Exec("update loyalty.backup set finished_at = now() - interval '50 h'")
	if got := k.Get("/platform/health").Text(".alert-warning"); got != "The last backup is 2 days old" {
		t.Errorf("after two days: %q", got)
	}
	k.shop.Exec("alter table loyalty.backup rename to gone")
	page = k.Get("/platform/health")
	if got := page.Text(".alert-danger"); got != "Can't read the state of the backups" || !strings.Contains(card(), "Unknown.") || !strings.Contains(page.Text(".health"), "PostgreSQL 1") {
		t.Errorf("unknown: %q, %q", got, card())
	}
}

// A job that waits says that its business is suspended.
func TestTheJobOfASuspendedBusinessSaysWhyItWaits(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	c := k.shop.Coupon(coupon.New{Name: "A bun", BenefitType: "points", BenefitValue: new(int64(5))})
	_, err := k.shop.Coupons.Send(t.Context(), k.shop.By, c.ID, coupon.Send{Segment: coupon.All, At: new(k.shop.DB.Now().Add(time.Hour)), FormKey: "once"})
	k.shop.Check(err)
	job := shoptest.Query[int64](k.shop, "select id from river.river_job where metadata ->> 'tenant' = $1::bigint::text", k.shop.By.Tenant.ID)
	row := fmt.Sprintf("#job-%d .from-sm .job-status", job)
	if got := k.Get("/platform/jobs").Text(row); !strings.HasPrefix(got, "Waiting") || strings.Contains(got, "suspended") {
		t.Errorf("while active: %q", got)
	}
	k.shop.Exec("update loyalty.tenant set status = 'suspended' where id = $1", k.shop.By.Tenant.ID)
	if got := k.Get("/platform/jobs").Text(row); !strings.HasPrefix(got, "Waiting: business suspended") {
		t.Errorf("while suspended: %q", got)
	}
}

// "Audit across tenants: newest first, filters (business, action, person, from/to), platform's
// own entries and tenants' together, sentences as in the panel."
func TestAuditAcrossTenants(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	_, err := db.In(t.Context(), k.shop.DB.Tenant(k.shop.By), func(tx *db.Tx) (int, error) {
		return 0, audit.Write(tx, k.shop.By, audit.Entry{
			Action: "transaction_type.edit", Subject: "transaction_type", ID: "987", Name: "Purchase",
			Old: map[string]any{"min_spend_cents": 500}, New: map[string]any{"min_spend_cents": 123_450},
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	k.Submitted("/platform/jobs/queues/mail/pause", nil)
	page := k.Get("/platform/audit")
	if got := page.Texts(".audit-words")[:2]; !slices.Equal(got, []string{"Root paused the queue mail .", "A owner changed the transaction type Purchase ."}) {
		t.Errorf("the log begins %q", got)
	}
	if got := page.Texts(".audit-tenant")[:2]; !slices.Equal(got, []string{"Platform", k.shop.By.Tenant.Name}) {
		t.Errorf("they are those of %q", got)
	}
	if got := webtest.Text(page.Find(".audit-row").Eq(1).Find("tr").Last()); got != "Min spend € 5.00 € 1,234.50" {
		t.Errorf("what changed: %q", got)
	}
	if got := page.Find("#field-business-suggestions option[value='" + k.shop.By.Tenant.Slug + "']"); got.Length() != 1 {
		t.Error("the new business isn't offered")
	}
	own := k.Get("/platform/audit?" + url.Values{"business": {k.shop.By.Tenant.Slug}, "subject": {"transaction_type"}}.Encode())
	if own.Find(".audit-row").Length() != 1 || own.Value("option[selected]") != "transaction_type" {
		t.Errorf("filtered: %s", own.Text("#audit"))
	}
	actor := own.Find(".audit-row a.btn").First().AttrOr("href", "")
	if got := k.Get(actor).Text("#audit .card-body"); got != "Only entries by A owner Show all" {
		t.Errorf("%s says %q", actor, got)
	}
	for query, want := range map[string]string{"subject=nothing": webtest.MessageApart("subject", core.InvalidChoice), "business=nowhere": webtest.MessageOf("business", "Business", core.InvalidChoice), "person=x@example.com": webtest.Message("Person", core.InvalidChoice), "from=2026-06-02&to=2026-06-01": webtest.Message("To", core.AfterOrEqual("from"))} {
		w := k.Ask(http.MethodGet, "/platform/audit?"+query)
		got := w.Text(".invalid-feedback")
		if link := w.Links("#audit .alert a"); len(link) == 1 && w.Find(link[0]).Length() == 1 && got == want {
			continue
		}
		if got = w.Text("#audit .alert"); w.Code != http.StatusUnprocessableEntity || got != want {
			t.Errorf("%s = %d %q", query, w.Code, got)
		}
	}
	if got := k.Get("/platform/audit?from=2020-01-01&to=2020-01-02").Text(".empty-title"); got != "No entries match" {
		t.Errorf("nothing: %q", got)
	}
}

// "Deprecations: announce (route, sunset at least 90 days ahead, link), headers from that
// moment, one e-mail to each owner with active tokens."
func TestAnnounceADeprecation(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	if _, err := core.Result(k.Tokens.Create(t.Context(), k.shop.By, token.New{Name: "Till", Scopes: &[]string{}}, nil)); err != nil {
		t.Fatal(err)
	}
	form := k.Get(k.Get("/platform/deprecations").Attr(".btn-primary", "href"))
	if got := form.Texts("#field-request option"); !slices.Equal(got, []string{"Choose a request", "GET /api/v1/customers", "POST /api/v1/customers"}) {
		t.Fatalf("to choose from: %q", got)
	}
	w := k.Post("/platform/deprecations", url.Values{"request": {""}, "sunset": {k.shop.DB.Now().AddDate(0, 0, 80).Format("2006-01-02")}, "link": {"http://x"}})
	if got := w.Texts(".invalid-feedback"); w.Code != http.StatusUnprocessableEntity || len(got) != 3 {
		t.Errorf("refused with %d: %q", w.Code, got)
	}
	sent := url.Values{
		"form_key": {form.Value("[name=form_key]")}, "request": {"GET /api/v1/customers"},
		"sunset": {k.shop.DB.Now().AddDate(0, 0, 100).Format("2006-01-02")}, "link": {"https://loyalty.example/docs/changelog"},
	}
	to := k.Submitted("/platform/deprecations", sent)
	k.Submitted("/platform/deprecations", sent) // a double click
	if _, found := k.Deprecations.Find(t.Context(), "GET", "/api/v1/customers"); !found {
		t.Error("the API does not know of it")
	}
	if err := k.Jobs.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.Jobs.Stop(context.WithoutCancel(t.Context())) })
	told := func() int {
		return shoptest.Query[int](k.shop, "select count(*) from loyalty.mail where tenant_id is null and text like '%/api/v1/customers%'")
	}
	for deadline := time.Now().Add(time.Minute); told() == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no owner is e-mailed")
		}
	}
	page := k.Get(to)
	row := page.Text(".deprecations tbody tr")
	if page.Find(".deprecations tbody tr").Length() != 1 || !strings.HasPrefix(row, "GET /api/v1/customers https://loyalty.example/docs/changelog") || !strings.HasSuffix(row, " 1") || told() != 1 {
		t.Errorf("the list says %q, %d are told", row, told())
	}
	w = k.Post("/platform/deprecations", url.Values{"request": {"GET /api/v1/customers"}, "sunset": sent["sunset"], "link": sent["link"]})
	if got := w.Text(".invalid-feedback"); w.Code != http.StatusUnprocessableEntity || got != webtest.Message("API request", core.Duplicate) {
		t.Errorf("twice: %d %q", w.Code, got)
	}
}

// Limits that aren't shared are an alarm, but not the first thing that the page of health says.
func TestHealthTellsThatRedisIsGone(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	*k.redis = "connection refused"
	want := "Each process limits requests, sign-ins and PINs for itself, because Redis can't be reached: connection refused"
	if got := webtest.Text(k.Get("/platform/health").Find(".alert").Last()); !strings.Contains(got, want) {
		t.Errorf("the alarm is %q, want %q", got, want)
	}
}

// A mail server that can't be used is the first thing that the page of health says.
func TestHealthTellsOfAMailServerThatFails(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	if k.Get("/platform/health").Find(".alert-danger").Length() != 0 {
		t.Error("there is an alarm, and nothing is wrong")
	}
	*k.trouble = "mail.example.com offers no encryption (STARTTLS)."
	want := "E-mails can't be sent: mail.example.com offers no encryption (STARTTLS)."
	if got := webtest.Text(k.Get("/platform/health").Find(".alert").First()); !strings.Contains(got, want) {
		t.Errorf("the first alarm is %q, want %q", got, want)
	}
}
