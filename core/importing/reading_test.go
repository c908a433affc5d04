package importing_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"example.com/loyalty/core"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/core/shoptest"
)

// from is where the customers of a test come from: a country whose files are in an encoding.
type from struct {
	country  string
	encoding encoding.Encoding
	mark     string
	name     string // a full name with letters that depend on the encoding
	want     importing.Encoding
}

var encodings = map[string]from{
	"UTF-8":                  {"SE", encoding.Nop, "", "Åsa Björk", importing.UTF8},
	"UTF-8 with a mark":      {"SE", encoding.Nop, "\xEF\xBB\xBF", "Åsa Björk 😀", importing.UTF8},
	"UTF-16 with a mark":     {"SE", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "\xFF\xFE", "Åsa Björk 😀", importing.UTF16},
	"UTF-16":                 {"LV", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "", "Āris Ķēniņš", importing.UTF16},
	"UTF-16, big-endian":     {"SE", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "\xFE\xFF", "Анна Иванова", importing.UTF16BE},
	"UTF-16 BE, no mark":     {"JP", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "", "山田 花子", importing.UTF16BE},
	"Windows in Sweden":      {"SE", charmap.Windows1252, "", "Åsa Björk", importing.Windows1252},
	"Windows in Poland":      {"PL", charmap.Windows1250, "", "Zażółć Gęślą", importing.Windows1250},
	"Windows in Bulgaria":    {"BG", charmap.Windows1251, "", "Анна Иванова", importing.Windows1251},
	"Windows in Greece":      {"GR", charmap.Windows1253, "", "Άννα Παππά", importing.Windows1253},
	"Windows in Turkey":      {"TR", charmap.Windows1254, "", "İrem Işıl", importing.Windows1254},
	"Windows in Lithuania":   {"LT", charmap.Windows1257, "", "Živilė Žąsytė", importing.Windows1257},
	"Mac Roman":              {"SE", charmap.Macintosh, "", "Åsa Björk", importing.MacRoman},
	"Mac Roman, German name": {"DE", charmap.Macintosh, "", "Jürgen Groß", importing.MacRoman},
}

// encoded writes a file in the encoding.
func (f from) encoded(t *testing.T, text string) string {
	t.Helper()
	written, err := f.encoding.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return f.mark + written
}

// Every encoding is recognised, and an import continues at the right byte of it after each batch: with line ends of
// any kind, and with or without a line that tells the separator.
func TestImportsContinueInEveryEncoding(t *testing.T) {
	t.Parallel()
	for name, f := range encodings {
		for kind, form := range map[string]struct{ first, end string }{
			"new lines": {"", "\n"}, "returns": {"", "\r"}, "both, and sep=": {"sep=;\r\n", "\r\n"},
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				o := newOffice(t)
				o.settle(f.country)
				o.imports = o.imports.InBatches(3, 1)
				file := form.first + "note;name;phone" + form.end
				var want []string
				for n := range 10 {
					// A note of several lines: rows aren't lines.
					file += fmt.Sprintf("\"%s%s%d\";%s;+4670174%04d%s", f.name, form.end, n, f.name, n, form.end)
					want = append(want, fmt.Sprintf("%s +4670174%04d - 0 0", f.name, n))
				}
				i := o.uploaded(f.encoded(t, file))
				p := o.preview(i.ID)
				if p.Encoding != f.want || p.Header != 1 || p.Beginning[0].FileRow != 1 {
					t.Errorf("recognised as %s, header row %d", p.Encoding, p.Header)
				}
				i = o.worked(o.running(o.checkedAs(i.ID, p.Mapping).ID))
				wantCounts(t, i, importing.Done, counts{Rows: 10, Done: 10, Created: 10})
				if diff := cmp.Diff(want, o.everybody()); diff != "" {
					t.Errorf("customers (-want +got):\n%s\n%+v", diff, o.problems(i.ID))
				}
			})
		}
	}
}

// settle moves the business to a country.
func (o *office) settle(country string) {
	o.Exec("update loyalty.tenant set country = $2 where id = $1", o.By.Tenant.ID, country)
	o.By.Tenant.Country = country
}

