package till

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/till"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

var (
	errNoScan    = core.Refuse("", "Scan a code or enter the 6-digit PIN.")
	errNoCode    = core.Refuse("", "This isn't a customer's code. Scan the code on their card or voucher.")
	errNoVoucher = core.Refuse("", "Voucher not found. Check the code and try again.")
	errReplaced  = core.Refuse("", "This card was replaced. Find the customer by phone number or name.")
	errNoCard    = core.Refuse("", "This card’s link doesn’t work. Ask the customer to open their card again.")
	errNoSearch  = core.Refuse("", "Enter a name, a phone number or its last 4 digits.")
)

// askTake is opened by a cashier's camera app from the QR code of a customer's card. Its script or its
// button posts the code; opening the page doesn't use it up.
func (t *Till) askTake(c echo.Context) error {
	frame, err := t.frame(c, "Open customer")
	if err != nil {
		return err
	}
	return t.Render(c, http.StatusOK, views.TakePage(views.Take{Frame: frame, Code: c.Param("code")}), nil)
}

// scannedCode is the customer of a scanned code, with the PIN or voucher that was scanned.
type scannedCode struct {
	customer core.ID
	pin      *core.ID
	voucher  *core.ID
	problem  string // why the voucher can't be used
}

// take opens the customer of a PIN, card or voucher. If none is found, everything stays as it was.
func (t *Till) take(c echo.Context, d draft) error {
	f, err := t.scanned(c, d.Value("scan"), d.Value("pin"))
	if d.Refused(err) {
		focus := "pin"
		if d.Filled("scan") != nil {
			focus = ""
		}
		return t.notTaken(c, d, err, focus)
	}
	if err != nil {
		return err
	}
	d = d.withoutCustomer()
	d.Values.Set(customerField, f.customer.String())
	if d.pin = f.pin; f.pin != nil {
		d.Values.Set(pinField, f.pin.String())
	}
	if f.voucher != nil {
		d.vouchers = []core.ID{*f.voucher}
		d.Values.Set(vouchersField, f.voucher.String())
	}
	return t.showChosen(c, d, f.problem)
}

// notTaken shows why a scan or a PIN found no customer, beside the one who was chosen before.
func (t *Till) notTaken(c echo.Context, d draft, refusal error, focus string) error {
	chosen, err := t.chosenCustomer(c, d)
	if err != nil {
		return err
	}
	if chosen == nil {
		return t.notFound(c, d, refusal, focus)
	}
	return t.desk(c, page.RefusedStatus(c, refusal), d, sideColumn{card: chosen})
}

// notFound shows why no customer was found.
func (t *Till) notFound(c echo.Context, d draft, refusal error, focus string) error {
	return t.desk(c, page.RefusedStatus(c, refusal), d.withoutCustomer(), sideColumn{Side: views.Side{Phone: d.Value("phone"), Focus: focus}})
}

// scanned finds the customer of a code or PIN. Anything else, such as a product's code, is refused here: it
// is no guess of a PIN.
func (t *Till) scanned(c echo.Context, scan, digits string) (scannedCode, error) {
	ctx, by := c.Request().Context(), page.Actor(c)
	text := core.Unspaced(scan)
	if text == "" {
		if core.Trimmed(digits) == "" {
			return scannedCode{}, errNoScan
		}
		return t.taken(c, walkin.Key{Digits: digits})
	}
	if _, ok := link.In(text, "/v/"); ok {
		v, err := t.Coupons.FindTyped(ctx, by, text)
		return scannedVoucher(v, err)
	}
	if token, ok := link.In(text, "/card/"); ok {
		w, err := t.Walkins.CustomerOfCard(ctx, by, token)
		switch {
		case errors.Is(err, link.ErrReplaced):
			err = errReplaced
		case errors.Is(err, core.ErrNotFound):
			err = errNoCard
		}
		return scannedCode{customer: w.ID}, err
	}
	if code, ok := link.In(text, links.TillCodes); ok {
		text = code
	} else if id, err := core.TypedID(text); err == nil { // maybe a voucher's code, typed
		v, err := t.Coupons.FindVoucher(ctx, by, id)
		if !errors.Is(err, core.ErrNotFound) {
			return scannedVoucher(v, err)
		}
	}
	switch {
	case walkin.IsDigits(text):
		return t.taken(c, walkin.Key{Digits: text})
	case walkin.IsCode(text):
		return t.taken(c, walkin.Key{Code: text})
	case page.Garbled(text):
		return scannedCode{}, page.ErrGarbled
	}
	return scannedCode{}, errNoCode
}

