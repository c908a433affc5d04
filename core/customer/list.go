package customer

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Filter selects customers. A nil field selects all.
type Filter struct {
	Phone       *string    // compared by its key
	Email       *string    // likewise
	ExternalID  *string    // the whole
	Search      *string    // part of name, phone number or e-mail address
	Status      *string    // active or inactive
	CreatedFrom *time.Time // first day in the tenant's time zone, as its midnight in UTC
	CreatedTo   *time.Time // last day, likewise
	Tag         *string    // only in the panel

	among bool // a search looks at given customers (Among)
}

// ByName is the order by last name, then first name. There is none by points, because every sale would
// have to change its index.
const ByName core.Sort = "name"

// Row is a customer in the panel's list.
type Row struct {
	Customer
	LastVisit *time.Time // nil: none
}

// List returns a page of the customers that match the filter, newest first.
func (s *Service) List(ctx context.Context, by core.Actor, f Filter, p core.Page) (core.List[Customer], error) {
	q, err := f.query(core.NewCheck(p.Malformed), by.Tenant)
	if err != nil {
		return core.List[Customer]{}, err
	}
	if q.searching {
		return db.ListPage(ctx, s.db, by, foundList, q.args, p, Customer.position)
	}
	return db.ListPage(ctx, s.db, by, customerList, q.args, p, Customer.position)
}

// Browse is List for the panel, with the last visit, the tags and a choice of orders. Search results and
// the customers of a tag are always newest first: to sort a million of them by name, all would have to be
// read.
func (s *Service) Browse(ctx context.Context, by core.Actor, f Filter, sort core.Sort, p core.Page) (core.List[Row], error) {
	check := core.NewCheck(p.Malformed)
	core.OneOf(check, "sort", sort, core.Newest, ByName)
	q, err := f.query(check, by.Tenant)
	if err != nil {
		return core.List[Row]{}, err
	}
	list := rowList
	switch {
	case f.Tag != nil:
		list = taggedRowList
	case q.searching && p.Cursor == nil && p.Counted:
		return s.search(ctx, by, q, p)
	case q.searching:
		list = foundRowList
	case sort == ByName:
		list = rowsByName
	}
	return db.ListPage(ctx, s.db, by, list, q.args, p, Row.position)
}

// search finds as many customers as are counted, and returns the first page of them, in one round trip.
func (s *Service) search(ctx context.Context, by core.Actor, q query, p core.Page) (core.List[Row], error) {
	type found struct {
		Row
		Found int64 // the same in each row
	}
	q.args["size"], q.args["limit"] = p.Limit(), max(p.Limit(), core.MaxCount+1)
	rows, err := db.All[found](ctx, s.db.Tenant(by), browseFoundSQL, q.args)
	if err != nil || len(rows) == 0 {
		return core.List[Row]{}, err
	}
	page := make([]Row, len(rows))
	for i, r := range rows {
		page[i] = r.Row
	}
	l := core.NewList(p, page, Row.position)
	l.Place = core.NewPlace(0, rows[0].Found)
	return l, nil
}

// Among returns those of the customers with the ids that match the filter, by ID.
func (s *Service) Among(ctx context.Context, by core.Actor, f Filter, ids []core.ID) ([]Customer, error) {
	f.among = true
	q, err := f.query(core.NewCheck(nil), by.Tenant)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	q.args["ids"] = ids
	sql, args := amongList.Statement(core.Page{}, q.args)
	return db.All[Customer](ctx, s.db.Tenant(by), sql, args)
}

func (c Customer) position() core.Cursor { return core.Cursor{At: c.CreatedAt, ID: c.ID} }

// query is a valid filter, as arguments of its statement.
type query struct {
	args      db.Args
	searching bool
}

func (f Filter) query(check *core.Check, t core.Tenant) (query, error) {
	q := query{args: db.Args{"phone_key": nil, "email_key": nil, "status": f.Status, "from": nil, "before": nil}}
	if check.OptionalText("phone", f.Phone, maxEmail) != nil {
		q.args["phone_key"] = checkPhone(check, f.Phone, t.Country).key
	}
	if email := check.OptionalText("email", f.Email, maxEmail); email != nil {
		q.args["email_key"] = core.EmailKey(*email)
	}
	if id := check.OptionalText("external_id", f.ExternalID, MaxExternalID); id != nil {
		q.args["external_id"] = *id
	}
	if tag := check.OptionalText("tag", f.Tag, maxEmail); tag != nil {
		q.args["tag"] = tagKey(*tag)
	}
	if search := check.OptionalText("search", f.Search, maxEmail); search != nil {
		terms := searchTerms(*search, t.Country)
		q.searching = f.ExternalID == nil && f.Tag == nil && !f.among
		switch {
		case q.searching:
			maps.Copy(q.args, terms.args())
		case terms.every:
			q.args["all_patterns"] = patterns(terms.needles)
		default:
			q.args["patterns"] = patterns(terms.needles)
		}
	}
	if f.Status != nil {
		core.OneOf(check, "status", Status(*f.Status), Active, Inactive)
	}
	if f.CreatedFrom != nil {
		q.args["from"] = core.StartOfDate(*f.CreatedFrom, t.TimeZone)
	}
	if f.CreatedTo != nil {
		q.args["before"] = core.StartOfDate(f.CreatedTo.AddDate(0, 0, 1), t.TimeZone) // the whole day
		if f.CreatedFrom != nil && f.CreatedTo.Before(*f.CreatedFrom) {
			check.Add("created_to", core.AfterOrEqual("created_from"))
		}
	}
	return q, check.Err()
}

var likeEscapes = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// patterns returns the patterns of texts that contain one of the terms.
func patterns(terms []string) []string {
	found := make([]string, len(terms))
	for i, term := range terms {
		found[i] = "%" + likeEscapes.Replace(term) + "%"
	}
	return found
}

// terms is what a search looks for.
type terms struct {
	needles []string // folded
	every   bool     // every needle must be found, else one of them
}

func (t terms) args() db.Args { return db.Args{"needles": t.needles, "every": t.every} }

// SearchArgs returns the arguments of Found for the text of a search in a tenant, but for @found.
func SearchArgs(text string, t core.Tenant) db.Args { return searchTerms(text, t.Country).args() }

// searchTerms reads the text of a search: the words of a name in any order, so that "Sjöberg Ida" finds Ida
// Sjöberg; or part of a phone number, also by its digits alone, so that "070-112" finds +46 70 112 00 00.
func searchTerms(search, country string) terms {
	if number := cleanPhone(search); phoneLike.MatchString(number) {
		search = number
	}
	search = core.Fold(search)
	digits := notDigits.ReplaceAllString(search, "")
	if !phoneLike.MatchString(search) || len(digits) < minDigits {
		return terms{needles: strings.Fields(search), every: true}
	}
	if strings.HasPrefix(search, "+") {
		return terms{needles: slices.Compact([]string{search, "+" + digits})}
	}
	needles := []string{search}
	if digits != search {
		needles = append(needles, digits)
	}
	// The keys of numbers have it as dialled from abroad.
	if rest, abroad := strings.CutPrefix(digits, "00"); abroad {
		needles = append(needles, "+"+rest)
	} else if code, trunk := dialling(country); trunk != "" && strings.HasPrefix(digits, trunk) {
		needles = append(needles, "+"+code+strings.TrimPrefix(digits, trunk))
	}
	return terms{needles: needles}
}
