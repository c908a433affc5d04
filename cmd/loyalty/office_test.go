package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/mail/smtptest"
	"example.com/loyalty/core/sandbox"
)

// office is an owner signed in to the panel. Each request goes to a process of the test's choice, and all of them
// know the session. It fills in forms as the pages show them, so it can use earlier builds, too.
type office struct {
	t      *testing.T
	base   string // of the panel's host
	cookie string
}

func newOffice(t *testing.T, at *http.Client, base string, owner sandbox.Password) *office {
	t.Helper()
	o := &office{t: t, base: base}
	in := o.send(at, "/admin/sign-in", url.Values{"email": {owner.Email}, "password": {owner.Password}})
	for _, cookie := range in.header.Values("Set-Cookie") {
		if strings.HasPrefix(cookie, "__Host-session=") {
			o.cookie, _, _ = strings.Cut(cookie, ";")
			return o
		}
	}
	t.Fatalf("no session: %d %v", in.status, in.header)
	return nil
}

func (o *office) call(at *http.Client, method, path, content, body string) (answer, error) {
	return call(at, method, o.base+path, "", body, "Content-Type: "+content, "Sec-Fetch-Site: same-origin", "Cookie: "+o.cookie)
}

// send posts a form, which must be accepted.
func (o *office) send(at *http.Client, path string, form url.Values) answer {
	o.t.Helper()
	got, err := o.call(at, "POST", path, "application/x-www-form-urlencoded", form.Encode())
	if err != nil || got.status != http.StatusSeeOther {
		o.t.Fatalf("POST %s: %v, %d %s", path, err, got.status, got.body)
	}
	return got
}

// open opens a page.
func (o *office) open(at *http.Client, path string) *goquery.Document {
	o.t.Helper()
	got, err := o.call(at, "GET", path, "", "")
	if err != nil || got.status != http.StatusOK {
		o.t.Fatalf("GET %s: %v, %d %s", path, err, got.status, got.body)
	}
	return document(o.t, got)
}

// upload uploads a file of customers, accepts the columns that are suggested, and waits until it is checked. It
// returns the import's page.
func (o *office) upload(at *http.Client, file string) (path string) {
	o.t.Helper()
	key, _ := o.open(at, "/admin/customers/import").Find("input[name=form_key]").Attr("value")
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.WriteField("form_key", key)
	part, err := form.CreateFormFile("file", "customers.csv")
	if err != nil {
		o.t.Fatal(err)
	}
	_, _ = io.WriteString(part, file)
	_ = form.Close()
	got, err := o.call(at, "POST", "/admin/customers/import", form.FormDataContentType(), body.String())
	path = got.header.Get("Location")
	if err != nil || path == "" {
		o.t.Fatalf("the upload: %v, %d %s", err, got.status, got.body)
	}
	columns, page := url.Values{}, o.open(at, path)
	page.Find("form select").Each(func(_ int, s *goquery.Selection) {
		columns.Set(s.AttrOr("name", ""), s.Find("option[selected]").AttrOr("value", ""))
	})
	page.Find("form input[type=checkbox][checked]").Each(func(_ int, s *goquery.Selection) {
		columns.Set(s.AttrOr("name", ""), s.AttrOr("value", "on"))
	})
	o.send(at, path+"/check", columns)
	await(o.t, "the file is checked", func() bool { return o.open(at, path).Find("a[href$='/run']").Length() > 0 })
	return path
}

// mail confirms a send of a coupon to all customers and returns its page.
func (o *office) mail(at *http.Client, coupon core.ID, subject string) (path string) {
	o.t.Helper()
	form := "/admin/coupons/" + coupon.String() + "/send"
	key, _ := o.open(at, form).Find("input[name=form_key]").Attr("value")
	confirmed := o.send(at, form, url.Values{"form_key": {key}, "segment": {"all"}, "when": {"now"}, "subject": {subject}, "message": {""}})
	return confirmed.header.Get("Location")
}

