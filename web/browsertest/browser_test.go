package browsertest_test

import (
	"bytes"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/web/browsertest"
)

// TestBrowser shows that each check finds the fault it is for.
func TestBrowser(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t)
	base := serve(t)
	for name, test := range map[string]func(*testing.T, *browsertest.Page){
		"Steps":      testSteps,
		"Violations": testViolations,
		"Faults":     testFaults,
		"NoScripts":  testNoScripts,
		"Screenshot": testScreenshot,
		"Overflow":   testOverflow,
		"Shifts":     testShifts,
		"Cookies":    func(t *testing.T, p *browsertest.Page) { testCookies(t, p, b.NewPage(t, base)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, b.NewPage(t, base))
		})
	}
}

var pages = map[string]string{
	"/": `<h1>Form</h1><form action="/sent">
		<label for="name">Name</label><input id="name" name="name" value="old">
		<label for="city">City</label><select id="city" name="city"><option value="m">Malmö</option><option value="a">Åre</option></select>
		<button id="send" disabled>Send</button></form><script src="/form.js"></script>`,
	"/form.js":     `setTimeout(() => { document.getElementById("send").disabled = false; }, 60);`,
	"/sent":        `<h1>Sent</h1><p id="place"></p><button id="ask">Ask</button><dialog><button id="close">Close</button></dialog><script src="/sent.js"></script>`,
	"/sent.js":     `ask.onclick = async () => { place.textContent = await (await fetch("/slow.txt")).text(); document.querySelector("dialog").showModal(); };`,
	"/slow.txt":    `it came`,
	"/pale":        `<h1>Pale</h1><p id="pale">hard to read in the dark</p><img src="/dot.svg">`,
	"/pale.css":    `body { transition: background .3s } @media (prefers-color-scheme: dark) { body { background: #000 } h1 { color: #fff } #pale { color: #333 } }`,
	"/dot.svg":     `<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>`,
	"/faults":      `<h1>Faults</h1><img alt="" src="/missing.png"><img alt="" src="https://elsewhere.example/a.png"><p style="color: red">red</p><script src="/faults.js"></script>`,
	"/faults.js":   `console.error("a complaint of", 1, "script"); console.warn("no error"); missing.function();`,
	"/late":        `<h1>Late</h1><div id="late"></div><p>below</p><script src="/late.js" defer></script>`,
	"/kept":        `<h1>Kept</h1><div id="late" class="place"></div><p>below</p><script src="/late.js" defer></script>`,
	"/kept.css":    `.place { height: 300px }`,
	"/late.js":     `const it = document.getElementById("late"); it.textContent = "drawn"; it.style.height = "300px"; it.dataset.drawn = "1";`,
	"/favicon.ico": ``,
	"/covered":     `<h1>Covered</h1><button id="off" disabled>Off</button><button id="under">Under</button><p id="over" class="top">over all</p>`,
	"/covered.css": `button { width: 90px; height: 30px } .top { position: fixed; inset: 0; margin: 0 }`,
	"/plain":       `<h1>Plain</h1><noscript id="without">no scripts</noscript><p><a href="/sent">Sent</a></p><script src="/plain.js"></script>`,
	"/plain.js":    `document.querySelector("h1").textContent = "Scripted";`,
	"/wide":        `<h1>Wide</h1><div class="clip"><p class="wide">fine</p></div><p class="wide" id="wide">too wide</p>`,
	"/wide.css":    `.clip { overflow-x: auto } .wide { width: 700px; height: 1500px }`,
}

func serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, known := pages[r.URL.Path]
		kind := map[string]string{".txt": "text/plain", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}[path.Ext(r.URL.Path)]
		switch {
		case r.URL.Path == "/visits":
			cookie, _ := r.Cookie("seen")
			http.SetCookie(w, &http.Cookie{Name: "seen", Value: "yes", Secure: true, HttpOnly: true})
			content = fmt.Sprintf("<h1>%t</h1>", cookie != nil)
		case !known:
			http.NotFound(w, r)
			return
		case kind != "":
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, content)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https:; connect-src 'self'; form-action 'self'")
		style := ""
		if pages[r.URL.Path+".css"] != "" {
			style = `<link rel="stylesheet" href="` + r.URL.Path + `.css">` // in the head: nothing is painted before it has come
		}
		fmt.Fprintf(w, `<!doctype html><html lang="en"><head><title>A page</title><link rel="icon" href="/dot.svg">%s</head><body><main>%s</main></body></html>`, style, content)
	}))
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "127.0.0.1", "shop.localhost", 1)
}

// Each step waits until what it needs can be used and what it set off is done.
func testSteps(t *testing.T, p *browsertest.Page) {
	p.Open("/")
	p.Fill("name", "Åsa Öberg")
	p.Fill("city", "a")
	p.Click("#send") // disabled at first
	if got, want := p.Path(), "/sent?name=%C3%85sa+%C3%96berg&city=a"; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
	p.Click("#ask")
	if got := p.Text("dialog"); got != "Close" {
		t.Errorf("the dialog says %q", got)
	}
	p.Click("#close")
}

// A script that comes late may draw only where its place was kept.
func testShifts(t *testing.T, p *browsertest.Page) {
	p.HoldBack("*/late.js")
	for path, want := range map[string]int{"/late": 1, "/kept": 0} {
		p.Open(path)
		p.WaitFor("[data-drawn]")
		if got := p.LayoutShifts(); len(got) != want || want > 0 && !strings.Contains(got[0], "p from ") {
			t.Errorf("%s moved: %q, want %d", path, got, want)
		}
	}
}

// rules returns the first line of each violation.
func rules(violations []string) (rules []string) {
	for _, v := range violations {
		rule, _, _ := strings.Cut(v, "\n")
		rules = append(rules, rule)
	}
	slices.Sort(rules)
	return rules
}

func testViolations(t *testing.T, p *browsertest.Page) {
	p.Open("/")
	if got := p.Axe(""); len(got) != 0 {
		t.Errorf("a page without violations: %v", got)
	}
	p.Open("/pale")
	for range 2 { // colours are not examined while they change
		p.Emulate(390, 844, false)
		if got, want := rules(p.Axe("")), []string{"image-alt img"}; !slices.Equal(got, want) {
			t.Errorf("light: %q, want %q", got, want)
		}
		p.Emulate(390, 844, true)
		if got, want := rules(p.Axe("")), []string{"color-contrast #pale", "image-alt img"}; !slices.Equal(got, want) {
			t.Errorf("dark: %q, want %q", got, want)
		}
	}
	if got, want := rules(p.Axe("#pale")), []string{"image-alt img"}; !slices.Equal(got, want) {
		t.Errorf("without #pale: %q, want %q", got, want)
	}
}

func testFaults(t *testing.T, p *browsertest.Page) {
	p.Open("/faults")
	got := strings.Join(p.Faults(), "\n")
	for _, want := range []string{
		`console: a complaint of 1 script`,
		"uncaught: ReferenceError: missing is not defined",
		"status of 404 (Not Found) (" + "https://shop.localhost",
		"net::ERR_NAME_NOT_RESOLVED (https://elsewhere.example/a.png)",
		"security: Applying inline style violates the following Content Security Policy directive 'style-src 'self''",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "no error") {
		t.Errorf("a warning is a fault:\n%s", got)
	}
	if again := p.Faults(); len(again) != 0 {
		t.Errorf("told twice: %q", again)
	}
	p.Open("/nowhere")
	if got := p.Faults(); len(got) != 1 {
		t.Errorf("a missing page: %q", got)
	}
	p.Expect(http.StatusNotFound)
	p.Open("/nowhere")
	if got := p.Faults(); len(got) != 0 {
		t.Errorf("an expected missing page: %q", got)
	}
	next := p.For(t)
	next.Open("/nowhere")
	if got := next.Faults(); len(got) != 1 {
		t.Errorf("a missing page, in another test: %q", got)
	}
}

