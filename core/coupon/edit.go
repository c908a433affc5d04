package coupon

import (
	"context"
	"errors"
	"reflect"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// Edit describes a change of a coupon: fields that are not set stay as they are. Dates apply to later
// sends: a voucher keeps the expiry it was sent with.
type Edit struct {
	Name             core.Optional[string]
	Description      core.Optional[string] // null clears it
	BenefitType      core.Optional[string] // the benefit can't change after the first send
	BenefitValue     core.Optional[int64]
	BenefitRewardID  core.Optional[core.ID]
	MaxPerCustomer   core.Optional[int64]     // can't be lowered after the first send
	MaxRedemptions   core.Optional[int64]     // null: no limit
	StartsAt         core.Optional[time.Time] // null: at once
	ExpiresAt        core.Optional[time.Time] // null: never
	VoucherValidDays core.Optional[int64]     // null: as long as the coupon
	MinLevelID       core.Optional[int64]     // null: all customers; after the first send, nothing else
	Active           core.Optional[bool]

	Malformed core.Fields // what the front end could not read
}

// read returns the edited coupon, and adds what is wrong with it to the check.
func (e Edit) read(check *core.Check, old Coupon) Coupon {
	most := e.MaxPerCustomer.Or(&old.MaxPerCustomer)
	if most == nil {
		check.Add("max_per_customer", core.Required)
	}
	c := New{
		Name: core.OrZero(e.Name.Or(&old.Name)), Description: core.OrZero(e.Description.Or(old.Description)),
		BenefitType: core.OrZero(e.BenefitType.Or(new(string(old.BenefitType)))), BenefitValue: e.BenefitValue.Or(old.BenefitValue),
		BenefitRewardID: e.BenefitRewardID.Or(old.BenefitRewardID), MaxPerCustomer: most, MaxRedemptions: e.MaxRedemptions.Or(old.MaxRedemptions),
		StartsAt: e.StartsAt.Or(old.StartsAt), ExpiresAt: e.ExpiresAt.Or(old.ExpiresAt), VoucherValidDays: e.VoucherValidDays.Or(old.VoucherValidDays),
		MinLevelID: e.MinLevelID.Or(old.MinLevelID),
	}.read(check)
	if c.MaxRedemptions != nil && *c.MaxRedemptions < old.RedemptionsCount && check.OK("max_redemptions") {
		check.Add("max_redemptions", core.Violation{Rule: "min_redeemed", Limit: old.RedemptionsCount})
	}
	if active := e.Active.Or(&old.Active); active != nil {
		c.Active = *active
	} else {
		check.Add("active", core.Required)
	}
	return c
}

// sentViolations are the violations of an edited coupon if it was sent.
func sentViolations(old, now Coupon) core.Fields {
	fields := core.Fields{}
	if !now.equals(old.Benefit) {
		fields.Add("benefit_type", core.Violation{Rule: "fixed_after_sending"})
	}
	if now.MaxPerCustomer < old.MaxPerCustomer {
		fields.Add("max_per_customer", core.Violation{Rule: "min_sent", Limit: old.MaxPerCustomer})
	}
	if now.MinLevelID != nil && (old.MinLevelID == nil || *old.MinLevelID != *now.MinLevelID) {
		fields.Add("min_level_id", core.Violation{Rule: "fixed_after_sending"})
	}
	return fields
}

// equals compares what the pointers point to.
func (b Benefit) equals(other Benefit) bool { return reflect.DeepEqual(b, other) }

// editable is a coupon that is being edited, and whether it was ever sent.
type editable struct {
	Coupon
	Sent bool
}

// Edit changes the fields that are set. After the first send, the benefit can't change, the limit
// per customer can't be lowered and a level can only be removed, because customers were told.
func (s *Service) Edit(ctx context.Context, by core.Actor, id core.ID, e Edit) (Coupon, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (Coupon, error) {
		// Locked: the audit log must have the values that this edit replaces.
		old, err := db.One[editable](ctx, tx, lockSQL, db.Args{"id": id})
		if err != nil {
			return Coupon{}, err
		}
		check := core.NewCheck(e.Malformed)
		c := e.read(check, old.Coupon)
		ifSent := sentViolations(old.Coupon, c)
		if old.Sent {
			for field, violations := range ifSent {
				check.Add(field, violations[0])
			}
		}
		if !c.equals(old.Benefit) {
			if err := checkReward(ctx, tx, check, c.Benefit); err != nil {
				return Coupon{}, err
			}
		}
		if err := c.checkLevel(ctx, tx, check, old.MinLevelID); err != nil {
			return Coupon{}, err
		}
		if err := check.Err(); err != nil {
			return Coupon{}, err
		}
		edited, err := c.update(ctx, tx, id, ifSent)
		if err != nil {
			return Coupon{}, err
		}
		return edited, audit.Write(tx, by, audit.Entry{
			Action: "coupon.edit", Subject: "coupon", ID: id.String(), Name: edited.Name, Old: old.facts(), New: edited.facts(),
		})
	})
}

// update writes an edited coupon. With violations that hold if it was sent, it writes only a coupon
// that was never sent: its first send may be confirmed at the same time.
func (c Coupon) update(ctx context.Context, tx *db.Tx, id core.ID, ifSent core.Fields) (Coupon, error) {
	args := c.args()
	args["id"], args["active"] = id, c.Active
	if len(ifSent) == 0 {
		return db.One[Coupon](ctx, tx, updateSQL, args)
	}
	if err := db.Queue(tx, keepSendsOutSQL, db.Args{"id": id}); err != nil {
		return Coupon{}, err
	}
	edited, err := db.One[Coupon](ctx, tx, updateUnsentSQL, args)
	if errors.Is(err, core.ErrNotFound) {
		return Coupon{}, core.Invalid(ifSent)
	}
	return edited, err
}
