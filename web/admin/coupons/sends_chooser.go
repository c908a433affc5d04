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

// maxChosenShown is how many chosen customers are shown, unless all are asked for.
const maxChosenShown = 100

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

// chooseCustomers adds and removes customers of a manual send. Only the form keeps the choice.
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
		matching, err := h.findCustomers(c, form)
		if err != nil {
			return err
		}
		return h.Render(c, http.StatusOK, views.SendFound(views.Chooser{Coupon: found.ID, Form: form, Chosen: picked.ids, Found: matching}), nil)
	}
	step, err := h.choosingStep(c, form)
	if err != nil {
		return err
	}
	if !page.IsFragment(c) {
		form.Values.Set("segment", string(coupon.Manual))
		return h.sendAgain(c, http.StatusOK, found, form, step, views.SendTest{})
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

// chooser is the part of the page that picks customers, after a step. It puts the chosen ones into the form.
func (h *Handlers) chooser(c echo.Context, of core.ID, form *forms.Form, picked *selection, step choosing) (v views.Chooser, err error) {
	v.Coupon, v.Form = of, form
	if step.removed != nil {
		picked.remove(*step.removed)
	}
	if step.cleared {
		*picked = *readSelection(&forms.Form{})
		v.Said = "All customers removed"
	}
	all := form.Value("all") != ""
	if v.Known, err = h.customersOf(c, step, picked.listedIDs(all)); err != nil {
		return v, err
	}
	addCandidates(&v, picked, step)
	if removed, ok := v.Known[core.OrZero(step.removed)]; ok {
		v.Said = format.CustomerName(removed) + " removed"
	}
	v.Chosen, v.Listed = picked.ids, picked.listedIDs(all)
	form.Values.Set(customersField, picked.String())
	if step.pasted {
		form.Values.Set(pasteField, strings.Join(v.Unknown, "\n"))
	}
	if v.Found, err = h.findCustomers(c, form); err != nil {
		return v, err
	}
	v.Focus = step.cleared || step.removed != nil && !slices.ContainsFunc(v.Found, func(k customer.Customer) bool { return k.ID == *step.removed })
	return v, nil
}

// customersOf are the customers whom a step names, and those who are shown.
func (h *Handlers) customersOf(c echo.Context, step choosing, shown []core.ID) (map[core.ID]customer.Customer, error) {
	ids := slices.Concat(step.candidates, shown)
	if step.removed != nil {
		ids = append(ids, *step.removed)
	}
	list, err := h.Customers.FindAll(c.Request().Context(), page.Actor(c), ids)
	known := make(map[core.ID]customer.Customer, len(list))
	for _, k := range list {
		known[k.ID] = k
	}
	return known, err
}

// addCandidates adds the candidates who exist and reports the others.
func addCandidates(v *views.Chooser, picked *selection, step choosing) {
	v.Unknown = step.unreadable
	var added, before int64
	var last customer.Customer
	for _, id := range step.candidates {
		found, exists := v.Known[id]
		switch {
		case !exists:
			v.Unknown = append(v.Unknown, id.String())
		case picked.have[id]:
			before++
		case len(picked.ids) >= coupon.MaxManual:
			v.TooMany++
		default:
			picked.add(id)
			added++
			last = found
		}
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
}

// findCustomers finds the active customers who match the search field.
func (h *Handlers) findCustomers(c echo.Context, form *forms.Form) ([]customer.Customer, error) {
	search := form.Filled(searchField)
	if search == nil {
		return nil, nil
	}
	active := string(customer.Active)
	list, err := h.Customers.List(c.Request().Context(), page.Actor(c), customer.Filter{Search: search, Status: &active}, core.Page{Size: 8})
	return list.Items, err
}
