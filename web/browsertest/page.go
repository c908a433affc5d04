package browsertest

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience is how long anything is waited for: only a fault takes so long.
const patience = 3 * time.Minute

// Page is a tab of the browser, in the hands of one test.
type Page struct {
	*tab
	t      *testing.T
	base   string
	within string // selector of the part that is acted on; "": all of it
}

type tab struct {
	ctx           context.Context
	pressed       float64 // when the last key was, in seconds
	watch         *watch
	width, height int64
}

// NewPage opens a tab of somebody new, who has no cookies and shares none with others.
// Paths are of the address base.
func (b *Browser) NewPage(t *testing.T, base string) *Page {
	t.Helper()
	return begin(t, openTab(t, b.ctx, chromedp.WithNewBrowserContext()), base)
}

// NewTab opens another tab of the same person, for another test.
func (p *Page) NewTab(t *testing.T) *Page {
	t.Helper()
	return begin(t, openTab(t, p.ctx), p.base)
}

func openTab(t *testing.T, from context.Context, options ...chromedp.ContextOption) *tab {
	t.Helper()
	ctx, end := chromedp.NewContext(from, options...)
	t.Cleanup(end)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	main := cdp.FrameID(chromedp.FromContext(ctx).Target.TargetID) // a tab and its page go by one id
	opened := &tab{ctx: ctx, watch: newWatch(main)}
	if err := chromedp.Listen(ctx, opened.watch.see); err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	return opened
}

func begin(t *testing.T, in *tab, base string) *Page {
	t.Helper()
	p := (&Page{tab: in, base: base}).For(t)
	p.Emulate(1440, 900, false)
	return p
}

// For is the same tab in the hands of another test, which expects nothing yet: opening
// one takes longer than most pages do, so tests may take turns. It closes with the first.
func (p *Page) For(t *testing.T) *Page {
	other := *p
	other.t = t
	other.watch.expectNothing()
	t.Cleanup(func() {
		for _, fault := range other.ConsoleErrors() {
			t.Errorf("in the browser: %s", fault)
		}
	})
	return &other
}

// Emulate gives the page a window of that size, on a device that is light or dark.
func (p *Page) Emulate(width, height int, dark bool) {
	p.t.Helper()
	p.width, p.height = int64(width), int64(height)
	p.resize(p.height)
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	do(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme},
		{Name: "prefers-reduced-motion", Value: "reduce"}, // nothing to wait for
	}})
	p.settle() // by now the page's scripts know
	p.settle()
}

func (p *Page) resize(height int64) {
	p.t.Helper()
	do(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: p.width, Height: height, DeviceScaleFactor: 1})
}