// A file in UTF-16 that is stored in several pieces.
func TestImportOfManyPiecesInUTF16(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.imports = o.imports.InBatches(50, 1)
	const n = 400
	file := "name;phone;note\n"
	for i := range n {
		file += fmt.Sprintf("Åsa Björk 😀;+4670174%04d;%s\n", i, strings.Repeat("ö😀", 900+i%7))
	}
	text := encodings["UTF-16 with a mark"].encoded(t, file)
	if len(text) < 2<<20 {
		t.Fatalf("%d bytes are too few", len(text))
	}
	i := o.imported(text)
	wantCounts(t, i, importing.Done, counts{Rows: n, Done: n, Created: n})
	for _, c := range o.everybody() {
		if !strings.HasPrefix(c, "Åsa Björk 😀 +") {
			t.Fatalf("a customer is %q", c)
		}
	}
}

// Ways of programs to write a file, each with the one customer Åsa Öhrn.
func TestSeparatorsTitlesAndEnds(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"sep=;":                       "sep=;\nname;phone\nÅsa Öhrn;070 174 06 05\n",
		"sep=, with returns":          "SEP=,\r\nname,phone\r\nÅsa Öhrn,070 174 06 05\r\n",
		"sep= and a tab":              "sep=\t\nname\tphone\nÅsa Öhrn\t070 174 06 05\n",
		"sep= in quotation marks":     "\"sep=;\"\nname;phone\nÅsa Öhrn;070 174 06 05\n",
		"sep= and a colon":            "sep=:\nname:phone\nÅsa Öhrn:070 174 06 05\n",
		"sep= after a mark":           "\uFEFFsep=;\nname;phone\nÅsa Öhrn;070 174 06 05\n",
		"sep= against the first line": "sep=;\nname;phone;a, b, c, d\nÅsa Öhrn;070 174 06 05;x\n",
		"bars":                        "name|phone\nÅsa Öhrn|070 174 06 05\n",
		"a title":                     "Customers, all of them, in May\nname;phone;city\nÅsa Öhrn;070 174 06 05;\n",
		"titles and an empty row":     "Customers\n2026-05-03\n\nname;phone;city\nÅsa Öhrn;070 174 06 05;\n",
		"a title with separators":     "Customers;;\nname;phone;city\nÅsa Öhrn;070 174 06 05;\n",
		"a title in odd quotes":       "Café \"Nord\"\nname;phone;city\nÅsa Öhrn;070 174 06 05;\n",
		"^Z":                          "name;phone\nÅsa Öhrn;070 174 06 05\n\x1a",
		"^Z behind the last cell":     "name;phone\nÅsa Öhrn;\"070 174 06 05\"\x1a",
		"^Z and a new line":           "name;phone\nÅsa Öhrn;070 174 06 05\r\n\x1a\r\n",
		"separators at the ends":      "name;phone;;\nÅsa Öhrn;070 174 06 05;;\n",
		"returns alone":               "name;phone\rÅsa Öhrn;070 174 06 05\r",
		"two returns":                 "name;phone\r\r\nÅsa Öhrn;070 174 06 05\r\r\n",
		"a phone as a formula":        "name;phone\nÅsa Öhrn;=\"070 174 06 05\"\n",
		"the same, in quotes":         "name,phone\n\"Åsa Öhrn\",\"=\"\"070 174 06 05\"\"\"\n",
		"an apostrophe":               "name,phone\nÅsa Öhrn,'070 174 06 05\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			i := o.checked(content)
			if p := o.preview(i.ID); name == "separators at the ends" && len(p.Columns) != 2 {
				t.Errorf("%d columns", len(p.Columns))
			}
			wantCounts(t, i, importing.Checked, counts{Rows: 1, Done: 1, Created: 1})
			o.worked(o.running(i.ID))
			if diff := cmp.Diff([]string{"Åsa Öhrn 070 174 06 05 - 0 0"}, o.everybody()); diff != "" {
				t.Errorf("customers (-want +got):\n%s\n%+v", diff, o.problems(i.ID))
			}
		})
	}
}

