package importing_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/shoptest"
)

// office is a business that imports files.
type office struct {
	shoptest.Shop
	imports *importing.Service
}

func newOffice(t *testing.T) office { return officeIn(t, dbtest.DB(t)) }

func officeIn(t *testing.T, d *db.DB) office {
	t.Helper()
	s := shoptest.In(t, d)
	return office{s, s.Imports}
}

func file(content string) importing.File {
	return importing.File{Name: "customers.csv", Content: strings.NewReader(content), FormKey: core.NewID(time.Now()).String()}
}

func lines(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

func (o office) uploaded(content string) importing.Import {
	o.T.Helper()
	i, err := o.imports.Upload(o.T.Context(), o.By, file(content))
	o.Check(err)
	return i
}

func (o office) preview(id core.ID) importing.Preview {
	o.T.Helper()
	p, err := o.imports.Preview(o.T.Context(), o.By, id, importing.Choice{})
	o.Check(err)
	return p
}

// worked runs an import's jobs.
func (o office) worked(i importing.Import) importing.Import {
	o.T.Helper()
	for i.Status == importing.Checking || i.Status == importing.Running {
		o.Must(o.imports.Work(o.T.Context(), o.By, i.ID, i.Attempt))
		i = o.import_(i.ID)
	}
	return i
}

func (o office) import_(id core.ID) importing.Import {
	o.T.Helper()
	i, err := o.imports.Find(o.T.Context(), o.By, id)
	o.Check(err)
	return i
}

// checked uploads and checks a file with the guessed columns.
func (o office) checked(content string) importing.Import {
	o.T.Helper()
	i := o.uploaded(content)
	return o.checkedAs(i.ID, o.preview(i.ID).Mapping)
}

func (o office) checkedAs(id core.ID, m importing.Mapping) importing.Import {
	o.T.Helper()
	i, err := o.imports.Check(o.T.Context(), o.By, id, m)
	o.Check(err)
	return o.worked(i)
}

func (o office) running(id core.ID) importing.Import {
	o.T.Helper()
	i, err := o.imports.Run(o.T.Context(), o.By, id)
	o.Check(err)
	return i
}

// imported uploads, checks and imports a file.
func (o office) imported(content string) importing.Import {
	o.T.Helper()
	return o.worked(o.running(o.checked(content).ID))
}

// bad is a problem of a row.
func bad(row int64, field, value string, v core.Violation) importing.Problem {
	return importing.Problem{FileRow: row, Field: field, Value: value, Violation: v}
}

// problems returns the rows with errors.
func (o office) problems(id core.ID) []importing.Problem {
	o.T.Helper()
	var list []importing.Problem
	o.Check(o.imports.EachProblem(o.T.Context(), o.By, id, func(p importing.Problem) error { list = append(list, p); return nil }))
	return slices.DeleteFunc(list, func(p importing.Problem) bool { return p.Repeats != nil })
}

// counts are the figures of an import.
type counts struct{ Rows, Done, Created, Found, Repeated, Failed int64 }

func countsOf(i importing.Import) counts {
	return counts{i.Rows, i.Done, i.Created, i.Found, i.Repeated, i.Failed}
}

func wantCounts(t *testing.T, i importing.Import, status importing.Status, want counts) {
	t.Helper()
	if got := countsOf(i); got != want || i.Status != status {
		t.Errorf("%s with %+v, want %s with %+v", i.Status, got, status, want)
	}
}

// everybody lists the customers: "name phone e-mail points stamps", in the order of their IDs.
func (o office) everybody() []string {
	o.T.Helper()
	return shoptest.QueryAll[string](o.Shop, `
		select concat_ws(' ', c.first_name, c.last_name, c.phone, coalesce(c.email, '-'), a.points, a.stamps)
		from loyalty.customer c
		left join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
		where c.tenant_id = $1
		order by c.id`, o.By.Tenant.ID)
}

// "CSV import with a column-mapping preview, a dry run that names every bad row, upsert semantics": from
// upload to report.
func TestAFileFromUploadToReport(t *testing.T) {
	t.Parallel()
	o := officeIn(t, dbtest.OwnDB(t))
	known := o.made("070 174 06 05", new("anna@example.com"))
	i := o.uploaded(lines(
		"Förnamn;Efternamn;Mobil;E-post;Kund sedan;Poäng;Stämplar;Anteckning",
		"Anna;Lindqvist;+46701740605;other@example.com;2020-01-01;500;5;by phone",
		"Bo;Ek;070-174 06 06;anna@example.com;;500;;by e-mail",
		"Cecilia;von Åkern;070-174 06 07;cecilia@example.com;21.3.2021;1 240;3;new",
		"Dan;Berg;070 174 06 08;;2022-05-01 14:30;;;new, without more",
		"Dan;Berg;+46 70 174 06 08;dan@example.com;;10;;again",
		";Berg;12;dan;tomorrow;many;-1;all wrong",
	))
	if i.Status != importing.Uploaded || i.Rows != 6 || i.FileName != "customers.csv" || i.ActorName != o.By.Name {
		t.Errorf("uploaded: %+v", i)
	}
	p := o.preview(i.ID)
	want := importing.Mapping{Encoding: importing.UTF8, Header: 1, Columns: []importing.Field{
		importing.FirstNameField, importing.LastNameField, importing.PhoneField, importing.EmailField, importing.CreatedAtField,
		importing.PointsField, importing.StampsField, importing.NoField,
	}}
	if diff := cmp.Diff(want, p.Mapping); diff != "" {
		t.Errorf("guessed (-want +got):\n%s", diff)
	}
	if first, last := p.Beginning[0], p.Beginning[6]; first.FileRow != 1 || first.Cells[0] != "Förnamn" || last.FileRow != 7 || last.Cells[7] != "all wrong" {
		t.Errorf("begins with %+v, ends with %+v", first, last)
	}

	// The dry run changes nothing.
	i = o.checkedAs(i.ID, p.Mapping)
	wantCounts(t, i, importing.Checked, counts{Rows: 6, Done: 6, Created: 2, Found: 2, Repeated: 1, Failed: 1})
	problems := []importing.Problem{
		bad(7, "created_at", "tomorrow", core.Violation{Rule: "day"}),
		bad(7, "email", "dan", core.MustBeEmail),
		bad(7, "first_name", "", core.Required),
		bad(7, "phone", "12", core.MustBePhone),
		bad(7, "points", "many", core.MustBeInteger),
		bad(7, "stamps", "-1", core.Min(0)),
	}
	if diff := cmp.Diff(problems, o.problems(i.ID)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if n := o.Count("customer"); n != 1 {
		t.Fatalf("%d customers after a check", n)
	}

	i = o.worked(o.running(i.ID))
	wantCounts(t, i, importing.Done, counts{Rows: 6, Done: 6, Created: 2, Found: 3, Failed: 1})
	if diff := cmp.Diff(problems, o.problems(i.ID)); diff != "" {
		t.Errorf("problems of the import (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"Anna Lindqvist 070 174 06 05 anna@example.com 0 0",
		"Cecilia von Åkern 070-174 06 07 cecilia@example.com 1240 3",
		"Dan Berg 070 174 06 08 - 0 0",
	}, o.everybody()); diff != "" {
		t.Errorf("customers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(known, o.find(known.ID)); diff != "" {
		t.Errorf("who was there has changed:\n%s", diff)
	}
	// "created_at is the first check-in: only an import may set it", in the tenant's days.
	cecilia, dan := o.upsert("070-174 06 07", nil), o.upsert("070 174 06 08", nil)
	if cecilia.Created || !cecilia.CreatedAt.Equal(time.Date(2021, 3, 20, 23, 0, 0, 0, time.UTC)) {
		t.Errorf("Cecilia first came %s", cecilia.CreatedAt)
	}
	if dan.Created || !dan.CreatedAt.Equal(time.Date(2022, 5, 1, 12, 30, 0, 0, time.UTC)) {
		t.Errorf("Dan first came %s", dan.CreatedAt)
	}
	// Imported again, the file finds all customers.
	again := o.imported(lines("name,phone", "Cecilia von Åkern,070-174 06 07", "Dan Berg,070 174 06 08"))
	wantCounts(t, again, importing.Done, counts{Rows: 2, Done: 2, Found: 2})
	o.Verify()
}

// "Opening points and stamps (ledger `opening` with reason), exactly once", and "one
// entry per import, not per row" in the log.
func TestWhatAnImportWritesDown(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	i := o.imported(lines("name,phone,points,stamps", "Anna Ek,070 174 06 05,120,7", "Bo Ek,070 174 06 06,0,"))
	entries := shoptest.QueryAll[string](o.Shop, `
		select concat_ws(' ', unit, amount, balance_after, seq, kind, reason, actor_kind, actor_name)
		from loyalty.ledger_entry
		where tenant_id = $1
		order by seq`, o.By.Tenant.ID)
	if diff := cmp.Diff([]string{
		"points 120 120 1 opening Import of customers.csv staff A owner",
		"stamps 7 7 2 opening Import of customers.csv staff A owner",
	}, entries); diff != "" {
		t.Errorf("ledger (-want +got):\n%s", diff)
	}
	log := shoptest.QueryAll[string](o.Shop, `
		select concat_ws(' ', action, subject_kind, subject_id, subject_name, new::text, actor_name)
		from loyalty.audit_entry
		where tenant_id = $1 and actor_id = $2
		order by id`, o.By.Tenant.ID, o.By.ID)
	want := []string{"import.run import " + i.ID.String() + ` customers.csv {"file": "customers.csv", "rows": 2, "new_customers": 2} A owner`}
	if diff := cmp.Diff(want, log); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// "Reading: delimiter guessed (, ; tab), BOM stripped, UTF-8 or Windows-1252 recognised, quotes."
func TestHowFilesAreWritten(t *testing.T) {
	t.Parallel()
	windows := strings.NewReplacer("Å", "\xC5", "ö", "\xF6", "é", "\xE9", "€", "\x80")
	for name, content := range map[string]string{
		"commas":                 "name,phone,note\nÅsa Öhrn,070 174 06 05,é\n",
		"semicolons":             "name;phone;note, more\nÅsa Öhrn;070 174 06 05;é\n",
		"tabs":                   "name\tphone\tnote\nÅsa Öhrn\t070 174 06 05\té\n",
		"tabs with nothing":      "note\tname\tphone\n\tÅsa Öhrn\t070 174 06 05\n",
		"a byte order mark":      "\uFEFFname,phone\nÅsa Öhrn,070 174 06 05\n",
		"returns and new lines":  "name,phone\r\nÅsa Öhrn,070 174 06 05\r\n",
		"no end of the last row": "name,phone\nÅsa Öhrn,070 174 06 05",
		"quotes":                 "\"name\",\"phone\"\n\"Öhrn, Åsa\",\"070 174 06 05\"\n",
		"spaces before quotes":   "name, phone\n\"Åsa Öhrn\", \"070 174 06 05\"\n",
		"quotes of two lines":    "name,note,phone\nÅsa Öhrn,\"says \"\"hi\"\",\nthen goes\",070 174 06 05\n",
		"Windows":                windows.Replace("name;phone;note\nÅsa Öhrn;070 174 06 05;é\n"),
		"Windows, late":          windows.Replace("name;phone;note\nÅsa Öhrn;070 174 06 05;5 €\n"),
		"empty rows":             "\n\nname,phone\n\n,,\nÅsa Öhrn,070 174 06 05\n,\n\n",
		"cells missing":          "name,phone,email,points\nÅsa Öhrn,070 174 06 05\n",
		"empty cells too many":   "name,phone\nÅsa Öhrn,070 174 06 05,,\n",
		"as it was exported":     "\uFEFFname,phone\r\nÅsa Öhrn,'070 174 06 05\r\n",
		"spaces around":          "name , phone\n  Åsa Öhrn\u00a0 ,\u00a0070 174 06 05 \n",
		"no header row":          "Åsa Öhrn,070 174 06 05\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.HasPrefix(name, "Windows") {
				content = strings.ReplaceAll(content, "Ö", "\xD6")
			}
			if name == "as it was exported" {
				content = strings.Replace(content, "'070", "'+4670", 1)
			}
			o := newOffice(t)
			i := o.uploaded(content)
			m := o.preview(i.ID).Mapping
			if name == "no header row" {
				if m.Header != 0 {
					t.Error("a customer is taken for the header row")
				}
				m.Columns = []importing.Field{importing.FullNameField, importing.PhoneField}
			}
			i = o.worked(o.running(o.checkedAs(i.ID, m).ID))
			wantCounts(t, i, importing.Done, counts{Rows: 1, Done: 1, Created: 1})
			want := []string{"Åsa Öhrn 070 174 06 05 - 0 0"}
			if name == "as it was exported" {
				want = []string{"Åsa Öhrn +4670 174 06 05 - 0 0"}
			}
			if diff := cmp.Diff(want, o.everybody()); diff != "" {
				t.Errorf("customers (-want +got):\n%s\n%+v", diff, o.problems(i.ID))
			}
		})
	}
}

// "Limits: ≤ 20 MB, ≤ 100,000 rows, clear refusals."
func TestFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	rows := func(n int) io.Reader {
		return io.MultiReader(strings.NewReader("name,phone\n"), repeated("A,1\n", n))
	}
	accepted, readFails := core.Violation{}, core.Violation{Rule: "read_fails"}
	broken := errors.New("the line went dead")
	for name, c := range map[string]struct {
		content io.Reader
		want    core.Violation // of the field; none: it is accepted
	}{
		"nothing":                {nil, core.Required},
		"empty":                  {strings.NewReader(""), core.Violation{Rule: "empty_file"}},
		"empty rows":             {strings.NewReader("\n\r\n;;;\n ; \n"), core.Violation{Rule: "empty_file"}},
		"only a mark":            {strings.NewReader("\uFEFF"), core.Violation{Rule: "empty_file"}},
		"only a header row":      {strings.NewReader("name,phone\n"), core.Violation{Rule: "no_rows"}},
		"only a customer":        {strings.NewReader("Anna Ek,070 174 06 05"), accepted},
		"a workbook":             {strings.NewReader("PK\x03\x04\x00\x00"), core.Violation{Rule: "workbook"}},
		"an old workbook":        {strings.NewReader("\xD0\xCF\x11\xE0\xA1\xB1"), core.Violation{Rule: "workbook"}},
		"an image":               {strings.NewReader("\x89PNG\r\n\x1a\n\x00\x00"), core.Violation{Rule: "not_csv"}},
		"a NUL, later":           {io.MultiReader(strings.NewReader("name,phone\n"), repeated(strings.Repeat("x", 99)+"\n", 20_000), strings.NewReader("\x00")), core.Violation{Rule: "not_csv"}},
		"the first row broken":   {strings.NewReader("name,\"phone\nAnna Ek,1\n"), core.Violation{Rule: "unclosed_quote", Limit: 2, Other: "1"}},
		"100,000 rows":           {rows(100_000), accepted},
		"100,001 rows":           {rows(100_001), core.Violation{Rule: "max_rows", Limit: 100000}},
		"100,001, no header row": {repeated("070 174 06 05\n", 100_001), core.Violation{Rule: "max_rows", Limit: 100000}},
		"20 MB":                  {io.MultiReader(strings.NewReader("name,phone\n"), repeated(strings.Repeat("x", 1023)+"\n", 20<<10-1)), accepted},
		"more than 20 MB":        {io.MultiReader(strings.NewReader("name,phone\n"), repeated(strings.Repeat("x", 1023)+"\n", 20<<10)), core.Violation{Rule: "max_megabytes", Limit: 20}},
		"101 columns":            {strings.NewReader(strings.Repeat("a,", 100) + "b\n1\n"), core.Violation{Rule: "max_columns", Limit: 100}},
		"a row without end":      {io.MultiReader(strings.NewReader("name,phone\nAnna,\"070\n"), repeated("Bo,070 174 06 05\n", 100_000)), core.Violation{Rule: "long_row", Limit: 2}},
		"a line without end":     {io.MultiReader(strings.NewReader("name,phone\nAnna \"x\","), repeated("0", 5<<20)), core.Violation{Rule: "long_row", Limit: 2}},
		"one that breaks off":    {io.MultiReader(strings.NewReader("name,phone\nAnna Ek,070\n"), iotest.ErrReader(broken)), readFails},
		"one that is cut short":  {io.MultiReader(strings.NewReader("name,phone\nAnna Ek,070\n"), iotest.ErrReader(io.ErrUnexpectedEOF)), readFails},
	} {
		t.Run(name, func(t *testing.T) {
			i, err := o.imports.Upload(t.Context(), o.By, importing.File{Name: "x.csv", Content: c.content, FormKey: name})
			switch c.want {
			case accepted:
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				// In its own tenant, because only three files may wait.
				if _, err := dbtest.Owner(o.DB).Exec(t.Context(), "delete from loyalty.customer_import where tenant_id = $1 and id = $2", o.By.Tenant.ID, i.ID); err != nil {
					t.Error(err)
				}
			case readFails:
				if !errors.Is(err, broken) && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("upload = %v, want the reader's own error", err)
				}
			default:
				shoptest.WantFields(t, err, core.Fields{"file": {c.want}})
			}
		})
	}
	var left int
	err := dbtest.Owner(o.DB).QueryRow(t.Context(), `
		select count(*) filter (where status = 'arriving') + (
			select count(*) from loyalty.customer_import_chunk c where tenant_id = $1
				and not exists (select from loyalty.customer_import i where i.tenant_id = $1 and i.id = c.import_id)
		) from loyalty.customer_import where tenant_id = $1`, o.By.Tenant.ID).Scan(&left)
	if err != nil || left != 0 {
		t.Errorf("%d pieces of refused files are left, %v", left, err)
	}
}

