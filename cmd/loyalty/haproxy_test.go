package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/sandbox"
	"example.com/loyalty/core/vault"
)

// proxied is two processes behind HAProxy with the shipped configuration.
type proxied struct {
	t       *testing.T
	servers [2]*server
	program string
	proxy   *exec.Cmd
	log     output // HAProxy's
	addr    string // of its TLS port
	metrics string // the addresses of its metrics
	base    string
	trusts  *tls.Config
	shop    sandbox.Tenant
}

// haproxy finds HAProxy, which Debian installs where only root looks.
func haproxy(t *testing.T) (program string) {
	t.Helper()
	const debians = "/usr/sbin/haproxy"
	if exists(debians) {
		return debians
	}
	requireProgram(t, "haproxy")
	return "haproxy"
}

// newProxied starts the product twice behind HAProxy. Of docs/operations/haproxy.cfg only addresses and the paths of
// files are changed.
func newProxied(t *testing.T) *proxied {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs several addresses of this machine")
	}
	p := &proxied{t: t, program: haproxy(t)}
	p.addr, p.metrics = "127.0.0.1:"+strconv.Itoa(freePort(t)), "127.0.0.1:"+strconv.Itoa(freePort(t))
	_, port, _ := net.SplitHostPort(p.addr)
	p.base = "https://localhost:" + port
	in := newInstallationOn(t, dbtest.OwnURL(t), "LOYALTY_SANDBOX=1", "LOYALTY_TLS=proxy", "LOYALTY_TRUSTED_PROXIES=127.0.0.1",
		"LOYALTY_BASE_URL="+p.base, "LOYALTY_RATE_TOKEN=0", "LOYALTY_LOG=json")
	p.shop = in.sandbox(t).Tenants[0]
	for _, token := range p.shop.Tokens {
		in.hidden = append(in.hidden, token)
	}
	for i := range p.servers {
		place := in.with("LOYALTY_METRICS_ADDR=127.0.0.1:" + strconv.Itoa(freePort(t)))
		if i > 0 {
			place = place.onItsOwnPort(t).with("LOYALTY_BASE_URL=" + p.base)
		}
		p.servers[i] = place.served()
	}
	cert, key := selfSigned(t, time.Now().Add(time.Hour), "localhost", strings.TrimPrefix(strings.TrimSuffix(p.shop.TillURL, ":"+port+"/till"), "https://"))
	p.write("loyalty.pem", string(cert)+string(key))
	p.trusts = trusting(t, p.file("loyalty.pem"))
	p.start(in)
	return p
}

func (p *proxied) file(name string) string { return filepath.Join(p.servers[0].in.top, name) }

func (p *proxied) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(p.file(name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// start starts HAProxy, and waits until it knows that both processes are ready.
func (p *proxied) start(in *installation) {
	p.t.Helper()
	page, err := filepath.Abs(filepath.Join(operationFiles, "unavailable.html"))
	if err != nil {
		p.t.Fatal(err)
	}
	p.write("haproxy.cfg", strings.NewReplacer(
		"server app1 app1:8443", "server app1 "+p.servers[0].in.addr, "server app2 app2:8443", "server app2 "+p.servers[1].in.addr,
		"bind :8443", "bind "+p.addr, "bind :8405", "bind "+p.metrics, "bind :8080", "bind 127.0.0.1:"+strconv.Itoa(freePort(p.t)),
		"/etc/haproxy/tls/loyalty.pem", p.file("loyalty.pem"), "/etc/haproxy/unavailable.html", page,
	).Replace(operationFile(p.t, "haproxy.cfg")))
	if out, err := exec.Command(p.program, "-c", "-f", p.file("haproxy.cfg")).CombinedOutput(); err != nil || strings.Contains(string(out), "WARNING") {
		p.t.Fatalf("haproxy -c: %v\n%s", err, out)
	}
	p.proxy = exec.Command(p.program, "-db", "-f", p.file("haproxy.cfg"))
	p.proxy.Stdout, p.proxy.Stderr = &p.log, &p.log
	if err := p.proxy.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		_ = p.proxy.Process.Kill()
		_ = p.proxy.Wait()
		if p.t.Failed() {
			lines := slices.Collect(strings.Lines(p.log.String()))
			p.t.Logf("HAProxy:\n%s", strings.Join(lines[max(0, len(lines)-20):], ""))
		}
	})
	await(p.t, "HAProxy serves", func() bool {
		got, err := p.from("127.0.0.1").ask("GET", p.base+"/healthz", "", "")
		return err == nil && got.status == http.StatusOK
	})
}

