package panel

import (
	"example.com/loyalty/core/reward"
	"example.com/loyalty/views/ui"
)

func RewardOptions(names []reward.Choice) (options []ui.Option) {
	for _, n := range names {
		label := n.Name
		if !n.Active {
			label += " (inactive)"
		}
		options = append(options, ui.Option{Value: n.ID.String(), Label: label})
	}
	return options
}
