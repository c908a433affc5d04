package browsertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience limits every wait: only a fault takes so long.
var patience = 2 * time.Minute

// Page is a tab of the browser, used by one test.
type Page struct {
	t        *testing.T
	ctx      context.Context
	activity *activity
	device   *device
	base     string
	expected []int // statuses that are no fault
}

// device is what a tab is shown on.
type device struct {
	width, height int64 // of the window, in CSS pixels
	dark          bool
	lastKey       float64 // when the last key was pressed, in seconds
}

// NewPage opens a tab with no cookies. Paths are relative to the address base.
func (b *Browser) NewPage(t *testing.T, base string) *Page {
	t.Helper()
	return openTab(t, b.ctx, base, chromedp.WithNewBrowserContext()).prepare(t)
}

// NewTab opens another tab with the same cookies.
func (p *Page) NewTab(t *testing.T) *Page {
	t.Helper()
	return openTab(t, p.ctx, p.base).prepare(t)
}

func openTab(t *testing.T, from context.Context, base string, options ...chromedp.ContextOption) *Page {
	t.Helper()
	ctx, end := chromedp.NewContext(from, options...)
	t.Cleanup(end)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	main := cdp.FrameID(chromedp.FromContext(ctx).Target.TargetID) // a tab and its main frame have the same id
	a := &activity{main: main, requests: map[network.RequestID]cdp.LoaderID{}}
	if err := chromedp.Listen(ctx, a.see); err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	return &Page{ctx: ctx, activity: a, device: &device{}, base: base}
}

func (p *Page) prepare(t *testing.T) *Page {
	t.Helper()
	p = p.For(t)
	p.Emulate(1440, 900, false)
	return p
}

// For returns the same tab for another test. Opening a tab takes longer than loading most
// pages, so tests can take turns. The tab closes with the test that opened it.
func (p *Page) For(t *testing.T) *Page {
	other := *p
	other.t, other.expected = t, []int{http.StatusUnprocessableEntity} // a form with errors is shown again
	t.Cleanup(func() {
		for _, fault := range other.Faults() {
			t.Errorf("in the browser: %s", fault)
		}
	})
	return &other
}

// Expect says that answers of this status are no fault.
func (p *Page) Expect(status int) { p.expected = append(p.expected, status) }

// Faults returns the faults since the last call. Those that no test asks for fail the test
// at its end.
func (p *Page) Faults() []string {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	_, _ = chromedp.Run(ctx, chromedp.Location()) // events before its answer have arrived with it
	return p.activity.takeFaults(p.expected)
}

// Run runs an action of chromedp, which must succeed.
func Run[T any](p *Page, action chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	got, err := chromedp.Run(ctx, action)
	if err != nil {
		p.t.Fatalf("%v\n%s", err, p.state())
	}
	return got
}

// state describes the page in the message of a failure.
func (p *Page) state() string {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	path, _ := chromedp.Run(ctx, chromedp.Location())
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.innerText"))
	return fmt.Sprintf("at %s, which reads: %.1500s\nfaults: %q", path, text, p.Faults())
}

// Do runs actions of chromedp one after the other and waits until the page has come to rest.
func (p *Page) Do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	p.rest()
	Run(p, chromedp.Steps(steps...))
	p.frame()
	p.rest()
}

// call returns an action that runs a command of the browser.
func call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, command, params)
		return err
	})
}

// frame waits until the next frame is drawn: what a step sets off has begun by then. A page
// that is being left draws none, so errors don't matter.
func (p *Page) frame() {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	// In a world of its own, this script runs in pages without scripts, too.
	world, _ := chromedp.Call(ctx, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: p.activity.main, WorldName: "browsertest"})
	_, _ = chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{
		Expression: "new Promise(requestAnimationFrame)", ContextID: world.ExecutionContextID, AwaitPromise: new(true),
	})
}