// visitor is a client with one of this machine's addresses.
type visitor struct{ http *http.Client }

func (p *proxied) from(address string) visitor {
	p.t.Helper()
	return visitor{clientFrom(p.t, address, p.addr, p.trusts.Clone())}
}

func (v visitor) ask(method, url, token, body string, headers ...string) (answer, error) {
	return call(v.http, method, url, token, body, headers...)
}

// customers creates n customers.
func (p *proxied) customers(n int) (ids []core.ID) {
	p.t.Helper()
	api := p.from("127.0.0.1")
	for i := range n {
		got, err := api.ask("POST", p.base+"/api/v1/customers", p.shop.Tokens["all"], fmt.Sprintf(`{"first_name":"Elsa","last_name":"Berg","phone":"+4670%07d"}`, 4_000_000+i))
		if err != nil || got.status != http.StatusCreated {
			p.t.Fatalf("%d %s %v", got.status, got.body, err)
		}
		id, err := core.ParseID(decode[single[customerRecord]](p.t, got.body).Data.ULID)
		if err != nil {
			p.t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// shops is the origin of the business's pages.
func (p *proxied) shops() string { return strings.TrimSuffix(p.shop.TillURL, "/till") }

// cards are the addresses of customers' cards.
func (p *proxied) cards(customers []core.ID) (cards []string) {
	p.t.Helper()
	keys, err := vault.New([]string{testSecret})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, id := range customers {
		token, err := link.New(keys).Token(link.Card, p.shop.ID, id, 0)
		if err != nil {
			p.t.Fatal(err)
		}
		cards = append(cards, p.shops()+"/card/"+token)
	}
	return cards
}

// livePages opens four live pages of each card, those of some cards from one address. They are open until closed.
func (p *proxied) livePages(cards []string) (opened int, closeAll func()) {
	p.t.Helper()
	const cardsPerAddress = 10 // 40 pages; the product takes 50
	ctx, cancel := context.WithCancel(p.t.Context())
	var open atomic.Int64
	var opening, reading sync.WaitGroup
	for i, some := range slices.Collect(slices.Chunk(cards, cardsPerAddress)) {
		phones := p.from("127.0.1." + strconv.Itoa(i+1))
		phones.http.Timeout = 0
		if i%2 == 0 { // a connection for each page
			phones.http.Transport.(*http.Transport).ForceAttemptHTTP2 = false
		}
		opening.Go(func() {
			for _, card := range some {
				events, err := p.showPIN(phones, card)
				if err != nil {
					p.t.Error(err)
					return
				}
				for range 4 {
					opening.Go(func() {
						body, err := phones.watch(ctx, events)
						if err != nil {
							p.t.Errorf("live page %d: %v", open.Load()+1, err)
							return
						}
						open.Add(1)
						reading.Go(func() {
							_, _ = io.Copy(io.Discard, body)
							_ = body.Close()
						})
					})
				}
			}
		})
	}
	opening.Wait()
	return int(open.Load()), func() { cancel(); reading.Wait() }
}

// showPIN shows a PIN on a card and returns the address of its stream.
func (p *proxied) showPIN(v visitor, card string) (events string, err error) {
	r, err := http.NewRequest("POST", card+"/pin", strings.NewReader(url.Values{}.Encode()))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Hx-Request", "true")
	got, err := v.http.Do(r)
	if err != nil {
		return "", err
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		return "", err
	}
	pin := regexp.MustCompile(pinOnPage).FindSubmatch(body)
	if pin == nil {
		return "", fmt.Errorf("no PIN: %d %s", got.StatusCode, body)
	}
	return card + "/pin/" + string(pin[1]) + "/events", nil
}

// watch opens a stream and waits for its first event.
func (v visitor) watch(ctx context.Context, events string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, "GET", events, nil)
	if err != nil {
		return nil, err
	}
	got, err := v.http.Do(r)
	if err != nil {
		return nil, err
	}
	first, err := bufio.NewReader(got.Body).ReadString('\n')
	if got.StatusCode != http.StatusOK || first != "event: state\n" {
		_ = got.Body.Close()
		return nil, fmt.Errorf("%d %q: %w", got.StatusCode, first, err)
	}
	return got.Body, nil
}

// figure is the sum of a metric's values in all processes.
func figure(t *testing.T, name string, addresses ...string) (sum float64) {
	t.Helper()
	for _, address := range addresses {
		got, err := call(http.DefaultClient, "GET", "http://"+address+"/metrics", "", "")
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(name)+` (\S+)$`).FindAllStringSubmatch(got.body, -1) {
			value, err := strconv.ParseFloat(found[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += value
		}
	}
	return sum
}

// openStreams are those of both processes.
func (p *proxied) openStreams() int {
	p.t.Helper()
	var addresses []string
	for _, s := range p.servers {
		address := s.in.env[slices.IndexFunc(s.in.env, func(v string) bool {
			return strings.HasPrefix(v, "LOYALTY_METRICS_ADDR=127")
		})]
		addresses = append(addresses, strings.TrimPrefix(address, "LOYALTY_METRICS_ADDR="))
	}
	return int(figure(p.t, "loyalty_streams_open", addresses...))
}

// sells checks that sales, pages and /healthz are answered at once.
func (p *proxied) sells(customer core.ID) {
	p.t.Helper()
	visitor, slowest := p.from("127.0.0.9"), time.Duration(0)
	for i := range 10 {
		for _, r := range []struct {
			method, url, token, body string
			want                     int
		}{
			{"POST", p.base + "/api/v1/transactions", p.shop.Tokens["all"], fmt.Sprintf(`{"customer_ulid":%q,"transaction_type_id":%d,"spend_amount_cents":%d}`, customer, p.shop.TransactionTypeID, 100+i), http.StatusCreated},
			{"GET", p.base + "/healthz", "", "", http.StatusOK},
			{"GET", p.shops() + "/join", "", "", http.StatusOK},
		} {
			began := time.Now()
			got, err := visitor.ask(r.method, r.url, r.token, r.body)
			if err != nil || got.status != r.want {
				p.t.Errorf("%s %s = %d %s %v after %v", r.method, r.url, got.status, got.body, err, time.Since(began))
			}
			slowest = max(slowest, time.Since(began))
		}
	}
	p.t.Logf("the slowest of 30 requests took %v", slowest)
}

// isRefusal checks a response that HAProxy wrote because no process had room.
func (p *proxied) isRefusal(got answer, contentType, says string) {
	p.t.Helper()
	seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
	if got.status != http.StatusServiceUnavailable || got.header.Get("Content-Type") != contentType || !strings.Contains(got.body, says) || err != nil || seconds < 1 ||
		got.header.Get("Cache-Control") != "no-store" {
		p.t.Errorf("%d %v %s: want 503 with Retry-After as %s", got.status, got.header, got.body, contentType)
	}
	if id := got.id(); id == "" {
		p.t.Error("a refusal has no id")
	}
	await(p.t, "the refusal is in HAProxy's log", func() bool { return p.log.has(got.id()) })
}

const pageOfProxy = "text/html; charset=utf-8"

// "450 streams": with 450 open live pages, sales are recorded and pages opened as without. When the pages are closed,
// their streams end at once.
func TestLivePagesDelayNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("opens hundreds of pages behind HAProxy: make test-long")
	}
	t.Parallel()
	p := newProxied(t)
	customers := p.customers(113)
	opened, closeAll := p.livePages(p.cards(customers))
	p.sells(customers[0])
	if opened != 452 || p.openStreams() != opened {
		t.Errorf("%d live pages are open, and the processes count %d", opened, p.openStreams())
	}
	closeAll()
	closed := time.Now()
	await(t, "the streams have ended", func() bool { return p.openStreams() == 0 })
	// The next heartbeat would come within 15 seconds.
	if took := time.Since(closed); took > 5*time.Second {
		t.Errorf("the last stream ended %v after its page was closed", took)
	} else {
		t.Logf("the last stream ended %v after its page was closed", took)
	}
	if line := p.log.line(" /card "); line == "" || strings.Contains(p.log.String(), "/card/") {
		t.Error("HAProxy logs secret links, or nothing")
	}
	if !strings.Contains(p.log.String(), " streams/app") {
		t.Error("no stream went to the backend of streams")
	}
}

// Without room or without processes, HAProxy refuses in the form of the API or with a page, and counts it. Slow
// clients that occupy all places of the API delay no page.
func TestRefusalsOfTheProxy(t *testing.T) {
	if testing.Short() {
		t.Skip("occupies HAProxy: make test-long")
	}
	t.Parallel()
	p := newProxied(t)
	customer := p.customers(1)[0]
	visitor := p.from("127.0.0.9")
	api := func() answer {
		t.Helper()
		got, err := visitor.ask("GET", p.base+"/api/v1/customers", p.shop.Tokens["all"], "")
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	p.slowFormsWait()
	const refusals = `haproxy_backend_connection_errors_total{proxy="api"}`
	free := p.occupy(400)
	began := time.Now()
	p.isRefusal(api(), problemJSON, strings.TrimSpace(unavailable))
	if took := time.Since(began); took < 4*time.Second || took > 8*time.Second {
		t.Errorf("refused after %v", took)
	}
	for _, page := range []string{p.base + "/healthz", p.shops() + "/join"} {
		if got, err := visitor.ask("GET", page, "", ""); err != nil || got.status != http.StatusOK {
			t.Errorf("GET %s = %d %v", page, got.status, err)
		}
	}
	if n := figure(t, refusals, p.metrics); n != 1 {
		t.Errorf("%g refusals are counted, want 1", n)
	}
	free()
	await(t, "the API serves again", func() bool { return api().status == http.StatusOK })

	for _, s := range p.servers {
		s.signal(syscall.SIGSTOP)
	}
	hanging, late := make(chan answer, 1), p.from("127.0.0.8")
	go func() { // it reaches a process before HAProxy notices
		got, err := late.ask("GET", p.base+"/api/v1/customers", p.shop.Tokens["all"], "")
		if err != nil {
			t.Error(err)
		}
		hanging <- got
	}()
	await(t, "HAProxy notices that both processes hang", func() bool {
		return figure(t, `haproxy_backend_active_servers{proxy="api"}`, p.metrics) == 0
	})
	p.isRefusal(api(), problemJSON, strings.TrimSpace(unavailable))
	for _, page := range []string{p.base + "/healthz", p.shops() + "/join", p.shops() + "/till/pins/x/events"} {
		got, err := visitor.ask("GET", page, "", "")
		if err != nil {
			t.Fatal(err)
		}
		p.isRefusal(got, pageOfProxy, "Wait a few seconds")
	}
	for _, backend := range []string{"api", "pages", "streams"} { // as LoyaltyProxyRefusing counts them
		if figure(t, `haproxy_backend_connection_errors_total{proxy="`+backend+`"}`, p.metrics) == 0 {
			t.Errorf("the refusals of %s are not counted", backend)
		}
	}
	if got := <-hanging; got.status != http.StatusGatewayTimeout || got.header.Get("Content-Type") != problemJSON || !strings.Contains(got.body, `"status":504`) {
		t.Errorf("a process that hangs: %d %v %s", got.status, got.header, got.body)
	}
	for _, s := range p.servers {
		s.signal(syscall.SIGCONT)
	}
	await(t, "both serve again", func() bool { return figure(t, `haproxy_backend_active_servers{proxy="api"}`, p.metrics) == 2 })
	p.sells(customer)
}

// occupy sends requests to the API that don't arrive completely, until free is called. They are longer than what
// HAProxy waits for, so the product reads them.
func (p *proxied) occupy(n int) (free func()) {
	p.t.Helper()
	free = p.sendPartly(n, fmt.Sprintf("POST /api/v1/customers HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n%s",
		strings.TrimPrefix(p.base, "https://"), p.shop.Tokens["all"], strings.Repeat(" ", 50_000)))
	await(p.t, "the API is full", func() bool { return p.atProcesses("api") == n })
	return free
}

// sendPartly sends the beginning of a request on n connections, a hundred from one address, until they are closed.
func (p *proxied) sendPartly(n int, request string) (closeAll func()) {
	p.t.Helper()
	var conns []net.Conn
	for i := range n {
		dialer := tls.Dialer{NetDialer: &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 2, byte(i/100+1))}}, Config: p.trusts.Clone()}
		dialer.Config.ServerName = "localhost"
		conn, err := dialer.DialContext(p.t.Context(), "tcp", p.addr)
		if err != nil {
			p.t.Fatal(err)
		}
		conns = append(conns, conn)
		if _, err := io.WriteString(conn, request); err != nil {
			p.t.Fatal(err)
		}
	}
	return func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
	}
}

