package demo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/ledger"
)

// guest is a person who comes to the café.
type guest struct {
	name        [2]string // first, last
	phone       string
	email       *string // most have one
	habit       habit
	keen        float64 // how much more often than others of that habit they come
	hasCard     bool    // collects stamps
	birthday    time.Month
	first, last int // days ago, between which they come

	id     core.ID // of the customer; zero before they join
	gone   bool    // marked as inactive
	bought time.Time
	// has is what they earned and did not spend. What vouchers add is not counted, so
	// that every redemption can be paid for without it.
	has      map[ledger.Unit]int64
	vouchers []*voucher
}

// voucher is a guest's copy of a coupon.
type voucher struct {
	coupon  int // of newCoupons
	id      core.ID
	expires time.Time
	wanted  bool // to be used
}

// meet makes the guests: the regulars, and others who come one after the other.
func (c *cafe) meet() {
	taken := map[string]bool{}
	for i := range guests {
		g := &guest{
			phone: phone(c.r, i), keen: math.Exp(.45 * c.r.NormFloat64()), hasCard: c.r.IntN(4) > 0,
			birthday: time.Month(1 + c.r.IntN(12)), has: map[ledger.Unit]int64{},
		}
		g.habit = habits[weighted(c.r, habits, func(h habit) int { return h.share })]
		// Many come in the first weeks; later about as many each week.
		g.first = int(daysOpen * (1 - math.Pow(c.r.Float64(), 1.4)))
		if c.r.IntN(4) == 0 {
			g.last = max(0, g.first-20-c.r.IntN(180))
		}
		address := ""
		for address == "" || taken[address] {
			g.name = aName(c.r)
			if i < len(regulars) {
				first, last, _ := strings.Cut(regulars[i], " ")
				g.name, g.habit, g.first, g.last = [2]string{first, last}, habits[0], daysOpen, 0
			}
			address = plainLetters.Replace(strings.ToLower(g.name[0] + " " + g.name[1]))
		}
		taken[address] = true
		if i < len(regulars) || c.r.IntN(10) < 7 {
			g.email = new(address + "@example." + one(c.r, []string{"com", "org", "net"}))
		}
		c.guests = append(c.guests, g)
	}
}

func aName(r *rand.Rand) [2]string {
	from := origins[weighted(r, origins, func(o origin) int { return o.share })]
	return [2]string{one(r, from.first), one(r, from.last)}
}

// phone is the number of the i-th guest, in one of the ways people write it, and rings nowhere: the
// authority reserves 070-174 06 05 to 99 for fiction, and numbers of 074-1 are not in use.
func phone(r *rand.Rand, i int) string {
	n := fmt.Sprintf("7017406%02d", 5+i)
	if i >= 95 {
		n = fmt.Sprintf("741%06d", i*2_311)
	}
	if r.IntN(3) == 0 {
		return fmt.Sprintf("0%s-%s %s %s", n[:2], n[2:5], n[5:7], n[7:])
	}
	return fmt.Sprintf("+46 %s %s %s %s", n[:2], n[2:5], n[5:7], n[7:])
}

func one[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// weighted is the index of one of several things that have a share of a hundred each.
func weighted[T any](r *rand.Rand, from []T, share func(T) int) int {
	n := r.IntN(100)
	for i, x := range from {
		if n -= share(x); n < 0 {
			return i
		}
	}
	return 0
}
