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
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
)

// Field is the content of a file's column.
type Field string

// The fields of an import. A column of NoField is ignored.
const (
	NoField         Field = ""
	FirstNameField  Field = "first_name"
	LastNameField   Field = "last_name"
	FullNameField   Field = "full_name" // "Anna Lindqvist" or "Lindqvist, Anna"
	PhoneField      Field = "phone"
	EmailField      Field = "email"
	CreatedAtField  Field = "created_at"
	PointsField     Field = "points"
	StampsField     Field = "stamps"
	ExternalIDField Field = "external_id"
	BirthdayField   Field = "birthday"
	LevelField      Field = "level"
	ExpiresOnField  Field = "expires_on" // the last day of both
)

// Fields lists them in the order of a selection.
var Fields = []Field{
	FirstNameField, LastNameField, FullNameField, PhoneField, EmailField, CreatedAtField, PointsField, StampsField, ExternalIDField, BirthdayField, LevelField, ExpiresOnField,
}

// FieldsOf lists the fields that a business can import: a level only if it has levels, and a last day only if its points or stamps have one.
func FieldsOf(t core.Tenant, levels award.Levels) []Field {
	return slices.DeleteFunc(slices.Clone(Fields), func(f Field) bool { return f.missing(t, levels) != nil })
}

// missing says what a business lacks for a field; nil: nothing.
func (f Field) missing(t core.Tenant, levels award.Levels) *core.Violation {
	switch {
	case f == ExpiresOnField && !t.PointsExpiry.Ends() && !t.StampsExpiry.Ends():
		return &core.Violation{Rule: "nothing_expires"}
	case f == LevelField && !levels.Exist():
		return &core.Violation{Rule: "no_levels"}
	}
	return nil
}

// Mapping says how a file is read.
type Mapping struct {
	Encoding  Encoding // "": as recognised
	Header    int64    // which row is the header row, of those that aren't empty: 1, 2 …; 0: none
	Columns   []Field
	DateOrder DateOrder // "": as the column says, else as the country does
}

// validate refuses a mapping with which no row could become a customer.
func (m Mapping) validate(l layout, recognised Encoding, t core.Tenant, levels award.Levels) error {
	check := core.NewCheck(nil)
	if !slices.Contains(Encodings, m.Encoding) {
		check.Add("encoding", core.InvalidChoice)
	} else if !m.Encoding.fits(recognised) {
		check.Add("encoding", otherEncoding(recognised))
	}
	if !l.mayBeHeader(m.Header) {
		check.Add("heading", core.InvalidChoice)
	}
	core.OneOf(check, "dates", m.DateOrder, "", DayFirst, MonthFirst)
	seen := map[Field]bool{}
	for _, f := range m.Columns {
		switch {
		case f == NoField:
		case !slices.Contains(Fields, f):
			check.Add("columns", core.InvalidChoice)
		case f.missing(t, levels) != nil:
			check.Add("columns", *f.missing(t, levels))
		case seen[f]:
			check.Add("columns", core.Violation{Rule: "column_twice", Other: string(f)})
		}
		seen[f] = true
	}
	if len(m.Columns) != l.columns(m.Header) {
		check.Add("columns", core.InvalidChoice)
	}
	if !seen[PhoneField] && (!t.PhoneOptional || !seen[EmailField]) {
		check.Add("columns", core.Violation{Rule: "phone_column"})
	}
	first, last, full := seen[FirstNameField], seen[LastNameField], seen[FullNameField]
	if first != last || first == full {
		check.Add("columns", core.Violation{Rule: "name_columns"})
	}
	return check.Err()
}

func otherEncoding(recognised Encoding) core.Violation {
	if recognised.isUTF16() {
		return core.Violation{Rule: "only_utf16"}
	}
	return core.Violation{Rule: "not_utf16"}
}

// simplify returns the letters of a column's name, in lower case and without accents.
func simplify(name string) string {
	return keep(unicode.IsLetter, norm.NFD.String(strings.NewReplacer("ø", "o", "æ", "ae", "ß", "ss").Replace(strings.ToLower(name))))
}

// keep returns the characters of a text that a function accepts.
func keep(accept func(rune) bool, text string) string {
	return strings.Map(func(r rune) rune {
		if accept(r) {
			return r
		}
		return -1
	}, text)
}

