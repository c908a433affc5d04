// Package live tells pages that wait for something that it has happened, in whichever
// process it did (LISTEN and NOTIFY).
//
// Its surprising rule: a signal says that something may have changed, never what. A page
// that gets one reads the state again, so a signal that comes twice or late does no harm, and
// none is needed for what was missed while the connection was lost.
package live

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"example.com/loyalty/core/db"
)

// channel is what topics are signalled on.
const channel = "loyalty_live"

// Notify signals a topic right after the transaction has committed.
func Notify(tx *db.Tx, topic string) { db.Notify(tx, channel, topic) }

// Hub hands signals to those who wait for them in this process.
type Hub struct {
	log *slog.Logger

	mu     sync.Mutex
	closed bool
	topics map[string]map[chan struct{}]struct{}
}

// NewHub returns a hub. It signals nothing before Run.
func NewHub(log *slog.Logger) *Hub {
	return &Hub{log: log, topics: map[string]map[chan struct{}]struct{}{}}
}

// pause is how long a lost connection is left alone.
const pause = time.Second

// Run listens until ctx ends, and again whenever the connection is lost. Then every topic
// is signalled once, since signals may have been missed.
func (h *Hub) Run(ctx context.Context, d *db.DB) {
	for ctx.Err() == nil {
		err := db.Listen(ctx, d, channel, h.signalAll, h.Signal)
		if ctx.Err() != nil {
			return
		}
		h.log.WarnContext(ctx, "live updates: the connection was lost, pages poll until it is back", slog.Any("error", err))
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// Subscribe returns a channel that gets a signal when the topic may have changed. Several
// changes may be one signal. The channel is closed when the hub is; stop ends the
// subscription.
func (h *Hub) Subscribe(topic string) (changed <-chan struct{}, stop func()) {
	signals := make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		close(signals)
		return signals, func() {}
	}
	if h.topics[topic] == nil {
		h.topics[topic] = map[chan struct{}]struct{}{}
	}
	h.topics[topic][signals] = struct{}{}
	return signals, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.topics[topic], signals)
		if len(h.topics[topic]) == 0 {
			delete(h.topics, topic)
		}
	}
}

// Close ends all subscriptions, so that a process that stops isn't held up by pages that
// wait.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.closed = true
	for _, subscribers := range h.topics {
		for signals := range subscribers {
			close(signals)
		}
	}
	h.topics = map[string]map[chan struct{}]struct{}{}
}

// Signal signals a topic in this process.
func (h *Hub) Signal(topic string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for signals := range h.topics[topic] {
		poke(signals)
	}
}

func (h *Hub) signalAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, subscribers := range h.topics {
		for signals := range subscribers {
			poke(signals)
		}
	}
}

// poke signals, unless a signal waits already.
func poke(signals chan struct{}) {
	select {
	case signals <- struct{}{}:
	default:
	}
}
