package people

import (
	"slices"
	"strings"

	"example.com/loyalty/core/token"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// API describes the API for the pages about its tokens.
type API struct {
	Base      string // https://localhost:8443
	Authority string // file of the certificate authority to trust; "": a public one

	RecordScope token.Ability // required to record a sale
}

// TokenList is a page of the person's own API tokens.
type TokenList struct {
	panel.Settings
	API    API
	Tokens []token.Token
	Pager  ui.Pager
}

// TokenDetail is the page of a token.
type TokenDetail struct {
	panel.Settings
	API API
	Use token.Use
}

// TokenForm is the form that creates a token.
type TokenForm struct {
	panel.Settings
	API     API
	Form    ui.Form
	FormKey string
}

// TokenCreated shows the secret of a new token.
type TokenCreated struct {
	panel.Settings
	API   API
	Token token.Created
}

// abilityText words an ability, with an example request that changes nothing.
type abilityText struct {
	ability       token.Ability
	label, help   string
	path, returns string // of the example; "": none
}

var abilityTexts = []abilityText{
	{token.CustomersRead, "View customers", "Find customers and view their details, balances and sales.", "/customers", "the newest customers"},
	{token.CustomersWrite, "Add and edit customers", "Add customers and change their details.", "", ""},
	{token.TransactionsWrite, "View and void sales", "Look up sales and void them.", "", ""},
	{token.RewardsRead, "View and redeem rewards", "View rewards, redeem them for customers and fulfil redemptions.", "/rewards", "your rewards"},
	{token.CouponsRead, "View coupons, redeem vouchers", "View coupons and redeem customers' vouchers.", "/coupons", "your coupons"},
	{token.ReportsRead, "View reports", "Read the figures of your reports.", "/reports/summary", "the figures of the last 30 days"},
}

// abilities lists the abilities. Recording sales is configurable: it is named with the ability that
// it requires.
func (api API) abilities() []abilityText {
	list := slices.Clone(abilityTexts)
	for i, s := range list {
		switch {
		case s.ability != api.RecordScope:
		case s.ability == token.TransactionsWrite:
			list[i].label, list[i].help = "Record sales", "Record, look up and void sales."
		default:
			list[i].label += ", record sales"
			list[i].help += " Record sales."
		}
	}
	return list
}

func (api API) abilityOptions() (options []ui.Option) {
	for _, x := range api.abilities() {
		options = append(options, ui.Option{Value: string(x.ability), Label: x.label, Help: x.help + " (" + string(x.ability) + ")"})
	}
	return options
}

// abilitiesOf are the abilities of a token: View customers · View reports.
func (api API) abilitiesOf(t token.Token) string {
	switch len(t.Abilities) {
	case 0:
		return "Manage tokens"
	case len(abilityTexts):
		return "Everything"
	}
	var labels []string
	for _, x := range api.abilities() {
		if slices.Contains(t.Abilities, x.ability) {
			labels = append(labels, x.label)
		}
	}
	return strings.Join(labels, " · ")
}

// quickStart is the guide for a first request, which the hosts of businesses don't have.
func (api API) quickStart() string { return api.Base + "/docs/quickstart" }

// example returns a request that the token may make and that changes nothing, and what it returns.
func (api API) example(t token.Created) (curl, returns string) {
	path, returns := "/tokens", "your tokens"
	for _, x := range slices.Backward(abilityTexts) {
		if x.path != "" && slices.Contains(t.Abilities, x.ability) {
			path, returns = x.path, x.returns
		}
	}
	lines := []string{"curl"}
	if api.Authority != "" {
		lines[0] += " --cacert " + shellQuoted(api.Authority)
	}
	lines = append(lines, "  -H "+shellQuoted("Authorization: Bearer "+t.Secret), "  "+api.Base+"/api/v1"+path)
	return strings.Join(lines, " \\\n"), returns
}

// shellQuoted quotes a word for a POSIX shell.
func shellQuoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
