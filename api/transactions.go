package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/transaction"
)

type transactionResource struct {
	ULID              core.ID            `json:"ulid"`
	RuleType          string             `json:"rule_type"`
	SpendAmountCents  int64              `json:"spend_amount_cents"`
	PointsAwarded     *int64             `json:"points_awarded"`
	StampsAwarded     *int64             `json:"stamps_awarded"`
	Status            transaction.Status `json:"status"`
	VoidedAt          *stamp             `json:"voided_at"`
	CustomerULID      core.ID            `json:"customer_ulid"`
	TransactionTypeID int64              `json:"transaction_type_id"`
	Source            transaction.Source `json:"source"`
	LocationID        *int64             `json:"location_id"`
	ExternalReference *string            `json:"external_reference"`
	OccurredAt        stamp              `json:"occurred_at"`
	Metadata          core.Metadata      `json:"metadata"`
	CreatedAt         stamp              `json:"created_at"`
	PointsExpireOn    *day               `json:"points_expire_on"`
	StampsExpireOn    *day               `json:"stamps_expire_on"`
	RefundedCents     int64              `json:"refunded_cents"`
	PointsRefunded    *int64             `json:"points_refunded"`
	StampsRefunded    *int64             `json:"stamps_refunded"`
	BasePoints        *int64             `json:"base_points"`
	BaseStamps        *int64             `json:"base_stamps"`
	PromotionID       *int64             `json:"promotion_id"`
	PointsCapped      bool               `json:"points_capped"`
	Items             []award.Item       `json:"items"`
}

// newTransactionResource returns a transaction of the caller's business, which may hold what ends.
func newTransactionResource(by core.Actor, t transaction.Transaction) transactionResource {
	r := transactionResource{
		ULID: t.ID, RuleType: string(t.RuleType), SpendAmountCents: t.SpendAmountCents,
		PointsAwarded: t.PointsAwarded, StampsAwarded: t.StampsAwarded,
		Status: t.Status, VoidedAt: optionalStamp(t.VoidedAt), CustomerULID: t.CustomerID,
		TransactionTypeID: t.TransactionTypeID, Source: t.Source, LocationID: t.LocationID,
		ExternalReference: t.ExternalReference, OccurredAt: stamp(t.OccurredAt), Metadata: t.Metadata, CreatedAt: stamp(t.CreatedAt), RefundedCents: t.RefundedCents,
		PromotionID: t.PromotionID, PointsCapped: t.Capped, Items: append([]award.Item{}, t.Items...),
	}
	if r.Metadata == nil {
		r.Metadata = core.Metadata{}
	}
	last, refunded := optionalDay(t.RuleType.Of(by.Tenant).Shown(t.ExpiresOn)), new(t.RefundedAward)
	if t.RuleType == ledger.Stamps {
		r.StampsExpireOn, r.StampsRefunded, r.BaseStamps = last, refunded, &t.BaseAward
	} else {
		r.PointsExpireOn, r.PointsRefunded, r.BasePoints = last, refunded, &t.BaseAward
	}
	return r
}

type refundResource struct {
	ULID              core.ID `json:"ulid"`
	TransactionULID   core.ID `json:"transaction_ulid"`
	AmountCents       int64   `json:"amount_cents"`
	PointsRefunded    *int64  `json:"points_refunded"`
	StampsRefunded    *int64  `json:"stamps_refunded"`
	ExternalReference *string `json:"external_reference"`
	CreatedAt         stamp   `json:"created_at"`
}

func newRefundResource(r transaction.Refund) refundResource {
	return refundResource{
		ULID: r.ID, TransactionULID: r.TransactionID, AmountCents: r.AmountCents, PointsRefunded: r.Points, StampsRefunded: r.Stamps,
		ExternalReference: r.ExternalReference, CreatedAt: stamp(r.CreatedAt),
	}
}

// readSale reads a sale to record. It adds what it can't read to in.
func readSale(in object) transaction.Sale {
	return transaction.Sale{
		CustomerID: in.reference("customer_ulid"), TransactionTypeID: in.number("transaction_type_id"),
		SpendAmountCents: in.number("spend_amount_cents"), ExternalReference: in.text("external_reference"),
		LocationID: in.integer("location_id"), OccurredAt: in.instant("occurred_at"), Metadata: core.OrZero(in.metadata("metadata")),
		Items: in.saleItems("items"), Source: transaction.API,
	}
}

// listTransactions lists sales, the newest first or, to stay in step, in the order of their changes.
func (a *API) listTransactions(c echo.Context) error {
	q, err := parameters(c)
	if err != nil {
		return err
	}
	f := transaction.Filter{
		CustomerID: q.text("customer_ulid"), Status: q.text("status"), ExternalReference: q.text("external_reference"),
		TypeID: q.integer("transaction_type_id"), LocationID: q.integer("location_id"),
		From: q.date("created_from"), To: q.date("created_to"),
	}
	since := q.since()
	p := q.page()
	l, err := a.Changes.Transactions(c.Request().Context(), actor(c), f, since, p)
	if err != nil {
		return err
	}
	return writeList(c, p, l, func(t transaction.Transaction) transactionResource { return newTransactionResource(actor(c), t) })
}

