package walkin

import (
	"context"
	"errors"
	"strings"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/usage"
)

// ErrFull refuses somebody new where the business's plan has no room. It says nothing of the
// plan: that is between the business and the platform.
var ErrFull = core.Refuse("joining-closed", "New customers can't join right now. Ask at the till.")

// Joined is what came of joining.
type Joined struct {
	New       bool
	CardToken string // of a new customer
	Mailed    bool   // the customer existed, and their card's link is on its way to the address on file
}

// Join adds a customer with the details they entered, and mails them the link to their card. With a phone number or an e-mail address that is known, nothing is made and nothing
// shown: the link goes to the address on file, if there is one. A business whose plan has no
// room for another customer refuses with ErrFull. Three round trips for a known customer, four
// for a new one, and one a minute that counts the customers.
func (s *Service) Join(ctx context.Context, by core.Actor, d Details) (Joined, error) {
	by = withAuditName(by)
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Joined, error) {
		who, err := customer.Enrol(ctx, tx, by, d.customer(), d.missing(), func() error { return s.meter.Admit(ctx, tx, usage.Customers, 1) })
		if errors.Is(err, usage.ErrLimit) {
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

// MailCard mails the link of their card to the customer with that phone number or e-mail
// address, where there is one with an address on file. It doesn't tell whether there is: only
// what can't be read is refused, on the field "contact". Two round trips, and one more for a
// mail.
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

// SendCard mails a customer the link to their card, for staff. It reports whether there is an
// address to mail it to; core.ErrNotFound for a customer who doesn't exist. Two round trips, and
// those of a mail.
func (s *Service) SendCard(ctx context.Context, by core.Actor, id core.ID) (mailed bool, err error) {
	if err := by.Require(core.Cashier); err != nil {
		return false, err
	}
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (bool, error) {
		c, err := customer.FindIn(ctx, tx, id)
		if err != nil {
			return false, err
		}
		return s.mailCard(ctx, tx, by, c, false)
	})
}

// mailCard queues the mail with a card's link, unless the customer has no address.
func (s *Service) mailCard(ctx context.Context, tx *db.Tx, by core.Actor, c customer.Customer, isNew bool) (mailed bool, err error) {
	if c.Email == nil || c.Status != customer.Active {
		return false, nil
	}
	if !s.letters.Take(c.ID.String()).Allowed {
		return true, nil // it has been mailed, several times
	}
	look, err := tenant.ThemeIn(ctx, tx)
	if err != nil {
		return false, err
	}
	token, err := s.CardToken(tx.Tenant, c)
	if err != nil {
		return false, err
	}
	return true, s.mails.Queue(ctx, tx, *c.Email, CardEmail{
		BusinessName: by.Tenant.Name, Slug: by.Tenant.Slug, Colour: look.Colour, FirstName: c.FirstName, CardToken: token, New: isNew,
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

func normaliseCode(code string) string { return strings.ToUpper(strings.TrimSpace(code)) }
