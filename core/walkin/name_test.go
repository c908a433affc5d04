package walkin_test

import (
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/shoptest"
)

// Names of people everywhere are taken; what a mail program could make a link of is not.
func TestVisitorsNamesEverywhere(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for name, taken := range map[string]bool{
		"Anna St.Clair":          true, // .clair is no top-level domain
		"A.P.J.Abdul Kalam":      true,
		"M.Kim Lee":              true, // .kim is one
		"Marcel·lí Domènech":     true,
		"マイケル・ジョンソン 花子":          true,
		"علی\u200cرضا احمدی":     true,
		"D‘Arcy Bo":              true,
		"ʻOkina Kealoha":         true,
		"Jose\u0301 Nun\u0303ez": true, // as a Mac writes it
		"Win prize.com":          false,
		"Win PRIZE.Co.Uk.":       false,
		"Win prize.x.com":        false,
		"Win a.prize.x.com":      false,
		"Win приз.рф":            false,
		"Win WWW.example":        false,
		"Win prize．com":          false, // full width
		"Win ５００":                false,
		"Elsa Berg🎁":             false,
		"Elsa \u0000Berg":        false,
		"Elsa eve＠evil.example":  false,
		"Elsa https://evil":      false,
	} {
		first, last, _ := strings.Cut(name, " ")
		d := elsa(shoptest.Phone())
		d.FirstName, d.LastName = first, last
		_, err := core.Result(s.Walkins.Join(t.Context(), s.visitor(), d, nil))
		if refused := core.IsKind(err, core.KindInvalid); refused == taken || err != nil && !refused {
			t.Errorf("%q: %v", name, err)
		}
	}
}
