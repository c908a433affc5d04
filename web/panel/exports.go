package panel

import (
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/panel"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

// exporters may export.
var exporters = route.Managers

// ExportRoutes are the downloads of a list, below a path without extension.
func (p *Panel) ExportRoutes(path string, find func(c echo.Context) (ExportFile, error)) []route.Route {
	return []route.Route{
		route.Get(path+".csv", exporters, p.answerExport(find, p.csvFile)).AsFile(),
		route.Get(path+".xlsx", exporters, p.answerExport(find, p.xlsxFile)).AsFile(),
	}
}

// ExportFile is a filtered list as a file. Times are the business's local times.
type ExportFile struct {
	Name, Sheet string // the name without extension
	Columns     []page.Column
	Write       func(row RowWriter) error
}

type RowWriter = func(cells ...any) error

func (p *Panel) answerExport(find func(c echo.Context) (ExportFile, error), answer func(echo.Context, ExportFile) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		f, err := find(c)
		if err != nil {
			return err
		}
		return answer(c, f)
	}
}

func (p *Panel) csvFile(c echo.Context, f ExportFile) error {
	header := make([]string, len(f.Columns))
	for i, column := range f.Columns {
		header[i] = column.Heading
	}
	return p.CSV(c, f.Name+".csv", header, f.Write)
}

func (p *Panel) xlsxFile(c echo.Context, f ExportFile) error {
	return p.XLSX(c, f.Name+".xlsx", f.Sheet, f.Columns, f.Write)
}

// ExportsOf links to the exports of a list with the filters of the page, for those who may export.
func ExportsOf(c echo.Context, path string) *views.Exports {
	return ExportsAt(c, path, c.Request().URL.RawQuery)
}

// ExportsAt is exportsOf with a query of its own; nil: the role may not export.
func ExportsAt(c echo.Context, path, query string) *views.Exports {
	if !page.Actor(c).Role.Includes(exporters.Role) {
		return nil
	}
	file := func(extension string) string {
		return links.With(&url.URL{Path: path + extension, RawQuery: query}, "cursor", "")
	}
	return &views.Exports{CSV: file(".csv"), XLSX: file(".xlsx"), Fragment: page.IsFragment(c)}
}

// LocalTime is an optional instant as a cell: local time, or empty.
func LocalTime(at *time.Time, zone *time.Location) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.In(zone)
}

// LocalToday is today in the business's time zone, as midnight UTC like all days of ranges.
func (p *Panel) LocalToday(by core.Actor) time.Time {
	return format.Reader{By: by, Now: p.Now()}.Today()
}

func IsoDate(day time.Time) string { return day.Format(time.DateOnly) }
