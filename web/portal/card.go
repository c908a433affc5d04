package portal

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/static"
	views "example.com/loyalty/views/portal"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

// card is the customer of a card's link, and what they have.
type card struct {
	front
	walkin.Card
	path string // of the card
}

func (p *Portal) card(c echo.Context) (card, error) {
	f, err := p.front(c)
	if err != nil {
		return card{}, err
	}
	w, err := p.Walkins.OpenCard(c.Request().Context(), f.Tenant, c.Param("token"))
	return card{f, w, "/card/" + c.Param("token")}, err
}

func (d card) customer() string { return d.FirstName + " " + d.LastName }

// showCard shows no PIN: opening a link must not replace the one that is at the till.
func (p *Portal) showCard(c echo.Context) error {
	d, err := p.card(c)
	if err != nil {
		return err
	}
	return p.cardPage(c, http.StatusOK, d, p.noCode(d))
}

// noCode is the card's code before anybody asks for one. An inactive customer has none.
func (p *Portal) noCode(d card) views.Code {
	if d.Status != customer.Active {
		return views.Code{State: views.CodeRefused, Words: "This card is not active. Ask at the till."}
	}
	return views.Code{}
}

// backToCard is where a browser asks again for the page of a PIN.
func (p *Portal) backToCard(c echo.Context) error {
	return c.Redirect(http.StatusSeeOther, "/card/"+c.Param("token"))
}

// showCode shows a PIN, which replaces the one that the card showed before.
func (p *Portal) showCode(c echo.Context) error {
	d, err := p.card(c)
	if err != nil {
		return err
	}
	if code := p.noCode(d); code.State == views.CodeRefused {
		return p.cardPage(c, http.StatusUnprocessableEntity, d, code)
	}
	if code, known, err := p.replacedBy(c, d); err != nil || known {
		if err != nil {
			return err
		}
		return p.cardPage(c, http.StatusOK, d, code)
	}
	by := d.Actor(d.Tenant, p.Address(c.Request()), c.Response().Header().Get(echo.HeaderXRequestID))
	shown, err := p.Walkins.ShowCard(c.Request().Context(), by, d.Card.ID)
	if err != nil {
		return err
	}
	qr, err := page.QR(p.Names.Tenant(d.Slug)+"/till/c/"+shown.Code, "QR code to show at the till")
	if err != nil {
		return err
	}
	at := d.path + "/pin/" + shown.ID.String()
	return p.cardPage(c, http.StatusOK, d, views.Code{State: views.CodeShown, PIN: ui.PIN{
		ID: shown.ID.String(), Digits: shown.Digits, QR: qr, Seconds: p.seconds(shown.ExpiresAt),
		Note: "Show this at the till.", Live: at + "/events", Refresh: at, Renew: page.WithQuery(d.path+"/pin", "after", shown.ID.String()),
	}})
}

// replacedBy is the state of the PIN that a page renews by itself, where it was not left to
// expire. A page that missed that its PIN was taken, or replaced by one on another screen,
// must not replace that one.
func (p *Portal) replacedBy(c echo.Context, d card) (code views.Code, known bool, err error) {
	id, err := core.ParseID(c.QueryParam("after"))
	if err != nil {
		return views.Code{}, false, nil //nolint:nilerr // the customer asked for it
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

// seconds is how many are left, rounded up: a PIN is renewed when it has expired, and not
// a moment before.
func (p *Portal) seconds(until time.Time) int {
	return max(0, int((until.Sub(p.Now())+time.Second-1)/time.Second))
}

// showCodeState tells the state of a PIN. One that waits can't be shown again, so a page
// that shows it is told that nothing has changed.
func (p *Portal) showCodeState(c echo.Context) error {
	d, err := p.card(c)
	if err != nil {
		return err
	}
	progress, err := p.codeProgress(c, d)
	if err != nil {
		return err
	}
	if progress.State == walkin.Waiting && page.IsFragment(c) {
		return c.NoContent(http.StatusNoContent)
	}
	return p.cardPage(c, http.StatusOK, d, p.code(d, progress))
}

// codeProgress is how far the PIN of the path has come. One of which nothing is left has
// expired.
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
			code.Earned = &views.Balance{Value: page.Signed(progress.Award), Unit: page.UnitName(progress.Award, progress.RuleType)}
		}
		return code
	case walkin.Replaced:
		return views.Code{State: views.CodeReplaced, Words: "A newer code is on another screen"}
	case walkin.Cancelled, walkin.Expired:
	}
	return views.Code{State: views.CodeExpired, Words: "This code has expired"}
}

// codeEvents reports the changes of a PIN while the customer looks.
func (p *Portal) codeEvents(c echo.Context) error {
	d, err := p.card(c)
	if err != nil {
		return err
	}
	id, err := core.ParseID(c.Param("id"))
	if err != nil {
		return err
	}
	return page.Events(c, p.Live, walkin.Topic(d.Tenant.ID, id), func(ctx context.Context) (string, bool, error) {
		progress, err := p.Walkins.CardProgress(ctx, d.Tenant, d.Card.ID, id)
		return string(progress.State), progress.State.Final(), err
	})
}

