package tenant

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
)

// Settings are what an owner decides about their business.
type Settings struct {
	Name     string
	Slug     string  // never changes
	TimeZone string  // IANA
	Currency string  // ISO 4217
	Country  *string // ISO 3166-1 alpha-2
	HasSales bool    // then the currency is what their amounts are in, and stays

	ConsentText *string // what customers agree to when they join; nil: the product's own words
	PrivacyURL  *string // where the business says how it uses their data

	ConfirmAboveCents *int64 // the panel and the till ask before they record a larger sale; nil: never
	Theme
}

// SettingsEdit describes a change of them: fields that are not set stay as they are.
type SettingsEdit struct {
	Name     core.Optional[string]
	TimeZone core.Optional[string]
	Currency core.Optional[string]
	Country  core.Optional[string] // null clears it

	ConfirmAboveCents core.Optional[int64] // null: never ask

	ConsentText core.Optional[string] // null: the product's own words
	PrivacyURL  core.Optional[string] // null: none

	Colour core.Optional[string] // "#5746d6"; null: the product's own
	Logo   core.Optional[[]byte] // a file; null: none

	Malformed core.Fields // what the front end could not read
}

// Settings returns them, to owners. One round trip.
func (s *Service) Settings(ctx context.Context, by core.Actor) (Settings, error) {
	if err := by.Require(core.Owner); err != nil {
		return Settings{}, err
	}
	return db.ReadOne[Settings](ctx, s.db, by, settingsSQL, nil)
}

// EditSettings changes the fields that are set, for owners, in the transaction of their
// own tenant. Another country reads all phone numbers anew, and is refused where two of
// them would become one. Another currency is refused once there are sales: amounts are
// kept without theirs, and would be read as if they had always been in the new one. (A
// sale that is being recorded at that instant is not waited for.) Two round trips, and
// those that a country takes.
func (s *Service) EditSettings(ctx context.Context, by core.Actor, e SettingsEdit) (Settings, error) {
	if err := by.Require(core.Owner); err != nil {
		return Settings{}, err
	}
	check := core.NewCheck(e.Malformed)
	logo := picture(check, e.Logo.Value)
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Settings, error) {
		// Held until the end: the log must name the values this edit replaced.
		old, err := db.One[Settings](ctx, tx, lockSettingsSQL, nil)
		if err != nil {
			return Settings{}, err
		}
		edited := e.read(check, old, logo)
		if err := check.Err(); err != nil {
			return Settings{}, err
		}
		was, is := changedFacts(old.facts(), edited.facts())
		if len(is) == 0 {
			return edited, nil
		}
		if err := edited.write(tx, is, logo); err != nil {
			return Settings{}, err
		}
		err = audit.Write(tx, by, audit.Entry{Action: "tenant.edit", Subject: "tenant", ID: id(by.Tenant.ID), Name: edited.Name, Old: was, New: is})
		if err != nil || code(edited.Country) == code(old.Country) {
			return edited, err
		}
		return edited, customer.Rekey(ctx, tx, code(edited.Country))
	})
}

// read is what the settings become.
func (e SettingsEdit) read(check *core.Check, old Settings, logo *Picture) Settings {
	s := old
	sent(e.Name, func(v *string) { s.Name = check.Text("name", v, maxName) })
	sent(e.TimeZone, func(v *string) { s.TimeZone = timeZone(check, v) })
	sent(e.Currency, func(v *string) { s.Currency = currencyCode(check, v) })
	sent(e.Country, func(v *string) { s.Country = country(check, v) })
	sent(e.ConfirmAboveCents, func(v *int64) { s.ConfirmAboveCents = ceiling(check, v) })
	sent(e.ConsentText, func(v *string) { s.ConsentText = check.OptionalText("consent_text", v, maxConsent) })
	sent(e.PrivacyURL, func(v *string) { s.PrivacyURL = webAddress(check, "privacy_url", v) })
	sent(e.Colour, func(v *string) { s.Colour = colour(check, v) })
	sent(e.Logo, func(*[]byte) { s.LogoHash = logo.hash() })
	if s.HasSales && s.Currency != old.Currency && check.OK("currency") {
		check.Add("currency", currencyInUse(old.Currency))
	}
	return s
}

// write queues the settings, and the look where that changed. A logo that is there and
// was not sent stays.
func (s Settings) write(tx *db.Tx, changed map[string]any, logo *Picture) error {
	_, colour := changed["colour"]
	_, picture := changed["logo"]
	if colour || picture {
		args := db.Args{"colour": s.Colour, "keep": !picture, "logo": nil, "type": nil, "hash": nil, "now": tx.Now}
		if picture && logo != nil {
			args["logo"], args["type"], args["hash"] = logo.Bytes, logo.Type, logo.contentHash()
		}
		if err := db.Queue(tx, writeLookSQL, args); err != nil {
			return err
		}
	}
	return db.Queue(tx, updateSettingsSQL, db.Args{
		"name": s.Name, "timezone": s.TimeZone, "currency": s.Currency, "country": s.Country, "confirm_above_cents": s.ConfirmAboveCents,
		"consent_text": s.ConsentText, "privacy_url": s.PrivacyURL,
	})
}

// facts are what the log tells of the settings.
func (s Settings) facts() map[string]any {
	return map[string]any{
		"name": s.Name, "timezone": s.TimeZone, "currency": s.Currency,
		"country": orNull(s.Country), "colour": orNull(s.Colour), "logo": orNull(s.LogoHash),
		"confirm_above_cents": orNull(s.ConfirmAboveCents), "consent_text": orNull(s.ConsentText), "privacy_url": orNull(s.PrivacyURL),
	}
}

// orNull is a value, or null where there is none.
func orNull[T any](v *T) any {
	if v == nil {
		return nil
	}
	return *v
}
