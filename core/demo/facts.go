package demo

import (
	"bytes"
	"embed"
	"encoding/json"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/level"
	"example.com/loyalty/core/promotion"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
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

// facts is what cafe.json says about the café. Days count back from the day on which the demo is made; on their
// evening something is created, sent or deactivated. Day 0 is never.
type facts struct {
	Business tenant.New
	Team     []struct {
		staff.New
		Location string // of a cashier
	}
	Types []struct {
		transaction.NewType
		Off int
	}
	Menu    map[string][]int64 // prices of coffees, drinks, pastries and lunches in cents, frequent ones repeatedly
	Habits  []habit
	Months  []float64 // seasonal factors from January on: in July, Stockholm is on holiday
	Rewards []*cafeReward
	Coupons []*cafeCoupon
	Mishaps []string // reasons of adjustments

	Levels     []level.Edit // the first one is everybody's
	Categories []*cafeCategory
	Promotions []cafePromotion

	Issuer billing.Party
	Plan   billing.PlanInput // the one that the café moves to
	Guests []*guest          // who become customers in the year
}

// habit is how a group of guests uses the café.
type habit struct {
	Workday, Weekend float64 // probability of a visit
	Around, Spread   float64 // minutes of the day
	ByApp            float64 // share of the sales by the ordering app
	Orders           string  // keys of the menu: "cp" is a coffee and a pastry
}

// cafeReward is a reward of the café, and how guests use it.
type cafeReward struct {
	reward.New
	Image        string // a file of this package, or ""
	Created, Off int
	Share        int   // percentage of sales at which guests want it
	Takes        int   // days from redemption to fulfilment
	Kept         int64 // of its stock: guests leave these

	made reward.Reward
}

// cafeCoupon is a coupon of the café, and how guests use it.
type cafeCoupon struct {
	coupon.New
	Reward          string // the name of its benefit
	Created, Off    int
	Starts, Expires int
	Keen            float64 // share of its vouchers that guests want to use
	MinSpend        int64   // of a sale with which guests use it, in cents
	Kept            int64   // of its redemptions: guests leave these
	Sends           []struct {
		Day     int
		Monthly bool   // on the first of each month instead
		By      int    // of the team
		To      string // a segment, or one of chosen
	}

	made coupon.Coupon
}

// cafeCategory is a category of what the café sells.
type cafeCategory struct {
	promotion.NewCategory
	Excluded bool // it earns nothing

	made promotion.Category
}

// cafePromotion is a promotion of the café. Its first day follows the evening on which it is created, unless it names one.
type cafePromotion struct {
	award.Promotion
	Categories, Locations []string // names
	Level                 string
	Created, Starts, Ends int
}

// regulars is how many guests, the first ones, come most often.
const regulars = 10

// guest is a customer of the café.
type guest struct {
	First, Last string
	Phone       string // belongs to no one: 070-174 06 05 to 99 are reserved for fiction, and 074-1 is not in use
	Email       *string
	Birthday    time.Month
	Habit       int     // index of habits
	Keen        float64 // their frequency, compared with others of that habit
	HasCard     bool    // collects stamps
	From, Until int     // the days between which they come
	Note        string  // what the staff know
	Tags        []string
	Office      bool // orders for the whole team, too
	Given       *struct {
		Level      string
		Day, Until int // 0: as long as a level lasts
		Reason     string
	}

	id     core.ID // of the customer; zero before they join
	gone   bool    // inactive
	bought time.Time
	// points and stamps without the benefits of vouchers, so that every redemption is affordable
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
