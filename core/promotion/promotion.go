// Package promotion keeps what people set about what sales earn, besides the rules of transaction types: promotions, categories of
// what is sold with the codes that tills and shops send, and the caps of a day. core/award computes by them.
package promotion

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/db"
)

// The limits of what a business has.
const (
	MaxActive  = 200 // promotions
	MaxWindows = 14  // of a promotion
	maxName    = 100
	maxChosen  = 200 // types, locations or categories of a promotion
)

// Promotion is a promotion as it is kept. One that is over is kept, too, because sales name it.
type Promotion struct {
	award.Promotion
	Active    bool
	CreatedAt time.Time
}

// State says whether sales earn by a promotion on a day.
type State string

// The states.
const (
	Now      State = "now"      // on its days; at other hours than its own, too
	Upcoming State = "upcoming" // its first day is ahead
	Ended    State = "ended"    // its last day is over
	Off      State = "off"      // someone deactivated it
)

// State returns the state of a promotion on a local day.
func (p Promotion) State(today time.Time) State {
	switch {
	case !p.Active:
		return Off
	case p.EndsOn != nil && p.EndsOn.Before(today):
		return Ended
	case p.StartsOn.After(today):
		return Upcoming
	}
	return Now
}

// New describes a promotion to be added. Its ID isn't used.
type New struct {
	award.Promotion

	Malformed core.Fields // what the front end could not read
}

// Edit describes a change of a promotion: fields that are not set stay as they are. Its unit stays, because sales name it.
type Edit struct {
	Name          core.Optional[string]
	Percent       core.Optional[int64] // null: Extra
	Extra         core.Optional[int64]
	TypeIDs       core.Optional[[]int64] // null: all
	LocationIDs   core.Optional[[]int64]
	CategoryIDs   core.Optional[[]int64]
	MinSpendCents core.Optional[int64]
	StartsOn      core.Optional[time.Time]
	EndsOn        core.Optional[time.Time]
	Windows       core.Optional[[]award.Window]
	Audience      core.Optional[award.Audience]
	LevelID       core.Optional[int64]
	BirthdayDays  core.Optional[int64]
	LimitTimes    core.Optional[int64]
	LimitPer      core.Optional[award.Per]
	Active        core.Optional[bool]

	Malformed core.Fields
}

// Of returns the edit that makes a promotion what another one is, apart from its unit and whether it is active.
func Of(p award.Promotion) Edit {
	e := Edit{
		Name: core.Set(p.Name), Percent: nullable(p.Percent), Extra: nullable(p.Extra), TypeIDs: list(p.TypeIDs),
		LocationIDs: list(p.LocationIDs), CategoryIDs: list(p.CategoryIDs), MinSpendCents: core.Set(p.MinSpendCents),
		StartsOn: core.Set(p.StartsOn), EndsOn: nullable(p.EndsOn), Windows: core.Set(p.Windows), Audience: core.Set(p.Audience),
		LevelID: nullable(p.LevelID), LimitTimes: nullable(p.LimitTimes), LimitPer: nullable(p.LimitPer),
		BirthdayDays: core.Optional[int64]{Set: true},
	}
	if p.BirthdayDays != nil {
		e.BirthdayDays = core.Set(int64(*p.BirthdayDays))
	}
	return e
}

func nullable[T any](v *T) core.Optional[T] { return core.Optional[T]{Set: true, Value: v} }

// list is a list of IDs, of which an empty one is all.
func list(ids []int64) core.Optional[[]int64] {
	if len(ids) == 0 {
		return core.Optional[[]int64]{Set: true}
	}
	return core.Set(ids)
}

