package rewards

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	views "example.com/loyalty/views/admin/rewards"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) redemptionRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Redemptions, route.Cashiers, h.listRedemptions),
		route.Get(links.NewRedemption, route.Cashiers, h.newRedemption),
		route.Post(links.NewRedemption, route.Cashiers, h.redeemReward),
		route.Get(links.Redemptions+"/:ulid", route.Cashiers, h.showRedemption),
		route.Get(links.Redemptions+"/:ulid/fulfil", route.Cashiers, panel.WithEmptyForm(h.confirmFulfilRedemption)),
		route.Post(links.Redemptions+"/:ulid/fulfil", route.Cashiers, h.fulfilRedemption),
		route.Get(links.Redemptions+"/:ulid/void", route.Managers, panel.WithEmptyForm(h.confirmVoidRedemption)),
		route.Post(links.Redemptions+"/:ulid/void", route.Managers, h.voidRedemption),
	}
}

// redemptionFilter reads the filters of the list and of its exports, and which tab they belong to.
func redemptionFilter(q *forms.Form) (filter reward.RedemptionFilter, tab string) {
	filter = reward.RedemptionFilter{CustomerID: q.Filled("customer_ulid"), RewardID: q.Filled("reward_ulid")}
	tab = q.Value("status")
	if tab == "" {
		tab = string(reward.Pending)
		if filter.CustomerID != nil {
			tab = views.AnyStatus
		}
	}
	if tab != views.AnyStatus {
		filter.Status = &tab
	}
	return filter, tab
}

// listRedemptions shows the pending redemptions unless other ones are asked for.
func (h *Handlers) listRedemptions(c echo.Context) error {
	ctx, by, q := c.Request().Context(), page.Actor(c), forms.Query(c.QueryParams())
	filter, shown := redemptionFilter(q)
	usual, since := core.Newest, "Redeemed"
	if shown == string(reward.Pending) {
		usual, since = core.Oldest, "Waiting since" // the order to fulfil them
	}
	sort := panel.SortOf(q, usual)
	list, err := h.Rewards.ListRedemptions(ctx, by, filter, sort, q.Position())
	status, err := q.Status(err)
	if err != nil {
		return err
	}
	v := views.RedemptionList{
		Frame:  h.Frame(c, "Redemptions", links.Redemptions),
		Filter: q, Status: shown, List: list.Items,
		Filtered: filter.CustomerID != nil || filter.RewardID != nil || shown == string(reward.Fulfilled) || shown == string(reward.Voided) || status != http.StatusOK,
		Time:     panel.ByTime(since, c.Request().URL, sort),
		Pager:    page.Pager(list, c.Request().URL, "redemption", "redemptions", "#redemptions"),
		Exports:  panel.ExportsOf(c, links.RedemptionsExport),
	}
	if sort != usual {
		v.Sort = sort
	}
	if v.Rewards, err = h.Rewards.Choices(ctx, by); err != nil {
		return err
	}
	if id, err := core.ParseID(q.Value("customer_ulid")); err == nil {
		who, err := h.Customers.Find(ctx, by, id)
		if err != nil {
			return err
		}
		v.Customer = &who
	}
	return h.Render(c, status, views.RedemptionListPage(v), views.RedemptionCard(v))
}

func (h *Handlers) redemptionDetail(c echo.Context) (reward.RedemptionDetail, error) {
	id, err := panel.PathID(c)
	if err != nil {
		return reward.RedemptionDetail{}, err
	}
	return h.Rewards.RedemptionDetail(c.Request().Context(), page.Actor(c), id)
}

func (h *Handlers) showRedemption(c echo.Context) error {
	d, err := h.redemptionDetail(c)
	if err != nil {
		return err
	}
	v := views.RedemptionDetail{Frame: h.Frame(c, "", links.Redemptions, ui.Crumb{Label: "Redemptions", Path: links.Redemptions}), Redemption: d}
	v.Title = "Redemption " + v.On(d.CreatedAt)
	return h.Render(c, http.StatusOK, views.RedemptionDetailPage(v), nil)
}

// confirmFulfilRedemption asks once: in the queue, fulfilling is one click beside other redemptions.
func (h *Handlers) confirmFulfilRedemption(c echo.Context, status int, form *forms.Form) error {
	d, err := h.redemptionDetail(c)
	if err != nil {
		return err
	}
	to := links.Redemption(d.ID)
	v := panelviews.Confirm{
		Frame: h.redemptionFrame(c, "Fulfil this redemption?", d.NamedRedemption),
		Confirm: ui.Confirm{
			Action: to + "/fulfil", Button: "Fulfil", Cancel: to, Problem: form.Problem(),
			Words:  []string{format.StoredName(d.CustomerName) + " gets “" + d.RewardName + "”, redeemed " + panelviews.Waiting(h.Reader(c), d.Redemption) + "."},
			Hidden: []ui.Pair{{Name: page.FormKey, Value: h.NewFormKey()}, panel.HiddenReturn(c, form, to)},
		},
	}
	if d.Status != reward.Pending { // a colleague was quicker
		v.Button, v.Words, v.Problem = "", nil, &ui.Problem{Sentence: notPending[d.Status].Message}
	}
	return h.Confirm(c, status, v)
}

