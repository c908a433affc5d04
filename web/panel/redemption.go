package panel

import (
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/panel"
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

var redemptionStatus = map[reward.Status]ui.Badge{
	reward.Pending: {Label: "Pending", Tone: ui.Notice}, reward.Fulfilled: {Label: "Fulfilled", Tone: ui.Good}, reward.Voided: {Label: "Voided", Tone: ui.Bad},
}

func (b *Business) RedemptionRow(by core.Actor, n reward.NamedRedemption) views.RedemptionRow {
	now, zone := b.Now(), by.Tenant.TimeZone
	row := views.RedemptionRow{
		Path: links.Redemption(n.ID), Reward: n.RewardName, Cost: format.PaidWith(n),
		Customer: format.StoredName(n.CustomerName), CustomerPath: links.Customer(n.CustomerID),
		When: format.Moment(n.CreatedAt, now, zone), By: by.NameOf(n.ActorKind, n.ActorName), Status: redemptionStatus[n.Status],
	}
	switch n.Status {
	case reward.Fulfilled:
		row.Ended = format.Moment(*n.FulfilledAt, now, zone)
	case reward.Voided:
		row.Ended = format.Moment(*n.VoidedAt, now, zone)
	case reward.Pending:
		row.FulfilPath, row.Ago = row.Path+"/fulfil", waitingTime(n.CreatedAt, now, zone)
	}
	if by.Role.Includes(core.Manager) && Voidable(n.Redemption, now) {
		row.VoidPath = row.Path + "/void"
	}
	return row
}

// Voidable reports whether a manager may void a redemption.
func Voidable(r reward.Redemption, now time.Time) bool {
	return r.Status == reward.Pending || r.Status == reward.Fulfilled && now.Sub(*r.FulfilledAt) < reward.VoidableAfterFulfilment
}

// waitingTime is how long ago a redemption was made, in days from a week on.
func waitingTime(since, now time.Time, zone *time.Location) string {
	if days := int64(now.Sub(since) / (24 * time.Hour)); days >= 7 {
		return format.Count(days, "day", "days") + " ago"
	}
	return format.Ago(since, now, zone)
}