// A name may begin with an apostrophe, and be a word that spreadsheets have.
func TestNamesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.imported("first name,last name,phone\nJan,'t Hart,0701740605\nTrue,1E5,0701740606\n")
	wantList := []string{"Jan 't Hart 0701740605 - 0 0", "True 1E5 0701740606 - 0 0"}
	if diff := cmp.Diff(wantList, o.everybody()); diff != "" {
		t.Errorf("customers (-want +got):\n%s", diff)
	}
}

// Whole numbers as spreadsheets of all countries write them. What could be a thousand times as much is an error.
func TestOpeningBalances(t *testing.T) {
	t.Parallel()
	whole := core.MustBeInteger
	for text, want := range map[string]any{
		"12": 12, "12.0": 12, "12,0": 12, "12.00": 12, "12,00": 12, "12.0000": 12, "+12": 12, "1 240": 1240, "1'240": 1240, "1\u202f240": 1240,
		"1.234,00": 1234, "1,234.00": 1234, "1.234.567": 1234567, "1,234,567": 1234567, "1,234,567.0": 1234567, "1,23,456": 123456, "１２": 12, "٢٤": 24,
		"0": 0, "": 0, "=\"12\"": 12, "'12": 12,
		"1,234": whole, "1.234": whole, "12.000": whole, "12.5": whole, "1.23,00": whole, "12,34.00": whole, "many": whole, "1..0": whole, "12-": whole,
		"-1": core.Min(0), "−1": core.Min(0), "1E+05": core.Violation{Rule: "rounded"}, "#REF!": core.Violation{Rule: "cell_error"},
		"#NÁZOV?": core.Violation{Rule: "cell_error"}, "####": core.Violation{Rule: "cell_error"}, "TRUE": core.Violation{Rule: "cell_error"}, "Err:502": core.Violation{Rule: "cell_error"},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			i := o.checked("name\tphone\tpoints\tnote\nAnna Ek\t0701740605\t\"" + strings.ReplaceAll(text, `"`, `""`) + "\"\tx\n")
			if v, refused := want.(core.Violation); refused {
				if got := o.problems(i.ID); len(got) != 1 || got[0].Field != "points" || got[0].Violation != v {
					t.Errorf("problems: %+v, want %+v", got, v)
				}
				return
			}
			if i.Points != int64(want.(int)) || i.Created != 1 {
				t.Errorf("%d points of %d customers, want %d: %+v", i.Points, i.Created, want, o.problems(i.ID))
			}
		})
	}
}

// A row that repeats the phone number of one and the e-mail address of another is found as an upsert finds it.
func TestWhomARowRepeats(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.imports = o.imports.InBatches(2, 10) // what is repeated is in an earlier batch, too
	known := o.made("070 174 06 05", new("anna@example.com"))
	i := o.checked(lines("name,phone,email",
		"Bo Ek,0701740606,bo@example.com",
		"Cia Ek,0701740607,",
		"Dan Ek,0701740607,bo@example.com", // 4: by phone, of row 3
		"Eva Ek,0701740608,ANNA@example.com",
		"Fia Ek,0701740605,bo@example.com",
		"Gun Ek,0701740609,Bo@Example.com",
		"Hans,0701740606,"))
	wantCounts(t, i, importing.Checked, counts{Rows: 7, Done: 7, Created: 2, Found: 2, Repeated: 2, Failed: 1})
	described := func() (all []string) {
		list, err := o.imports.ListDuplicates(t.Context(), o.By, i.ID, 10)
		o.Check(err)
		for _, p := range list {
			all = append(all, fmt.Sprintf("%d %s: %s %s of row %d, %s", p.FileRow, p.Repeats.Name, p.Field, p.Value, p.Repeats.Row, p.Repeats.CustomerName))
			if who := p.Repeats.Customer; p.Repeats.CustomerName == "Anna Lindqvist" && *who != known.ID {
				t.Errorf("row %d repeats %v", p.FileRow, who)
			}
		}
		return all
	}
	if diff := cmp.Diff([]string{
		"4 Dan Ek: phone 0701740607 of row 3, ",
		"5 Eva Ek: email ANNA@example.com of row 0, Anna Lindqvist",
		"6 Fia Ek: phone 0701740605 of row 0, Anna Lindqvist",
		"7 Gun Ek: email Bo@Example.com of row 2, ",
	}, described()); diff != "" {
		t.Errorf("the check (-want +got):\n%s", diff)
	}
	o.worked(o.running(i.ID))
	if diff := cmp.Diff([]string{
		"4 Dan Ek: phone 0701740607 of row 0, Cia Ek",
		"5 Eva Ek: email ANNA@example.com of row 0, Anna Lindqvist",
		"6 Fia Ek: phone 0701740605 of row 0, Anna Lindqvist",
		"7 Gun Ek: email Bo@Example.com of row 0, Bo Ek",
	}, described()); diff != "" {
		t.Errorf("the import (-want +got):\n%s", diff)
	}
	// Another business sees none of them.
	stranger := newOffice(t)
	if _, err := stranger.imports.ListShared(t.Context(), stranger.By, i.ID); err != nil {
		t.Error(err)
	}
	if list, err := stranger.imports.ListDuplicates(t.Context(), stranger.By, i.ID, 10); err == nil || len(list) > 0 {
		t.Errorf("a stranger sees %v", list)
	}
}

