package demo

import (
	"bytes"
	"embed"
	"encoding/json"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
)

const (
	daysOpen   = 365
	opens      = 7*60 + 30  // minutes of the day
	lastOrders = 17*60 + 45 // leaves time for corrections until 18:00
	forenoon   = 10*60 + 20 // when the owner creates rewards and coupons
	evening    = 18*60 + 40 // when coupons are sent
)

// The people of the café, as indexes of the team. The ordering app is a former integration with sales and no token.
const (
	owner = iota
	manager
	firstCashier
	secondCashier
	orderingApp
)

// The transaction types, as indexes of types.
const (
	purchase = iota
	coffeeCard
	openingWeeks
)

// openingWeeksEnd is when the type of that name was deactivated.
const openingWeeksEnd = daysOpen - 30

// facts is what cafe.json says about the café. Days count back from the day on which the demo is made.
type facts struct {
	Business tenant.New
	Team     []colleague
	Types    []transaction.NewType
	Menu     map[string][]int64 // prices of coffees, drinks, pastries and lunches in cents, frequent ones repeatedly
	Habits   []habit
	Months   []float64 // seasonal factors from January on: in July, Stockholm is on holiday
	Rewards  []*cafeReward
	Coupons  []*cafeCoupon
	Regulars []regular // the first and most frequent guests
	Origins  []origin
	Mishaps  []string // reasons of adjustments
	Issuer   billing.Party
	Plan     billing.PlanInput // the one that the café moves to
}

// colleague is a person of the team. Cashiers have a location.
type colleague struct {
	staff.New
	Location string
}

// habit is how a group of guests uses the café.
type habit struct {
	Share            int      // percentage of the guests
	Workday, Weekend float64  // probability of a visit
	Around, Spread   float64  // minutes of the day
	ByApp            float64  // share of the sales by the ordering app
	Orders           wordList // keys of the menu: "cp" is a coffee and a pastry
}

// regular is a guest whom the staff know.
type regular struct {
	Name, Note string
	Tags       []string
}

// origin is a set of names that go together, and the percentage of guests who have them.
type origin struct {
	Share       int
	First, Last wordList
}

// cafeReward is a reward of the café, and how guests use it.
type cafeReward struct {
	reward.New
	Image      string // a file of this package, or ""
	Since      int    // days; 0: since the opening
	Withdrawn  int    // days; 0: active
	Share      int    // percentage of sales at which guests want it
	Takes      int    // days from redemption to fulfilment
	NearlyGone bool   // in the end

	made     reward.Reward
	from, to time.Time // when guests can redeem it
	left     int64     // of its stock, if that is limited
}

// cafeCoupon is a coupon of the café, and how guests use it.
type cafeCoupon struct {
	coupon.New
	Reward          string  // the name of its benefit
	Created, Off    int     // days; Off is when it was deactivated, 0: active
	Starts, Expires int     // days; 0: at once, never
	Keen            float64 // share of its vouchers that guests want to use
	MinSpend        int64   // of a sale with which guests use it, in cents
	NearlyUsedUp    bool    // in the end
	Sends           []send

	id       core.ID
	redeemed int64 // vouchers
}

// The manual segments. Other sends are to the segment that they name.
const (
	lapsed      = "lapsed"      // guests who bought nothing in the last 30 days
	celebrating = "celebrating" // guests whose birthday is in this month
)

// send is a coupon sent on the evening of a day, by the owner or the manager.
type send struct {
	Day       int
	Monthly   bool // on the first of each month instead
	ByManager bool
	To        string
}

// wordList is written as words with spaces between them.
type wordList []string

func (w *wordList) UnmarshalText(text []byte) error {
	*w = strings.Fields(string(text))
	return nil
}

//go:embed cafe.json *.png
var files embed.FS

func readFile(name string) []byte {
	content, err := files.ReadFile(name)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return content
}

// readFacts returns new facts, which each demo completes with its records.
func readFacts() (f facts) {
	d := json.NewDecoder(bytes.NewReader(readFile("cafe.json")))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		panic(err) // the file is part of the program
	}
	return f
}
