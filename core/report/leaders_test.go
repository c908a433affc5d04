package report_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/report"
)

// Whatever happened since the leaders of a ranking were counted, what follows from them is what all sales say. Equal sums are common, and
// few leaders are kept, so that others often come among the first.
func TestTopFollowsFromLeaders(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	s := newShop(t, "Europe/Stockholm").on("2026-05-20 09:00:00")
	places := []int64{s.place("Harbour"), s.place("Station")}
	var customers, sales []core.ID
	for range 30 {
		customers = append(customers, s.Customer().ID)
	}
	sell := func() {
		who, kind := customers[rng.IntN(len(customers))], s.purchase
		if rng.IntN(4) == 0 {
			kind = s.coffee
		}
		sales = append(sales, s.soldAt(places[rng.IntN(2)], who, kind, rng.Int64N(4)*100).ID)
	}
	taken := func(list *[]core.ID) core.ID {
		i := rng.IntN(len(*list))
		id := (*list)[i]
		*list = slices.Delete(*list, i, i+1)
		return id
	}
	for range 150 {
		s = s.at(s.DB.Now().Add(time.Hour))
		sell()
	}
	plain := report.NewService(s.DB)
	large := report.NewService(s.DB).CountFrom(1).KeepLeaders(12, 3)
	asked, followed := 0, 0
	compare := func() {
		r := report.Ranking{Range: days(t, "2026-05-24", "2026-06-30"), Limit: new([]int64{1, 3, 5, 40}[rng.IntN(4)])}
		if rng.IntN(3) == 0 {
			r.Range = days(t, "2026-05-21", "2026-05-23")
		}
		r.By = new([]string{"spend", "points", "visits"}[rng.IntN(3)])
		if place := rng.IntN(3); place < 2 {
			r.Location = &places[place]
		}
		want, err := plain.Top(t.Context(), s.By, r)
		s.Check(err)
		got, known, err := large.TopOfLeaders(t.Context(), s.By, r)
		s.Check(err)
		if asked++; known {
			followed++
			same(t, "from leaders", got, want)
		}
		got, err = large.Top(t.Context(), s.By, r)
		s.Check(err)
		same(t, "however it is counted", got, want)
	}
	for range 300 {
		s = s.at(s.DB.Now().Add(time.Duration(rng.IntN(20)) * time.Minute))
		plain.SetClock(s.DB)
		large.SetClock(s.DB)
		switch n := rng.IntN(20); {
		case n < 6:
			sell()
		case n < 8:
			s.VoidSale(taken(&sales))
		case n == 8 && len(customers) > 20:
			merged := taken(&customers)
			s.Must(core.Result(s.Merging.Merge(t.Context(), s.By, customers[rng.IntN(len(customers))], merged, nil, nil)))
		default:
			compare()
		}
	}
	t.Logf("%d of %d followed from leaders", followed, asked)
	if followed < asked/4 || followed == asked {
		t.Errorf("%d of %d rankings followed from leaders", followed, asked)
	}
}

// A small business keeps none, and another business's are not known.
func TestLeadersOfLargeBusinesses(t *testing.T) {
	t.Parallel()
	s, neighbour := newShop(t, "UTC"), newShop(t, "UTC")
	for _, shop := range []shop{s, neighbour} {
		for range 3 {
			shop.Sale(shop.Customer().ID, shop.purchase, 100)
		}
	}
	r := report.Ranking{Limit: new(int64(2))}
	for _, c := range []struct {
		accounts int64
		want     bool
	}{{4, false}, {3, true}} {
		reports := report.NewService(s.DB).CountFrom(c.accounts)
		for i, by := range []core.Actor{s.By, neighbour.By} {
			if _, known, err := reports.TopOfLeaders(t.Context(), by, r); known || err != nil {
				t.Errorf("business %d, before it was counted: %t, %v", i, known, err)
			}
			top, err := reports.Top(t.Context(), by, r)
			s.Check(err)
			again, known, err := reports.TopOfLeaders(t.Context(), by, r)
			if known != c.want || err != nil {
				t.Errorf("business %d, of %d accounts: %t, %v", i, c.accounts, known, err)
			}
			if known {
				same(t, "top", again, top)
			}
		}
	}
}
