package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/sandbox"
)

// device is a browser that a balancer may lead to any process: its cookies go along.
type device struct {
	t      *testing.T
	origin string
	jar    *cookiejar.Jar
	http   map[*installation]*http.Client
}

func newDevice(t *testing.T, origin string, processes ...*server) *device {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	d := &device{t, origin, jar, map[*installation]*http.Client{}}
	for _, p := range processes {
		c := client(t, p.in.addr, trusting(t, filepath.Join(p.in.data, "ca.pem")))
		c.Jar = jar
		d.http[p.in] = c
	}
	return d
}

// do sends a request to one of the processes, as the pages' scripts do.
func (d *device) do(at *server, method, path string, form url.Values) (*http.Response, error) {
	r, err := http.NewRequestWithContext(d.t.Context(), method, d.origin+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Hx-Request", "true")
	return d.http[at.in].Do(r)
}

// post sends a form and finds something in the answer.
func (d *device) post(at *server, path string, form url.Values, wanted string) string {
	d.t.Helper()
	got, err := d.do(at, http.MethodPost, path, form)
	if err != nil {
		d.t.Fatal(err)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	text := fmt.Sprintf("%d %s\n%s", got.StatusCode, got.Header.Get("Location")+got.Header.Get("Hx-Redirect"), body)
	found := regexp.MustCompile(wanted).FindStringSubmatch(text)
	if found == nil {
		d.t.Fatalf("POST %s: no %s in %s", path, wanted, text)
	}
	return found[len(found)-1]
}

// watch listens to what becomes of something.
func (d *device) watch(at *server, path string) <-chan string {
	d.t.Helper()
	got, err := d.do(at, http.MethodGet, path, nil)
	if err != nil || got.StatusCode != http.StatusOK {
		d.t.Fatalf("GET %s: %v, %v", path, got, err)
	}
	states := make(chan string)
	d.t.Cleanup(func() { _ = got.Body.Close() })
	go func() {
		defer close(states)
		for lines := bufio.NewScanner(got.Body); lines.Scan(); {
			if state, found := strings.CutPrefix(lines.Text(), "data: "); found {
				select {
				case states <- state:
				case <-d.t.Context().Done():
					return
				}
			}
		}
	}()
	return states
}

func (d *device) told(states <-chan string, want string) {
	d.t.Helper()
	select {
	case got := <-states:
		if got != want {
			d.t.Fatalf("told %q, want %q", got, want)
		}
	case <-time.After(patience):
		d.t.Fatalf("not told that it is %s", want)
	}
}

const (
	digitsOnPage = `class="pin-digits"[^>]*>([^<]+)<`
	pinOnPage    = `id="pin-([0-9A-HJKMNP-TV-Z]{26})"`
	takenOnPage  = `name="pin_ulid" value="([^"]+)"`
)

// twoProcesses serve one database behind one name.
func twoProcesses(t *testing.T) (a, b *server, shop sandbox.Tenant, database string) {
	t.Helper()
	database = dbtest.OwnURL(t)
	in := newInstallationOn(t, database, "LOYALTY_SANDBOX=1")
	a = in.serve()
	shop = in.sandbox(t).Tenants[0]
	second := newInstallationOn(t, database, "LOYALTY_BASE_URL="+in.base)
	second.base = in.base
	return a, second.serve(), shop, database
}

func cashierAt(t *testing.T, shop sandbox.Tenant, at *server, processes ...*server) *device {
	t.Helper()
	d := newDevice(t, strings.TrimSuffix(shop.TillURL, "/till"), processes...)
	who := shop.Staff[core.Cashier]
	d.post(at, "/admin/sign-in", url.Values{"email": {who.Email}, "password": {who.Password}}, `/till`)
	return d
}

// "Two processes behind one balancer serve till and phone": whichever of them a request
// reaches, a PIN is taken and completed once, and both sides are told at once.
func TestTillAndPhoneAtDifferentProcesses(t *testing.T) {
	t.Parallel()
	a, b, shop, _ := twoProcesses(t)
	till := cashierAt(t, shop, b, a, b) // signed in at one, sells at the other
	phone := newDevice(t, till.origin, a, b)
	kind := strconv.FormatInt(shop.TransactionTypeID, 10)

	// The till shows, the customer's phone collects.
	body := till.post(a, "/till/show", url.Values{"spend_amount_cents": {"2450"}, "transaction_type_id": {kind}}, `(?s)(.*)`)
	digits := regexp.MustCompile(digitsOnPage).FindStringSubmatch(body)[1]
	shown := till.watch(a, "/till/pins/"+regexp.MustCompile(`/till/pins/([0-9A-HJKMNP-TV-Z]{26})/events`).FindStringSubmatch(body)[1]+"/events")
	till.told(shown, "waiting")
	phone.post(b, "/w", url.Values{"pin": {digits}}, `/w/claim`)
	till.told(shown, "taken")
	page, err := phone.do(a, http.MethodGet, "/w/claim", nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(page.Body)
	_ = page.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	hidden := func(name string) []string {
		return []string{regexp.MustCompile(`name="` + name + `" value="([^"]+)"`).FindStringSubmatch(string(text))[1]}
	}
	claim := url.Values{"phone": {"+46 70 412 88 19"}, "name": {"Elsa Berg"}, "agreed": {"1"}, "terms": hidden("terms"), "form_key": hidden("form_key")}
	phone.post(b, "/w/claim", claim, `/w/claimed`)
	phone.post(a, "/w/claim", claim, `/w/claimed`) // pressed again, and led to the other process
	till.told(shown, "completed")

	// The customer's card shows, the till takes.
	card := strings.TrimPrefix(shop.Pages.Card, till.origin)
	body = phone.post(b, card+"/pin", nil, `(?s)(.*)`)
	pin := regexp.MustCompile(pinOnPage).FindStringSubmatch(body)[1]
	seen := phone.watch(a, card+"/pin/"+pin+"/events")
	phone.told(seen, "waiting")
	held := till.post(a, "/till/take", url.Values{"pin": {regexp.MustCompile(digitsOnPage).FindStringSubmatch(body)[1]}}, takenOnPage)
	phone.told(seen, "taken")
	sale := url.Values{"pin_ulid": {held}, "spend_amount_cents": {"1200"}, "transaction_type_id": {kind}, "form_key": {core.NewID(time.Now()).String()}}
	till.post(b, "/till/sale", sale, `data-receipt`)
	phone.told(seen, "completed")
	till.post(a, "/till/sale", sale, `/till/receipts/`) // the answer was lost, it is sent again

	a.stop()
	b.stop()
	a.in.succeed("verify")
}

// "A killed process never leaves a completed PIN without its sale": sales are under way at a
// process that is killed. Sent again to the other one with the same form keys, each is
// recorded once.
func TestATillIsKilledDuringSales(t *testing.T) {
	t.Parallel()
	a, b, shop, database := twoProcesses(t)
	till := cashierAt(t, shop, a, a, b)
	kind := strconv.FormatInt(shop.TransactionTypeID, 10)
	card := strings.TrimPrefix(shop.Pages.Card, till.origin)
	phone := newDevice(t, till.origin, a, b)

	const sales = 40 // a card shows 20 PINs in five minutes, at each process
	forms := make([]url.Values, sales)
	for i := range forms {
		digits := phone.post([]*server{a, b}[i%2], card+"/pin", nil, digitsOnPage)
		forms[i] = url.Values{
			"pin_ulid": {till.post(a, "/till/take", url.Values{"pin": {digits}}, takenOnPage)}, "transaction_type_id": {kind},
			"spend_amount_cents": {strconv.Itoa(10_000 + i)}, "form_key": {core.NewID(time.Now()).String()},
		}
	}
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	counted := func(sql string) (n int) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), sql, shop.ID).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	// All of them want the customer's account, and get it one after the other once it isn't held any more.
	holder, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close(t.Context())
	held, err := holder.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.Exec(t.Context(), "select from loyalty.account where tenant_id = $1 and customer_id = $2 for update", shop.ID, shop.Pages.Customer); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, form := range forms {
		all.Go(func() {
			if got, err := till.do(b, http.MethodPost, "/till/sale", form); err == nil {
				_ = got.Body.Close()
			}
		})
	}
	await(t, "sales wait for the account", func() bool {
		return counted("select count(*) from "+dbtest.Activity(t)+" where datname = current_database() and wait_event_type = 'Lock' and $1 > 0") >= 4 // of a quarter of the connections
	})
	const ofTheTill = "select count(*) from loyalty.transaction where tenant_id = $1 and source = 'pos' and spend_amount_cents between 10000 and 10059"
	if err := held.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(t, "a sale is recorded", func() bool { return counted(ofTheTill) > 0 })
	b.signal(syscall.SIGKILL)
	all.Wait()
	<-b.exited

	awaitNoTransaction(t, database)
	recorded := counted(ofTheTill)
	if used := counted("select count(*) from loyalty.pin where tenant_id = $1 and status = 'used' and transaction_id is not null"); used != recorded {
		t.Errorf("%d PINs are completed, of %d sales", used, recorded)
	}
	if recorded == 0 || recorded == sales {
		t.Errorf("%d of %d sales were recorded when the process was killed: it was killed too early or too late", recorded, sales)
	}
	for _, form := range forms {
		till.post(a, "/till/sale", form, `data-receipt|/till/receipts/`)
	}
	if n := counted(ofTheTill); n != sales {
		t.Errorf("%d sales after all were sent again, want %d", n, sales)
	}
	a.stop()
	a.in.succeed("verify")
}
