package ledger

import (
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Standing is what an account remembers for awards and levels, apart from balances. core/award computes with it.
type Standing struct {
	Visits int64 // completed sales

	EarnedOn     *time.Time // a local day; nil: none yet
	EarnedPoints int64      // by sales of that day
	EarnedStamps int64

	LevelYear      *int  // of the programme; nil: no sale was counted
	LevelSum       int64 // what counts of that year's sales
	LevelSumBefore int64 // and of the year's before
	LevelID        *int64
	LevelUntil     *time.Time // the last day of the level; nil: it has none
	LevelBy        *LevelBy   // nil: no level
}

// LevelBy says how a customer got their level.
type LevelBy string

// The ways.
const (
	LevelEarned   LevelBy = "earned"
	LevelByHand   LevelBy = "hand"
	LevelImported LevelBy = "import"
)

// StandingColumns selects a Standing from an account a.
const StandingColumns = `coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
		a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
		a.level_id, a.level_until, a.level_by`

// NewStandingColumns selects the Standing of an account that is opened.
const NewStandingColumns = `0::bigint as visits, null::date as earned_on, 0::bigint as earned_points, 0::bigint as earned_stamps,
		null::int as level_year, 0::bigint as level_sum, 0::bigint as level_sum_before,
		null::bigint as level_id, null::date as level_until, null::text as level_by`

const standingSQL = `
	select ` + StandingColumns + `
	from loyalty.account a
	where a.tenant_id = @tenant_id
		and a.customer_id = @customer
	for no key update`

// LockStanding returns a reading that locks an account. What else depends on it is read by a later statement, because one that
// waited for the lock would still read what was before.
func LockStanding(to *Standing, customer core.ID) db.Reading {
	return db.OneInto(to, standingSQL, db.Args{"customer": customer})
}

const (
	keepStandingSQL = `
	update loyalty.account
	set ` + setStanding + ofCustomer

	setStanding = `earned_on = @earned_on::date,
		earned_points = @earned_points::bigint,
		earned_stamps = @earned_stamps::bigint,
		level_year = @level_year::int,
		level_sum = @level_sum::bigint,
		level_sum_before = @level_sum_before::bigint,
		level_id = @level_id::bigint,
		level_until = @level_until::date,
		level_by = @level_by::text`
)

// KeepStanding queues the new standing of an account that is locked. Its visits aren't changed (CountVisit).
func KeepStanding(tx *db.Tx, customer core.ID, s Standing) error {
	args := db.Args{"customer": customer}
	s.add(args)
	return db.Queue(tx, keepStandingSQL, args)
}

// add adds the columns of a standing to the arguments of a statement.
func (s Standing) add(args db.Args) {
	args["earned_on"], args["earned_points"], args["earned_stamps"] = s.EarnedOn, s.EarnedPoints, s.EarnedStamps
	args["level_year"], args["level_sum"], args["level_sum_before"] = s.LevelYear, s.LevelSum, s.LevelSumBefore
	args["level_id"], args["level_until"], args["level_by"] = s.LevelID, s.LevelUntil, s.LevelBy
}

const keepStandingsSQL = `
	update loyalty.account a
	set ` + keptColumns + `
	from unnest(@customers::uuid[]) with ordinality c (id, place)
	join jsonb_to_recordset(@standings::jsonb) k (place bigint, ` + keptRecord + `) on k.place = c.place
	where a.tenant_id = @tenant_id
		and a.customer_id = c.id`

// KeepStandings is KeepStanding for many customers, whose standings are in their order.
func KeepStandings(tx *db.Tx, customers []core.ID, standings []Standing) error {
	if len(customers) == 0 {
		return nil
	}
	return db.Queue(tx, keepStandingsSQL, db.Args{"customers": customers, "standings": StandingsJSON(standings)})
}

// keptStanding is a standing as statements read it.
type keptStanding struct {
	Place          int     `json:"place"`
	EarnedOn       *string `json:"earned_on"`
	EarnedPoints   int64   `json:"earned_points"`
	EarnedStamps   int64   `json:"earned_stamps"`
	LevelYear      *int    `json:"level_year"`
	LevelSum       int64   `json:"level_sum"`
	LevelSumBefore int64   `json:"level_sum_before"`
	LevelID        *int64  `json:"level_id"`
	LevelUntil     *string `json:"level_until"`
	LevelBy        *string `json:"level_by"`
}

// StandingsJSON returns the argument "standings" of statements: those of sales or customers in their order.
func StandingsJSON(standings []Standing) any {
	kept := make([]keptStanding, len(standings))
	for i, s := range standings {
		kept[i] = s.kept()
		kept[i].Place = i + 1
	}
	return kept
}

func (s Standing) kept() keptStanding {
	return keptStanding{
		EarnedOn: dayText(s.EarnedOn), EarnedPoints: s.EarnedPoints, EarnedStamps: s.EarnedStamps,
		LevelYear: s.LevelYear, LevelSum: s.LevelSum, LevelSumBefore: s.LevelSumBefore,
		LevelID: s.LevelID, LevelUntil: dayText(s.LevelUntil), LevelBy: (*string)(s.LevelBy),
	}
}

func dayText(day *time.Time) *string {
	if day == nil {
		return nil
	}
	return new(day.Format(time.DateOnly))
}
