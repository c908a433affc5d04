package job_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/job"
)

// crew runs errands and remembers when each ran.
type crew struct {
	sync.Mutex
	running map[core.TenantID]int
	most    map[core.TenantID]int // at once
	began   map[core.TenantID][]time.Time
	order   map[core.TenantID][]int
	done    int
}

// work makes each errand take a time, or until the context ends.
func (c *crew) work(took time.Duration) func(context.Context, errand) error {
	c.running, c.most = map[core.TenantID]int{}, map[core.TenantID]int{}
	c.began, c.order = map[core.TenantID][]time.Time{}, map[core.TenantID][]int{}
	return func(ctx context.Context, e errand) error {
		c.Lock()
		c.running[e.Tenant]++
		c.most[e.Tenant] = max(c.most[e.Tenant], c.running[e.Tenant])
		c.began[e.Tenant] = append(c.began[e.Tenant], time.Now())
		c.order[e.Tenant] = append(c.order[e.Tenant], e.N)
		c.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(took):
		}
		c.Lock()
		defer c.Unlock()
		c.running[e.Tenant]--
		c.done++
		return ctx.Err()
	}
}

func (c *crew) runs(tenant core.TenantID) int {
	c.Lock()
	defer c.Unlock()
	return c.running[tenant]
}

func (c *crew) startOf(tenant core.TenantID) (at time.Time, ok bool) {
	c.Lock()
	defer c.Unlock()
	if len(c.began[tenant]) == 0 {
		return time.Time{}, false
	}
	return c.began[tenant][0], true
}

// "200 queued jobs of one tenant, another's single job starts within 2 s": beside long jobs, and without an
// attempt of any of the 200.
func TestAFloodDelaysNoOtherTenant(t *testing.T) {
	t.Parallel()
	for _, lane := range []job.Lane{job.Mail, job.Sends, job.Imports} {
		t.Run(string(lane), func(t *testing.T) {
			t.Parallel()
			f := newHastyFloor(t)
			var c crew
			job.Handle(f.Queue, lane, c.work(time.Minute))
			_, share := job.Staffing(lane)
			f.queue(t, errands(1, 0, 200)...)
			f.start(t)
			defer f.stop(t)
			await(t, "the flood has its share", func() bool { return c.runs(1) == share })
			f.queue(t, errand{2, 0})
			queued := time.Now()
			await(t, "the other tenant's job begins", func() bool { return c.runs(2) == 1 })
			if took := time.Since(queued); took > 2*time.Second {
				t.Errorf("the other tenant's job began after %s", took)
			}
			time.Sleep(300 * time.Millisecond) // for whatever else might begin
			if got := c.runs(1); got != share {
				t.Errorf("%d jobs of one tenant run, want %d", got, share)
			}
			if n := one[int](t, f, "select count(*) from river.river_job where state = 'available' and (attempt > 0 or attempted_at is not null)"); n != 0 {
				t.Errorf("%d waiting jobs were taken and put back", n)
			}
		})
	}
}

// Two tenants that fill a lane don't keep out a third: the next free worker takes its job. Each tenant's jobs
// run in the order they were queued.
func TestTenantsTakeTurns(t *testing.T) {
	t.Parallel()
	f := newFloor(t)
	var c crew
	job.Handle(f.Queue, job.Sends, c.work(30*time.Millisecond))
	workers, share := job.Staffing(job.Sends)
	f.queue(t, append(errands(1, 0, 200), errands(2, 0, 200)...)...)
	f.start(t)
	defer f.stop(t)
	await(t, "the floods fill the lane", func() bool { return c.runs(1)+c.runs(2) == workers })
	f.queue(t, errands(3, 0, 3)...)
	queued := time.Now()
	await(t, "the third tenant's jobs are done", func() bool { c.Lock(); defer c.Unlock(); return len(c.order[3]) == 3 })
	if at, _ := c.startOf(3); at.Sub(queued) > 2*time.Second {
		t.Errorf("the third tenant's first job began after %s", at.Sub(queued))
	}
	c.Lock()
	defer c.Unlock()
	if c.done > 300 {
		t.Errorf("%d jobs were done before", c.done)
	}
	for tenant, most := range c.most {
		if most > share {
			t.Errorf("%d jobs of tenant %d ran at once, its share is %d", most, tenant, share)
		}
		if order := c.order[tenant]; !roughlySorted(order, share) {
			t.Errorf("tenant %d's jobs ran in the order %v", tenant, order)
		}
	}
}

