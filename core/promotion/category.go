package promotion

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/db"
)

// The limits of a business's categories.
const (
	MaxCategories = 200
	MaxCodes      = 2_000 // of all categories
	maxCode       = 50    // characters

	// shownUnmapped is how many codes that no category has are listed.
	shownUnmapped = 100
)

// Category is something that the business sells. Tills and shops send its codes.
type Category struct {
	ID     int64
	Name   string
	Active bool     // one that isn't has no codes
	Codes  []string // as they are compared (award.CodeKey)

	EarnsNothing []string // for transaction types of these names
}

// NewCategory describes a category to be added.
type NewCategory struct {
	Name  string
	Codes []string

	Malformed core.Fields
}

// EditCategory describes a change of a category: fields that are not set stay as they are.
type EditCategory struct {
	Name   core.Optional[string]
	Codes  core.Optional[[]string]
	Active core.Optional[bool]

	Malformed core.Fields
}

// UnmappedCode is a code that sales sent and no category has.
type UnmappedCode struct {
	Code                    string
	FirstSeenAt, LastSeenAt time.Time
	Sales                   int64
}

// ErrTooManyCategories refuses a further category.
var ErrTooManyCategories = core.Refuse("too-many-categories", "A business has at most 200 categories.")

// CodeTaken refuses a code that is another category's. Other has the code and the category's name.
func CodeTaken(code, category string) core.Violation {
	return core.Violation{Rule: "code_taken", Other: code + " (" + category + ")"}
}

// validate returns a category as it will be stored. others are the codes of other categories, with the categories' names.
func (c Category) validate(check *core.Check, others map[string]string) Category {
	c.Name = check.Text("name", &c.Name, maxName)
	if !c.Active {
		c.Codes = nil
	}
	var codes []string
	for _, text := range c.Codes {
		code := award.CodeKey(check.TextOrEmpty("codes", &text, maxCode))
		if code == "" || slices.Contains(codes, code) {
			continue
		}
		if category, taken := others[code]; taken {
			check.Add("codes", CodeTaken(code, category))
		}
		codes = append(codes, code)
	}
	slices.Sort(codes)
	c.Codes = codes
	if len(others)+len(codes) > MaxCodes {
		check.Add("codes", core.MaxItems(max(0, MaxCodes-int64(len(others)))))
	}
	return c
}

const categoryColumns = `id, name, active,
		array(select code from loyalty.category_code where tenant_id = @tenant_id and category_id = c.id order by code) as codes,
		array(select name from loyalty.transaction_type where tenant_id = @tenant_id and c.id = any (excluded_categories) order by name) as earns_nothing`

const categoriesSQL = `
	select ` + categoryColumns + `
	from loyalty.category c
	where tenant_id = @tenant_id
	order by name_key`

const unmappedSQL = `
	select code, first_seen_at, last_seen_at, sales
	from loyalty.unmapped_code
	where tenant_id = @tenant_id
	order by last_seen_at desc, code
	limit @most`

// Categories returns all categories, by name.
func (s *Service) Categories(ctx context.Context, by core.Actor) ([]Category, error) {
	return db.All[Category](ctx, s.db.Tenant(by), categoriesSQL, nil)
}

// Catalogue returns all categories, by name, and codes that sales sent and no category has, the newest first.
func (s *Service) Catalogue(ctx context.Context, by core.Actor) (all []Category, unmapped []UnmappedCode, err error) {
	err = db.Together(ctx, s.db.Tenant(by), db.AllInto(&all, categoriesSQL, nil), db.AllInto(&unmapped, unmappedSQL, db.Args{"most": shownUnmapped}))
	return all, unmapped, err
}

const findCategorySQL = `
	select ` + categoryColumns + `
	from loyalty.category c
	where tenant_id = @tenant_id
		and id = @id`

// FindCategory returns a category, or core.ErrNotFound.
func (s *Service) FindCategory(ctx context.Context, by core.Actor, id int64) (Category, error) {
	return db.One[Category](ctx, s.db.Tenant(by), findCategorySQL, db.Args{"id": id})
}

const (
	// @id is null for a new category.
	takenSQL = `
	select (
			select count(*)
			from loyalty.category
			where tenant_id = @tenant_id
		) as categories,
		coalesce((
			select json_object_agg(m.code, c.name)
			from loyalty.category_code m
			join loyalty.category c on c.tenant_id = @tenant_id and c.id = m.category_id
			where m.tenant_id = @tenant_id
				and m.category_id is distinct from @id::bigint
		), '{}') as others`

	insertCategorySQL = `
	insert into loyalty.category (tenant_id, name, created_at)
	values (@tenant_id, @name, @now)
	returning id`

	updateCategorySQL = `
	update loyalty.category
	set name = @name,
		active = @active
	where tenant_id = @tenant_id
		and id = @id`

	dropCodesSQL = `
	delete from loyalty.category_code
	where tenant_id = @tenant_id
		and category_id = @id
		and code <> all (@codes::text[])`

	addCodesSQL = `
	insert into loyalty.category_code (tenant_id, code, category_id)
	select n.id, c.code, @id
	from unnest(@codes::text[]) c (code)
	join loyalty.tenant n on n.id = @tenant_id
	where not exists (select from loyalty.category_code where tenant_id = @tenant_id and code = c.code)
	returning 1`

	mappedSQL = `
	delete from loyalty.unmapped_code
	where tenant_id = @tenant_id
		and code = any (@codes::text[])`
)