// atProcesses is how many requests of a backend the processes have.
func (p *proxied) atProcesses(backend string) (n int) {
	p.t.Helper()
	for _, server := range []string{"app1", "app2"} {
		n += int(figure(p.t, `haproxy_server_current_sessions{proxy="`+backend+`",server="`+server+`"}`, p.metrics))
	}
	return n
}

// A form that arrives slowly occupies no process.
func (p *proxied) slowFormsWait() {
	p.t.Helper()
	closeAll := p.sendPartly(20, "POST /join HTTP/1.1\r\nHost: "+strings.TrimPrefix(p.shops(), "https://")+"\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nname=")
	defer closeAll()
	await(p.t, "the forms have begun to arrive", func() bool { return figure(p.t, `haproxy_backend_current_sessions{proxy="pages"}`, p.metrics) == 20 })
	if n := p.atProcesses("pages"); n != 0 {
		p.t.Errorf("%d forms that are still being sent are at the processes", n)
	}
}

// A request has one id in the response, HAProxy's log and the product's, which no client chooses. An address has 256
// connections.
func TestRequestsThroughTheProxy(t *testing.T) {
	if testing.Short() {
		t.Skip("needs HAProxy: make test-long")
	}
	t.Parallel()
	p := newProxied(t)
	for _, at := range []string{p.base + "/api/v1/customers", p.base + "/", p.shops() + "/join"} {
		got, err := p.from("127.0.0.7").ask("GET", at, "", "", "X-Request-Id: chosen-by-a-client", "X-Forwarded-For: 203.0.113.7")
		if err != nil {
			t.Fatal(err)
		}
		id := got.id()
		logged := func() string {
			return p.servers[0].log.line(`"msg":"request","request":"`+id+`"`) + p.servers[1].log.line(`"msg":"request","request":"`+id+`"`)
		}
		await(t, "the request is logged", func() bool { return logged() != "" && p.log.has(id) })
		if !strings.Contains(logged(), `"address":"127.0.0.7"`) || strings.Contains(p.log.String(), "chosen-by-a-client") || len(got.header.Values("X-Request-Id")) != 1 {
			t.Errorf("GET %s has the ids %q and is logged as %s", at, got.header.Values("X-Request-Id"), logged())
		}
	}
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 3, 1)}}
	refused := 0
	for range 260 {
		conn, err := dialer.DialContext(t.Context(), "tcp", p.addr)
		if err == nil {
			defer conn.Close()
			_ = conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
			_, err = conn.Read(make([]byte, 1))
		}
		if !os.IsTimeout(err) { // an open connection waits for the client
			refused++
		}
	}
	if refused != 4 {
		t.Errorf("of 260 connections of an address, %d were refused, want 4", refused)
	}
}
