package walkin

import (
	"context"
	"errors"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/usage"
)

// ErrFull refuses a new customer beyond the limit of the business's plan, or of a business without a country.
// It doesn't say which: that is no concern of customers.
var ErrFull = core.Refuse("joining-closed", "New customers can't join right now. Ask at the till.")

// Joined is the result of joining.
type Joined struct {
	New       bool
	CardToken string // of a new customer
	Mailed    bool   // the link was mailed to an existing customer
}

// Join adds a customer with the details they entered, and mails them the link to their card. If the phone number is
// known, or else the e-mail address, it reveals and changes nothing, and mails the link to the stored address, if there
// is one. With a known phone number and an e-mail address that isn't this customer's, nothing is mailed: one of the two
// is a stranger's. It fails with ErrFull at the limit of the plan, and without a country.
func (s *Service) Join(ctx context.Context, by core.Actor, d Details, once *core.Once[Joined]) (core.Reply[Joined], error) {
	by = withAuditName(by)
	return db.In(ctx, s.db.Tenant(by), db.Once(ctx, by, once, func(tx *db.Tx) (Joined, error) {
		who, err := customer.Enrol(ctx, tx, by, d.customer(), d.missing(), customer.Admission(ctx, tx, s.meter))
		if errors.Is(err, usage.ErrLimit) || errors.Is(err, customer.ErrNoCountry) {
			return Joined{}, ErrFull
		}
		if err != nil {
			return Joined{}, err
		}
		if !who.Created {
			if theirs, err := customer.HasEmail(ctx, tx, who.Customer, d.Email); err != nil || !theirs {
				return Joined{}, err
			}
			mailed, err := s.mailCard(ctx, tx, by, who.Customer, false)
			return Joined{Mailed: mailed}, err
		}
		if err := s.agree(tx, by, who.Customer, d, customer.FromJoin); err != nil {
			return Joined{}, err
		}
		if _, err := s.mailCard(ctx, tx, by, who.Customer, true); err != nil {
			return Joined{}, err
		}
		token, err := s.CardToken(tx.Tenant, who.Customer)
		return Joined{New: true, CardToken: token}, err
	}))
}

// MailCard mails a customer with this phone number or e-mail address the link to their card, if their e-mail
// address is known. It doesn't reveal whether there is such a customer: it refuses only an invalid contact, on
// the field "contact".
func (s *Service) MailCard(ctx context.Context, by core.Actor, contact string) error {
	asked, err := customer.ReadContact(contact, by.Tenant.Country)
	if err != nil {
		return err
	}
	_, err = db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (bool, error) {
		c, err := customer.FindByContact(ctx, tx, asked)
		if errors.Is(err, core.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		return s.mailCard(ctx, tx, by, c, false)
	})
	return err
}

// ErrNoAddress refuses to mail a customer without an e-mail address.
var ErrNoAddress = &core.Error{Kind: core.KindRule, Message: "This customer has no e-mail address."}

// SendCard mails a customer the link to their card, for staff. It fails with core.ErrNotFound, with ErrNoAddress, or with
// a core.KindThrottled that says that nothing was sent.
func (s *Service) SendCard(ctx context.Context, by core.Actor, id core.ID) error {
	_, err := db.In(ctx, s.db.TenantAs(by, core.Cashier), func(tx *db.Tx) (customer.Customer, error) {
		c, err := customer.FindIn(ctx, tx, id)
		if err != nil {
			return c, err
		}
		if c.Email == nil || c.Status != customer.Active {
			return c, ErrNoAddress
		}
		if v := s.cardMails.admit(by, c); !v.Allowed {
			return c, &core.Error{
				Kind: core.KindThrottled, Wait: v.Wait,
				Message: "Nothing was sent: the link was e-mailed too often in the last hour. Try again in " + inWords(v.Wait) + ".",
			}
		}
		return c, s.queueCard(ctx, tx, by, c, false)
	})
	return err
}

func normaliseCode(code string) string { return core.PlainCode(code) }
