package demo

import (
	"image/color"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/transaction"
)

// The café's data. Days count back from the day on which the demo is made.

const (
	daysOpen   = 365
	opens      = 7*60 + 30  // minutes of the day
	lastOrders = 17*60 + 45 // leaves time for corrections until 18:00
	forenoon   = 10*60 + 20 // when the owner creates rewards and coupons
	evening    = 18*60 + 40 // when coupons are sent
)

// The people of the café, as indexes of team. The ordering app is a former integration with sales and no token.
const (
	owner = iota
	manager
	firstCashier
	secondCashier
	orderingApp
)

var team = []staff.New{
	owner:         {Role: core.Owner, Name: "Maja Sund", Email: "maja@cafearo.example"},
	manager:       {Role: core.Manager, Name: "Emre Aydın", Email: "emre@cafearo.example"},
	firstCashier:  {Role: core.Cashier, Name: "Linnea Holm", Email: "linnea@cafearo.example"},
	secondCashier: {Role: core.Cashier, Name: "Yusuf Rahimi", Email: "yusuf@cafearo.example"},
}

// locations maps each cashier to their location.
var locations = map[int]string{firstCashier: "Södermalm", secondCashier: "Vasastan"}

// The transaction types, as indexes of types.
const (
	purchase = iota
	coffeeCard
	openingWeeks
)

var types = []transaction.NewType{
	purchase:     {Name: "Purchase", RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 1, UnitCents: 100}},
	coffeeCard:   {Name: "Coffee card", RuleType: ledger.Stamps, Rule: transaction.Rule{StampsPerTransaction: 1}},
	openingWeeks: {Name: "Opening weeks", RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 2, UnitCents: 100, MinSpendCents: 500}},
}

// openingWeeksEnd is when the type of that name was deactivated.
const openingWeeksEnd = daysOpen - 30

// menu lists the prices of coffees, drinks, pastries and lunches in cents, frequent ones repeatedly.
var menu = map[rune][]int64{
	'c': {320, 320, 320, 350, 390, 420, 420, 420, 440, 440, 450, 450, 480, 480},
	'd': {350, 420, 460, 380},
	'p': {390, 390, 390, 390, 390, 350, 320, 520, 520, 590},
	'l': {790, 790, 890, 990, 990, 1190, 1190, 1250, 1290},
}

// habit is how a group of guests uses the café.
type habit struct {
	share            int      // percentage of the guests
	workday, weekend float64  // probability of a visit
	around, spread   float64  // minutes of the day
	byApp            float64  // share of the sales by the ordering app
	orders           []string // keys of menu: "cp" is a coffee and a pastry
}

var habits = []habit{
	{3, .5, .06, 8*60 + 15, 32, .2, strings.Fields("cp cp cp d cc c c c c c")},
	{7, .24, .04, 12*60 + 5, 38, .3, strings.Fields("ll lc lc lc ld ld lcp c l l")},
	{14, .09, .17, 14*60 + 20, 95, .02, strings.Fields("cp cp cp cp ccpp ccpp ccpp cddppp dp c")},
	{33, .05, .045, 11*60 + 30, 170, .05, strings.Fields("cp cp c c d lc ld l l ccpp")},
	{43, .008, .014, 13 * 60, 120, 0, strings.Fields("cp c lc ccpp")},
}

// months are seasonal factors from January on: in July, Stockholm is on holiday.
var months = []float64{.9, .95, 1, 1, 1.05, .95, .65, .85, 1.05, 1.05, 1.1, 1.15}

// cafeReward is a reward of the café, and how guests use it.
type cafeReward struct {
	name, description     string
	points, stamps, stock int64 // 0: no cost in this unit, unlimited stock
	cost                  int64 // in cents, of a unit
	picture               func(distance, angle float64) color.RGBA
	since                 int // days; 0: since the opening
	withdrawn             int // days; 0: active
	share                 int // percentage of sales at which guests want it
	takes                 int // days from redemption to fulfilment

	reward.Reward           // when it is created
	from, to      time.Time // when guests can redeem it
	left          int64     // of its stock, if that is limited
}

