package live

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/limit"
)

// Bounds of the watchers in this process. Pages beyond them poll.
const (
	watchersPerTopic   = 4  // one PIN on several screens, also before and after a reload
	watchersPerAddress = 50 // a shop's network
	watchersPerTenant  = 500
	maxWatchers        = 2_000 // one holds some 40 kB, with its connection
)

// A topic is read again at about this interval without a signal, since a process that was killed may have sent
// none. The time is drawn for each reading, or all topics would be read at once after a lost connection.
const (
	readAgain = 15 * time.Second
	readTime  = 15 * time.Second
)

// State is what a page shows of a topic.
type State struct {
	Name  string
	Final bool // it doesn't change again
}

// Read reads the state of a topic.
type Read func(context.Context) (State, error)

// places are the bounds of watchers.
type places struct {
	topics, addresses, tenants, all *limit.Lines[string]
}

func newPlaces() places {
	return places{
		topics: limit.NewLines[string](watchersPerTopic), addresses: limit.NewLines[string](watchersPerAddress),
		tenants: limit.NewLines[string](watchersPerTenant), all: limit.NewLines[string](maxWatchers),
	}
}

// enter returns false if there is no place.
func (p places) enter(topic, address, tenant string) (leave func(), entered bool) {
	var taken []func()
	leave = func() {
		for _, free := range taken {
			free()
		}
	}
	for _, place := range []struct {
		lines *limit.Lines[string]
		key   string
	}{{p.topics, topic}, {p.addresses, address}, {p.tenants, tenant}, {p.all, ""}} {
		free, entered := place.lines.TryEnter(place.key)
		if !entered {
			leave()
			return nil, false
		}
		taken = append(taken, free)
	}
	return leave, true
}

// topicWatch has the watchers of a topic, each with its own way to read it: any of them will do.
type topicWatch struct {
	watchers map[chan State]Read
	end      context.CancelFunc
}

// Watch returns a channel that gets the topic's state after each signal and from time to time. One reading is for
// all watchers of the topic. The channel is closed if reading fails, or when the hub is closed. stop ends the
// watch. Watch returns false if the topic, the address, the business (core.CountAs) or this process has too many
// watchers: then the page polls.
func (h *Hub) Watch(ctx context.Context, topic, address string, read Read) (states <-chan State, stop func(), watching bool) {
	leave, entered := h.places.enter(topic, address, core.CountedAs(ctx))
	if !entered {
		return nil, nil, false
	}
	own := make(chan State, 1)
	h.watching.Lock()
	defer h.watching.Unlock()
	w := h.watches[topic]
	if w == nil {
		following, end := context.WithCancel(context.WithoutCancel(ctx))
		w = &topicWatch{watchers: map[chan State]Read{}, end: end}
		h.watches[topic] = w
		changed, unsubscribe := h.Subscribe(topic)
		go func() {
			defer unsubscribe()
			h.follow(following, topic, w, changed)
		}()
	}
	w.watchers[own] = read
	h.watchers.Add(1)
	return own, sync.OnceFunc(func() {
		leave()
		h.watchers.Add(-1)
		h.watching.Lock()
		defer h.watching.Unlock()
		delete(w.watchers, own)
		h.endUnwatched(topic, w)
	}), true
}

// Watchers returns the number of watchers in this process.
func (h *Hub) Watchers() int64 { return h.watchers.Load() }

// follow reads a topic for its watchers until the last one has left.
func (h *Hub) follow(ctx context.Context, topic string, w *topicWatch, changed <-chan struct{}) {
	for {
		again := time.NewTimer(readAgain*3/4 + rand.N(readAgain/2))
		select {
		case <-ctx.Done():
			again.Stop()
			return
		case <-again.C:
		case _, open := <-changed:
			again.Stop()
			if !open {
				h.closeAll(topic, w)
				return
			}
		}
		h.tell(ctx, topic, w)
	}
}

// tell reads the state once and passes it to all watchers. One who can't read it is closed, and the next one reads.
func (h *Hub) tell(ctx context.Context, topic string, w *topicWatch) {
	for {
		reader, read := h.anyOf(w)
		if reader == nil {
			return
		}
		limited, cancel := context.WithTimeout(ctx, readTime)
		state, err := read(limited)
		cancel()
		h.watching.Lock()
		if err == nil {
			for watcher := range w.watchers {
				select {
				case <-watcher: // an earlier state that was not told yet
				default:
				}
				watcher <- state
			}
			h.watching.Unlock()
			return
		}
		if _, there := w.watchers[reader]; there {
			delete(w.watchers, reader)
			close(reader)
			h.endUnwatched(topic, w)
		}
		h.watching.Unlock()
	}
}

func (h *Hub) anyOf(w *topicWatch) (chan State, Read) {
	h.watching.Lock()
	defer h.watching.Unlock()
	for watcher, read := range w.watchers {
		return watcher, read
	}
	return nil, nil
}

func (h *Hub) closeAll(topic string, w *topicWatch) {
	h.watching.Lock()
	defer h.watching.Unlock()
	for watcher := range w.watchers {
		close(watcher)
	}
	clear(w.watchers)
	h.endUnwatched(topic, w)
}

// endUnwatched ends the reading of a topic without watchers.
func (h *Hub) endUnwatched(topic string, w *topicWatch) {
	if len(w.watchers) > 0 {
		return
	}
	w.end()
	if h.watches[topic] == w {
		delete(h.watches, topic)
	}
}
