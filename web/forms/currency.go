package forms

import (
	"errors"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/ui"
)

// ConfirmedCurrency is the field with what was confirmed: the key of a tenant.CurrencyChangeError.
const ConfirmedCurrency = "confirmed_currency"

var errCurrencyChange = core.Refuse("", "Amounts change with the currency. Confirm them first.")

// CurrencyChange keeps the change that an edit asks to be confirmed, for the page of ConfirmCurrency, and returns it as a
// refusal of the form. Other errors are returned as they are.
func CurrencyChange(err error, change **tenant.CurrencyChangeError) error {
	if errors.As(err, change) {
		return errCurrencyChange
	}
	return err
}

// ConfirmCurrency asks to confirm a change of the currency. action handles the form, cancel leads back to it.
func ConfirmCurrency(change *tenant.CurrencyChangeError, form *Form, action, cancel string) ui.ConfirmCurrency {
	v := ui.ConfirmCurrency{
		Action: action, Cancel: cancel, Hidden: form.Pairs(ConfirmedCurrency), Confirm: ui.Pair{Name: ConfirmedCurrency, Value: change.Key()}, To: change.To,
	}
	for _, a := range change.Amounts {
		before, after := "", ""
		what := a.Name
		switch a.Kind {
		case tenant.RuleAmount:
			before = format.Count(a.Quantity, "point", "points") + " for every "
		case tenant.MinSpend, tenant.PromotionMinSpend:
			after = " minimum spend"
		case tenant.LevelThreshold:
			before = "Reached by spending "
		case tenant.RewardCost:
			before = "Costs you "
		case tenant.RewardValue:
			before = "Worth "
		case tenant.CouponBenefit:
			after = " off"
		case tenant.Ceiling:
			what, before = "All sales", "Confirmed above "
		}
		v.Amounts = append(v.Amounts, ui.ConvertedAmount{
			What: what, Old: before + format.Money(a.Old, change.From) + after, New: before + format.Money(a.New, change.To) + after, Rounded: change.Rounded(a),
		})
	}
	return v
}
