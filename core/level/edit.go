package level

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/promotion"
)

// Limits of levels.
const (
	MaxLevels     = 10 // that can be reached, with the first one
	MaxName       = 50
	MaxPerks      = 500
	maxThreshold  = 1_000_000_000_000
	maxPercent    = 1000
	usualFirst    = "Member"
	earliestCount = 10 // years ago, at most
)

var (
	// ErrChanged refuses a change of levels that were changed since they were shown.
	ErrChanged = &core.Error{Kind: core.KindRule, Message: "This was changed in the meantime. Check what applies now, then send your change again."}
	// ErrTooMany refuses a level too many.
	ErrTooMany = &core.Error{Kind: core.KindRule, Message: "A business can have 10 levels. Retire one first."}
	// ErrAlone refuses to launch the first level alone.
	ErrAlone = &core.Error{Kind: core.KindRule, Message: "Add a level that customers can rise to, then launch."}
)

// Change is one change of the levels: one of its fields is set.
type Change struct {
	Rules  *Rules
	Level  *Edit
	Retire *int64 // a level
	On     *bool  // true launches levels, false switches them off

	Version   int64       // of the programme that the person saw; 0: there was none
	Malformed core.Fields // what the front end could not read
}

// Rules describe how customers rise.
type Rules struct {
	Basis    award.Basis
	Period   award.Period
	Month    *int64 // of the first day of the year
	Day      *int64
	Drops    bool
	StartsOn *time.Time
}

// Edit describes a level.
type Edit struct {
	ID        int64 // 0: a new one
	Name      *string
	Threshold *int64
	Percent   *int64
	Colour    *string
	Perks     *string
}

// apply returns the setup after the change on a day, and what of it must be written.
func (c Change) apply(old Setup, today time.Time) (Setup, error) {
	check := core.NewCheck(c.Malformed)
	after := Setup{old.Programme, slices.Clone(old.Levels)}
	switch {
	case c.Rules != nil:
		c.Rules.apply(check, &after, today)
	case old.Version == 0:
		return Setup{}, core.ErrNotFound
	case c.Level != nil:
		if err := c.Level.apply(check, &after); err != nil {
			return Setup{}, err
		}
	case c.Retire != nil:
		i := slices.IndexFunc(after.Levels, func(l award.Level) bool { return l.ID == *c.Retire })
		if i <= 0 {
			return Setup{}, core.ErrNotFound
		}
		after.Levels[i].Retired = true
	case c.On != nil:
		if *c.On && len(after.current()) < 2 {
			return Setup{}, ErrAlone
		}
		after.Active = *c.On
	}
	after.rank()
	after.recount(old)
	return after, check.Err()
}

// recount has earlier sales counted again if what counts has changed. Levels change nothing until that is done.
func (s *Setup) recount(old Setup) {
	old.Drops, old.Frozen = s.Drops, s.Frozen
	switch {
	case !s.Active:
		s.Counting, s.Frozen = false, false
	case !old.Active || s.LevelRules != old.LevelRules:
		s.Counting, s.Frozen = true, true
	default:
		s.Counting = true
	}
	s.CountedTo = nil
}

func (r Rules) apply(check *core.Check, s *Setup, today time.Time) {
	core.OneOf(check, "basis", r.Basis, award.ByPoints, award.BySpend, award.ByVisits)
	core.OneOf(check, "period", r.Period, award.ByYear, award.AllTime)
	rules := award.LevelRules{Basis: r.Basis, Period: r.Period, Month: time.January, Day: 1, Drops: r.Drops, Frozen: s.Frozen}
	if r.Period == award.ByYear {
		rules.Month = time.Month(check.Integer("year_month", r.Month, 1, 12))
		rules.Day = int(check.Integer("year_day", r.Day, 1, longest(rules.Month)))
	}
	switch {
	case r.StartsOn == nil:
		if check.OK("starts_on") {
			check.Add("starts_on", core.Required)
		}
	case r.StartsOn.Before(today.AddDate(-earliestCount, 0, 0)) || r.StartsOn.After(today):
		check.Add("starts_on", core.MustBePast)
	default:
		rules.StartsOn = *r.StartsOn
	}
	s.LevelRules = rules
	if len(s.Levels) == 0 {
		s.Levels = []award.Level{{Name: usualFirst, Percent: 100}}
	}
}

// longest returns the last day that a month has in any year.
func longest(month time.Month) int64 {
	const leap = 2028
	return int64(time.Date(leap, month+1, 0, 0, 0, 0, 0, time.UTC).Day())
}

