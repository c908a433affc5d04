package portal_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"example.com/loyalty/static"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/browsertest"
	"example.com/loyalty/web/page"
)

// issuer is a server that shows PINs of two seconds, to see what pin.js makes of them.
type issuer struct {
	mu      sync.Mutex
	issued  int
	state   string
	refuses int           // the status that live updates are refused with; 0: they aren't
	changed chan struct{} // signals the streams
}

func (i *issuer) with(change func()) {
	i.mu.Lock()
	change()
	i.mu.Unlock()
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch r.Method + " " + r.URL.Path {
	case "GET /":
		_, _ = fmt.Fprintf(w, `<!DOCTYPE html><title>A PIN</title><script src="%s" defer></script><main><form method="post" action="/pin" data-pin-form data-live-target><button>Show my code</button></form><p data-pin-status></p></main>`, static.Path("js/pin.js"))
	case "POST /pin":
		if i.state == "taken" || i.state == "completed" { // as the portal answers a renewal that comes too late
			i.answer(w)
			return
		}
		i.issued++
		i.state = "waiting"
		qr, err := page.QR("https://example.com", "A code")
		if err != nil {
			panic(err)
		}
		_, _ = fmt.Fprint(w, `<section data-live-target>`)
		_ = ui.LivePIN(ui.PIN{ID: "1", Digits: fmt.Sprintf("%06d", i.issued), QR: qr, Seconds: 2, Live: "/events", Refresh: "/state", Renew: "/pin"}).Render(r.Context(), w)
		_, _ = fmt.Fprint(w, `</section>`)
	case "GET /state":
		i.answer(w)
	case "GET /events":
		if i.refuses != 0 {
			w.WriteHeader(i.refuses)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			_, _ = fmt.Fprintf(w, "event: state\ndata: %s\n\n", i.state)
			if err := http.NewResponseController(w).Flush(); err != nil {
				return
			}
			i.mu.Unlock()
			select {
			case <-i.changed:
			case <-r.Context().Done():
			}
			i.mu.Lock()
			if r.Context().Err() != nil {
				return
			}
		}
	}
}

// answer tells the state.
func (i *issuer) answer(w http.ResponseWriter) {
	switch i.state {
	case "waiting":
		w.WriteHeader(http.StatusNoContent)
	case "taken":
		_, _ = fmt.Fprint(w, `<section data-live-target><div data-pin data-state="taken" data-live="/events" data-refresh="/state"><p data-pin-say>At the till…</p></div></section>`)
	default:
		_, _ = fmt.Fprint(w, `<section data-live-target><p data-pin-say>+12 points</p></section>`)
	}
}

func (i *issuer) becomes(state string) {
	i.with(func() { i.state = state })
	select {
	case i.changed <- struct{}{}:
	default:
	}
}

// "QR and PIN with a 90-second ring that renews itself and reports at once when it was used";
// live updates "reconnect by themselves and fall back to polling".
func TestPINOnScreen(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t)
	for name, refuses := range map[string]int{
		"Live": 0, "Polling": http.StatusServiceUnavailable, "TooManyStreams": http.StatusNoContent,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := &issuer{refuses: refuses, changed: make(chan struct{}, 1)}
			mux := http.NewServeMux()
			mux.Handle("/static/", static.Handler())
			mux.Handle("/", i)
			server := httptest.NewServer(mux)
			t.Cleanup(server.Close)
			p := b.NewPage(t, server.URL)
			if refuses == http.StatusServiceUnavailable {
				p.Expect(http.StatusServiceUnavailable)
			}
			p.Open("/")
			p.Click("[data-pin-form] button")
			p.WaitForText(".pin-digits", "000 001")
			p.WaitForText("[data-pin-left]", "1 s")
			p.WaitForText(".pin-digits", "000 003") // it renews itself, and again
			i.becomes("taken")
			p.WaitFor("[data-pin][data-state=taken]")
			issued := 0
			i.with(func() { issued = i.issued })
			i.becomes("completed")
			p.WaitForText("[data-pin-say]", "+12 points")
			i.with(func() {
				if i.issued != issued {
					t.Errorf("%d PINs were issued after one was taken", i.issued-issued)
				}
			})
			if got := p.Text("section"); got != "+12 points" || p.Path() != "/" {
				t.Errorf("at %s it says %q", p.Path(), got)
			}
		})
	}
}