// sendOrImport returns the ID at the end of the page's path.
func sendOrImport(t *testing.T, path string) core.ID {
	t.Helper()
	id, err := core.ParseID(path[strings.LastIndexByte(path, '/')+1:])
	if err != nil {
		t.Fatal(err)
	}
	return id
}

var shownProgress = regexp.MustCompile(`([\d,]+) of [\d,]+`)

// progress returns how far a send or an import is, by its page; false if the page shows no number.
func (o *office) progress(at *http.Client, path string) (done int, shown bool) {
	o.t.Helper()
	found := shownProgress.FindStringSubmatch(o.open(at, path).Find("main").Text())
	if found == nil {
		return 0, false
	}
	done, err := strconv.Atoi(strings.ReplaceAll(found[1], ",", ""))
	if err != nil {
		o.t.Fatal(err)
	}
	return done, true
}

// customersFile is a CSV file of n customers, from a number on. The points of each are its number, so a row that is
// imported twice shows in the sum.
func customersFile(from, n int) string {
	var file strings.Builder
	file.WriteString("Name;Phone;E-mail;Points\n")
	for i := from; i < from+n; i++ {
		fmt.Fprintf(&file, "Elsa Berg;+4670%07d;%s;%d\n", i, customerAddress(i), i)
	}
	return file.String()
}

func customerAddress(number int) string { return fmt.Sprintf("elsa-%d@example.com", number) }

// copies counts, for each recipient of mails with a subject, the copies of each mail by Message-ID.
func copies(server *smtptest.Server, subject string) map[string]map[string]int {
	all := map[string]map[string]int{}
	for _, m := range server.Mails() {
		if m.Header.Get("Subject") != subject {
			continue
		}
		if all[m.To] == nil {
			all[m.To] = map[string]int{}
		}
		all[m.To][m.Header.Get("Message-Id")]++
	}
	return all
}

// terms are when processes began to lead the periodic jobs, one after the other.
type terms struct {
	began []time.Time
	stop  func() // before began is read
}

// watchTerms watches the row that names the leader, on a connection of its own.
func watchTerms(t *testing.T, database string) *terms {
	t.Helper()
	found, d := &terms{}, connect(t, database)
	ctx, cancel := context.WithCancel(t.Context())
	var watch sync.WaitGroup
	watch.Go(func() {
		for ctx.Err() == nil {
			var elected time.Time
			if d.QueryRow(ctx, "select elected_at from river.river_leader").Scan(&elected) == nil && !slices.ContainsFunc(found.began, elected.Equal) {
				found.began = append(found.began, elected)
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	found.stop = sync.OnceFunc(func() {
		cancel()
		watch.Wait()
	})
	t.Cleanup(found.stop)
	return found
}

// checkPeriodic checks that each periodic job was queued once a period in the whole installation: a process that
// begins to lead queues each kind at once, and from then on each is due after a minute or more. It returns how many
// jobs there were.
func (found *terms) checkPeriodic(d database) (jobs int) {
	d.t.Helper()
	found.stop()
	const ofThePlatform = `
		select kind, array_agg(created_at order by created_at) as made
		from river.river_job
		where queue = 'upkeep' and not metadata ? 'tenant'
		group by kind`
	rows, err := d.Query(d.t.Context(), ofThePlatform)
	if err != nil {
		d.t.Fatal(err)
	}
	kinds, err := pgx.CollectRows(rows, pgx.RowToStructByName[struct {
		Kind string
		Made []time.Time
	}])
	if err != nil {
		d.t.Fatal(err)
	}
	for _, k := range kinds {
		jobs += len(k.Made)
		for i := 1; i < len(k.Made); i++ {
			last, next := k.Made[i-1], k.Made[i]
			led := slices.ContainsFunc(found.began, func(at time.Time) bool { return last.Before(at) && !next.Before(at) })
			if gap := next.Sub(last); gap < 55*time.Second && !led {
				d.t.Errorf("%s was queued twice within %s by one leader, at %s and %s; terms began at %s", k.Kind, gap, last, next, found.began)
			}
		}
	}
	return jobs
}
