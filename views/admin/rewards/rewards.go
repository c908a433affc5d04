package rewards

import (
	"example.com/loyalty/core/level"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// RewardList is a page of the rewards.
type RewardList struct {
	panel.Frame
	Filter   ui.Form
	Filtered bool
	List     []reward.WithCounts
	Pager    ui.Pager
}

// RewardForm creates or edits a reward.
type RewardForm struct {
	panel.Frame
	Form    ui.Form
	FormKey string
	Old     *reward.Reward // nil: a new one
	Levels  level.Setup
}

// level is the field for the lowest level.
func (v RewardForm) level() ui.Field {
	var chosen *int64
	if v.Old != nil {
		chosen = v.Old.MinLevelID
	}
	return panel.LevelField(v.Form, v.Levels, chosen)
}

// RewardDetail is the page of a reward.
type RewardDetail struct {
	panel.Frame
	Reward  reward.WithCounts
	Stock   StockCard
	Latest  []reward.NamedRedemption
	Warning string // what has become of the level that it asks for; "": customers can rise to it
}

// StockCard shows the stock of a reward and corrects it.
type StockCard struct {
	Reward  reward.Reward
	CanEdit bool
	Form    ui.Form
	FormKey string
	Done    string // the correction that was just made
}