func (h *Handlers) redemptionFrame(c echo.Context, title string, of reward.NamedRedemption) panelviews.Frame {
	return h.Frame(c, title, links.Redemptions,
		ui.Crumb{Label: "Redemptions", Path: links.Redemptions}, ui.Crumb{Label: "Redemption " + format.On(of.CreatedAt, h.Now(), page.Actor(c).Tenant.TimeZone), Path: links.Redemption(of.ID)})
}

func (h *Handlers) fulfilRedemption(c echo.Context) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	to := links.Redemption(id)
	return page.Submit(h.Kit, c, page.Submission[reward.Redemption]{
		RunOnce: func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[reward.Redemption]) (core.Reply[reward.Redemption], error) {
			to = panel.ReturnTo(c, form, to)
			return h.Rewards.Fulfil(ctx, by, id, once)
		},
		Refused: func(status int, form *forms.Form) error { return h.confirmFulfilRedemption(c, status, form) },
		To:      func(reward.Redemption) string { return to },
		Done:    func(r reward.Redemption) string { return "“" + r.RewardName + "” fulfilled" },
	})
}

func (h *Handlers) confirmVoidRedemption(c echo.Context, status int, form *forms.Form) error {
	d, err := h.redemptionDetail(c)
	if err != nil {
		return err
	}
	to, customer := links.Redemption(d.ID), format.StoredName(d.CustomerName)
	words := []string{"“" + d.RewardName + "” for " + customer + " is cancelled. The voucher stays redeemed."}
	if d.PointsSpent+d.StampsSpent > 0 {
		words[0] = "“" + d.RewardName + "” is cancelled, and " + customer + " gets " + format.Spent(d.Redemption) + " back."
	}
	if d.TookStock {
		words = append(words, "1 unit returns to stock.")
	}
	v := panelviews.Confirm{
		Frame: h.redemptionFrame(c, "Void this redemption?", d.NamedRedemption),
		Confirm: ui.Confirm{
			Action: to + "/void", Button: "Void redemption", Danger: true, Cancel: to, Problem: form.Problem(),
			Words:  append(words, panel.CannotUndo),
			Reason: panel.ReasonField(form, "Wrong reward", "Wrong customer", "Changed their mind", "Not available"),
			Hidden: []ui.Pair{panel.HiddenReturn(c, form, to)},
		},
	}
	if !d.Voidable(h.Now()) { // a colleague was quicker, or it is too late
		v.Button, v.Words, v.Reason = "", nil, nil
		v.Problem = &ui.Problem{Sentence: notPending[d.Status].Message}
		if d.Status == reward.Fulfilled {
			v.Problem.Sentence = "This redemption was fulfilled more than 24 hours ago, so it can't be voided. To return the cost, adjust the customer's balance."
		}
	}
	return h.Confirm(c, status, v)
}

// notPending is why a redemption that is not pending can't be fulfilled or voided.
var notPending = map[reward.Status]*core.Error{reward.Fulfilled: reward.ErrAlreadyFulfilled, reward.Voided: reward.ErrVoided}

func (h *Handlers) voidRedemption(c echo.Context) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	to := links.Redemption(id)
	return page.Submit(h.Kit, c, page.Submission[reward.Redemption]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (reward.Redemption, error) {
			to = panel.ReturnTo(c, form, to)
			return h.Rewards.Void(ctx, by, id, form.Value("reason"))
		},
		Refused: func(status int, form *forms.Form) error { return h.confirmVoidRedemption(c, status, form) },
		To:      func(reward.Redemption) string { return to },
		Done: func(r reward.Redemption) string {
			words := "Redemption voided."
			if r.PointsSpent+r.StampsSpent > 0 {
				words += " " + format.Spent(r) + " returned to the customer."
			}
			if r.TookStock {
				words += " 1 unit returned to stock."
			}
			return words
		},
	})
}

func pathOfRedemption(r reward.Redemption) string { return links.Redemption(r.ID) }

// newRedemption shows one of three steps: choose a customer, choose a reward, confirm.
func (h *Handlers) newRedemption(c echo.Context) error {
	q := forms.Query(c.QueryParams())
	switch {
	case q.Filled("customer_ulid") == nil:
		return h.PickCustomer(c, panelviews.CustomerPicker{Frame: h.redeemFrame(c), Question: "Choose a customer", Path: links.NewRedemption}, customer.Suggestion{CanRedeem: true})
	case q.Filled("reward_ulid") != nil:
		return h.confirmRedeem(c, http.StatusOK, q)
	}
	return h.chooseReward(c, q)
}

func (h *Handlers) redeemFrame(c echo.Context) panelviews.Frame {
	return h.Frame(c, "Redeem reward", links.Redemptions, ui.Crumb{Label: "Redemptions", Path: links.Redemptions})
}

