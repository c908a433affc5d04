package report

import (
	"time"

	"example.com/loyalty/core/award"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// LevelMoves is the customers who have a level now, and how customers came to it in the range. Each change counts, so a
// customer may count twice.
type LevelMoves struct {
	award.Level
	Customers int64
	Moves     map[award.Reason]int64 // changes to this level
}

// readLevels is what is read about levels.
type readLevels struct {
	levels  []award.Level
	rules   []award.LevelRules // none: they are off
	changes []levelChanges

	large   bool
	holders asOf[[]levelHolders]
}

// levelHolders are customers for whom awards know the same about levels.
type levelHolders struct {
	LevelID   *int64
	LevelBy   *ledger.LevelBy
	LevelYear *int
	Ended     bool  // the last day of the level is over
	Sum       int64 // rounded down to the threshold that it reaches
	SumBefore int64 // likewise
	Customers int64
}

type levelChanges struct {
	ToLevel *int64
	Reason  award.Reason
	Changes int64
}

const (
	reportedLevelsSQL = `
	select ` + award.LevelColumns + `
	from loyalty.level
	where tenant_id = @tenant_id
	order by rank, id`

	levelsInForceSQL = `
	select basis, period, year_month as month, year_day as day, drops, starts_on, frozen
	from loyalty.level_programme
	where tenant_id = @tenant_id
		and active`

	// Customers are counted by what a level follows from. Sums are compared with thresholds alone, so only those that they reach
	// matter.
	levelHoldersSQL = `
	select a.level_id, a.level_by, a.level_year, coalesce(a.level_until < @today::date, false) as ended,
		coalesce(r.thresholds[width_bucket(a.level_sum, r.thresholds)], 0) as sum,
		coalesce(r.thresholds[width_bucket(a.level_sum_before, r.thresholds)], 0) as sum_before,
		count(*) as customers
	from loyalty.customer c
	left join loyalty.account a on a.tenant_id = @tenant_id and a.customer_id = c.id
	cross join (
		select array_agg(threshold order by threshold) as thresholds
		from loyalty.level
		where tenant_id = @tenant_id
			and retired_at is null
	) r
	where c.tenant_id = @tenant_id
		and c.merged_into is null
		and coalesce(c.phone_key, c.email_key) is not null
		and exists (select from loyalty.level_programme where tenant_id = @tenant_id and active)
	group by a.level_id, a.level_by, a.level_year, ended, sum, sum_before`

	levelChangesSQL = daily.Spans + `
	select nullif(to_level, 0) as to_level, reason, sum(changes)::bigint as changes
	from (` + daily.LevelChangesOfSpans + `
	) moved
	where part = 1
	group by to_level, reason`
)

// readings read what isn't kept.
func (l *readLevels) readings(t timetable, today time.Time, many int64, kept bool) []db.Reading {
	readings := []db.Reading{
		db.AllInto(&l.levels, reportedLevelsSQL, nil), db.AllInto(&l.rules, levelsInForceSQL, nil),
		db.AllInto(&l.changes, levelChangesSQL, t.args()),
	}
	if kept {
		return readings
	}
	return append(readings, db.OneInto(&l.large, isLargeSQL, db.Args{"many": many}), db.AllInto(&l.holders.figures, levelHoldersSQL, db.Args{"today": today}))
}

// moves returns the levels that can be reached, and others with customers or moves. A level may have ended before the job of the
// night settled it, so award.Levels says who has it.
func (l *readLevels) moves(today time.Time) (moves []LevelMoves) {
	if len(l.levels) == 0 {
		return nil
	}
	customers := map[int64]int64{}
	if len(l.rules) > 0 {
		inForce := award.Levels{LevelRules: l.rules[0], All: l.levels}
		for _, h := range l.holders.figures {
			customers[inForce.Progress(h.standing(today), today).Level.ID] += h.Customers
		}
	}
	came := map[int64]map[award.Reason]int64{}
	for _, c := range l.changes {
		to := l.levels[0].ID
		if c.ToLevel != nil {
			to = *c.ToLevel
		}
		if came[to] == nil {
			came[to] = map[award.Reason]int64{}
		}
		came[to][c.Reason] += c.Changes
	}
	if len(l.rules) == 0 && len(came) == 0 {
		return nil
	}
	for _, level := range l.levels {
		if m := (LevelMoves{level, customers[level.ID], came[level.ID]}); !level.Retired || m.Customers > 0 || len(m.Moves) > 0 {
			moves = append(moves, m)
		}
	}
	return moves
}

// standing returns a standing for which the levels are the same as for these customers.
func (h levelHolders) standing(today time.Time) ledger.Standing {
	s := ledger.Standing{LevelID: h.LevelID, LevelBy: h.LevelBy, LevelYear: h.LevelYear, LevelSum: h.Sum, LevelSumBefore: h.SumBefore}
	if h.Ended {
		s.LevelUntil = new(today.AddDate(0, 0, -1))
	}
	return s
}