// WithoutJavaScript keeps the scripts of the pages that are opened from now on from running.
func (p *Page) WithoutJavaScript() {
	p.t.Helper()
	do(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// Expect says that answers of these statuses are what the test wants, and no fault.
func (p *Page) Expect(status ...int) { p.watch.expect(status) }

// Within is the same page where only what stands in the element of that selector is read,
// filled in and clicked.
func (p *Page) Within(selector string) *Page {
	part := *p
	part.within = selector
	return &part
}

// Open goes to a path of the base address, or to a whole address.
func (p *Page) Open(path string) {
	p.t.Helper()
	address := path
	if strings.HasPrefix(path, "/") {
		address = p.base + path
	}
	if got := do(p, page.Navigate, page.NavigateParams{URL: address}); got.ErrorText != "" {
		p.t.Fatalf("open %s: %s", address, got.ErrorText)
	}
	p.settle()
}

// Back goes back as the browser's own button does.
func (p *Page) Back() {
	p.t.Helper()
	history := do(p, page.GetNavigationHistory, cdp.Empty{})
	before := history.CurrentIndex - 1
	if before < 0 {
		p.t.Fatal("there is no page to go back to")
	}
	do(p, page.NavigateToHistoryEntry, page.NavigateToHistoryEntryParams{EntryID: history.Entries[before].ID})
	p.await("the page before is shown", func() (string, error) {
		if at := do(p, page.GetNavigationHistory, cdp.Empty{}).CurrentIndex; at != before {
			return "the page is still the same", nil
		}
		return "", nil
	})
	p.settle()
}

// Path is where the page is, with its query.
func (p *Page) Path() string {
	p.t.Helper()
	return ask[string](p, "address")
}

// Text is what people read in the first element of a selector that is in sight.
func (p *Page) Text(selector string) string {
	p.t.Helper()
	return until(p, selector, "text", selector, p.within).Text
}

// WaitFor waits until the page shows a text.
func (p *Page) WaitFor(text string) {
	p.t.Helper()
	p.await(fmt.Sprintf("“%s” is shown", text), func() (string, error) {
		return call[string](p, "says", text, p.within)
	})
	p.rest()
}

// Click clicks the link, the button or the label that has the text.
func (p *Page) Click(text string) {
	p.t.Helper()
	at := until(p, "click “"+text+"”", "target", text, p.within)
	if err := p.run(chromedp.MouseEvent(chromedp.MouseMoved, at.X, at.Y), chromedp.MouseClickXY(at.X, at.Y)); err != nil {
		p.t.Fatalf("click “%s”: %v", text, err)
	}
	p.settle()
}

// Fill types a text into the field of that label or name, in the place of what is there,
// or chooses the option that reads so.
func (p *Page) Fill(field, text string) {
	p.t.Helper()
	if until(p, "fill in “"+field+"”", "fill", field, text, p.within).Typed {
		if text == "" {
			text = kb.Delete
		}
		p.keys(text, handPause)
	}
	p.settle()
}

// Attach chooses a file of this machine in the field of that label or name.
func (p *Page) Attach(field, file string) {
	p.t.Helper()
	p.rest()
	world, err := p.world()
	if err != nil {
		p.t.Fatal(err)
	}
	input := do(p, runtime.Evaluate, runtime.EvaluateParams{Expression: expression("file", field), ContextID: world})
	if input.Result.ObjectID == "" {
		p.t.Fatalf("there is no field for files called “%s”", field)
	}
	do(p, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: []string{file}, ObjectID: input.Result.ObjectID})
	p.settle()
}

// keys are those that Press knows by name; any other is the letter itself.
var keys = map[string]string{
	"Enter": kb.Enter, "Escape": kb.Escape, "Tab": kb.Tab, "Space": " ", "Backspace": kb.Backspace,
	"Up": kb.ArrowUp, "Down": kb.ArrowDown, "Left": kb.ArrowLeft, "Right": kb.ArrowRight,
}

// Press presses a key: "Enter", "Escape", "Tab", "/".
func (p *Page) Press(key string) {
	p.t.Helper()
	p.rest()
	typed, named := keys[key]
	if !named {
		typed = key
	}
	p.keys(typed, handPause)
	p.settle()
}

// Scan types a text as a hand-held scanner does, wherever the focus is: faster than people, and
// with Enter at its end.
func (p *Page) Scan(text string) {
	p.t.Helper()
	p.rest()
	p.keys(text+kb.Enter, scanPause)
	p.settle()
}

// How long people and scanners wait between two keys, in seconds.
const (
	handPause = .12
	scanPause = .005
)

// keys presses keys, each so long after the one before, and the first one as people do. That is
// what the page is told; the test doesn't wait.
func (p *Page) keys(text string, pause float64) {
	p.t.Helper()
	at := max(p.pressed+handPause, float64(time.Now().UnixMilli())/1000) //nolint:forbidigo // the clock that the browser goes by
	for _, r := range text {
		p.pressed, at = at, at+pause
		for _, k := range kb.Encode(r) {
			k.Timestamp = input.TimeSinceEpoch(p.pressed)
			do(p, input.DispatchKeyEvent, *k)
		}
	}
}

// Links are the addresses on the same host that the page links to, in sight or not, as
// pages and not as files.
func (p *Page) Links() []string {
	p.t.Helper()
	p.rest()
	return ask[[]string](p, "links")
}

// Sideways are the elements that make the page scroll sideways: there should be none.
func (p *Page) Sideways() []string {
	p.t.Helper()
	p.rest()
	return ask[[]string](p, "sideways")
}

// ConsoleErrors are the errors in the console, the breaches of the security policy and
// the requests that failed since it was last asked. Those that nobody asks for fail the
// test at its end.
func (p *Page) ConsoleErrors() []string {
	_, _ = call[string](p, "address") // what happened before it is answered is told before it
	return p.watch.takeFaults()
}

// tallest is how high a picture can be.
const tallest = 16_000

// Screenshot writes a picture of the page from its top to its bottom.
func (p *Page) Screenshot(file string) {
	p.t.Helper()
	p.rest()
	// In a window as high as the page, what sticks to the window's edges is where it belongs.
	p.resize(min(max(p.height, ask[int64](p, "height")), tallest))
	p.settle()
	picture := do(p, page.CaptureScreenshot, page.CaptureScreenshotParams{})
	p.resize(p.height)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, picture.Data, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// settle lets the step before do what it does, and waits until the page is at rest again.
func (p *Page) settle() {
	p.t.Helper()
	// What it set off begins before the next picture is drawn. A page that is being left
	// draws none.
	_, _ = call[bool](p, "frame")
	p.rest()
}

// rest waits until the page is at rest: nothing loads, nothing moves. What it does by
// itself later, such as a search that waits for the next letter, is for WaitFor.
func (p *Page) rest() {
	p.t.Helper()
	p.await("the page comes to rest", func() (string, error) {
		if busy := p.watch.busy(); busy != "" {
			return busy, nil
		}
		why, err := call[string](p, "unrest")
		if err != nil || why != "" {
			return why, err
		}
		return p.watch.busy(), nil
	})
}

// await tries until nothing is said against it. An error is the page being replaced.
func (p *Page) await(what string, try func() (why string, err error)) {
	p.t.Helper()
	enough := time.After(patience)
	for {
		why, err := try()
		if err == nil && why == "" {
			return
		}
		if mistake := new(scriptError); errors.As(err, mistake) {
			p.t.Fatalf("%s: %v", what, err)
		}
		if err != nil {
			why = err.Error()
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-enough:
			p.t.Fatalf("waited in vain: %s: %s\n%s", what, why, p.scene())
		case <-p.ctx.Done():
			p.t.Fatalf("%s: the browser has ended: %v", what, context.Cause(p.ctx))
		}
	}
}

// scene is what somebody in front of the page sees, for whoever reads why a test failed.
func (p *Page) scene() string {
	path, _ := call[string](p, "address")
	got, _ := call[found](p, "text", "main", "")
	return fmt.Sprintf("at %s, which reads: %.1500s\nerrors: %q", path, got.Text, p.watch.takeFaults())
}

// found is what page.js found, or why it did not.
type found struct {
	Why   string  // not yet
	Many  string  // several: the step says too little
	Text  string  `json:"text"`
	X, Y  float64 // of a click
	Typed bool    // the field has to be typed into
}

// until calls a function of page.js, on a page at rest, until it finds what it looks for.
func until(p *Page, what, function string, args ...any) (got found) {
	p.t.Helper()
	p.rest()
	p.await(what, func() (why string, err error) {
		got, err = call[found](p, function, args...)
		if got.Many != "" {
			p.t.Fatalf("%s: there are several: %s", what, got.Many)
		}
		return got.Why, err
	})
	return got
}

// ask calls a function of page.js that always has an answer.
func ask[T any](p *Page, function string, args ...any) (answer T) {
	p.t.Helper()
	p.await(function, func() (why string, err error) {
		answer, err = call[T](p, function, args...)
		return "", err
	})
	return answer
}

//go:embed page.js
var script string

// call calls a function of page.js. It fails where the page is being replaced.
func call[T any](p *Page, function string, args ...any) (answer T, err error) {
	world, err := p.world()
	if err != nil {
		return answer, err
	}
	return answer, p.evaluate(world, expression(function, args...), &answer)
}

func expression(function string, args ...any) string {
	list, err := json.Marshal(append([]any{}, args...)) // none are [], not null
	if err != nil {
		panic(err) // they are texts
	}
	return "ours." + function + "(..." + string(list) + ")"
}

// world is where page.js runs, beside the page: neither the page's scripts nor its
// security policy meet it there. Each document has its own, made when it is asked for.
func (p *Page) world() (runtime.ExecutionContextID, error) {
	if known := p.watch.currentWorld(); known != 0 {
		return known, nil
	}
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	made, err := chromedp.Call(ctx, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: p.watch.main, WorldName: "test"})
	if err != nil {
		return 0, err
	}
	if err := p.evaluate(made.ExecutionContextID, script, nil); err != nil {
		return 0, err
	}
	p.watch.enterWorld(made.ExecutionContextID)
	return made.ExecutionContextID, nil
}

// scriptError is a mistake in a script of ours, or in what a test gave it.
type scriptError string

func (e scriptError) Error() string { return string(e) }

// evaluate runs JavaScript in a world, and waits for its promise.
func (p *Page) evaluate(world runtime.ExecutionContextID, source string, answer any) error {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	got, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{
		Expression: source, ContextID: world, ReturnByValue: new(true), AwaitPromise: new(true),
	})
	switch {
	case err != nil:
		p.watch.enterWorld(0) // it has gone with its document
		return err
	case got.ExceptionDetails != nil:
		return scriptError(exception(got.ExceptionDetails))
	case answer == nil:
		return nil
	}
	return json.Unmarshal(got.Result.Value, answer)
}