// on returns a promotion with the changes.
func (e Edit) on(p Promotion) Promotion {
	p.Name = core.OrZero(e.Name.Or(&p.Name))
	p.Percent, p.Extra = e.Percent.Or(p.Percent), e.Extra.Or(p.Extra)
	p.TypeIDs = core.OrZero(e.TypeIDs.Or(&p.TypeIDs))
	p.LocationIDs = core.OrZero(e.LocationIDs.Or(&p.LocationIDs))
	p.CategoryIDs = core.OrZero(e.CategoryIDs.Or(&p.CategoryIDs))
	p.MinSpendCents = core.OrZero(e.MinSpendCents.Or(&p.MinSpendCents))
	p.StartsOn, p.EndsOn = core.OrZero(e.StartsOn.Or(&p.StartsOn)), e.EndsOn.Or(p.EndsOn)
	p.Windows = core.OrZero(e.Windows.Or(&p.Windows))
	p.Audience = core.OrZero(e.Audience.Or(&p.Audience))
	p.LevelID = e.LevelID.Or(p.LevelID)
	if e.BirthdayDays.Set {
		p.BirthdayDays = nil
		if days := e.BirthdayDays.Value; days != nil {
			p.BirthdayDays = new(int(min(max(*days, -1), maxBirthdayDays+1)))
		}
	}
	p.LimitTimes, p.LimitPer = e.LimitTimes.Or(p.LimitTimes), e.LimitPer.Or(p.LimitPer)
	p.Active = core.OrZero(e.Active.Or(&p.Active))
	return p
}

// ErrTooMany refuses a further active promotion.
var ErrTooMany = core.Refuse("too-many-promotions", "At most 200 promotions can be active. Deactivate one first.")

// Service keeps promotions, categories and caps.
type Service struct{ db *db.DB }

// NewService makes the service.
func NewService(d *db.DB) *Service { return &Service{db: d} }

const columns = award.PromotionColumns + `, active, created_at`

const (
	// Edits of one business wait for each other here, so that limits and codes hold.
	lockSQL = `
	select
	from loyalty.tenant
	where id = @tenant_id
	for no key update`

	partsSQL = `
	select coalesce((
			select json_agg(json_build_object('id', id, 'name', name, 'unit', rule_type, 'active', active) order by id)
			from loyalty.transaction_type
			where tenant_id = @tenant_id
		), '[]') as types,
		coalesce((
			select json_agg(json_build_object('id', id, 'name', name, 'active', active) order by name_key)
			from loyalty.location
			where tenant_id = @tenant_id
		), '[]') as locations,
		coalesce((
			select json_agg(json_build_object('id', id, 'name', name, 'active', active) order by name_key)
			from loyalty.category
			where tenant_id = @tenant_id
		), '[]') as categories,
		coalesce((
			select json_agg(json_build_object('id', id, 'name', name, 'active', retired_at is null and rank > 0) order by rank, id)
			from loyalty.level
			where tenant_id = @tenant_id
		), '[]') as levels,
		(
			select count(*)
			from loyalty.promotion
			where tenant_id = @tenant_id
				and active
		) as active_promotions`

	insertSQL = `
	insert into loyalty.promotion (tenant_id, name, unit, percent, extra, type_ids, location_ids, category_ids, min_spend_cents,
		starts_on, ends_on, windows, audience, level_id, birthday_days, limit_times, limit_per, created_at)
	values (@tenant_id, @name, @unit, @percent, @extra, @type_ids, @location_ids, @category_ids, @min_spend_cents,
		@starts_on::date, @ends_on::date, @windows::jsonb, @audience, @level_id, @birthday_days, @limit_times, @limit_per, @now)
	returning ` + columns

	updateSQL = `
	update loyalty.promotion
	set name = @name,
		percent = @percent,
		extra = @extra,
		type_ids = @type_ids,
		location_ids = @location_ids,
		category_ids = @category_ids,
		min_spend_cents = @min_spend_cents,
		starts_on = @starts_on::date,
		ends_on = @ends_on::date,
		windows = @windows::jsonb,
		audience = @audience,
		level_id = @level_id,
		birthday_days = @birthday_days,
		limit_times = @limit_times,
		limit_per = @limit_per,
		active = @active
	where tenant_id = @tenant_id
		and id = @id
	returning ` + columns
)

