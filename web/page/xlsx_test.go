package page_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/labstack/echo/v4"
	"github.com/xuri/excelize/v2"

	"example.com/loyalty/web/page"
)

// workbook downloads a workbook with sheets of at most rows rows.
func workbook(t *testing.T, rows int, write func(row func(cells ...any) error) error) file {
	t.Helper()
	return workbookIn(t, nil, rows, write)
}

// workbookIn is workbook with a directory for its temporary files.
func workbookIn(t *testing.T, scratch *page.Scratch, rows int, write func(row func(cells ...any) error) error) file {
	t.Helper()
	server := workbooks(t, scratch, rows, write)
	got, err := http.Get(server.URL + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	return file{got.StatusCode, got.Header, body, err}
}

// workbooks answers with a workbook, as often as it is asked.
func workbooks(t *testing.T, scratch *page.Scratch, rows int, write func(row func(cells ...any) error) error) *httptest.Server {
	t.Helper()
	kit := page.New(page.Config{
		Slug: func(string) string { return "" }, Address: func(*http.Request) string { return "" },
		Now: time.Now, Log: slog.New(slog.DiscardHandler), Scratch: scratch,
	})
	columns := []page.Column{{Heading: "Name", Width: 30}, {Heading: "Points"}, {Heading: "Since", Width: 18}}
	e := echo.New()
	e.Use(kit.Session)
	e.GET("/file", func(c echo.Context) error { return kit.Workbook(c, "people.xlsx", "People", columns, rows, write) })
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	return server
}

// "Exports 2 at once and 1 a tenant": six of one tenant are made one after the other.
func TestATenantsWorkbooksAreMadeOneAfterTheOther(t *testing.T) {
	t.Parallel()
	var inside, most atomic.Int64
	server := workbooks(t, nil, 1<<20, func(row func(...any) error) error {
		most.Store(max(most.Load(), inside.Add(1)))
		defer inside.Add(-1)
		for i := range 10_000 {
			if err := row("Anna", int64(i), time.Time{}); err != nil {
				return err
			}
		}
		return nil
	})
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			got, err := http.Get(server.URL + "/file")
			if err != nil {
				t.Error(err)
				return
			}
			defer got.Body.Close()
			if n, err := io.Copy(io.Discard, got.Body); err != nil || n == 0 || got.StatusCode != http.StatusOK {
				t.Errorf("%d: %d bytes, %v", got.StatusCode, n, err)
			}
		})
	}
	all.Wait()
	if most.Load() != 1 {
		t.Errorf("%d workbooks were made at once", most.Load())
	}
}

// sheets are the cells of a workbook as Excel shows them.
func sheets(t *testing.T, f file) map[string][][]string {
	t.Helper()
	if f.status != http.StatusOK || f.err != nil {
		t.Fatalf("%d %v", f.status, f.err)
	}
	book, err := excelize.OpenReader(bytes.NewReader(f.body))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][][]string{}
	for _, name := range book.GetSheetList() {
		if all[name], err = book.GetRows(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := book.Close(); err != nil {
		t.Error(err)
	}
	return all
}

// "XLSX by StreamWriter": texts stay texts whatever they begin with, numbers are numbers
// and times are as the clocks of their zone show them.
func TestXLSX(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Pacific/Auckland")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 20, 23, 5, 59, 999_000_000, time.UTC).In(zone)
	got := workbook(t, 100, func(row func(...any) error) error {
		return errors.Join(
			row("Åsa <b> & \"Öhrn\"", int64(1_234_567), at),
			row("=1+1", int64(-5), time.Time{}),
			row("+46 70 112 23 34", int64(0), at),
			row(" a\tb\nc\x01", int64(1<<40), at),
			row("Spend", page.MoneyCell{Cents: 1_250, Currency: "EUR"}),
			row("Spend", page.MoneyCell{Cents: 1_250, Currency: "JPY"}),
			row("Share", page.ShareCell{Of: 1, Whole: 8}, page.DayCell(at)),
			row("Share", page.ShareCell{}, page.DayCell{}),
		)
	})
	if kind, name := got.header.Get("Content-Type"), got.header.Get("Content-Disposition"); kind != "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" ||
		name != "attachment; filename=people.xlsx" {
		t.Errorf("%s %s", kind, name)
	}
	want := map[string][][]string{"People": {
		{"Name", "Points", "Since"},
		{"Åsa <b> & \"Öhrn\"", "1234567", "2026-11-21 12:05"},
		{"=1+1", "-5"},
		{"+46 70 112 23 34", "0", "2026-11-21 12:05"},
		{" a\tb\nc\uFFFD", "1099511627776", "2026-11-21 12:05"},
		{"Spend", "12.50"},
		{"Spend", "1250"},
		{"Share", "12.5%", "2026-11-21"},
		{"Share"},
	}}
	if diff := cmp.Diff(want, sheets(t, got)); diff != "" {
		t.Errorf("workbook (-want +got):\n%s", diff)
	}
	book, err := excelize.OpenReader(bytes.NewReader(got.body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := book.Close(); err != nil {
			t.Error(err)
		}
	})
	if formula, err := book.GetCellFormula("People", "A3"); err != nil || formula != "" {
		t.Errorf("a name is the formula %q, %v", formula, err)
	}
	if kind, err := book.GetCellType("People", "A3"); err != nil || kind != excelize.CellTypeInlineString {
		t.Errorf("a name is of type %v, %v", kind, err)
	}
}

// "Any size": what does not fit on a sheet goes on on the next one, with the headings.
func TestAWorkbookOfManySheets(t *testing.T) {
	t.Parallel()
	for rows, want := range map[int]map[string]int{0: {"People": 1}, 9: {"People": 10}, 10: {"People": 10, "People 2": 2}, 25: {"People": 10, "People 2": 10, "People 3": 8}} {
		all := sheets(t, workbook(t, 10, func(row func(...any) error) error {
			for i := range rows {
				if err := row(fmt.Sprint("Anna ", i), int64(i), time.Time{}); err != nil {
					return err
				}
			}
			return nil
		}))
		seen := 0
		for name, sheet := range all {
			if len(sheet) != want[name] || sheet[0][0] != "Name" {
				t.Errorf("of %d rows, %s has %d", rows, name, len(sheet))
			}
			seen += len(sheet) - 1
		}
		if seen != rows || len(all) != len(want) {
			t.Errorf("%d rows of %d, on %d sheets", seen, rows, len(all))
		}
	}
}

// "It spools to temp files": however many rows there are they wait there, and nothing is
// left behind, also where it fails. Not parallel: it looks into a directory of its own.
func TestAWorkbookWaitsOnTheDisk(t *testing.T) { //nolint:paralleltest // as it says
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	there := func() int {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	broken := errors.New("the database is gone")
	for _, end := range []error{nil, broken} {
		got := workbook(t, 1<<20, func(row func(...any) error) error {
			for range 20_000 {
				if err := row(strings.Repeat("x", 1000), int64(1), time.Time{}); err != nil {
					return err
				}
			}
			if there() == 0 {
				t.Error("20 MB are held in memory")
			}
			return end
		})
		if want := map[bool]int{true: http.StatusOK, false: http.StatusInternalServerError}[end == nil]; got.status != want {
			t.Errorf("answered %d, want %d", got.status, want)
		}
		if end == nil && len(sheets(t, got)["People"]) != 20_001 {
			t.Error("rows are missing")
		}
	}
	if n := there(); n != 0 {
		t.Errorf("%d files are left", n)
	}
}
