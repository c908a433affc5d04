package till

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
	views "example.com/loyalty/views/till"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

const (
	customersPath = page.TillPath + "/customers/"
	takePath      = page.TillPath + "/take"
)

var (
	errNoScan    = core.Refuse("", "Scan a code, or enter the 6 digits of the PIN.")
	errNoVoucher = core.Refuse("", "No such voucher. Check the code and try again.")
	errNoCard    = core.Refuse("", "This card’s link doesn’t work. Ask the customer to open their card again.")
	errNoPhone   = core.Refuse("", "Enter a phone number or its last 4 digits.")
)

// askTake is what the QR code on a customer's card opens in a cashier's own camera. It takes
// nothing: the page posts the code by its script or its button.
func (t *Till) askTake(c echo.Context) error {
	frame, err := t.frame(c, "Open customer")
	if err != nil {
		return err
	}
	return t.Render(c, http.StatusOK, views.TakePage(views.Take{Frame: frame, Code: c.Param("code")}), nil)
}

// scannedCode is a customer who was scanned, and what was scanned.
type scannedCode struct {
	customer core.ID
	pin      *core.ID
	voucher  *core.ID
	problem  string // of the voucher
}

// take opens the customer of a PIN or of a code: on a card, printed, or of a voucher.
func (t *Till) take(c echo.Context) error {
	d, err := readDraft(c)
	if err != nil {
		return err
	}
	return t.openScanned(c, d)
}