// taken is what other categories have.
type taken struct {
	Categories int64
	Others     map[string]string
}

// AddCategory adds a category. A duplicate name and a code of another category are refused.
func (s *Service) AddCategory(ctx context.Context, by core.Actor, n NewCategory, once *core.Once[Category]) (core.Reply[Category], error) {
	reply, err := db.In(ctx, s.db.TenantAs(by, core.Manager), db.Once(ctx, by, once, func(tx *db.Tx) (Category, error) {
		var has taken
		if err := db.Together(ctx, tx, db.OneInto(&struct{}{}, lockSQL, nil), db.OneInto(&has, takenSQL, db.Args{"id": nil})); err != nil {
			return Category{}, err
		}
		check := core.NewCheck(n.Malformed)
		c := Category{Name: n.Name, Codes: n.Codes, Active: true}.validate(check, has.Others)
		if err := check.Err(); err != nil {
			return Category{}, err
		}
		if has.Categories >= MaxCategories {
			return Category{}, ErrTooManyCategories
		}
		id, err := db.One[struct{ ID int64 }](ctx, tx, insertCategorySQL, db.Args{"name": c.Name, "now": tx.Now})
		if err != nil {
			return Category{}, err
		}
		c.ID = id.ID
		return c, errors.Join(c.writeCodes(tx), RulesChanged(tx), c.log(tx, by, "category.create", nil, c.facts()))
	}))
	return reply, refuseDuplicateName(err)
}

// EditCategory changes the fields that are set. A category that is deactivated loses its codes.
func (s *Service) EditCategory(ctx context.Context, by core.Actor, id int64, e EditCategory) (Category, error) {
	return s.changeCategory(ctx, by, id, e.Malformed, func(check *core.Check, c Category) Category {
		if e.Active.Set && e.Active.Value == nil {
			check.Add("active", core.Required)
		}
		c.Name = core.OrZero(e.Name.Or(&c.Name))
		c.Codes = core.OrZero(e.Codes.Or(&c.Codes))
		c.Active = core.OrZero(e.Active.Or(&c.Active))
		return c
	})
}

// MapCode adds a code to a category that is active.
func (s *Service) MapCode(ctx context.Context, by core.Actor, id int64, code string) (Category, error) {
	return s.changeCategory(ctx, by, id, nil, func(check *core.Check, c Category) Category {
		if !c.Active {
			check.Add("category_id", core.InvalidChoice)
		}
		c.Codes = append(slices.Clone(c.Codes), check.Text("codes", &code, maxCode))
		return c
	})
}

// changeCategory stores what change makes of a category.
func (s *Service) changeCategory(ctx context.Context, by core.Actor, id int64, unread core.Fields, change func(*core.Check, Category) Category) (Category, error) {
	c, err := db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (Category, error) {
		var has taken
		var old Category
		err := db.Together(ctx, tx, db.OneInto(&struct{}{}, lockSQL, nil),
			db.OneInto(&old, findCategorySQL, db.Args{"id": id}), db.OneInto(&has, takenSQL, db.Args{"id": id}))
		if err != nil {
			return Category{}, err
		}
		check := core.NewCheck(unread)
		c := change(check, old).validate(check, has.Others)
		if err := check.Err(); err != nil {
			return Category{}, err
		}
		if _, err := db.Exec(ctx, tx, updateCategorySQL, db.Args{"id": id, "name": c.Name, "active": c.Active}); err != nil {
			return Category{}, err
		}
		return c, errors.Join(c.writeCodes(tx), RulesChanged(tx), c.log(tx, by, "category.edit", old.facts(), c.facts()))
	})
	return c, refuseDuplicateName(err)
}

// writeCodes queues that a category has its codes, and no others.
func (c Category) writeCodes(tx *db.Tx) error {
	args := db.Args{"id": c.ID, "codes": append([]string{}, c.Codes...)}
	return errors.Join(db.Queue(tx, dropCodesSQL, args), db.Queue(tx, addCodesSQL, args), db.Queue(tx, mappedSQL, db.Args{"codes": args["codes"]}))
}

func refuseDuplicateName(err error) error {
	if db.Violates(err, "category_name") {
		return core.Invalid(core.Fields{"name": {core.Duplicate}})
	}
	return err
}

func (c Category) log(tx *db.Tx, by core.Actor, action string, old, now any) error {
	return audit.Write(tx, by, audit.Entry{Action: action, Subject: "category", ID: strconv.FormatInt(c.ID, 10), Name: c.Name, Old: old, New: now})
}

// facts returns what the audit log says about a category.
func (c Category) facts() map[string]any {
	facts := map[string]any{"name": c.Name, "active": c.Active, "codes": nil}
	if len(c.Codes) > 0 {
		facts["codes"] = strings.Join(c.Codes, ", ")
	}
	return facts
}