// TestFaultyPage fails. Only TestFaultsFailTheTest runs it.
func TestFaultyPage(t *testing.T) {
	pageOfFailingTest(t).Open("/faults")
}

func TestFaultsFailTheTest(t *testing.T) {
	t.Parallel()
	wantFailure(t, "TestFaultyPage", "in the browser: console: a complaint of 1 script")
}

// These fail. Only TestClicksThatFailSayWhy runs them.
func TestClickCovered(t *testing.T) {
	p := pageOfFailingTest(t)
	p.Open("/covered")
	p.Click("#under")
}

func TestClickDisabled(t *testing.T) {
	p := pageOfFailingTest(t)
	p.Open("/covered")
	p.Click("#off")
}

func TestClickMissing(t *testing.T) {
	p := pageOfFailingTest(t)
	p.Open("/covered")
	p.Click("#nothing")
}

func TestClicksThatFailSayWhy(t *testing.T) {
	t.Parallel()
	for test, why := range map[string]string{
		"TestClickCovered":  "p#over.top covers button#under, 90 × 30 px",
		"TestClickDisabled": "none can be used of 1: button#off, 90 × 30 px, disabled",
		"TestClickMissing":  "none can be used of 0",
	} {
		t.Run(test, func(t *testing.T) {
			t.Parallel()
			wantFailure(t, test, why)
		})
	}
}

// pageOfFailingTest is a page of a test that another one runs in a process of its own.
func pageOfFailingTest(t *testing.T) *browsertest.Page {
	t.Helper()
	if os.Getenv("FAILING_TEST") == "" {
		t.Skip("only another test runs it")
	}
	browsertest.SetPatience(5 * time.Second)
	return browsertest.Start(t).NewPage(t, serve(t))
}

// wantFailure runs a test that must fail with this message.
func wantFailure(t *testing.T, test, message string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+test+"$", "-test.v")
	cmd.Env = append(os.Environ(), "FAILING_TEST=1")
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "SKIP") {
		t.Skip("no browser")
	}
	if err == nil || !strings.Contains(string(out), message) {
		t.Errorf("%s doesn't fail with %q:\n%s", test, message, out)
	}
}

func testNoScripts(t *testing.T, p *browsertest.Page) {
	p.Open("/plain")
	if got := p.Text("h1"); got != "Scripted" {
		t.Errorf("with scripts: %q", got)
	}
	p.DisableScripts()
	p.Open("/plain")
	if got := p.Text("h1"); got != "Plain" {
		t.Errorf("without scripts: %q", got)
	}
	p.WaitFor("noscript")
	p.Click("a")
	if got := p.Path(); got != "/sent" {
		t.Errorf("the link leads to %s", got)
	}
	p.Open("/")
	p.Fill("name", "Elsa")
	p.Fill("city", "a")
}

// The whole page at the given width.
func testScreenshot(t *testing.T, p *browsertest.Page) {
	file := filepath.Join(t.TempDir(), "pictures", "wide.png")
	p.Emulate(1000, 844, false)
	p.Open("/wide")
	p.Screenshot(file)
	picture, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	size, err := png.DecodeConfig(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	if size.Width != 1000 || size.Height < 3000 || size.Height > 3300 {
		t.Errorf("the picture has %d × %d pixels", size.Width, size.Height)
	}
}

func testOverflow(t *testing.T, p *browsertest.Page) {
	p.Open("/wide")
	if got := p.Overflow(); len(got) != 0 {
		t.Errorf("on a wide screen: %q", got)
	}
	p.Emulate(360, 800, false)
	if got := p.Overflow(); len(got) != 1 || !strings.Contains(got[0], `id="wide"`) {
		t.Errorf("on a phone: %q", got)
	}
}

// A page has no cookies of another; its further tabs share them.
func testCookies(t *testing.T, p, other *browsertest.Page) {
	p.Open("/visits")
	p.WaitForText("h1", "false")
	tab := p.NewTab(t)
	tab.Open("/visits")
	tab.WaitForText("h1", "true")
	other.Open("/visits")
	other.WaitForText("h1", "false")
}
