package portal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/nyaruka/phonenumbers"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/portal"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// invitation is the offer to new customers, and the terms they agree to.
type invitation struct {
	format.Offer
	tenant.Consent
}

func (p *Portal) findInvitation(c echo.Context, f front) (invitation, error) {
	ctx, by := c.Request().Context(), core.System(f.Tenant, "customer pages")
	return p.invitations.get(f.Slug, p.Now(), cacheTime, func() (invitation, error) {
		consent, err := p.Tenants.Consent(ctx, by)
		if err != nil {
			return invitation{}, err
		}
		types, err := p.Transactions.Types(ctx, by)
		if err != nil {
			return invitation{}, err
		}
		rewards, err := p.Rewards.ListActive(ctx, by, core.Page{Size: core.MaxPageSize})
		if err != nil {
			return invitation{}, err
		}
		return invitation{format.OfferOf(types, rewards.Items, f.Currency, core.DateOf(p.Now(), f.TimeZone)), consent}, nil
	})
}

// showStart is the page at a business's address. It leads customers on, and staff who are signed in to the panel.
func (p *Portal) showStart(c echo.Context, f front) error {
	switch person, signedIn, err := p.person(c, f.Slug); {
	case err != nil:
		return err
	case signedIn && person.Role == core.Cashier:
		return page.Redirect(c, links.Till)
	case signedIn:
		return page.Redirect(c, links.Panel)
	}
	i, err := p.findInvitation(c, f)
	if err != nil {
		return err
	}
	v := views.Start{Frame: p.frame(f, "Welcome"), Heading: i.Heading, Offer: i.Lines}
	v.Body = "wide"
	return render(c, http.StatusOK, views.StartPage(v))
}

// The names of fields. termsField identifies the terms that the customer was shown: if the business
// has changed them since, the customer is asked again.
const (
	nameField   = "name"
	phoneField  = "phone"
	emailField  = "email"
	agreedField = "agreed"
	termsField  = "terms"
	offersField = "offers"
)

func fingerprint(terms string) string {
	sum := sha256.Sum256([]byte(terms))
	return hex.EncodeToString(sum[:8])
}

const offersText = "Send me offers by e-mail"

// readDetails reads what customers enter about themselves.
func readDetails(form *forms.Form, i invitation) walkin.Details {
	d := walkin.Details{Phone: form.Value(phoneField), Email: strings.TrimSpace(form.Value(emailField)), Terms: i.Text}
	form.RefuseDirectionMarks(nameField)
	d.FirstName, d.LastName = splitName(form.Value(nameField))
	if form.Value(termsField) != fingerprint(i.Text) {
		form.Values.Del(agreedField)
	}
	d.Agreed = form.Checked(agreedField)
	if form.Checked(offersField) {
		d.Offers = offersText
		if d.Email == "" {
			form.Require(emailField)
		}
	}
	d.Malformed = form.Malformed
	return d
}

// splitName splits a name at its last space: family names are more often one word than first names.
// "": missing.
func splitName(name string) (first, last string) {
	words := strings.Fields(name)
	switch len(words) {
	case 0:
		return "", ""
	case 1:
		return words[0], ""
	}
	end := len(words) - 1
	return strings.Join(words[:end], " "), words[end]
}

// joinNameErrors moves violations of the first and last name to the page's one field for both.
func joinNameErrors(err error) error {
	var refusal *core.Error
	if !errors.As(err, &refusal) || refusal.Kind != core.KindInvalid {
		return err
	}
	fields := maps.Clone(refusal.Fields)
	for _, part := range []string{"first_name", "last_name"} {
		if violations, wrong := fields[part]; wrong {
			if violations[0] == core.Required {
				fields[nameField] = []core.Violation{{Rule: "full_name"}}
			} else if len(fields[nameField]) == 0 {
				fields[nameField] = violations
			}
			delete(fields, part)
		}
	}
	return core.Invalid(fields)
}

// phoneInput is the field for a phone number, with the calling code of the country.
func phoneInput(form *forms.Form, country string) ui.Field {
	f := form.Field(phoneField, ui.Field{Label: "Phone"})
	f.Type, f.Mode, f.Autocomplete, f.MaxLength = "tel", "tel", "tel", 40
	if code := phonenumbers.GetCountryCodeForRegion(country); code != 0 {
		f.Before = "+" + strconv.Itoa(code)
		if example := phonenumbers.GetExampleNumberForType(country, phonenumbers.MOBILE); example != nil {
			f.Placeholder = strings.TrimSpace(strings.TrimPrefix(phonenumbers.Format(example, phonenumbers.INTERNATIONAL), f.Before))
		}
	}
	return f
}

func nameInput(form *forms.Form) ui.Field {
	f := form.Field(nameField, ui.Field{Label: "Name"})
	f.Autocomplete, f.MaxLength = "name", 50
	return f
}

// agreedInput is the checkbox of the consent. Its text may be long, so the summary of errors names it.
func agreedInput(form *forms.Form, i invitation) ui.Field {
	f := form.Field(agreedField, ui.Field{Label: "Consent"})
	f.Label = i.Text
	return f
}

func (p *Portal) showJoin(c echo.Context, f front) error {
	return p.joinPage(c, f, http.StatusOK, forms.Blank(nil))
}

