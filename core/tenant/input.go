package tenant

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/nyaruka/phonenumbers"

	"example.com/loyalty/core"
)

// Limits of texts, in characters, and of amounts (decisions §2 and §6).
const (
	maxName    = 100
	maxText    = 255
	maxCeiling = 1_000_000_000_000 // cents; the largest sale
)

// New describes a new tenant.
type New struct {
	Name          string
	Slug          string
	Email         string // the owner's
	PlanID        int64
	BillingCycle  string
	PaymentMethod string
	TimeZone      string // "": UTC
	Currency      string // "": EUR
	Country       string // "": none
	Test          bool   // for tests of an integration: never billed

	Malformed core.Fields // what the front end could not read
}

// Edit describes a change of a tenant: fields that are not set stay as they are.
type Edit struct {
	Name          core.Optional[string]
	Email         core.Optional[string]
	PlanID        core.Optional[int64]
	BillingCycle  core.Optional[string]
	PaymentMethod core.Optional[string]
	Status        core.Optional[string]
	TimeZone      core.Optional[string]
	Currency      core.Optional[string]
	Country       core.Optional[string] // null clears it

	Confirmed *string           // the key of a CurrencyChangeError; nil: a program, which isn't asked
	If        func(Tenant) bool // whether the stored tenant may be changed; nil: always
	Malformed core.Fields
}

func (n New) read() (Tenant, *core.Check) {
	check := core.NewCheck(n.Malformed)
	return Tenant{
		Name:          check.Text("name", &n.Name, maxName),
		Slug:          readSlug(check, &n.Slug),
		Email:         readEmail(check, &n.Email),
		PlanID:        readPlan(check, &n.PlanID),
		BillingCycle:  readBillingCycle(check, &n.BillingCycle),
		PaymentMethod: readPaymentMethod(check, &n.PaymentMethod),
		TimeZone:      readTimeZone(check, orElse(n.TimeZone, "UTC")),
		Currency:      readCurrency(check, orElse(n.Currency, "EUR"), ""),
		Country:       readCountry(check, &n.Country),
		Test:          n.Test,
	}, check
}

func (e Edit) read(old Tenant) (Tenant, *core.Check) {
	check := core.NewCheck(e.Malformed)
	t := old
	ifSet(e.Name, func(v *string) { t.Name = check.Text("name", v, maxName) })
	ifSet(e.Email, func(v *string) { t.Email = readEmail(check, v) })
	ifSet(e.PlanID, func(v *int64) { t.PlanID = readPlan(check, v) })
	ifSet(e.BillingCycle, func(v *string) { t.BillingCycle = readBillingCycle(check, v) })
	ifSet(e.PaymentMethod, func(v *string) { t.PaymentMethod = readPaymentMethod(check, v) })
	ifSet(e.Status, func(v *string) { t.Status = readChoice(check, "status", v, Active, Suspended) })
	ifSet(e.TimeZone, func(v *string) { t.TimeZone = readTimeZone(check, v) })
	ifSet(e.Currency, func(v *string) { t.Currency = readCurrency(check, v, old.Currency) })
	ifSet(e.Country, func(v *string) { t.Country = readCountry(check, v) })
	return t, check
}

func ifSet[T any](field core.Optional[T], read func(*T)) {
	if field.Set {
		read(field.Value)
	}
}

func orElse(v, otherwise string) *string {
	if strings.TrimSpace(v) == "" {
		return &otherwise
	}
	return &v
}

func readEmail(check *core.Check, v *string) string {
	s := check.Text("email", v, maxText)
	if check.OK("email") && !core.IsEmail(s) {
		check.Add("email", core.MustBeEmail)
	}
	return s
}

// readPlan reads a plan's id. The statement checks that it exists.
func readPlan(check *core.Check, v *int64) int64 {
	return check.Integer("plan_id", v, math.MinInt64, math.MaxInt64)
}

// readCeiling reads the amount above which people must confirm a sale; nil: never.
func readCeiling(check *core.Check, v *int64) *int64 {
	if v != nil {
		check.Integer("confirm_above_cents", v, 1, maxCeiling)
	}
	return v
}

func readBillingCycle(check *core.Check, v *string) BillingCycle {
	return readChoice(check, "billing_cycle", v, Monthly, Yearly)
}

func readPaymentMethod(check *core.Check, v *string) PaymentMethod {
	return readChoice(check, "payment_method", v, Manual, BankTransfer, Card, Stripe, PayPal)
}

func readChoice[T ~string](check *core.Check, field string, v *string, allowed ...T) T {
	value := T(check.Text(field, v, maxText))
	if check.OK(field) {
		core.OneOf(check, field, value, allowed...)
	}
	return value
}

func readTimeZone(check *core.Check, v *string) string {
	name := check.Text("timezone", v, maxText)
	if _, err := core.Zone(name); err != nil && check.OK("timezone") {
		check.Add("timezone", core.InvalidChoice)
	}
	return name
}

// readCurrency reads a currency that people pay with today. A tenant keeps the one that it has, also when it is
// withdrawn.
func readCurrency(check *core.Check, v *string, stored string) string {
	code := check.Text("currency", v, maxText)
	if check.OK("currency") && code != stored && !core.IsCurrency(code) {
		check.Add("currency", core.InvalidChoice)
	}
	return code
}

// countries are those with phone numbers, which a country is needed for.
var countries = phonenumbers.GetSupportedRegions()

// Countries returns the codes of the countries that a tenant can have, sorted.
func Countries() []string { return slices.Sorted(maps.Keys(countries)) }

func readCountry(check *core.Check, v *string) *string {
	code := check.OptionalText("country", v, maxText)
	if code != nil && !countries[*code] {
		check.Add("country", core.InvalidChoice)
	}
	return code
}
