package panel

import (
	"example.com/loyalty/views/format"
	views "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
)

// SpendField is the amount of a sale. The page shows how it is read while it is typed.
func SpendField(form *forms.Form, currency string) ui.Field {
	field := form.Field("spend_amount_cents", ui.Field{Label: "Amount"})
	field.Before, field.Mode, field.Autocomplete, field.Echo = format.Symbol(currency), "decimal", "off", true
	return field
}

// EarnsView is the award of a sale in words.
func EarnsView(a format.Award) views.Earns {
	if a.Over {
		return views.Earns{Note: a.Note}
	}
	return views.Earns{Text: format.Units(a.Amount, a.Unit), Note: a.Note}
}

// CompleteRule is shown in place of what an incomplete rule would earn.
const CompleteRule = "Complete the rule to see what it earns"

// EnterAmount asks for the amount of an example.
func EnterAmount(currency string) string {
	return "Enter an amount, e.g. " + format.AmountExample(currency)
}
