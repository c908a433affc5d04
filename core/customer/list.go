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

// List returns a page of the customers that pass the filter, newest first. One
// round trip, of the same cost at any depth.
func (s *Service) List(ctx context.Context, by core.Actor, f Filter, p core.Page) (core.List[Customer], error) {
	args, err := f.args(by.Tenant, p)
	if err != nil {
		return core.List[Customer]{}, err
	}
	statement := f.statement(args, p)
	customers, err := db.ReadAll[Customer](ctx, s.db, by, statement, args)
	return core.NewList(p, customers, Customer.position), err
}

func (c Customer) position() core.Cursor { return core.Cursor{At: c.CreatedAt, ID: c.ID} }

func (f Filter) args(t core.Tenant, p core.Page) (db.Args, error) {
	check := core.NewCheck(p.Unreadable)
	args := db.Args{}
	if phone := check.OptionalText("phone", f.Phone, maxPhone); phone != nil {
		key, ok := phoneKey(*phone, t.Country)
		if !ok {
			check.Add("phone", core.MustBe("phone", "a valid phone number"))
		}
		args["phone_key"] = key
	}
	if email := check.OptionalText("email", f.Email, maxEmail); email != nil {
		args["email_key"] = strings.ToLower(*email)
	}
	if search := check.OptionalText("search", f.Search, maxEmail); search != nil {
		args["search"] = *search
	}
	if f.Status != nil {
		core.OneOf(check, "status", Status(*f.Status), Active, Inactive)
		args["status"] = *f.Status
	}
	if f.CreatedFrom != nil {
		args["from"] = core.StartOfDate(*f.CreatedFrom, t.TimeZone)
	}
	if f.CreatedTo != nil {
		args["before"] = core.StartOfDate(f.CreatedTo.AddDate(0, 0, 1), t.TimeZone) // the whole day
		if f.CreatedFrom != nil && f.CreatedTo.Before(*f.CreatedFrom) {
			check.Add("created_to", core.MustBe("created_to", "a date after or equal to created from"))
		}
	}
	return args, check.Err()
}

// statement puts the list's SQL together from constants, and completes the
// arguments. A search goes by way of the one function that may use its index.
func (f Filter) statement(args db.Args, p core.Page) string {
	args["limit"] = p.Limit()
	if p.Cursor != nil {
		args["at"], args["id"] = p.Cursor.At, p.Cursor.ID
	}
	if _, searching := args["search"]; searching {
		for _, name := range []string{"phone_key", "email_key", "status", "from", "before", "at", "id"} {
			if _, given := args[name]; !given {
				args[name] = nil
			}
		}
		args["back"] = p.Back()
		return searchSQL + order(p)
	}
	sql := listSQL
	for _, condition := range []struct{ arg, sql string }{
		{"phone_key", wherePhone},
		{"email_key", whereEmail},
		{"status", whereStatus},
		{"from", whereFrom},
		{"before", whereBefore},
	} {
		if _, given := args[condition.arg]; given {
			sql += condition.sql
		}
	}
	switch {
	case p.Back():
		sql += whereNewer
	case p.Cursor != nil:
		sql += whereOlder
	}
	return sql + order(p)
}

func order(p core.Page) string {
	if p.Back() {
		return oldestFirst
	}
	return newestFirst
}
