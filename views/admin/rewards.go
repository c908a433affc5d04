package admin

import "example.com/loyalty/views/ui"

// RewardList is a page of the rewards.
type RewardList struct {
	Frame
	Status   ui.Field
	Rows     []RewardRow
	Pager    ui.Pager
	Problem  *ui.Problem
	Filtered bool
	CanEdit  bool
}

// RewardRow is a line of the list.
type RewardRow struct {
	Path, Name  string
	Description string
	Cost        string
	Stock       Stock
	Pending     string
	PendingPath string // to the redemptions that wait; "" where none do
	Redeemed    string
	Active      bool
}

// Stock is how many pieces are left, in words.
type Stock struct {
	Text    string
	Warning *ui.Badge // nil: there are enough
}

// RewardForm makes a reward, or changes one.
type RewardForm struct {
	Frame
	Action      string
	Button      string
	Cancel      string
	FormKey     string
	Began       string
	Problem     *ui.Problem
	Name        ui.Field
	Description ui.Field
	Unit        ui.Field // points or stamps
	Points      ui.Field
	Stamps      ui.Field
	Stock       *ui.Field // of one to be; nil: it has a form of its own
}

// RewardDetail is all there is to know of a reward.
type RewardDetail struct {
	Frame
	Path        string
	Name        string
	Description string
	Cost        string
	Active      bool
	Facts       []ui.Pair
	Stock       StockCard
	Latest      []RedemptionRow
	AllPath     string // of its redemptions
	CanEdit     bool
}

// StockCard shows a stock, and corrects it.
type StockCard struct {
	Stock
	Counted bool // it has an end
	CanEdit bool
	Path    string // of the reward
	FormKey string
	Seen    string // the stock that is shown
	Change  ui.Field
	Count   ui.Field
	Done    string // what was changed just now
	Problem *ui.Problem
}