// A tenant's share is used without pauses: the next job starts soon after one has ended, not with the next
// search a second later.
func TestAShareIsUsedWithoutPauses(t *testing.T) {
	t.Parallel()
	f := newFloor(t)
	var c crew
	job.Handle(f.Queue, job.Mail, c.work(20*time.Millisecond))
	_, share := job.Staffing(job.Mail)
	f.queue(t, errands(1, 0, 15*share)...)
	f.start(t)
	defer f.stop(t)
	await(t, "all jobs are done", func() bool { c.Lock(); defer c.Unlock(); return c.done == 15*share })
	c.Lock()
	defer c.Unlock()
	if took := c.began[1][15*share-1].Sub(c.began[1][0]); took > 7*time.Second {
		t.Errorf("%d jobs of 20 ms, %d at a time, took %s", 15*share, share, took)
	} else {
		t.Logf("%d jobs of 20 ms, %d at a time, took %s", 15*share, share, took.Round(time.Millisecond))
	}
}

// roughlySorted reports whether every number is within a distance of its position.
func roughlySorted(numbers []int, off int) bool {
	sorted := slices.Sorted(slices.Values(numbers))
	for i, n := range numbers {
		if at, _ := slices.BinarySearch(sorted, n); at-i > off || i-at > off {
			return false
		}
	}
	return true
}

// The platform's jobs have no share: they may use the whole lane while no tenant waits.
func TestThePlatformHasNoShare(t *testing.T) {
	t.Parallel()
	f := newFloor(t)
	var c crew
	job.Handle(f.Queue, job.Imports, c.work(200*time.Millisecond))
	workers, _ := job.Staffing(job.Imports)
	f.queue(t, errands(0, 0, 10)...)
	f.start(t)
	defer f.stop(t)
	await(t, "the platform's jobs fill the lane", func() bool { return c.runs(0) == workers })
}

// "Of one tenant at most N run at once in a lane of a process": each of two processes has its own share, and
// no job runs in both.
func TestTwoProcessesShareALane(t *testing.T) {
	t.Parallel()
	f := newFloor(t)
	other := f.with(t, job.New)
	var c, d crew
	job.Handle(f.Queue, job.Mail, c.work(20*time.Millisecond))
	job.Handle(other.Queue, job.Mail, d.work(20*time.Millisecond))
	f.queue(t, append(errands(1, 0, 60), errands(2, 0, 60)...)...)
	f.start(t)
	defer f.stop(t)
	other.start(t)
	defer other.stop(t)
	await(t, "all jobs are done", func() bool {
		return one[int](t, f, "select count(*) from river.river_job where state = 'completed'") == 120
	})
	c.Lock()
	defer c.Unlock()
	d.Lock()
	defer d.Unlock()
	_, share := job.Staffing(job.Mail)
	for tenant := core.TenantID(1); tenant <= 2; tenant++ {
		all := slices.Concat(c.order[tenant], d.order[tenant])
		if slices.Sort(all); len(all) != 60 || len(slices.Compact(all)) != 60 {
			t.Errorf("tenant %d's 60 jobs ran %d times", tenant, len(all))
		}
		if max(c.most[tenant], d.most[tenant]) > share {
			t.Errorf("%d and %d jobs of tenant %d ran at once, its share is %d", c.most[tenant], d.most[tenant], tenant, share)
		}
	}
}