// repeated returns a text n times.
func repeated(text string, times int) io.Reader {
	all := make([]io.Reader, 0, times/1000+1)
	for times > 0 {
		n := min(times, 1000)
		all = append(all, strings.NewReader(strings.Repeat(text, n)))
		times -= n
	}
	return io.MultiReader(all...)
}

// Header rows are guessed "from header names in English, Swedish, Norwegian, Danish, German, French, Spanish,
// Finnish"; "duplicated or missing headers" leave the choice to people.
func TestHeaderRows(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	const f, l, n, p, e, d, x, s, no = importing.FirstNameField, importing.LastNameField, importing.FullNameField, importing.PhoneField,
		importing.EmailField, importing.CreatedAtField, importing.PointsField, importing.StampsField, importing.NoField
	for header, want := range map[string][]importing.Field{
		"First name,Last name,Phone number,E-mail address,Customer since,Points,Stamps":  {f, l, p, e, d, x, s},
		"FIRST_NAME,surname,Mobile,EMAIL,created_at,Points balance,stamps":               {f, l, p, e, d, x, s},
		"Förnamn,Efternamn,Telefonnummer,E-postadress,Skapad,Poäng,Stämplar":             {f, l, p, e, d, x, s},
		"Fornavn,Etternavn,Tlf.,E-post,Opprettet,Poeng,Stempler":                         {f, l, p, e, d, x, s},
		"Fornavn,Efternavn,Mobilnr.,E-mail,Oprettet,Point,Stempler":                      {f, l, p, e, d, x, s},
		"Vorname,Nachname,Handynummer,E-Mail-Adresse,Kunde seit,Punkte,Stempel":          {f, l, p, e, d, x, s},
		"Prénom,Nom,Téléphone,Courriel,Date de création,Points,Tampons":                  {f, l, p, e, d, x, s},
		"Nombre,Apellidos,Teléfono móvil,Correo electrónico,Fecha de alta,Puntos,Sellos": {f, l, no, e, d, x, s},
		"Etunimi,Sukunimi,Puhelin,Sähköposti,Asiakas alkaen,Pisteet,Leimat":              {f, l, p, e, d, x, s},
		"Namn,Mobil":              {n, p},
		"Name,Vorname,Nachname":   {no, f, l},
		"Phone,Phone,Name":        {p, no, n},
		"Mobile,Phone,":           {p, no, no},
		"Colour,Size":             {no, no},
		"Anna Ek,070 174 06 05":   {no, no},
		"anna@example.com,Colour": {no, no},
	} {
		i := o.uploaded(header + "\nx,y,z\n")
		pv := o.preview(i.ID)
		o.Must(o.imports.Cancel(t.Context(), o.By, i.ID))
		if diff := cmp.Diff(want, pv.Columns); diff != "" {
			t.Errorf("%s (-want +got):\n%s", header, diff)
		}
		if isCustomer := strings.Contains(header, "Anna") || strings.Contains(header, "@"); (pv.Header == 1) == isCustomer {
			t.Errorf("%s: header row = %d", header, pv.Header)
		}
	}
}