// buyer is the customer whom the form names.
func (h *Handlers) buyer(c echo.Context, form *forms.Form) (customer.Customer, error) {
	id, err := core.ParseID(form.Value("customer_ulid"))
	if err != nil {
		return customer.Customer{}, core.ErrNotFound
	}
	return h.Customers.Find(c.Request().Context(), page.Actor(c), id)
}

// chooseReward lists the active rewards: first those that the customer can redeem, then the others,
// each with the reason why not.
func (h *Handlers) chooseReward(c echo.Context, q *forms.Form) error {
	by := page.Actor(c)
	who, err := h.buyer(c, q)
	if err != nil {
		return err
	}
	p := q.Position()
	p.Size = core.MaxPageSize
	list, err := h.Rewards.ListActive(c.Request().Context(), by, p)
	if err != nil {
		return err
	}
	v := views.Redeeming{Frame: h.redeemFrame(c), Customer: who, Pager: page.Pager(list, c.Request().URL, "reward", "rewards", "")}
	if v.Barriers, err = h.Rewards.Barriers(c.Request().Context(), by, who.ID, list.Items); err != nil {
		return err
	}
	// What can be redeemed first, then the others by how little is missing.
	slices.SortStableFunc(list.Items, func(one, other reward.Reward) int {
		return cmp.Compare(shortfall(one, who, v.Barriers), shortfall(other, who, v.Barriers))
	})
	v.Choices = list.Items
	return h.Render(c, http.StatusOK, views.RedeemingPage(v), nil)
}

// shortfall is how much of a reward's cost a customer doesn't have, as a share of the cost, because points
// and stamps can't be compared. 0: it can be redeemed; above 1: it is affordable and out of stock, or the customer can't have it.
func shortfall(r reward.Reward, who customer.Customer, barriers map[core.ID]*reward.Barrier) float64 {
	if barriers[r.ID] != nil {
		return 3
	}
	unit, price := r.Price()
	balance := who.PointsBalance
	if unit == ledger.Stamps {
		balance = who.StampsBalance
	}
	if price <= balance && r.Stock != nil && *r.Stock == 0 {
		return 2
	}
	return max(0, float64(price-balance)/float64(price))
}

// confirmRedeem asks for confirmation before points or stamps are spent.
func (h *Handlers) confirmRedeem(c echo.Context, status int, form *forms.Form) error {
	who, err := h.buyer(c, form)
	if err != nil {
		return err
	}
	id, err := core.ParseID(form.Value("reward_ulid"))
	if err != nil {
		return core.ErrNotFound
	}
	r, err := h.Rewards.Find(c.Request().Context(), page.Actor(c), id)
	if err != nil {
		return err
	}
	barriers, err := h.Rewards.Barriers(c.Request().Context(), page.Actor(c), who.ID, []reward.Reward{r.Reward})
	if err != nil {
		return err
	}
	unit, price := r.Price()
	before := who.PointsBalance
	if unit == ledger.Stamps {
		before = who.StampsBalance
	}
	name, back := format.CustomerName(who), links.RedeemFor(who.ID)
	words := []string{name + " gets “" + r.Name + "” for " + format.Cost(r.Reward) + "."}
	if before >= price {
		words = append(words, "Their balance goes from "+format.Units(before, unit)+" to "+format.Units(before-price, unit)+".")
	}
	problem, button := form.Problem(), "Redeem"
	switch {
	case !r.Active: // deactivated meanwhile
		problem, button, words = &ui.Problem{Sentence: "“" + r.Name + "” is inactive and can't be redeemed."}, "", nil
	case barriers[id] != nil:
		problem, button, words = &ui.Problem{Sentence: barriers[id].Sentence()}, "", nil
	case who.Status != customer.Active:
		problem, button, words = &ui.Problem{Sentence: name + " is inactive and can't redeem rewards."}, "", nil
	}
	frame := h.redeemFrame(c)
	frame.Title, frame.Crumbs = "Redeem this reward?", append(frame.Crumbs, ui.Crumb{Label: name, Path: back})
	return h.Confirm(c, status, panelviews.Confirm{
		Frame: frame, Confirm: ui.Confirm{
			Action: links.NewRedemption, Button: button, Cancel: back, Leave: "Back to rewards", Words: words, Problem: problem,
			Hidden: []ui.Pair{
				{Name: page.FormKey, Value: h.NewFormKey()},
				{Name: "customer_ulid", Value: who.ID.String()},
				{Name: "reward_ulid", Value: r.ID.String()},
			},
		},
	})
}

func (h *Handlers) redeemReward(c echo.Context) error {
	return page.Submit(h.Kit, c, page.Submission[reward.Redemption]{
		RunOnce: func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[reward.Redemption]) (core.Reply[reward.Redemption], error) {
			o := reward.RedeemRequest{CustomerID: form.Reference("customer_ulid"), RewardID: form.Reference("reward_ulid")}
			return h.Rewards.Redeem(ctx, by, o, form.Malformed, once)
		},
		Refused: func(status int, form *forms.Form) error { return h.confirmRedeem(c, status, form) },
		To:      pathOfRedemption,
		Done: func(r reward.Redemption) string {
			return "Redeemed for " + format.Spent(r) + ". You can fulfil it now or later."
		},
	})
}
