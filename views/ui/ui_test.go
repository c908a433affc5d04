package ui_test

import (
	"strings"
	"testing"

	"example.com/loyalty/views/ui"
)

func TestInitials(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Maja Sund": "MS", "Élodie Lefèvre": "ÉL", "  Bo  ": "B", "Anna Maria von Essen": "AE", "": "?", "42": "?",
		"Elsa Berg!": "EB", "O'Hara": "O", "øyvind ås": "ØÅ", "王 伟": "王伟",
	} {
		if got := ui.Initials(name); got != want {
			t.Errorf("%q = %q, want %q", name, got, want)
		}
	}
}

// On a phone, an amount parts from its currency before it is broken itself.
func TestAFigureMayBreakAfterItsCurrency(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := ui.FigureCard(ui.Figure{Label: "Spend", Icon: "receipt", Value: "KWD\u00a02,274.834"}).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), ">KWD 2,274.834<") {
		t.Error(b.String())
	}
}
