package portal

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/live"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/static"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/portal"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

// card is the card of a link.
type card struct {
	front
	walkin.Card
	path string // of the card
}

func (p *Portal) findCard(c echo.Context) (card, error) {
	f, err := p.findFront(c)
	if err != nil {
		return card{}, err
	}
	w, err := p.Walkins.OpenCard(c.Request().Context(), f.Tenant, c.Param("token"))
	return card{f, w, "/card/" + c.Param("token")}, err
}

func (d card) customerName() string { return d.FirstName + " " + d.LastName }

// showCard shows no PIN: opening a link must not replace the one that is being used at the till.
func (p *Portal) showCard(c echo.Context, d card) error {
	return p.cardPage(c, http.StatusOK, d, views.Code{})
}

// backToCard redirects a reload of the page with a PIN.
func (p *Portal) backToCard(c echo.Context) error {
	return c.Redirect(http.StatusSeeOther, "/card/"+c.Param("token"))
}

// showCode shows a new PIN, which replaces the card's last one.
func (p *Portal) showCode(c echo.Context, d card) error {
	if d.Status != customer.Active {
		return p.cardPage(c, http.StatusUnprocessableEntity, d, views.Code{})
	}
	previous, current, err := p.previousCode(c, d)
	if err != nil {
		return err
	}
	if current {
		return p.cardPage(c, http.StatusOK, d, previous)
	}
	by := d.Actor(d.Tenant, p.Address(c.Request()), c.Response().Header().Get(echo.HeaderXRequestID))
	show := func() (walkin.Shown, error) { return p.Walkins.ShowCard(c.Request().Context(), by, d.Card.ID) }
	if last, err := core.ParseID(c.QueryParam("after")); err == nil {
		show = func() (walkin.Shown, error) { return p.Walkins.RenewCard(c.Request().Context(), by, d.Card.ID, last) }
	}
	shown, err := show()
	if refusal, refused := page.Refusal(err); refused && core.IsKind(err, core.KindThrottled) {
		return p.cardPage(c, page.RefusedStatus(c, err), d, views.Code{State: views.CodeRefused, Words: refusal})
	}
	if err != nil {
		return err
	}
	qr, err := p.qrOnce(c.Request().Context(), d.front, p.Names.Tenant(d.Slug)+links.TillCodes+shown.Code, "QR code to show at the till")
	if err != nil {
		return err
	}
	at := d.path + "/pin/" + shown.ID.String()
	return p.cardPage(c, http.StatusOK, d, views.Code{State: views.CodeShown, PIN: ui.PIN{
		ID: shown.ID.String(), Digits: shown.Digits, QR: qr, Seconds: p.seconds(shown.ExpiresAt),
		Note: "Show this at the till.", Live: at + "/events", Refresh: at, Renew: links.WithQuery(d.path+"/pin", "after", shown.ID.String()),
	}})
}

// previousCode returns the state of the PIN that a page renews automatically, and whether that state
// must be shown instead of a new PIN: it was accepted at the till, or replaced on another screen,
// and the page missed that.
func (p *Portal) previousCode(c echo.Context, d card) (code views.Code, current bool, err error) {
	id, err := core.ParseID(c.QueryParam("after"))
	if err != nil {
		return views.Code{}, false, nil //nolint:nilerr // the customer asked for a new one
	}
	progress, err := p.Walkins.CardProgress(c.Request().Context(), d.Tenant, d.Card.ID, id)
	switch {
	case errors.Is(err, core.ErrNotFound), progress.State == walkin.Waiting, progress.State == walkin.Expired:
		return views.Code{}, false, nil
	case err != nil:
		return views.Code{}, false, err
	}
	return p.code(d, progress), true, nil
}

// seconds is the time left, rounded up: a PIN must not be renewed before it expires.
func (p *Portal) seconds(until time.Time) int {
	return max(0, int((until.Sub(p.Now())+time.Second-1)/time.Second))
}

// showCodeState shows the state of a PIN. A waiting one can't be shown again, since it isn't stored, so
// the script is told that nothing changed.
func (p *Portal) showCodeState(c echo.Context, d card) error {
	progress, err := p.codeProgress(c, d)
	if err != nil {
		return err
	}
	if progress.State == walkin.Waiting && page.IsFragment(c) {
		return c.NoContent(http.StatusNoContent)
	}
	return p.cardPage(c, http.StatusOK, d, p.code(d, progress))
}

// codeProgress is the state of the PIN in the path. A PIN that is no longer stored has expired.
func (p *Portal) codeProgress(c echo.Context, d card) (walkin.Progress, error) {
	id, err := core.ParseID(c.Param("id"))
	if err != nil {
		return walkin.Progress{}, err
	}
	progress, err := p.Walkins.CardProgress(c.Request().Context(), d.Tenant, d.Card.ID, id)
	if errors.Is(err, core.ErrNotFound) {
		return walkin.Progress{ID: id, State: walkin.Expired}, nil
	}
	return progress, err
}

