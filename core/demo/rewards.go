package demo

import (
	"time"

	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
)

// What the café gives for points and stamps.
const (
	tenthCoffee = iota
	coffeeForTwo
	cinnamonBun
	lunchOfTheDay
	bagOfBeans
	mug
	wholeCake
	waffle
)

// The waffle was withdrawn, and of the mugs there were too few.
var rewards = []struct {
	reward.New
	since     int // days before the end; 0: since the opening
	withdrawn int // days before the end; 0: it is on offer
	share     int // of a hundred who save in its unit
	takes     int // days until it can be handed over; 0: it is handed over at once
}{
	tenthCoffee: {share: 88, New: reward.New{
		Name: new("The tenth coffee"), StampsCost: new(int64(9)),
		Description: new("Nine stamps, and the tenth coffee is on us. Any size, any milk."),
	}},
	coffeeForTwo: {share: 12, New: reward.New{
		Name: new("Coffee for two"), StampsCost: new(int64(16)),
		Description: new("For you and somebody you like."),
	}},
	cinnamonBun: {share: 42, New: reward.New{
		Name: new("Cinnamon bun"), PointsCost: new(int64(75)),
		Description: new("Straight from the oven, if you come before nine."),
	}},
	lunchOfTheDay: {share: 20, New: reward.New{
		Name: new("Lunch of the day"), PointsCost: new(int64(160)),
		Description: new("Soup, quiche or a salad bowl, with bread and coffee."),
	}},
	bagOfBeans: {share: 6, New: reward.New{
		Name: new("Bag of beans"), PointsCost: new(int64(180)), Stock: new(int64(40)),
		Description: new("250 grams of our house roast, ground for you if you like."),
	}},
	mug: {share: 20, since: 84, takes: 7, New: reward.New{
		Name: new("Åro mug"), PointsCost: new(int64(120)), Stock: new(int64(6)),
		Description: new("Thrown by the potter next door, with your name on it. Ready within a week."),
	}},
	wholeCake: {share: 4, takes: 2, New: reward.New{
		Name: new("A whole carrot cake"), PointsCost: new(int64(280)),
		Description: new("Serves eight. We bake it for the day after tomorrow."),
	}},
	waffle: {share: 8, withdrawn: 34, New: reward.New{
		Name: new("Waffle with jam and cream"), PointsCost: new(int64(50)),
		Description: new("Crisp at the edges, with cloudberry jam. The iron is older than the café."),
	}},
}

// price is the cost of a reward and its unit.
func price(of int) (ledger.Unit, int64) {
	if cost := rewards[of].StampsCost; cost != nil {
		return ledger.Stamps, *cost
	}
	return ledger.Points, *rewards[of].PointsCost
}

// onOffer is from when to when guests can ask for a reward.
func (s *story) onOffer(reward int) (from, to time.Time) {
	from, to = s.opened.Add(time.Duration(reward)*time.Minute), s.until
	if days := rewards[reward].since; days > 0 {
		from = s.ago(days, forenoon)
	}
	if days := rewards[reward].withdrawn; days > 0 {
		to = s.ago(days, evening)
	}
	return from, to
}
