// Package tenant keeps businesses: their settings, branding, setup and suspension. A business's slug is
// part of its host name and of printed QR codes, so it never changes.
package tenant

import (
	"context"
	"errors"
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/staff"
)

// BillingCycle is how often a tenant is billed.
type BillingCycle = billing.Cycle

// PaymentMethod is how a tenant pays.
type PaymentMethod string

// Status of a tenant. A suspended tenant's tokens and sign-ins don't work.
type Status string

// The allowed values (decisions §6).
const (
	Monthly = billing.Monthly
	Yearly  = billing.Yearly

	Manual       PaymentMethod = "manual"
	BankTransfer PaymentMethod = "bank_transfer"
	Card         PaymentMethod = "card"
	Stripe       PaymentMethod = "stripe"
	PayPal       PaymentMethod = "paypal"

	Active    Status = "active"
	Suspended Status = "suspended"
)

// Tenant is a business as the platform sees it. Requests to it use a core.Tenant.
type Tenant struct {
	ID            core.TenantID
	Name          string
	Slug          string
	Email         string // the owner's
	PlanID        int64
	BillingCycle  BillingCycle
	PaymentMethod PaymentMethod
	Status        Status
	TimeZone      string  // IANA
	Currency      string  // ISO 4217
	Country       *string // ISO 3166-1 alpha-2
	CreatedAt     time.Time
	SuspendedAt   *time.Time // nil: active
	SuspendReason *string    // nil: none, or active
	Test          bool       // for tests of an integration: never billed

	ConfirmAboveCents *int64 // the owner's setting; nil: none
}

// Mails queues this package's e-mails. Their words are in web/email.
type Mails interface {
	auth.Inviter
	Setup(to string, e SetupEmail) mail.Email
	Suspension(to string, e SuspensionEmail) mail.Email
}

// Service creates, lists and changes tenants.
type Service struct {
	db    *db.DB
	mails Mails
}

// NewService makes the service.
func NewService(d *db.DB, mails Mails) *Service { return &Service{db: d, mails: mails} }

// Create creates a tenant and its owner, who is invited by mail to choose a password. For
// super-admins.
func (s *Service) Create(ctx context.Context, by core.Actor, n New, once *core.Once[Tenant]) (core.Reply[Tenant], error) {
	if err := by.RequireAdmin(); err != nil {
		return core.Reply[Tenant]{}, err
	}
	return db.In(ctx, s.db.Platform(), db.Once(ctx, by, once, func(tx *db.Tx) (Tenant, error) {
		t, err := insert(ctx, tx, by, n)
		if err != nil {
			return Tenant{}, err
		}
		served, err := t.forServing()
		if err != nil {
			return Tenant{}, err
		}
		if err := tx.Enter(t.ID); err != nil {
			return Tenant{}, err
		}
		owner, err := staff.Add(ctx, tx, by, staff.New{Role: core.Owner, Name: auth.OwnerOf(t.Name), Email: t.Email})
		if err != nil {
			return Tenant{}, err
		}
		return t, auth.Invite(ctx, tx, by, s.mails, served, owner)
	}))
}

// Add creates a tenant without people, in the caller's transaction of the platform.
func Add(ctx context.Context, tx *db.Tx, by core.Actor, n New) (core.Tenant, error) {
	t, err := insert(ctx, tx, by, n)
	if err != nil {
		return core.Tenant{}, err
	}
	return t.forServing()
}

func insert(ctx context.Context, tx *db.Tx, by core.Actor, n New) (Tenant, error) {
	in, check := n.read()
	if check.Err() != nil {
		return Tenant{}, refusal(ctx, tx, check, in)
	}
	in.ConfirmAboveCents = new(core.DefaultCeiling(in.Currency))
	args := in.args(tx.Now)
	args["slug"], args["test"] = in.Slug, in.Test
	t, err := db.One[Tenant](ctx, tx, insertSQL, args)
	if errors.Is(err, core.ErrNotFound) {
		return Tenant{}, refusal(ctx, tx, check, in)
	}
	if err != nil {
		return Tenant{}, err
	}
	return t, audit.Write(tx, by, audit.Entry{Action: "tenant.create", Subject: "tenant", ID: t.subject(), Name: t.Name, New: t.facts()})
}

func (t Tenant) args(now time.Time) db.Args {
	return db.Args{
		"name": t.Name, "email": t.Email, "plan": t.PlanID, "billing_cycle": t.BillingCycle, "payment_method": t.PaymentMethod,
		"timezone": t.TimeZone, "currency": t.Currency, "country": t.Country, "confirm_above_cents": t.ConfirmAboveCents, "now": now,
	}
}

