package portal

import (
	"errors"
	"net/http"
	"regexp"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/views/format"
	views "example.com/loyalty/views/portal"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

const (
	typePINPath = "/w"
	claimPath   = "/w/claim"
	claimedPath = "/w/claimed"
)

// claimCookie binds a sale to the browser that accepted its PIN.
const (
	claimCookie  = "__Host-claim"
	claimSeconds = 10 * 60
)

var browserPattern = regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{26}$`)

// browserID is the value of the cookie, or "".
func browserID(c echo.Context) string {
	cookie, err := c.Cookie(claimCookie)
	if err != nil || !browserPattern.MatchString(cookie.Value) {
		return ""
	}
	return cookie.Value
}

// showTypePIN is for phones without a camera.
func (p *Portal) showTypePIN(c echo.Context, f front) error {
	return p.typePINPage(c, f, http.StatusOK, forms.Blank(nil))
}

func (p *Portal) typePINPage(c echo.Context, f front, status int, form *forms.Form) error {
	v := views.TypePIN{Frame: p.frame(f, "Collect your points"), PIN: form.Field("pin", ui.Field{Label: "PIN"})}
	v.Body = "wide"
	v.PIN.Mode, v.PIN.Autocomplete, v.PIN.MaxLength, v.PIN.Autofocus = "numeric", "one-time-code", 20, true
	v.PIN.Attributes = map[string]any{"class": "digits"}
	v.Problem = form.Problem()
	p.addScripts(c, &v.Frame, "form")
	return render(c, status, views.TypePINPage(v))
}

// takeTyped accepts a PIN that the customer typed.
func (p *Portal) takeTyped(c echo.Context, f front) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	err = p.take(c, f, walkin.Key{Digits: form.Value("pin")})
	var refusal *core.Error
	switch {
	case errors.Is(err, walkin.ErrNotPIN):
		form.Refused(core.Invalid(core.Fields{"pin": {{Rule: "six_digits"}}}))
		return p.typePINPage(c, f, http.StatusUnprocessableEntity, form)
	case errors.Is(err, walkin.ErrPIN):
		form.Refused(core.Invalid(core.Fields{"pin": {{Rule: "wrong_pin"}}}))
		return p.typePINPage(c, f, http.StatusUnprocessableEntity, form)
	case errors.As(err, &refusal) && refusal.Kind == core.KindThrottled:
		page.RetryAfter(c, refusal.Wait)
		form.Refused(err)
		return p.typePINPage(c, f, http.StatusTooManyRequests, form)
	case err != nil:
		return err
	}
	return page.Redirect(c, claimPath)
}

// take binds a PIN to the browser by a cookie.
func (p *Portal) take(c echo.Context, f front, k walkin.Key) error {
	taker := browserID(c)
	if taker == "" {
		taker = walkin.NewBrowser()
	}
	if err := p.Walkins.TakeSale(c.Request().Context(), p.visitor(c, f), taker, k); err != nil {
		return err
	}
	c.SetCookie(&http.Cookie{
		Name: claimCookie, Value: taker, Path: "/", MaxAge: claimSeconds, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	return nil
}

// showScanned shows what a scanned QR code is for. It doesn't use the code up: cameras and previews open
// links by themselves.
func (p *Portal) showScanned(c echo.Context, f front) error {
	found, err := p.Walkins.PeekSale(c.Request().Context(), f.Tenant, c.Param("code"))
	if errors.Is(err, walkin.ErrPIN) {
		if _, claimErr := p.openClaim(c, f); claimErr == nil { // this browser already accepted it
			return page.Redirect(c, claimPath)
		}
		return p.expired(c, f)
	}
	if err != nil {
		return err
	}
	v := views.Scanned{Frame: p.frame(f, "Collect your points"), Amount: amountView(f, found), Action: "/w/" + c.Param("code")}
	v.Body = "wide"
	p.addScripts(c, &v.Frame, "form")
	return render(c, http.StatusOK, views.ScannedPage(v))
}

// takeScanned accepts the PIN of a scanned QR code.
func (p *Portal) takeScanned(c echo.Context, f front) error {
	err := p.take(c, f, walkin.Key{Code: c.Param("code")})
	if errors.Is(err, walkin.ErrPIN) || errors.Is(err, walkin.ErrNotPIN) {
		return p.expired(c, f)
	}
	if err != nil {
		return err
	}
	return page.Redirect(c, claimPath)
}

// openClaim is the sale whose PIN this browser accepted, or core.ErrNotFound.
func (p *Portal) openClaim(c echo.Context, f front) (walkin.Claimable, error) {
	taker := browserID(c)
	if taker == "" {
		return walkin.Claimable{}, core.ErrNotFound
	}
	return p.Walkins.Held(c.Request().Context(), f.Tenant, taker)
}

// expired answers that a PIN can't be used.
func (p *Portal) expired(c echo.Context, f front) error {
	v := views.Answer{
		Frame: p.frame(f, "This code can't be used"), Heading: "This code can't be used",
		Words: walkin.ErrPIN.Message, Link: "Enter a PIN", Path: typePINPath,
	}
	return render(c, http.StatusUnprocessableEntity, views.AnswerPage(v))
}

// amountView is what a sale earns, and its amount.
func amountView(f front, s walkin.Claimable) views.Amount {
	a := views.Amount{Value: format.Number(s.Award), Unit: format.UnitName(s.Award, s.Unit), Spend: format.Money(s.SpendAmountCents, f.Currency)}
	if s.LocationName != nil {
		a.Spend += " at " + *s.LocationName
	}
	return a
}

func (p *Portal) showClaim(c echo.Context, f front) error {
	return p.claimPage(c, f, http.StatusOK, forms.Blank(nil))
}

func (p *Portal) claimPage(c echo.Context, f front, status int, form *forms.Form) error {
	found, err := p.openClaim(c, f)
	if errors.Is(err, core.ErrNotFound) {
		return p.expired(c, f)
	}
	if err != nil {
		return err
	}
	i, err := p.findInvitation(c, f)
	if err != nil {
		return err
	}
	v := views.Claim{
		Frame: p.frame(f, "Collect your points"), Amount: amountView(f, found), FormKey: p.newFormKey(),
		Phone: phoneInput(form, f.Country), Name: nameInput(form), Agreed: agreedInput(form, i),
		Privacy: core.OrZero(i.PrivacyURL), Terms: fingerprint(i.Text),
	}
	v.Body = "wide"
	v.Button = "Collect " + v.Amount.Value + " " + v.Amount.Unit
	v.Phone.Help = "If you have a card, points are added to it"
	v.Phone.Autofocus = status == http.StatusOK
	v.Problem = form.Problem()
	p.addScripts(c, &v.Frame, "form")
	return render(c, status, views.ClaimPage(v))
}

// claim records the sale for the customer with that phone number.
func (p *Portal) claim(c echo.Context, f front) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	collected, allowed := p.attemptClaim(c, form)
	if !allowed {
		return p.claimPage(c, f, http.StatusTooManyRequests, form)
	}
	i, err := p.findInvitation(c, f)
	if err != nil {
		return err
	}
	_, err = p.Walkins.Claim(c.Request().Context(), p.visitor(c, f), browserID(c), readDetails(form, i), page.Once(c, form, page.To[walkin.Claimed](claimedPath)))
	switch {
	case err == nil:
		collected()
		return page.Redirect(c, claimedPath)
	case errors.Is(err, walkin.ErrPIN):
		return p.expired(c, f)
	case form.Refused(joinNameErrors(err)):
		return p.claimPage(c, f, http.StatusUnprocessableEntity, form)
	}
	return err
}

// attemptClaim counts an attempt to collect a sale, by browser and address. It reports whether there were too many, which
// the form then says. collected takes the count back: a sale is collected once.
func (p *Portal) attemptClaim(c echo.Context, form *forms.Form) (collected func(), allowed bool) {
	browser, address := browserID(c), p.AddressKey(p.Address(c.Request()))
	if v := p.ClaimsOf.Take(browser); !v.Allowed {
		tooMany(c, form, v, "phone")
		return nil, false
	}
	if v := p.Claims.Take(address); !v.Allowed {
		p.ClaimsOf.Refund(browser)
		tooMany(c, form, v, "network")
		return nil, false
	}
	return func() {
		p.ClaimsOf.Refund(browser)
		p.Claims.Refund(address)
	}, true
}

// showClaimed shows what this browser collected. Typing a phone number doesn't prove that it is one's
// own, so it shows nothing else about an existing customer.
func (p *Portal) showClaimed(c echo.Context, f front) error {
	taker := browserID(c)
	if taker == "" {
		return p.expired(c, f)
	}
	got, err := p.Walkins.LastClaim(c.Request().Context(), f.Tenant, taker)
	if errors.Is(err, core.ErrNotFound) {
		return p.expired(c, f)
	}
	if err != nil {
		return err
	}
	v := views.Claimed{
		Frame:  p.frame(f, "Collected"),
		Amount: views.Amount{Value: "+" + format.Number(got.Award), Unit: format.UnitName(got.Award, got.Unit) + " collected"},
		Thanks: "Thanks. See you soon.",
	}
	v.Body = "filled"
	switch {
	case got.Card != nil:
		v.Thanks = "Thanks, " + got.Card.FirstName + ". See you soon."
		v.Balance = format.Units(got.Card.Balance(got.Unit), got.Unit)
		v.Progress = progressOf(*got.Card)
		v.CardPath = "/card/" + got.CardToken
	case !got.New:
		v.MailPath = claimedPath
	}
	p.addScripts(c, &v.Frame, "form")
	return render(c, http.StatusOK, views.ClaimedPage(v))
}

// mailClaimed e-mails the link to the card of an existing customer who collected a sale. The response is the same
// whether they have an e-mail address or not.
func (p *Portal) mailClaimed(c echo.Context, f front) error {
	err := p.Walkins.MailClaimed(c.Request().Context(), p.visitor(c, f), browserID(c))
	if errors.Is(err, core.ErrNotFound) {
		return p.expired(c, f)
	}
	if err != nil {
		return err
	}
	return p.perhapsMailed(c, f)
}
