package rewards

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
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

func (h *Handlers) rewardRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Rewards, route.Cashiers, h.listRewards),
		route.Get(links.NewReward, route.Managers, h.newReward),
		route.Post(links.NewReward, route.Managers, h.addReward),
		route.Get(links.Rewards+"/:ulid", route.Cashiers, h.showReward),
		route.Get(links.Rewards+"/:ulid/edit", route.Managers, h.changeReward),
		route.Post(links.Rewards+"/:ulid/edit", route.Managers, h.editReward),
		route.Get(links.Rewards+"/:ulid/stock", route.Managers, h.showReward),
		route.Post(links.Rewards+"/:ulid/stock", route.Managers, h.correctStock),
		route.Post(links.Rewards+"/:ulid/active", route.Managers, h.setRewardActive),
		route.Get(links.Rewards+"/:ulid/picture/:hash", route.Cashiers, h.showRewardPicture),
	}
}

func (h *Handlers) listRewards(c echo.Context) error {
	by, q := page.Actor(c), forms.Query(c.QueryParams())
	filter := reward.Filter{Status: q.Filled("status")}
	list, err := h.Rewards.List(c.Request().Context(), by, filter, q.Position())
	status, err := q.Status(err)
	if err != nil {
		return err
	}
	v := views.RewardList{
		Frame: h.Frame(c, "Rewards", links.Rewards), Filter: q, List: list.Items,
		Pager:    page.Pager(list, c.Request().URL, "reward", "rewards", "#rewards"),
		Filtered: filter.Status != nil || status != http.StatusOK,
	}
	return h.Render(c, status, views.RewardListPage(v), views.RewardTable(v))
}

func (h *Handlers) showRewardPicture(c echo.Context) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	shown, err := h.Rewards.Picture(c.Request().Context(), page.Actor(c), id, c.Param("hash"))
	if err != nil {
		return err
	}
	panel.SetCacheControl(c, "private, max-age=31536000, immutable")
	return forms.Picture(c, shown)
}

func (h *Handlers) newReward(c echo.Context) error {
	return h.rewardForm(c, http.StatusOK, nil, forms.Blank(map[string]string{"cost_unit": "points"}))
}

// rewardForm shows the form of a new reward, or of an existing one.
func (h *Handlers) rewardForm(c echo.Context, status int, old *reward.Reward, form *forms.Form) error {
	f := h.Frame(c, "New reward", links.Rewards, ui.Crumb{Label: "Rewards", Path: links.Rewards})
	if old != nil {
		f.Title, f.Crumbs = "Edit reward", append(f.Crumbs, ui.Crumb{Label: old.Name, Path: links.Reward(old.ID)})
	}
	v := views.RewardForm{Frame: f, Form: form, Old: old, FormKey: h.NewFormKey()}
	var err error
	if v.Levels, err = h.Levels.Setup(c.Request().Context(), page.Actor(c)); err != nil {
		return err
	}
	return h.Render(c, status, views.RewardFormPage(v), nil)
}

// readTerms reads who can have a reward, when and how often.
func readTerms(form *forms.Form) reward.Terms {
	return reward.Terms{
		MinLevelID: form.Integer("min_level_id"), MaxPerCustomer: form.Integer("max_per_customer"),
		StartsOn: form.Date("starts_on"), EndsOn: form.Date("ends_on"),
	}
}

// costFields together are the cost of a reward.
var costFields = []string{"cost_unit", "points_cost", "stamps_cost"}

// readCost reads the cost of a reward in the chosen unit, and nil for the other unit.
func readCost(form *forms.Form) (points, stamps *int64) {
	if form.Value("cost_unit") != "stamps" {
		return form.Integer("points_cost"), nil
	}
	if stamps = form.Integer("stamps_cost"); stamps == nil {
		stamps = new(int64) // refused as too few, not read as a cost in points
	}
	return nil, stamps
}