// taken takes a PIN.
func (t *Till) taken(c echo.Context, key walkin.Key) (scannedCode, error) {
	p, err := t.Walkins.TakeCard(c.Request().Context(), page.Actor(c), session(c), key)
	if err != nil {
		return scannedCode{}, err
	}
	return scannedCode{customer: p.CustomerID, pin: &p.PIN}, nil
}

func scannedVoucher(v coupon.ShownVoucher, err error) (scannedCode, error) {
	if errors.Is(err, core.ErrNotFound) {
		return scannedCode{}, errNoVoucher
	}
	if err != nil {
		return scannedCode{}, err
	}
	f := scannedCode{customer: v.CustomerID}
	if refusal := v.Refusal(); refusal != nil {
		f.problem, _ = page.RuleMessage(refusal)
	} else {
		f.voucher = &v.ID
	}
	return f, nil
}

// find searches by phone number or name. A single match is opened, also an inactive one, which says so.
func (t *Till) find(c echo.Context, d draft) error {
	by, typed := page.Actor(c), strings.TrimSpace(d.Value("phone"))
	list, more, err := t.Walkins.FindCustomers(c.Request().Context(), by, typed)
	if core.IsKind(err, core.KindInvalid) {
		err = errNoSearch
	}
	if d.Refused(err) {
		return t.notFound(c, d, err, "phone")
	}
	if err != nil {
		return err
	}
	d = d.withoutCustomer()
	if len(list) == 1 {
		d.Values.Set(customerField, list[0].ID.String())
		return t.showChosen(c, d, "")
	}
	s := views.Side{Phone: typed, Searched: true, More: more, AddPath: links.AddCustomer(typed) + "&to=till"}
	for _, found := range list {
		s.Matches = append(s.Matches, foundView(found, typed))
	}
	return t.desk(c, http.StatusOK, d, sideColumn{Side: s})
}

// foundView is a customer who matches what was typed. The note tells customers of one name apart by their number, and
// those of one number by their points.
func foundView(found customer.Customer, typed string) views.Match {
	m := matchView(found.ID, found.FirstName, found.LastName)
	switch {
	case found.Status != customer.Active:
		m.Note = "Inactive"
	case strings.ContainsFunc(typed, unicode.IsLetter):
		m.Note = lastDigits(found.Phone)
		if found.Phone == "" {
			m.Note = format.Phone("")
		}
	default:
		m.Note = format.Units(found.PointsBalance, ledger.Points)
	}
	return m
}

// lastDigits is the end of a phone number: others see the screen.
func lastDigits(phone string) string {
	const shown = 4
	digits := []rune(strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, phone))
	return "…" + string(digits[max(0, len(digits)-shown):])
}

// choose opens a listed customer.
func (t *Till) choose(c echo.Context, d draft) error {
	chosen := d.Value("choose")
	d = d.withoutCustomer()
	d.Values.Set(customerField, chosen)
	return t.showChosen(c, d, "")
}

// removeCustomer keeps the amount.
func (t *Till) removeCustomer(c echo.Context, d draft) error {
	return t.desk(c, http.StatusOK, d.withoutCustomer(), sideColumn{})
}

// showCustomer opens the point of sale with a customer.
func (t *Till) showCustomer(c echo.Context, id core.ID) error {
	d, err := queryDraft(c)
	if err != nil {
		return err
	}
	d.Values.Set(customerField, id.String())
	return t.showChosen(c, d, "")
}

// showChosen shows the customer of the draft. problem is why their voucher can't be used, or "".
func (t *Till) showChosen(c echo.Context, d draft, problem string) error {
	w, err := t.chosenCustomer(c, d)
	if err != nil {
		return err
	}
	if w == nil {
		return core.ErrNotFound
	}
	return t.desk(c, http.StatusOK, d, sideColumn{Side: views.Side{Problem: problem}, card: w})
}

