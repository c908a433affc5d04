package panel

import (
	"example.com/loyalty/core/reward"
	"example.com/loyalty/views/ui"
)

// RewardOptions are rewards to choose from.
func RewardOptions(rewards []reward.Choice) (options []ui.Option) {
	for _, r := range rewards {
		label := r.Name
		if !r.Active {
			label += " (inactive)"
		}
		options = append(options, ui.Option{Value: r.ID.String(), Label: label})
	}
	return options
}
