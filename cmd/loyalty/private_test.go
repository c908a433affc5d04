package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
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
)

// TestPrivateDatabase starts the product without a database, and runs tests on copies of the
// result.
func TestPrivateDatabase(t *testing.T) {
	t.Parallel()
	first := newInstallation(t)
	testFirstStart(t, first)
	for name, test := range map[string]func(*testing.T, *installation){
		"CtrlC":           testCtrlC,
		"Outage":          testOutage,
		"OtherProcesses":  testOtherProcesses,
		"LocalTLS":        testLocalTLS,
		"LogOfTheRequest": testLogInJSON,
		"Contract":        testContract,
		"Reset":           testReset,
		"Credentials":     testCredentials,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, first.copyTo(t))
		})
	}
}

// "everything from a bare clone to a running demo: … addresses and sign-ins printed"
// "It prints the addresses, the sign-ins, a token, and three requests to paste."
func testFirstStart(t *testing.T, in *installation) {
	t.Helper()
	s := in.serve()
	screen := s.out.String()
	for _, fact := range []string{
		in.base + "/api/v1", in.base + "/docs", in.base + "/readyz", in.cluster(), filepath.Join(in.data, "ca.pem"),
		in.base + "/mail", "Café Åro", strings.Replace(in.base, "localhost", "demo.localhost", 1) + "/admin",
		"maja@cafearo.example (owner), emre@cafearo.example (manager), linnea@cafearo.example (cashier)", "Password    " + demoPassword(t, in), "Token       " + keptIn(t, in, "demo-token"),
		in.base + "/platform, sign in as admin@loyalty.example with the password " + keptIn(t, in, "admin-password"),
	} {
		if !strings.Contains(screen, fact) {
			t.Errorf("the screen lacks %q", fact)
		}
	}
	if lines := strings.Count(screen, "\n"); lines > 26 {
		t.Errorf("the screen has %d lines", lines)
	}
	if s.token == "" {
		t.Fatalf("the screen has no token:\n%s", screen)
	}
	s.expect(t, http.StatusOK, "GET", "/readyz", "", "").is(t, http.StatusOK, "application/json", `{"status":"ok"}`+"\n")

	// "readable on a development mail page (linked from the start-up screen)": the owner
	// was told of the demo's token.
	s.expect(t, http.StatusForbidden, "GET", "/mail", "", "")
	var cookie, used string
	s.mail(t, func(address string) {
		used = address
		let := s.expect(t, http.StatusSeeOther, "GET", address, "", "")
		cookie, _, _ = strings.Cut("Cookie: "+let.header.Get("Set-Cookie"), ";")
	})
	s.expect(t, http.StatusForbidden, "GET", used, "", "")
	await(t, "the mail is on its page", func() bool {
		return strings.Contains(s.expect(t, http.StatusOK, "GET", "/mail", "", "", cookie).body, "maja@cafearo.example")
	})

	pasted := paste(t, screen, in)
	if pasted == nil { // without curl
		pasted = []answer{
			s.expect(t, http.StatusCreated, "POST", "/api/v1/customers", s.token, `{"first_name":"Elsa","last_name":"Berg","phone":"08-465 004 12"}`),
		}
	}
	made := decode[single[customerRecord]](t, pasted[0].body).Data

	for file, mode := range map[string]fs.FileMode{
		"secret": 0o600, "demo-token": 0o600, "demo-password": 0o600, "ca-key.pem": 0o600, "ca.pem": 0o644, "postgres": 0o700,
	} {
		info, err := os.Stat(filepath.Join(in.data, file))
		if err != nil {
			t.Error(err)
		} else if info.Mode().Perm() != mode {
			t.Errorf("%s has mode %o, want %o", file, info.Mode().Perm(), mode)
		}
	}
	authority, err := os.ReadFile(filepath.Join(in.data, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	customers := in.customers(t)
	s.stop()
	if log := s.log.String(); !strings.Contains(log, "creating the demo business …\ncreating the demo business: done\n") {
		t.Errorf("the progress of the demo, which no terminal shows, is %q", log)
	}

	again := in.serve()
	if again.token != s.token {
		t.Error("the second start has another token")
	}
	if kept, _ := os.ReadFile(filepath.Join(in.data, "ca.pem")); !bytes.Equal(kept, authority) {
		t.Error("the second start has another authority")
	}
	found := again.expect(t, http.StatusOK, "GET", "/api/v1/customers/"+made.ULID, again.token, "")
	if got := decode[single[customerRecord]](t, found.body).Data; got != made {
		t.Errorf("the customer of the first start is %+v, was %+v", got, made)
	}
	if now := in.customers(t); now != customers {
		t.Errorf("the second start has %d customers, the first had %d", now, customers)
	}
	again.stop()
}

func demoPassword(t *testing.T, in *installation) string { return keptIn(t, in, "demo-password") }

// keptIn is a secret that the installation keeps in its data directory.
func keptIn(t *testing.T, in *installation, name string) string {
	t.Helper()
	secret, err := os.ReadFile(filepath.Join(in.data, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(secret))
}

func (in *installation) customers(t *testing.T) int {
	t.Helper()
	return ask[int](connect(t, in.url()), "select count(*) from loyalty.customer")
}

// paste runs the commands of the screen in a shell, exactly as they are printed.
func paste(t *testing.T, screen string, in *installation) (answers []answer) {
	t.Helper()
	var commands []string
	for line := range strings.Lines(screen) {
		last := len(commands) - 1
		switch {
		case strings.HasPrefix(line, "    curl "):
			commands = append(commands, line)
		case last >= 0 && strings.HasSuffix(commands[last], "\\\n"):
			commands[last] += line
		}
	}
	if len(commands) != 3 || strings.Count(screen, "curl ") != 3 {
		t.Fatalf("%d commands are printed, want 3:\n%s", len(commands), screen)
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Log("curl is not installed: the printed commands are not tried")
		return nil
	}
	// What the commands do not ask for is asked by curl's own settings.
	if err := os.WriteFile(filepath.Join(in.top, ".curlrc"), []byte("silent\nwrite-out = \"%{http_code} %{content_type}\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"200 or 201", "201", "200"} { // the first finds a customer, or makes one
		cmd := exec.Command("sh", "-c", commands[i])
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + in.top, "CURL_HOME=" + in.top}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s\n%v: %s", commands[i], err, out)
		}
		body, trailer, _ := strings.Cut(string(out), "\n")
		status, kind, _ := strings.Cut(trailer, " ")
		if !strings.Contains(want, status) || kind != "application/json" || !json.Valid([]byte(body)) {
			t.Errorf("%s\n%q, want JSON and %s", commands[i], out, want)
		}
		answers = append(answers, answer{body: body})
	}
	if customer := decode[single[customerRecord]](t, answers[2].body).Data; customer.Points < 12 {
		t.Errorf("after a sale of 12.50 the balance is %d", customer.Points)
	}
	return answers
}

// "Ctrl-C reaches a child PostgreSQL and stops it while requests drain: its own
// process group" and "requests in flight finish"
func testCtrlC(t *testing.T, in *installation) {
	t.Helper()
	s := in.serve()
	shop := s.demoTill(t)
	before := shop.points()
	release := hold(t, in.url())
	sale := shop.begin("in-flight")
	awaitWaiter(t, in.url())
	s.signal(syscall.SIGINT)
	await(t, "the product stops", func() bool { return s.log.has("stopping") })
	if s.hasExited() {
		t.Fatalf("the product ended with a request in flight: %s", s.log.String())
	}
	release()
	if got := <-sale; got.status != http.StatusCreated {
		t.Errorf("the request in flight: %d %s", got.status, got.body)
	}
	if code := s.exit(); code != 0 || !s.log.has("stopped") {
		t.Errorf("serve ended with %d\n%s", code, s.log.String())
	}
	if left := in.postgres(); left != nil {
		t.Errorf("PostgreSQL still runs: %v", left)
	}

	// "A second Ctrl-C ends the process at once."
	s = in.serve()
	shop.server, shop.token = s, s.token
	if !ask[bool](connect(t, in.url()), "select exists (select from loyalty.token_request where method = 'POST' and endpoint = '/api/v1/transactions' and status = 201)") {
		t.Error("the token's page lacks the request that was answered last")
	}
	if now := shop.points(); now != before+12 {
		t.Errorf("after a sale of 12.50 the balance is %d, was %d", now, before)
	}
	hold(t, in.url())
	shop.begin("abandoned")
	awaitWaiter(t, in.url())
	s.signal(syscall.SIGINT)
	await(t, "the product stops", func() bool { return s.log.has("stopping") })
	await(t, "a second Ctrl-C ends the process", func() bool {
		s.signal(syscall.SIGINT)
		return s.hasExited()
	})
	if status, ok := s.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGINT {
		t.Errorf("serve ended: %v, want by the signal", s.cmd.ProcessState)
	}
	await(t, "PostgreSQL ends with the process", func() bool { return in.postgres() == nil })

	// "kill -9": what was acknowledged is there, and nothing runs on. Of the abandoned
	// unconfirmed sale, whose commit may have been in progress.
	s = in.serve()
	shop.server = s
	before = shop.points()
	got, err := shop.sell("acknowledged")
	if err != nil || got.status != http.StatusCreated {
		t.Fatalf("%v %+v", err, got)
	}
	if in.postgres() == nil {
		t.Error("there is no PostgreSQL to be left behind")
	}
	_ = s.cmd.Process.Kill()
	s.exit()
	if runtime.GOOS == "linux" { // elsewhere the next start ends it
		await(t, "PostgreSQL ends with the process", func() bool { return in.postgres() == nil })
	}
	s = in.serve()
	s.expect(t, http.StatusOK, "GET", "/api/v1/transactions/"+decode[single[saleRecord]](t, got.body).Data.ULID, s.token, "")
	shop.server = s
	if now := shop.points(); now != before+12 {
		t.Errorf("after a sale of 12.50 the balance is %d, was %d", now, before)
	}
	s.stop()
	if left := in.postgres(); left != nil {
		t.Errorf("PostgreSQL still runs: %v", left)
	}
}

// "503 Service Unavailable: The service is temporarily unavailable." with `Retry-After`,
// nothing else while the database is away; nothing acknowledged is lost.
func testOutage(t *testing.T, in *installation) {
	t.Helper()
	in = in.with("LOYALTY_RATE_TOKEN=0", "LOYALTY_RATE_IP=0")
	s := in.serve()
	shop := s.demoTill(t)

	var mu sync.Mutex
	acknowledged := map[string]string{} // the sale of each reference
	var done atomic.Bool
	var succeeded, refused atomic.Int64
	var tills sync.WaitGroup
	for n := range 4 {
		tills.Go(func() {
			for i := 0; !done.Load() && !t.Failed(); {
				reference := fmt.Sprintf("outage-%d-%d", n, i)
				got, err := shop.sell(reference)
				switch {
				case err == nil && got.status == http.StatusCreated:
					mu.Lock()
					acknowledged[reference] = got.body
					mu.Unlock()
					succeeded.Add(1)
					i++
				case err == nil && got.isUnavailable():
					refused.Add(1)
				default:
					t.Errorf("%s: %v %d %v %s", reference, err, got.status, got.header, got.body)
				}
			}
		})
	}
	tills.Go(func() { watchReadiness(t, in, s, &done) })
	grows := func(count *atomic.Int64, by int64) func() bool {
		from := count.Load()
		return func() bool { return t.Failed() || count.Load() >= from+by }
	}
	defer done.Store(true)
	await(t, "sales are recorded", grows(&succeeded, 20))
	// The database is back so soon that a busy machine may notice nothing: then again.
	for kills := 0; kills < 3 || kills < 6 && refused.Load() == 0; kills++ {
		if err := syscall.Kill(in.postmaster(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		logged := func() bool { return strings.Count(s.log.String(), "PostgreSQL ended by itself") > kills }
		await(t, "the loss is noticed", logged)
		await(t, "sales are recorded again", grows(&succeeded, 40))
	}
	done.Store(true)
	tills.Wait()
	if refused.Load() == 0 {
		t.Error("the outage was not noticed")
	}
	t.Logf("%d sales, %d refusals", len(acknowledged), refused.Load())

	d := connect(t, in.url())
	if sales := ask[int](d, "select count(*) from loyalty.transaction where external_reference like 'outage-%'"); sales != len(acknowledged) {
		t.Errorf("%d sales are recorded, %d were acknowledged", sales, len(acknowledged))
	}
	for reference, body := range acknowledged {
		id := ask[string](d, "select translate(id::text, '-', '') from loyalty.transaction where external_reference = $1", reference)
		again, err := shop.sell(reference)
		if err != nil || again.status != http.StatusCreated || again.body != body || again.header.Get("Idempotent-Replayed") != "true" {
			t.Fatalf("%s (%s): %v %+v, first %s", reference, id, err, again, body)
		}
	}
	if out := in.succeed("verify"); !strings.Contains(out, "no differences") {
		t.Error(out)
	}
	s.stop()
}

// watchReadiness asks the probes until done. "process is up" holds all the time;
// "database reachable" tells a stranger nothing about where it is.
func watchReadiness(t *testing.T, in *installation, s *server, done *atomic.Bool) {
	t.Helper()
	names := regexp.MustCompile(`"reason":"the database (cannot be reached|is starting up or shutting down)`)
	for !done.Load() && !t.Failed() {
		s.expect(t, http.StatusOK, "GET", "/healthz", "", "")
		got, err := s.call("GET", "/readyz", "", "")
		switch {
		case err != nil:
			t.Error(err)
		case got.status == http.StatusOK:
		case got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" || !names.MatchString(got.body):
			t.Errorf("/readyz: %+v", got)
		}
		for _, inner := range []string{in.data, "loyalty`", "user=", "SQLSTATE", ".s.PGSQL"} {
			if strings.Contains(got.body, inner) {
				t.Errorf("/readyz tells strangers of %s: %s", inner, got.body)
			}
		}
	}
}

// "The port first: with a second server on it, nothing else is worth starting."
// "a command joins a running cluster, else starts it"
func testOtherProcesses(t *testing.T, in *installation) {
	t.Helper()
	metrics := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	s := in.with("LOYALTY_METRICS_ADDR=" + metrics).serve()
	postmaster := in.postmaster()

	second := newInstallation(t, "LOYALTY_ADDR="+in.addr).run("serve")
	second.says(t, "loyalty: LOYALTY_ADDR="+in.addr+" can't be used: listen tcp "+in.addr+": bind: address already in use; another program", "choose another port in LOYALTY_ADDR and LOYALTY_BASE_URL")
	if exists(filepath.Join(second.cmd.Dir, "data")) {
		t.Error("a server without a port made a data directory")
	}
	for range 2 {
		if out := in.succeed("verify"); !strings.Contains(out, "no differences") {
			t.Error(out)
		}
	}
	if out := in.succeed("migrate", "up"); out != "the database is up to date\n" {
		t.Errorf("migrate up: %s", out)
	}
	if in.postmaster() != postmaster || len(in.postgres()) == 0 {
		t.Error("a command stopped the database")
	}
	s.expect(t, http.StatusOK, "GET", "/api/v1/customers", s.token, "")

	// "`/metrics` on its own listener"
	if got := s.expect(t, http.StatusNotFound, "GET", "/metrics", s.token, ""); strings.Contains(got.body, "loyalty_request_seconds") {
		t.Error("/metrics is public")
	}
	figures, err := call(http.DefaultClient, "GET", "http://"+metrics+"/metrics", "", "")
	if err != nil || !strings.Contains(figures.body, `loyalty_requests_total{area="api",method="GET",route="/api/v1/customers",status="200"}`) {
		t.Errorf("/metrics: %v %d %s", err, figures.status, figures.body)
	}

	// "one of them takes over when the holder ends": a server that joined keeps its database.
	joined := in.onItsOwnPort(t)
	j := joined.serve()
	s.stop()
	await(t, "the one that joined takes over", func() bool {
		got, err := j.call("GET", "/readyz", "", "")
		return err == nil && got.status == http.StatusOK && in.postmaster() != postmaster
	})
	j.expect(t, http.StatusOK, "GET", "/api/v1/customers", s.token, "")
	j.stop()
	if left := in.postgres(); left != nil {
		t.Errorf("PostgreSQL still runs: %v", left)
	}
}

// onItsOwnPort returns the same installation with another port, for a second process.
func (in *installation) onItsOwnPort(t *testing.T) *installation {
	t.Helper()
	port := strconv.Itoa(freePort(t))
	other := in.with("LOYALTY_ADDR=127.0.0.1:"+port, "LOYALTY_BASE_URL=https://localhost:"+port)
	other.addr, other.base = "127.0.0.1:"+port, "https://localhost:"+port
	return other
}

// "PostgreSQL refuses to run as root"; an ordinary user can run it.
func TestOrdinaryUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Log("all of these tests run as an ordinary user")
		return
	}
	in := ordinaryUser(t)
	uid := in.as.Uid
	s := in.serve()
	s.expect(t, http.StatusOK, "GET", "/readyz", "", "")
	s.expect(t, http.StatusOK, "GET", "/api/v1/customers", s.token, "")
	if info, err := os.Stat(filepath.Join(in.cluster(), "data")); err != nil || info.Sys().(*syscall.Stat_t).Uid != uid {
		t.Errorf("%v: the database's files have another owner", err)
	}
	pids := in.postgres()
	if !slices.Contains(pids, strconv.Itoa(in.postmaster())) {
		t.Errorf("of the processes %v none is the server's", pids)
	}
	for _, pid := range pids {
		info, err := os.Stat("/proc/" + pid)
		if err == nil && info.Sys().(*syscall.Stat_t).Uid != uid {
			t.Errorf("PostgreSQL's process %s runs as %d, want %d", pid, info.Sys().(*syscall.Stat_t).Uid, uid)
		}
	}
	s.stop()
}

// ordinaryUser returns an installation whose processes run as an ordinary user.
func ordinaryUser(t *testing.T) *installation {
	t.Helper()
	in := newInstallation(t)
	if os.Geteuid() != 0 {
		return in
	}
	const uid, gid = 65534, 65534 // an unprivileged user of Linux
	in.as = &syscall.Credential{Uid: uid, Gid: gid}
	in.program = filepath.Join(in.top, "loyalty")
	copyProgram(t, in.program)
	if err := os.Chown(in.top, uid, gid); err != nil {
		t.Fatal(err)
	}
	return in
}

// copyProgram copies the product to where other users can run it. Another process writes it,
// because a child of another test could inherit a descriptor open for writing, and the file could
// not be run ("text file busy").
func copyProgram(t *testing.T, to string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", `cat "$0" >"$1" && chmod 755 "$1"`, os.Args[0], to)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// "the log has one line with that id", which a machine can read with LOYALTY_LOG=json.
func testLogInJSON(t *testing.T, in *installation) {
	t.Helper()
	in = in.with("LOYALTY_LOG=json", "LOYALTY_RATE_TOKEN=0", "LOYALTY_RATE_IP=0")
	s := in.serve()
	var serving struct {
		Level, Address string
		Base           string `json:"base_url"`
		Data           string `json:"data_directory"`
		Database       string `json:"database_directory"`
		Authority      string `json:"authority_file"`
		Mail           string `json:"mail_file"`
		Password       string `json:"password_file"`
		Token          string `json:"token_file"`
		Admin          string `json:"admin_password_file"`
		SignIn         string `json:"sign_in"`
		Version        string
		Took           string
	}
	if err := json.Unmarshal([]byte(s.log.line(`"msg":"serving"`)), &serving); err != nil {
		t.Fatal(err)
	}
	if serving.Level != "INFO" || serving.Base != in.base || serving.Address != in.addr || serving.Data != in.data || serving.Database != in.cluster() ||
		serving.Version == "" || serving.Took == "" || !strings.Contains(serving.SignIn, "maja@cafearo.example (owner)") {
		t.Errorf("the line is %+v", serving)
	}
	if screen := s.out.String(); screen != "" {
		t.Errorf("a program that reads the log gets a screen: %s", screen)
	}
	// Secrets are in the files that the line names. That of e-mails has a key that works once.
	for _, file := range []string{serving.Password, serving.Token, serving.Admin} {
		in.hidden = append(in.hidden, keptIn(t, in, filepath.Base(file)))
	}
	if _, err := os.Stat(serving.Authority); err != nil {
		t.Error(err)
	}
	mailbox := keptIn(t, in, filepath.Base(serving.Mail))
	s.expect(t, http.StatusSeeOther, "GET", mailbox, "", "")
	await(t, "the file has the next key", func() bool { return keptIn(t, in, "mail-address") != mailbox })
	_, key, _ := strings.Cut(mailbox, "key=")
	in.hidden = append(in.hidden, key)
	shop := s.demoTill(t)
	checkLog(t, shop)
	for line := range strings.Lines(s.log.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line of the log is no JSON: %q", line)
		}
	}
	s.lookThrough(in.hidden)
}
