package customer

import (
	"maps"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/nyaruka/phonenumbers"

	"example.com/loyalty/core"
)

// The limits of a customer's fields (specification §8, decisions §2).
const (
	maxName  = 100
	maxPhone = 30
	maxEmail = 255

	MaxExternalID = 100
)

// New describes a new customer.
type New struct {
	FirstName string
	LastName  string
	Phone     string
	Email     string // "": none

	ExternalID string // a program's own, by which it finds them; "": none
	Metadata   core.Metadata
	Tags       []string
	Birthday   string // "": unknown

	Malformed core.Fields // what the front end could not read
}

// Edit describes a change of a customer: fields that are not set stay as they are.
type Edit struct {
	FirstName core.Optional[string]
	LastName  core.Optional[string]
	Phone     core.Optional[string]
	Email     core.Optional[string] // null clears it
	Status    core.Optional[string]

	ExternalID core.Optional[string]             // null removes it
	Metadata   core.Optional[map[string]*string] // the keys that change; null removes a key, or all
	Tags       core.Optional[[]string]           // replace them all; null: none
	Birthday   core.Optional[string]             // null removes it

	If        func(Customer) bool // whether the stored customer may be changed; nil: always
	Malformed core.Fields
}

// Details are a customer's valid details, with the keys that find them.
type Details struct {
	FirstName, LastName string
	Phone, PhoneKey     string // "": none
	Email, EmailKey     *string
	Status              Status

	ExternalID *string
	Metadata   core.Metadata
	Tags       []string
	Birthday   *Birthday

	UncheckedSince *time.Time // as in Customer
}

// Validate checks the details of a new customer in a country. Where a phone number is optional, a customer without one
// needs an e-mail address.
func (n New) Validate(country string, phoneOptional bool, now time.Time) (Details, error) {
	check := core.NewCheck(n.Malformed)
	in := Details{
		FirstName: check.Text("first_name", &n.FirstName, maxName),
		LastName:  check.Text("last_name", &n.LastName, maxName),
	}
	if !phoneOptional || !isBlank(&n.Phone) {
		in.readPhone(check, &n.Phone, country)
	}
	in.readEmail(check, &n.Email)
	if phoneOptional && in.PhoneKey == "" && in.Email == nil && check.OK("phone") && check.OK("email") {
		check.Add("email", core.RequiredWithout("phone"))
	}
	in.ExternalID = check.OptionalText("external_id", &n.ExternalID, MaxExternalID)
	in.Metadata = check.Metadata("metadata", n.Metadata)
	in.Tags = readTags(check, n.Tags)
	in.Birthday = checkBirthday(check, &n.Birthday, now)
	return in, check.Err()
}

// isBlank reports whether no phone number was entered.
func isBlank(phone *string) bool { return phone == nil || core.Trimmed(cleanPhone(*phone)) == "" }

// validate checks an edit. Stored values stay with their keys, even if by now they would be read otherwise or
// refused.
func (e Edit) validate(old lockedCustomer, now time.Time) (Details, error) {
	check := core.NewCheck(e.Malformed)
	in := Details{
		FirstName: check.Text("first_name", e.FirstName.Or(&old.FirstName), maxName),
		LastName:  check.Text("last_name", e.LastName.Or(&old.LastName), maxName),
	}
	switch phone := e.Phone.Or(&old.Phone); {
	case core.OrZero(phone) == old.Phone:
		in.Phone, in.PhoneKey = old.Phone, old.PhoneKey
	case !old.PhoneOptional || !isBlank(phone):
		in.readPhone(check, phone, old.Country)
	}
	if email := e.Email.Or(old.Email); email != nil && old.Email != nil && *email == *old.Email {
		in.Email, in.EmailKey = old.Email, old.EmailKey
	} else {
		in.readEmail(check, email)
	}
	if in.PhoneKey == "" && in.Email == nil && check.OK("phone") && check.OK("email") {
		if e.Email.Set {
			check.Add("email", core.RequiredWithout("phone"))
		} else {
			check.Add("phone", core.RequiredWithout("email"))
		}
	}
	in.ExternalID, in.Metadata, in.Tags, in.Birthday = old.ExternalID, old.Metadata, old.Tags, old.Birthday
	if e.ExternalID.Set {
		in.ExternalID = check.OptionalText("external_id", e.ExternalID.Value, MaxExternalID)
	}
	if e.Metadata.Set {
		in.Metadata = check.Metadata("metadata", patched(old.Metadata, e.Metadata.Value))
	}
	if e.Tags.Set {
		in.Tags = readTags(check, core.OrZero(e.Tags.Value))
	}
	if e.Birthday.Set {
		in.Birthday = checkBirthday(check, e.Birthday.Value, now)
	}
	if status := e.Status.Or(new(string(old.Status))); status == nil {
		check.Add("status", core.Required)
	} else {
		in.Status = Status(*status)
		core.OneOf(check, "status", in.Status, Active, Inactive)
	}
	return in, check.Err()
}

// patched returns metadata with changed keys (RFC 7396); nil removes all.
func patched(old core.Metadata, change *map[string]*string) core.Metadata {
	if change == nil {
		return nil
	}
	m := core.Metadata{}
	maps.Copy(m, old)
	for key, value := range *change {
		if value == nil {
			delete(m, key)
		} else {
			m[key] = *value
		}
	}
	return m
}

func (in *Details) readPhone(check *core.Check, text *string, country string) {
	read := checkPhone(check, text, country)
	in.Phone, in.PhoneKey = read.text, read.key
}

// checkPhone reads a required phone number of the field "phone".
func checkPhone(check *core.Check, text *string, country string) phone {
	if text == nil {
		check.Text("phone", nil, maxPhone)
		return phone{}
	}
	read, refusal := readPhone(*text, country)
	// Two numbers are often too long as well.
	if refusal != nil && *refusal == OnePhone {
		check.Add("phone", OnePhone)
		return phone{}
	}
	read.text = check.Text("phone", &read.text, maxPhone)
	if check.OK("phone") && refusal != nil {
		check.Add("phone", *refusal)
	}
	return read
}

func (in *Details) readEmail(check *core.Check, email *string) {
	in.Email = check.OptionalText("email", email, maxEmail)
	if in.Email == nil {
		return
	}
	if !core.IsEmail(*in.Email) {
		check.Add("email", core.MustBeEmail)
	}
	in.EmailKey = new(core.EmailKey(*in.Email))
}

// phoneSearch reads what is typed at a till to find a customer: a phone number or its last digits, at
// least four.
func phoneSearch(typed, country string) (key, ending string, err error) {
	check := core.NewCheck(nil)
	read, _ := readPhone(typed, country)
	number, _ := cutExtension(check.Text("phone", &read.text, maxPhone))
	ending = notDigits.ReplaceAllString(number, "")
	if check.OK("phone") && len(ending) < fewestLastDigits {
		check.Add("phone", core.Violation{Rule: "phone_or_last_digits", Limit: 4})
	}
	return read.key, ending, check.Err()
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

// dialling returns a country's calling code and the trunk prefix of numbers within it; "" for none.
func dialling(country string) (code, trunk string) {
	return strconv.Itoa(phonenumbers.GetCountryCodeForRegion(country)), phonenumbers.GetNddPrefixForRegion(country, true)
}
