package customer

import (
	"cmp"
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// Export passes the customers that match the filter to each, one by one, newest first. Between pages it
// holds neither a connection nor a snapshot, however slow each is: every customer who exists at the
// start is passed once, as they are when their page is read; later ones are not. An error of each ends
// it. The audit log has the number of customers, also of an export that broke off.
func (s *Service) Export(ctx context.Context, by core.Actor, f Filter, each func(Row) error) error {
	if err := by.Require(core.Manager); err != nil {
		return err
	}
	if _, err := f.query(core.NewCheck(nil), by.Tenant); err != nil {
		return err
	}
	list := func(p core.Page) (core.List[Row], error) { return s.Browse(ctx, by, f, core.Newest, p) }
	count, err := db.Each(core.Cursor{At: s.db.Now(), ID: highestID}, list, each)
	// Logged also if the client is gone: it has what was passed so far.
	return cmp.Or(err, s.logExport(context.WithoutCancel(ctx), by, f, count, err == nil))
}

// highestID is after every ID of an instant.
var highestID = core.ID{
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
}

func (s *Service) logExport(ctx context.Context, by core.Actor, f Filter, count int64, complete bool) error {
	return db.Run(ctx, s.db.Tenant(by), func(tx *db.Tx) error {
		return audit.Write(tx, by, audit.Entry{
			Action: "customer.export", Subject: "customer",
			New: map[string]any{"filter": f.facts(), "count": count, "complete": complete},
		})
	})
}

// facts returns what the audit log says about a filter: which fields were set. It leaves out the searched
// texts, which are personal data and would stay in the log after erasing.
func (f Filter) facts() map[string]any {
	facts := map[string]any{}
	for name, text := range map[string]*string{"phone": f.Phone, "email": f.Email, "search": f.Search, "tag": f.Tag} {
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
