package importing

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
)

// Field is what a column of a file holds.
type Field string

// The fields that an import fills. A column of none is left out.
const (
	NoField        Field = ""
	FirstNameField Field = "first_name"
	LastNameField  Field = "last_name"
	FullNameField  Field = "full_name" // is split: "Anna Lindqvist", "Lindqvist, Anna"
	PhoneField     Field = "phone"
	EmailField     Field = "email"
	CreatedAtField Field = "created_at"
	PointsField    Field = "points"
	StampsField    Field = "stamps"
)

// Fields are all of them, in the order in which they are offered.
var Fields = []Field{
	FirstNameField, LastNameField, FullNameField, PhoneField, EmailField, CreatedAtField, PointsField, StampsField,
}

// Mapping says how a file is read.
type Mapping struct {
	Columns []Field
	Heading bool // the first row names the columns, and is no customer
}

// validate refuses a mapping that could make no customer of any row.
func (m Mapping) validate(columns int) error {
	check := core.NewCheck(nil)
	seen := map[Field]bool{}
	for _, f := range m.Columns {
		switch {
		case f == NoField:
		case !slices.Contains(Fields, f):
			check.Add("columns", core.InvalidChoice)
		case seen[f]:
			check.Add("columns", core.Violation{Rule: "column_twice", Other: string(f)})
		}
		seen[f] = true
	}
	if len(m.Columns) != columns {
		check.Add("columns", core.InvalidChoice)
	}
	if !seen[PhoneField] {
		check.Add("columns", core.Violation{Rule: "phone_column"})
	}
	first, last, full := seen[FirstNameField], seen[LastNameField], seen[FullNameField]
	if first != last || first == full {
		check.Add("columns", core.Violation{Rule: "name_columns"})
	}
	return check.Err()
}

// guess says what the columns of a file hold, as far as their names tell. Where the first
// row looks like a customer, it names nothing.
func guess(first []string) Mapping {
	m := Mapping{Columns: make([]Field, len(first))}
	known, isCustomer := false, false
	for i, cell := range first {
		if f, ok := headings[simple(cell)]; ok && !slices.Contains(m.Columns, f) {
			m.Columns[i], known = f, true
		}
		isCustomer = isCustomer || core.IsEmail(cell) || len(digitsOf(cell)) > 6
	}
	m.Heading = known || !isCustomer
	// "Namn, Förnamn": with the parts there, the whole is not needed.
	if slices.Contains(m.Columns, FirstNameField) && slices.Contains(m.Columns, LastNameField) {
		if i := slices.Index(m.Columns, FullNameField); i >= 0 {
			m.Columns[i] = NoField
		}
	}
	return m
}

// simple is the name of a column without what people write differently.
func simple(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, norm.NFD.String(strings.NewReplacer("ø", "o", "æ", "ae", "ß", "ss").Replace(strings.ToLower(name))))
}

// headings are names of columns, simple, in the languages of the shops: English, Swedish,
// Norwegian, Danish, German, French, Spanish and Finnish.
var headings = func() map[string]Field {
	known := map[string]Field{}
	for field, names := range map[Field]string{
		FirstNameField: "firstname first givenname forename fornamn fornavn vorname prenom nombre nombredepila etunimi",
		LastNameField: "lastname last surname familyname efternamn etternavn efternavn nachname familienname nom nomdefamille " +
			"apellido apellidos sukunimi",
		FullNameField: "name fullname customer customername contact contactname namn fullstandigtnamn kund kundnamn navn fulltnavn fuldtnavn " +
			"kunde kundenavn kundenname nomcomplet nometprenom client nombrecompleto nombreyapellidos cliente nimi kokonimi asiakas",
		PhoneField: "phone phonenumber phoneno mobile mobilephone mobilenumber cell cellphone tel telephone telephonenumber " +
			"telefon telefonnummer telefonnr mobil mobilnummer mobilnr mobiltelefon tlf tlfnr telefonnumer handy handynummer rufnummer " +
			"portable numerodetelephone mobilephonenumber telefono numerodetelefono movil celular puhelin puhelinnumero matkapuhelin",
		EmailField: "email emailaddress mail mailaddress epost epostadress epostadresse mailadresse emailadresse courriel adresseemail " +
			"adressemail adresseelectronique correo correoelectronico sahkoposti sahkopostiosoite",
		CreatedAtField: "created createdat createdon dateadded added joined joinedat joindate membersince customersince firstvisit firstcheckin " +
			"registered registeredat registrationdate signupdate skapad skapades registrerad registreringsdatum medlemsedan kundsedan forstabesok " +
			"opprettet registrert registrertdato medlemsiden kundesiden oprettet oprettetdato registreret erstellt erstelltam angelegt angelegtam kundeseit mitgliedseit " +
			"registriertam ersterbesuch cree creele datedecreation inscrit inscritle datedinscription dateinscription clientdepuis membredepuis " +
			"creado creadoel fechadecreacion fechadealta fechaalta alta clientedesde fechaderegistro luotu luontipaiva rekisteroity liittynyt liittymispaiva asiakasalkaen",
		PointsField: "points point pointsbalance loyaltypoints bonuspoints pointbalance poang poangsaldo bonuspoang poeng poengsaldo poengsum " +
			"pointsaldo punkte punktestand bonuspunkte treuepunkte soldedepoints pointsfidelite puntos saldodepuntos pisteet pistesaldo",
		StampsField: "stamps stamp stampsbalance stamplar stampel stempler stempel tampons tampon sellos sello leimat leimasaldo",
	} {
		for name := range strings.FieldsSeq(names) {
			known[name] = field
		}
	}
	return known
}()

