package token

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// UseDays is the number of days of which the use of a token is shown, today included.
const UseDays = 7

// Use is what a token was used for in the last days.
type Use struct {
	Token
	RevokedAt   *time.Time
	CreatedBy   string // "": its person
	LastAddress string // "": not known

	Days      []DayUse      // of its business, the oldest first
	Endpoints []EndpointUse // those with the most requests first
	Refusals  []Refusal     // the newest first, at most KeptRefusals
}

// Requests is the number of all requests.
func (u Use) Requests() (n int64) {
	for _, d := range u.Days {
		n += d.Requests
	}
	return n
}

// DayUse is the use on a day.
type DayUse struct {
	Day      time.Time // midnight in UTC, like all days
	Requests int64
	Refused  int64 // of these, with a status of 400 or more
}

// EndpointUse is the use of an endpoint, by status.
type EndpointUse struct {
	Method   string // "" for Other
	Endpoint string // "": unknown paths; Other
	Requests int64
	Statuses map[int]int64
}

// Of returns how many requests got a status of a class: 4 for 400 to 499.
func (e EndpointUse) Of(class int) (n int64) {
	for status, requests := range e.Statuses {
		if status/100 == class {
			n += requests
		}
	}
	return n
}

// Refusal is a refused request, and why it was refused.
type Refusal struct {
	At        time.Time
	RequestID string
	Method    string
	Endpoint  string // "": an unknown path
	Status    int
	Title     string
	Detail    string
	Code      string
	Fields    []string
}

// FindUse returns what a token of the actor's person was used for, also after it was revoked. Another person's is
// core.ErrNotFound.
func (s *Service) FindUse(ctx context.Context, by core.Actor, id int64) (Use, error) {
	if err := requireTokenRole(by); err != nil {
		return Use{}, err
	}
	zone := time.UTC
	if by.Tenant.TimeZone != nil {
		zone = by.Tenant.TimeZone
	}
	today := core.DateOf(s.db.Now(), zone)
	var found struct {
		Token
		RevokedAt              *time.Time
		CreatedBy, LastAddress string
	}
	var counts []requestCount
	var refusals []Refusal
	err := db.Together(ctx, s.db.Within(by),
		db.OneInto(&found, findUseSQL, db.Args{"staff": by.StaffID, "id": id}),
		db.AllInto(&counts, requestsSQL, db.Args{"staff": by.StaffID, "id": id, "since": today.AddDate(0, 0, 1-UseDays)}),
		db.AllInto(&refusals, refusalsSQL, db.Args{"staff": by.StaffID, "id": id, "keep": KeptRefusals}),
	)
	if err != nil {
		return Use{}, err
	}
	u := Use{Token: found.Token, RevokedAt: found.RevokedAt, CreatedBy: found.CreatedBy, LastAddress: found.LastAddress, Refusals: refusals}
	u.sum(counts, today)
	return u, nil
}

// requestCount is a row of requestsSQL.
type requestCount struct {
	Day      time.Time
	Method   string
	Endpoint string
	Status   int
	Requests int64
}

// sum adds up rows by day and by endpoint. Days without a request are in the list.
func (u *Use) sum(counts []requestCount, today time.Time) {
	for n := range UseDays {
		u.Days = append(u.Days, DayUse{Day: today.AddDate(0, 0, n+1-UseDays)})
	}
	type endpoint struct{ method, path string }
	found := map[endpoint]EndpointUse{}
	for _, c := range counts {
		if at := slices.IndexFunc(u.Days, func(d DayUse) bool { return d.Day.Equal(c.Day) }); at >= 0 {
			u.Days[at].Requests += c.Requests
			if c.Status >= 400 {
				u.Days[at].Refused += c.Requests
			}
		}
		e, has := found[endpoint{c.Method, c.Endpoint}]
		if !has {
			e = EndpointUse{Method: c.Method, Endpoint: c.Endpoint, Statuses: map[int]int64{}}
		}
		e.Requests += c.Requests
		e.Statuses[c.Status] += c.Requests
		found[endpoint{c.Method, c.Endpoint}] = e
	}
	u.Endpoints = slices.SortedFunc(maps.Values(found), func(a, b EndpointUse) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.Method, b.Method))
	})
}

const findUseSQL = `
	select ` + columns + `, revoked_at, last_address, case when actor_kind = 'token' then actor_name else '' end as created_by
	from loyalty.token
	where staff_id = @staff
		and id = @id`

// Only of a token of the person.
const ofToken = `
	where token_id = (select id from loyalty.token where staff_id = @staff and id = @id)`

const requestsSQL = `
	select day, method, endpoint, status, requests
	from loyalty.token_request` + ofToken + `
		and day between @since::date and @since::date + 7
	order by day`

const refusalsSQL = `
	select at, request_id, method, endpoint, status, title, detail, code, fields
	from loyalty.token_refusal` + ofToken + `
	order by id desc
	limit @keep`

// deleteOldUse is the job that deletes what tokens were used for. A day longer than is shown: days of the world differ.
type deleteOldUse struct{}

// Kind names the job in the queue.
func (deleteOldUse) Kind() string { return "delete_old_token_use" }

const useKept = (UseDays + 1) * 24 * time.Hour

const deleteOldRequestsSQL = `
	delete from loyalty.token_request
	where (token_id, day, method, endpoint, status) in (
		select token_id, day, method, endpoint, status
		from loyalty.token_request
		where day < @before::timestamptz::date
		limit @up_to
	)`

const deleteOldRefusalsSQL = `
	delete from loyalty.token_refusal
	where (token_id, id) in (
		select token_id, id
		from loyalty.token_refusal
		where at < @before
		limit @up_to
	)`

func (s *Service) deleteOldUse(ctx context.Context, _ deleteOldUse) error {
	return job.Drain(ctx, s.db, func(ctx context.Context, tx *db.Tx) (int64, error) {
		args := db.Args{"before": tx.Now.Add(-useKept), "up_to": job.Batch}
		requests, err := db.Exec(ctx, tx, deleteOldRequestsSQL, args)
		if err != nil {
			return 0, err
		}
		refusals, err := db.Exec(ctx, tx, deleteOldRefusalsSQL, args)
		return requests + refusals, err
	})
}