const (
	bunReward  = 2
	beanReward = 4
)

// The mugs run out, and a few bags of beans are left.
var rewards = []cafeReward{
	{name: "The tenth coffee", picture: coffee, cost: 60, stamps: 9, share: 11, description: "Nine stamps, and the tenth coffee is on us. Any size, any milk."},
	{name: "Coffee for two", cost: 120, stamps: 13, share: 16, description: "For you and a friend."},
	{name: "Cinnamon bun", picture: cinnamonBun, cost: 90, points: 75, share: 8, description: "Straight from the oven, if you come before nine."},
	{name: "Lunch of the day", cost: 310, points: 150, share: 9, description: "Soup, quiche or a salad bowl, with bread and coffee."},
	{name: "Bag of beans", cost: 420, points: 160, stock: 60, share: 8, description: "250 grams of our house roast, ground for you if you like."},
	{name: "Åro mug", cost: 650, points: 120, stock: 6, since: 120, takes: 7, share: 12, description: "Thrown by the potter next door. Ready within a week."},
	{name: "A whole carrot cake", cost: 1150, points: 190, takes: 2, share: 16, description: "Serves eight. We bake it for the day after tomorrow."},
	{name: "Waffle with jam and cream", cost: 130, points: 50, withdrawn: 34, share: 4, description: "With cloudberry jam. The iron is older than the café."},
}

// The coupons, as indexes of coupons.
const (
	missedYou = iota
	birthday
	seasonBun
	cheaperLunch
	threeStamps
	earlyBirds
)

// cafeCoupon is a coupon of the café, and how guests use it.
type cafeCoupon struct {
	name, description string
	benefit           coupon.BenefitType
	value             int64   // 0 for a reward
	validDays         int64   // of its vouchers; 0: until the coupon's end
	created, off      int     // days; off is when it was deactivated, 0: active
	starts, expires   int     // days; 0: at once, never
	keen              float64 // share of its vouchers that guests want to use
	minSpend          int64   // of a sale with which guests use it, in cents

	id       core.ID // when it is created
	redeemed int64   // vouchers
}

var coupons = []cafeCoupon{
	missedYou: {
		name: "We have missed you", description: "It has been a while. Forty points are waiting for you, and so is the coffee.",
		benefit: coupon.Points, value: 40, validDays: 30, created: 200, keen: .7,
	},
	birthday: {
		name: "Happy birthday", description: "Twenty percent off, on any day of your birthday month. Bring your friends.",
		benefit: coupon.Percent, value: 20, validDays: 30, created: daysOpen, keen: .55,
	},
	seasonBun: {
		name: "A bun for the season", description: "A new season, a warm cinnamon bun. This one is on us.",
		benefit: coupon.Reward, validDays: 45, created: 35, keen: .42,
	},
	cheaperLunch: {
		name: "Two euros off lunch", description: "Thank you for being with us for so long. Stay for lunch and pay two euros less.",
		benefit: coupon.Amount, value: 200, created: 64, expires: 27, keen: .45, minSpend: 790,
	},
	threeStamps: {
		name: "Three stamps for your card", description: "Three stamps at once, to get your coffee card going.",
		benefit: coupon.Stamps, value: 3, validDays: 60, created: 25, off: 18, keen: .3,
	},
	earlyBirds: {
		name: "Early birds", description: "Before eight, coffee is half the price.",
		benefit: coupon.Percent, value: 50, created: 2, starts: -10, expires: -40,
	},
}

// send is a coupon sent on the evening of a day.
type send struct {
	day     int
	by      int // of team
	coupon  int // of coupons
	segment coupon.Segment
}

