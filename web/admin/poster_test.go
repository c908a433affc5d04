package admin_test

import (
	"slices"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/reward"
)

// "`/join` with a printable QR poster from the panel"; "The poster is A4 and A5".
func TestPoster(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	manager := s.signedIn(core.Manager)
	nothing := manager.Get("/admin/poster")
	if nothing.Text(".poster h2") == "" || nothing.Find(".poster-offer").Length() != 0 {
		t.Errorf("without a rule it offers %q", nothing.Text(".poster-offer"))
	}
	s.Points(100)
	s.Stamps()
	for _, n := range []reward.New{
		{Name: "Bun", PointsCost: new(int64(200))},
		{Name: "Filter coffee", PointsCost: new(int64(80))},
		{Name: "Sold out", PointsCost: new(int64(10)), Stock: new(int64(0))},
		{Name: "Of stamps", StampsCost: new(int64(1))},
	} {
		s.AddReward(n)
	}
	poster := manager.Get("/admin/poster")
	if got := poster.Text(".poster-head"); !strings.Contains(got, "1 point ") || !strings.Contains(got, "€ 1.00") || !strings.Contains(got, "Filter coffee") || !strings.Contains(got, "80 points") {
		t.Errorf("the poster says %q", got)
	}
	address := strings.TrimPrefix(s.origin(), "https://") + "/join"
	if got := poster.Text(".poster-address"); got != address {
		t.Errorf("it leads to %q, want %q", got, address)
	}
	if poster.Find(".poster-a4 .qr").Length() != 1 || poster.Find("[data-print]").Length() != 1 {
		t.Error("it has no QR code, or can't be printed")
	}
	if small := manager.Get("/admin/poster?paper=A5"); small.Find(".poster-a5").Length() != 1 || small.Text(".btn-group .active") != "A5" {
		t.Error("it is not A5")
	}
	if other := newShop(t).signedIn(core.Owner).Get("/admin/poster"); strings.Contains(other.Body.String(), "Filter coffee") {
		t.Error("another business's poster has this one's reward")
	}
	if cashier := s.signedIn(core.Cashier); slices.Contains(cashier.Get("/admin/customers").Links("nav[aria-label=Main] a"), "/admin/poster") {
		t.Error("a cashier's navigation has the poster, which needs a manager")
	}
}
