package panel

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"example.com/loyalty/core/token"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/ui"
)

// TokenStatus is what must be known about a token before it is relied on; nil: nothing.
func TokenStatus(by format.Reader, t token.Token, revoked bool) *ui.Badge {
	switch {
	case revoked:
		return &ui.Badge{Label: "Revoked", Tone: ui.Bad}
	case t.ExpiresAt == nil:
		return nil
	case !by.Now.Before(*t.ExpiresAt):
		return &ui.Badge{Label: "Expired", Tone: ui.Neutral}
	}
	days := int(dayOf(lastInstant(t), by).Sub(by.Today()) / (24 * time.Hour))
	switch {
	case days > token.FirstWarning:
		return nil
	case days == 0:
		return &ui.Badge{Label: "Expires today", Tone: ui.Notice}
	case days == 1:
		return &ui.Badge{Label: "Expires tomorrow", Tone: ui.Notice}
	}
	return &ui.Badge{Label: fmt.Sprintf("Expires in %d days", days), Tone: ui.Notice}
}

// lastInstant is on the last day on which a token works: one that expires at midnight works on the day before.
func lastInstant(t token.Token) time.Time { return t.ExpiresAt.Add(-time.Millisecond) }

// dayOf is the day of an instant, as midnight UTC.
func dayOf(at time.Time, by format.Reader) time.Time {
	year, month, day := at.In(by.Zone()).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// TokenLastDay is the last day on which a token works.
func TokenLastDay(by format.Reader, t token.Token) string {
	if t.ExpiresAt == nil {
		return "Never"
	}
	return by.Date(lastInstant(t))
}

// TokenLastUse is when a token was last used.
func TokenLastUse(by format.Reader, t token.Token) string {
	if t.LastUsedAt == nil {
		return "Never"
	}
	return by.Ago(*t.LastUsedAt)
}

// tokenFacts are the facts about a token. abilities is "" on the platform.
func tokenFacts(by format.Reader, u token.Use, abilities string) (facts []ui.Pair) {
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, ui.Pair{Name: name, Value: value})
		}
	}
	add("Abilities", abilities)
	add("Created", by.Date(u.CreatedAt))
	if u.CreatedBy != "" {
		add("Created by", "API token “"+u.CreatedBy+"”")
	}
	add("Last used", TokenLastUse(by, u.Token))
	add("Last address", u.LastAddress)
	if u.RevokedAt != nil {
		add("Revoked", by.Moment(*u.RevokedAt))
	} else {
		add("Expires", TokenLastDay(by, u.Token))
	}
	return facts
}

// tokenChart is the chart of requests by day.
func tokenChart(u token.Use) ui.Chart {
	c := ui.Chart{
		ID: "requests", Title: "Requests", Label: "Day", Measure: "Requests per day", SoFar: "Today so far",
		Series: []ui.Series{{Name: "Requests", Kind: ui.Line}, {Name: "Refused", Kind: ui.Bars}},
	}
	var refused int64
	for _, d := range u.Days {
		refused += d.Refused
		c.Rows = append(c.Rows, ui.ChartRow{
			Label: d.Day.Format("Mon 2 Jan"), Axis: d.Day.Format("2 Jan"),
			Values: []ui.ChartValue{{Number: d.Requests, Text: format.Number(d.Requests)}, {Number: d.Refused, Text: format.Number(d.Refused)}},
		})
	}
	c.Summary = format.Count(u.Requests(), "request", "requests") + " in the last 7 days, " + format.Number(refused) + " refused"
	return c
}

// endpointName is a request as the reference calls it: GET /customers/{ulid}.
func endpointName(method, endpoint string) string {
	switch endpoint {
	case "":
		return method + " unknown path"
	case token.Other:
		return "Other requests"
	}
	return method + " " + strings.TrimPrefix(endpoint, "/api/v1")
}

// statusesOf lists the statuses of a class that an endpoint answered: "404: 3, 422: 12".
func statusesOf(e token.EndpointUse, class int) string {
	var list []string
	for _, status := range slices.Sorted(maps.Keys(e.Statuses)) {
		if status/100 == class {
			list = append(list, fmt.Sprintf("%d: %s", status, format.Number(e.Statuses[status])))
		}
	}
	return strings.Join(list, ", ")
}

// reasonOf is why a request was refused, in a sentence.
func reasonOf(r token.Refusal) string {
	words := cmp.Or(r.Detail, r.Title)
	if len(r.Fields) > 0 {
		words += " " + format.Noun(int64(len(r.Fields)), "Field", "Fields") + ": " + strings.Join(r.Fields, ", ")
	}
	return words
}
