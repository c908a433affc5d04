package panel

import (
	"example.com/loyalty/core"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
)

// Sources are the names of where a sale was recorded.
var Sources = map[transaction.Source]string{transaction.API: "API", transaction.POS: "Till", transaction.Panel: "Panel"}

func (b *Business) TransactionRow(by core.Actor, sale transaction.Named) views.TransactionRow {
	row := views.TransactionRow{
		Path: links.Transaction(sale.ID), When: format.Moment(sale.CreatedAt, b.Now(), by.Tenant.TimeZone),
		Customer: format.StoredName(sale.CustomerName), CustomerPath: links.Customer(sale.CustomerID), Type: sale.TypeName,
		Spend: format.Money(sale.SpendAmountCents, by.Tenant.Currency), Award: format.Awarded(sale.Transaction),
		Where: Sources[sale.Source] + ", " + by.NameOf(sale.ActorKind, sale.ActorName), Voided: sale.Status == transaction.Voided, Location: core.OrZero(sale.LocationName),
	}
	if sale.Voidable {
		row.VoidPath = row.Path + "/void"
	}
	return row
}

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
	return "Enter an amount, e.g. " + forms.AmountExample(currency)
}
