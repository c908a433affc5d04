package docs

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/api/description"
	"example.com/loyalty/static"
	views "example.com/loyalty/views/docs"
)

const referencePath = "/docs/reference/"

// reference is the pages made from the API's description, one for each of its tags.
type reference struct {
	overview views.Overview
	groups   map[string]views.Group // by the last part of their path
}

// groupPath returns where the operations of a tag are.
func groupPath(tag string) string { return referencePath + strings.ToLower(tag) }

func newReference(s site, d description.Document) reference {
	r := reference{
		overview: views.Overview{
			Frame: s.frame("API documentation · Loyalty", "Every API request, with its fields, responses and examples, and how to build a reliable client.", "/docs"),
			API:   s.base + "/api/v1", Sections: s.sections(d.Info.Description),
		},
		groups: map[string]views.Group{},
	}
	for _, name := range []string{"PageLinks", "PageMeta", "Problem"} {
		if schema, found := d.Schemas.Find(name); found {
			r.overview.Records = append(r.overview.Records, s.record(d, name, schema))
		}
	}
	for _, tag := range d.Tags {
		g := views.Group{
			Frame: s.frame(tag.Name+" · API reference · Loyalty", tag.Description, groupPath(tag.Name)),
			Title: tag.Name, Text: tag.Description,
		}
		g.Scripts = append(g.Scripts, static.Path("js/reference.js"))
		used := map[string]bool{}
		for _, op := range d.Operations {
			if op.Tag != tag.Name {
				continue
			}
			g.Operations = append(g.Operations, s.operation(d, op))
			if op.Body != nil { // the body itself is described with the operation
				body, _ := d.Schemas.Find(op.Body.Name())
				for _, m := range body.Properties {
					mark(d, used, m.Value)
				}
			}
			for _, answer := range op.Responses {
				if strings.HasPrefix(answer.Status, "2") {
					mark(d, used, answer.Schema)
				}
			}
		}
		for _, m := range d.Schemas {
			if used[m.Name] {
				g.Records = append(g.Records, s.record(d, m.Name, m.Value))
			}
		}
		r.overview.Groups = append(r.overview.Groups, g)
		r.groups[strings.ToLower(tag.Name)] = g
	}
	return r
}

// mark notes the records in a schema, and those within them. What every list has is described once.
func mark(d description.Document, used map[string]bool, schema *description.Schema) {
	if schema == nil {
		return
	}
	if name := schema.Name(); name != "" {
		if used[name] || isShared(name) {
			return
		}
		used[name] = true
		schema, _ = d.Schemas.Find(name)
	}
	mark(d, used, schema.Items)
	for _, m := range schema.Properties {
		mark(d, used, m.Value)
	}
}

func isShared(name string) bool { return name == "PageLinks" || name == "PageMeta" || name == "Scope" }

func (s site) operation(d description.Document, op description.Operation) views.Operation {
	prose, refusals := s.prose(op.Description)
	o := views.Operation{
		ID: op.ID, Method: op.Method, Path: op.Path, Link: groupPath(op.Tag) + "#" + op.ID, Summary: op.Summary,
		Prose: prose, Refusals: refusals, Request: s.example(d, op),
	}
	for _, p := range op.Parameters {
		f := s.field(d, p.Name, p.Schema)
		f.In, f.Text = p.In, s.text(p.Description)
		if p.Required {
			f.Required, f.Note = true, "required"
		}
		o.Parameters = append(o.Parameters, f)
	}
	if op.Body != nil {
		body, _ := d.Schemas.Find(op.Body.Name())
		o.Body, o.BodyExample = s.fields(d, body, "required", ""), indented(body.Examples[0])
	}
	var others []string
	for _, answer := range op.Responses {
		if !strings.HasPrefix(answer.Status, "2") {
			others = append(others, answer.Status)
			continue
		}
		r := views.Return{Status: answer.Status, Text: answer.Description}
		if answer.Schema != nil {
			data, _ := answer.Schema.Properties.Find("data")
			if data != nil && data.Items != nil {
				r.List, data = true, data.Items
			}
			if data != nil && data.Name() != "" {
				r.Record = recordLink(data.Name())
			}
		}
		o.Returns = append(o.Returns, r)
		if o.Status == "" {
			o.Status, o.Response = answer.Status, indented(answer.Example)
		}
	}
	o.OtherStatus = strings.Join(others, ", ")
	return o
}

// example returns the request as a command. Examples have no single quotes.
func (s site) example(d description.Document, op description.Operation) string {
	path := op.Path
	var headers []string
	for _, p := range op.Parameters {
		if p.In == "path" {
			path = strings.ReplaceAll(path, "{"+p.Name+"}", strings.Trim(string(p.Example), `"`))
		}
	}
	headers = append(headers, "Authorization: Bearer $LOYALTY_TOKEN")
	if op.Body != nil {
		headers = append(headers, "Content-Type: application/json")
		if slices.ContainsFunc(op.Parameters, func(p description.Parameter) bool { return p.Name == "Idempotency-Key" }) {
			headers = append(headers, "Idempotency-Key: till-3-receipt-4711")
		}
	}
	var b strings.Builder
	b.WriteString("curl " + s.base + path)
	if method := op.Method; method != http.MethodGet && (method != http.MethodPost || op.Body == nil) {
		b.WriteString(" \\\n  --request " + method)
	}
	for _, h := range headers {
		b.WriteString(" \\\n  --header \"" + h + `"`)
	}
	if op.Body != nil {
		body, _ := d.Schemas.Find(op.Body.Name())
		b.WriteString(" \\\n  --data '" + strings.ReplaceAll(indented(body.Examples[0]), "\n", "\n  ") + "'")
	}
	return b.String()
}

