package page_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/web/page"
)

// files serves a file over real connections.
func files(t *testing.T, log io.Writer, name string, header []string, write func(row func(cells ...any) error) error) *httptest.Server {
	t.Helper()
	kit := page.New(page.Config{
		Slug: func(string) string { return "" }, Address: func(*http.Request) string { return "" },
		Now: time.Now, Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	e := echo.New()
	e.Use(kit.Session)
	e.GET("/file", func(c echo.Context) error { return kit.CSV(c, name, header, write) })
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	return server
}

// file is what a browser gets of one.
type file struct {
	status int
	header http.Header
	body   []byte
	err    error // the answer broke off
}

func download(t *testing.T, log io.Writer, write func(row func(cells ...any) error) error) file {
	t.Helper()
	server := files(t, log, "two days.csv", []string{"Name", "Points"}, write)
	got, err := http.Get(server.URL + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	server.Close() // waits until it has nothing more to say
	return file{got.StatusCode, got.Header, body, err}
}

// "UTF-8 with BOM for Excel, cells that begin with = + - @ tab CR are prefixed so that no
// spreadsheet executes them": and a number below zero stays a number.
func TestCSV(t *testing.T) {
	t.Parallel()
	names := []string{
		"Anna", "Elif Yılmaz", `"Q", so to say`, "two\nlines", "", "=1+1", "+46 70 112 23 34", "-5", "@SUM(A1)", "\tx", "\rx", "\nx", "a=b", "'quoted", "Anna;=1+1",
	}
	got := download(t, io.Discard, func(row func(...any) error) error {
		for _, name := range names {
			if err := row(name, int64(-12)); err != nil {
				return err
			}
		}
		return nil
	})
	if got.err != nil {
		t.Fatal(got.err)
	}
	if kind, name := got.header.Get("Content-Type"), got.header.Get("Content-Disposition"); got.status != http.StatusOK ||
		kind != "text/csv; charset=utf-8; header=present" || name != `attachment; filename="two days.csv"` {
		t.Errorf("%d %s %s", got.status, kind, name)
	}
	text, marked := bytes.CutPrefix(got.body, []byte{0xEF, 0xBB, 0xBF})
	if !marked {
		t.Errorf("begins with % x", got.body[:3])
	}
	if !bytes.HasPrefix(text, []byte("Name,Points\r\nAnna,-12\r\n")) {
		t.Errorf("lines: %q", text)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var read []string
	for _, row := range rows[1:] {
		read = append(read, row[0])
	}
	want := []string{
		"Anna", "Elif Yılmaz", `"Q", so to say`, "two\nlines", "", "'=1+1", "'+46 70 112 23 34", "'-5", "'@SUM(A1)", "'\tx", "'x", "'\nx", "a=b", "'quoted", "Anna;'=1+1",
	}
	if !slices.Equal(read, want) {
		t.Errorf("read %q, want %q", read, want)
	}
}

// Half a file is never taken for a whole one: an error before the first bytes is
// answered as one, a later one breaks the answer off.
func TestACSVThatFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is full")
	got := download(t, io.Discard, func(row func(...any) error) error {
		return errors.Join(row("Anna", int64(1)), broken)
	})
	if got.err != nil || got.status != http.StatusInternalServerError || got.header.Get("Content-Disposition") != "" {
		t.Errorf("at once: %d %v", got.status, got.err)
	}
	var log bytes.Buffer
	got = download(t, &log, func(row func(...any) error) error {
		for range 10_000 {
			if err := row("Anna", int64(1)); err != nil {
				return err
			}
		}
		return broken
	})
	if got.err == nil || got.status != http.StatusOK || len(got.body) == 0 {
		t.Errorf("halfway: %d with %d bytes, %v; want an answer that breaks off", got.status, len(got.body), got.err)
	}
	if !strings.Contains(log.String(), "the disk is full") {
		t.Errorf("log: %s", log.String())
	}
	got = download(t, io.Discard, func(row func(...any) error) error { return row(1.5) })
	if got.err != nil || got.status != http.StatusInternalServerError {
		t.Errorf("a cell that is neither text nor whole number: %d %v", got.status, got.err)
	}
}

// Rows are sent while they are read.
func TestACSVIsStreamed(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	server := files(t, io.Discard, "file.csv", []string{"Name"}, func(row func(...any) error) error {
		for range 10_000 {
			if err := row("Anna Lindqvist"); err != nil {
				return err
			}
		}
		select {
		case <-arrived:
			return nil
		case <-time.After(10 * time.Second):
			return errors.New("no row was written")
		}
	})
	got, err := http.Get(server.URL + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if _, err := io.ReadFull(got.Body, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	close(arrived)
	if rest, err := io.ReadAll(got.Body); err != nil || len(rest) < 100_000 {
		t.Errorf("the rest: %d bytes, %v", len(rest), err)
	}
}