func (p *Portal) code(d card, progress walkin.Progress) views.Code {
	at := d.path + "/pin/" + progress.ID.String()
	switch progress.State {
	case walkin.Waiting:
		return views.Code{State: views.CodeElsewhere, Words: "Your code hasn't been used yet"}
	case walkin.Taken:
		return views.Code{
			State: views.CodeTaken, Live: at + "/events", Refresh: at,
			Seconds: p.seconds(progress.ExpiresAt.Add(walkin.CompleteWithin)),
		}
	case walkin.Completed:
		code := views.Code{State: views.CodeUsed}
		if progress.Award > 0 {
			code.Earned = &views.Balance{Value: format.Signed(progress.Award), Unit: format.UnitName(progress.Award, progress.RuleType)}
		}
		if sale := progress.TransactionID; sale != nil {
			if reached := d.Level.ReachedBy(*sale); reached != nil {
				code.Reached = format.LevelReached(*reached, d.Level.Progress.Until)
			}
		}
		return code
	case walkin.Replaced:
		return views.Code{State: views.CodeReplaced, Words: "A newer code is on another screen"}
	case walkin.Cancelled, walkin.Expired:
	}
	return views.Code{State: views.CodeExpired, Words: "This code has expired"}
}

// codeEvents streams the state of a PIN.
func (p *Portal) codeEvents(c echo.Context, d card) error {
	id, err := core.ParseID(c.Param("id"))
	if err != nil {
		return err
	}
	address := p.AddressKey(p.Address(c.Request()))
	return page.Events(c, p.Live, walkin.Topic(d.Tenant.ID, id), address, func(ctx context.Context) (live.State, error) {
		progress, err := p.Walkins.CardProgress(ctx, d.Tenant, d.Card.ID, id)
		return live.State{Name: string(progress.State), Final: progress.State.Final()}, err
	})
}

// cardPage answers with the card, or for the script with the part that changes.
func (p *Portal) cardPage(c echo.Context, status int, d card, code views.Code) error {
	if d.Status != customer.Active {
		return p.inactiveCard(c, status, d)
	}
	code.Action = d.path + "/pin"
	v := views.Card{
		Frame: p.frame(d.front, "Card"), Customer: d.customerName(), Code: code,
		PicturePath: d.path + "/picture.png", PrintPath: d.path + "/print",
		HistoryPath: d.path + "/history", HistoryNote: "How your balance changed",
	}
	v.Balance, v.Second = balances(d.Card)
	if d.Expires() {
		v.HistoryNote = "Balance and expiry dates"
	}
	v.Ends = p.endsSoon(d)
	v.Progress = progressOf(d.Card)
	v.Level = levelOf(d)
	for _, redemption := range d.Pending {
		v.Pending = append(v.Pending, redemption.RewardName)
	}
	for _, o := range d.Rewards {
		unit, cost := o.Price()
		r := views.CardReward{Name: o.Name, Picture: rewardPicturePath(o), Cost: format.Units(cost, unit)}
		switch {
		case o.Barrier != nil:
			r.Why = format.Barrier(*o.Barrier)
			v.Barred = append(v.Barred, r)
			continue
		case o.Affordable:
			v.Ready = append(v.Ready, r)
			continue
		}
		r.ToGo = format.Number(cost-d.Balance(unit)) + " to go"
		v.Next = append(v.Next, r)
	}
	for _, voucher := range d.Vouchers {
		token, err := p.Coupons.VoucherToken(d.Tenant.ID, voucher)
		if err != nil {
			return err
		}
		w := views.CardVoucher{Path: "/v/" + token, Name: format.VoucherValueOf(voucher.Benefit, voucher.RewardName, d.Currency).String(), Note: "Voucher"}
		if voucher.ExpiresAt != nil {
			w.Note += ", until " + format.LastDay(*voucher.ExpiresAt, d.TimeZone)
		}
		if voucher.Lacking != nil {
			w.Why = format.ForLevel(voucher.Lacking.Name)
			v.BarredVouchers = append(v.BarredVouchers, w)
			continue
		}
		v.Vouchers = append(v.Vouchers, w)
	}
	if page.IsFragment(c) {
		return render(c, status, views.CardBody(v))
	}
	var err error
	if v.Staff, err = p.staff(c, d.Slug, links.TillCustomer(d.Card.ID), "Open at the till"); err != nil {
		return err
	}
	v.Body = "on-card"
	v.Manifest = d.path + "/manifest.webmanifest"
	v.Assets.Stylesheets = append([]string{static.Path("css/pin.css")}, v.Assets.Stylesheets...)
	p.addScripts(c, &v.Frame, "portal", "pin")
	return render(c, status, views.CardPage(v))
}

