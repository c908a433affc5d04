package token

import (
	"context"
	"encoding/hex"
	"log/slog"
	"strings"
	"sync"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Request is a request with a token that was answered.
type Request struct {
	TokenID  int64
	Method   string
	Endpoint string // as documented: /api/v1/customers/{ulid}; "": an unknown path
	Status   int
	Address  string
	Refused  *Reason // nil: it wasn't refused
}

// Reason is why a request was refused: never what was sent.
type Reason struct {
	RequestID string
	Title     string
	Detail    string
	Code      string   // of a business rule; "": none
	Fields    []string // names of what failed a validation
}

// Other is the endpoint under which a Meter counts what is too much to be counted apart.
const Other = "*"

const (
	writeEvery = 5 * time.Second
	writeTime  = 10 * time.Second // the longest time of a write

	// maxCounts limits the sums that are kept apart between two writes, and again those under Other.
	maxCounts = 20_000
	// maxRefusals limits the refusals that are kept between two writes, of all tokens.
	maxRefusals = 5_000
	// KeptRefusals is the number of refusals that are kept of a token.
	KeptRefusals = 50
	// maxFields and maxName limit the names of fields in a refusal, which a caller may invent.
	maxFields = 20
	maxName   = 100
)

// slot is the length of time for which a request is counted. No zone's day begins within one.
const slot = 15 * 60

// Meter counts the requests with tokens in memory, and writes the sums in the background: no request waits for it.
// Processes add up. What a process has not written when it is killed is lost, and so is what exceeds the limits
// while the database is away.
type Meter struct {
	db  *db.DB
	log *slog.Logger

	mu    sync.Mutex
	since *sums
	spare *sums // empty, for after the next write

	writing sync.Mutex
	failing bool // the last write failed
}

// NewMeter makes a meter.
func NewMeter(d *db.DB, log *slog.Logger) *Meter {
	return &Meter{db: d, log: log, since: newSums(), spare: newSums()}
}

// sums are what was counted since a write.
type sums struct {
	counts   map[counted]int64
	tokens   map[int64]*trace
	refusals int
	dropped  int64 // requests that are in no sum
}

// counted is what is counted together.
type counted struct {
	token    int64
	slot     int64
	method   string
	endpoint string
	status   int
}

// trace is what is kept of a token besides its sums.
type trace struct {
	address  string
	refusals []refused // the newest ones; full, it begins at oldest
	oldest   int
}

// refused is a refused request.
type refused struct {
	Token     int64     `json:"token"`
	ID        string    `json:"id"` // a ULID, as the database reads it
	At        time.Time `json:"at"`
	RequestID string    `json:"request_id"`
	Method    string    `json:"method"`
	Endpoint  string    `json:"endpoint"`
	Status    int       `json:"status"`
	Title     string    `json:"title"`
	Detail    string    `json:"detail"`
	Code      string    `json:"code"`
	Fields    []string  `json:"fields"`
}

func newSums() *sums {
	return &sums{counts: map[counted]int64{}, tokens: map[int64]*trace{}}
}

// Count counts a request. It keeps the texts, so they must not be parts of large ones.
func (m *Meter) Count(r Request) {
	now := m.db.Now()
	key := counted{r.TokenID, now.Unix() / slot, r.Method, r.Endpoint, r.Status}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.since.add(key, 1)
	t := m.since.trace(r.TokenID)
	if t == nil {
		return
	}
	t.address = r.Address
	if why := r.Refused; why != nil {
		m.since.keep(t, refused{
			Token: r.TokenID, ID: idText(core.NewID(now)), At: now, RequestID: why.RequestID, Method: r.Method, Endpoint: r.Endpoint,
			Status: r.Status, Title: why.Title, Detail: why.Detail, Code: why.Code, Fields: shortened(why.Fields),
		})
	}
}

// add counts requests: apart, under Other if there are too many sums, or else only as dropped.
func (s *sums) add(key counted, n int64) {
	if _, has := s.counts[key]; !has && len(s.counts) >= maxCounts {
		key.method, key.endpoint = "", Other
		if _, has := s.counts[key]; !has && len(s.counts) >= 2*maxCounts {
			s.dropped += n
			return
		}
	}
	s.counts[key] += n
}

// trace returns that of a token; nil if there are too many.
func (s *sums) trace(token int64) *trace {
	t, has := s.tokens[token]
	if !has && len(s.tokens) < maxCounts {
		t = &trace{}
		s.tokens[token] = t
	}
	return t
}

// keep keeps a refusal, in place of the oldest one if the token has as many as are kept.
func (s *sums) keep(t *trace, r refused) {
	switch {
	case len(t.refusals) == KeptRefusals:
		t.refusals[t.oldest] = r
		t.oldest = (t.oldest + 1) % KeptRefusals
	case s.refusals < maxRefusals:
		t.refusals = append(t.refusals, r)
		s.refusals++
	}
}

func idText(id core.ID) string { return hex.EncodeToString(id[:]) }

// shortened returns the names of fields as they are kept. JSON that has a zero is refused by the database.
func shortened(names []string) []string {
	kept := []string{}
	for _, name := range names[:min(len(names), maxFields)] {
		runes := []rune(strings.ReplaceAll(name, "\x00", ""))
		kept = append(kept, string(runes[:min(len(runes), maxName)]))
	}
	return kept
}

// Run writes what was counted, every few seconds until ctx ends.
func (m *Meter) Run(ctx context.Context) {
	tick := time.NewTicker(writeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			m.Write(ctx)
		}
	}
}

