package promotion

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/db"
)

// MaxUnmappedCodes is the number of codes without a category that are kept of a business: the first ones that were seen.
const MaxUnmappedCodes = 500

const (
	writeEvery = 5 * time.Second
	writeTime  = 10 * time.Second // the longest time of a write

	// maxNoted limits the codes that are kept between two writes.
	maxNoted = 10_000
)

// Codes notes in memory which codes sales sent that no category has, and writes them in the background: no sale waits for it. What a
// process has not written when it is killed is lost.
type Codes struct {
	db *db.DB

	mu    sync.Mutex
	since map[code]*sightings

	writing sync.Mutex
}

type code struct {
	tenant core.TenantID
	code   string
}

// sightings are the sales with a code since a write.
type sightings struct {
	first, last time.Time
	sales       int64
}

// NewCodes makes a note of codes.
func NewCodes(d *db.DB) *Codes { return &Codes{db: d, since: map[code]*sightings{}} }

// Note notes the codes of one sale that no category has.
func (c *Codes) Note(tenant core.TenantID, codes []string, now time.Time) {
	if len(codes) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var seen []string
	for _, text := range codes {
		key := award.CodeKey(text)
		if slices.Contains(seen, key) {
			continue
		}
		seen = append(seen, key)
		c.add(code{tenant, key}, sightings{now, now, 1})
	}
}

func (c *Codes) add(of code, more sightings) {
	s := c.since[of]
	switch {
	case s == nil && len(c.since) >= maxNoted:
		return
	case s == nil:
		c.since[of] = &more
		return
	}
	s.sales += more.sales
	if more.first.Before(s.first) {
		s.first = more.first
	}
	if more.last.After(s.last) {
		s.last = more.last
	}
}

// Run writes what was noted, every few seconds until ctx ends. failed gets the error of a write, which is tried again.
func (c *Codes) Run(ctx context.Context, failed func(error)) {
	tick := time.NewTicker(writeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := c.Write(ctx); err != nil {
				failed(err)
			}
		}
	}
}

// The rows are in order, so that processes that write the same ones wait for each other, and never both.
const noteCodesSQL = `
	insert into loyalty.unmapped_code as u (tenant_id, code, first_seen_at, last_seen_at, sales)
	select n.id, s.code, s.first_seen, s.last_seen, s.sales
	from jsonb_to_recordset(@sightings::jsonb) s (code text, first_seen timestamptz, last_seen timestamptz, sales bigint)
	join loyalty.tenant n on n.id = @tenant_id
	where not exists (select from loyalty.category_code where tenant_id = @tenant_id and code = s.code)
		and (exists (select from loyalty.unmapped_code where tenant_id = @tenant_id and code = s.code)
			or (select count(*) from loyalty.unmapped_code where tenant_id = @tenant_id) < @most)
	order by s.code
	limit @most
	on conflict (tenant_id, code) do update
	set first_seen_at = least(u.first_seen_at, excluded.first_seen_at),
		last_seen_at = greatest(u.last_seen_at, excluded.last_seen_at),
		sales = u.sales + excluded.sales`

type notedCode struct {
	Code      string    `json:"code"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	Sales     int64     `json:"sales"`
}

// Write writes what was noted since the last write, in one transaction for each business. What it fails to write is added to the
// next write.
func (c *Codes) Write(ctx context.Context) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.mu.Lock()
	since := c.since
	c.since = map[code]*sightings{}
	c.mu.Unlock()
	of := map[core.TenantID][]notedCode{}
	for key, s := range since {
		of[key.tenant] = append(of[key.tenant], notedCode{key.code, s.first, s.last, s.sales})
	}
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	var failed error
	for tenant, codes := range of {
		slices.SortFunc(codes, func(a, b notedCode) int { return cmp.Compare(a.Code, b.Code) })
		err := db.Run(ctx, c.db.Tenant(core.System(core.Tenant{ID: tenant}, "categories")), func(tx *db.Tx) error {
			return db.Queue(tx, noteCodesSQL, db.Args{"sightings": codes, "most": MaxUnmappedCodes})
		})
		if err == nil {
			continue
		}
		failed = errors.Join(failed, err)
		c.mu.Lock()
		for _, n := range codes {
			c.add(code{tenant, n.Code}, sightings{n.FirstSeen, n.LastSeen, n.Sales})
		}
		c.mu.Unlock()
	}
	return failed
}
