package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/verify"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/admin"
	"example.com/loyalty/web/route"
)

func TestEveryReportIsMeasured(t *testing.T) {
	t.Parallel()
	for _, r := range route.Reading(admin.Routes()) {
		isMeasured := slices.ContainsFunc(reported, func(p reportPage) bool { return p.path == r.Path })
		if strings.HasPrefix(r.Path, links.Reports) && r.Kind != route.File && r.Path != links.AudienceReport && !isMeasured {
			t.Errorf("reported lacks %s", r.Path)
		}
	}
}

func TestItIsNoonInAZone(t *testing.T) {
	t.Parallel()
	for month := time.January; month <= time.December; month++ {
		for hour := range 24 {
			now := time.Date(2026, month, 1, hour, 30, 0, 0, time.UTC)
			if local := now.In(zoneAtNoon(now)); local.Hour() != 12 {
				t.Errorf("at %s, it is %s", now, local)
			}
		}
	}
}

// The data set for reports is one that the product could have recorded.
func TestTheDataSetForReportsIsRight(t *testing.T) {
	t.Parallel()
	dbtest.NeedsPlain(t, "one function fills the tables, and makes their indexes anew")
	owner, ctx := dbtest.OwnURL(t), t.Context()
	d, err := db.Open(ctx, dbtest.Serving(owner), db.Options{OwnerURL: owner})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	s := shoptest.In(t, d)
	points := s.Type("Purchase", ledger.Points, transaction.Rule{PointsPerUnit: 1, UnitCents: 100})
	stamps := s.Type("Card", ledger.Stamps, transaction.Rule{StampsPerTransaction: 1})
	pool, err := pgxpool.New(ctx, owner)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	const customers = 400
	if _, err := pool.Exec(ctx, dataSQL); err != nil {
		t.Fatal(err)
	}
	if err := fillReports(ctx, pool, s.By.Tenant.ID, points.ID, stamps.ID, customers, zoneAtNoon(time.Now())); err != nil {
		t.Fatal(err)
	}
	results, err := verify.Run(ctx, d)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Wrong > 0 {
			t.Errorf("%s: %d of %d are wrong, such as %v", r.Check, r.Wrong, r.Counted, r.Examples)
		}
	}
	for _, expected := range []string{
		`select count(*) between 20 * $2 and 30 * $2 from loyalty.transaction where tenant_id = $1`,
		`select count(*) filter (where visits = 1) between 0.35 * $2 and 0.5 * $2 from loyalty.account where tenant_id = $1`,
	} {
		var met bool
		if err := pool.QueryRow(ctx, expected, s.By.Tenant.ID, customers).Scan(&met); err != nil || !met {
			t.Errorf("%s: %t, %v", expected, met, err)
		}
	}
}
