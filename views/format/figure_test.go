package format

import "testing"

// "A fall of points redeemed is no fault": only figures of which an owner wants more are good or bad news.
func TestChangeOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		figure    Figure
		now, then int64
		want      Change
	}{
		{Spend, 125, 100, Change{"+25.0%", Up, GoodNews}},
		{Spend, 75, 100, Change{"−25.0%", Down, BadNews}},
		{Spend, 100_000, 100_001, Change{"0%", Level, NoNews}},
		{Spend, 1_200, 100, Change{"12×", Up, GoodNews}},
		{Spend, 100, 0, Change{"", Level, NoNews}},
		{ActiveCustomers, 1, 2, Change{"−50.0%", Down, BadNews}},
		{PointsRedeemed, 73, 100, Change{"−27.0%", Down, NoNews}},
		{PointsIssued, 200, 100, Change{"+100.0%", Up, NoNews}},
		{Redemptions, 1, 2, Change{"−50.0%", Down, NoNews}},
		{VouchersRedeemed, 2, 1, Change{"+100.0%", Up, NoNews}},
		{VoidedSales, 2, 1, Change{"+100.0%", Up, NoNews}},
		{"Not among these", 2, 1, Change{"+100.0%", Up, NoNews}},
	} {
		if got := ChangeOf(c.figure, c.now, c.then); got != c.want {
			t.Errorf("%s from %d to %d = %+v, want %+v", c.figure, c.then, c.now, got, c.want)
		}
	}
}

func TestChangeOfRate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		figure                     Figure
		of, whole, then, wholeThen int64
		want                       Change
	}{
		{VoidRate, 3, 100, 1, 100, Change{"was 1.0%", Up, BadNews}},
		{VoidRate, 1, 100, 30, 1_000, Change{"was 3.0%", Down, GoodNews}},
		{VoidRate, 2, 100, 1, 100, Change{"was 1.0%", Up, BadNews}},
		{VoidRate, 19, 1_000, 1, 100, Change{"was 1.0%", Level, NoNews}},
		{VoidRate, 1, 1_000, 1, 100, Change{"was 1.0%", Level, NoNews}},
		{"Not among these", 3, 100, 1, 100, Change{"was 1.0%", Up, NoNews}},
	} {
		if got := ChangeOfRate(c.figure, c.of, c.whole, c.then, c.wholeThen); got != c.want {
			t.Errorf("%s from %d of %d to %d of %d = %+v, want %+v", c.figure, c.then, c.wholeThen, c.of, c.whole, got, c.want)
		}
	}
}