// sideView completes the customer's column.
func (t *Till) sideView(c echo.Context, d draft, s sideColumn, types []transaction.Type) (views.Side, error) {
	by, v := page.Actor(c), s.Side
	v.Total = d.total(by.Tenant.Currency)
	if s.card != nil {
		shown, err := t.customerView(c, d, *s.card, types, core.DateOf(t.Now(), by.Tenant.TimeZone))
		v.Customer = shown
		return v, err
	}
	if v.Searched || v.Ask != nil {
		return v, nil
	}
	served, err := t.Walkins.Recent(c.Request().Context(), by, deviceLocation(c))
	if err != nil {
		return v, err
	}
	for _, r := range served {
		m := matchView(r.ID, r.FirstName, r.LastName)
		m.Name = shortName(r.FirstName, r.LastName) // other customers see the screen
		m.Note = format.Ago(r.At, t.Now(), by.Tenant.TimeZone)
		v.Recent = append(v.Recent, m)
	}
	return v, nil
}

// matchView is a customer to choose. The colour of the initials depends on the id.
func matchView(id core.ID, first, last string) views.Match {
	name := strings.TrimSpace(first + " " + last)
	text, sum := id.String(), 0
	for _, b := range []byte(text) {
		sum += int(b)
	}
	return views.Match{ID: text, Name: name, Initials: ui.Initials(name), Tone: strconv.Itoa(sum % 4)}
}

// shortName is a first name and an initial: Anna L.
func shortName(first, last string) string {
	for _, r := range last {
		return first + " " + string(r) + "."
	}
	return first
}

// customerView is the customer of the sale, with what they can use and what the sale earns.
func (t *Till) customerView(c echo.Context, d draft, w walkin.Card, types []transaction.Type, today time.Time) (*views.Customer, error) {
	v := &views.Customer{
		ID: w.ID.String(), Name: format.CustomerName(w.Customer), Contact: format.Contact(w.Phone, w.Email), Balances: balances(w),
		Points: w.PointsBalance, Stamps: w.StampsBalance,
	}
	if d.pin != nil {
		v.PIN = d.pin.String()
	}
	switch {
	case w.Erased:
		v.Notice = "This customer was erased."
		return v, nil
	case w.Status != customer.Active:
		v.Notice = "This customer is inactive. A manager can reactivate them."
		return v, nil
	}
	if w.UncheckedSince != nil {
		v.Check = CheckPhone
	}
	by := page.Actor(c)
	v.Level = levelLine(by, w)
	v.CardPath = addPIN(links.TillCustomers+"/"+v.ID+"/card", v.PIN)
	after, err := t.outcomeOf(c, d, w, types)
	if err != nil {
		return nil, err
	}
	for _, unit := range []ledger.Unit{ledger.Points, ledger.Stamps} {
		if ends := format.EndsSoon(w.Expiring, unit, today); ends != "" {
			v.Ends = append(v.Ends, ends)
		}
	}
	v.Uses, v.Earns, v.Progress = useViews(by, d, w), after.earns(by.Tenant.Currency), after.progress()
	return v, nil
}

// CheckPhone says that a card was opened online, with a phone number that may be someone else's.
const CheckPhone = "New card: check the phone number"

func balances(w walkin.Card) (list []views.Balance) {
	balance := func(u ledger.Unit) {
		number, unit, _ := strings.Cut(format.Units(w.Balance(u), u), " ")
		list = append(list, views.Balance{Value: number, Unit: unit})
	}
	if w.PointsBalance != 0 || w.StampsBalance == 0 {
		balance(ledger.Points)
	}
	if w.StampsBalance != 0 {
		balance(ledger.Stamps)
	}
	return list
}

