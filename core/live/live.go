// Package live signals waiting pages that something has changed, in any process (LISTEN and NOTIFY).
//
// Its surprising rule: a signal says that something may have changed, never what. A page reads the state
// again, so a repeated or late signal does no harm, and lost ones need not be sent again.
package live

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"example.com/loyalty/core/db"
)

// channel is PostgreSQL's channel for all topics.
const channel = "loyalty_live"

// Notify signals a topic right after the transaction has committed.
func Notify(tx *db.Tx, topic string) { db.Notify(tx, channel, topic) }

// Hub passes signals to the subscribers in this process.
type Hub struct {
	log *slog.Logger

	mu     sync.Mutex
	closed bool
	topics map[string]map[chan struct{}]struct{}

	places   places
	watchers atomic.Int64
	watching sync.Mutex
	watches  map[string]*topicWatch // by topic
}

// NewHub returns a hub. It gets no signals before Run.
func NewHub(log *slog.Logger) *Hub {
	return &Hub{log: log, topics: map[string]map[chan struct{}]struct{}{}, places: newPlaces(), watches: map[string]*topicWatch{}}
}

// pause is the time before a lost connection is opened again.
const pause = time.Second

// Run listens until ctx ends, and reconnects when the connection is lost. Then it signals every topic
// once, since signals may have been missed.
func (h *Hub) Run(ctx context.Context, d *db.DB) {
	for ctx.Err() == nil {
		err := db.Listen(ctx, d, []string{channel}, h.signalAll, h.Signal)
		if ctx.Err() != nil {
			return
		}
		h.log.WarnContext(ctx, "live updates: connection lost, pages poll until it is back", slog.Any("error", err))
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// Subscribe returns a channel that gets a signal when the topic may have changed; several changes may
// be one signal. Closing the hub closes the channel; stop ends the subscription.
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

// Close ends all subscriptions, so that waiting pages don't hold up a process that stops.
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
		sendOnce(signals)
	}
}

func (h *Hub) signalAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, subscribers := range h.topics {
		for signals := range subscribers {
			sendOnce(signals)
		}
	}
}

// sendOnce sends a signal unless one is waiting.
func sendOnce(signals chan struct{}) {
	select {
	case signals <- struct{}{}:
	default:
	}
}