// levelOf is the customer's level, or nil.
func levelOf(d card) *views.CardLevel {
	if d.Level == nil {
		return nil
	}
	p := *d.Level.Progress
	return &views.CardLevel{
		Name: p.Level.Name, Colour: p.Level.Colour, Until: format.LevelUntil(p.Until), Way: int(100 * format.LevelShare(p)),
		ToNext: format.ToNextLevel(p, d.Level.Basis, d.Currency), Perks: format.Perks(*p.Level),
	}
}

// inactiveCard shows neither the name nor the balance of an inactive customer to those who have the link.
func (p *Portal) inactiveCard(c echo.Context, status int, d card) error {
	v := views.Card{Frame: p.frame(d.front, "Card"), Code: views.Code{State: views.CodeRefused, Words: walkin.ErrInactive.Message}}
	if page.IsFragment(c) {
		return render(c, status, views.CardBody(v))
	}
	v.Body = "on-card"
	p.addScripts(c, &v.Frame, "portal", "pin")
	return render(c, status, views.CardPage(v))
}

// endsSoon says what expires soon, in the order of unitsOf.
func (p *Portal) endsSoon(d card) (lines []string) {
	first, second := unitsOf(d.Card)
	for _, unit := range []ledger.Unit{first, second} {
		if line := format.EndsSoon(d.Expiring, unit, core.DateOf(p.Now(), d.TimeZone)); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// balances are the customer's balances in the order of unitsOf.
func balances(w walkin.Card) (first views.Balance, second string) {
	unit, other := unitsOf(w)
	n := w.Balance(unit)
	first = views.Balance{Value: format.Number(n), Unit: format.UnitName(n, unit)}
	if n := w.Balance(other); n != 0 {
		second = format.Units(n, other)
	}
	return first, second
}

// unitsOf orders the units of a card: stamps first for customers without points where no reward costs
// points.
func unitsOf(w walkin.Card) (first, second ledger.Unit) {
	stamps := w.StampsBalance != 0
	for _, o := range w.Rewards {
		if o.PointsCost != nil {
			return ledger.Points, ledger.Stamps
		}
		stamps = true
	}
	if stamps && w.PointsBalance == 0 {
		return ledger.Stamps, ledger.Points
	}
	return ledger.Points, ledger.Stamps
}

// progressOf is the way to the next reward, preferably of the unit shown first; nil for none.
func progressOf(w walkin.Card) *views.Progress {
	shown, _ := unitsOf(w)
	var first, rest walkin.Card
	first.Customer, rest.Customer = w.Customer, w.Customer
	for _, o := range w.Rewards {
		if unit, _ := o.Price(); unit == shown {
			first.Rewards = append(first.Rewards, o)
		} else {
			rest.Rewards = append(rest.Rewards, o)
		}
	}
	next, missing, found := first.Next()
	if !found {
		next, missing, found = rest.Next()
	}
	if !found {
		return nil
	}
	unit, cost := next.Price()
	return &views.Progress{
		Percent: int(float64(max(0, cost-missing)) / float64(cost) * 100),
		Missing: format.Units(missing, unit), Reward: next.Name,
	}
}

// cardLink is the address in the QR code of a card.
func (p *Portal) cardLink(d card) (string, error) {
	token, err := p.Walkins.CardToken(d.Tenant.ID, d.Customer)
	return p.Names.Tenant(d.Slug) + "/card/" + token, err
}

func (p *Portal) printCard(c echo.Context, d card) error {
	if d.Status != customer.Active {
		return walkin.ErrInactive
	}
	link, err := p.cardLink(d)
	if err != nil {
		return err
	}
	v := views.Print{Frame: p.frame(d.front, "Print card"), Customer: d.customerName(), CardPath: d.path}
	if v.QR, err = p.qr(c.Request().Context(), d.front, link, "QR code of this card"); err != nil {
		return err
	}
	p.addScripts(c, &v.Frame, "portal")
	return render(c, http.StatusOK, views.PrintPage(v))
}

// cardPicture answers with a picture of the card, to be kept on a phone.
func (p *Portal) cardPicture(c echo.Context, d card) error {
	if d.Status != customer.Active {
		return walkin.ErrInactive
	}
	link, err := p.cardLink(d)
	if err != nil {
		return err
	}
	picture, err := p.drawings.get(c.Request().Context(), d.Tenant.ID, strings.Join([]string{"card", link, d.colour(), d.Name}, " "), func() (drawing, error) {
		drawn, err := drawCard(link, d.Name, d.colour())
		return drawing{bytes: drawn}, err
	})
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="card.png"`)
	return c.Blob(http.StatusOK, "image/png", picture.bytes)
}

// cardManifest lets people put the card on their home screen.
func (p *Portal) cardManifest(c echo.Context, d card) error {
	return page.WriteManifest(c, page.Manifest{
		ID: "/card/" + d.Card.ID.String(), Name: d.Name, ShortName: d.Name, StartURL: d.path, Scope: "/", Background: "#f5f5f8", Theme: d.colour(),
	}, d.iconPath)
}