var colourPattern = regexp.MustCompile(`^#[0-9a-f]{6}$`)

func (e Edit) apply(check *core.Check, s *Setup) error {
	i := slices.IndexFunc(s.Levels, func(l award.Level) bool { return l.ID == e.ID })
	switch {
	case e.ID == 0 && len(s.current()) >= MaxLevels:
		return ErrTooMany
	case e.ID == 0:
		i = len(s.Levels)
		s.Levels = append(s.Levels, award.Level{})
	case i < 0 || s.Levels[i].Retired:
		return core.ErrNotFound
	}
	l := &s.Levels[i]
	l.Name = check.Text("name", e.Name, MaxName)
	if i > 0 {
		l.Threshold = check.Integer("threshold", e.Threshold, 1, maxThreshold)
	}
	l.Percent = check.Integer("percent", e.Percent, 100, maxPercent)
	l.Perks = check.TextOrEmpty("perks", e.Perks, MaxPerks)
	l.Colour = strings.ToLower(check.TextOrEmpty("colour", e.Colour, 7))
	if l.Colour != "" && !colourPattern.MatchString(l.Colour) {
		check.Add("colour", core.Violation{Rule: "colour"})
	}
	for j, other := range s.Levels {
		if j == i || other.Retired {
			continue
		}
		if strings.EqualFold(other.Name, l.Name) {
			check.Add("name", core.Duplicate)
		}
		if i > 0 && j > 0 && other.Threshold == l.Threshold {
			check.Add("threshold", core.Duplicate)
		}
		switch { // a higher level gives no less
		case !check.OK("percent"):
		case other.Threshold < l.Threshold && other.Percent > l.Percent:
			check.Add("percent", core.Min(other.Percent))
		case other.Threshold > l.Threshold && other.Percent < l.Percent:
			check.Add("percent", core.Max(other.Percent))
		}
	}
	return nil
}

// rank orders the levels by their threshold. Of equals, a retired one comes first, so that its customers rise to the other.
func (s *Setup) rank() {
	slices.SortStableFunc(s.Levels, func(a, b award.Level) int {
		switch {
		case a.Threshold != b.Threshold:
			return int(max(-1, min(1, a.Threshold-b.Threshold)))
		case a.Retired == b.Retired:
			return 0
		case a.Retired:
			return -1
		}
		return 1
	})
	for i := range s.Levels {
		s.Levels[i].Rank = i
	}
}

const (
	lockProgrammeSQL = programmeSQL + `
	for no key update`

	writeProgrammeSQL = `
	insert into loyalty.level_programme as p (tenant_id, active, basis, period, year_month, year_day, drops, starts_on, frozen, counting, begun_at, updated_at)
	values (@tenant_id, @active, @basis, @period, @month, @day, @drops, @starts_on, @frozen, @counting, @now, @now)
	on conflict (tenant_id) do update
	set active = excluded.active,
		basis = excluded.basis,
		period = excluded.period,
		year_month = excluded.year_month,
		year_day = excluded.year_day,
		drops = excluded.drops,
		starts_on = excluded.starts_on,
		frozen = excluded.frozen,
		counting = excluded.counting,
		counted_to = null,
		begun_at = excluded.begun_at,
		version = p.version + 1,
		updated_at = excluded.updated_at
	where p.version = @version
	returning version`

	addLevelSQL = `
	insert into loyalty.level (tenant_id, name, rank, threshold, percent, colour, perks)
	values (@tenant_id, @name, @rank, @threshold, @percent, @colour, @perks)
	returning id`

	editLevelSQL = `
	update loyalty.level
	set name = @name,
		rank = @rank,
		threshold = @threshold,
		percent = @percent,
		colour = @colour,
		perks = @perks,
		retired_at = case when @retired then coalesce(retired_at, @now) end
	where tenant_id = @tenant_id
		and id = @id`
)

