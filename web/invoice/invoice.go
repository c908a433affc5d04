// Package invoice renders an invoice as a PDF, for the platform, the business and the e-mail.
//
// Its surprising rule: characters that the fonts lack become question marks. The fonts have
// Latin, Greek and Cyrillic.
package invoice

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"github.com/labstack/echo/v4"
	"golang.org/x/image/font/sfnt"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/views/format"
)

// FileName returns the name of an invoice's PDF file.
func FileName(i billing.Invoice) string {
	return "invoice-" + strings.ToLower(strings.ReplaceAll(i.Name(), " ", "-")) + ".pdf"
}

// Download answers with an invoice's PDF file.
func Download(c echo.Context, i billing.Invoice) error {
	var file bytes.Buffer
	if err := PDF(i, &file); err != nil {
		return fmt.Errorf("draw invoice %d: %w", i.ID, err)
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="`+FileName(i)+`"`)
	return c.Blob(http.StatusOK, "application/pdf", file.Bytes())
}

//go:embed fonts/*.gz
var compressed embed.FS

// face is a font: its file and its glyphs.
type face struct {
	file   []byte
	glyphs *sfnt.Font
}

var fonts = sync.OnceValues(func() (map[string]face, error) {
	faces := map[string]face{}
	for style, name := range map[string]string{"": "regular", "B": "semibold"} {
		f, err := compressed.Open("fonts/" + name + ".ttf.gz")
		if err != nil {
			return nil, err
		}
		defer f.Close() //nolint:errcheck // an embedded file
		unpacked, err := gzip.NewReader(f)
		if err != nil {
			return nil, err
		}
		file, err := io.ReadAll(unpacked)
		if err != nil {
			return nil, err
		}
		glyphs, err := sfnt.Parse(file)
		if err != nil {
			return nil, err
		}
		faces[style] = face{file, glyphs}
	}
	return faces, nil
})

// Measures of the page, in millimetres.
const (
	left, right, top = 20.0, 190.0, 20.0
	width            = right - left
	bottom           = 30.0 // reserved for the footer
	column           = 100.0
	small, normal    = 9.0, 10.0 // points
	lineHeight       = 5.2
)

type sheet struct {
	*fpdf.Fpdf
	invoice billing.Invoice
	faces   map[string]face
	scratch sfnt.Buffer
	style   string
}

// PDF writes an invoice as a PDF. The same invoice is always the same file.
func PDF(i billing.Invoice, w io.Writer) error {
	faces, err := fonts()
	if err != nil {
		return fmt.Errorf("read the fonts of invoices: %w", err)
	}
	s := &sheet{Fpdf: fpdf.New("P", "mm", "A4", ""), invoice: i, faces: faces}
	for style, f := range faces {
		// The library keeps and changes its argument.
		s.AddUTF8FontFromBytes("Inter", style, bytes.Clone(f.file))
	}
	s.SetCatalogSort(true)
	dated := i.CreatedAt
	if i.IssuedAt != nil {
		dated = *i.IssuedAt
	}
	s.SetCreationDate(dated)
	s.SetModificationDate(dated)
	s.SetTitle(s.drawable("", s.title()), true)
	s.SetAuthor(s.drawable("", i.Issuer.Name), true)
	s.SetLang("en")
	s.SetMargins(left, top, 210-right)
	s.SetAutoPageBreak(true, bottom)
	s.SetFooterFunc(s.foot)
	s.AddPage()
	s.head()
	s.parties()
	s.lines()
	s.totals()
	s.payment()
	return s.Output(w)
}

func (s *sheet) title() string {
	if s.invoice.Number == nil {
		return "Invoice (draft)"
	}
	return "Invoice " + s.invoice.Name()
}

// drawable returns a text with question marks for characters that the font lacks.
func (s *sheet) drawable(style, text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		if glyph, err := s.faces[style].glyphs.GlyphIndex(&s.scratch, r); err != nil || glyph == 0 || r > 0xFFFF {
			return '?'
		}
		return r
	}, core.WithoutDirectionMarks(text))
}

func (s *sheet) font(style string, points float64, grey int) {
	s.style = style
	s.SetFont("Inter", style, points)
	s.SetTextColor(grey, grey, grey)
}

const (
	ink   = 30
	quiet = 95
)

// text writes a line of at most this width; a longer one is cut.
func (s *sheet) text(w, h float64, text, align string) {
	text = s.drawable(s.style, text)
	for r := []rune(text); len(r) > 1 && s.GetStringWidth(text) > w-1; {
		r = r[:len(r)-1]
		text = string(r) + "…"
	}
	s.CellFormat(w, h, text, "", 0, align, false, 0, "")
}

// figure writes an amount, right-aligned, in a smaller font if it is too wide.
func (s *sheet) figure(w, h float64, cents int64) {
	text := s.drawable(s.style, format.Money(cents, s.invoice.Currency))
	points, _ := s.GetFontSize()
	for fits := points; s.GetStringWidth(text) > w-2 && fits > 4; fits -= 0.5 {
		s.SetFontSize(fits)
	}
	s.CellFormat(w, h, text, "", 0, "R", false, 0, "")
	s.SetFontSize(points)
}

// block writes lines of text of at most this width, and returns the y below them.
func (s *sheet) block(x, y, w float64, text string) float64 {
	s.SetXY(x, y)
	for _, l := range s.wrapped(text, w) {
		s.SetX(x)
		s.text(w, lineHeight, l, "L")
		s.Ln(lineHeight)
	}
	return s.GetY()
}

// wrapped splits a text into lines that fit this width.
func (s *sheet) wrapped(text string, w float64) (lines []string) {
	for l := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
		l = strings.TrimRight(l, "\n")
		if l == "" {
			lines = append(lines, "")
			continue
		}
		lines = append(lines, s.SplitText(s.drawable(s.style, l), w-2)...)
	}
	return lines
}

func (s *sheet) head() {
	i := s.invoice
	s.font("B", 22, ink)
	s.SetXY(left, top)
	s.text(width, 10, s.title(), "L")
	status := ""
	switch {
	case i.Status == billing.Void:
		status = "Void"
	case i.PaidAt != nil:
		status = "Paid on " + day(*i.PaidAt, i)
	case i.Number == nil:
		status = "Not issued yet"
	}
	if status != "" {
		s.font("B", normal, quiet)
		s.SetXY(left, top+11)
		s.text(width, lineHeight, status, "L")
	}
	y := top + 22
	facts := [][2]string{{"Period", i.Period()}}
	if i.IssuedAt != nil && i.DueAt != nil {
		facts = append([][2]string{{"Number", i.Name()}, {"Issued", day(*i.IssuedAt, i)}, {"Due", day(*i.DueAt, i)}}, facts...)
	}
	for _, f := range facts {
		s.SetXY(left, y)
		s.font("", small, quiet)
		s.text(25, lineHeight, f[0], "L")
		s.font("", normal, ink)
		s.text(width-25, lineHeight, f[1], "L")
		y += lineHeight
	}
	s.SetY(y + 6)
}

func day(at time.Time, i billing.Invoice) string { return at.In(i.Zone()).Format("2 January 2006") }

// parties writes recipient and issuer side by side.
func (s *sheet) parties() {
	y := s.GetY()
	end := y
	for n, side := range []struct {
		label string
		billing.Party
	}{{"Billed to", s.invoice.Recipient}, {"From", s.invoice.Issuer}} {
		x, w := left+float64(n)*column, column-10
		if n > 0 {
			w = width - column
		}
		s.font("", small, quiet)
		s.SetXY(x, y)
		s.text(w, lineHeight, side.label, "L")
		s.font("B", normal, ink)
		at := s.block(x, y+lineHeight, w, side.Name)
		s.font("", normal, ink)
		var rest []string
		for _, line := range []string{side.Address, labelled(s.invoice.TaxName, side.TaxNumber), side.Email} {
			if line != "" {
				rest = append(rest, line)
			}
		}
		end = max(end, s.block(x, at, w, strings.Join(rest, "\n")))
	}
	s.SetY(end + 8)
}

// labelled puts a word in front of a text, unless the text is empty.
func labelled(word, text string) string {
	if text == "" {
		return ""
	}
	return strings.TrimSpace(word + " " + text)
}

// The widths of the table's columns.
const (
	quantityWidth = 20.0
	priceWidth    = 32.0
	amountWidth   = 34.0
	whatWidth     = width - quantityWidth - priceWidth - amountWidth
)

func (s *sheet) rule() {
	s.SetDrawColor(215, 215, 220)
	s.SetLineWidth(0.2)
	s.Line(left, s.GetY(), right, s.GetY())
}

func (s *sheet) tableHead() {
	s.rule()
	s.font("B", small, quiet)
	s.SetX(left)
	s.text(whatWidth, 8, "Description", "L")
	s.text(quantityWidth, 8, "Quantity", "R")
	s.text(priceWidth, 8, "Price", "R")
	s.text(amountWidth, 8, "Amount", "R")
	s.Ln(8)
	s.rule()
}

func (s *sheet) lines() {
	i := s.invoice
	s.tableHead()
	for _, l := range i.Lines {
		s.font("", normal, ink)
		what := s.wrapped(l.Description, whatWidth-4)
		height := float64(len(what))*lineHeight + 4
		if _, whole := s.GetPageSize(); s.GetY()+height > whole-bottom {
			s.AddPage()
			s.tableHead()
			s.font("", normal, ink)
		}
		y := s.GetY()
		s.SetXY(left+whatWidth, y+2)
		s.text(quantityWidth, lineHeight, format.Number(l.Quantity), "R")
		s.figure(priceWidth, lineHeight, l.UnitCents)
		s.figure(amountWidth, lineHeight, l.AmountCents)
		s.block(left, y+2, whatWidth-4, l.Description)
		s.SetY(y + height)
		s.rule()
	}
}

func (s *sheet) totals() {
	i := s.invoice
	// The total is never alone on a page.
	if _, whole := s.GetPageSize(); s.GetY()+36 > whole-bottom {
		s.AddPage()
	}
	s.SetY(s.GetY() + 4)
	sum := func(style string, points float64, label string, cents int64) {
		s.font(style, points, ink)
		s.SetX(left + column)
		s.text(width-column-amountWidth, 7, label, "L")
		s.figure(amountWidth, 7, cents)
		s.Ln(7)
	}
	sum("", normal, "Subtotal", i.AmountCents)
	sum("", normal, i.TaxName+" "+format.Rate(i.TaxRate), i.TaxCents)
	s.SetDrawColor(150, 150, 155)
	s.Line(left+column, s.GetY()+1, right, s.GetY()+1)
	s.Ln(2)
	sum("B", 12, "Total", i.TotalCents)
}

func (s *sheet) payment() {
	if s.invoice.PaymentText == "" {
		return
	}
	s.SetY(s.GetY() + 8)
	s.font("B", normal, ink)
	s.SetX(left)
	s.text(width, lineHeight, "How to pay", "L")
	s.Ln(lineHeight)
	s.font("", normal, ink)
	s.block(left, s.GetY(), width, s.invoice.PaymentText)
}

func (s *sheet) foot() {
	s.SetY(-20)
	s.rule()
	s.font("", 8, quiet)
	s.SetXY(left, s.GetY()+2)
	from := []string{}
	for _, part := range []string{s.invoice.Issuer.Name, labelled(s.invoice.TaxName, s.invoice.Issuer.TaxNumber), s.invoice.Issuer.Email} {
		if part != "" {
			from = append(from, part)
		}
	}
	s.text(width-30, lineHeight, strings.Join(from, " · "), "L")
	s.text(30, lineHeight, "Page "+strconv.Itoa(s.PageNo()), "R")
}
