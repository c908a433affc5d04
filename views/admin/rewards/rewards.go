package rewards

import (
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// RewardList is a page of the rewards.
type RewardList struct {
	panel.Frame
	Status   ui.Field
	Rows     []RewardRow
	Pager    ui.Pager
	Problem  *ui.Problem
	Filtered bool
	CanEdit  bool
}

// RewardRow is a reward in words.
type RewardRow struct {
	Path, Name, Description string
	Picture                 string // its address; "" for none
	Cost                    string
	Stock                   Stock
	Pending                 string
	PendingPath             string // to the pending redemptions; "" for none
	Redeemed                string
	Active                  bool
}

// Stock is how many units are left, in words.
type Stock struct {
	Text    string
	Warning *ui.Badge // nil: there are enough
}

// RewardForm creates or edits a reward.
type RewardForm struct {
	panel.Frame
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
	Stock       *ui.Field // nil for an existing reward: StockForms changes its stock
	UnitCost    ui.Field  // what it costs the business
	Picture     ui.Field
	PicturePath string   // "" for none
	Remove      ui.Field // removes the picture
}

// column is the width of a field about numbers: a new reward has three of them.
func (v RewardForm) column() string {
	if v.Stock != nil {
		return "col-sm-4"
	}
	return "col-sm-6"
}

// RewardDetail is the page of a reward.
type RewardDetail struct {
	panel.Frame
	Reward  RewardRow
	Facts   []ui.Pair
	Stock   StockCard
	Latest  []panel.RedemptionRow
	AllPath string // to all of its redemptions
	CanEdit bool
}

// StockCard shows a stock and corrects it.
type StockCard struct {
	Stock
	Counted bool // not unlimited
	CanEdit bool
	Path    string // of the reward
	FormKey string
	Seen    string   // the stock that is shown
	How     ui.Field // add, remove, set or unlimited
	Units   ui.Field
	Done    string // the correction that was just made
	Problem *ui.Problem
}
