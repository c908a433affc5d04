package billing

import (
	"context"
	netmail "net/mail"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// Settings are what the platform decides for all tenants.
type Settings struct {
	Issuer             Party
	TaxName            string // "VAT"
	TaxRate            int64  // hundredths of a percent: 2550 is 25.5 %
	PaymentText        string // on every invoice: how to pay it
	PaymentDays        int64  // an invoice is due that many days after its issue
	IssueAutomatically bool   // the billing job issues drafts; otherwise they wait for a person
	MailName           string // the sender of mails; "": the installation's own
	MailAddress        string
}

// Ready reports whether invoices can be issued: they need to say who issues them.
func (s Settings) Ready() bool { return s.Issuer.Name != "" && s.Issuer.Address != "" }

// SettingsInput describes the settings as they should become: all of them.
type SettingsInput struct {
	IssuerName, IssuerAddress, IssuerTaxNumber, IssuerEmail *string
	TaxName                                                 *string
	TaxRate                                                 *int64
	PaymentText                                             *string
	PaymentDays                                             *int64
	IssueAutomatically                                      bool
	MailName, MailAddress                                   *string

	Malformed core.Fields // what the front end could not read
}

func (in SettingsInput) read() (Settings, error) {
	check := core.NewCheck(in.Malformed)
	optional := func(field string, v *string, limit int) string {
		if text := check.OptionalText(field, v, limit); text != nil {
			return *text
		}
		return ""
	}
	address := func(field string, v *string) string {
		text := optional(field, v, maxText)
		if a, err := netmail.ParseAddress(text); text != "" && (err != nil || a.Address != text) {
			check.Add(field, core.MustBeEmail)
		}
		return text
	}
	s := Settings{
		Issuer: Party{
			Name: optional("issuer_name", in.IssuerName, maxName), Address: withUnixLines(optional("issuer_address", in.IssuerAddress, maxAddress)),
			TaxNumber: optional("issuer_tax_number", in.IssuerTaxNumber, maxName), Email: address("issuer_email", in.IssuerEmail),
		},
		TaxName: check.Text("tax_name", in.TaxName, maxName), TaxRate: check.Integer("tax_rate", in.TaxRate, 0, 10_000),
		PaymentText: withUnixLines(optional("payment_text", in.PaymentText, maxPayment)), PaymentDays: check.Integer("payment_days", in.PaymentDays, 0, 365),
		IssueAutomatically: in.IssueAutomatically,
		MailName:           optional("mail_name", in.MailName, maxName), MailAddress: address("mail_address", in.MailAddress),
	}
	return s, check.Err()
}

// settingsRow is how they are stored.
type settingsRow struct {
	IssuerName, IssuerAddress, IssuerTaxNumber, IssuerEmail string
	TaxName                                                 string
	TaxRate                                                 int64
	PaymentText                                             string
	PaymentDays                                             int64
	IssueAutomatically                                      bool
	MailName, MailAddress                                   string
}

func (r settingsRow) settings() Settings {
	return Settings{
		Issuer:  Party{Name: r.IssuerName, Address: r.IssuerAddress, TaxNumber: r.IssuerTaxNumber, Email: r.IssuerEmail},
		TaxName: r.TaxName, TaxRate: r.TaxRate, PaymentText: r.PaymentText, PaymentDays: r.PaymentDays,
		IssueAutomatically: r.IssueAutomatically, MailName: r.MailName, MailAddress: r.MailAddress,
	}
}

func (s Settings) args() db.Args {
	return db.Args{
		"issuer_name": s.Issuer.Name, "issuer_address": s.Issuer.Address, "issuer_tax_number": s.Issuer.TaxNumber, "issuer_email": s.Issuer.Email,
		"tax_name": s.TaxName, "tax_rate": s.TaxRate, "payment_text": s.PaymentText, "payment_days": s.PaymentDays,
		"issue_automatically": s.IssueAutomatically, "mail_name": s.MailName, "mail_address": s.MailAddress,
	}
}

// Settings returns them. One round trip.
func (s *Service) Settings(ctx context.Context, by core.Actor) (Settings, error) {
	if err := by.RequireAdmin(); err != nil {
		return Settings{}, err
	}
	r, err := db.PlatformOne[settingsRow](ctx, s.db, settingsSQL, nil)
	return r.settings(), err
}

// EditSettings changes them. Invoices that were issued stay as they are.
func (s *Service) EditSettings(ctx context.Context, by core.Actor, in SettingsInput) (Settings, error) {
	if err := by.RequireAdmin(); err != nil {
		return Settings{}, err
	}
	edited, err := in.read()
	if err != nil {
		return Settings{}, err
	}
	return db.Platform(ctx, s.db, by, func(tx *db.Tx) (Settings, error) {
		old, err := db.One[settingsRow](ctx, tx, lockSettingsSQL, nil)
		if err != nil {
			return Settings{}, err
		}
		was, is := changedFacts(old.settings().args(), edited.args())
		if len(is) == 0 {
			return edited, nil
		}
		if err := db.Queue(tx, updateSettingsSQL, edited.args()); err != nil {
			return Settings{}, err
		}
		return edited, audit.Write(tx, by, audit.Entry{Action: "platform.edit_settings", Subject: "platform", Old: was, New: is})
	})
}
