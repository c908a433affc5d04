package api

import (
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/award"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/transaction"
)

type promotionResource struct {
	ID                 int64          `json:"id"`
	Name               string         `json:"name"`
	Unit               ledger.Unit    `json:"unit"`
	Percent            *int64         `json:"percent"`
	Extra              *int64         `json:"extra"`
	TransactionTypeIDs []int64        `json:"transaction_type_ids"` // null: all
	LocationIDs        []int64        `json:"location_ids"`         // null: all
	Categories         []string       `json:"categories"`           // null: the whole sale
	MinSpendCents      int64          `json:"min_spend_cents"`
	StartsOn           day            `json:"starts_on"`
	EndsOn             *day           `json:"ends_on"`
	Windows            []award.Window `json:"windows"`
	OnNow              bool           `json:"on_now"`
	Audience           string         `json:"audience"`
	TierID             *int64         `json:"tier_id"`
	BirthdayDays       *int           `json:"birthday_days"`
	LimitTimes         *int64         `json:"limit_times"`
	LimitPer           *award.Per     `json:"limit_per"`
}

// newPromotionResource returns a promotion. Clients of the API know levels as tiers.
func newPromotionResource(p transaction.CurrentPromotion) promotionResource {
	audience := string(p.Audience)
	if p.Audience == award.AtLevel {
		audience = "tier"
	}
	return promotionResource{
		ID: p.ID, Name: p.Name, Unit: p.Unit, Percent: p.Percent, Extra: p.Extra,
		TransactionTypeIDs: p.TypeIDs, LocationIDs: p.LocationIDs, Categories: p.Codes, MinSpendCents: p.MinSpendCents,
		StartsOn: day(p.StartsOn), EndsOn: optionalDay(p.EndsOn), Windows: append([]award.Window{}, p.Windows...), OnNow: p.OnNow,
		Audience: audience, TierID: p.LevelID, BirthdayDays: p.BirthdayDays, LimitTimes: p.LimitTimes, LimitPer: p.LimitPer,
	}
}

func (a *API) listPromotions(c echo.Context) error {
	q, err := parameters(c)
	if err != nil {
		return err
	}
	p := q.page()
	l, err := a.Transactions.CurrentPromotions(c.Request().Context(), actor(c), p)
	if err != nil {
		return err
	}
	return writeList(c, p, l, newPromotionResource)
}
