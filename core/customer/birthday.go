package customer

import (
	"strings"
	"time"

	"example.com/loyalty/core"
)

// Birthday is a day of the year, like "05-21", or with the year of birth, like "1990-05-21".
type Birthday string

// MustBeBirthday is the rule of a birthday.
var MustBeBirthday = core.Violation{Rule: "birthday"}

// firstYear is the first year of birth.
const firstYear = 1900

// ParseBirthday reads a birthday as the API and the database write it. 29 February is one, too.
func ParseBirthday(text string) (Birthday, bool) {
	born, hasYear, ok := Birthday(text).date()
	if !ok || hasYear && born.Year() < firstYear {
		return "", false
	}
	return Birthday(text), true
}

// ReadBirthday reads a birthday as people and other programs write it, also with dots or slashes: then the order of day and month is
// theirs. A time after it is ignored.
func ReadBirthday(text string, monthFirst bool) (Birthday, bool) {
	text, _, _ = strings.Cut(strings.Replace(core.Trimmed(text), "T", " ", 1), " ")
	if b, ok := ParseBirthday(text); ok {
		return b, true
	}
	layouts := []string{"2006-1-2", "2006/1/2", "2006.1.2", "20060102", "2.1.2006", "2/1/2006", "2-1-2006", "2.1.", "2.1", "2/1"}
	if monthFirst {
		layouts = []string{"2006-1-2", "2006/1/2", "2006.1.2", "20060102", "1/2/2006", "1.2.2006", "1-2-2006", "1/2", "1.2"}
	}
	for _, layout := range layouts {
		hasYear := strings.Contains(layout, "2006")
		if !hasYear {
			layout, text = layout+" 2006", text+" 2000" // which has all days
		}
		born, err := time.Parse(layout, text)
		switch {
		case err == nil && hasYear:
			return ParseBirthday(born.Format(time.DateOnly))
		case err == nil:
			return Birthday(born.Format("01-02")), true
		}
		text = strings.TrimSuffix(text, " 2000")
	}
	return "", false
}

// date returns the day of birth; without its year, that of a leap year.
func (b Birthday) date() (born time.Time, hasYear, ok bool) {
	if born, err := time.Parse(time.DateOnly, string(b)); err == nil {
		return born, true, true
	}
	born, err := time.Parse(time.DateOnly, "2000-"+string(b)) // which has all days
	return born, false, err == nil
}

// Date returns the day and, if it is known, the year; else 0.
func (b Birthday) Date() (year int, month time.Month, day int) {
	born, hasYear, _ := b.date()
	if hasYear {
		year = born.Year()
	}
	return year, born.Month(), born.Day()
}

// parts returns a birthday as it is stored.
func (b *Birthday) parts() (year, month, day *int) {
	if b == nil {
		return nil, nil, nil
	}
	born, hasYear, _ := b.date()
	if hasYear {
		year = new(born.Year())
	}
	return year, new(int(born.Month())), new(born.Day())
}

// checkBirthday reads an optional birthday, which isn't in the future.
func checkBirthday(check *core.Check, text *string, now time.Time) *Birthday {
	given := check.OptionalText("birthday", text, maxBirthday)
	if given == nil || !check.OK("birthday") {
		return nil
	}
	b, ok := ParseBirthday(*given)
	if !ok {
		check.Add("birthday", MustBeBirthday)
		return nil
	}
	// In some time zone it is already tomorrow.
	if born, hasYear, _ := b.date(); hasYear && born.After(now.AddDate(0, 0, 1)) {
		check.Add("birthday", core.MustBePast)
	}
	return &b
}

// maxBirthday is more than any birthday needs.
const maxBirthday = 30