// rest waits until nothing loads or moves.
func (p *Page) rest() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		if p.activity.loading() {
			continue
		}
		atRest, err := chromedp.Run(ctx, chromedp.Evaluate[bool](atRestScript)) // fails while the page is replaced
		if err == nil && atRest && !p.activity.loading() {
			return
		}
	}
	p.t.Fatalf("the page does not come to rest; faults: %q", p.Faults())
}

// atRestScript lets transitions arrive at once.
const atRestScript = `document.getAnimations().filter((a) => a.playState === "running" && a.effect?.getComputedTiming().endTime !== Infinity).map((a) => a.finish()).length === 0
	&& document.readyState === "complete" && document.fonts.status === "loaded"
	&& !document.querySelector(".htmx-request, .htmx-swapping, .htmx-settling")`

// await evaluates a script until its value is not null, and fails with what was awaited. chromedp's own queries
// are not used: they keep a copy of the document's nodes, which may lack some after a page was replaced, for good.
func await[T any](p *Page, script, what string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	var last error
	for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		got, err := chromedp.Run(ctx, chromedp.Evaluate[*T](script)) // fails while the page is replaced
		if err == nil && got != nil {
			return *got
		}
		last = cmp.Or(err, last)
	}
	p.t.Fatalf("%s (%v)\n%s", what, last, p.state())
	return *new(T)
}

// find is a script that selects the first element that matches a CSS selector, contains the text, and can
// be seen and used: what is behind an open dialog cannot.
func find(selector, text string) string { return fmt.Sprintf(findScript, selector, text) }

// field is a script that selects the field of that name or id.
func field(name string) string {
	return find(fmt.Sprintf(":is([name=%[1]q], [id=%[1]q]):not([type=hidden])", name), "")
}

const findScript = `[...document.querySelectorAll(%q)].find((el) =>
	([...document.querySelectorAll("dialog:modal")].pop() ?? document).contains(el) && el.getClientRects().length > 0
	&& el.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !el.matches(":disabled")
	&& el.innerText.replace(/\s+/g, " ").includes(%q))`

// target is where an element can be clicked, or why it can't be.
type target struct {
	X        float64 `json:"x"`
	Y        float64 `json:"y"`
	Obstacle string  `json:"obstacle"`
}

// targetScript returns the target of the element that was found, or of all that match the selector.
const targetScript = `((el, all) => {
	const name = (el) => el ? el.localName + (el.id && "#" + el.id) + [...el.classList].map((c) => "." + c).join("") : "nothing";
	const state = (el) => {
		const box = el.getBoundingClientRect();
		return name(el) + ", " + Math.round(box.width) + " × " + Math.round(box.height) + " px" + (el.matches(":disabled") ? ", disabled" : "");
	};
	if (!el) return { obstacle: "none can be used of " + all.length + ": " + all.slice(0, 5).map(state).join("; ") };
	el.scrollIntoView({ block: "center", behavior: "instant" });
	const box = el.getClientRects()[0];
	const x = box.x + box.width / 2, y = box.y + box.height / 2;
	const top = document.elementFromPoint(x, y);
	return { x, y, obstacle: el.contains(top) ? "" : name(top) + " covers " + state(el) };
})(%s, [...document.querySelectorAll(%q)])`

// Open goes to a path of the base address, or to a whole address.
func (p *Page) Open(path string) {
	p.t.Helper()
	if strings.HasPrefix(path, "/") {
		path = p.base + path
	}
	p.Do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		got, err := cdp.Call(ctx, tab, page.Navigate, page.NavigateParams{URL: path})
		if err == nil && got.ErrorText != "" && got.ErrorText != "net::ERR_ABORTED" { // a file or another page instead
			err = fmt.Errorf("%s: %s", path, got.ErrorText)
		}
		return err
	}))
}

// Path returns the path and the query of the page.
func (p *Page) Path() string {
	p.t.Helper()
	return Run(p, chromedp.Evaluate[string]("location.pathname + location.search"))
}