func (p *Portal) joinPage(c echo.Context, f front, status int, form *forms.Form) error {
	i, err := p.findInvitation(c, f)
	if err != nil {
		return err
	}
	v := views.Join{Frame: p.frame(f, "Join"), Heading: i.Heading, Offer: i.Lines, FormKey: p.newFormKey(), Terms: fingerprint(i.Text)}
	v.Body = "wide"
	v.Name, v.Phone, v.Email = nameInput(form), phoneInput(form, f.Country), form.Field(emailField, ui.Field{Label: "E-mail"})
	v.Name.Autofocus = status == http.StatusOK
	v.Email.Type, v.Email.Mode, v.Email.Autocomplete, v.Email.Optional, v.Email.MaxLength = "email", "email", "email", true, 255
	v.Email.Help = "For the link to your card"
	v.Agreed = agreedInput(form, i)
	v.Offers = form.Field(offersField, ui.Field{Label: offersText})
	v.Offers.Optional = true
	v.Problem = form.Problem()
	v.Privacy = core.OrZero(i.PrivacyURL)
	p.addScripts(c, &v.Frame, "form")
	return render(c, status, views.JoinPage(v))
}

func (p *Portal) newFormKey() string { return core.NewID(p.Now()).String() }

// limited counts an attempt of the client's address. It reports whether there were too many, which the
// form then says.
func (p *Portal) limited(c echo.Context, form *forms.Form) bool {
	v := p.PerAddress.Take(p.AddressKey(p.Address(c.Request())))
	if !v.Allowed {
		tooMany(c, form, v, "network")
	}
	return !v.Allowed
}

// join creates a customer and leads to their card. It shows nothing about an existing customer.
func (p *Portal) join(c echo.Context, f front) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	if p.limited(c, form) {
		return p.joinPage(c, f, http.StatusTooManyRequests, form)
	}
	i, err := p.findInvitation(c, f)
	if err != nil {
		return err
	}
	details := readDetails(form, i)
	joined, err := p.Walkins.Join(c.Request().Context(), p.visitor(c, f), details, page.Once(c, form, joinResult(details)))
	result, again := page.ReplayedPath(joined)
	if !again {
		if form.Refused(joinNameErrors(err)) {
			return p.joinPage(c, f, http.StatusUnprocessableEntity, form)
		}
		if err != nil {
			return err
		}
		result = joinResult(details)(joined.Result)
	}
	return p.showJoinResult(c, f, result)
}

// The results of joining, as they are stored with the form's key, besides the id of a new customer.
// The link to the card isn't stored: it is a secret.
const (
	resultMailed  = "mailed"
	resultPerhaps = "perhaps"
	resultAsk     = "ask"
)

// With an e-mail address, the page doesn't tell whether it is the one of the card.
func joinResult(d walkin.Details) func(walkin.Joined) string {
	return func(j walkin.Joined) string {
		switch {
		case j.New:
			id, _, _ := strings.Cut(j.CardToken, "-")
			return id
		case d.Email != "":
			return resultPerhaps
		case j.Mailed:
			return resultMailed
		}
		return resultAsk
	}
}

const (
	cardMailed        = "We e-mailed you the link."
	cardPerhapsMailed = "If this is the e-mail address of your card, we sent you the link. If nothing arrives, ask at the till."
)

func (p *Portal) showJoinResult(c echo.Context, f front, result string) error {
	v := views.Answer{Frame: p.frame(f, "You already have a card"), Heading: "You already have a card"}
	switch result {
	case resultMailed:
		v.Words = cardMailed
	case resultPerhaps:
		v.Words = cardPerhapsMailed
	case resultAsk:
		v.Words = "Ask at the till to open it."
	default:
		id, err := core.ParseID(result)
		if err != nil {
			return err
		}
		made, err := p.Customers.Find(c.Request().Context(), core.System(f.Tenant, "customer pages"), id)
		if err != nil {
			return err
		}
		made.LinkVersion = 0 // a form that is sent again must not lead to the card after its link was replaced
		token, err := p.Walkins.CardToken(f.ID, made)
		if err != nil {
			return err
		}
		return page.Redirect(c, "/card/"+token)
	}
	return render(c, http.StatusOK, views.AnswerPage(v))
}

func (p *Portal) showFind(c echo.Context, f front) error {
	return p.findPage(c, f, http.StatusOK, forms.Blank(nil))
}

func (p *Portal) findPage(c echo.Context, f front, status int, form *forms.Form) error {
	v := views.Find{Frame: p.frame(f, "Find my card"), Contact: form.Field("contact", ui.Field{Label: "Phone or e-mail"})}
	v.Body = "wide"
	v.Contact.Autocomplete, v.Contact.MaxLength, v.Contact.Autofocus = "email", 255, status == http.StatusOK
	v.Problem = form.Problem()
	p.addScripts(c, &v.Frame, "form")
	return render(c, status, views.FindPage(v))
}

// find e-mails the link to a card. The response is the same whether there is a card or not.
func (p *Portal) find(c echo.Context, f front) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	if p.limited(c, form) {
		return p.findPage(c, f, http.StatusTooManyRequests, form)
	}
	err = p.Walkins.MailCard(c.Request().Context(), p.visitor(c, f), form.Value("contact"))
	if form.Refused(joinNameErrors(err)) {
		return p.findPage(c, f, http.StatusUnprocessableEntity, form)
	}
	if err != nil {
		return err
	}
	return p.perhapsMailed(c, f)
}

// perhapsMailed is the answer to everyone who asks for the link to a card.
func (p *Portal) perhapsMailed(c echo.Context, f front) error {
	v := views.Answer{Frame: p.frame(f, "Check your e-mail"), Heading: "Check your e-mail"}
	v.Words = "If you have a card with an e-mail address, we sent you the link. If nothing arrives, ask at the till."
	return render(c, http.StatusOK, views.AnswerPage(v))
}
