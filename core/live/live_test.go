package live_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/live"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// hub starts a listening hub.
func hub(t *testing.T, url string) (*live.Hub, *db.DB) {
	t.Helper()
	d, err := db.Open(t.Context(), url, db.Options{MaxConns: 2, Listens: true})
	if err != nil {
		t.Fatal(err)
	}
	h := live.NewHub(slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.Run(ctx, d)
	}()
	t.Cleanup(func() {
		stop()
		<-done
		d.Close()
	})
	return h, d
}

func wantSignal(t *testing.T, what string, changed <-chan struct{}) {
	t.Helper()
	select {
	case _, open := <-changed:
		if !open {
			t.Fatalf("%s: closed", what)
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("%s: no signal", what)
	}
}

// notify signals a topic in committed transactions until it arrives: the hub may not listen yet.
func notify(t *testing.T, d *db.DB, by core.Actor, topic string, changed <-chan struct{}) {
	t.Helper()
	for enough := time.After(30 * time.Second); ; {
		_, err := db.In(t.Context(), d.Tenant(by), func(tx *db.Tx) (int, error) {
			live.Notify(tx, topic)
			return 0, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		select {
		case _, open := <-changed:
			if !open {
				t.Fatal("closed")
			}
			return
		case <-time.After(200 * time.Millisecond):
		case <-enough:
			t.Fatalf("%s was not heard", topic)
		}
	}
}

// Subscribers of a topic in every process are signalled after a commit, and not after a rollback.
func TestEveryProcessIsSignalled(t *testing.T) {
	t.Parallel()
	url := dbtest.OwnURL(t)
	a, d := hub(t, url)
	b, _ := hub(t, url)
	by := dbtest.Tenant(t, d)
	for _, h := range []*live.Hub{a, b} {
		changed, stop := h.Subscribe("pin 1")
		defer stop()
		notify(t, d, by, "pin 1", changed)
		other, stopOther := h.Subscribe("pin 2")
		defer stopOther()
		_, err := db.In(t.Context(), d.Tenant(by), func(tx *db.Tx) (int, error) {
			live.Notify(tx, "pin 2")
			return 0, errRefused
		})
		if !errors.Is(err, errRefused) {
			t.Fatal(err)
		}
		notify(t, d, by, "pin 1", changed)
		select {
		case <-other:
			t.Error("a topic was signalled that was rolled back")
		default:
		}
	}
}

var errRefused = errors.New("refused")

// After a lost connection all topics are signalled, since signals may have been missed.
func TestALostConnectionComesBack(t *testing.T) {
	t.Parallel()
	h, d := hub(t, dbtest.OwnURL(t))
	by := dbtest.Tenant(t, d)
	changed, stop := h.Subscribe("pin 1")
	defer stop()
	notify(t, d, by, "pin 1", changed)
	_, err := dbtest.Owner(d).Exec(t.Context(), "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen%'")
	if err != nil {
		t.Fatal(err)
	}
	wantSignal(t, "connected again", changed)
	notify(t, d, by, "pin 1", changed)
}

// Closing a hub ends its subscriptions.
func TestClose(t *testing.T) {
	t.Parallel()
	h := live.NewHub(slog.New(slog.DiscardHandler))
	changed, stop := h.Subscribe("pin 1")
	defer stop()
	h.Close()
	if _, open := <-changed; open {
		t.Error("still open")
	}
	late, _ := h.Subscribe("pin 1")
	if _, open := <-late; open {
		t.Error("a late one is open")
	}
	h.Close()
}