// WaitFor waits until an element of a CSS selector is seen.
func (p *Page) WaitFor(selector string) {
	p.t.Helper()
	p.WaitForText(selector, "")
}

// WaitForText waits until an element of a CSS selector that contains the text is seen.
func (p *Page) WaitForText(selector, text string) {
	p.t.Helper()
	await[bool](p, find(selector, text)+" ? true : null", fmt.Sprintf("%s %q is not seen", selector, text))
	p.rest()
}

// WaitUntilGone waits until no element of a CSS selector is seen.
func (p *Page) WaitUntilGone(selector string) {
	p.t.Helper()
	p.rest()
	await[bool](p, find(selector, "")+" ? null : true", selector+" is still seen")
	p.rest()
}

// Text returns the text of an element, with single spaces.
func (p *Page) Text(selector string) string {
	p.t.Helper()
	p.rest()
	text := await[string](p, find(selector, "")+"?.innerText", selector+" is not seen")
	return strings.Join(strings.Fields(text), " ")
}

// Click clicks an element.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.ClickText(selector, "")
}

// ClickText clicks an element that contains the text. The page itself says where: on a busy machine
// DevTools, which chromedp.Click asks, may know the layout before, and the press lands beside the element.
func (p *Page) ClickText(selector, text string) {
	p.t.Helper()
	p.rest()
	at := p.target(selector, text)
	Run(p, chromedp.MouseClickXY(at.X, at.Y))
	p.frame()
	p.rest()
}

// target waits until an element can be clicked and has the same place in two frames: what loads or
// is replaced meanwhile may move it.
func (p *Page) target(selector, text string) target {
	p.t.Helper()
	script := fmt.Sprintf(targetScript, find(selector, text), selector)
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	var at, before target
	for ; ctx.Err() == nil; p.frame() {
		found, err := chromedp.Run(ctx, chromedp.Evaluate[target](script))
		if err != nil {
			continue // the page is replaced
		}
		if before, at = at, found; at == before && at.Obstacle == "" {
			return at
		}
	}
	p.t.Fatalf("%s %q can't be clicked: %s\n%s", selector, text, cmp.Or(at.Obstacle, "it moves"), p.state())
	return at
}

// Fill types a value into the field of that name or id, in the place of what is there, or chooses
// the value in a list.
func (p *Page) Fill(name, value string) {
	p.t.Helper()
	p.rest()
	missing := fmt.Sprintf("no field %q is seen", name)
	switch await[string](p, field(name)+"?.type", missing) {
	case "select-one", "date", "time", "color":
		if !Run(p, chromedp.Evaluate[bool](fmt.Sprintf(setValueScript, field(name), value))) {
			p.t.Fatalf("%s cannot be set to %q", name, value)
		}
		p.frame()
		p.rest()
	default:
		p.Focus(name)
		Run(p, chromedp.Evaluate[chromedp.Void]("document.activeElement.select()"))
		p.Press(cmp.Or(value, kb.Delete))
	}
}

// Focus gives the focus to the field of that name or id.
func (p *Page) Focus(name string) {
	p.t.Helper()
	p.rest()
	await[bool](p, fmt.Sprintf(focusScript, field(name)), fmt.Sprintf("the field %q does not take the focus", name))
	p.frame()
	p.rest()
}

const focusScript = `((el) => { el?.focus(); return el && document.activeElement === el ? true : null; })(%s)`

// Upload chooses a file of this machine in the field of that name or id.
func (p *Page) Upload(name, file string) {
	p.t.Helper()
	p.Do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		script := fmt.Sprintf("document.querySelector(`[type=file]:is([name=%[1]q], [id=%[1]q])`)", name) // a style may hide it
		input, err := chromedp.Run(ctx, chromedp.Evaluate[*runtime.RemoteObject](script))
		if err != nil {
			return fmt.Errorf("the field %q: %w", name, err)
		}
		_, err = cdp.Call(ctx, tab, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: []string{file}, ObjectID: input.ObjectID})
		return err
	}))
}

