package admin_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core/coupon"
	"example.com/loyalty/web/webtest"
)

// The end date of a new coupon must lie in the future; of one that ended, the pages say until when its vouchers are
// valid; one that hasn't started is scheduled.
func TestTheDatesOfACoupon(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	day := func(days int) string {
		return s.DB.Now().In(s.By.Tenant.TimeZone).AddDate(0, 0, days).Format(time.DateOnly)
	}
	create := func(ends string) webtest.Page {
		return s.manager.Post("/admin/coupons/new", webtest.Form("name", "Autumn", "benefit_type", "percent", "percent", "10", "max_per_customer", "1", "expires_at", ends))
	}
	if a := create(day(-1)); a.Code != http.StatusUnprocessableEntity || !strings.Contains(a.Text("#field-expires_at-error"), "Choose a date in the future") {
		t.Errorf("an end in the past = %d %q", a.Code, a.Text("main"))
	}
	if a := create(day(0)); a.Code != http.StatusSeeOther {
		t.Errorf("an end today = %d %q", a.Code, a.Text("main"))
	}

	upcoming := percentOff("Winter", "10")
	upcoming.Set("starts_at", day(3))
	path := s.made(upcoming)
	page := s.manager.Get(path)
	if label := page.Text(".page-header a[href$='/send']"); label != "Schedule send" || strings.Contains(page.Text("main"), "Send vouchers") {
		t.Errorf("the button of a coupon that hasn't started says %q", label)
	}
	if least := s.manager.Get(path+"/send").Attr("input[name=send_date]", "min"); least != day(3) {
		t.Errorf("it can be sent from %s, want %s", least, day(3))
	}

	ended := s.Coupon(coupon.New{Name: "Summer", BenefitType: "percent", BenefitValue: new(int64(10)), ExpiresAt: new(s.DB.Now().AddDate(0, 0, 20))})
	s.Voucher(ended.ID, s.Customer().ID)
	s.Exec("update loyalty.coupon set expires_at = now() - interval '1 day' where id = $1", ended.ID)
	words := s.manager.Get("/admin/coupons/" + ended.ID.String()).Text("main")
	if strings.Contains(words, "Until the coupon's end date") || !strings.Contains(words, "sent vouchers: until ") || !strings.Contains(words, "1, valid until ") {
		t.Errorf("a coupon that has ended says %q", words)
	}
}