// run runs chromedp's own actions.
func (p *Page) run(steps ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	return chromedp.Do(ctx, steps...)
}

// do sends a command that must succeed.
func do[P, R any](p *Page, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	got, err := chromedp.Call(ctx, command, params)
	if err != nil {
		p.t.Fatalf("%s: %v", command.Method, err)
	}
	return got
}

// emulateNetwork is the command that sets what the page sees of the network and what its
// requests get, in one.
var emulateNetwork = cdp.Command[network.OverrideNetworkStateParams, cdp.Empty]{Method: "Network.emulateNetworkConditions"}

// Offline cuts the page off from the network, or joins them again.
func (p *Page) Offline(off bool) {
	p.t.Helper()
	do(p, emulateNetwork, network.OverrideNetworkStateParams{Offline: off, DownloadThroughput: -1, UploadThroughput: -1})
	p.settle()
}

// Lose takes a step of which the answer to a request for a path is lost: the server has done
// what was asked, and the page sees a broken connection.
func (p *Page) Lose(path string, step func()) {
	p.t.Helper()
	paused := make(chan fetch.RequestID, 1)
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	err := chromedp.Listen(ctx, func(event any) {
		if e, is := event.(*fetch.EventRequestPaused); is {
			paused <- e.RequestID
		}
	})
	if err != nil {
		p.t.Fatal(err)
	}
	pattern := &fetch.RequestPattern{URLPattern: "*" + path, RequestStage: fetch.RequestStageResponse}
	do(p, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{pattern}})
	lost := make(chan error, 1)
	go func() {
		params := fetch.FailRequestParams{RequestID: <-paused, ErrorReason: network.ErrorReasonConnectionReset}
		_, err := chromedp.Call(ctx, fetch.FailRequest, params)
		lost <- err
	}()
	step()
	if err := <-lost; err != nil {
		p.t.Fatalf("lose the answer of %s: %v", path, err)
	}
	do(p, fetch.Disable, cdp.Empty{})
	p.ConsoleErrors() // the browser's own, of that request
}