// setValueScript sets the value, also an empty one, as a choice of a person does.
const setValueScript = `((el, value) => {
	el.value = value;
	el.dispatchEvent(new Event("input", { bubbles: true }));
	el.dispatchEvent(new Event("change", { bubbles: true }));
	return el.value === value && el.selectedIndex !== -1;
})(%s, %q)`

// Emulate sets the size of the window and the colour scheme of the device, at once: each change has the
// whole page computed and drawn again.
func (p *Page) Emulate(width, height int64, dark bool) {
	p.t.Helper()
	d := p.device
	var steps []chromedp.Action[chromedp.Void]
	if d.width == 0 || d.dark != dark {
		scheme := map[bool]string{false: "light", true: "dark"}[dark]
		steps = append(steps, call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}}))
	}
	if d.width != width || d.height != height {
		steps = append(steps, chromedp.EmulateViewport(width, height))
	}
	if len(steps) > 0 {
		d.width, d.height, d.dark = width, height, dark
		p.Do(steps...)
	}
}

// Resize sets the size of the window.
func (p *Page) Resize(width, height int64) {
	p.t.Helper()
	p.Emulate(width, height, p.device.dark)
}

// DisableScripts keeps the scripts of the pages that are opened from now on from running.
func (p *Page) DisableScripts() {
	p.t.Helper()
	Run(p, call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
}

// SetCookie gives the browser a cookie of the page's host.
func (p *Page) SetCookie(name, value string) {
	p.t.Helper()
	Run(p, call(network.SetCookie, network.SetCookieParams{Name: name, Value: value, URL: p.base, Path: "/", Secure: new(true), HTTPOnly: new(true)}))
}

// Overflow returns the elements that make the page scroll sideways.
func (p *Page) Overflow() []string {
	p.t.Helper()
	return Run(p, chromedp.Evaluate[[]string](overflowScript))
}

const overflowScript = `(() => {
	const width = document.documentElement.clientWidth;
	if (document.scrollingElement.scrollWidth <= width) return [];
	const clipped = (el) => el.parentElement && el.parentElement !== document.body && (getComputedStyle(el.parentElement).overflowX !== "visible" || clipped(el.parentElement));
	const wide = [...document.querySelectorAll("body *")].filter((el) => el.getBoundingClientRect().right > width + 0.5 && !clipped(el));
	return wide.filter((el) => !wide.some((inner) => inner !== el && el.contains(inner)))
		.map((el) => el.outerHTML.slice(0, 120) + " ends at " + Math.round(el.getBoundingClientRect().right) + " of " + width);
})()`

// SmallFields returns the fields with text of less than 16 px, into which iPhones zoom at every tap.
func (p *Page) SmallFields() []string {
	p.t.Helper()
	return Run(p, chromedp.Evaluate[[]string](smallFieldsScript))
}

const smallFieldsScript = `[...document.querySelectorAll("input, select, textarea, [contenteditable=true]")]
	.filter((el) => !["hidden", "checkbox", "radio", "file", "color", "range", "submit", "button"].includes(el.type))
	.filter((el) => parseFloat(getComputedStyle(el).fontSize) < 16)
	.map((el) => el.outerHTML.slice(0, 120) + " has " + getComputedStyle(el).fontSize)`

// Screenshot writes a picture of the whole page. The window is made as high as the page, so
// that what sticks to the window's edges is at the edges of the picture.
func (p *Page) Screenshot(file string) {
	p.t.Helper()
	size := Run(p, chromedp.Evaluate[[2]int64]("[innerWidth, Math.max(innerHeight, Math.min(document.scrollingElement.scrollHeight, 16000))]"))
	p.Resize(size[0], size[1])
	picture := Run(p, chromedp.CaptureScreenshot())
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, picture, 0o644)); err != nil {
		p.t.Fatal(err)
	}
}
