package job_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

func (f floor) changeJob(t *testing.T, fn func(tx *db.Tx) (bool, error)) (changed bool) {
	t.Helper()
	changed, err := db.In(t.Context(), f.db.Platform(), fn)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func (f floor) pause(t *testing.T, lane job.Lane) bool {
	t.Helper()
	return f.changeJob(t, func(tx *db.Tx) (bool, error) { return job.Pause(t.Context(), tx, core.Actor{Name: "Root"}, lane) })
}

func (f floor) resume(t *testing.T, lane job.Lane) bool {
	t.Helper()
	return f.changeJob(t, func(tx *db.Tx) (bool, error) { return job.Resume(t.Context(), tx, lane) })
}

// "Pause and resume a lane (stored; honoured by all processes within seconds)": by a running process and by
// one that starts later, and only for that lane.
func TestAPausedLaneTakesNoJobs(t *testing.T) {
	t.Parallel()
	first := newFloor(t)
	done := make(chan string, 10)
	handle := func(f floor, name string) floor {
		job.Handle(f.Queue, job.Mail, func(context.Context, greeting) error { done <- name + " mail"; return nil })
		job.Handle(f.Queue, job.Upkeep, func(context.Context, tidying) error { done <- name + " upkeep"; return nil })
		if err := f.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Stop(context.WithoutCancel(t.Context())) })
		return f
	}
	handle(first, "first")
	first.queue(t, greeting{})
	if got := <-done; got != "first mail" {
		t.Fatal(got)
	}
	if !first.pause(t, job.Mail) || first.pause(t, job.Mail) {
		t.Error("a lane is paused once")
	}
	second := handle(first.with(t, job.New), "second")
	first.queue(t, greeting{}, tidying{})
	second.queue(t, greeting{})
	for wait := time.After(3 * time.Second); ; {
		select {
		case got := <-done:
			if got != "first upkeep" && got != "second upkeep" {
				t.Errorf("%s ran while the lane was paused", got)
			}
			continue
		case <-wait:
		}
		break
	}
	loads, err := second.Load(t.Context())
	if err != nil || loads[0].Lane != job.Mail || loads[0].PausedBy == nil || *loads[0].PausedBy != "Root" || loads[0].Queued != 2 || loads[3].PausedBy != nil {
		t.Errorf("the load is %+v, %v", loads, err)
	}
	if !second.resume(t, job.Mail) || second.resume(t, job.Mail) {
		t.Error("a lane is resumed once")
	}
	for range 2 {
		select {
		case <-done:
		case <-time.After(30 * time.Second):
			t.Fatal("a lane that was resumed takes no jobs")
		}
	}
	_, err = db.In(t.Context(), first.db.Platform(), func(tx *db.Tx) (bool, error) { return job.Pause(t.Context(), tx, first.by, "bus") })
	if !errors.Is(err, core.ErrNotFound) {
		t.Errorf("there is no such lane: %v", err)
	}
}