// Write writes what was counted since the last write. If that fails, it is added to the next one.
func (m *Meter) Write(ctx context.Context) {
	m.writing.Lock()
	defer m.writing.Unlock()
	m.mu.Lock()
	done := m.since
	m.since, m.spare = m.spare, nil
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	err := m.write(ctx, done)
	if err != nil {
		m.mu.Lock()
		m.since.addAll(done)
		m.mu.Unlock()
	}
	switch {
	case err != nil && !m.failing:
		m.log.WarnContext(ctx, "requests of tokens could not be counted yet", slog.Any("error", err))
	case err == nil && done.dropped > 0:
		m.log.WarnContext(ctx, "more requests of tokens than a process counts", slog.Int64("dropped", done.dropped))
	}
	m.failing = err != nil
	done.clear()
	m.spare = done
}

// addAll adds what an earlier write failed to write.
func (s *sums) addAll(earlier *sums) {
	s.dropped += earlier.dropped
	for key, n := range earlier.counts {
		s.add(key, n)
	}
	for id, was := range earlier.tokens {
		t := s.trace(id)
		if t == nil {
			continue
		}
		if t.address == "" {
			t.address = was.address
		}
		newer := t.refusals
		s.refusals -= len(newer)
		t.refusals, t.oldest = nil, 0
		for _, r := range append(was.inOrder(), newer...) {
			s.keep(t, r)
		}
	}
}

// inOrder returns the refusals, the oldest first.
func (t *trace) inOrder() []refused {
	return append(t.refusals[t.oldest:len(t.refusals):len(t.refusals)], t.refusals[:t.oldest]...)
}

// clear empties the sums, for use again.
func (s *sums) clear() {
	clear(s.counts)
	clear(s.tokens)
	s.refusals, s.dropped = 0, 0
}

// sum is a sum as addRequestsSQL reads it.
type sum struct {
	Token    int64  `json:"token"`
	At       int64  `json:"at"` // seconds since 1970
	Method   string `json:"method"`
	Endpoint string `json:"endpoint"`
	Status   int    `json:"status"`
	Requests int64  `json:"requests"`
}

// lastAddress is from where a token was used last.
type lastAddress struct {
	Token   int64  `json:"token"`
	Address string `json:"address"`
}

// write writes sums in one transaction of the platform, whatever tenants the tokens are of.
func (m *Meter) write(ctx context.Context, s *sums) error {
	if len(s.counts) == 0 {
		return nil
	}
	counts, addresses := make([]sum, 0, len(s.counts)), make([]lastAddress, 0, len(s.tokens))
	var refusals []refused
	for key, n := range s.counts {
		counts = append(counts, sum{key.token, key.slot * slot, key.method, key.endpoint, key.status, n})
	}
	for id, t := range s.tokens {
		addresses = append(addresses, lastAddress{id, t.address})
		refusals = append(refusals, t.inOrder()...)
	}
	return db.Run(ctx, m.db.Platform(), func(tx *db.Tx) error {
		if err := db.Queue(tx, addRequestsSQL, db.Args{"counts": counts}); err != nil {
			return err
		}
		if err := db.Queue(tx, addressesSQL, db.Args{"addresses": addresses}); err != nil {
			return err
		}
		if len(refusals) == 0 {
			return nil
		}
		if err := db.Queue(tx, addRefusalsSQL, db.Args{"refusals": refusals}); err != nil {
			return err
		}
		return db.Queue(tx, trimRefusalsSQL, db.Args{"refusals": refusals, "keep": KeptRefusals})
	})
}

// Days and endpoints are few, so rows are: one for each that a token had. In order, so that processes that add to the
// same rows wait for each other, and never both.
const addRequestsSQL = `
	insert into loyalty.token_request as r (tenant_id, token_id, day, method, endpoint, status, requests)
	select t.tenant_id, t.id, (to_timestamp(c.at) at time zone coalesce(n.timezone, 'UTC'))::date as day, c.method, c.endpoint, c.status, sum(c.requests)
	from jsonb_to_recordset(@counts::jsonb) c (token bigint, at bigint, method text, endpoint text, status int, requests bigint)
	join loyalty.token t on t.id = c.token
	left join loyalty.tenant n on n.id = t.tenant_id
	group by t.tenant_id, t.id, day, c.method, c.endpoint, c.status
	order by t.id, day, c.method, c.endpoint, c.status
	on conflict (token_id, day, method, endpoint, status) do update
	set requests = r.requests + excluded.requests`

// A token whose row another transaction has locked keeps its address until the next write.
const addressesSQL = `
	update loyalty.token t
	set last_address = l.address
	from (
		select u.id, a.address
		from jsonb_to_recordset(@addresses::jsonb) a (token bigint, address text)
		join loyalty.token u on u.id = a.token
		where u.last_address <> a.address
		order by u.id
		for no key update of u skip locked
	) l
	where t.id = l.id`

const addRefusalsSQL = `
	insert into loyalty.token_refusal (tenant_id, token_id, id, at, request_id, method, endpoint, status, title, detail, code, fields)
	select t.tenant_id, t.id, f.id, f.at, f.request_id, f.method, f.endpoint, f.status, f.title, f.detail, f.code, f.fields
	from jsonb_to_recordset(@refusals::jsonb) f (
		token bigint, id uuid, at timestamptz, request_id text, method text, endpoint text, status int, title text, detail text, code text, fields text[]
	)
	join loyalty.token t on t.id = f.token
	on conflict do nothing`

const trimRefusalsSQL = `
	delete from loyalty.token_refusal r
	using (
		select old.token_id, old.id
		from (
			select distinct token
			from jsonb_to_recordset(@refusals::jsonb) f (token bigint)
		) f
		cross join lateral (
			select token_id, id
			from loyalty.token_refusal
			where token_id = f.token
			order by id desc
			offset @keep
		) old
	) old
	where r.token_id = old.token_id
		and r.id = old.id`
