package browsertest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// watch follows what a tab does: what it still waits for, and what goes wrong.
type watch struct {
	main cdp.FrameID

	mu       sync.Mutex
	leaving  bool // a step asked for another page, which has not begun to load
	loading  bool
	requests map[network.RequestID]request // under way; those of frames tell others of their end
	expected []int64                       // statuses that are no fault
	faults   []string
	world    runtime.ExecutionContextID // of our scripts in the page that is shown; 0: none
}

type request struct {
	name   string
	loader cdp.LoaderID
}

func newWatch(main cdp.FrameID) *watch {
	return &watch{main: main, requests: map[network.RequestID]request{}}
}

// see takes the events of the tab, in their order.
func (w *watch) see(event any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := event.(type) {
	case *page.EventFrameRequestedNavigation:
		w.leaving = w.leaving || e.FrameID == w.main && e.Disposition == page.ClientNavigationDispositionCurrentTab
	case *page.EventNavigatedWithinDocument:
		w.leaving = false
	case *page.EventFrameStartedLoading:
		w.loading = w.loading || e.FrameID == w.main
	case *page.EventFrameStoppedLoading:
		if e.FrameID == w.main {
			w.loading, w.leaving = false, false
		}
	case *page.EventFrameNavigated:
		if e.Frame.ParentID == "" {
			w.leave(e.Frame.LoaderID)
		}
	case *runtime.EventExecutionContextsCleared:
		w.world = 0

	case *network.EventRequestWillBeSent:
		// A stream of events stays open; nobody waits for an icon, which is of the other type.
		if e.FrameID == w.main && e.Type != network.ResourceTypeEventSource && e.Type != network.ResourceTypeOther {
			w.requests[e.RequestID] = request{e.Request.Method + " " + e.Request.URL, e.LoaderID}
		}
	case *network.EventResponseReceived:
		if e.Response.Status >= http.StatusBadRequest && !slices.Contains(w.expected, e.Response.Status) {
			w.fault("%s: %d", w.name(e.RequestID, e.Response.URL), e.Response.Status)
		}
	case *network.EventLoadingFinished:
		delete(w.requests, e.RequestID)
	case *network.EventLoadingFailed:
		if !e.Canceled {
			w.fault("%s: %s %s", w.name(e.RequestID, string(e.Type)), e.ErrorText, e.BlockedReason)
		}
		delete(w.requests, e.RequestID)

	case *log.EventEntryAdded: // breaches of the security policy among them; requests are told of above
		if e.Entry.Level == log.EntryLevelError && e.Entry.Source != log.EntrySourceNetwork {
			w.fault("%s: %s (%s)", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeAssert {
			w.fault("console: %s", words(e.Args))
		}
	case *runtime.EventExceptionThrown:
		w.fault("uncaught: %s (%s)", exception(e.ExceptionDetails), e.ExceptionDetails.URL)
	case *inspector.EventTargetCrashed:
		w.fault("the page's process ended by itself")
	}
}

// leave forgets what the page before waited for.
func (w *watch) leave(loader cdp.LoaderID) {
	for id, r := range w.requests {
		if r.loader != loader {
			delete(w.requests, id)
		}
	}
}

func (w *watch) name(id network.RequestID, otherwise string) string {
	if r, known := w.requests[id]; known {
		return r.name
	}
	return otherwise
}

func (w *watch) fault(format string, args ...any) {
	w.faults = append(w.faults, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// busy is what the tab waits for, or "".
func (w *watch) busy() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.requests {
		return r.name + " is not answered yet"
	}
	if w.leaving || w.loading {
		return "a page is loading"
	}
	return ""
}

// takeFaults returns what went wrong since it was last asked.
func (w *watch) takeFaults() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	faults := w.faults
	w.faults = nil
	return faults
}

func (w *watch) expectNothing() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expected = []int64{http.StatusUnprocessableEntity} // a refused form is shown again
}

func (w *watch) expect(statuses []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, status := range statuses {
		w.expected = append(w.expected, int64(status))
	}
}

func (w *watch) currentWorld() runtime.ExecutionContextID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.world
}

func (w *watch) enterWorld(id runtime.ExecutionContextID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.world = id
}

// words are what a script wrote to the console.
func words(args []*runtime.RemoteObject) string {
	var all []string
	for _, a := range args {
		if a.Description != "" {
			all = append(all, a.Description)
		} else {
			all = append(all, strings.Trim(string(a.Value), `"`))
		}
	}
	return strings.Join(all, " ")
}

func exception(e *runtime.ExceptionDetails) string {
	if e.Exception != nil && e.Exception.Description != "" {
		return e.Exception.Description
	}
	return e.Text
}
