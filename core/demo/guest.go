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

// guest is a customer of the café.
type guest struct {
	name        [2]string // first, last
	phone       string
	email       *string // of most guests
	habit       habit
	keen        float64 // their frequency, compared with others of that habit
	hasCard     bool    // collects stamps
	birthday    time.Month
	first, last int // the days between which they come

	id     core.ID // of the customer; zero before they join
	gone   bool    // inactive
	bought time.Time
	// has is their balance without the benefits of vouchers, so that every redemption is affordable.
	has      map[ledger.Unit]int64
	vouchers []*voucher
}

// voucher is a guest's copy of a coupon.
type voucher struct {
	coupon  int // of newCoupons
	id      core.ID
	expires time.Time
	wanted  bool // the guest wants to use it
}

// addGuests adds the regulars and the other guests.
func (c *cafe) addGuests() {
	used := map[string]bool{}
	for i := range guestCount {
		g := &guest{
			phone: phoneNumber(c.r, i), keen: math.Exp(.45 * c.r.NormFloat64()), hasCard: c.r.IntN(4) > 0,
			birthday: time.Month(1 + c.r.IntN(12)), has: map[ledger.Unit]int64{},
		}
		g.habit = habits[weighted(c.r, habits, func(h habit) int { return h.share })]
		// Many join in the first weeks, then about as many each week.
		g.first = int(daysOpen * (1 - math.Pow(c.r.Float64(), 1.4)))
		if c.r.IntN(4) == 0 {
			g.last = max(0, g.first-20-c.r.IntN(180))
		}
		address := ""
		for address == "" || used[address] {
			g.name = randomName(c.r)
			if i < len(regulars) {
				first, last, _ := strings.Cut(regulars[i], " ")
				g.name, g.habit, g.first, g.last = [2]string{first, last}, habits[0], daysOpen, 0
			}
			address = plainLetters.Replace(strings.ToLower(g.name[0] + " " + g.name[1]))
		}
		used[address] = true
		if i < len(regulars) || c.r.IntN(10) < 7 {
			g.email = new(address + "@example." + pick(c.r, []string{"com", "org", "net"}))
		}
		c.guests = append(c.guests, g)
	}
}

func randomName(r *rand.Rand) [2]string {
	from := origins[weighted(r, origins, func(o origin) int { return o.share })]
	return [2]string{pick(r, from.first), pick(r, from.last)}
}

// phoneNumber returns a number for the i-th guest, in one of two notations. The numbers belong to no one:
// 070-174 06 05 to 99 are reserved for fiction, and 074-1 is not in use.
func phoneNumber(r *rand.Rand, i int) string {
	n := fmt.Sprintf("7017406%02d", 5+i)
	if i >= 95 {
		n = fmt.Sprintf("741%06d", i*2_311)
	}
	if r.IntN(3) == 0 {
		return fmt.Sprintf("0%s-%s %s %s", n[:2], n[2:5], n[5:7], n[7:])
	}
	return fmt.Sprintf("+46 %s %s %s %s", n[:2], n[2:5], n[5:7], n[7:])
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// weighted returns a random index, weighted by percentages.
func weighted[T any](r *rand.Rand, from []T, share func(T) int) int {
	n := r.IntN(100)
	for i, x := range from {
		if n -= share(x); n < 0 {
			return i
		}
	}
	return 0
}
