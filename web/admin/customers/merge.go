package customers

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/merging"
	views "example.com/loyalty/views/admin/customers"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) customerMergeRoutes() []route.Route {
	const one = links.Customers + "/:ulid"
	return []route.Route{
		route.Get(one+"/merge", route.Managers, h.askMerge),
		route.Post(one+"/merge", route.Managers, h.mergeCustomer).AsFile(),
		route.Get(one+"/merged", route.Cashiers, h.showMerged),
	}
}

// askMerge shows one of two steps: choose the duplicate, then the preview.
func (h *Handlers) askMerge(c echo.Context) error {
	kept, err := h.editableCustomer(c)
	if err != nil {
		return err
	}
	duplicate := forms.Query(c.QueryParams()).Filled("customer_ulid")
	if duplicate == nil {
		return h.pickDuplicate(c, kept)
	}
	return h.mergePreview(c, http.StatusOK, kept, duplicate, nil)
}

// pickDuplicate lets the person search for the duplicate. Before a search it offers likely ones, or else
// those whom every picker suggests.
func (h *Handlers) pickDuplicate(c echo.Context, kept customer.Customer) error {
	ctx, by, q := c.Request().Context(), page.Actor(c), forms.Query(c.QueryParams())
	v := panelviews.CustomerPicker{
		Frame: h.customerFrame(c, kept, "Merge duplicate"), Path: links.Customer(kept.ID) + "/merge",
		Question: "Choose the duplicate of " + format.CustomerName(kept), Heading: "Likely duplicates",
		Search: q.Field("search", ui.Field{Label: "Name, phone or e-mail"}),
	}
	v.Search.Placeholder, v.Search.Autofocus = v.Search.Label, true
	var found []customer.Customer
	var err error
	if search := q.Filled("search"); search != nil {
		var list core.List[customer.Customer]
		list, err = h.Customers.List(ctx, by, customer.Filter{Search: search}, core.Page{Size: 8})
		found = list.Items
	} else {
		found, err = h.Customers.Duplicates(ctx, by, kept.ID)
		if err == nil && len(found) == 0 {
			v.Note = "No customer has the same name or the same last digits."
			v.Nothing = v.Note + " Search for the duplicate."
			found, err = h.SearchedOrSuggested(ctx, by, q, &v, customer.Suggestion{})
		}
	}
	if err != nil {
		return err
	}
	for _, one := range found {
		if one.ID != kept.ID && !one.Erased {
			v.Found = append(v.Found, one)
		}
	}
	return h.Render(c, http.StatusOK, panelviews.CustomerPickerPage(v), panelviews.FoundCustomers(v))
}

// mergePreview shows what a merge would do, or why it is refused.
func (h *Handlers) mergePreview(c echo.Context, status int, kept customer.Customer, duplicate *string, problem *ui.Problem) error {
	p, err := h.Merging.Preview(c.Request().Context(), page.Actor(c), kept.ID, duplicate)
	switch {
	case errors.Is(err, merging.ErrTooLarge):
		problem, status = &ui.Problem{Sentence: merging.ErrTooLarge.Message}, http.StatusUnprocessableEntity
	case err != nil:
		return err
	}
	path := links.Customer(kept.ID)
	v := views.MergePreview{
		Frame: h.customerFrame(c, kept, "Merge duplicate"), Action: path + "/merge", Cancel: path,
		Swap:    page.WithQuery(links.Customer(p.Merged.ID)+"/merge", "customer_ulid", kept.ID.String()),
		FormKey: h.NewFormKey(), Merged: p.Merged.ID.String(),
		Names: [2]string{format.CustomerName(p.Kept.Customer), format.CustomerName(p.Merged.Customer)},
		Rows:  mergeRows(p), Moved: h.movedFigures(page.Actor(c).Tenant, p.Merged),
	}
	v.Problem = problem
	return h.Render(c, status, views.MergePage(v), nil)
}

// mergeRows compares two customers. Of most fields, the kept customer's value remains.
func mergeRows(p merging.Preview) []views.MergeRow {
	none := func(text *string) string { return cmp.Or(core.OrZero(text), "–") }
	mails := func(of customer.Profile) string {
		if of.UnsubscribedAt != nil {
			return "Unsubscribed"
		}
		return "Subscribed"
	}
	subscribed := mails(p.Kept)
	if p.Merged.UnsubscribedAt != nil {
		subscribed = mails(p.Merged)
	}
	tags := mergedTags(p.Kept.Tags, p.Merged.Tags)
	further := append([]string{p.Merged.Phone}, alsoFoundBy(p.Merged)...)
	if p.Kept.Email != nil && p.Merged.Email != nil {
		further = append(further, *p.Merged.Email)
	}
	rows := []views.MergeRow{
		{Label: "Points", Kept: format.Number(p.Kept.PointsBalance), Merged: format.Number(p.Merged.PointsBalance), Result: format.Number(p.Points)},
		{Label: "Stamps", Kept: format.Number(p.Kept.StampsBalance), Merged: format.Number(p.Merged.StampsBalance), Result: format.Number(p.Stamps)},
		{Label: "Name", Kept: format.CustomerName(p.Kept.Customer), Merged: format.CustomerName(p.Merged.Customer), Result: format.CustomerName(p.Kept.Customer)},
		{Label: "Phone", Kept: p.Kept.Phone, Merged: p.Merged.Phone, Result: p.Kept.Phone},
		{Label: "E-mail", Kept: none(p.Kept.Email), Merged: none(p.Merged.Email), Result: none(cmp.Or(p.Kept.Email, p.Merged.Email))},
		{Label: "Also found by", Kept: joined(alsoFoundBy(p.Kept)), Merged: joined(alsoFoundBy(p.Merged)), Result: joined(append(alsoFoundBy(p.Kept), further...))},
		{Label: "Coupon e-mails", Kept: mails(p.Kept), Merged: mails(p.Merged), Result: subscribed},
		{Label: "Status", Kept: panelviews.CustomerStatus(p.Kept.Customer).Label, Merged: panelviews.CustomerStatus(p.Merged.Customer).Label, Result: panelviews.CustomerStatus(p.Kept.Customer).Label},
		{Label: "Note", Kept: none(p.Kept.Note), Merged: none(p.Merged.Note), Result: none(cmp.Or(p.Kept.Note, p.Merged.Note))},
		{Label: "Tags", Kept: joined(p.Kept.Tags), Merged: joined(p.Merged.Tags), Result: joined(tags)},
	}
	return rows
}

