package tenant

import (
	"context"
	"net/url"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Limits of texts, in characters.
const (
	maxConsent    = 1000
	maxWebAddress = 500
)

// Consent is what customers agree to when they join.
type Consent struct {
	Text       string  // never empty
	PrivacyURL *string // of the business's privacy policy
}

// DefaultConsent returns the text for a business without its own.
func DefaultConsent(business string) string {
	return "I agree that " + business + " keeps my name and contact details to run its loyalty programme."
}

type consentRow struct {
	Name        string
	ConsentText *string
	PrivacyURL  *string
}

const consentSQL = `
	select name, consent_text, privacy_url
	from loyalty.tenant
	where id = @tenant_id`

// Consent returns what customers of the actor's business agree to.
func (s *Service) Consent(ctx context.Context, by core.Actor) (Consent, error) {
	found, err := db.One[consentRow](ctx, s.db.Tenant(by), consentSQL, nil)
	if err != nil {
		return Consent{}, err
	}
	c := Consent{Text: DefaultConsent(found.Name), PrivacyURL: found.PrivacyURL}
	if found.ConsentText != nil {
		c.Text = *found.ConsentText
	}
	return c, nil
}

// readWebAddress reads the address of a page; nil: none.
func readWebAddress(check *core.Check, field string, v *string) *string {
	text := check.OptionalText(field, v, maxWebAddress)
	if text == nil {
		return nil
	}
	if u, err := url.Parse(*text); err != nil || u.Scheme != "https" || u.Host == "" {
		check.Add(field, core.Violation{Rule: "https_url"})
	}
	return text
}