// Change changes the levels, for owners. They must still be those that the change was made from (ErrChanged). Customers rise at once
// if a threshold becomes lower, and drop at the earliest after the last day of their level.
func (s *Service) Change(ctx context.Context, by core.Actor, c Change) (Setup, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Owner), func(tx *db.Tx) (Setup, error) {
		// Changes take turns, because each ranks all levels.
		var read stored
		err := db.Together(ctx, tx, db.AllInto(&read.programmes, lockProgrammeSQL, nil), db.AllInto(&read.levels, levelsSQL, nil))
		if err != nil {
			return Setup{}, err
		}
		old := read.setup()
		after, err := c.apply(old, core.DateOf(tx.Now, by.Tenant.TimeZone))
		if err != nil {
			return Setup{}, err
		}
		if after.isLike(old) {
			return old, nil
		}
		if after.Version, err = db.One[int64](ctx, tx, writeProgrammeSQL, after.args(tx, c.Version)); errors.Is(err, core.ErrNotFound) {
			return Setup{}, ErrChanged
		} else if err != nil {
			return Setup{}, err
		}
		for i, l := range after.Levels {
			if after.Levels[i].ID, err = write(ctx, tx, l, old.Levels); err != nil {
				return Setup{}, err
			}
		}
		if err := c.log(tx, by, old, after); err != nil {
			return Setup{}, err
		}
		err = promotion.RulesChanged(tx)
		if err == nil && after.Counting {
			err = s.jobs.Add(ctx, tx, Counting{by.Tenant.ID})
		}
		return after, err
	})
}

// isLike reports whether a setup says the same as another one.
func (s Setup) isLike(old Setup) bool {
	s.Frozen = old.Frozen
	return s.Version == old.Version && old.Version > 0 && s.Active == old.Active && s.LevelRules == old.LevelRules && slices.Equal(s.Levels, old.Levels)
}

func (s Setup) args(tx *db.Tx, version int64) db.Args {
	return db.Args{
		"active": s.Active, "basis": s.Basis, "period": s.Period, "month": int(s.Month), "day": s.Day, "drops": s.Drops, "starts_on": s.StartsOn,
		"frozen": s.Frozen, "counting": s.Counting, "version": version, "now": tx.Now,
	}
}

// write stores a level if it has changed, and returns its ID.
func write(ctx context.Context, tx *db.Tx, l award.Level, old []award.Level) (int64, error) {
	if slices.Contains(old, l) {
		return l.ID, nil
	}
	args := db.Args{"name": l.Name, "rank": l.Rank, "threshold": l.Threshold, "percent": l.Percent, "colour": l.Colour, "perks": l.Perks}
	if l.ID == 0 {
		return db.One[int64](ctx, tx, addLevelSQL, args)
	}
	args["id"], args["retired"], args["now"] = l.ID, l.Retired, tx.Now
	return l.ID, db.Queue(tx, editLevelSQL, args)
}

// log writes the change into the audit log.
func (c Change) log(tx *db.Tx, by core.Actor, old, after Setup) error {
	e := audit.Entry{Subject: "level"}
	switch {
	case c.Rules != nil:
		e.Action = "level.rules"
		e.Old, e.New = audit.Changed(old.facts(), after.facts())
	case c.On != nil && *c.On:
		e.Action, e.New = "level.launch", after.facts()
	case c.On != nil:
		e.Action = "level.switch_off"
	case c.Retire != nil:
		e.Action = "level.retire"
		l := find(after.Levels, *c.Retire)
		e.ID, e.Name = subject(l.ID), l.Name
	case c.Level.ID == 0:
		e.Action = "level.create"
		l := newest(after.Levels, old.Levels)
		e.ID, e.Name, e.New = subject(l.ID), l.Name, factsOf(l)
	default:
		e.Action = "level.edit"
		l := find(after.Levels, c.Level.ID)
		e.ID, e.Name = subject(l.ID), l.Name
		e.Old, e.New = audit.Changed(factsOf(find(old.Levels, l.ID)), factsOf(l))
	}
	return audit.Write(tx, by, e)
}

func find(levels []award.Level, id int64) award.Level {
	for _, l := range levels {
		if l.ID == id {
			return l
		}
	}
	return award.Level{}
}

func newest(levels, old []award.Level) award.Level {
	for _, l := range levels {
		if find(old, l.ID).ID == 0 {
			return l
		}
	}
	return award.Level{}
}

// facts returns what the audit log says about the rules.
func (s Setup) facts() map[string]any {
	if s.Basis == "" {
		return map[string]any{}
	}
	facts := map[string]any{"basis": s.Basis, "period": s.Period, "drops": s.Drops, "starts_on": s.StartsOn.Format(time.DateOnly)}
	if s.Period == award.ByYear {
		facts["year_month"], facts["year_day"] = int(s.Month), s.Day
	}
	return facts
}

func factsOf(l award.Level) map[string]any {
	return map[string]any{"name": l.Name, "threshold": l.Threshold, "percent": l.Percent, "colour": l.Colour, "perks": l.Perks}
}
