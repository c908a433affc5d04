package report

import (
	"sync"
	"time"

	"example.com/loyalty/core"
)

const (
	cacheTime    = time.Hour
	manyAccounts = 20_000 // what every account has a part in is counted each time of fewer
)

// hourly are figures that every account of a tenant has a part in. Those of large tenants are kept for an hour, and no longer than a local day.
type hourly[K comparable, T any] struct {
	mu   sync.Mutex
	kept map[K]asOf[T]
}

type asOf[T any] struct {
	at      time.Time
	figures T
}

// of returns what is kept, if it isn't too old now.
func (h *hourly[K, T]) of(key K, now time.Time, zone *time.Location) (kept asOf[T], known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	kept, known = h.kept[key]
	return kept, known && now.Sub(kept.at) < cacheTime && core.DateOf(kept.at, zone).Equal(core.DateOf(now, zone))
}

func (h *hourly[K, T]) keep(key K, counted asOf[T]) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.kept == nil {
		h.kept = map[K]asOf[T]{}
	}
	h.kept[key] = counted
}

const (
	isLargeSQL = `
	select ` + isLarge + ` as large`

	// No more accounts are counted than matter.
	isLarge = `(
			select count(*) = @many::bigint
			from (
				select
				from loyalty.account
				where tenant_id = @tenant_id
				limit @many
			) account
		)`
)