func indented(content json.RawMessage) string {
	if content == nil {
		return ""
	}
	var b bytes.Buffer
	if err := json.Indent(&b, content, "", "  "); err != nil {
		panic(err) // it was read from a valid document
	}
	return b.String()
}

func recordID(name string) string { return "record-" + strings.ToLower(name) }

func recordLink(name string) views.Span {
	if isShared(name) && name != "Scope" {
		return views.Span{Text: name, Link: "/docs#" + recordID(name)}
	}
	return views.Span{Text: name, Link: "#" + recordID(name)}
}

func (s site) record(d description.Document, name string, schema *description.Schema) views.Record {
	return views.Record{ID: recordID(name), Name: name, Text: s.text(schema.Description), Fields: s.fields(d, schema, "", "optional")}
}

// fields describes the fields of an object, and notes of each whether it is required.
func (s site) fields(d description.Document, of *description.Schema, required, optional string) (list []views.Field) {
	for _, m := range of.Properties {
		f := s.field(d, m.Name, m.Value)
		f.Note = optional
		if slices.Contains(of.Required, m.Name) {
			f.Required, f.Note = true, required
		}
		list = append(list, f)
	}
	return list
}

func (s site) field(d description.Document, name string, schema *description.Schema) views.Field {
	f := views.Field{Name: name, Text: s.text(schema.Description), Type: typeOf(d, schema)}
	values := schema
	if schema.Items != nil {
		values = schema.Items
	}
	if values.Name() != "" {
		if named, _ := d.Schemas.Find(values.Name()); len(named.Enum) > 0 {
			values = named
		}
	}
	f.Limits = limits(values)
	return f
}

// formats are what readers call a format; others don't matter to them.
var formats = map[string]string{"date": "date", "date-time": "timestamp", "uri": "URL"}

func typeOf(d description.Document, schema *description.Schema) views.Span {
	if name := schema.Name(); name != "" {
		if named, _ := d.Schemas.Find(name); len(named.Enum) > 0 {
			return views.Span{Text: named.Kind()}
		}
		return recordLink(name)
	}
	if schema.Items != nil {
		of := typeOf(d, schema.Items)
		of.Text = "list of " + of.Text
		return of
	}
	kind := schema.Kind()
	if name, known := formats[schema.Format]; known {
		kind = name
	}
	if schema.Nullable() {
		kind += " or null"
	}
	return views.Span{Text: kind}
}

// limits says which values are valid, after the description.
func limits(schema *description.Schema) (t views.Text) {
	add := func(s string) { t = append(t, text(" "+s)...) }
	if len(schema.Enum) > 0 {
		add("One of `" + strings.Join(schema.Enum, "`, `") + "`.")
	}
	switch {
	case schema.Minimum != nil && schema.Maximum != nil:
		add(grouped(*schema.Minimum) + " to " + grouped(*schema.Maximum) + ".")
	case schema.Minimum != nil && *schema.Minimum != 0:
		add("At least " + grouped(*schema.Minimum) + ".")
	}
	if schema.MaxLength != nil {
		add("Up to " + grouped(*schema.MaxLength) + " characters.")
	}
	if schema.Default != nil {
		add("Default: `" + strings.Trim(string(schema.Default), `"`) + "`.")
	}
	return t
}

// grouped writes a number with commas.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// sections splits a description at its headings. What is before the first is left out.
func (s site) sections(markdown string) (list []views.Section) {
	for i, part := range strings.Split(markdown, "\n## ") {
		title, rest, _ := strings.Cut(part, "\n")
		if i == 0 {
			continue
		}
		prose, _ := s.prose(rest)
		list = append(list, views.Section{ID: strings.ReplaceAll(strings.ToLower(title), " ", "-"), Title: title, Prose: prose})
	}
	return list
}

// prose returns the paragraphs of a description, and the business rules in its table.
func (s site) prose(markdown string) (paragraphs []views.Text, refusals []views.Refusal) {
	for part := range strings.SplitSeq(strings.TrimSpace(markdown), "\n\n") {
		if !strings.HasPrefix(part, "|") {
			paragraphs = append(paragraphs, s.text(part))
			continue
		}
		for _, row := range strings.Split(part, "\n")[2:] {
			cells := strings.Split(row, "|")
			refusals = append(refusals, views.Refusal{Code: strings.Trim(cells[1], " `"), Detail: strings.TrimSpace(cells[2])})
		}
	}
	return paragraphs, refusals
}

// text splits prose at links and code. Links to the installation itself become paths.
func (s site) text(markdown string) (t views.Text) {
	for {
		before, rest, found := strings.Cut(markdown, "](")
		at := strings.LastIndex(before, "[")
		if !found || at < 0 {
			return append(t, text(markdown)...)
		}
		link, after, _ := strings.Cut(rest, ")")
		t = append(t, text(before[:at])...)
		t = append(t, views.Span{Text: before[at+1:], Link: strings.TrimPrefix(link, s.base)})
		markdown = after
	}
}

func (p *Pages) showOverview(c echo.Context) error {
	return render(c, http.StatusOK, views.OverviewPage(p.reference.overview))
}

func (p *Pages) showGroup(c echo.Context) error {
	g, ok := p.reference.groups[c.Param("group")]
	if !ok {
		return NotFound(c)
	}
	return render(c, http.StatusOK, views.GroupPage(g))
}