// headers maps simplified names of columns to fields, in English, Swedish, Norwegian, Danish,
// German, French, Spanish and Finnish.
var headers = func() map[string]Field {
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
		CreatedAtField: "created createdat createdon dateadded added joined joinedat joindate since membersince customersince firstvisit firstcheckin " +
			"registered registeredat registrationdate signupdate skapad skapades registrerad registreringsdatum medlemsedan kundsedan forstabesok " +
			"opprettet registrert registrertdato medlemsiden kundesiden oprettet oprettetdato registreret erstellt erstelltam angelegt angelegtam kundeseit mitgliedseit " +
			"registriertam ersterbesuch cree creele datedecreation inscrit inscritle datedinscription dateinscription clientdepuis membredepuis " +
			"creado creadoel fechadecreacion fechadealta fechaalta alta clientedesde fechaderegistro luotu luontipaiva rekisteroity liittynyt liittymispaiva asiakasalkaen",
		PointsField: "points point pointsbalance loyaltypoints bonuspoints pointbalance poang poangsaldo bonuspoang poeng poengsaldo poengsum " +
			"pointsaldo punkte punktestand bonuspunkte treuepunkte soldedepoints pointsfidelite puntos saldodepuntos pisteet pistesaldo",
		StampsField:     "stamps stamp stampsbalance stamplar stampel stempler stempel tampons tampon sellos sello leimat leimasaldo",
		ExternalIDField: "externalid externalreference externalcustomerid",
		BirthdayField: "birthday birthdate dateofbirth dob born fodelsedag fodelsedatum fodd fodselsdag fodselsdato fodt geburtstag geburtsdatum geboren " +
			"anniversaire datedenaissance nele cumpleanos fechadenacimiento fechanacimiento syntymapaiva syntymaaika syntynyt",
		LevelField: "level tier loyaltylevel loyaltytier customerlevel membershiplevel nivaa niva kundniva medlemsniva nivo kundeniva medlemsnivaa " +
			"stufe kundenstufe niveau palier nivel taso asiakastaso jasentaso",
		ExpiresOnField: "expires expireson expiration expirationdate expiry expirydate pointsexpire pointsexpireon pointsexpiry pointsexpirydate validuntil " +
			"giltigtill giltigttom giltigtom utgar utgangsdatum poangengiltigatill gyldigtil gyldigtilogmed utloper utlopsdato udlober udlobsdato " +
			"gultigbis ablaufdatum verfalltam verfallsdatum verfallam valablejusquau valablejusqua dateexpiration datedexpiration expirele " +
			"validohasta caduca caducael fechadecaducidad caducidad vencimiento fechadevencimiento voimassa voimassaasti vanhenee vanhenemispaiva",
	} {
		for name := range strings.FieldsSeq(names) {
			known[name] = field
		}
	}
	return known
}()

// validRow is a row without problems.
type validRow struct {
	row int64
	customer.Details
	createdAt      *time.Time // nil: now
	points, stamps int64
	level          *award.Level // nil: none, or the first one
	expiresOn      *time.Time   // nil: by the rules
}

// Problem is a mistake in a row of a file.
type Problem struct {
	FileRow int64  // as spreadsheets count: from 1
	Field   string // "": the row as a whole
	Value   string // the beginning of the cell
	core.Violation
	Repeats *Repeated // of a row that isn't imported because it repeats something; else nil
}

// Repeated is what a row repeats: another row or an existing customer with the same phone number, e-mail address or external
// ID, which is the problem's field.
type Repeated struct {
	Name         string   // of the customer in the row
	Row          int64    // the row that is repeated; 0: a customer
	Customer     *core.ID // nil: a row
	CustomerName string   // as they are called now
}

// rowReader turns records into customers.
type rowReader struct {
	fields    []Field
	columns   int64
	country   string
	dateOrder DateOrder

	phoneOptional bool
	levels        award.Levels // those of the business; a column with levels is left out where it has none
	zone          *time.Location
	now           time.Time
}

// read returns the customer of a record, or every problem with it.
func (rr rowReader) read(rec record) (validRow, []Problem) {
	if rec.broken != nil {
		return validRow{}, []Problem{{FileRow: rec.row, Violation: *rec.broken}}
	}
	if len(rec.cells) > int(rr.columns) && slices.ContainsFunc(rec.cells[rr.columns:], isFilled) {
		return validRow{}, []Problem{{FileRow: rec.row, Violation: core.Violation{Rule: "too_many_values", Limit: rr.columns, Other: strconv.Itoa(len(rec.cells))}}}
	}
	values := map[Field]string{}
	damaged := core.Fields{}
	for i, field := range rr.fields {
		if i >= len(rec.cells) || field == NoField {
			continue
		}
		values[field] = field.clean(rec.cells[i])
		if v := field.damage(values[field]); v != nil {
			damaged.Add(string(field), *v)
		}
	}
	first, last := values[FirstNameField], values[LastNameField]
	if full, mapped := values[FullNameField]; mapped {
		first, last = splitName(full)
	}
	phone, email := values[PhoneField], values[EmailField]
	details, err := customer.New{FirstName: first, LastName: last, Phone: phone, Email: email, ExternalID: values[ExternalIDField], Birthday: rr.birthday(values[BirthdayField])}.Validate(rr.country, rr.phoneOptional, rr.now)
	if v := damaged[string(FullNameField)]; v != nil {
		damaged[string(FirstNameField)] = v // the field that all violations of a full name are reported at
		delete(damaged, string(FullNameField))
	}
	check := core.NewCheck(damaged)
	for field, broken := range violations(err) {
		for _, v := range broken {
			if v == customer.MustBeBirthday && isDateSerial(values[BirthdayField]) {
				v = core.Violation{Rule: "date_serial"}
			}
			check.Add(field, v)
		}
	}
	r := validRow{
		row:       rec.row,
		Details:   details,
		createdAt: rr.createdAt(check, values[CreatedAtField]),
		points:    balance(check, PointsField, values[PointsField]),
		stamps:    balance(check, StampsField, values[StampsField]),
		level:     rr.level(check, values[LevelField]),
		expiresOn: rr.expiresOn(check, values[ExpiresOnField]),
	}
	var problems []Problem
	fields := violations(check.Err())
	for _, name := range fields.Names() {
		value, mapped := values[Field(name)]
		if !mapped {
			value = values[FullNameField]
		}
		problems = append(problems, Problem{FileRow: rec.row, Field: name, Value: shortened(value), Violation: fields[name][0]})
	}
	return r, problems
}

