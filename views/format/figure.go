package format

// Figure is a figure of a business, by its name on pages.
type Figure string

// The figures that are compared with an earlier period.
const (
	ActiveCustomers  Figure = "Active customers"
	AverageSale      Figure = "Average sale"
	CustomersNew     Figure = "New customers"
	NetSpend         Figure = "Spend after refunds"
	PointsExpired    Figure = "Points expired"
	PointsIssued     Figure = "Points issued"
	PointsRedeemed   Figure = "Points redeemed"
	PointsRefunded   Figure = "Points refunded"
	PointsReversed   Figure = "Points reversed"
	Redemptions      Figure = "Redemptions"
	Refunds          Figure = "Refunds"
	SalesCount       Figure = "Sales"
	Spend            Figure = "Tracked spend"
	StampsIssued     Figure = "Stamps issued"
	VoidRate         Figure = "Void rate"
	VoidedSales      Figure = "Voided sales"
	VouchersRedeemed Figure = "Vouchers redeemed"
)

// wanted says of which figures an owner wants more or less. A change of any other one is neither good nor bad: points that
// customers spend are what the programme is for and a cost, and a void corrects a mistake. That a larger share of sales is
// voided is worth a look.
var wanted = map[Figure]map[Trend]News{
	ActiveCustomers: more, AverageSale: more, CustomersNew: more, NetSpend: more, SalesCount: more, Spend: more, VoidRate: less,
}

var (
	more = map[Trend]News{Up: GoodNews, Down: BadNews}
	less = map[Trend]News{Up: BadNews, Down: GoodNews}
)

// Change is how a figure has changed since an earlier period.
type Change struct {
	Words string // "+6.4%"; "" if there is nothing to compare with
	Trend Trend
	News  News
}

// Trend is the direction of a change.
type Trend string

// The directions.
const (
	Up    Trend = "up"
	Down  Trend = "down"
	Level Trend = "level"
)

// News is what a change means for the business.
type News string

// The kinds of news.
const (
	GoodNews News = "good"
	BadNews  News = "bad"
	NoNews   News = "" // neither
)

// ChangeOf compares a figure with what it was.
func ChangeOf(f Figure, now, then int64) Change {
	c := Change{Trend: Level}
	c.Words, c.Trend = relativeChange(now, then)
	c.News = wanted[f][c.Trend]
	return c
}

// aPoint is by how much a rate changes at least before that is news: one percentage point.
const aPoint = 0.01

// ChangeOfRate compares a rate with what it was: "was 1.5%".
func ChangeOfRate(f Figure, of, whole, ofThen, wholeThen int64) Change {
	c := Change{Words: "was " + Percent(ofThen, wholeThen), Trend: Level}
	switch by := float64(of)/float64(whole) - float64(ofThen)/float64(wholeThen); {
	case by >= aPoint:
		c.Trend = Up
	case by <= -aPoint:
		c.Trend = Down
	}
	c.News = wanted[f][c.Trend]
	return c
}

// relativeChange is "+12.5%" or, from a tenfold increase, "12×", because larger percentages are hard to read. It is ""
// if there is nothing to compare with.
func relativeChange(now, then int64) (string, Trend) {
	switch {
	case then <= 0:
		return "", Level
	case Percent(max(now, then)-min(now, then), then) == Percent(0, then):
		return "0%", Level
	case now/10 >= then:
		return Number(now/then) + "×", Up
	case now > then:
		return "+" + Percent(now-then, then), Up
	}
	return "−" + Percent(then-now, then), Down
}