// cardPage answers with the card, or with the part that changes with its code.
func (p *Portal) cardPage(c echo.Context, status int, d card, code views.Code) error {
	if code.State != views.CodeRefused {
		code.Action = d.path + "/pin"
	}
	v := views.Card{
		Frame: p.frame(d.front, d.Name+" card"), Customer: d.customer(), Code: code,
		PicturePath: d.path + "/picture.png", PrintPath: d.path + "/print",
	}
	v.Balance, v.Second = balances(d.Card)
	v.Progress = progressOf(d.Card)
	for _, held := range d.Pending {
		v.Pending = append(v.Pending, held.RewardName)
	}
	for _, o := range d.Rewards {
		unit, cost := o.Price()
		r := views.CardReward{Name: o.Name, Cost: page.Units(cost, unit)}
		if o.Affordable {
			v.Ready = append(v.Ready, r)
			continue
		}
		r.ToGo = page.Number(cost-d.Balance(unit)) + " to go"
		v.Next = append(v.Next, r)
	}
	for _, held := range d.Vouchers {
		token, err := p.Coupons.VoucherToken(d.Tenant.ID, held)
		if err != nil {
			return err
		}
		w := views.CardVoucher{Path: "/v/" + token, Name: page.VoucherValueOf(held.Benefit, held.RewardName, d.Currency).String(), Note: "Voucher"}
		if held.ExpiresAt != nil {
			w.Note += ", until " + page.LastDay(*held.ExpiresAt, d.TimeZone)
		}
		v.Vouchers = append(v.Vouchers, w)
	}
	if page.IsFragment(c) {
		return render(c, status, views.CardBody(v))
	}
	var err error
	if v.Staff, err = p.staff(c, d.Slug, page.TillPath+"/customers/"+d.Card.ID.String(), "Open at the till"); err != nil {
		return err
	}
	v.Body = "on-card"
	v.Manifest = d.path + "/manifest.webmanifest"
	v.Assets.Stylesheets = append([]string{static.Path("css/pin.css")}, v.Assets.Stylesheets...)
	p.scripted(c, &v.Frame, "portal", "pin")
	return render(c, status, views.CardPage(v))
}

// balances are the customer's: points first, unless they only collect stamps.
func balances(w walkin.Card) (first views.Balance, second string) {
	unit, other := unitsOf(w)
	n := w.Balance(unit)
	first = views.Balance{Value: page.Number(n), Unit: page.UnitName(n, unit)}
	if n := w.Balance(other); n != 0 {
		second = page.Units(n, other)
	}
	return first, second
}

// unitsOf is the unit that a customer's card shows first, and the other. Points mean nothing
// to customers who have none, where none of the rewards costs any.
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

// progressOf is the way to the next reward of the unit that is shown first, or else of the
// other; nil where there is none to save for.
func progressOf(w walkin.Card) *views.Progress {
	shown, _ := unitsOf(w)
	var of, rest walkin.Card
	of.Customer, rest.Customer = w.Customer, w.Customer
	for _, o := range w.Rewards {
		if unit, _ := o.Price(); unit == shown {
			of.Rewards = append(of.Rewards, o)
		} else {
			rest.Rewards = append(rest.Rewards, o)
		}
	}
	next, missing, found := of.Next()
	if !found {
		next, missing, found = rest.Next()
	}
	if !found {
		return nil
	}
	unit, cost := next.Price()
	return &views.Progress{
		Percent: int(float64(max(0, cost-missing)) / float64(cost) * 100),
		Missing: page.Units(missing, unit), Reward: next.Name,
	}
}

// link is the address of the card, as its printed QR code has it.
func (p *Portal) link(d card) (string, error) {
	token, err := p.Walkins.CardToken(d.Tenant.ID, d.Customer)
	return p.Names.Tenant(d.Slug) + "/card/" + token, err
}

func (p *Portal) printCard(c echo.Context) error {
	d, err := p.card(c)
	if err != nil {
		return err
	}
	link, err := p.link(d)
	if err != nil {
		return err
	}
	v := views.Print{Frame: p.frame(d.front, "Print card"), Customer: d.customer(), CardPath: d.path}
	if v.QR, err = page.QR(link, "QR code of this card"); err != nil {
		return err
	}
	p.scripted(c, &v.Frame, "portal")
	return render(c, http.StatusOK, views.PrintPage(v))
}

// cardPicture is for a phone's pictures: the till takes its QR code as well.
func (p *Portal) cardPicture(c echo.Context) error {
	d, err := p.card(c)
	if err != nil {
		return err
	}
	link, err := p.link(d)
	if err != nil {
		return err
	}
	picture, err := cardPicture(link, d.Name, d.palette())
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="card.png"`)
	return c.Blob(http.StatusOK, "image/png", picture)
}

// cardManifest lets the card sit on a home screen.
func (p *Portal) cardManifest(c echo.Context) error {
	d, err := p.card(c)
	if err != nil {
		return err
	}
	type picture struct {
		Src     string `json:"src"`
		Sizes   string `json:"sizes"`
		Type    string `json:"type"`
		Purpose string `json:"purpose"`
	}
	colour := d.palette().Fill
	manifest, err := json.Marshal(struct {
		ID         string    `json:"id"`
		Name       string    `json:"name"`
		ShortName  string    `json:"short_name"`
		StartURL   string    `json:"start_url"`
		Scope      string    `json:"scope"`
		Display    string    `json:"display"`
		Background string    `json:"background_color"`
		Theme      string    `json:"theme_color"`
		Icons      []picture `json:"icons"`
	}{
		"/card/" + d.Card.ID.String(), d.Name, d.Name, d.path, "/", "standalone", "#f5f5f8", colour,
		[]picture{
			{d.iconPath("192"), "192x192", "image/png", "any"},
			{d.iconPath("512"), "512x512", "image/png", "any"},
			{d.iconPath("512"), "512x512", "image/png", "maskable"},
		},
	})
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, "application/manifest+json", manifest)
}
