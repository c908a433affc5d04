package customers

import (
	"strconv"

	"example.com/loyalty/core"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// ImportColumns is the form that says how a file is read, and maps its columns to fields.
type ImportColumns struct {
	panel.Frame
	Preview importing.Preview
	Form    ui.Form
	Message func(core.Violation) string // why a row can't be read
}

// ColumnName is the name of the form's field for a column, from 0.
func ColumnName(n int) string { return "column_" + strconv.Itoa(n) }

// columnLetters names a column as spreadsheets do: A, B … Z, AA.
func columnLetters(n int) string {
	letters := ""
	for n++; n > 0; n /= 26 {
		n--
		letters = string(rune('A'+n%26)) + letters
	}
	return letters
}

// columnSpan is the colspan of a cell that spans all columns.
func (v ImportColumns) columnSpan() string { return strconv.Itoa(len(v.Preview.Columns)) }

// columnFields are the fields of the form. The summary of errors, above the first of them, knows all that were completed.
type columnFields struct {
	encoding, header ui.Field
	dates            *ui.Field // nil: no dates that can be read in two orders
	columns          []ui.Field
}

func (v ImportColumns) fields() columnFields {
	f := columnFields{encoding: v.encodingField(), header: v.headerField()}
	if v.Preview.Dates != nil {
		f.dates = new(v.datesField(*v.Preview.Dates))
	}
	f.columns = v.fieldsOfColumns()
	return f
}

func (v ImportColumns) encodingField() ui.Field {
	field := ui.Field{Label: "File encoding"}
	for _, e := range importing.Encodings {
		field.Options = append(field.Options, ui.Option{Value: string(e), Label: encodingNames[e]})
	}
	return v.Form.Field("encoding", field)
}

func (v ImportColumns) headerField() ui.Field {
	field := ui.Field{Label: "Headers are in", Options: []ui.Option{{Value: "0", Label: headerRow(v.Preview, 0)}}}
	for _, n := range v.Preview.Headers {
		field.Options = append(field.Options, ui.Option{Value: strconv.FormatInt(n, 10), Label: headerRow(v.Preview, n)})
	}
	return v.Form.Field("heading", field)
}

func (v ImportColumns) datesField(d importing.Dates) ui.Field {
	return v.Form.Field("dates", ui.Field{Label: "Dates", Help: datesReason(d, v.By.Tenant.Country), Options: []ui.Option{
		{Label: "Automatic: " + orderNames[d.Automatic]},
		{Value: string(importing.DayFirst), Label: orderExamples[importing.DayFirst]},
		{Value: string(importing.MonthFirst), Label: orderExamples[importing.MonthFirst]},
	}})
}

func (v ImportColumns) fieldsOfColumns() (fields []ui.Field) {
	options := []ui.Option{{Label: "Don't import"}}
	for _, field := range importing.FieldsOf(v.By.Tenant, v.Preview.Levels) {
		options = append(options, ui.Option{Value: string(field), Label: FieldNames[field]})
	}
	for n := range v.Preview.Columns {
		fields = append(fields, v.Form.Field(ColumnName(n), ui.Field{Label: "Column " + columnLetters(n), Options: options}))
	}
	return fields
}

// headerRow names the row with the headers as a spreadsheet counts; 0: none has them.
func headerRow(p importing.Preview, n int64) string {
	if n < 1 || n > int64(len(p.Beginning)) {
		return "No row"
	}
	return "Row " + format.Number(p.Beginning[n-1].FileRow)
}

var encodingNames = map[importing.Encoding]string{
	importing.UTF8: "UTF-8", importing.UTF16: "UTF-16", importing.UTF16BE: "UTF-16, big-endian",
	importing.Windows1250: "Windows-1250 (Central European)", importing.Windows1251: "Windows-1251 (Cyrillic)",
	importing.Windows1252: "Windows-1252 (Western European)", importing.Windows1253: "Windows-1253 (Greek)",
	importing.Windows1254: "Windows-1254 (Turkish)", importing.Windows1257: "Windows-1257 (Baltic)",
	importing.MacRoman: "Mac Roman",
}

var orderNames = map[importing.DateOrder]string{importing.DayFirst: "day first", importing.MonthFirst: "month first"}

var orderExamples = map[importing.DateOrder]string{
	importing.DayFirst: "Day first: 25/03/2024", importing.MonthFirst: "Month first: 03/25/2024",
}

// datesReason says why dates are read in an order.
func datesReason(d importing.Dates, country string) string {
	words := "The order of your country, " + format.Country(country)
	switch {
	case d.Order != d.Automatic:
		words = "As you chose"
	case d.Row > 0:
		words = "Row " + format.Number(d.Row) + " can only be read this way"
	}
	if d.Unclear > 0 && d.Row == 0 {
		words += ": " + format.Count(d.Unclear, "date", "dates") + " can be read both ways"
	}
	if d.Mixed > 0 {
		words += ". Row " + format.Number(d.Mixed) + " can only be read the other way"
	}
	return words
}