// sends lists all sends but the birthday coupons, which are sent on the first of each month.
var sends = []send{
	{190, owner, missedYou, coupon.Manual},
	{118, owner, missedYou, coupon.Manual},
	{62, manager, cheaperLunch, coupon.LongStanding},
	{48, owner, missedYou, coupon.Manual},
	{33, owner, seasonBun, coupon.All},
	{24, manager, threeStamps, coupon.RecentPurchase},
	{15, owner, missedYou, coupon.Manual},
	{6, manager, seasonBun, coupon.RecentPurchase}, // for new customers
}

// guestCount is how many people become customers in the year.
const guestCount = 260

// regulars are the first and most frequent guests.
var regulars = []string{
	"Anna Lindqvist", "Bilal Haddad", "Chiara Romano", "David Okafor", "Elif Yılmaz",
	"Frode Nilsen", "Grace Mbeki", "Hugo Martín", "Ines Duarte", "Jonas Weber",
}

// daysDescribed is how many days before the last the manager writes down who the regulars are.
const daysDescribed = 40

// acquaintance is what the staff know about the regulars, in their order.
var acquaintance = []struct {
	note string
	tags []string
}{
	{"Allergic to hazelnuts. Likes the table by the window on Sundays.", []string{"Oat milk"}},
	{"", []string{"Decaf"}},
	{"Works next door: orders for the whole team on Fridays.", []string{"Office"}},
	{"", nil},
	{"", []string{"Oat milk", "Office"}},
	{"Brings his own cup.", nil},
	{"", nil},
	{"", []string{"Decaf"}},
}

// origin is a set of names that go together, and the percentage of guests who have them.
type origin struct {
	share       int
	first, last []string
}

var origins = []origin{
	{
		60,
		strings.Fields(`Alice Alma Anders Astrid Axel Birgitta Björn Charlotte Elsa Emil Erik Eva Filip Frida George Gustav Hanna Ingrid Johan
			Karin Klara Lars Lena Ludvig Malin Mats Moa Nils Olle Oskar Per Saga Signe Sofia Sven Thomas Tove Viktor Wilma Åsa Örjan`),
		strings.Fields(`Ahlström Andersson Ashworth Berg Bergman Blom Carter Dahl Ek Ekström Engström Eriksson Fors Gustafsson Hallberg
			Hedlund Holm Håkansson Isaksson Karlsson Larsson Lind Ljung Malm Nilsson Norberg Nyström Palmer Persson Sjöberg Öberg`),
	}, {
		27,
		strings.Fields("Abdi Ahmad Amal Asha Ayşe Burak Defne Dina Farah Gül Hassan Huda Karim Kemal Layla Mariam Nour Omar Rania Selin Umut Yasmin"),
		strings.Fields("Aksoy Arslan Aziz Çelik Demir Farouk Güneş Hamdan Hersi Kaya Khalil Mansour Nasser Nur Öztürk Rahman Saleh Şahin"),
	}, {
		13,
		strings.Fields("Agnieszka Arjun Camille Chen Élodie Giulia Jakub Javier Julien Lorenzo Lucía Łukasz Marta Mei Pablo Priya Wei Zofia"),
		strings.Fields("Bianchi Dubois García Kapoor Kowalczyk Lefèvre Li Moreau Muñoz Nowak Patel Ricci Wang Wiśniewski"),
	},
}

// mishaps are reasons of adjustments.
var mishaps = []string{"Waited too long for lunch", "Spilled coffee, our fault", "Points of a receipt from before joining"}

// plainLetters replaces the letters of a name for an e-mail address.
var plainLetters = strings.NewReplacer("å", "a", "ä", "a", "ö", "o", "é", "e", "è", "e", "í", "i", "ı", "i", "i̇", "i", "ç", "c", "ğ", "g",
	"ş", "s", "ü", "u", "ú", "u", "ó", "o", "ñ", "n", "ł", "l", "ą", "a", "ś", "s", "ń", "n", " ", ".")
