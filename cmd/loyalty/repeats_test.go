package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// written are the lines of a log, without their times.
func written(t *testing.T, log *bytes.Buffer) (lines []string) {
	t.Helper()
	for text := range strings.Lines(log.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprint(line["msg"], " ", line["error"], " ", line["address"], " ", line["repeated"]))
	}
	log.Reset()
	return lines
}

// "The same sentence repeated a thousand times a minute is one line with a count": after its first lines. Causes that
// differ in numbers are the same; other causes and other addresses are not; requests are never counted.
func TestRepeatedLinesAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		handler := withoutRepeats(slog.NewJSONHandler(&out, nil))
		log := slog.New(handler)
		for n := range 1000 {
			log.Error("page failed", slog.Any("error", fmt.Errorf("read tcp 10.0.0.1:%d: reset", n)))
			log.With("of", "the queue").Error("page failed", slog.Any("error", fmt.Errorf("read tcp 10.0.0.1:%d: reset", n)))
			log.Warn("refused", slog.String("what", "access"), slog.String("address", "192.0.2.1"))
			log.Info("request")
		}
		log.Error("page failed", slog.Any("error", errors.New("disk full")))
		log.Warn("refused", slog.String("what", "access"), slog.String("address", "192.0.2.2"))
		at := map[string]int{}
		for _, line := range written(t, &out) {
			message, _, _ := strings.Cut(line, " read")
			at[message]++
		}
		for line, want := range map[string]int{
			"page failed": wordedOften, "refused <nil> 192.0.2.1 <nil>": wordedOften, "request <nil> <nil> <nil>": 1000,
			"page failed disk full <nil> <nil>": 1, "refused <nil> 192.0.2.2 <nil>": 1,
		} {
			if at[line] != want {
				t.Errorf("%q was written %d times, want %d", line, at[line], want)
			}
		}

		time.Sleep(repeatedFor)
		synctest.Wait()
		counted := strings.Join(written(t, &out), "\n")
		for _, want := range []string{"page failed read tcp 10.0.0.1:999: reset <nil> 1995", "refused <nil> 192.0.2.1 995"} {
			if !strings.Contains(counted, want) {
				t.Errorf("after a minute: %s, want %q", counted, want)
			}
		}
		if n := strings.Count(counted, "\n") + 1; n != 2 {
			t.Errorf("%d lines are counted: %s", n, counted)
		}

		// The next minute begins anew, and what was counted when the process ends is written.
		for range 7 {
			log.Error("page failed", slog.Any("error", errors.New("disk full")))
		}
		handler.flush()
		if lines := written(t, &out); len(lines) != wordedOften+1 || lines[wordedOften] != "page failed disk full <nil> 2" {
			t.Errorf("at the end: %q", lines)
		}
		if len(handler.sentences) != 0 {
			t.Errorf("%d sentences are remembered", len(handler.sentences))
		}
	})
}

// Any number of different causes keeps the log small: past a thousand they count as one.
func TestDifferentCausesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		handler := withoutRepeats(slog.NewJSONHandler(&out, nil))
		log := slog.New(handler)
		for n := range 3 * differentMost {
			log.Error("page failed", slog.Any("error", errors.New(strings.Repeat("x", n))))
		}
		if lines := written(t, &out); len(lines) != differentMost+wordedOften {
			t.Errorf("%d lines", len(lines))
		}
		time.Sleep(repeatedFor)
		synctest.Wait()
		if lines := written(t, &out); len(lines) != 1 {
			t.Errorf("%d lines with a count", len(lines))
		}
	})
}
