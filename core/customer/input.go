package customer

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

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

// New describes a new customer.
type New struct {
	FirstName *string
	LastName  *string
	Phone     *string
	Email     *string // optional

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

// Details are a customer's valid details, with the keys that find them.
type Details struct {
	FirstName, LastName string
	Phone, PhoneKey     string
	Email, EmailKey     *string
	Status              Status
}

// Validate checks the details of a new customer in a country.
func (n New) Validate(country string) (Details, error) {
	check := core.NewCheck(n.Malformed)
	in := Details{
		FirstName: check.Text("first_name", n.FirstName, maxName),
		LastName:  check.Text("last_name", n.LastName, maxName),
	}
	in.readPhone(check, n.Phone, country)
	in.readEmail(check, n.Email, nil)
	return in, check.Err()
}

func (e Edit) validate(old Customer, country string) (Details, error) {
	check := core.NewCheck(e.Malformed)
	in := Details{
		FirstName: check.Text("first_name", e.FirstName.Or(&old.FirstName), maxName),
		LastName:  check.Text("last_name", e.LastName.Or(&old.LastName), maxName),
	}
	in.readPhone(check, e.Phone.Or(&old.Phone), country)
	in.readEmail(check, e.Email.Or(old.Email), old.Email)
	if status := e.Status.Or(new(string(old.Status))); status == nil {
		check.Add("status", core.Required)
	} else {
		in.Status = Status(*status)
		core.OneOf(check, "status", in.Status, Active, Inactive)
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

// readEmail reads an e-mail address. The stored one stays, even if it is refused by now.
func (in *Details) readEmail(check *core.Check, email, stored *string) {
	in.Email = check.OptionalText("email", email, maxEmail)
	if in.Email == nil {
		return
	}
	if !core.IsEmail(*in.Email) && (stored == nil || *email != *stored) {
		check.Add("email", core.MustBeEmail)
	}
	key := strings.ToLower(*in.Email)
	in.EmailKey = &key
}

var notDigits = regexp.MustCompile(`[^0-9]+`)

// phoneKey returns the key by which a phone number is compared: E.164 as dialled in the country, or else
// its digits, if there are at least three.
func phoneKey(phone, country string) (key string, ok bool) {
	region := country
	if region == "" {
		region = phonenumbers.UNKNOWN_REGION
	}
	if number, err := phonenumbers.Parse(phone, region); err == nil && phonenumbers.IsPossibleNumber(number) {
		return phonenumbers.Format(number, phonenumbers.E164), true
	}
	digits := notDigits.ReplaceAllString(core.ASCIIDigits(phone), "")
	return digits, len(digits) >= minDigits
}

// phoneSearch reads what is typed at a till to find a customer: a phone number or its last digits, at
// least four.
func phoneSearch(typed, country string) (key, ending string, err error) {
	check := core.NewCheck(nil)
	text := check.Text("phone", &typed, maxPhone)
	key, _ = phoneKey(text, country)
	ending = notDigits.ReplaceAllString(core.ASCIIDigits(text), "")
	if check.OK("phone") && len(ending) < fewestLastDigits {
		check.Add("phone", core.Violation{Rule: "phone_or_last_digits", Limit: 4})
	}
	return key, ending, check.Err()
}

const (
	fewestLastDigits = 4
	fewestLetters    = 2
)

// isName reports whether a text that is searched at the till is a name or an e-mail address, not a phone number.
func isName(typed string) bool {
	letters, digits := 0, 0
	for _, r := range typed {
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			digits++
		}
	}
	return letters >= fewestLetters && (digits < fewestLastDigits || strings.ContainsRune(typed, '@'))
}

// phoneLike matches texts that can be part of a phone number.
var phoneLike = regexp.MustCompile(`^[0-9+()/. \x{a0}-]+$`)

// dialling returns a country's calling code and the trunk prefix of numbers within it; "" for none.
func dialling(country string) (code, trunk string) {
	return strconv.Itoa(phonenumbers.GetCountryCodeForRegion(country)), phonenumbers.GetNddPrefixForRegion(country, true)
}
