package browsertest

import (
	"cmp"
	"fmt"
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

// activity follows the events of a tab: what it is loading, and its faults.
type activity struct {
	main cdp.FrameID

	mu         sync.Mutex
	navigating bool
	requests   map[network.RequestID]cdp.LoaderID // not yet answered
	faults     []string
}

// see takes the events of the tab, in their order.
func (a *activity) see(event any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch e := event.(type) {
	case *page.EventFrameRequestedNavigation:
		a.navigating = a.navigating || e.FrameID == a.main && e.Disposition == page.ClientNavigationDispositionCurrentTab
	case *page.EventFrameStartedLoading:
		a.navigating = a.navigating || e.FrameID == a.main
	case *page.EventNavigatedWithinDocument:
		a.navigating = false
	case *page.EventFrameStoppedLoading:
		a.navigating = a.navigating && e.FrameID != a.main
	case *page.EventFrameNavigated:
		for id, loader := range a.requests {
			if e.Frame.ParentID == "" && loader != e.Frame.LoaderID {
				delete(a.requests, id) // of the document before
			}
		}

	case *network.EventRequestWillBeSent:
		// A stream of events stays open, and icons, which are of the other type, don't matter.
		if e.FrameID == a.main && e.Type != network.ResourceTypeEventSource && e.Type != network.ResourceTypeOther {
			a.requests[e.RequestID] = e.LoaderID
		}
	case *network.EventLoadingFinished:
		delete(a.requests, e.RequestID)
	case *network.EventLoadingFailed:
		delete(a.requests, e.RequestID)

	case *log.EventEntryAdded: // failed requests and violations of the security policy
		if e.Entry.Level == log.EntryLevelError {
			a.fault("%s: %s (%s)", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeAssert {
			texts := []string{"console:"}
			for _, arg := range e.Args {
				texts = append(texts, cmp.Or(arg.Description, strings.Trim(string(arg.Value), `"`)))
			}
			// htmx logs two errors for a request that is aborted because the page is left.
			if text := strings.Join(texts, " "); !strings.HasPrefix(text, "console: htmx:sendAbort") && !strings.HasPrefix(text, "console: htmx:afterRequest") {
				a.fault("%s", text)
			}
		}
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if thrown := e.ExceptionDetails.Exception; thrown != nil {
			text = cmp.Or(thrown.Description, text)
		}
		a.fault("uncaught: %s (%s)", text, e.ExceptionDetails.URL)
	case *inspector.EventTargetCrashed:
		a.fault("the page's process crashed")
	}
}

func (a *activity) fault(format string, args ...any) {
	a.faults = append(a.faults, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// loading reports whether requests are under way.
func (a *activity) loading() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.navigating || len(a.requests) > 0
}

// takeFaults returns the faults since the last call, without answers of the expected statuses.
func (a *activity) takeFaults(expected []int) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	faults := slices.DeleteFunc(a.faults, func(fault string) bool {
		return slices.ContainsFunc(expected, func(status int) bool { return strings.Contains(fault, fmt.Sprintf("a status of %d ", status)) })
	})
	a.faults = nil
	return faults
}
