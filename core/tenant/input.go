package tenant

import (
	"maps"
	"math"
	"net/mail"
	"regexp"
	"slices"
	"strings"

	"github.com/nyaruka/phonenumbers"
	"golang.org/x/text/currency"

	"example.com/loyalty/core"
)

// The limits of a tenant's texts (decisions §2 and §6).
const (
	maxName    = 100
	maxSlug    = 40
	maxText    = 255
	maxCeiling = 1_000_000_000_000 // no sale is larger
)

// New describes a tenant to be.
type New struct {
	Name          *string
	Slug          *string
	Email         *string // the owner's
	PlanID        *int64
	BillingCycle  *string
	PaymentMethod *string
	TimeZone      *string // may be missing: UTC
	Currency      *string // may be missing: EUR
	Country       *string // may be missing: none

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

	Malformed core.Fields
}

func (n New) read() (Tenant, *core.Check) {
	check := core.NewCheck(n.Malformed)
	return Tenant{
		Name:          check.Text("name", n.Name, maxName),
		Slug:          slug(check, n.Slug),
		Email:         email(check, n.Email),
		PlanID:        plan(check, n.PlanID),
		BillingCycle:  billingCycle(check, n.BillingCycle),
		PaymentMethod: paymentMethod(check, n.PaymentMethod),
		TimeZone:      timeZone(check, orElse(n.TimeZone, "UTC")),
		Currency:      currencyCode(check, orElse(n.Currency, "EUR")),
		Country:       country(check, n.Country),
	}, check
}

func (e Edit) read(old Tenant) (Tenant, *core.Check) {
	check := core.NewCheck(e.Malformed)
	t := old
	sent(e.Name, func(v *string) { t.Name = check.Text("name", v, maxName) })
	sent(e.Email, func(v *string) { t.Email = email(check, v) })
	sent(e.PlanID, func(v *int64) { t.PlanID = plan(check, v) })
	sent(e.BillingCycle, func(v *string) { t.BillingCycle = billingCycle(check, v) })
	sent(e.PaymentMethod, func(v *string) { t.PaymentMethod = paymentMethod(check, v) })
	sent(e.Status, func(v *string) { t.Status = oneOf(check, "status", v, Active, Suspended) })
	sent(e.TimeZone, func(v *string) { t.TimeZone = timeZone(check, v) })
	sent(e.Currency, func(v *string) { t.Currency = currencyCode(check, v) })
	sent(e.Country, func(v *string) { t.Country = country(check, v) })
	return t, check
}

func sent[T any](field core.Optional[T], read func(*T)) {
	if field.Set {
		read(field.Value)
	}
}

func orElse(v *string, otherwise string) *string {
	if v == nil || strings.TrimSpace(*v) == "" {
		return &otherwise
	}
	return v
}

// reserved slugs would collide with host names of the platform itself, now or later.
var reserved = []string{
	"admin", "api", "app", "assets", "auth", "billing", "blog", "cdn", "docs", "help", "login", "mail", "platform",
	"static", "status", "support", "test", "www",
}

var slugPattern = regexp.MustCompile(`^[a-z0-9](-?[a-z0-9])+$`)

func slug(check *core.Check, v *string) string {
	s := check.Text("slug", v, maxSlug)
	if check.OK("slug") && (len(s) < 3 || !slugPattern.MatchString(s) || slices.Contains(reserved, s)) {
		check.Add("slug", core.InvalidChoice)
	}
	return s
}

func email(check *core.Check, v *string) string {
	s := check.Text("email", v, maxText)
	if a, err := mail.ParseAddress(s); check.OK("email") && (err != nil || a.Address != s) {
		check.Add("email", core.MustBeEmail)
	}
	return s
}

// plan reads a plan's id. Whether there is such a plan is for the statement to say.
func plan(check *core.Check, v *int64) int64 {
	return check.Integer("plan_id", v, math.MinInt64, math.MaxInt64)
}

// ceiling reads the amount above which people are asked once more; nil: they never are.
func ceiling(check *core.Check, v *int64) *int64 {
	if v != nil {
		check.Integer("confirm_above_cents", v, 1, maxCeiling)
	}
	return v
}

func billingCycle(check *core.Check, v *string) BillingCycle {
	return oneOf(check, "billing_cycle", v, Monthly, Yearly)
}

func paymentMethod(check *core.Check, v *string) PaymentMethod {
	return oneOf(check, "payment_method", v, Manual, BankTransfer, Card, Stripe, PayPal)
}

func oneOf[T ~string](check *core.Check, field string, v *string, allowed ...T) T {
	value := T(check.Text(field, v, maxText))
	if check.OK(field) {
		core.OneOf(check, field, value, allowed...)
	}
	return value
}

func timeZone(check *core.Check, v *string) string {
	name := check.Text("timezone", v, maxText)
	if _, err := core.Zone(name); err != nil && check.OK("timezone") {
		check.Add("timezone", core.InvalidChoice)
	}
	return name
}

// currencies are those in use somewhere. The library knows more, that are no more or
// no money (XAU), and not yet those that came after 2017.
var currencies = func() map[string]bool {
	known := map[string]bool{"MRU": true, "SLE": true, "VED": true, "VES": true, "XCG": true, "ZWG": true}
	for in := currency.Query(); in.Next(); {
		known[in.Unit().String()] = true
	}
	return known
}()

// Currencies are the codes of those that a tenant may count in, sorted.
func Currencies() []string { return slices.Sorted(maps.Keys(currencies)) }

func currencyCode(check *core.Check, v *string) string {
	code := check.Text("currency", v, maxText)
	if check.OK("currency") && !currencies[code] {
		check.Add("currency", core.InvalidChoice)
	}
	return code
}

// countries are those that have phone numbers, which is what a country is for here.
var countries = phonenumbers.GetSupportedRegions()

// Countries are the codes of those that a tenant may be in, sorted.
func Countries() []string { return slices.Sorted(maps.Keys(countries)) }

func country(check *core.Check, v *string) *string {
	code := check.OptionalText("country", v, maxText)
	if code != nil && !countries[*code] {
		check.Add("country", core.InvalidChoice)
	}
	return code
}
