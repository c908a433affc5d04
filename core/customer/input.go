package customer

import (
	"net/mail"
	"regexp"
	"strconv"
	"strings"

	"github.com/nyaruka/phonenumbers"

	"example.com/loyalty/core"
)

// The limits of a customer's fields (specification §8, decisions §2).
const (
	maxName  = 100
	maxPhone = 30
	maxEmail = 255

	minDigits = 3 // of a phone number
)

// New describes a customer to be.
type New struct {
	FirstName *string
	LastName  *string
	Phone     *string
	Email     *string // may be missing

	Malformed core.Fields // what the front end could not read
}

// Edit describes a change of a customer: fields that are not set stay as they are.
type Edit struct {
	FirstName core.Optional[string]
	LastName  core.Optional[string]
	Phone     core.Optional[string]
	Email     core.Optional[string] // null clears it
	Status    core.Optional[string]

	Malformed core.Fields
}

// Details are a customer's checked details, with the keys to find them by.
type Details struct {
	FirstName, LastName string
	Phone, PhoneKey     string
	Email, EmailKey     *string
	Status              Status
}

func (n New) Validate(country string) (Details, error) {
	check := core.NewCheck(n.Malformed)
	in := Details{
		FirstName: check.Text("first_name", n.FirstName, maxName),
		LastName:  check.Text("last_name", n.LastName, maxName),
	}
	in.readPhone(check, n.Phone, country)
	in.readEmail(check, n.Email)
	return in, check.Err()
}

func (e Edit) validate(old Customer, country string) (Details, error) {
	check := core.NewCheck(e.Malformed)
	in := Details{FirstName: old.FirstName, LastName: old.LastName, Status: old.Status}
	if e.FirstName.Set {
		in.FirstName = check.Text("first_name", e.FirstName.Value, maxName)
	}
	if e.LastName.Set {
		in.LastName = check.Text("last_name", e.LastName.Value, maxName)
	}
	phone, email := &old.Phone, old.Email
	if e.Phone.Set {
		phone = e.Phone.Value
	}
	if e.Email.Set {
		email = e.Email.Value
	}
	in.readPhone(check, phone, country)
	in.readEmail(check, email)
	if e.Status.Set {
		if e.Status.Value == nil {
			check.Add("status", core.Required)
		} else {
			in.Status = Status(*e.Status.Value)
			core.OneOf(check, "status", in.Status, Active, Inactive)
		}
	}
	return in, check.Err()
}

func (in *Details) readPhone(check *core.Check, phone *string, country string) {
	in.Phone = check.Text("phone", phone, maxPhone)
	if !check.OK("phone") {
		return
	}
	key, ok := phoneKey(in.Phone, country)
	if !ok {
		check.Add("phone", core.MustBePhone)
	}
	in.PhoneKey = key
}

func (in *Details) readEmail(check *core.Check, email *string) {
	in.Email = check.OptionalText("email", email, maxEmail)
	if in.Email == nil {
		return
	}
	if !IsEmail(*in.Email) {
		check.Add("email", core.MustBeEmail)
	}
	key := strings.ToLower(*in.Email)
	in.EmailKey = &key
}

func IsEmail(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s && !strings.ContainsAny(s, " \t\r\n")
}

var notDigits = regexp.MustCompile(`[^0-9]+`)

// phoneKey is what a phone number is compared by: E.164 as dialled from the
// country, or its digits where that fails; at least three of them.
func phoneKey(phone, country string) (key string, ok bool) {
	region := country
	if region == "" {
		region = phonenumbers.UNKNOWN_REGION
	}
	if number, err := phonenumbers.Parse(phone, region); err == nil && phonenumbers.IsPossibleNumber(number) {
		return phonenumbers.Format(number, phonenumbers.E164), true
	}
	digits := notDigits.ReplaceAllString(phone, "")
	return digits, len(digits) >= minDigits
}

// contactKeys reads a phone number or an e-mail address by which a customer asks for their
// own card; the other key is nil. What can't be read is refused on the field "contact".
func contactKeys(contact, country string) (phone, email *string, err error) {
	check := core.NewCheck(nil)
	text := check.Text("contact", &contact, maxEmail)
	if !check.OK("contact") {
		return nil, nil, check.Err()
	}
	if IsEmail(text) {
		return nil, new(strings.ToLower(text)), nil
	}
	key, ok := phoneKey(text, country)
	if !ok || strings.Contains(text, "@") {
		check.Add("contact", core.Violation{Rule: "phone_or_email"})
	}
	return &key, nil, check.Err()
}

// phoneSearch reads what is typed at a till to find a customer: a phone number, by its key,
// or the last digits of one. Fewer than four digits are refused on the field.
func phoneSearch(typed, country string) (key, ending string, err error) {
	check := core.NewCheck(nil)
	text := check.Text("phone", &typed, maxPhone)
	key, _ = phoneKey(text, country)
	ending = notDigits.ReplaceAllString(text, "")
	if check.OK("phone") && len(ending) < fewestLastDigits {
		check.Add("phone", core.Violation{Rule: "phone_or_last_digits", Limit: 4})
	}
	return key, ending, check.Err()
}

const fewestLastDigits = 4

// phoneLike is what may be part of a phone number.
var phoneLike = regexp.MustCompile(`^[0-9+()/. \x{a0}-]+$`)

// dialling is the code that a country is called by from abroad, and the digits in front
// of a number within it; "" where there are none, or no country.
func dialling(country string) (code, trunk string) {
	return strconv.Itoa(phonenumbers.GetCountryCodeForRegion(country)), phonenumbers.GetNddPrefixForRegion(country, true)
}