var errUnexplained = errors.New("tenant: not written, for no known reason")

// refusal returns everything that is wrong: the violations of the check, and the conflicts for which
// a statement wrote nothing.
func refusal(ctx context.Context, tx *db.Tx, check *core.Check, in Tenant) error {
	found, err := db.One[conflicts](ctx, tx, conflictsSQL, db.Args{"id": in.ID, "plan": in.PlanID, "slug": in.Slug})
	if err != nil {
		return err
	}
	if !found.PlanOpen && check.OK("plan_id") {
		check.Add("plan_id", core.InvalidChoice)
	}
	if found.SlugTaken && check.OK("slug") {
		check.Add("slug", core.Duplicate)
	}
	if err := check.Err(); err != nil {
		return err
	}
	return errUnexplained
}

// Edit changes the fields that are set, for super-admins. A new country reads all phone numbers again,
// and is refused if two of them would become the same. A new currency is refused once there are
// sales, and converts the amounts that there are (CurrencyChangeError).
func (s *Service) Edit(ctx context.Context, by core.Actor, id core.TenantID, e Edit) (Tenant, error) {
	if err := by.RequireAdmin(); err != nil {
		return Tenant{}, err
	}
	return db.In(ctx, s.db.Platform(), func(tx *db.Tx) (Tenant, error) {
		// Locked: the audit log must have the values that this edit replaces.
		old, err := db.One[Tenant](ctx, tx, lockSQL, db.Args{"id": id})
		if err != nil {
			return Tenant{}, err
		}
		if e.If != nil && !e.If(old) {
			return Tenant{}, core.ErrStale
		}
		// Before the change: periods that have begun are billed by the old plan.
		plan, cycle := orStored(e.PlanID, old.PlanID), orStored(e.BillingCycle, string(old.BillingCycle))
		if plan != old.PlanID || cycle != string(old.BillingCycle) {
			if err := billing.ChangePlan(ctx, tx, by, id, plan); err != nil {
				return Tenant{}, err
			}
		}
		edited, err := update(ctx, tx, old, e, nil)
		if err != nil {
			return Tenant{}, err
		}
		if old.Status == Suspended && edited.Status == Active {
			if err := resume(ctx, tx, edited); err != nil {
				return Tenant{}, err
			}
		}
		if was, is := audit.Changed(old.facts(), edited.facts()); len(is) > 0 {
			err := audit.Write(tx, by, audit.Entry{Action: "tenant.edit", Subject: "tenant", ID: edited.subject(), Name: edited.Name, Old: was, New: is})
			if err != nil {
				return Tenant{}, err
			}
		}
		if edited.country() == old.country() {
			return edited, nil
		}
		if err := tx.Enter(id); err != nil {
			return Tenant{}, err
		}
		return edited, customer.Rekey(ctx, tx, edited.country())
	})
}

// orStored returns a field's value if it has one, else the stored value.
func orStored[T any](field core.Optional[T], stored T) T {
	if field.Value == nil {
		return stored
	}
	return *field.Value
}

// update writes an edited tenant. reason is that of a suspension.
func update(ctx context.Context, tx *db.Tx, old Tenant, e Edit, reason *string) (Tenant, error) {
	in, check := e.read(old)
	if in.Currency != old.Currency && check.OK("currency") {
		sold, err := hasSales(ctx, tx, old.ID)
		if err != nil {
			return Tenant{}, err
		}
		if sold {
			check.Add("currency", currencyInUse(old.Currency))
		}
	}
	if check.Err() != nil {
		return Tenant{}, refusal(ctx, tx, check, in)
	}
	if in.Currency != old.Currency {
		var err error
		if in.ConfirmAboveCents, err = changeCurrencyOf(ctx, tx, old, in.Currency, e.Confirmed); err != nil {
			return Tenant{}, err
		}
	}
	args := in.args(tx.Now)
	args["id"], args["status"], args["reason"] = in.ID, in.Status, reason
	edited, err := db.One[Tenant](ctx, tx, updateSQL, args)
	if errors.Is(err, core.ErrNotFound) {
		return Tenant{}, refusal(ctx, tx, check, in)
	}
	return edited, err
}