// validRow is a row without problems.
type validRow struct {
	customer.Details
	createdAt      *time.Time // nil: now
	points, stamps int64
}

// Problem is what stands against a row of a file.
type Problem struct {
	FileRow int64  // as spreadsheets count them: the first is 1
	Field   string // "" of the row as a whole
	Value   string // what stands there, or how it begins
	core.Violation
}

// reading is what the rows of a file are read as.
type reading struct {
	fields  []Field
	columns int64
	country string
	zone    *time.Location
	now     time.Time
}

// row reads a record as a customer, or says everything that is wrong with it.
func (rd reading) row(rec record) (validRow, []Problem) {
	if rec.broken != nil {
		return validRow{}, []Problem{{FileRow: rec.row, Violation: *rec.broken}}
	}
	if extra := len(rec.cells) - int(rd.columns); extra > 0 && slices.ContainsFunc(rec.cells[rd.columns:], func(s string) bool { return s != "" }) {
		return validRow{}, []Problem{{FileRow: rec.row, Violation: core.Violation{Rule: "too_many_values", Limit: rd.columns, Other: strconv.Itoa(len(rec.cells))}}}
	}
	values := map[Field]string{}
	for i, field := range rd.fields {
		if i < len(rec.cells) {
			values[field] = rec.cells[i]
		}
	}
	first, last := values[FirstNameField], values[LastNameField]
	if full, whole := values[FullNameField]; whole {
		first, last = split(full)
	}
	phone, email := values[PhoneField], values[EmailField]
	in, err := customer.New{FirstName: &first, LastName: &last, Phone: &phone, Email: &email}.Validate(rd.country)
	var refusal *core.Error
	errors.As(err, &refusal)
	check := core.NewCheck(nil)
	r := validRow{
		Details:   in,
		createdAt: rd.instant(check, values[CreatedAtField]),
		points:    opening(check, PointsField, values[PointsField]),
		stamps:    opening(check, StampsField, values[StampsField]),
	}
	var more *core.Error
	errors.As(check.Err(), &more)
	return r, append(problems(rec.row, refusal, values), problems(rec.row, more, values)...)
}

func problems(row int64, refusal *core.Error, values map[Field]string) (list []Problem) {
	if refusal == nil {
		return nil
	}
	for _, name := range refusal.Fields.Names() {
		value, mapped := values[Field(name)]
		if !mapped {
			value = values[FullNameField]
		}
		list = append(list, Problem{FileRow: row, Field: name, Value: shortened(value), Violation: refusal.Fields[name][0]})
	}
	return list
}

// maxShown is as much of a value as a problem names.
const maxShown = 100

func shortened(value string) string {
	letters := []rune(strings.ReplaceAll(value, "\n", " "))
	if len(letters) <= maxShown {
		return string(letters)
	}
	return string(letters[:maxShown]) + "…"
}

// split parts a full name: at its comma, or before its last word and the small words in
// front of that, as in "Cecilia von Åkern".
func split(full string) (first, last string) {
	if last, first, turned := strings.Cut(full, ","); turned {
		return strings.TrimSpace(first), strings.TrimSpace(last)
	}
	words := strings.Fields(full)
	if len(words) < 2 {
		return full, ""
	}
	at := len(words) - 1
	if isCapital(words[at]) {
		for at > 1 && !isCapital(words[at-1]) {
			at--
		}
	}
	return strings.Join(words[:at], " "), strings.Join(words[at:], " ")
}

func isCapital(word string) bool {
	for _, r := range word {
		return !unicode.IsLower(r)
	}
	return false
}

// How days are written, and what may follow them. Days with slashes begin with the day,
// as they do everywhere but in the United States.
var (
	days  = []string{"2006-1-2", "2.1.2006", "2/1/2006", "2-1-2006", "2006/1/2", "20060102"}
	times = []string{"", " 15:04", " 15:04:05"}
)

// instant reads when somebody first came: a day, or a time, of the tenant's.
func (rd reading) instant(check *core.Check, text string) *time.Time {
	if text == "" {
		return nil
	}
	at, ok := parseInstant(text, rd.zone)
	switch {
	case !ok:
		check.Add("created_at", core.Violation{Rule: "day"})
	case at.Before(time.Unix(0, 0)): // no list goes further back
		check.Add("created_at", core.Violation{Rule: "after_1970"})
	case at.After(rd.now):
		check.Add("created_at", core.MustBePast)
	}
	return &at
}

func parseInstant(text string, zone *time.Location) (time.Time, bool) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.UTC().Truncate(time.Millisecond), true
	}
	text = strings.Replace(text, "T", " ", 1)
	for _, day := range days {
		for _, clock := range times {
			read, err := time.Parse(day+clock, text)
			if err != nil {
				continue
			}
			if clock == "" {
				return core.StartOfDate(read, zone).UTC(), true
			}
			return time.Date(read.Year(), read.Month(), read.Day(), read.Hour(), read.Minute(), read.Second(), 0, zone).UTC(), true
		}
	}
	return time.Time{}, false
}

var ungrouped = strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "'", "", "’", "")

// opening reads a balance: a whole number, with nothing but spaces between its thousands.
// A comma or a point may be of thousands or of fractions, and a guess could be wrong a
// thousand times over.
func opening(check *core.Check, field Field, text string) int64 {
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(ungrouped.Replace(text), 10, 64)
	if err != nil {
		check.Add(string(field), core.MustBeInteger)
		return 0
	}
	return check.Integer(string(field), &n, 0, ledger.MaxAward)
}

// digitsOf is a text without everything but its digits.
func digitsOf(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}
