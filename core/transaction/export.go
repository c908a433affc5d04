package transaction

import (
	"cmp"
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// Export passes the sales that match the filter to each, one by one, newest first: those that are recorded
// at the start, as they are when their page is read. An error of each ends it. The audit log has the number
// of sales, also of an export that broke off.
func (s *Service) Export(ctx context.Context, by core.Actor, f Filter, each func(Named) error) error {
	if err := by.Require(core.Manager); err != nil {
		return err
	}
	if _, err := f.args(core.NewCheck(nil), by.Tenant, "from", "to"); err != nil {
		return err
	}
	list := func(p core.Page) (core.List[Named], error) {
		found, err := s.List(ctx, by, f, core.Newest, p)
		return found.List, err
	}
	// IDs are in the order of time.
	count, err := db.Each(core.Cursor{ID: core.FirstID(s.db.Now().Add(time.Millisecond))}, list, each)
	return cmp.Or(err, s.logExport(context.WithoutCancel(ctx), by, f, count, err == nil))
}

func (s *Service) logExport(ctx context.Context, by core.Actor, f Filter, count int64, complete bool) error {
	return db.Run(ctx, s.db.Tenant(by), func(tx *db.Tx) error {
		return audit.Write(tx, by, audit.Entry{
			Action: "transaction.export", Subject: "transaction",
			New: map[string]any{"filter": f.facts(), "count": count, "complete": complete},
		})
	})
}

// facts returns what the audit log says about a filter. Of a customer and a search it says only
// that they were given: the log outlives an erased customer.
func (f Filter) facts() map[string]any {
	facts := map[string]any{}
	for name, text := range map[string]*string{"status": f.Status, "source": f.Source, "recorded_by": f.RecordedBy} {
		if text != nil {
			facts[name] = *text
		}
	}
	for name, id := range map[string]*int64{"transaction_type_id": f.TypeID, "location_id": f.LocationID} {
		if id != nil {
			facts[name] = *id
		}
	}
	if f.WithoutLocation {
		facts["without_location"] = true
	}
	for name, text := range map[string]*string{"customer_ulid": f.CustomerID, "search": f.Search} {
		if text != nil {
			facts[name] = true
		}
	}
	for name, day := range map[string]*time.Time{"from": f.From, "to": f.To} {
		if day != nil {
			facts[name] = day.Format(time.DateOnly)
		}
	}
	return facts
}