// currencyInUse refuses another currency once there are sales: amounts are stored without their
// currency, so old ones would be shown in the new one.
func currencyInUse(currency string) core.Violation {
	return core.Violation{Rule: "currency_in_use", Other: currency}
}

// hasSales reports whether a tenant has recorded a sale, in a transaction of the platform.
func hasSales(ctx context.Context, tx *db.Tx, id core.TenantID) (bool, error) {
	if err := tx.Enter(id); err != nil {
		return false, err
	}
	sold, err := db.One[bool](ctx, tx, hasSalesSQL, nil)
	return sold, errors.Join(err, tx.Enter(0))
}

// changeCurrencyOf is changeCurrency in a transaction of the platform.
func changeCurrencyOf(ctx context.Context, tx *db.Tx, old Tenant, currency string, confirmed *string) (*int64, error) {
	if err := tx.Enter(old.ID); err != nil {
		return nil, err
	}
	ceiling, err := changeCurrency(ctx, tx, old.Currency, currency, old.ConfirmAboveCents, confirmed)
	return ceiling, errors.Join(err, tx.Enter(0))
}

// Filter selects tenants. A nil field selects all.
type Filter struct {
	Status *string
}

// List returns a page of the tenants that match the filter, newest first, for super-admins.
func (s *Service) List(ctx context.Context, by core.Actor, f Filter, p core.Page) (core.List[Tenant], error) {
	if err := by.RequireAdmin(); err != nil {
		return core.List[Tenant]{}, err
	}
	check := core.NewCheck(p.Malformed)
	if f.Status != nil {
		core.OneOf(check, "status", Status(*f.Status), Active, Suspended)
	}
	if err := check.Err(); err != nil {
		return core.List[Tenant]{}, err
	}
	return db.ListPage(ctx, s.db, core.Actor{}, tenantList, db.Args{"status": f.Status}, p, Tenant.position)
}

func (t Tenant) position() core.Cursor { return core.NumberCursor(t.CreatedAt, int64(t.ID)) }

// BySlug finds a tenant with its theme by the label in front of the host.
func BySlug(ctx context.Context, d *db.DB, slug string) (core.Tenant, error) {
	found, err := db.One[struct {
		db.TenantRow
		core.Theme
	}](ctx, d.Platform(), servedBySlugSQL, db.Args{"slug": slug})
	if err != nil {
		return core.Tenant{}, err
	}
	t, err := found.Tenant()
	t.Theme = found.Theme
	return t, err
}

// OpenDirectly finds the tenant whose data an operator opens in the database, or core.ErrNotFound, and
// writes into its audit log who opened it and whether they can change it.
func OpenDirectly(ctx context.Context, d *db.DB, slug, operator string, writes bool) (core.Tenant, error) {
	t, err := BySlug(ctx, d, slug)
	if err != nil {
		return t, err
	}
	by, action := core.System(t, operator), "tenant.open_read"
	if writes {
		action = "tenant.open_write"
	}
	return t, db.Run(ctx, d.Tenant(by), func(tx *db.Tx) error {
		return audit.Write(tx, by, audit.Entry{Action: action, Subject: "tenant", ID: idText(t.ID), Name: t.Name})
	})
}

// forServing returns what requests need to know about a tenant.
func (t Tenant) forServing() (core.Tenant, error) {
	zone, err := core.Zone(t.TimeZone)
	served := core.Tenant{ID: t.ID, Name: t.Name, Slug: t.Slug, TimeZone: zone, Currency: t.Currency, Country: t.country(), Suspended: t.Status == Suspended, Test: t.Test}
	if t.ConfirmAboveCents != nil {
		served.ConfirmAboveCents = *t.ConfirmAboveCents
	}
	return served, err
}

func (t Tenant) country() string { return countryCode(t.Country) }

// countryCode returns a country's code, or "".
func countryCode(country *string) string {
	if country == nil {
		return ""
	}
	return *country
}

func (t Tenant) subject() string { return idText(t.ID) }

func idText(t core.TenantID) string { return strconv.FormatInt(int64(t), 10) }

// facts returns what the audit log says about a tenant.
func (t Tenant) facts() map[string]any {
	facts := map[string]any{
		"name": t.Name, "slug": t.Slug, "email": t.Email, "plan_id": t.PlanID, "billing_cycle": t.BillingCycle,
		"payment_method": t.PaymentMethod, "status": t.Status, "timezone": t.TimeZone, "currency": t.Currency, "country": t.Country,
	}
	if t.Test {
		facts["test"] = true
	}
	return facts
}
