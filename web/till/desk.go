package till

import (
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/till"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// The fields of the form, by core's names where core knows them.
const (
	spendField    = "spend_amount_cents"
	amountField   = "amount" // typed, without JavaScript
	typeField     = "transaction_type_id"
	locationField = "location_id"
	customerField = "customer_ulid"
	pinField      = "pin_ulid"
	pendingField  = "pending"
	rewardsField  = "rewards"
	vouchersField = "vouchers"
	categoryField = "category"

	confirmedField = "confirmed" // the amount above the limit that was confirmed
	correctField   = "correct"   // the answer that it must be corrected
)

// draft is a sale that is being entered.
type draft struct {
	*forms.Form
	spend    *int64
	typeID   *int64
	location *int64
	pin      *core.ID
	pending  []core.ID // earlier redemptions
	rewards  []core.ID
	vouchers []core.ID
	category string // the code of what the sale is about; "": not chosen
}

// items say that the whole amount is about the chosen category.
func (d draft) items(cents int64) []award.Item {
	if d.category == "" {
		return nil
	}
	return []award.Item{{Category: d.category, AmountCents: cents}}
}

// draftOf reads a form.
func draftOf(form *forms.Form, currency string) draft {
	d := draft{Form: form, typeID: form.Integer(typeField), location: form.Integer(locationField), category: form.Value(categoryField)}
	if form.Filled(spendField) != nil { // of the keypad
		d.spend = form.Integer(spendField)
	} else {
		d.spend = form.AmountOf(spendField, amountField, currency)
	}
	if id, err := core.ParseID(form.Value(pinField)); err == nil {
		d.pin = &id
	}
	d.pending = parseIDs(form.Values[pendingField])
	d.rewards, d.vouchers = parseIDs(form.Values[rewardsField]), parseIDs(form.Values[vouchersField])
	return d
}

// parseIDs returns the valid ids among texts.
func parseIDs(texts []string) (list []core.ID) {
	for _, text := range texts {
		if id, err := core.ParseID(text); err == nil {
			list = append(list, id)
		}
	}
	return list
}

// queryDraft reads the draft of an address.
func queryDraft(c echo.Context) (draft, error) {
	return draftOf(forms.Query(c.QueryParams()), page.Actor(c).Tenant.Currency), nil
}

// readDraft reads a sent draft.
func readDraft(c echo.Context) (draft, error) {
	form, err := forms.Read(c)
	if err != nil {
		return draft{}, err
	}
	return draftOf(form, page.Actor(c).Tenant.Currency), nil
}

// cents is the amount for the keypad, or "".
func (d draft) cents() string {
	if d.spend == nil {
		return ""
	}
	return strconv.FormatInt(*d.spend, 10)
}

// total is the formatted amount, or "".
func (d draft) total(currency string) string {
	if d.spend == nil {
		return ""
	}
	return format.Money(*d.spend, currency)
}

func (d draft) withoutCustomer() draft {
	for _, name := range []string{customerField, pinField, pendingField, rewardsField, vouchersField} {
		d.Values.Del(name)
	}
	d.pin, d.pending, d.rewards, d.vouchers = nil, nil, nil, nil
	return d
}

func (t *Till) showDesk(c echo.Context, d draft) error {
	return t.desk(c, http.StatusOK, d, sideColumn{})
}

// sideColumn is the customer's column before sideView completes it.
type sideColumn struct {
	views.Side
	card *walkin.Card // the customer; nil to find one
}

// desk answers with the page, or for the script with the customer's column.
func (t *Till) desk(c echo.Context, status int, d draft, s sideColumn) error {
	return t.render(c, status, d, s, c.Request().URL.Path == links.Till)
}

// render answers with the page. The script gets the customer's column, or all of the content if whole.
func (t *Till) render(c echo.Context, status int, d draft, s sideColumn, whole bool) error {
	types, err := t.types(c)
	if err != nil {
		return err
	}
	by := page.Actor(c)
	v := views.Desk{Pad: padView(d, types, by.Tenant.Currency)} // before refusalText, which leaves out its errors
	if !page.IsFragment(c) || whole {
		if v.Pad.Categories, err = t.categories(c, d); err != nil {
			return err
		}
	}
	if s.Problem == "" {
		s.Problem = refusalText(d, v.Pad)
	}
	if v.Side, err = t.sideView(c, d, s, types); err != nil {
		return err
	}
	if page.IsFragment(c) && !whole {
		return t.Render(c, status, nil, views.SideColumn(v.Side))
	}
	if v.Frame, err = t.frame(c, "Point of sale"); err != nil {
		return err
	}
	if unasked(v.Places) && len(types) > 0 && s.Problem == "" && d.Problem().None() && s.Ask == nil {
		return t.askLocation(c, v.Frame, d)
	}
	if v.FormKey = d.Value(page.FormKey); v.FormKey == "" {
		v.FormKey = t.NewFormKey()
	}
	if len(types) == 0 && by.Role.Includes(core.Manager) {
		v.TypesPath = links.NewType
	}
	return t.Render(c, status, views.DeskPage(v), views.DeskMain(v))
}

// refusalText says why a sale was refused. Errors of the amount are shown beside it instead; the page has no place for
// those of other fields.
func refusalText(d draft, amount views.Pad) string {
	p := d.Problem()
	if p.Sentence != "" {
		return p.Sentence
	}
	for _, f := range p.Fields {
		if f.ID != amount.Amount.ID() {
			return f.Apart
		}
	}
	return ""
}

// types are the active transaction types.
func (t *Till) types(c echo.Context) ([]transaction.Type, error) {
	list, err := t.Transactions.Types(c.Request().Context(), page.Actor(c))
	return slices.DeleteFunc(list, func(t transaction.Type) bool { return !t.Active }), err
}

// chosenType is the chosen type, or the first.
func (d draft) chosenType(types []transaction.Type) (transaction.Type, bool) {
	at := slices.IndexFunc(types, func(t transaction.Type) bool { return d.typeID != nil && t.ID == *d.typeID })
	if len(types) == 0 {
		return transaction.Type{}, false
	}
	return types[max(at, 0)], true
}

func padView(d draft, types []transaction.Type, currency string) views.Pad {
	typed := d.FieldOf(spendField, amountField, ui.Field{Label: "Amount"})
	typed.Before, typed.Mode, typed.Autocomplete, typed.Echo = format.Symbol(currency), "decimal", "off", true
	v := views.Pad{
		Amount: typed, Cents: d.cents(), Symbol: format.Symbol(currency), Decimals: strconv.Itoa(format.Decimals(currency)),
	}
	if d.spend != nil && v.Amount.Value == "" {
		v.Amount.Value = format.Amount(*d.spend, currency)
	}
	shown := int64(0)
	if d.spend != nil {
		shown = *d.spend
	}
	v.Shown = format.Decimal(shown, currency)
	chosen, _ := d.chosenType(types)
	for _, k := range types {
		v.Types = append(v.Types, views.Type{ID: strconv.FormatInt(k.ID, 10), Name: k.Name, Selected: k.ID == chosen.ID})
	}
	return v
}

// categories are what a sale can be about, if the business has its tills ask.
func (t *Till) categories(c echo.Context, d draft) (chips []views.Type, err error) {
	list, err := t.Promotions.Chips(c.Request().Context(), page.Actor(c))
	for _, chip := range list {
		chips = append(chips, views.Type{ID: chip.Code, Name: chip.Name, Selected: chip.Code == d.category})
	}
	return chips, err
}

// refused shows why a sale was refused and keeps what was entered. An invalid PIN removes its customer.
func (t *Till) refused(c echo.Context, d draft, refusal error) error {
	if errors.Is(refusal, core.ErrKeyReused) {
		d.Values.Del(page.FormKey)
	}
	if errors.Is(refusal, walkin.ErrPIN) {
		d = d.withoutCustomer()
	}
	card, err := t.chosenCustomer(c, d)
	if err != nil {
		return err
	}
	return t.render(c, page.RefusedStatus(c, refusal), d, sideColumn{card: card}, true)
}

// chosenCustomer is the customer of the draft, or nil.
func (t *Till) chosenCustomer(c echo.Context, d draft) (*walkin.Card, error) {
	id, err := core.ParseID(d.Value(customerField))
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // no customer is chosen
	}
	w, err := t.Walkins.Customer(c.Request().Context(), page.Actor(c), id)
	if errors.Is(err, core.ErrNotFound) {
		return nil, nil //nolint:nilnil // another business's customer
	}
	return &w, err
}
