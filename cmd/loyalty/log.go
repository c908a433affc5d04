package main

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

const (
	wordedOften   = 5           // lines of a sentence are written within repeatedFor; more are counted
	repeatedFor   = time.Minute // then one line has the count
	differentMost = 1000        // sentences are told apart; others only by their message
)

// unrepeated is a log handler that counts repeated warnings and errors instead of writing them: strangers must not
// be able to fill the disk with them, nor to hide other lines among them. Lines below a warning, such as those of
// requests, are always written.
type unrepeated struct {
	slog.Handler
	*repeats
}

// repeats are the sentences of the last minute.
type repeats struct {
	mu        sync.Mutex
	sentences map[string]*repetition
}

// repetition is a sentence and how often it was repeated.
type repetition struct {
	written, counted int
	last             slog.Record
	out              slog.Handler // of the last
	ends             *time.Timer
}

func withoutRepeats(h slog.Handler) *unrepeated {
	return &unrepeated{h, &repeats{sentences: map[string]*repetition{}}}
}

// WithAttrs returns a handler that counts together with h.
func (h *unrepeated) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &unrepeated{h.Handler.WithAttrs(attrs), h.repeats}
}

// WithGroup returns a handler that counts together with h.
func (h *unrepeated) WithGroup(name string) slog.Handler {
	return &unrepeated{h.Handler.WithGroup(name), h.repeats}
}

// Handle writes or counts a line.
func (h *unrepeated) Handle(ctx context.Context, line slog.Record) error {
	if line.Level >= slog.LevelWarn && h.counts(line, h.Handler) {
		return nil
	}
	return h.Handler.Handle(ctx, line)
}

// counts reports whether a line was counted, and so must not be written.
func (r *repeats) counts(line slog.Record, out slog.Handler) bool {
	said := sentenceOf(line)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sentences[said] == nil && len(r.sentences) >= differentMost {
		said = line.Message
	}
	s := r.sentences[said]
	if s == nil {
		s = &repetition{ends: time.AfterFunc(repeatedFor, func() { r.end(said) })}
		r.sentences[said] = s
	}
	if s.written < wordedOften {
		s.written++
		return false
	}
	s.counted++
	s.last, s.out = line.Clone(), out
	return true
}

// end writes how often a sentence was repeated, with the attributes of the last time, and forgets it.
func (r *repeats) end(said string) {
	r.mu.Lock()
	s := r.sentences[said]
	delete(r.sentences, said)
	r.mu.Unlock()
	if s == nil || s.counted == 0 {
		return
	}
	s.last.AddAttrs(slog.Int("repeated", s.counted))
	_ = s.out.Handle(context.Background(), s.last)
}

// flush ends all sentences, when the process does.
func (r *repeats) flush() {
	r.mu.Lock()
	var all []string
	for said, s := range r.sentences {
		s.ends.Stop()
		all = append(all, said)
	}
	r.mu.Unlock()
	for _, said := range all {
		r.end(said)
	}
}

// sentenceOf is what makes a line the same as another: its message and its cause without numbers, which are ports, ids and
// times. Refusals of different addresses are different, because those who look for attacks count by address.
func sentenceOf(line slog.Record) string {
	var said strings.Builder
	said.WriteString(line.Message)
	line.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "what", "address":
			said.WriteString("\n" + a.Value.String())
		case "error":
			said.WriteString("\n" + strings.Map(withoutDigits, a.Value.String()))
		}
		return true
	})
	return said.String()
}

func withoutDigits(r rune) rune {
	if r >= '0' && r <= '9' {
		return -1
	}
	return r
}
