package ui

// Chart is drawn by a script from its table, which people can also read.
type Chart struct {
	ID       string
	Title    string
	Summary  string // one sentence
	Label    string // of the first column: "Day"
	Series   []Series
	Rows     []ChartRow
	Undrawn  []ChartRow // what only the table has
	Measure  string     // above the axis, what the height of a line or a bar is: "Points per day"
	SoFar    string     // marks the last row, whose values still grow: "Today so far"; "": they are final
	Unit     string     // before the numbers of the axis: a currency
	Decimals int        // of the numbers: 2 for cents
}

// Series is a column of a chart.
type Series struct {
	Name string
	Kind SeriesKind
}

// SeriesKind is how a series is drawn.
type SeriesKind string

// The kinds.
const (
	Line    SeriesKind = "line"
	Bars    SeriesKind = "bars"
	Stacked SeriesKind = "stacked" // bars on top of the others
	Earlier SeriesKind = "earlier" // a dashed grey line: the period to compare with
)

// ChartRow has one value of each series.
type ChartRow struct {
	Label   string // "12 Oct", or "5–11 Oct"
	Axis    string // the same on the axis, where there is little room
	Partial bool   // a first or last step that the range has only a part of
	Values  []ChartValue
}

// ChartValue is a number, for the chart and for the table.
type ChartValue struct {
	Number int64
	Text   string // "": there is no such value
}

// Figure is a key figure, compared with an earlier period.
type Figure struct {
	Label, Value, Icon string
	Path               string // what it counts; "": no link
	Change             string // "+6.4%"; "" if there is nothing to compare with
	Trend              string // its direction, for people who only hear it: "up"
	Tone               Tone   // of the change: Neutral if it is neither good nor bad news
	Against            string // "was 301"
	AgainstDays        string // when: "17 Apr – 16 May 2026"; "": as the heading says
}