func (h *Handlers) addReward(c echo.Context) error {
	return page.Submit(h.Kit, c, page.Submission[reward.Reward]{
		RunOnce: func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[reward.Reward]) (core.Reply[reward.Reward], error) {
			n := reward.New{
				Name: form.Value("name"), Description: form.Value("description"), Stock: form.Integer("stock"),
				CostCents: form.Amount("cost_cents", by.Tenant.Currency), ValueCents: form.Amount("value_cents", by.Tenant.Currency),
				Terms: readTerms(form),
			}
			if form.File != nil {
				n.Picture = &form.File
			}
			n.PointsCost, n.StampsCost = readCost(form)
			n.Malformed = form.Malformed
			return h.Rewards.Add(ctx, by, n, once)
		},
		Refused: func(status int, form *forms.Form) error { return h.rewardForm(c, status, nil, form) },
		File:    "picture",
		To:      pathOfReward,
		Done:    func(r reward.Reward) string { return "“" + r.Name + "” was created for " + format.Cost(r) + "." },
	})
}

func pathOfReward(r reward.Reward) string { return links.Reward(r.ID) }

func (h *Handlers) rewardOf(c echo.Context) (reward.WithCounts, error) {
	id, err := panel.PathID(c)
	if err != nil {
		return reward.WithCounts{}, err
	}
	return h.Rewards.Find(c.Request().Context(), page.Actor(c), id)
}

func (h *Handlers) changeReward(c echo.Context) error {
	r, err := h.rewardOf(c)
	if err != nil {
		return err
	}
	values := map[string]string{"name": r.Name, "description": core.OrZero(r.Description), "cost_unit": "points"}
	if r.StampsCost != nil {
		values["cost_unit"], values["stamps_cost"] = "stamps", strconv.FormatInt(*r.StampsCost, 10)
	} else {
		values["points_cost"] = strconv.FormatInt(*r.PointsCost, 10)
	}
	for name, number := range map[string]*int64{"min_level_id": r.MinLevelID, "max_per_customer": r.MaxPerCustomer} {
		if number != nil {
			values[name] = strconv.FormatInt(*number, 10)
		}
	}
	for name, day := range map[string]*time.Time{"starts_on": r.StartsOn, "ends_on": r.EndsOn} {
		if day != nil {
			values[name] = day.Format(time.DateOnly)
		}
	}
	form := forms.Blank(values)
	for name, cents := range map[string]*int64{"cost_cents": r.CostCents, "value_cents": r.ValueCents} {
		if cents != nil {
			form.SetAmount(name, *cents, page.Actor(c).Tenant.Currency)
		}
	}
	return h.rewardForm(c, http.StatusOK, &r.Reward, form)
}

func (h *Handlers) editReward(c echo.Context) error {
	old, err := h.rewardOf(c)
	if err != nil {
		return err
	}
	return page.Submit(h.Kit, c, page.Submission[reward.Reward]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (reward.Reward, error) {
			points, stamps := readCost(form)
			terms := readTerms(form)
			edit := reward.Edit{
				Name: panel.IfChanged(form, form.Text("name"), "name"), Description: panel.IfChanged(form, form.Text("description"), "description"),
				PointsCost: panel.IfChanged(form, points, costFields...), StampsCost: panel.IfChanged(form, stamps, costFields...),
				CostCents:  panel.IfChanged(form, form.Amount("cost_cents", by.Tenant.Currency), "cost_cents"),
				ValueCents: panel.IfChanged(form, form.Amount("value_cents", by.Tenant.Currency), "value_cents"),
				MinLevelID: panel.IfChanged(form, terms.MinLevelID, "min_level_id"), MaxPerCustomer: panel.IfChanged(form, terms.MaxPerCustomer, "max_per_customer"),
				StartsOn: panel.IfChanged(form, terms.StartsOn, "starts_on"), EndsOn: panel.IfChanged(form, terms.EndsOn, "ends_on"),
			}
			if form.File != nil {
				edit.Picture = core.Set(form.File)
			} else if form.Checked("remove_picture") {
				edit.Picture.Set = true
			}
			edit.Malformed = form.Malformed
			return h.Rewards.Edit(ctx, by, old.ID, edit)
		},
		Refused: func(status int, form *forms.Form) error { return h.rewardForm(c, status, &old.Reward, form) },
		File:    "picture",
		To:      pathOfReward,
		Done:    func(r reward.Reward) string { return "“" + r.Name + "” was saved for " + format.Cost(r) + "." },
	})
}

func (h *Handlers) setRewardActive(c echo.Context) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	set := func(ctx context.Context, by core.Actor, active bool) (reward.Reward, error) {
		return h.Rewards.SetActive(ctx, by, id, active)
	}
	return panel.SetActive(&h.Panel, c, links.Reward(id), set, func(r reward.Reward) string {
		return panel.ActiveMessage(r.Name, r.Active, "Pending redemptions can still be fulfilled.")
	})
}

