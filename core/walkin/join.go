package walkin

import (
	"context"
	"errors"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/tenant"
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

// Join adds a customer with the details they entered, and mails them the link to their card. If the phone
// number or e-mail address is known, it reveals nothing and mails the link to the stored address, if there is
// one. It fails with ErrFull at the limit of the plan, and without a country.
func (s *Service) Join(ctx context.Context, by core.Actor, d Details) (Joined, error) {
	by = withAuditName(by)
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Joined, error) {
		who, err := customer.Enrol(ctx, tx, by, d.customer(), d.missing(), customer.Admission(ctx, tx, s.meter))
		if errors.Is(err, usage.ErrLimit) || errors.Is(err, customer.ErrNoCountry) {
			return Joined{}, ErrFull
		}
		if err != nil {
			return Joined{}, err
		}
		if !who.Created {
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
	})
}

// MailCard mails a customer with this phone number or e-mail address the link to their card, if their e-mail
// address is known. It doesn't reveal whether there is such a customer: it refuses only an invalid contact, on
// the field "contact".
func (s *Service) MailCard(ctx context.Context, by core.Actor, contact string) error {
	asked, err := customer.ReadContact(contact, by.Tenant.Country)
	if err != nil {
		return err
	}
	_, err = db.InTenant(ctx, s.db, by, func(tx *db.Tx) (bool, error) {
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

// SendCard mails a customer the link to their card, for staff. It reports whether the customer has an e-mail
// address, or fails with core.ErrNotFound.
func (s *Service) SendCard(ctx context.Context, by core.Actor, id core.ID) (mailed bool, err error) {
	return db.InTenantAs(ctx, s.db, by, core.Cashier, func(tx *db.Tx) (bool, error) {
		c, err := customer.FindIn(ctx, tx, id)
		if err != nil {
			return false, err
		}
		return s.mailCard(ctx, tx, by, c, false)
	})
}

// mailCard queues the mail with a card's link if the customer has an e-mail address.
func (s *Service) mailCard(ctx context.Context, tx *db.Tx, by core.Actor, c customer.Customer, isNew bool) (mailed bool, err error) {
	if c.Email == nil || c.Status != customer.Active {
		return false, nil
	}
	if !s.cardMails.Take(c.ID.String()).Allowed {
		return true, nil // it was already mailed several times
	}
	theme, err := tenant.ThemeIn(ctx, tx)
	if err != nil {
		return false, err
	}
	token, err := s.CardToken(tx.Tenant, c)
	if err != nil {
		return false, err
	}
	return true, s.mails.QueueToCustomer(ctx, tx, *c.Email, CardEmail{
		BusinessName: by.Tenant.Name, Slug: by.Tenant.Slug, Colour: theme.Colour, FirstName: c.FirstName, CardToken: token, New: isNew,
	})
}

// CardEmail is the mail with the link to a customer's card.
type CardEmail struct {
	BusinessName string
	Slug         string  // of the business's host
	Colour       *string // "#165c47"; nil: the product's own
	FirstName    string
	CardToken    string
	New          bool // they have just joined
}

func normaliseCode(code string) string { return core.PlainCode(code) }