// useViews lists what the customer can use now: what expires first comes first, then pending redemptions, vouchers
// that don't expire, and affordable rewards. What they can't have comes last.
func useViews(by core.Actor, d draft, w walkin.Card) (list []views.Use) {
	at := slices.IndexFunc(w.Vouchers, func(v coupon.ShownVoucher) bool { return v.ExpiresAt == nil })
	if at < 0 {
		at = len(w.Vouchers)
	}
	for _, v := range w.Vouchers[:at] {
		list = append(list, voucherUse(by, d, v))
	}
	for _, p := range w.Pending {
		list = append(list, views.Use{
			Field: pendingField, Value: p.ID.String(), Name: p.RewardName, Kind: "Redeemed " + format.Time(p.CreatedAt, by.Tenant.TimeZone), Worth: free,
			Checked: slices.Contains(d.pending, p.ID),
		})
	}
	for _, v := range w.Vouchers[at:] {
		list = append(list, voucherUse(by, d, v))
	}
	return withBarredLast(append(list, rewardUses(d, w)...))
}

// withBarredLast moves what the customer can't have to the end.
func withBarredLast(list []views.Use) []views.Use {
	slices.SortStableFunc(list, func(a, b views.Use) int {
		return cmp.Compare(min(len(a.Why), 1), min(len(b.Why), 1))
	})
	return list
}

func voucherUse(by core.Actor, d draft, v coupon.ShownVoucher) views.Use {
	u := views.Use{Field: vouchersField, Value: v.ID.String(), Kind: "Voucher", Voucher: true, Checked: slices.Contains(d.vouchers, v.ID)}
	u.Name, u.Worth, _ = benefit(v, by.Tenant.Currency)
	if v.ExpiresAt != nil {
		u.Kind = "Voucher, until " + format.LastDay(*v.ExpiresAt, by.Tenant.TimeZone)
	}
	if v.Lacking != nil {
		u.Why, u.Checked = format.ForLevel(v.Lacking.Name), false
	}
	return u
}

// rewardUses lists the rewards that the customer can afford, less those already chosen. Those that they can't have all the same
// say why.
func rewardUses(d draft, w walkin.Card) (list []views.Use) {
	left := map[ledger.Unit]int64{ledger.Points: w.PointsBalance, ledger.Stamps: w.StampsBalance}
	for _, r := range w.Rewards {
		if slices.Contains(d.rewards, r.ID) && r.Barrier == nil {
			unit, cost := r.Price()
			left[unit] -= cost
		}
	}
	for _, r := range w.Rewards {
		if !r.Affordable {
			continue
		}
		unit, cost := r.Price()
		u := views.Use{Field: rewardsField, Value: r.ID.String(), Name: r.Name, Kind: "Reward", Worth: format.Units(cost, unit), Picture: links.RewardPicture(r.ID, r.Picture)}
		if r.Barrier != nil {
			u.Why = format.Barrier(*r.Barrier)
			list = append(list, u)
			continue
		}
		if unit == ledger.Stamps {
			u.Stamps = cost
		} else {
			u.Points = cost
		}
		u.Checked = slices.Contains(d.rewards, r.ID)
		u.Disabled = !u.Checked && cost > left[unit] && len(d.rewards) > 0
		list = append(list, u)
	}
	return list
}

// benefit describes a voucher: its name, its worth, and what the cashier must do without a sale, if anything.
func benefit(v coupon.ShownVoucher, currency string) (name, worth, hint string) {
	switch v.BenefitType {
	case coupon.Amount, coupon.Percent:
		off := discountText(v.Benefit, currency)
		return off + " off", "−" + off, "Take " + off + " off the bill"
	case coupon.Points:
		units := format.Units(*v.BenefitValue, ledger.Points)
		return units, "+" + units, ""
	case coupon.Stamps:
		units := format.Units(*v.BenefitValue, ledger.Stamps)
		return units, "+" + units, ""
	case coupon.Reward:
	}
	name = v.CouponName
	if v.RewardName != nil {
		name = *v.RewardName
	}
	return name, free, ""
}

// free is the worth of a pending redemption and of a voucher for a reward.
const free = "Free"

// levelLine is a customer's level and what is missing to the next one; "" without levels.
func levelLine(by core.Actor, w walkin.Card) string {
	if w.Level == nil {
		return ""
	}
	line := w.Level.Progress.Level.Name
	if next := format.ToNextLevel(*w.Level.Progress, w.Level.Basis, by.Tenant.Currency); next != "" {
		line += " · " + next
	}
	return line
}
