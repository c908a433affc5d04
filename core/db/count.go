package db

import (
	"maps"
	"sync"
)

// Metric names what a process counts: a thing and one of its few kinds. Both are words of the
// code, never of a request, so that their number stays small.
type Metric struct{ Thing, Kind string }

// counts are the totals of this process since it started.
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
	for metric, n := range counted {
		c.n[metric] += n
	}
}

// Count adds n to a metric once the transaction has committed, and never after a rollback.
func Count(tx *Tx, m Metric, n int64) {
	if tx.counted == nil {
		tx.counted = map[Metric]int64{}
	}
	tx.counted[m] += n
}

// Count adds n to a metric at once, without a transaction.
func (d *DB) Count(m Metric, n int64) { d.counts.add(map[Metric]int64{m: n}) }

// Counts returns the totals since the pool was opened.
func (d *DB) Counts() map[Metric]int64 {
	d.counts.mu.Lock()
	defer d.counts.mu.Unlock()
	return maps.Clone(d.counts.n)
}