// alsoFoundBy returns a customer's further phone numbers and e-mail addresses.
func alsoFoundBy(of customer.Profile) (texts []string) {
	for _, f := range of.Further {
		texts = append(texts, f.Text)
	}
	return texts
}

func joined(tags []string) string { return cmp.Or(strings.Join(tags, ", "), "–") }

// mergedTags are the tags of both, up to the limit.
func mergedTags(kept, merged []string) []string {
	tags := append([]string{}, kept...)
	for _, tag := range merged {
		known := false
		for _, k := range kept {
			known = known || core.Fold(k) == core.Fold(tag)
		}
		if !known && len(tags) < customer.MaxTags {
			tags = append(tags, tag)
		}
	}
	return tags
}

func (h *Handlers) movedFigures(t core.Tenant, of customer.Profile) []ui.Pair {
	count := func(n int64) string { return cappedCount(n, customer.ProfileCount) }
	return []ui.Pair{
		{Name: "Sales", Value: count(of.Sales)},
		{Name: "Lifetime spend", Value: format.Money(of.SpentCents, t.Currency)},
		{Name: "Redemptions", Value: count(of.Redemptions)},
		{Name: "Vouchers", Value: count(of.Vouchers)},
	}
}

func (h *Handlers) mergeCustomer(c echo.Context) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	return page.Submit(h.Kit, c, page.Submission[customer.Customer]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (customer.Customer, error) {
			return h.Merging.Merge(ctx, by, id, form.Text("customer_ulid"))
		},
		Refused: func(status int, form *forms.Form) error {
			kept, err := h.editableCustomer(c)
			if err != nil {
				return err
			}
			return h.mergePreview(c, status, kept, form.Text("customer_ulid"), form.Problem())
		},
		Once: true,
		To:   page.To[customer.Customer](links.Customer(id)),
		Done: func(kept customer.Customer) string {
			return "The duplicate was merged into " + format.CustomerName(kept) + "."
		},
	})
}

// showMerged shows the timeline of a customer from before they were merged into the one in the path.
func (h *Handlers) showMerged(c echo.Context) error {
	kept, err := h.customerOf(c)
	if err != nil {
		return err
	}
	ctx, by, q := c.Request().Context(), page.Actor(c), forms.Query(c.QueryParams())
	all, err := h.Customers.Merged(ctx, by, kept.ID)
	if err != nil {
		return err
	}
	v := views.MergedLedger{Frame: h.customerFrame(c, kept, "Merged customers")}
	chosen := q.Filled("merged")
	if len(all) == 0 && chosen == nil {
		if by.Role.Includes(core.Manager) && !kept.Erased {
			v.Merge = links.Customer(kept.ID) + "/merge"
		}
		return h.Render(c, http.StatusOK, views.MergedLedgerPage(v), nil)
	}
	var which core.ID
	path := links.Customer(kept.ID) + "/merged"
	if chosen == nil {
		which = all[0].ID
	} else {
		if which, err = core.ParseID(*chosen); err != nil {
			return core.ErrNotFound
		}
	}
	m, list, err := h.Customers.MergedTimeline(ctx, by, kept.ID, which, q.Position())
	if err != nil {
		return err
	}
	v.Name = mergedName(m)
	v.Words = "Merged on " + format.Time(m.MergedAt, by.Tenant.TimeZone) + " by " + actorLabel(by, m.ActorKind, m.ActorName) + "."
	for _, one := range all {
		v.Others = append(v.Others, ui.Pair{Name: mergedName(one), Value: page.WithQuery(path, "merged", one.ID.String())})
	}
	v.Days = timelineDays(by, kept.ID, list.Items, nil, h.Now())
	v.Pager = page.Pager(list, c.Request().URL, "event", "events", "#history")
	if page.IsFragment(c) {
		v.Continued = true
		return h.Render(c, http.StatusOK, nil, views.TimelineEntries(v.History))
	}
	return h.Render(c, http.StatusOK, views.MergedLedgerPage(v), nil)
}

func mergedName(m customer.MergedCustomer) string { return panel.FullName(m.FirstName, m.LastName) }
