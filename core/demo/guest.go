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
	first, last string
	phone       string
	email       *string // of most guests
	habit       habit
	keen        float64 // their frequency, compared with others of that habit
	hasCard     bool    // collects stamps
	birthday    time.Month
	from, until int // the days between which they come

	id     core.ID // of the customer; zero before they join
	gone   bool    // inactive
	bought time.Time
	// has is their balance without the benefits of vouchers, so that every redemption is affordable.
	has      map[ledger.Unit]int64
	vouchers []*voucher
}

// voucher is a guest's copy of a coupon.
type voucher struct {
	*cafeCoupon
	id      core.ID
	expires time.Time
	wanted  bool // the guest wants to use it
}

// guestCount is how many people become customers in the year.
const guestCount = 260

// addGuests adds the regulars and the other guests. Habits and first days are spread evenly over the guests, so that
// the café is as busy in every demo.
func (c *cafe) addGuests() {
	for i := range guestCount {
		from := c.Origins[weighted(c.r.IntN(100), c.Origins, func(o origin) int { return o.Share })]
		g := &guest{
			first: pick(c.r, from.First), last: pick(c.r, from.Last), phone: phoneNumber(c.r, i),
			habit: c.Habits[weighted(i*37%100, c.Habits, func(h habit) int { return h.Share })],
			keen:  math.Exp(.45 * c.r.NormFloat64()), hasCard: c.r.IntN(4) > 0,
			birthday: time.Month(1 + c.r.IntN(12)), has: map[ledger.Unit]int64{},
			// Many join in the first weeks, then about as many each week.
			from: int(daysOpen * (1 - math.Pow((float64(i*73%guestCount)+c.r.Float64())/guestCount, 1.4))),
		}
		if c.r.IntN(4) == 0 {
			g.until = max(0, g.from-20-c.r.IntN(180))
		}
		if i < len(c.Regulars) {
			g.first, g.last, _ = strings.Cut(c.Regulars[i].Name, " ")
			g.habit, g.from, g.until = c.Habits[0], daysOpen, 0
		}
		if i < len(c.Regulars) || c.r.IntN(10) < 7 {
			address := plainLetters.Replace(strings.ToLower(g.first + " " + g.last))
			g.email = new(fmt.Sprintf("%s%d@example.%s", address, i+11, pick(c.r, []string{"com", "org", "net"})))
		}
		c.guests = append(c.guests, g)
	}
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

// weighted returns the index that a number from 0 to 99 belongs to, by percentages.
func weighted[T any](n int, from []T, share func(T) int) int {
	for i, x := range from {
		if n -= share(x); n < 0 {
			return i
		}
	}
	return 0
}

// plainLetters replaces the letters of a name for an e-mail address.
var plainLetters = strings.NewReplacer("å", "a", "ä", "a", "ö", "o", "é", "e", "è", "e", "í", "i", "ı", "i", "i̇", "i", "ç", "c", "ğ", "g",
	"ş", "s", "ü", "u", "ú", "u", "ó", "o", "ñ", "n", "ł", "l", "ą", "a", "ś", "s", "ń", "n", " ", ".")
