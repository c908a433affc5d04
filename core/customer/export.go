package customer

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// exportPage is how many customers are read at a time.
const exportPage = 1_000

// Export hands over every customer who passes the filter, in the order of Browse, however
// many there are: they are read page by page, so neither memory nor a connection is held
// while they are taken. What was handed over stands in the log, also where the rest was
// not. A round trip for each thousand, and one.
func (s *Service) Export(ctx context.Context, by core.Actor, f Filter, sort Sort, each func(Row) error) error {
	if err := by.Require(core.Manager); err != nil {
		return err
	}
	n, err := s.export(ctx, by, f, sort, each)
	if n == 0 && err != nil {
		return err
	}
	// Whoever took them may be gone.
	_, logged := db.InTenant(context.WithoutCancel(ctx), s.db, by, func(tx *db.Tx) (int, error) {
		return 0, audit.Write(tx, by, audit.Entry{Action: "customer.export", Subject: "customer", New: f.facts(n, err == nil)})
	})
	if err != nil {
		return err
	}
	return logged
}

func (s *Service) export(ctx context.Context, by core.Actor, f Filter, sort Sort, each func(Row) error) (n int64, err error) {
	page := core.Page{Size: exportPage}
	for {
		list, err := s.Browse(ctx, by, f, sort, page)
		if err != nil {
			return n, err
		}
		for _, row := range list.Items {
			n++ // also one that is not taken whole
			if err := each(row); err != nil {
				return n, err
			}
		}
		if list.Next == nil {
			return n, nil
		}
		page.Cursor = list.Next
	}
}

// facts are what the log tells of an export: how many customers, of which filter.
func (f Filter) facts(customers int64, complete bool) map[string]any {
	facts := map[string]any{"customers": customers}
	if !complete {
		facts["broken_off"] = true
	}
	for name, text := range map[string]*string{"phone": f.Phone, "email": f.Email, "search": f.Search, "status": f.Status} {
		if text != nil {
			facts[name] = *text
		}
	}
	for name, day := range map[string]*time.Time{"created_from": f.CreatedFrom, "created_to": f.CreatedTo} {
		if day != nil {
			facts[name] = day.Format(time.DateOnly)
		}
	}
	return facts
}
