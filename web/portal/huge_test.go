package portal_test

import (
	"math"
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/views/format"
)

// "Extreme (but valid) records break no page": every page that a customer may open, with the largest
// amounts and balances, the longest texts and the oldest dates.
func TestNoExtremeBreaksAPage(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	s.AddReward(reward.New{Name: "Mug", PointsCost: new(int64(30))})
	anna := s.anna()
	s.Sale(anna.ID, s.kind, 10_000)
	card := s.card(anna)
	_, state := s.shows(card)
	var paths []string
	for _, n := range []coupon.New{
		off(),
		{Name: "Points", BenefitType: "points", BenefitValue: new(int64(5))},
		{Name: "Stamps", BenefitType: "stamps", BenefitValue: new(int64(5))},
		{Name: "Percent", BenefitType: "percent", BenefitValue: new(int64(5))},
	} {
		paths = append(paths, "/v/"+s.sent(n).token)
	}
	shown := s.offers(1_000_000_000_000)
	dbtest.Extreme(t, s.DB, s.By)
	s.pages = s.at(s.DB.Now()).pages // which keeps nothing of the business yet
	phone := s.took(shown)

	paths = append(paths, card, card+"/history", card+"/print", card+"/picture.png", card+"/manifest.webmanifest", state, s.unsubscribing(anna.ID),
		"/join", "/join/find", "/w", "/w/claim", "/brand/5746d6.css", "/brand/icon/5746d6-180.png")
	for _, path := range paths {
		a := phone.Get(path)
		if a.Code != http.StatusOK {
			t.Errorf("%s = %d: %s", path, a.Code, a.Text("main"))
		}
		if said := dbtest.Nonsense(a.Body.String()); said != "" {
			t.Errorf("%s says %s", path, said)
		}
		if said := dbtest.Turned(a.Body.String()); said != "" {
			t.Errorf("%s turns %s", path, said)
		}
	}
	if got := s.browser().Get(card).Text("main"); !strings.Contains(got, format.Number(math.MaxInt64)) {
		t.Errorf("the card does not say the balance: %q", got)
	}
}

// Whatever is sent with a form of a customer's page, a message that asks to fill in a field is at that field. The
// browser of the tests checks each page.
func TestRefusalsAreAtTheirFields(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	phone := s.took(s.offers(2450))
	paths := []string{"/join", "/join/find", "/w", "/w/claim", s.card(s.anna()), s.unsubscribing(s.anna().ID)}
	if refused := phone.RefuseForms(paths); refused < 10 {
		t.Errorf("%d refusals", refused)
	}
}