// Add adds a promotion, which is active.
func (s *Service) Add(ctx context.Context, by core.Actor, n New, once *core.Once[Promotion]) (core.Reply[Promotion], error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), db.Once(ctx, by, once, func(tx *db.Tx) (Promotion, error) {
		var of Parts
		if err := db.Together(ctx, tx, db.OneInto(&struct{}{}, lockSQL, nil), db.OneInto(&of, partsSQL, nil)); err != nil {
			return Promotion{}, err
		}
		check := core.NewCheck(n.Malformed)
		p := Promotion{Promotion: n.Promotion, Active: true}.validate(check, of)
		if err := check.Err(); err != nil {
			return Promotion{}, err
		}
		if of.ActivePromotions >= MaxActive {
			return Promotion{}, ErrTooMany
		}
		args := p.args()
		args["unit"], args["now"] = p.Unit, tx.Now
		stored, err := db.One[Promotion](ctx, tx, insertSQL, args)
		if err != nil {
			return Promotion{}, err
		}
		stored = stored.inUTC()
		return stored, errors.Join(RulesChanged(tx), stored.log(tx, by, "promotion.create", nil, stored.facts(of)))
	}))
}

// Edit changes the fields that are set. Later sales earn by them.
func (s *Service) Edit(ctx context.Context, by core.Actor, id int64, e Edit) (Promotion, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (Promotion, error) {
		var of Parts
		var old Promotion
		err := db.Together(ctx, tx, db.OneInto(&struct{}{}, lockSQL, nil), db.OneInto(&old, findSQL, db.Args{"id": id}), db.OneInto(&of, partsSQL, nil))
		if err != nil {
			return Promotion{}, err
		}
		old = old.inUTC()
		check := core.NewCheck(e.Malformed)
		if e.Active.Set && e.Active.Value == nil {
			check.Add("active", core.Required)
		}
		p := e.on(old).validate(check, of)
		if err := check.Err(); err != nil {
			return Promotion{}, err
		}
		if p.Active && !old.Active && of.ActivePromotions >= MaxActive {
			return Promotion{}, ErrTooMany
		}
		args := p.args()
		args["id"], args["active"] = id, p.Active
		stored, err := db.One[Promotion](ctx, tx, updateSQL, args)
		if err != nil {
			return Promotion{}, err
		}
		stored = stored.inUTC()
		return stored, errors.Join(RulesChanged(tx), stored.log(tx, by, "promotion.edit", old.facts(of), stored.facts(of)))
	})
}

// SetActive activates or deactivates a promotion.
func (s *Service) SetActive(ctx context.Context, by core.Actor, id int64, active bool) (Promotion, error) {
	return s.Edit(ctx, by, id, Edit{Active: core.Set(active)})
}

// Parts returns the records that promotions name, for those who choose among them and for sentences.
func (s *Service) Parts(ctx context.Context, by core.Actor) (Parts, error) {
	return db.One[Parts](ctx, s.db.Tenant(by), partsSQL, nil)
}

const findSQL = `
	select ` + columns + `
	from loyalty.promotion
	where tenant_id = @tenant_id
		and id = @id`

// Find returns a promotion, or core.ErrNotFound.
func (s *Service) Find(ctx context.Context, by core.Actor, id int64) (Promotion, error) {
	p, err := db.One[Promotion](ctx, s.db.Tenant(by), findSQL, db.Args{"id": id})
	return p.inUTC(), err
}

var pages = db.NewList(`
	select `+columns+`
	from loyalty.promotion
	where tenant_id = @tenant_id {filters} {position}
	{page}`, db.Descending("id", "@number"), db.Filters{"state": `case when not active then 'off' when ends_on < @today::date then 'ended'
			when starts_on > @today::date then 'upcoming' else 'now' end = @state`})

