package panel

import (
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
)

// PathID reads the ULID of a path. Anything else is not found.
func PathID(c echo.Context) (core.ID, error) { return core.ParseID(c.Param("ulid")) }

// Sources are the names of where a sale was recorded.
var Sources = map[transaction.Source]string{transaction.API: "API", transaction.POS: "Till", transaction.Panel: "Panel"}

func (p *Panel) TransactionRow(by core.Actor, sale transaction.Named) views.TransactionRow {
	row := views.TransactionRow{
		Path: links.Transaction(sale.ID), When: format.Moment(sale.CreatedAt, p.Now(), by.Tenant.TimeZone),
		Customer: CustomerLabel(sale.CustomerName), CustomerPath: links.Customer(sale.CustomerID), Type: sale.TypeName,
		Spend: format.Money(sale.SpendAmountCents, by.Tenant.Currency), Award: AwardInWords(sale.Transaction),
		Where: Sources[sale.Source] + ", " + by.NameOf(sale.ActorKind, sale.ActorName), Voided: sale.Status == transaction.Voided, Location: OrZero(sale.LocationName),
	}
	if sale.Voidable {
		row.VoidPath = row.Path + "/void"
	}
	return row
}

// AwardInWords is "24 points".
func AwardInWords(t transaction.Transaction) string {
	if t.StampsAwarded != nil {
		return format.Units(*t.StampsAwarded, "stamps")
	}
	return format.Units(*t.PointsAwarded, "points")
}

// CannotUndo warns in confirmations.
const CannotUndo = "This can't be undone."

// Confirm asks for confirmation on a page or, for htmx, in the dialog.
func (p *Panel) Confirm(c echo.Context, status int, v views.Confirm) error {
	return p.Render(c, status, views.ConfirmPage(v), views.ConfirmDialog(v))
}

// SpendField is the amount of a sale. The page shows how it is read while it is typed.
func SpendField(form *forms.Form, currency string) ui.Field {
	field := form.Field("spend_amount_cents", "Amount")
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
