package browsertest_test

import (
	"bytes"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/loyalty/web/browsertest"
)

// TestBrowser goes through small pages that have what a test may meet.
func TestBrowser(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t)
	base := serve(t)
	for name, test := range map[string]func(*testing.T, *browsertest.Page){
		"Steps":             testSteps,
		"Patience":          testPatience,
		"Dialog":            testDialog,
		"Violations":        testViolations,
		"Faults":            testFaults,
		"WithoutJavaScript": testWithoutJavaScript,
		"Screenshot":        testScreenshot,
		"Sideways":          testSideways,
		"Strangers":         func(t *testing.T, p *browsertest.Page) { testStrangers(t, p, b.NewPage(t, base)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, b.NewPage(t, base))
		})
	}
	for name, test := range map[string]func(*testing.T){
		"FaultsFailTheTest":   testFaultsFailTheTest,
		"NothingIsLeftBehind": testNothingIsLeftBehind,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

// pages are what the server shows, by path.
var pages = map[string]string{
	"/favicon.ico": ``, // of pages that name none
	"/":            `<h1>Start</h1><a href="/form">The form</a> <a href="/list.csv" download>A list</a> <a href="https://elsewhere.example/">Elsewhere</a>`,
	"/form": `<h1>A form</h1>
		<form method="post" action="/sent" enctype="multipart/form-data">
			<label for="name">Name <span>optional</span></label><input id="name" name="name" value="nobody">
			<label for="city">City</label><select id="city" name="city"><option value="1">Malmö</option><option value="2">Åre</option></select>
			<label for="day">Day</label><input id="day" name="day" type="date">
			<label><input name="news" type="checkbox" value="yes">News by mail</label>
			<label for="list">List</label><input id="list" name="list" type="file">
			<label for="note">Note</label><textarea id="note" name="note"></textarea>
			<button>Send</button>
		</form>`,
	"/late": `<h1>Later</h1><p id="place"></p><button id="more" disabled>More</button><div id="cover"></div><script src="/late.js"></script>`,
	"/late.js": `setTimeout(() => { more.disabled = false; }, 60); setTimeout(() => { cover.remove(); }, 120);
		more.onclick = async () => { place.textContent = await (await fetch("/slow.txt")).text(); };`,
	"/slow.txt": `it came`,
	"/late.css": `#cover { position: fixed; inset: 0; }`,
	"/dialog": `<h1>Rows</h1><button id="one">Void</button><dialog><h2>Sure?</h2><input aria-label="Reason"><button id="two">Void</button></dialog>
		<p id="said"></p><script src="/dialog.js"></script>`,
	"/dialog.js": `one.onclick = () => document.querySelector("dialog").showModal();
		two.onclick = () => { said.textContent = "voided: " + document.querySelector("input").value; document.querySelector("dialog").close(); };`,
	"/pale":     `<h1>Pale</h1><p id="pale">hard to read in the dark</p><img src="/dot.svg">`,
	"/pale.css": `@media (prefers-color-scheme: dark) { body { background: #000 } h1 { color: #fff } #pale { color: #333 } }`,
	"/theme":    `<h1>Theme</h1><p>some words</p><script src="/theme.js"></script>`,
	"/theme.js": `const dark = matchMedia("(prefers-color-scheme: dark)");
		dark.onchange = () => { document.documentElement.className = dark.matches ? "dark" : ""; };`,
	"/theme.css":   `body { background: #fff; color: #000; transition: background-color .3s, color .3s } .dark body { background: #000; color: #fff }`,
	"/dot.svg":     `<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>`,
	"/faults":      `<h1>Faults</h1><img alt="" src="/missing.png"><img alt="" src="https://elsewhere.example/a.png"><p style="color: red">red</p><script src="/faults.js"></script>`,
	"/faults.js":   `console.error("a complaint of", 1, "script"); console.warn("no error"); missing.function();`,
	"/scripted":    `<h1>Scripted</h1><p id="says">plain</p><noscript>no scripts here</noscript> <a href="/">Start</a><script src="/scripted.js"></script>`,
	"/scripted.js": `document.getElementById("says").textContent = "scripted";`,
	"/high":        `<h1>High</h1><p id="high">tall</p>`,
	"/high.css":    `#high { height: 3000px }`,
	"/framed":      `<h1>Framed</h1><iframe title="A letter" sandbox src="/pale"></iframe>`,
	"/wide":        `<h1>Wide</h1><div class="clip"><p class="wide">fine</p></div><p class="wide" id="wide">too wide</p>`,
	"/wide.css":    `.clip { overflow-x: auto } .wide { width: 700px }`,
}

func serve(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		content, known := pages[r.URL.Path]
		if !known {
			http.NotFound(w, r)
			return
		}
		show(w, r.URL.Path, content)
	})
	mux.HandleFunc("POST /sent", func(w http.ResponseWriter, r *http.Request) {
		_, file, err := r.FormFile("list")
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		show(w, "/sent", fmt.Sprintf("<h1>Sent</h1><p>%s of %s on %s, %s, %s: %s</p>", r.FormValue("name"), r.FormValue("city"),
			r.FormValue("day"), r.FormValue("news"), file.Filename, r.FormValue("note")))
	})
	mux.HandleFunc("GET /visits", func(w http.ResponseWriter, r *http.Request) {
		cookie, err := r.Cookie("seen")
		http.SetCookie(w, &http.Cookie{Name: "seen", Value: "yes", Secure: true, HttpOnly: true})
		if err != nil {
			cookie = &http.Cookie{Value: "never"}
		}
		show(w, "/visits", "<h1>Seen before: "+cookie.Value+"</h1>")
	})
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	// A name that the machine's resolver need not know, with a certificate for others.
	return strings.Replace(server.URL, "127.0.0.1", "shop.localhost", 1)
}

