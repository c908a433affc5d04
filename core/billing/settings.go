package billing

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// Settings are the platform's settings for all tenants.
type Settings struct {
	Issuer             Party
	TaxName            string // "VAT"
	TaxRate            int64  // hundredths of a percent: 2550 is 25.5 %
	PaymentText        string // on every invoice: how to pay it
	PaymentDays        int64  // from issue to due date
	IssueAutomatically bool   // by the billing job; otherwise a person issues drafts
	MailName           string // sender of e-mails; "": the installation's own
	MailAddress        string
}

// Ready reports whether invoices can be issued.
func (s Settings) Ready() bool { return s.Issuer.isIssuer() }

// isIssuer reports whether the party has what the issuer of an invoice must have.
func (p Party) isIssuer() bool { return p.Name != "" && p.Address != "" }

// SettingsInput describes the new settings: all of them.
type SettingsInput struct {
	IssuerName, IssuerAddress, IssuerTaxNumber, IssuerEmail string
	TaxName                                                 string
	TaxRate                                                 *int64
	PaymentText                                             string
	PaymentDays                                             *int64
	IssueAutomatically                                      bool
	MailName, MailAddress                                   string

	Malformed core.Fields // what the front end could not read
}

func (in SettingsInput) read() (Settings, error) {
	check := core.NewCheck(in.Malformed)
	address := func(field string, v *string) string {
		text := check.TextOrEmpty(field, v, maxText)
		if text != "" && !core.IsEmail(text) {
			check.Add(field, core.MustBeEmail)
		}
		return text
	}
	s := Settings{
		Issuer: Party{
			Name: check.TextOrEmpty("issuer_name", &in.IssuerName, maxName), Address: withUnixLines(check.TextOrEmpty("issuer_address", &in.IssuerAddress, maxAddress)),
			TaxNumber: check.TextOrEmpty("issuer_tax_number", &in.IssuerTaxNumber, maxName), Email: address("issuer_email", &in.IssuerEmail),
		},
		TaxName: check.Text("tax_name", &in.TaxName, maxName), TaxRate: check.Integer("tax_rate", in.TaxRate, 0, 10_000),
		PaymentText: withUnixLines(check.TextOrEmpty("payment_text", &in.PaymentText, maxPayment)), PaymentDays: check.Integer("payment_days", in.PaymentDays, 0, 365),
		IssueAutomatically: in.IssueAutomatically,
		MailName:           check.TextOrEmpty("mail_name", &in.MailName, maxName), MailAddress: address("mail_address", &in.MailAddress),
	}
	return s, check.Err()
}

func (s Settings) args() db.Args {
	return db.Args{
		"issuer_name": s.Issuer.Name, "issuer_address": s.Issuer.Address, "issuer_tax_number": s.Issuer.TaxNumber, "issuer_email": s.Issuer.Email,
		"tax_name": s.TaxName, "tax_rate": s.TaxRate, "payment_text": s.PaymentText, "payment_days": s.PaymentDays,
		"issue_automatically": s.IssueAutomatically, "mail_name": s.MailName, "mail_address": s.MailAddress,
	}
}

// Settings returns the platform's settings, for super-admins.
func (s *Service) Settings(ctx context.Context, by core.Actor) (Settings, error) {
	if err := by.RequireAdmin(); err != nil {
		return Settings{}, err
	}
	return db.One[Settings](ctx, s.db.Platform(), settingsSQL, nil)
}

// EditSettings changes the platform's settings, for super-admins. Issued invoices don't change.
func (s *Service) EditSettings(ctx context.Context, by core.Actor, in SettingsInput) (Settings, error) {
	if err := by.RequireAdmin(); err != nil {
		return Settings{}, err
	}
	edited, err := in.read()
	if err != nil {
		return Settings{}, err
	}
	return db.In(ctx, s.db.Platform(), func(tx *db.Tx) (Settings, error) {
		old, err := db.One[Settings](ctx, tx, lockSettingsSQL, nil)
		if err != nil {
			return Settings{}, err
		}
		was, is := audit.Changed(old.args(), edited.args())
		if len(is) == 0 {
			return edited, nil
		}
		if err := db.Queue(tx, updateSettingsSQL, edited.args()); err != nil {
			return Settings{}, err
		}
		return edited, audit.Write(tx, by, audit.Entry{Action: "platform.edit_settings", Subject: "platform", Old: was, New: is})
	})
}