func (a *API) recordTransaction(c echo.Context) error {
	in, err := readBody(c)
	if err != nil {
		return err
	}
	sale := readSale(in)
	return idempotent(c, func(once *core.Once[transaction.Transaction]) (core.Reply[transaction.Transaction], error) {
		return a.Transactions.Record(c.Request().Context(), actor(c), sale, in.unreadable, once)
	}, recordedResource(actor(c)))
}

// recordedResource returns the status and the resource of transactions that were recorded.
func recordedResource(by core.Actor) func(transaction.Transaction) (int, any) {
	return func(t transaction.Transaction) (int, any) { return http.StatusCreated, newTransactionResource(by, t) }
}

type previewResource struct {
	RuleType           string    `json:"rule_type"`
	PointsAwarded      *int64    `json:"points_awarded"`
	StampsAwarded      *int64    `json:"stamps_awarded"`
	PointsExpireOn     *day      `json:"points_expire_on"`
	StampsExpireOn     *day      `json:"stamps_expire_on"`
	PointsBalanceAfter *int64    `json:"points_balance_after"`
	StampsBalanceAfter *int64    `json:"stamps_balance_after"`
	BasePoints         *int64    `json:"base_points"`
	BaseStamps         *int64    `json:"base_stamps"`
	PromotionID        *int64    `json:"promotion_id"`
	PromotionName      *string   `json:"promotion_name"`
	PromotionUntil     *stamp    `json:"promotion_until"`
	PointsCapped       bool      `json:"points_capped"`
	TierReached        *tierName `json:"tier_reached"`
}

// tierName names a level. Clients of the API know levels as tiers.
type tierName struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

func newPreviewResource(by core.Actor, p transaction.Preview) previewResource {
	r := previewResource{RuleType: string(p.Award.Unit), PromotionUntil: optionalStamp(p.PromotionEnd()), PointsCapped: p.Award.CappedBy != award.NoCap}
	last := optionalDay(p.Award.Unit.Of(by.Tenant).Shown(p.ExpiresOn))
	if p.Award.Unit == ledger.Stamps {
		r.StampsAwarded, r.StampsExpireOn, r.BaseStamps = &p.Award.Total, last, &p.Award.Base
	} else {
		r.PointsAwarded, r.PointsExpireOn, r.BasePoints = &p.Award.Total, last, &p.Award.Base
	}
	if promotion := p.Award.Promotion; promotion != nil {
		r.PromotionID, r.PromotionName = &promotion.ID, &promotion.Name
	}
	if p.Rises != nil {
		r.TierReached = &tierName{p.Rises.ID, p.Rises.Name}
	}
	if p.After != nil {
		r.PointsBalanceAfter, r.StampsBalanceAfter = &p.After.Points, &p.After.Stamps
	}
	return r
}

// previewTransaction reads a sale whose customer may be missing.
func (a *API) previewTransaction(c echo.Context) error {
	in, err := readBody(c)
	if err != nil {
		return err
	}
	sale := readSale(in)
	switch {
	case in.raw("customer_ulid") == nil:
		delete(in.unreadable, "customer_ulid")
	case sale.CustomerID == core.ID{} && len(in.unreadable["customer_ulid"]) == 0:
		in.unreadable.Add("customer_ulid", core.InvalidChoice)
	}
	p, err := a.Transactions.Preview(c.Request().Context(), actor(c), sale, in.unreadable)
	if err != nil {
		return err
	}
	return writeData(c, http.StatusOK, newPreviewResource(actor(c), p))
}

func (a *API) findTransaction(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	found, err := a.Transactions.Find(c.Request().Context(), actor(c), id)
	if err != nil {
		return err
	}
	return writeData(c, http.StatusOK, newTransactionResource(actor(c), found))
}

// voidTransaction reads no body. An invalid id is looked up as the zero ID, which doesn't
// exist, because the idempotency key is checked first.
func (a *API) voidTransaction(c echo.Context) error {
	id, _ := pathID(c)
	return idempotent(c, func(once *core.Once[transaction.Transaction]) (core.Reply[transaction.Transaction], error) {
		return a.Transactions.Void(c.Request().Context(), actor(c), id, nil, once)
	}, func(t transaction.Transaction) (int, any) { return http.StatusOK, newTransactionResource(actor(c), t) })
}

// refundTransaction looks up an invalid id as voidTransaction does.
func (a *API) refundTransaction(c echo.Context) error {
	in, err := readBody(c)
	if err != nil {
		return err
	}
	id, _ := pathID(c)
	refund := transaction.RefundRequest{AmountCents: in.number("amount_cents"), ExternalReference: in.text("external_reference")}
	return idempotent(c, func(once *core.Once[transaction.Refund]) (core.Reply[transaction.Refund], error) {
		return a.Transactions.Refund(c.Request().Context(), actor(c), id, refund, in.unreadable, once)
	}, func(r transaction.Refund) (int, any) { return http.StatusCreated, newRefundResource(r) })
}