func violations(err error) core.Fields {
	var refusal *core.Error
	if errors.As(err, &refusal) {
		return refusal.Fields
	}
	return nil
}

// maxShown is how many characters of a value a problem shows.
const maxShown = 100

func shortened(value string) string {
	letters := []rune(strings.ToValidUTF8(strings.NewReplacer("\n", " ", "\x00", "").Replace(value), "\uFFFD"))
	if len(letters) <= maxShown {
		return string(letters)
	}
	return string(letters[:maxShown]) + "…"
}

// splitName splits a full name at its comma, or before its last word and the lower-case words in
// front of that, as in "Cecilia von Åkern".
func splitName(full string) (first, last string) {
	if last, first, hasComma := strings.Cut(full, ","); hasComma {
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

func (rr rowReader) createdAt(check *core.Check, text string) *time.Time {
	if text == "" {
		return nil
	}
	at, ok := rr.instant(check, CreatedAtField, text)
	switch {
	case !ok:
	case at.Before(time.Unix(0, 0)): // no list of customers goes further back
		check.Add("created_at", core.Violation{Rule: "after_1970"})
	case at.After(rr.now):
		check.Add("created_at", core.MustBePast)
	}
	return &at
}

// level reads the name of a level, in any case. The first one is everybody's, so it is as good as none.
func (rr rowReader) level(check *core.Check, name string) *award.Level {
	if name == "" || !rr.levels.Exist() {
		return nil
	}
	var names []string
	for i := range rr.levels.All {
		switch l := &rr.levels.All[i]; {
		case l.Retired:
		case strings.EqualFold(l.Name, name) && l.Rank == 0:
			return nil
		case strings.EqualFold(l.Name, name):
			return l
		default:
			names = append(names, l.Name)
		}
	}
	check.Add(string(LevelField), core.Violation{Rule: "unknown_level", Other: strings.Join(names, ", ")})
	return nil
}

// expiresOn reads the last local day of a customer's points and stamps.
func (rr rowReader) expiresOn(check *core.Check, text string) *time.Time {
	if text == "" {
		return nil
	}
	at, ok := rr.instant(check, ExpiresOnField, text)
	day := core.DateOf(at, rr.zone)
	if ok && day.Before(core.DateOf(rr.now, rr.zone)) {
		check.Add(string(ExpiresOnField), core.Violation{Rule: "not_past"})
	}
	return &day
}

// birthday returns a birthday as core/customer reads it; a text that is none, as it is.
func (rr rowReader) birthday(text string) string {
	if b, ok := customer.ReadBirthday(text, rr.dateOrder == MonthFirst); ok {
		return string(b)
	}
	return text
}

// instant reads a day or a time, or says why it can't.
func (rr rowReader) instant(check *core.Check, field Field, text string) (time.Time, bool) {
	at, ok := parseInstant(text, rr.dateOrder, rr.zone)
	switch {
	case ok:
	case isDateSerial(text):
		check.Add(string(field), core.Violation{Rule: "date_serial"})
	case rr.dateOrder == MonthFirst:
		check.Add(string(field), core.Violation{Rule: "day_month_first"})
	default:
		check.Add(string(field), core.Violation{Rule: "day"})
	}
	return at, ok
}

// balance reads a whole number.
func balance(check *core.Check, field Field, text string) int64 {
	if text == "" {
		return 0
	}
	n, ok := wholeNumber(text)
	if !ok {
		check.Add(string(field), core.MustBeInteger)
		return 0
	}
	return check.Integer(string(field), &n, 0, ledger.MaxAward)
}

func digitsOf(text string) string {
	return keep(func(r rune) bool { return r >= '0' && r <= '9' }, text)
}
