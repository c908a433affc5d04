package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/reward"
)

type rewardResource struct {
	ULID        core.ID `json:"ulid"`
	Name        string  `json:"name"`
	Description *string `json:"description"`
	PointsCost  *int64  `json:"points_cost"`
	StampsCost  *int64  `json:"stamps_cost"`
	Stock       *int64  `json:"stock"` // null: unlimited
	ValueCents  *int64  `json:"value_cents"`
	Active      bool    `json:"active"`
	CreatedAt   stamp   `json:"created_at"`

	MinTierID      *int64 `json:"min_tier_id"`      // null: all customers
	MaxPerCustomer *int64 `json:"max_per_customer"` // null: no limit
	StartsOn       *day   `json:"starts_on"`
	EndsOn         *day   `json:"ends_on"`
}

func newRewardResource(r reward.Reward) rewardResource {
	return rewardResource{
		ULID: r.ID, Name: r.Name, Description: r.Description, PointsCost: r.PointsCost, StampsCost: r.StampsCost,
		Stock: r.Stock, ValueCents: r.ValueCents, Active: r.Active, CreatedAt: stamp(r.CreatedAt),
		MinTierID: r.MinLevelID, MaxPerCustomer: r.MaxPerCustomer, StartsOn: optionalDay(r.StartsOn), EndsOn: optionalDay(r.EndsOn),
	}
}

func (a *API) listRewards(c echo.Context) error {
	q, err := parameters(c)
	if err != nil {
		return err
	}
	p := q.page()
	l, err := a.Rewards.ListActive(c.Request().Context(), actor(c), p)
	if err != nil {
		return err
	}
	return writeList(c, p, l, newRewardResource)
}

func (a *API) findReward(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	found, err := a.Rewards.FindReward(c.Request().Context(), actor(c), id)
	if err != nil {
		return err
	}
	return writeData(c, http.StatusOK, newRewardResource(found))
}

type redemptionResource struct {
	ULID             core.ID       `json:"ulid"`
	Status           reward.Status `json:"status"`
	CustomerULID     core.ID       `json:"customer_ulid"`
	RewardULID       core.ID       `json:"reward_ulid"`
	RewardValueCents *int64        `json:"reward_value_cents"`
	PointsSpent      int64         `json:"points_spent"`
	StampsSpent      int64         `json:"stamps_spent"`
	CreatedAt        stamp         `json:"created_at"`
	FulfilledAt      *stamp        `json:"fulfilled_at"`
	VoidedAt         *stamp        `json:"voided_at"`
}

func newRedemptionResource(r reward.Redemption) redemptionResource {
	return redemptionResource{
		ULID: r.ID, Status: r.Status, CustomerULID: r.CustomerID, RewardULID: r.RewardID, RewardValueCents: r.RewardValueCents,
		PointsSpent: r.PointsSpent, StampsSpent: r.StampsSpent, CreatedAt: stamp(r.CreatedAt),
		FulfilledAt: optionalStamp(r.FulfilledAt), VoidedAt: optionalStamp(r.VoidedAt),
	}
}

func (a *API) listRedemptions(c echo.Context) error {
	q, err := parameters(c)
	if err != nil {
		return err
	}
	f := reward.RedemptionFilter{Status: q.text("status"), CustomerID: q.text("customer_ulid")}
	since := q.since()
	p := q.page()
	l, err := a.Changes.Redemptions(c.Request().Context(), actor(c), f, since, p)
	if err != nil {
		return err
	}
	return writeList(c, p, l, func(r reward.NamedRedemption) redemptionResource { return newRedemptionResource(r.Redemption) })
}

func (a *API) redeem(c echo.Context) error {
	in, err := readBody(c)
	if err != nil {
		return err
	}
	o := reward.RedeemRequest{CustomerID: in.reference("customer_ulid"), RewardID: in.reference("reward_ulid")}
	return idempotent(c, func(once *core.Once[reward.Redemption]) (core.Reply[reward.Redemption], error) {
		return a.Rewards.Redeem(c.Request().Context(), actor(c), o, in.unreadable, once)
	}, func(r reward.Redemption) (int, any) { return http.StatusCreated, newRedemptionResource(r) })
}

func (a *API) findRedemption(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	found, err := a.Rewards.FindRedemption(c.Request().Context(), actor(c), id)
	if err != nil {
		return err
	}
	return writeData(c, http.StatusOK, newRedemptionResource(found))
}

// fulfilRedemption reads no body. An invalid id is looked up as the zero ID, which doesn't
// exist, because the idempotency key is checked first.
func (a *API) fulfilRedemption(c echo.Context) error {
	id, _ := pathID(c)
	return idempotent(c, func(once *core.Once[reward.Redemption]) (core.Reply[reward.Redemption], error) {
		return a.Rewards.Fulfil(c.Request().Context(), actor(c), id, once)
	}, func(r reward.Redemption) (int, any) { return http.StatusOK, newRedemptionResource(r) })
}

// voidRedemption reads no body, and looks up an invalid id as fulfilRedemption does.
func (a *API) voidRedemption(c echo.Context) error {
	id, _ := pathID(c)
	return idempotent(c, func(once *core.Once[reward.Redemption]) (core.Reply[reward.Redemption], error) {
		return a.Rewards.VoidOnce(c.Request().Context(), actor(c), id, once)
	}, func(r reward.Redemption) (int, any) { return http.StatusOK, newRedemptionResource(r) })
}
