package customer

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// exportSize is how many customers are in memory at a time.
const exportSize = 1_000

// Export hands over the customers that match the filter, one by one, newest first. It
// reads them page by page and holds neither a connection nor a snapshot in between,
// however slowly they are taken: everybody who is there at the beginning comes once, as
// they are when their page is read, and nobody who comes later. An error of each ends it.
// How many were handed over is in the log, also where it was broken off. A round trip for
// each thousand, and one.
func (s *Service) Export(ctx context.Context, by core.Actor, f Filter, each func(Row) error) error {
	if err := by.Require(core.Manager); err != nil {
		return err
	}
	if _, err := f.query(core.NewCheck(nil), by.Tenant); err != nil {
		return err
	}
	count, err := s.export(ctx, by, f, each)
	// Whoever asked may be gone. What they have by now is theirs all the same.
	if logged := s.exported(context.WithoutCancel(ctx), by, f, count, err == nil); err == nil {
		err = logged
	}
	return err
}

func (s *Service) export(ctx context.Context, by core.Actor, f Filter, each func(Row) error) (count int64, err error) {
	page := core.Page{Size: exportSize, Cursor: &core.Cursor{At: s.db.Now(), ID: last}}
	for page.Cursor != nil {
		l, err := s.Browse(ctx, by, f, Newest, page)
		if err != nil {
			return count, err
		}
		for _, r := range l.Items {
			count++ // also one that is not taken whole
			if err := each(r); err != nil {
				return count, err
			}
		}
		page.Cursor = l.Next
	}
	return count, nil
}

// last comes after every ID of one instant.
var last = core.ID{
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
}

func (s *Service) exported(ctx context.Context, by core.Actor, f Filter, count int64, complete bool) error {
	_, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (int, error) {
		return 0, audit.Write(tx, by, audit.Entry{
			Action: "customer.export", Subject: "customer",
			New: map[string]any{"filter": f.facts(), "count": count, "complete": complete},
		})
	})
	return err
}

// facts are what the log tells of a filter: the fields that were set. Of what was looked
// for it tells that something was: that is somebody's name, number or address, and would
// stay there when they are erased.
func (f Filter) facts() map[string]any {
	facts := map[string]any{}
	for name, text := range map[string]*string{"phone": f.Phone, "email": f.Email, "search": f.Search} {
		if text != nil {
			facts[name] = true
		}
	}
	if f.Status != nil {
		facts["status"] = *f.Status
	}
	for name, day := range map[string]*time.Time{"created_from": f.CreatedFrom, "created_to": f.CreatedTo} {
		if day != nil {
			facts[name] = day.Format(time.DateOnly)
		}
	}
	return facts
}
