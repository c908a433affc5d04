package db

import (
	"maps"
	"sync"
)

// Metric names what a process counts: a thing and one of its few kinds. Both are words of
// the code, never of a request, so that they stay few.
type Metric struct{ Thing, Kind string }

// counts are what this process counted since it started.
type counts struct {
	mu sync.Mutex
	n  map[Metric]int64
}

func (c *counts) add(counted map[Metric]int64) {
	if len(counted) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for what, n := range counted {
		c.n[what] += n
	}
}

// Count counts n of something once the transaction has committed, and never for what was
// rolled back.
func Count(tx *Tx, what Metric, n int64) {
	if tx.counted == nil {
		tx.counted = map[Metric]int64{}
	}
	tx.counted[what] += n
}

// Count counts n of something that needs no transaction.
func (d *DB) Count(what Metric, n int64) { d.counts.add(map[Metric]int64{what: n}) }

// Counts returns what this pool's process counted since the pool was opened.
func (d *DB) Counts() map[Metric]int64 {
	d.counts.mu.Lock()
	defer d.counts.mu.Unlock()
	return maps.Clone(d.counts.n)
}
