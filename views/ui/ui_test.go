package ui_test

import (
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