// show writes a page with its stylesheet under a policy as strict as ours.
func show(w http.ResponseWriter, path, content string) {
	if kind, known := map[string]string{".txt": "text/plain", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}[filepath.Ext(path)]; known {
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, content)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https:; connect-src 'self'; frame-src 'self'; form-action 'self'")
	style := ""
	if _, has := pages[path+".css"]; has {
		style = `<link rel="stylesheet" href="` + path + `.css">`
	}
	fmt.Fprintf(w, `<!doctype html><html lang="en"><head><title>%s</title><link rel="icon" href="/dot.svg">%s</head><body><main>%s</main></body></html>`, path, style, content)
}

// A story: open, fill in, choose, send, read.
func testSteps(t *testing.T, p *browsertest.Page) {
	file := filepath.Join(t.TempDir(), "list.csv")
	if err := os.WriteFile(file, []byte("name\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Open("/")
	if got, want := p.Links(), []string{"/form"}; !slices.Equal(got, want) {
		t.Errorf("the page links to %q, want %q", got, want)
	}
	p.Click("The form")
	p.Fill("Name", "Åsa Öberg")
	p.Fill("City", "Åre")
	p.Fill("day", "2026-11-21")
	p.Click("News by mail")
	p.Attach("List", file)
	p.Fill("Note", "two\nlines")
	p.Fill("Note", "one line")
	p.Click("Send")
	if got, want := p.Text("p"), "Åsa Öberg of 2 on 2026-11-21, yes, list.csv: one line"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	if got := p.Path(); got != "/sent" {
		t.Errorf("the page is at %s, want /sent", got)
	}

	// Keys do what they do for people.
	p.Open("/")
	p.Press("Tab")
	p.Press("Enter")
	p.WaitFor("A form")
}

// A step waits until what it needs can be used: a button that is disabled at first, and
// covered for longer; the answer it asks for.
func testPatience(t *testing.T, p *browsertest.Page) {
	p.Open("/late")
	p.Click("More")
	if got := p.Text("#place"); got != "it came" {
		t.Errorf("the page says %q before its answer is there", got)
	}
}

// What stands behind an open dialog is out of reach, also where it has the same words.
func testDialog(t *testing.T, p *browsertest.Page) {
	p.Open("/dialog")
	p.Click("Void")
	p.Fill("Reason", "twice")
	p.Click("Void")
	p.WaitFor("voided: twice")
	p.Within("main").Click("Void")
	p.Within("dialog").Fill("Reason", "again")
	p.Press("Escape")
	if got := p.Text("main"); strings.Contains(got, "Sure?") {
		t.Errorf("the dialog is still open: %s", got)
	}
}

func rules(violations []browsertest.Violation) (rules []string) {
	for _, v := range violations {
		rules = append(rules, v.Rule+" "+v.Element)
	}
	slices.Sort(rules)
	return rules
}

func testViolations(t *testing.T, p *browsertest.Page) {
	p.Open("/form")
	if got := p.Axe(); len(got) != 0 {
		t.Errorf("a good page: %v", got)
	}
	p.Open("/pale")
	if got, want := rules(p.Axe()), []string{"image-alt img"}; !slices.Equal(got, want) {
		t.Errorf("in the light: %q, want %q", got, want)
	}
	p.Emulate(390, 844, true)
	if got, want := rules(p.Axe()), []string{"color-contrast #pale", "image-alt img"}; !slices.Equal(got, want) {
		t.Errorf("in the dark: %q, want %q", got, want)
	}
	p.Open("/framed")
	if got := p.Axe(); len(got) != 0 {
		t.Errorf("what stands in a frame is a page of its own: %v", got)
	}
	// Neither colour of a page that goes from one to the other is looked at on its way.
	p.Open("/theme")
	for i := range 4 {
		p.Emulate(390, 844, i%2 == 1)
		if got := p.Axe(); len(got) != 0 {
			t.Errorf("dark %t: %v", i%2 == 1, got)
		}
	}
}

func testFaults(t *testing.T, p *browsertest.Page) {
	p.Open("/faults")
	got := strings.Join(p.ConsoleErrors(), "\n")
	for _, want := range []string{
		"console: a complaint of 1 script",
		"uncaught: ReferenceError: missing is not defined",
		"/missing.png: 404",
		"GET https://elsewhere.example/a.png: net::ERR_NAME_NOT_RESOLVED",
		"security: Applying inline style violates the following Content Security Policy directive 'style-src 'self''",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not told of in:\n%s", want, got)
		}
	}
	if count := len(strings.Split(got, "\n")); strings.Contains(got, "no error") {
		t.Errorf("%d faults, a warning among them:\n%s", count, got)
	}
	if again := p.ConsoleErrors(); again != nil {
		t.Errorf("told twice: %q", again)
	}

	p.Open("/nowhere")
	if got := strings.Join(p.ConsoleErrors(), "\n"); !strings.HasSuffix(got, "/nowhere: 404") {
		t.Errorf("a missing page: %q", got)
	}
	p.Expect(http.StatusNotFound)
	p.Open("/nowhere")
	if got := p.ConsoleErrors(); got != nil {
		t.Errorf("a page that should be missing: %q", got)
	}
	next := p.For(t)
	next.Open("/nowhere")
	if got := next.ConsoleErrors(); len(got) != 1 {
		t.Errorf("a missing page, in the hands of another test: %q", got)
	}
}

func testWithoutJavaScript(t *testing.T, p *browsertest.Page) {
	p.Open("/scripted")
	if got := p.Text("main"); got != "Scripted scripted Start" {
		t.Errorf("with JavaScript: %q", got)
	}
	p.WithoutJavaScript()
	p.Open("/scripted")
	if got := p.Text("main"); got != "Scripted plain no scripts here Start" {
		t.Errorf("without JavaScript: %q", got)
	}
	p.Click("Start")
	p.Click("The form")
	p.Fill("Name", "Elsa")
	p.Fill("City", "Malmö")
	if got := p.Path(); got != "/form" {
		t.Errorf("the page is at %s, want /form", got)
	}
}

// "screenshots of every page": all of it, at the width that was asked for.
func testScreenshot(t *testing.T, p *browsertest.Page) {
	file := filepath.Join(t.TempDir(), "pictures", "high.png")
	p.Emulate(390, 844, false)
	p.Open("/high")
	p.Screenshot(file)
	picture, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	size, err := png.DecodeConfig(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	if size.Width != 390 || size.Height < 3000 || size.Height > 3200 {
		t.Errorf("the picture has %d × %d points", size.Width, size.Height)
	}
}

func testSideways(t *testing.T, p *browsertest.Page) {
	p.Open("/wide")
	if got := p.Sideways(); len(got) != 0 {
		t.Errorf("on a wide screen: %q", got)
	}
	p.Emulate(360, 800, false)
	if got := p.Sideways(); len(got) != 1 || !strings.HasPrefix(got[0], "<p#wide.wide> ends at 7") {
		t.Errorf("on a phone: %q", got)
	}
}

// Each page is somebody new; its further tabs are the same person.
func testStrangers(t *testing.T, p, stranger *browsertest.Page) {
	p.Open("/visits")
	p.WaitFor("Seen before: never")
	tab := p.NewTab(t)
	tab.Open("/visits")
	tab.WaitFor("Seen before: yes")
	stranger.Open("/visits")
	stranger.WaitFor("Seen before: never")
}
