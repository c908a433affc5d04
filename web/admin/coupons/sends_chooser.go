package coupons

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/report"
	views "example.com/loyalty/views/admin/coupons"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// Fields of the chooser.
const (
	customersField = "customers" // ULIDs of the chosen customers
	searchField    = "customer_search"
	pasteField     = "paste"
	topField       = "top"
)

const (
	maxChosenShown  = 100 // rows, unless all are asked for
	maxUnknownShown = 20  // ULIDs without a customer
)

// splitULIDs splits a text at everything that is neither a letter nor a digit.
func splitULIDs(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// selection is the chosen customers of a manual send, in order. It is kept in a field of the form.
type selection struct {
	ids  []core.ID
	have map[core.ID]bool
}

func readSelection(form *forms.Form) *selection {
	s := &selection{have: map[core.ID]bool{}}
	for _, token := range splitULIDs(form.Value(customersField)) {
		if id, err := core.ParseID(token); err == nil {
			s.add(id)
		}
	}
	return s
}

// add appends a customer, unless already chosen.
func (s *selection) add(id core.ID) {
	if !s.have[id] {
		s.have[id] = true
		s.ids = append(s.ids, id)
	}
}

func (s *selection) remove(id core.ID) {
	delete(s.have, id)
	s.ids = slices.DeleteFunc(s.ids, func(other core.ID) bool { return other == id })
}

func (s *selection) String() string {
	ulids := make([]string, len(s.ids))
	for i, id := range s.ids {
		ulids[i] = id.String()
	}
	return strings.Join(ulids, " ")
}

// listedIDs are the customers to show, the last chosen first.
func (s *selection) listedIDs(all bool) []core.ID {
	ids := slices.Clone(s.ids)
	slices.Reverse(ids)
	if !all && len(ids) > maxChosenShown {
		ids = ids[:maxChosenShown]
	}
	return ids
}

// chooseCustomers adds and removes customers of a manual send. Nothing is stored but in the form.
func (h *Handlers) chooseCustomers(c echo.Context) error {
	found, err := h.couponOf(c)
	if err != nil {
		return err
	}
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	picked := readSelection(form)
	if page.IsFragment(c) && c.Request().Header.Get("Hx-Target") == "found" {
		v := views.Chooser{Path: links.SendForm(found.ID)}
		if err := h.findCustomers(c, form, picked, &v); err != nil {
			return err
		}
		return h.Render(c, http.StatusOK, views.SendFound(v), nil)
	}
	step, err := h.choosingStep(c, form)
	if err != nil {
		return err
	}
	if !page.IsFragment(c) {
		form.Values.Set("segment", string(coupon.Manual))
		return h.sendAgain(c, http.StatusOK, found, form, step, nil)
	}
	v, err := h.chooser(c, found.ID, form, picked, step)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Hx-Trigger-After-Settle", "chosen")
	return h.Render(c, http.StatusOK, views.ChosenChanged(v), nil)
}

// choosing is a step of choosing customers.
type choosing struct {
	candidates []core.ID // to be added
	unreadable []string  // pasted words that aren't ULIDs
	pasted     bool
	removed    *core.ID
	cleared    bool
}

// choosingStep reads which button of the chooser was pressed.
func (h *Handlers) choosingStep(c echo.Context, form *forms.Form) (step choosing, err error) {
	switch do := form.Value("do"); {
	case form.Filled("remove") != nil:
		id, err := core.ParseID(form.Value("remove"))
		if err != nil {
			return step, err
		}
		step.removed = &id
	case form.Filled("add") != nil:
		id, err := core.ParseID(form.Value("add"))
		if err != nil {
			return step, err
		}
		step.candidates = []core.ID{id}
	case do == "top":
		limit, err := strconv.ParseInt(core.TypedNumber(form.Value(topField)), 10, 64)
		if err != nil {
			limit = 10
		}
		top, err := h.Reports.Top(c.Request().Context(), page.Actor(c), report.Ranking{Limit: &limit})
		if err != nil {
			return step, err
		}
		for _, t := range top {
			step.candidates = append(step.candidates, t.ID)
		}
		slices.Reverse(step.candidates) // the first of them is listed first
	case do == "paste":
		step.pasted = true
		for _, token := range splitULIDs(form.Value(pasteField)) {
			if id, err := core.ParseID(token); err == nil {
				step.candidates = append(step.candidates, id)
			} else {
				step.unreadable = append(step.unreadable, token)
			}
		}
	case do == "clear":
		step.cleared = true
	case do == "all":
		form.Values.Set("all", "1")
	}
	return step, nil
}

// chooser is the part of the page that picks customers, after a step.
func (h *Handlers) chooser(c echo.Context, of core.ID, form *forms.Form, picked *selection, step choosing) (views.Chooser, error) {
	v := views.Chooser{Path: links.SendForm(of), All: form.Value("all") != ""}
	v.Search, v.Top, v.Paste = form.Field(searchField, ui.Field{Label: "Find customers"}), form.Field(topField, ui.Field{Label: "Top customers"}), form.Field(pasteField, ui.Field{Label: "ULIDs"})
	v.Search.Placeholder, v.Paste.Placeholder = "Name, phone or e-mail", "Separated by spaces, commas or lines"
	v.Top.Options = form.Options(topField, ui.Option{Value: "10", Label: "Top 10"}, ui.Option{Value: "25", Label: "Top 25"},
		ui.Option{Value: "50", Label: "Top 50"}, ui.Option{Value: "100", Label: "Top 100"})
	if step.removed != nil {
		picked.remove(*step.removed)
	}
	if step.cleared {
		*picked = *readSelection(&forms.Form{})
		v.Said = "All customers removed"
	}
	wanted := slices.Concat(step.candidates, picked.listedIDs(v.All))
	if step.removed != nil {
		wanted = append(wanted, *step.removed)
	}
	list, err := h.Customers.FindAll(c.Request().Context(), page.Actor(c), wanted)
	if err != nil {
		return v, err
	}
	known := make(map[core.ID]customer.Customer, len(list))
	for _, k := range list {
		known[k.ID] = k
	}
	addCandidates(&v, picked, step, known)
	if removed, ok := known[core.OrZero(step.removed)]; ok {
		v.Said = format.CustomerName(removed) + " removed"
	}
	v.Customers, v.Number = picked.String(), format.Number(int64(len(picked.ids)))
	v.Count = format.Count(int64(len(picked.ids)), "customer chosen", "customers chosen")
	if len(picked.ids) == 0 {
		v.Count = "No customers chosen yet"
	}
	for _, id := range picked.listedIDs(v.All) {
		if k, ok := known[id]; ok {
			v.Rows = append(v.Rows, chosenRow(k, true))
		} else {
			v.Rows = append(v.Rows, views.ChosenRow{ID: id.String(), Name: id.String(), Contact: "Unknown customer", Chosen: true})
		}
	}
	if !v.All && len(picked.ids) > maxChosenShown {
		v.ShowAll = "Show all " + format.Number(int64(len(picked.ids)))
	}
	if err := h.findCustomers(c, form, picked, &v); err != nil {
		return v, err
	}
	v.Focus = step.cleared || step.removed != nil && !slices.ContainsFunc(v.Found, func(r views.ChosenRow) bool { return r.ID == step.removed.String() })
	return v, nil
}

// addCandidates adds the candidates who exist and reports the others.
func addCandidates(v *views.Chooser, picked *selection, step choosing, known map[core.ID]customer.Customer) {
	unknown := step.unreadable
	var added, before, tooMany int64
	var last customer.Customer
	for _, id := range step.candidates {
		found, exists := known[id]
		switch {
		case !exists:
			unknown = append(unknown, id.String())
		case picked.have[id]:
			before++
		case len(picked.ids) >= coupon.MaxManual:
			tooMany++
		default:
			picked.add(id)
			added++
			last = found
		}
	}
	if step.pasted {
		v.Paste.Value = strings.Join(unknown, "\n")
	}
	switch {
	case len(step.candidates) == 1 && added == 1:
		v.Said = format.CustomerName(last) + " added"
	case len(step.candidates) > 0:
		v.Said = format.Count(added, "customer added", "customers added")
		if before > 0 {
			v.Said += ", " + format.Number(before) + " already chosen"
		}
	}
	if tooMany > 0 {
		v.Limit = "You can choose at most " + format.Number(coupon.MaxManual) + " customers. " + format.Number(tooMany) + " were not added."
	}
	if rest := len(unknown) - maxUnknownShown; rest > 0 {
		v.More = "And " + format.Number(int64(rest)) + " more"
		unknown = unknown[:maxUnknownShown]
	}
	for _, ulid := range unknown {
		v.Unknown = append(v.Unknown, shortened(ulid, 60))
	}
}

// shortened cuts a string to limit characters.
func shortened(s string, limit int) string {
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return s
}

func chosenRow(k customer.Customer, chosen bool) views.ChosenRow {
	r := views.ChosenRow{ID: k.ID.String(), Name: format.CustomerName(k), Contact: "No e-mail", Chosen: chosen}
	if k.Email != nil {
		r.Contact = *k.Email
	}
	switch {
	case k.Status == customer.Inactive:
		r.Contact = "Inactive, will be skipped"
	case k.UnsubscribedAt != nil:
		r.Contact += ", unsubscribed"
	}
	return r
}

// findCustomers finds the active customers who match the search field.
func (h *Handlers) findCustomers(c echo.Context, form *forms.Form, picked *selection, v *views.Chooser) error {
	search := form.Filled(searchField)
	if search == nil {
		return nil
	}
	active := string(customer.Active)
	list, err := h.Customers.List(c.Request().Context(), page.Actor(c), customer.Filter{Search: search, Status: &active}, core.Page{Size: 8})
	if err != nil {
		return err
	}
	for _, k := range list.Items {
		v.Found = append(v.Found, chosenRow(k, picked.have[k.ID]))
	}
	if len(v.Found) == 0 {
		v.Nothing = "No active customers match “" + shortened(strings.TrimSpace(*search), 60) + "”"
	}
	return nil
}
