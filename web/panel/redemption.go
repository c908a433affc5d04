package panel

import (
	"example.com/loyalty/core/reward"
	views "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// RewardOptions are rewards to choose from.
func RewardOptions(rewards []reward.Choice) []ui.Option { return views.RewardOptions(rewards) }