func (h *Handlers) showReward(c echo.Context) error {
	r, err := h.rewardOf(c)
	if err != nil {
		return err
	}
	return h.rewardDetail(c, http.StatusOK, r, forms.Blank(nil))
}

// latestRedemptions is the number of redemptions on the page of a reward.
const latestRedemptions = 8

func (h *Handlers) rewardDetail(c echo.Context, status int, r reward.WithCounts, form *forms.Form) error {
	by := page.Actor(c)
	latest, err := h.Rewards.ListRedemptions(c.Request().Context(), by, reward.RedemptionFilter{RewardID: new(r.ID.String())}, core.Newest, core.Page{Size: latestRedemptions})
	if err != nil {
		return err
	}
	v := views.RewardDetail{
		Frame:  h.Frame(c, r.Name, links.Rewards, ui.Crumb{Label: "Rewards", Path: links.Rewards}),
		Reward: r, Latest: latest.Items, Stock: h.stockCard(c, r.Reward, form),
	}
	if r.MinLevelID != nil {
		levels, err := h.Levels.Setup(c.Request().Context(), by)
		if err != nil {
			return err
		}
		v.Warning = panelviews.LevelWarning(levels, r.MinLevelID, "redeem it")
	}
	return h.Render(c, status, views.RewardDetailPage(v), views.StockForms(v.Stock))
}

func (h *Handlers) stockCard(c echo.Context, r reward.Reward, form *forms.Form) views.StockCard {
	if form.Value("how") == "" {
		form.Values.Set("how", "add")
	}
	return views.StockCard{Reward: r, CanEdit: page.Actor(c).Role.Includes(core.Manager), Form: form, FormKey: h.NewFormKey()}
}

// correctStock adds or removes units, or sets the stock to what was counted. A fragment is the
// stock's part of the page.
func (h *Handlers) correctStock(c echo.Context) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	by := page.Actor(c)
	reply, done, err := h.changeStock(c, by, id, form)
	if path, again := page.ReplayedPath(reply); again {
		return h.Redirect(c, path)
	}
	if form.Refused(err) {
		now, err := h.Rewards.Find(c.Request().Context(), by, id)
		if err != nil {
			return err
		}
		if page.IsFragment(c) {
			return h.Render(c, http.StatusUnprocessableEntity, views.StockForms(h.stockCard(c, now.Reward, form)), nil)
		}
		return h.rewardDetail(c, http.StatusUnprocessableEntity, now, form)
	}
	if err != nil {
		return err
	}
	if page.IsFragment(c) {
		v := h.stockCard(c, reply.Result, forms.Blank(nil))
		v.Done = done
		return h.Render(c, http.StatusOK, views.StockForms(v), nil)
	}
	h.Flash(c, ui.Done, done)
	return h.Redirect(c, links.Reward(id))
}

// changeStock runs the chosen change and says what it did.
func (h *Handlers) changeStock(c echo.Context, by core.Actor, id core.ID, form *forms.Form) (reply core.Reply[reward.Reward], done string, err error) {
	ctx, how, once := c.Request().Context(), form.Value("how"), page.Once(c, form, page.To[reward.Reward](links.Reward(id)))
	if how == "set" || how == "unlimited" {
		count := reward.StockCount{Seen: form.Integer("seen")}
		if how == "set" {
			form.Require("units") // core reads nil as unlimited
			count.Stock = form.Integer("units")
		}
		count.Malformed = form.Malformed
		reply, err = h.Rewards.SetStock(ctx, by, id, count, once)
		if reply.Result.Stock == nil {
			return reply, "Stock is now unlimited", err
		}
		return reply, "Stock is now " + format.Number(*reply.Result.Stock), err
	}
	change := form.Number("units")
	if how == "remove" {
		change = -max(change, -change)
	}
	reply, err = h.Rewards.ChangeStock(ctx, by, id, reward.StockChange{Change: change, Malformed: form.Malformed}, once)
	if err == nil && !reply.Replayed() {
		done = format.Number(change) + " added"
		if change < 0 {
			done = format.Number(-change) + " removed"
		}
		done += ". Stock is now " + format.Number(*reply.Result.Stock)
	}
	return reply, done, err
}