// List returns a page of the promotions in a state, or of all of them, the newest first.
func (s *Service) List(ctx context.Context, by core.Actor, state *string, p core.Page) (core.List[Promotion], error) {
	args := db.Args{"state": state}
	if state != nil {
		check := core.NewCheck(nil)
		core.OneOf(check, "state", State(*state), Now, Upcoming, Ended, Off)
		if err := check.Err(); err != nil {
			return core.List[Promotion]{}, err
		}
		args["today"] = core.DateOf(s.db.Now(), by.Tenant.TimeZone)
	}
	l, err := db.ListPage(ctx, s.db, by, pages, args, p, func(p Promotion) core.Cursor { return core.NumberCursor(time.Unix(0, 0), p.ID) })
	for i := range l.Items {
		l.Items[i] = l.Items[i].inUTC()
	}
	return l, err
}

const betweenSQL = `
	select ` + columns + `
	from loyalty.promotion
	where tenant_id = @tenant_id
		and active
		and starts_on <= @last::date
		and (ends_on is null or ends_on >= @first::date)
	order by id
	limit @most`

// Between returns the active promotions that are on between two local days, the oldest first.
func (s *Service) Between(ctx context.Context, by core.Actor, first, last time.Time) ([]Promotion, error) {
	found, err := db.All[Promotion](ctx, s.db.Tenant(by), betweenSQL, db.Args{"first": first, "last": last, "most": MaxActive})
	for i := range found {
		found[i] = found[i].inUTC()
	}
	return found, err
}

func (p Promotion) inUTC() Promotion {
	p.Promotion = p.InUTC()
	return p
}

func (p Promotion) args() db.Args {
	windows := p.Windows
	if windows == nil {
		windows = []award.Window{}
	}
	return db.Args{
		"name": p.Name, "percent": p.Percent, "extra": p.Extra, "type_ids": p.TypeIDs, "location_ids": p.LocationIDs,
		"category_ids": p.CategoryIDs, "min_spend_cents": p.MinSpendCents, "starts_on": p.StartsOn, "ends_on": p.EndsOn, "windows": windows,
		"audience": p.Audience, "level_id": p.LevelID, "birthday_days": p.BirthdayDays, "limit_times": p.LimitTimes, "limit_per": p.LimitPer,
	}
}

func (p Promotion) log(tx *db.Tx, by core.Actor, action string, old, now any) error {
	return audit.Write(tx, by, audit.Entry{
		Action: action, Subject: "promotion", ID: strconv.FormatInt(p.ID, 10), Name: p.Name, Old: old, New: now,
	})
}

// facts returns a promotion's values for the audit log, with the names of records that the promotion has at the time.
func (p Promotion) facts(of Parts) map[string]any {
	facts := map[string]any{
		"name": p.Name, "unit": p.Unit, "percent": p.Percent, "extra": p.Extra, "types": names(p.TypeIDs, of.Types),
		"locations": names(p.LocationIDs, of.Locations), "categories": names(p.CategoryIDs, of.Categories), "min_spend_cents": p.MinSpendCents,
		"starts_on": p.StartsOn.Format(time.DateOnly), "ends_on": nil, "times": nil, "audience": p.Audience, "level": nil,
		"birthday_days": p.BirthdayDays, "limit_times": p.LimitTimes, "limit_per": p.LimitPer, "active": p.Active,
	}
	if p.EndsOn != nil {
		facts["ends_on"] = p.EndsOn.Format(time.DateOnly)
	}
	if p.LevelID != nil {
		facts["level"] = NameOf(of.Levels, *p.LevelID)
	}
	if len(p.Windows) > 0 {
		var times []string
		for _, w := range p.Windows {
			times = append(times, inShort(w))
		}
		facts["times"] = times
	}
	return facts
}

// names returns the names of chosen records, or nil for all.
func names(ids []int64, known []Part) any {
	if ids == nil {
		return nil
	}
	var list []string
	for _, id := range ids {
		list = append(list, NameOf(known, id))
	}
	return list
}

// inShort is a window for the audit log: Mon, Tue 16:00–18:00.
func inShort(w award.Window) string {
	var days []string
	for _, d := range w.Days {
		days = append(days, d.Time().String()[:3])
	}
	return strings.Join(days, ", ") + " " + w.From.String() + "–" + w.To.String()
}
