package invoice_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core/billing"
	"example.com/loyalty/web/invoice"
)

func sample() billing.Invoice {
	at := func(text string) *time.Time {
		t, err := time.Parse(time.DateOnly, text)
		if err != nil {
			panic(err)
		}
		return &t
	}
	return billing.Invoice{
		ID: 7, Number: new(int64(118)), Timezone: "Europe/Stockholm", Status: billing.Issued, Currency: "EUR",
		Lines: []billing.Line{
			{Description: "Growth plan, 1–30 November 2026", Quantity: 1, UnitCents: 7900, AmountCents: 7900},
			{Description: "Small plan, unused 21–31 October 2026", Quantity: 1, UnitCents: -1000, AmountCents: -1000},
		},
		AmountCents: 6900, TaxName: "VAT", TaxRate: 2550, TaxCents: 1760, TotalCents: 8660,
		PeriodStart: *at("2026-11-01"), PeriodEnd: *at("2026-11-30"), CreatedAt: *at("2026-11-01"), IssuedAt: at("2026-11-01"), DueAt: at("2026-12-01"),
		Issuer:      billing.Party{Name: "Loyalty Platform AB", Address: "Kungsgatan 12\n111 35 Stockholm", TaxNumber: "SE559900112201", Email: "billing@loyalty.example"},
		Recipient:   billing.Party{Name: "Café Åro AB", Address: "Storgatan 4\n111 23 Stockholm", TaxNumber: "SE556677889901", Email: "maja@cafearo.example"},
		PaymentText: "Pay to SE45 5000 0000 0583 9825 7466.\nWrite the number of the invoice so that we find your payment.",
	}
}

func drawn(t *testing.T, i billing.Invoice) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := invoice.PDF(i, &b); err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(b.Bytes(), []byte("%PDF-1.")) || !bytes.HasSuffix(bytes.TrimSpace(b.Bytes()), []byte("%%EOF")) {
		t.Fatal("no PDF")
	}
	// Written to a directory for inspection, if one is set.
	if dir := os.Getenv("INVOICE_PDFS"); dir != "" {
		if err := os.WriteFile(dir+"/"+strings.ReplaceAll(t.Name(), "/", "-")+".pdf", b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// "PDF with the tenant's and the platform's details (Latin, Greek, Cyrillic)". Other
// characters become question marks.
func TestScripts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, drawn string }{
		"latin":    {"Café Åro, Łódź, İzmir, Þórshöfn, Győr — € 4.90", "Café Åro, Łódź, İzmir, Þórshöfn, Győr — € 4.90"},
		"greek":    {"Ταβέρνα Ρω, Αθήνα, Ἑλλάς", "Ταβέρνα Ρω, Αθήνα, Ἑλλάς"},
		"cyrillic": {"Кафе «Ёлка», Київ, Ђорђе", "Кафе «Ёлка», Київ, Ђорђе"},
		"others":   {"寿司 🍣 Sushi", "?? ? Sushi"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, bold := range []bool{false, true} {
				if got := invoice.Drawn(c.text, bold); got != c.drawn {
					t.Errorf("bold %v: %q is drawn as %q, want %q", bold, c.text, got, c.drawn)
				}
			}
			i := sample()
			i.Recipient.Name, i.Issuer.Name, i.Lines[0].Description = c.text, c.text, c.text
			drawn(t, i)
		})
	}
}

func pages(pdf []byte) int { return bytes.Count(pdf, []byte("/Type /Page\n")) }

// An invoice has one page, a long one several.
func TestPages(t *testing.T) {
	t.Parallel()
	i := sample()
	if got := pages(drawn(t, i)); got != 1 {
		t.Errorf("%d pages, want 1", got)
	}
	for range 60 {
		i.Lines = append(i.Lines, billing.Line{Description: strings.Repeat("A long description of what was billed. ", 3), Quantity: 1, UnitCents: 100, AmountCents: 100})
	}
	if got := pages(drawn(t, i)); got < 4 {
		t.Errorf("%d pages of 62 lines", got)
	}
}

func TestSameInvoiceSameFile(t *testing.T) {
	t.Parallel()
	if a, b := drawn(t, sample()), drawn(t, sample()); !bytes.Equal(a, b) {
		t.Error("two drawings differ")
	}
}

// The longest names without spaces, an empty address, a draft, a voided invoice and one without
// tax can be rendered.
func TestExtremes(t *testing.T) {
	t.Parallel()
	long := sample()
	long.Recipient = billing.Party{Name: strings.Repeat("Ñ", 100), Address: strings.Repeat("x", 500), TaxNumber: strings.Repeat("9", 100), Email: strings.Repeat("e", 240) + "@example.com"}
	long.Lines[0].UnitCents, long.Lines[0].AmountCents, long.TotalCents = 1_000_000_000_000, 1_000_000_000_000, 1_000_000_000_000
	draft := sample()
	draft.Number, draft.IssuedAt, draft.DueAt, draft.Status, draft.Issuer = nil, nil, nil, billing.Draft, billing.Party{}
	void := sample()
	void.Status, void.TaxRate, void.TaxCents, void.PaymentText = billing.Void, 0, 0, ""
	paid := sample()
	paid.Status, paid.PaidAt = billing.Paid, paid.DueAt
	for name, i := range map[string]billing.Invoice{"long": long, "draft": draft, "void": void, "paid": paid} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			drawn(t, i)
		})
	}
	if got := invoice.FileName(sample()); got != "invoice-2026-0118.pdf" {
		t.Errorf("file name %s", got)
	}
	if got := invoice.FileName(draft); got != "invoice-draft-7.pdf" {
		t.Errorf("file name of a draft %s", got)
	}
}
