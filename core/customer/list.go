package customer

import (
	"context"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Filter picks customers. Fields that are nil pick all.
type Filter struct {
	Phone       *string    // compared like an upsert does
	Email       *string    // likewise
	Search      *string    // any part of name, phone or e-mail
	Status      *string    // active or inactive
	CreatedFrom *time.Time // a day of the tenant's time zone, included; written as its midnight in UTC
	CreatedTo   *time.Time // likewise
}

// Sort is the order of a list.
type Sort string

// The orders. By name is by last name, then first name. Not by points: a balance changes
// with every sale, and an index of it would have to as well.
const (
	Newest Sort = "newest"
	ByName Sort = "name"
)

// Row is a customer in the panel's list.
type Row struct {
	Customer
	LastVisit *time.Time // nil: none yet
}

// Count is how many customers match a filter.
type Count struct {
	N    int64
	More bool // there are more than these
}

// maxCount is as far as customers are counted: for a page it is enough, and a million
// would cost more than the page.
const maxCount = 1_000

// List returns a page of the customers that match the filter, newest first. One
// round trip, of the same cost at any depth.
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

// Browse is List for the panel: it tells when a customer was last here, and has its
// choice of orders. What is searched for comes newest first, whatever the order: names in
// order may lie anywhere among a million that match. One round trip.
func (s *Service) Browse(ctx context.Context, by core.Actor, f Filter, sort Sort, p core.Page) (core.List[Row], error) {
	check := core.NewCheck(p.Malformed)
	core.OneOf(check, "sort", sort, Newest, ByName)
	q, err := f.query(check, by.Tenant)
	if err != nil {
		return core.List[Row]{}, err
	}
	list := rowList
	switch {
	case q.searching:
		list = foundRowList
	case sort == ByName:
		list = rowsByName
	}
	return db.ListPage(ctx, s.db, by, list, q.args, p, Row.position)
}

// Count returns how many customers match the filter: exactly, up to a thousand. One round
// trip.
func (s *Service) Count(ctx context.Context, by core.Actor, f Filter) (Count, error) {
	q, err := f.query(core.NewCheck(nil), by.Tenant)
	if err != nil {
		return Count{}, err
	}
	statement, args := countList.Statement(core.Page{Size: maxCount}, q.args)
	if q.searching {
		statement, args = countFoundSQL, q.args
		args["limit"] = maxCount + 1
	}
	found, err := db.ReadOne[struct{ Count int64 }](ctx, s.db, by, statement, args)
	return counted(found.Count), err
}

// BrowseAndCount is Browse and Count together. One round trip for the first page of a
// search, whose customers are looked for once and tell both, and where the page holds
// everybody; else two.
func (s *Service) BrowseAndCount(ctx context.Context, by core.Actor, f Filter, sort Sort, p core.Page) (core.List[Row], Count, error) {
	check := core.NewCheck(p.Malformed)
	core.OneOf(check, "sort", sort, Newest, ByName)
	q, err := f.query(check, by.Tenant)
	if err != nil {
		return core.List[Row]{}, Count{}, err
	}
	if q.searching && p.Cursor == nil {
		return s.search(ctx, by, q, p)
	}
	l, err := s.Browse(ctx, by, f, sort, p)
	if err != nil || l.Prev == nil && l.Next == nil {
		return l, Count{N: int64(len(l.Items))}, err
	}
	count, err := s.Count(ctx, by, f)
	return l, count, err
}

// search looks for as many customers as are counted, and returns the first page of them.
func (s *Service) search(ctx context.Context, by core.Actor, q query, p core.Page) (core.List[Row], Count, error) {
	type found struct {
		Row
		Found int64 // the same in each row
	}
	q.args["size"], q.args["limit"] = p.Limit(), max(p.Limit(), maxCount+1)
	rows, err := db.ReadAll[found](ctx, s.db, by, browseFoundSQL, q.args)
	if err != nil {
		return core.List[Row]{}, Count{}, err
	}
	var count Count
	page := make([]Row, len(rows))
	for i, r := range rows {
		page[i], count = r.Row, counted(r.Found)
	}
	return core.NewList(p, page, Row.position), count, nil
}

// counted is a count that went on until it was beyond maxCount.
func counted(n int64) Count { return Count{N: min(n, maxCount), More: n > maxCount} }

func (c Customer) position() core.Cursor { return core.Cursor{At: c.CreatedAt, ID: c.ID} }

// query is a filter that was read: what its statement asks for.
type query struct {
	args      db.Args
	searching bool
}

func (f Filter) query(check *core.Check, t core.Tenant) (query, error) {
	q := query{args: db.Args{"phone_key": nil, "email_key": nil, "status": f.Status, "from": nil, "before": nil}}
	if phone := check.OptionalText("phone", f.Phone, maxPhone); phone != nil {
		key, ok := phoneKey(*phone, t.Country)
		if !ok {
			check.Add("phone", core.MustBePhone)
		}
		q.args["phone_key"] = key
	}
	if email := check.OptionalText("email", f.Email, maxEmail); email != nil {
		q.args["email_key"] = strings.ToLower(*email)
	}
	if search := check.OptionalText("search", f.Search, maxEmail); search != nil {
		q.args["needles"], q.args["dialled"] = needles(*search, t.Country)
		q.searching = true
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

// needles are what a search looks for, any of them: what was typed and, where that may
// be of a phone number, its digits; and how a number begins that begins like this, as it
// is dialled from abroad. So "070-112" finds +46 70 112 00 00.
func needles(search, country string) (needles []string, dialled *string) {
	needles = []string{search}
	digits := notDigits.ReplaceAllString(search, "")
	if !phoneLike.MatchString(search) || len(digits) < minDigits {
		return needles, nil
	}
	if strings.HasPrefix(search, "+") {
		return needles, new("+" + digits)
	}
	if digits != search {
		needles = append(needles, digits)
	}
	if rest, abroad := strings.CutPrefix(digits, "00"); abroad {
		return needles, new("+" + rest)
	}
	if code, trunk := dialling(country); trunk != "" && strings.HasPrefix(digits, trunk) {
		return needles, new("+" + code + strings.TrimPrefix(digits, trunk))
	}
	return needles, nil
}