func (t *Till) openScanned(c echo.Context, d draft) error {
	f, err := t.scanned(c, d.Value("scan"), d.Value("pin"))
	if d.Refused(err) {
		focus := "pin"
		if d.Filled("scan") != nil {
			focus = ""
		}
		return t.notFound(c, d, err, focus)
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

// notFound shows the column to find a customer in, and why none was found.
func (t *Till) notFound(c echo.Context, d draft, refusal error, focus string) error {
	status := http.StatusUnprocessableEntity
	if core.IsKind(refusal, core.KindThrottled) {
		status = http.StatusTooManyRequests
	}
	return t.desk(c, status, d.withoutCustomer(), sideColumn{phone: d.Value("phone"), focus: focus})
}

// scanned finds out whose code or PIN it is.
func (t *Till) scanned(c echo.Context, scan, digits string) (scannedCode, error) {
	ctx, by := c.Request().Context(), page.Actor(c)
	text := strings.Join(strings.Fields(scan), "")
	key := walkin.Key{Digits: digits}
	if text != "" {
		if token, ok := pathAfter(text, "/v/"); ok {
			v, err := t.Coupons.OpenVoucher(ctx, by.Tenant, token)
			return scannedVoucher(v, err)
		}
		if token, ok := pathAfter(text, "/card/"); ok {
			w, err := t.Walkins.CustomerOfCard(ctx, by, token)
			if errors.Is(err, core.ErrNotFound) {
				err = errNoCard
			}
			return scannedCode{customer: w.ID}, err
		}
		if code, ok := pathAfter(text, page.TillPath+"/c/"); ok {
			text = code
		} else if id, err := core.ParseID(text); err == nil { // typed from below a voucher's QR code, maybe
			v, err := t.Coupons.FindVoucher(ctx, by, id)
			if !errors.Is(err, core.ErrNotFound) {
				return scannedVoucher(v, err)
			}
		}
		key = walkin.Key{Code: text}
		if onlyDigits(text) {
			key = walkin.Key{Digits: text}
		}
	}
	if strings.TrimSpace(key.Code+key.Digits) == "" {
		return scannedCode{}, errNoScan
	}
	p, err := t.Walkins.TakeCard(ctx, by, session(c), key)
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

// pathAfter is what follows a part of an address, to its end.
func pathAfter(text, part string) (rest string, found bool) {
	_, rest, found = strings.Cut(text, part)
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return rest, found
}

func onlyDigits(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// find looks a customer up by their phone number. One match is the customer.
func (t *Till) find(c echo.Context) error {
	d, err := readDraft(c)
	if err != nil {
		return err
	}
	return t.lookUp(c, d)
}

func (t *Till) lookUp(c echo.Context, d draft) error {
	by, typed := page.Actor(c), strings.TrimSpace(d.Value("phone"))
	var list []customer.Customer
	err := error(errNoPhone)
	if typed != "" {
		list, err = t.Walkins.FindCustomers(c.Request().Context(), by, typed)
	}
	if core.IsKind(err, core.KindInvalid) {
		err = errNoPhone
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
	s := sideColumn{phone: typed, searched: true, addPath: "/admin/customers/new?" + url.Values{"phone": {typed}, "to": {"till"}}.Encode()}
	for _, found := range list {
		m := matchView(found.ID, found.FirstName, found.LastName)
		m.Note = page.Units(found.PointsBalance, ledger.Points)
		s.matches = append(s.matches, m)
	}
	return t.desk(c, http.StatusOK, d, s)
}

// choose takes one of the customers that are listed.
func (t *Till) choose(c echo.Context) error {
	d, err := readDraft(c)
	if err != nil {
		return err
	}
	chosen := d.Value("choose")
	d = d.withoutCustomer()
	d.Values.Set(customerField, chosen)
	return t.showChosen(c, d, "")
}

// leave takes the customer away, and not the amount.
func (t *Till) leave(c echo.Context) error {
	d, err := readDraft(c)
	if err != nil {
		return err
	}
	return t.desk(c, http.StatusOK, d.withoutCustomer(), sideColumn{})
}

// recent is the customer's column without a customer.
func (t *Till) recent(c echo.Context) error {
	return t.desk(c, http.StatusOK, draftOf(page.Query(c.QueryParams()), page.Actor(c).Tenant.Currency).withoutCustomer(), sideColumn{})
}

// showCustomer opens the point of sale at a customer.
func (t *Till) showCustomer(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	d := draftOf(page.Query(c.QueryParams()), page.Actor(c).Tenant.Currency)
	d.Values.Set(customerField, id.String())
	return t.showChosen(c, d, "")
}

// showChosen shows the customer of the draft, or core.ErrNotFound.
func (t *Till) showChosen(c echo.Context, d draft, problem string) error {
	w, err := t.chosenCustomer(c, d)
	if err != nil {
		return err
	}
	if w == nil {
		return core.ErrNotFound
	}
	return t.desk(c, http.StatusOK, d, sideColumn{card: w, problem: problem})
}

// sideView is the customer's column.
func (t *Till) sideView(c echo.Context, d draft, s sideColumn, types []transaction.Type) (views.Side, error) {
	by := page.Actor(c)
	v := views.Side{
		Problem: s.problem, Phone: s.phone, Focus: s.focus, Searched: s.searched, Matches: s.matches, AddPath: s.addPath,
		Total: d.total(by.Tenant.Currency),
	}
	if s.card != nil {
		v.Customer = customerView(by, d, *s.card, types)
		v.Customer.Ask = s.ask
		return v, nil
	}
	v.Ask = s.ask
	if s.searched || s.ask != nil {
		return v, nil
	}
	served, err := t.Walkins.Recent(c.Request().Context(), by, deviceLocation(c))
	if err != nil {
		return v, err
	}
	for _, r := range served {
		m := matchView(r.ID, r.FirstName, r.LastName)
		m.Name = shortName(r.FirstName, r.LastName) // other customers see the screen
		m.Note = page.Ago(r.At, t.Now(), by.Tenant.TimeZone)
		v.Recent = append(v.Recent, m)
	}
	return v, nil
}

// matchView is a customer to choose, in one of four colours.
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

func customerName(c customer.Customer) string {
	if c.Erased {
		return "Erased customer"
	}
	return strings.TrimSpace(c.FirstName + " " + c.LastName)
}

// customerView is the customer of the sale, what they can use, and what the sale does.
func customerView(by core.Actor, d draft, w walkin.Card, types []transaction.Type) *views.Customer {
	v := &views.Customer{
		ID: w.ID.String(), Name: customerName(w.Customer), Phone: w.Phone, Balances: balances(w.PointsBalance, w.StampsBalance),
		Points: w.PointsBalance, Stamps: w.StampsBalance, Total: d.total(by.Tenant.Currency), Button: "Record sale",
	}
	if d.pin != nil {
		v.PIN = d.pin.String()
	}
	switch {
	case w.Erased:
		v.Notice = "This customer was erased. Nothing can be recorded for them."
		return v
	case w.Status != customer.Active:
		v.Notice = "This customer is inactive. A manager can activate them."
		return v
	}
	v.CardPath = withPIN(customersPath+v.ID+"/card", v.PIN)
	after := outcomeOf(by, d, w, types)
	v.Uses, v.Earns, v.Progress = useViews(by, d, w), after.earns(), after.progress()
	return v
}

func balances(points, stamps int64) (list []views.Balance) {
	balance := func(n int64, u ledger.Unit) {
		number, unit, _ := strings.Cut(page.Units(n, u), " ")
		list = append(list, views.Balance{Value: number, Unit: unit})
	}
	if points != 0 || stamps == 0 {
		balance(points, ledger.Points)
	}
	if stamps != 0 {
		balance(stamps, ledger.Stamps)
	}
	return list
}

// useViews are what the customer can use now: what they redeemed before and is to be handed over,
// rewards and vouchers.
func useViews(by core.Actor, d draft, w walkin.Card) (list []views.Use) {
	left := map[ledger.Unit]int64{ledger.Points: w.PointsBalance, ledger.Stamps: w.StampsBalance}
	for _, r := range w.Rewards {
		if slices.Contains(d.rewards, r.ID) {
			unit, cost := r.Price()
			left[unit] -= cost
		}
	}
	for _, p := range w.Pending {
		list = append(list, views.Use{
			Field: pendingField, Value: p.ID.String(), Name: p.RewardName, Kind: "Redeemed " + page.Time(p.CreatedAt, by.Tenant.TimeZone), Worth: free,
			Checked: slices.Contains(d.pending, p.ID),
		})
	}
	for _, r := range w.Rewards {
		if !r.Affordable {
			continue
		}
		unit, cost := r.Price()
		u := views.Use{Field: rewardsField, Value: r.ID.String(), Name: r.Name, Kind: "Reward", Worth: page.Units(cost, unit)}
		if unit == ledger.Stamps {
			u.Stamps = cost
		} else {
			u.Points = cost
		}
		u.Checked = slices.Contains(d.rewards, r.ID)
		u.Disabled = !u.Checked && cost > left[unit] && len(d.rewards) > 0
		list = append(list, u)
	}
	for _, v := range w.Vouchers {
		u := views.Use{Field: vouchersField, Value: v.ID.String(), Kind: "Voucher", Voucher: true, Checked: slices.Contains(d.vouchers, v.ID)}
		u.Name, u.Worth, u.Hint = benefit(v, by.Tenant.Currency)
		if v.ExpiresAt != nil {
			u.Kind = "Voucher, until " + page.LastDay(*v.ExpiresAt, by.Tenant.TimeZone)
		}
		list = append(list, u)
	}
	return list
}

// benefit is what a voucher gives, in words, as a worth, and as what the cashier does.
func benefit(v coupon.ShownVoucher, currency string) (name, worth, hint string) {
	switch v.BenefitType {
	case coupon.Amount:
		money := page.Money(*v.BenefitValue, currency)
		return money + " off", "−" + money, "Take " + money + " off the bill"
	case coupon.Percent:
		percent := page.Number(*v.BenefitValue) + "%"
		return percent + " off", "−" + percent, "Take " + percent + " off the bill"
	case coupon.Points:
		units := page.Units(*v.BenefitValue, ledger.Points)
		return units, "+" + units, ""
	case coupon.Stamps:
		units := page.Units(*v.BenefitValue, ledger.Stamps)
		return units, "+" + units, ""
	case coupon.Reward:
	}
	name = v.CouponName
	if v.RewardName != nil {
		name = *v.RewardName
	}
	return name, free, ""
}

// free is what a customer pays for what they redeemed before, or have a voucher for.
const free = "Free"
