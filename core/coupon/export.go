package coupon

import (
	"cmp"
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// ExportVouchers passes the vouchers of a coupon to each, one by one, send after send, the latest first; with
// a send only its vouchers. It fails with core.ErrNotFound for an unknown coupon, and for a send of another
// one. An error of each ends it. The audit log has the number of vouchers, also of an export that broke off.
func (s *Service) ExportVouchers(ctx context.Context, by core.Actor, coupon core.ID, send *core.ID, each func(SentVoucher) error) error {
	if err := by.Require(core.Manager); err != nil {
		return err
	}
	of, err := s.Find(ctx, by, coupon)
	if err != nil {
		return err
	}
	newest := core.Cursor{ID: core.FirstID(s.db.Now().Add(time.Millisecond))}
	vouchers := func(send core.ID) (int64, error) {
		list := func(p core.Page) (core.List[SentVoucher], error) { return s.ListSent(ctx, by, send, p) }
		return db.Each(newest, list, each)
	}
	facts := map[string]any{}
	var count int64
	if send != nil {
		facts["send"] = send.String()
		one, err := s.FindSend(ctx, by, *send)
		if err != nil {
			return err
		}
		if one.CouponID != coupon {
			return core.ErrNotFound
		}
		count, err = vouchers(*send)
		return cmp.Or(err, s.logExport(context.WithoutCancel(ctx), by, of.Coupon, facts, count, err == nil))
	}
	sends := func(p core.Page) (core.List[SendDetail], error) { return s.ListSends(ctx, by, coupon, p) }
	_, err = db.Each(newest, sends, func(sent SendDetail) error {
		if sent.Sent == 0 {
			return nil
		}
		passed, err := vouchers(sent.ID)
		count += passed
		return err
	})
	return cmp.Or(err, s.logExport(context.WithoutCancel(ctx), by, of.Coupon, facts, count, err == nil))
}

func (s *Service) logExport(ctx context.Context, by core.Actor, of Coupon, facts map[string]any, count int64, complete bool) error {
	return db.Run(ctx, s.db.Tenant(by), func(tx *db.Tx) error {
		return audit.Write(tx, by, audit.Entry{
			Action: "coupon.export", Subject: "coupon", ID: of.ID.String(), Name: of.Name,
			New: map[string]any{"filter": facts, "count": count, "complete": complete},
		})
	})
}
