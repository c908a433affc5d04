package tenant

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
)

// Settings are a business's settings, for its owners.
type Settings struct {
	Name     string
	Slug     string  // never changes
	TimeZone string  // IANA
	Currency string  // ISO 4217
	Country  *string // ISO 3166-1 alpha-2
	HasSales bool    // then the currency can't change

	ConsentText *string // what customers agree to when they join; nil: DefaultConsent
	PrivacyURL  *string // of the business's privacy policy

	ConfirmAboveCents *int64 // the panel and the till ask before recording a larger sale; nil: never
	PhoneOptional     bool   // a new customer with an e-mail address needs no phone number; those who have none stay when it is turned off
	core.Theme
}

// SettingsEdit describes a change of settings: fields that are not set stay as they are.
type SettingsEdit struct {
	Name     core.Optional[string]
	TimeZone core.Optional[string]
	Currency core.Optional[string]
	Country  core.Optional[string] // null clears it

	ConfirmAboveCents core.Optional[int64] // null: never ask

	PhoneOptional core.Optional[bool]

	ConsentText core.Optional[string] // null: DefaultConsent
	PrivacyURL  core.Optional[string] // null: none

	Colour core.Optional[string] // "#5746d6"; null: the product's own
	Logo   core.Optional[[]byte] // a file; null: none

	Confirmed string      // the key of a CurrencyChangeError; "": not confirmed
	Malformed core.Fields // what the front end could not read
}

// Settings returns the settings of the actor's business, for owners.
func (s *Service) Settings(ctx context.Context, by core.Actor) (Settings, error) {
	if err := by.Require(core.Owner); err != nil {
		return Settings{}, err
	}
	return db.One[Settings](ctx, s.db.Tenant(by), settingsSQL, nil)
}

// EditSettings changes the fields that are set, for owners. A new country reads all phone numbers
// again, and is refused if two of them would become the same. A new currency is refused once there
// are sales, whose amounts are stored without it; a sale that is being recorded at the same time is
// not waited for. Before, it converts the amounts that there are, once that is confirmed (CurrencyChangeError).
func (s *Service) EditSettings(ctx context.Context, by core.Actor, e SettingsEdit) (Settings, error) {
	if err := by.Require(core.Owner); err != nil {
		return Settings{}, err
	}
	check := core.NewCheck(e.Malformed)
	logo, err := readLogo(ctx, by, check, e.Logo.Value) // before the tenant is locked, because drawing takes a while
	if err != nil {
		return Settings{}, err
	}
	return db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (Settings, error) {
		// Locked: the audit log must have the values that this edit replaces.
		var old Settings
		err := db.Together(ctx, tx, db.OneInto(&struct{}{}, lockSettingsSQL, nil), db.OneInto(&old, settingsSQL, nil))
		if err != nil {
			return Settings{}, err
		}
		edited := e.read(check, old, logo)
		if err := check.Err(); err != nil {
			return Settings{}, err
		}
		if edited.Currency != old.Currency {
			var ceiling *int64
			if !e.ConfirmAboveCents.Set { // a ceiling of the edit is in the new currency
				ceiling = old.ConfirmAboveCents
			}
			ceiling, err := changeCurrency(ctx, tx, old.Currency, edited.Currency, ceiling, &e.Confirmed)
			if err != nil {
				return Settings{}, err
			}
			if ceiling != nil {
				edited.ConfirmAboveCents = ceiling
			}
		}
		was, is := audit.Changed(old.facts(), edited.facts())
		measured := edited.Logo() != old.Logo() // also of a logo from before its size was stored
		if len(is) == 0 && !measured {
			return edited, nil
		}
		if err := edited.write(tx, is, measured, logo); err != nil || len(is) == 0 {
			return edited, err
		}
		err = audit.Write(tx, by, audit.Entry{Action: "tenant.edit", Subject: "tenant", ID: idText(by.Tenant.ID), Name: edited.Name, Old: was, New: is})
		if err != nil || countryCode(edited.Country) == countryCode(old.Country) {
			return edited, err
		}
		return edited, customer.Rekey(ctx, tx, countryCode(edited.Country))
	})
}

// read returns the edited settings.
func (e SettingsEdit) read(check *core.Check, old Settings, logo *logo) Settings {
	s := old
	ifSet(e.Name, func(v *string) { s.Name = check.Text("name", v, maxName) })
	ifSet(e.TimeZone, func(v *string) { s.TimeZone = readTimeZone(check, v) })
	ifSet(e.Currency, func(v *string) { s.Currency = readCurrency(check, v, old.Currency) })
	ifSet(e.Country, func(v *string) { s.Country = readCountry(check, v) })
	ifSet(e.ConfirmAboveCents, func(v *int64) { s.ConfirmAboveCents = readCeiling(check, v) })
	ifSet(e.PhoneOptional, func(v *bool) { s.PhoneOptional = core.OrZero(v) })
	ifSet(e.ConsentText, func(v *string) { s.ConsentText = check.OptionalText("consent_text", v, maxConsent) })
	ifSet(e.PrivacyURL, func(v *string) { s.PrivacyURL = readWebAddress(check, "privacy_url", v) })
	ifSet(e.Colour, func(v *string) { s.Colour = readColour(check, v) })
	ifSet(e.Logo, func(*[]byte) { s.LogoHash = logo.hexHash(); s.LogoWidth, s.LogoHeight = logo.size() })
	if s.HasSales && s.Currency != old.Currency && check.OK("currency") {
		check.Add("currency", currencyInUse(old.Currency))
	}
	return s
}

// write queues the settings, and the theme if it changed. A logo stays unless the edit sets it.
func (s Settings) write(tx *db.Tx, changed map[string]any, measured bool, logo *logo) error {
	_, newColour := changed["colour"]
	_, newLogo := changed["logo"]
	if newColour || newLogo || measured {
		args := db.Args{"colour": s.Colour, "keep": !newLogo, "logo": nil, "type": nil, "hash": nil, "width": s.LogoWidth, "height": s.LogoHeight, "now": tx.Now}
		if newLogo && logo != nil {
			args["logo"], args["type"], args["hash"] = logo.Bytes, logo.Type, logo.Hash()
		}
		if err := db.Queue(tx, writeThemeSQL, args); err != nil {
			return err
		}
	}
	if newLogo {
		if err := logo.write(tx); err != nil {
			return err
		}
	}
	return db.Queue(tx, updateSettingsSQL, db.Args{
		"name": s.Name, "timezone": s.TimeZone, "currency": s.Currency, "country": s.Country, "confirm_above_cents": s.ConfirmAboveCents,
		"consent_text": s.ConsentText, "privacy_url": s.PrivacyURL, "phone_optional": s.PhoneOptional,
	})
}

// facts returns what the audit log says about the settings.
func (s Settings) facts() map[string]any {
	return map[string]any{
		"name": s.Name, "timezone": s.TimeZone, "currency": s.Currency, "country": s.Country, "colour": s.Colour, "logo": s.LogoHash,
		"confirm_above_cents": s.ConfirmAboveCents, "consent_text": s.ConsentText, "privacy_url": s.PrivacyURL,
		"phone_optional": s.PhoneOptional,
	}
}