// A mapping with which no row could become a customer is refused before the file is read.
func TestMappingsThatAreRefused(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	i := o.uploaded(lines("a,b,c", "1,2,3"))
	phone, name := core.Violation{Rule: "phone_column"},
		core.Violation{Rule: "name_columns"}
	for what, c := range map[string]struct {
		columns []importing.Field
		want    []core.Violation
	}{
		"nothing":     {[]importing.Field{"", "", ""}, []core.Violation{phone, name}},
		"no name":     {[]importing.Field{"phone", "", ""}, []core.Violation{name}},
		"half a name": {[]importing.Field{"phone", "first_name", ""}, []core.Violation{name}},
		"too many":    {[]importing.Field{"phone", "first_name", "full_name"}, []core.Violation{name}},
		"no phone":    {[]importing.Field{"full_name", "", ""}, []core.Violation{phone}},
		"twice":       {[]importing.Field{"full_name", "phone", "phone"}, []core.Violation{{Rule: "column_twice", Other: "phone"}}},
		"unknown":     {[]importing.Field{"full_name", "phone", "shoe_size"}, []core.Violation{core.InvalidChoice}},
		"too few":     {[]importing.Field{"full_name", "phone"}, []core.Violation{core.InvalidChoice}},
	} {
		_, err := o.imports.Check(t.Context(), o.By, i.ID, importing.Mapping{Columns: c.columns, Header: 1})
		if diff := cmp.Diff(core.Fields{"columns": c.want}, shoptest.Fields(t, err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	wantCounts(t, o.import_(i.ID), importing.Uploaded, counts{Rows: 1})
}

// "A dry run that names every bad row", by the number that a spreadsheet gives it.
func TestEveryBadRowIsNamed(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	i := o.checked(lines(
		"name,note,phone,created,points", // 1
		"Anna,,070 174 06 05",            // 2: no last name
		"",                               // 3
		"Bo Ek,\"two",                    // 4
		"lines\",1",                      // and still 4
		"Cecilia Ek,,070 174 06 06,,,more, and more", // 5
		"Dan \"the man\" Ek,,070 174 06 07",          // 6
		"Elsa Ek,,070 174 06 08,3/4/2030",            // 7
		"Filip Ek,,070 174 06 09,1950-01-01",         // 8
		"Gun Ek,,070 174 06 10,12/31/2020",           // 9
		"Hans Ek,,070 174 06 11,,\"1,240\"",          // 10
		"Ida Ek,,070 174 06 12,31/12/2020,1 240",     // 11: as it should be
		"Jan Ek,,070 174 06 13,,1000000000001",       // 12
		"Kim Ek,,"+strings.Repeat("070 ", 30),        // 13
		"Lisa Ek,\"never closed,070 174 06 14",       // 14
		"Moa Ek,,070 174 06 15",                      // 15
	))
	wantCounts(t, i, importing.Checked, counts{Rows: 12, Done: 12, Created: 1, Failed: 11})
	want := []importing.Problem{
		bad(2, "last_name", "Anna", core.Required),
		bad(4, "phone", "1", core.MustBePhone),
		bad(5, "", "", core.Violation{Rule: "too_many_values", Limit: 5, Other: "7"}),
		bad(6, "", "", core.Violation{Rule: "stray_quote"}),
		bad(7, "created_at", "3/4/2030", core.MustBePast),
		bad(8, "created_at", "1950-01-01", core.Violation{Rule: "after_1970"}),
		bad(9, "created_at", "12/31/2020", core.Violation{Rule: "day"}),
		bad(10, "points", "1,240", core.MustBeInteger),
		bad(12, "points", "1000000000001", core.Max(1000000000000)),
		bad(13, "phone", strings.TrimSpace(strings.Repeat("070 ", 30))[:100]+"…", core.MaxLength(30)),
		bad(14, "", "", core.Violation{Rule: "unclosed_quote", Limit: 15, Other: "14"}),
	}
	if diff := cmp.Diff(want, o.problems(i.ID)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// An address that can't get mail is an error of its row.
func TestAddressesWithoutAMailboxAreNamed(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for _, typed := range []string{"x@[127.0.0.1]", "anna@-example.com", "an\u200bna@example.com", "anna@exa\u00a0mple.com", "anna@localhost"} {
		i := o.checked(lines("first name,last name,phone,email", "Anna,Ek,070 174 06 05,"+typed))
		want := []importing.Problem{{FileRow: 2, Field: "email", Value: typed, Violation: core.MustBeEmail}}
		if diff := cmp.Diff(want, o.problems(i.ID)); diff != "" {
			t.Errorf("%+q (-want +got):\n%s", typed, diff)
		}
		o.Must(o.imports.Cancel(t.Context(), o.By, i.ID))
	}
}

// "A dry run that names every bad row": up to a limit with all problems, and beyond it with the first one.
func TestEveryBadRowOfManyIsNamed(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	i := o.checked("name,phone\n" + strings.Repeat("Anna,1\n", 6_000)) // two problems each
	wantCounts(t, i, importing.Checked, counts{Rows: 6_000, Done: 6_000, Failed: 6_000})
	var want []int64
	for row := int64(2); row <= 6_001; row++ {
		if want = append(want, row); row <= 5_001 {
			want = append(want, row)
		}
	}
	list := o.problems(i.ID)
	named := make([]int64, len(list))
	for n, p := range list {
		named[n] = p.FileRow
	}
	if !slices.Equal(named, want) || i.Problems != int64(len(want)) {
		t.Errorf("%d problems are kept and %d listed, want %d: two of each row up to 5001, and one of each up to 6001", i.Problems, len(list), len(want))
	}
	if last := list[len(list)-1]; last.Field != "last_name" {
		t.Errorf("the last one is %+v", last)
	}
}

// "A single 'full name' column may be split."
func TestFullNames(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	names := [][3]string{
		{"Anna Lindqvist", "Anna", "Lindqvist"},
		{"Anna Maria Lindqvist", "Anna Maria", "Lindqvist"},
		{`"Lindqvist, Anna Maria"`, "Anna Maria", "Lindqvist"},
		{"Cecilia von Åkern", "Cecilia", "von Åkern"},
		{"Jan van der Berg", "Jan", "van der Berg"},
		{"anna maria lindqvist", "anna maria", "lindqvist"},
		{"de Wit", "de", "Wit"},
	}
	content := "name,phone\n"
	for i, n := range names {
		content += fmt.Sprintf("%s,070 174 06 %02d\n", n[0], i)
	}
	o.imported(content)
	for i, n := range names {
		c := o.upsert(fmt.Sprintf("070 174 06 %02d", i), nil)
		if c.FirstName != n[1] || c.LastName != n[2] {
			t.Errorf("%s is %q %q", n[0], c.FirstName, c.LastName)
		}
	}
}

// A file can be checked again with other columns, and is imported with the last ones.
func TestAFileIsCheckedAgain(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	i := o.checked(lines("first name,last name,phone,mobile", "Anna,Ek,1,070 174 06 05", "Bo,Ek,2,070 174 06 06"))
	wantCounts(t, i, importing.Checked, counts{Rows: 2, Done: 2, Failed: 2})
	m := o.preview(i.ID).Mapping
	m.Columns[2], m.Columns[3] = importing.NoField, importing.PhoneField
	i = o.checkedAs(i.ID, m)
	wantCounts(t, i, importing.Checked, counts{Rows: 2, Done: 2, Created: 2})
	if got := o.problems(i.ID); len(got) != 0 {
		t.Errorf("problems of the check before: %v", got)
	}
	if diff := cmp.Diff(m, o.preview(i.ID).Mapping); diff != "" {
		t.Errorf("the choice is not kept (-want +got):\n%s", diff)
	}
	wantCounts(t, o.worked(o.running(i.ID)), importing.Done, counts{Rows: 2, Done: 2, Created: 2})
	if _, err := o.imports.Check(t.Context(), o.By, i.ID, m); !errors.Is(err, importing.ErrStep) {
		t.Errorf("checked after it was imported: %v", err)
	}
	if _, err := o.imports.Preview(t.Context(), o.By, i.ID, importing.Choice{}); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("the file is still there: %v", err)
	}
}

// A header row can be imported as a customer.
func TestTheFirstRowMayBeACustomer(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	i := o.uploaded(lines("Anna,Ek,112", "Bo,Ek,070 174 06 06"))
	m := importing.Mapping{Columns: []importing.Field{"first_name", "last_name", "phone"}, Header: 1}
	wantCounts(t, o.checkedAs(i.ID, m), importing.Checked, counts{Rows: 1, Done: 1, Created: 1})
	m.Header = 0
	wantCounts(t, o.checkedAs(i.ID, m), importing.Checked, counts{Rows: 2, Done: 2, Created: 2})
}

// "Cancel": the created customers stay, and no more are created.
func TestCancel(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.imports = o.imports.InBatches(2, 1)
	i := o.checked(lines("name,phone", "Anna Ek,070 174 06 05", "Bo Ek,070 174 06 06", "Cecilia Ek,070 174 06 07"))
	i = o.running(i.ID)
	o.Must(o.imports.Work(t.Context(), o.By, i.ID, i.Attempt))
	for range 2 { // the second click finds it cancelled
		got, err := o.imports.Cancel(t.Context(), o.By, i.ID)
		o.Check(err)
		wantCounts(t, got, importing.Cancelled, counts{Rows: 3, Done: 2, Created: 2})
	}
	o.Must(o.imports.Work(t.Context(), o.By, i.ID, i.Attempt))
	if n := o.Count("customer"); n != 2 {
		t.Errorf("%d customers, want 2", n)
	}
	for _, step := range []func() error{
		func() error { _, err := o.imports.Run(t.Context(), o.By, i.ID); return err },
		func() error { _, err := o.imports.Check(t.Context(), o.By, i.ID, importing.Mapping{}); return err },
	} {
		if err := step(); !errors.Is(err, importing.ErrStep) {
			t.Errorf("after it was cancelled: %v", err)
		}
	}
	// A file that is not being imported is discarded, without the counts that its check predicted.
	checked := o.checked(lines("name,phone", "Dan Ek,070 174 06 08", "Elsa Ek,1"))
	got, err := o.imports.Cancel(t.Context(), o.By, checked.ID)
	o.Check(err)
	wantCounts(t, got, importing.Cancelled, counts{Rows: 2})
	if got := o.problems(checked.ID); len(got) != 0 {
		t.Errorf("problems of a discarded one: %v", got)
	}
	for _, c := range []struct {
		id   core.ID
		want []string // of the log
	}{{i.ID, []string{"import.run customers.csv", "import.cancel customers.csv"}}, {checked.ID, nil}} {
		log := shoptest.QueryAll[string](o.Shop, "select action || ' ' || subject_name from loyalty.audit_entry where tenant_id = $1 and subject_id = $2 order by id", o.By.Tenant.ID, c.id.String())
		if !slices.Equal(log, c.want) {
			t.Errorf("log = %v, want %v", log, c.want)
		}
	}
	done := o.imported(lines("name,phone", "Anna Ek,070 174 06 05"))
	if _, err := o.imports.Cancel(t.Context(), o.By, done.ID); !errors.Is(err, importing.ErrStep) {
		t.Errorf("cancelled after it was done: %v", err)
	}
}

// A file has to be checked before it is imported.
func TestNoImportWithoutACheck(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	i := o.uploaded(lines("name,phone", "Anna Ek,070 174 06 05"))
	if _, err := o.imports.Run(t.Context(), o.By, i.ID); !errors.Is(err, importing.ErrStep) {
		t.Errorf("run = %v", err)
	}
}

// "Manager and up"; "cross-tenant 404".
func TestWhoImports(t *testing.T) {
	t.Parallel()
	o, stranger := newOffice(t), newOffice(t)
	i := o.checked(lines("name,phone", "Anna Ek,1"))
	use := func(by core.Actor) map[string]error {
		_, find := o.imports.Find(t.Context(), by, i.ID)
		_, preview := o.imports.Preview(t.Context(), by, i.ID, importing.Choice{})
		_, check := o.imports.Check(t.Context(), by, i.ID, importing.Mapping{})
		_, run := o.imports.Run(t.Context(), by, i.ID)
		_, cancel := o.imports.Cancel(t.Context(), by, i.ID)
		_, problems := o.imports.ListProblems(t.Context(), by, i.ID, 10)
		return map[string]error{"find": find, "preview": preview, "check": check, "run": run, "cancel": cancel, "problems": problems}
	}
	for name, err := range use(stranger.By) {
		if !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s as a stranger = %v, want ErrNotFound", name, err)
		}
	}
	cashier := o.As(core.Cashier).By
	refused := use(cashier)
	_, refused["list"] = o.imports.List(t.Context(), cashier)
	_, refused["upload"] = o.imports.Upload(t.Context(), cashier, file("name,phone\nAnna Ek,1\n"))
	for name, err := range refused {
		if !errors.Is(err, core.ErrRole) {
			t.Errorf("%s as a cashier = %v, want ErrRole", name, err)
		}
	}
	if list, err := stranger.imports.List(t.Context(), stranger.By); err != nil || len(list) != 0 {
		t.Errorf("a stranger sees %v, %v", list, err)
	}
	manager := o.As(core.Manager).By
	if list, err := o.imports.List(t.Context(), manager); err != nil || len(list) != 1 || list[0].ID != i.ID {
		t.Errorf("a manager sees %v, %v", list, err)
	}
	// A worker of another tenant does nothing.
	again, err := o.imports.Check(t.Context(), o.By, i.ID, o.preview(i.ID).Mapping)
	o.Check(err)
	if _, err := o.imports.Work(t.Context(), stranger.By, i.ID, again.Attempt); err != nil {
		t.Error(err)
	}
	wantCounts(t, o.import_(i.ID), importing.Checking, counts{Rows: 1})
}

// "Gone after 24 h": a file that isn't imported, with its problems. The report of an import is kept for 30
// days, and an incomplete upload for an hour.
func TestOldImportsAreDeleted(t *testing.T) {
	t.Parallel()
	d, err := db.Open(t.Context(), dbtest.OwnURL(t), db.Options{Listens: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	const hour, day = time.Hour, 24 * time.Hour
	gone, kept := map[core.ID]string{}, map[core.ID]string{}
	for _, c := range []struct {
		what, status   string
		created, moved time.Duration // ago
		forgotten      bool
	}{
		{"checked a day ago, looked at since", "checked", day + time.Minute, time.Minute, true},
		{"checked within a day", "checked", day - time.Minute, day - time.Minute, false},
		{"uploaded a day ago", "uploaded", day + time.Minute, day + time.Minute, true},
		{"running for two days", "running", 2 * day, 2 * day, false},
		{"done a month ago", "done", 31 * day, 30*day + time.Minute, true},
		{"done within a month", "done", 31 * day, 30*day - time.Minute, false},
		{"stopped a month ago", "cancelled", 31 * day, 30*day + time.Minute, true},
		{"arriving", "arriving", hour - time.Minute, hour - time.Minute, false},
		{"never arrived", "arriving", hour + time.Minute, hour + time.Minute, true},
	} {
		o := officeIn(t, d) // of a tenant each: three would be too many
		i := o.checked(lines("name,phone", "Anna Ek,1"))
		_, err = dbtest.Owner(d).Exec(t.Context(), `
			update loyalty.customer_import
			set status = $3, created_at = $4, moved_at = $5, ended_at = case when $3 in ('done', 'cancelled') then $5::timestamptz end
			where tenant_id = $1 and id = $2`, o.By.Tenant.ID, i.ID, c.status, d.Now().Add(-c.created), d.Now().Add(-c.moved))
		if err != nil {
			t.Fatal(err)
		}
		if kept[i.ID] = c.what; c.forgotten {
			delete(kept, i.ID)
			gone[i.ID] = c.what
		}
	}
	queue, err := job.New(d, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	imports := importing.NewService(d, queue)
	for range 2 { // again, nothing more is to be done
		if err := imports.RunUpkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for table, column := range map[string]string{"customer_import": "id", "customer_import_chunk": "import_id", "customer_import_problem": "import_id"} {
		rows, err := dbtest.Owner(d).Query(t.Context(), "select distinct "+column+" from loyalty."+table)
		if err != nil {
			t.Fatal(err)
		}
		left, err := pgx.CollectRows(rows, pgx.RowTo[core.ID])
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range left {
			if gone[id] != "" {
				t.Errorf("%s: kept of one %s", table, gone[id])
			}
		}
		if len(left) != len(kept) {
			t.Errorf("%s: %d are left, want %d", table, len(left), len(kept))
		}
	}
}

// "At most 3 unfinished files a tenant", also with concurrent uploads. A place is free when one of them ends.
// Another tenant's files count separately.
func TestThreeFilesWait(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	var arrived, refused atomic.Int64
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			_, err := o.imports.Upload(t.Context(), o.By, file(lines("name,phone", "Anna Ek,070 174 06 05")))
			var refusal *core.Error
			switch {
			case err == nil:
				arrived.Add(1)
			case errors.As(err, &refusal) && len(refusal.Fields["file"]) == 1 && refusal.Fields["file"][0] == (core.Violation{Rule: "max_waiting", Limit: 3}):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if arrived.Load() != 3 || refused.Load() != 7 {
		t.Errorf("%d files arrived, %d were refused; want 3 and 7", arrived.Load(), refused.Load())
	}
	if most := int64(3 * importing.MaxSize); most > 100<<20 {
		t.Errorf("three files may have %d bytes, more than 100 MB", most)
	}
	list, err := o.imports.List(t.Context(), o.By)
	if err != nil || len(list) != 3 {
		t.Fatalf("%d files, %v", len(list), err)
	}
	o.Must(o.imports.Cancel(t.Context(), o.By, list[0].ID))
	o.worked(o.running(o.checkedAs(list[1].ID, o.preview(list[1].ID).Mapping).ID))
	o.uploaded(people(1, 3))
	o.uploaded(people(1, 3))
	stranger := newOffice(t)
	stranger.uploaded(people(1, 3))
}

// "Discarded at an erasure in their tenant: a file that was not run may hold the erased person."
func TestAnErasureDiscardsWaitingFiles(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	stranger := newOffice(t)
	theirs := stranger.checked(lines("name,phone", "Anna Ek,070 174 06 05", "Bo,,1"))
	const anna = "Anna Ek,070 174 06 05"
	imported := o.imported(lines("name,phone,email", anna+",anna@example.com", "Bo Ek,not a number,Anna Ek"))
	uploaded := o.uploaded(lines("name,phone", anna))
	checked := o.checked(lines("name,phone", anna, "Anna Ek,1"))
	// Another file is arriving, and stops after its first piece.
	var arriving atomic.Bool
	late := make(chan error)
	began, goOn := make(chan bool), make(chan bool)
	go func() {
		first := strings.NewReader(lines("name,phone", anna) + strings.Repeat("Bo Ek,070 174 06 07\n", 60_000))
		rest := readerFunc(func(b []byte) (int, error) {
			if arriving.CompareAndSwap(false, true) {
				close(began)
				<-goOn
			}
			return copy(b, "Anna Ek,070 174 06 06\n"), io.EOF
		})
		_, err := o.imports.Upload(t.Context(), o.By, importing.File{Name: "late.csv", FormKey: "late", Content: io.MultiReader(first, rest)})
		late <- err
	}()
	select {
	case <-began:
	case err := <-late:
		t.Fatalf("the file was refused at once: %v", err)
	}

	who := shoptest.Query[core.ID](o.Shop, "select id from loyalty.customer where tenant_id = $1", o.By.Tenant.ID)
	o.Must(o.Privacy.Erase(t.Context(), o.By, who))
	close(goOn)
	var refusal *core.Error
	if err := <-late; !errors.As(err, &refusal) || len(refusal.Fields["file"]) != 1 {
		t.Errorf("the file that arrived meanwhile: %v, want it refused", err)
	}
	for _, i := range []importing.Import{uploaded, checked} {
		if got := o.import_(i.ID); got.Status != importing.Cancelled || got.EndedAt == nil || len(o.problems(i.ID)) != 0 {
			t.Errorf("a file that waited is %s", got.Status)
		}
	}
	if got := o.import_(imported.ID); got.Status != importing.Done || len(o.problems(imported.ID)) == 0 {
		t.Errorf("what was imported is %s", got.Status)
	}
	var kept int
	err := dbtest.Owner(o.DB).QueryRow(t.Context(), `
		select (select count(*) from loyalty.customer_import_chunk where tenant_id = $1)
			+ (select count(*) from loyalty.customer_import_problem where tenant_id = $1 and value <> '')`, o.By.Tenant.ID).Scan(&kept)
	if err != nil || kept != 0 {
		t.Errorf("%d pieces of files and cells of them are kept, %v", kept, err)
	}
	if got := stranger.import_(theirs.ID); got.Status != importing.Checked || len(stranger.problems(theirs.ID)) == 0 {
		t.Errorf("another tenant's file is %s", got.Status)
	}
}

// readerFunc is a reader that calls a function.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// Numbers and dates of a spreadsheet are read in every width and script.
func TestDigitsOfEveryScript(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	i := o.imported(lines("Name,Phone,Points,Stamps,Customer since",
		"Aiko Mori,+81 90 1234 5601,２４５０,３,２０２６－０３－０４",
		"Omar Ali,+46 70 174 06 02,٢٥٠,,2026-03-04",
		"Bo Ek,+46 70 174 06 03,2\u00a0500,,2026-03-04"))
	if problems := o.problems(i.ID); len(problems) > 0 {
		t.Errorf("problems: %+v", problems)
	}
	want := []string{"Aiko Mori +81 90 1234 5601 - 2450 3", "Omar Ali +46 70 174 06 02 - 250 0", "Bo Ek +46 70 174 06 03 - 2500 0"}
	if got := o.everybody(); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("customers: %q", got)
	}
}