// The values that at least three rows share come in the order of how many share them.
func TestSharedValues(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	known := o.made("070 174 06 05", nil)
	file := "name,phone,email\n"
	for n := range 5 {
		file += fmt.Sprintf("Guest %d,0701740999,\n", n) // rows 2 to 6
	}
	for n := range 3 {
		file += fmt.Sprintf("Berg %d,07017406%02d,berg@example.com\n", n, 10+n) // 7 to 9
	}
	for n := range 4 {
		file += fmt.Sprintf("Again %d,070-174 06 05,\n", n) // 10 to 13
	}
	file += "Bo Ek,0701740620,\nBo Ek,0701740620,\n" // two share no more than a family does
	i := o.checked(file)
	shared, err := o.imports.ListShared(t.Context(), o.By, i.ID)
	o.Check(err)
	want := []importing.Shared{
		{Field: "phone", Value: "0701740999", Rows: 5, Row: 2},
		{Field: "phone", Value: "070-174 06 05", Rows: 4, Customer: &known.ID, CustomerName: "Anna Lindqvist"},
		{Field: "email", Value: "berg@example.com", Rows: 3, Row: 7},
	}
	if diff := cmp.Diff(want, shared); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Choices of how a file is read are checked, and what is chosen stays.
func TestChoicesOfReading(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	i := o.uploaded(lines("a list,of", "Person,Number", "Anna Ek,0701740605"))
	m := importing.Mapping{Encoding: importing.Windows1250, Header: 2, Columns: []importing.Field{"full_name", "phone"}, DateOrder: importing.MonthFirst}
	for field, change := range map[string]func(m *importing.Mapping){
		"encoding": func(m *importing.Mapping) { m.Encoding = "ebcdic" },
		"heading":  func(m *importing.Mapping) { m.Header = 4 },
		"dates":    func(m *importing.Mapping) { m.DateOrder = "ydm" },
	} {
		wrong := m
		wrong.Columns = slices.Clone(m.Columns)
		change(&wrong)
		_, err := o.imports.Check(t.Context(), o.By, i.ID, wrong)
		if got := shoptest.Fields(t, err); !slices.Contains(got[field], core.InvalidChoice) {
			t.Errorf("%s: %v", field, got)
		}
	}
	utf16 := m
	utf16.Encoding = importing.UTF16
	_, err := o.imports.Check(t.Context(), o.By, i.ID, utf16)
	if got := shoptest.Fields(t, err); !slices.Contains(got["encoding"], core.Violation{Rule: "not_utf16"}) {
		t.Errorf("UTF-16: %v", got)
	}
	wantCounts(t, o.checkedAs(i.ID, m), importing.Checked, counts{Rows: 1, Done: 1, Created: 1})
	if diff := cmp.Diff(m, o.preview(i.ID).Mapping); diff != "" {
		t.Errorf("the choice is not kept (-want +got):\n%s", diff)
	}
}
