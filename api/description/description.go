// Package description reads api/openapi.json for what is made from it: the reference pages and
// the Python client.
//
// Its surprising rule: it knows what our document uses of OpenAPI 3.1, and no more. Everything
// keeps the order that it has in the document.
package description

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Document is the description of the API.
type Document struct {
	Info       Info
	Tags       []Tag
	Operations []Operation
	Schemas    Ordered[*Schema]
}

// Resolve returns what a schema refers to, or the schema itself.
func (d Document) Resolve(s *Schema) *Schema {
	if named, found := d.Schemas.Find(s.Name()); found {
		return named
	}
	return s
}

// Info is the introduction of the document.
type Info struct{ Title, Version, Summary, Description string }

// Tag is a group of operations.
type Tag struct{ Name, Description string }

// Operation is one request that the API answers.
type Operation struct {
	ID, Method, Path     string
	Tag                  string
	Summary, Description string
	Scopes               []string // that a token needs; none: any token
	Parameters           []Parameter
	Body                 *Schema // nil without one
	Responses            []Response
}

// Parameter is a part of the path or query, or a header.
type Parameter struct {
	Ref         string `json:"$ref"`
	Name, In    string
	Description string
	Required    bool
	Schema      *Schema
	Example     json.RawMessage
}

// Response is what a status means.
type Response struct {
	Status      string
	Description string
	Schema      *Schema         // nil without a body
	Example     json.RawMessage // nil without one
	Codes       []string        // of the business rules that refuse with it
}

// Schema describes a value.
type Schema struct {
	Ref                  string `json:"$ref"`
	Type                 Types
	Format, Description  string
	Enum                 []string
	Minimum, Maximum     *int64
	MinLength, MaxLength *int64
	Required             []string
	Properties           Ordered[*Schema]
	Items                *Schema
	AdditionalProperties *Schema
	AllOf                []*Schema // schemas that the value has, too; Parse adds their properties
	OneOf, AnyOf         []*Schema
	Default              json.RawMessage
	Examples             []json.RawMessage
}

// Name returns the name of the schema that this one refers to, or "".
func (s *Schema) Name() string { return nameOf(s.Ref) }

// Nullable reports whether the value may be null.
func (s *Schema) Nullable() bool { return slices.Contains(s.Type, "null") }

// Kind returns the value's type, other than null.
func (s *Schema) Kind() string {
	for _, t := range s.Type {
		if t != "null" {
			return t
		}
	}
	return ""
}

// compose adds the properties of the schemas that a schema is composed of.
func (s *Schema) compose(all Ordered[*Schema]) {
	for _, part := range s.AllOf {
		if part.Ref != "" {
			part, _ = all.Find(part.Name())
		}
		s.Type, s.Required, s.Properties = part.Type, append(s.Required, part.Required...), append(s.Properties, part.Properties...)
	}
}

// Types is one type, or several.
type Types []string

// UnmarshalJSON reads a text or a list of texts.
func (t *Types) UnmarshalJSON(content []byte) error {
	if bytes.HasPrefix(content, []byte("[")) {
		return json.Unmarshal(content, (*[]string)(t))
	}
	*t = Types{""}
	return json.Unmarshal(content, &(*t)[0])
}

// Ordered is an object whose members keep their order.
type Ordered[T any] []Member[T]

// Member is a member of an object.
type Member[T any] struct {
	Name  string
	Value T
}

// Find returns the member with this name.
func (o Ordered[T]) Find(name string) (value T, found bool) {
	for _, m := range o {
		if m.Name == name {
			return m.Value, true
		}
	}
	return value, false
}

// UnmarshalJSON reads an object.
func (o *Ordered[T]) UnmarshalJSON(content []byte) error {
	d := json.NewDecoder(bytes.NewReader(content))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return errors.Join(err, fmt.Errorf("%.20s is not an object", content))
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		m := Member[T]{Name: name.(string)} // the decoder allows no other keys
		if err := d.Decode(&m.Value); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		*o = append(*o, m)
	}
	return nil
}

// source is the document as it is written.
type source struct {
	Info       Info
	Tags       []Tag
	Paths      Ordered[Ordered[json.RawMessage]]
	Components struct {
		Schemas    Ordered[*Schema]
		Parameters map[string]Parameter
		Responses  map[string]sourceResponse
	}
}

type sourceOperation struct {
	OperationID          string
	Tags                 []string
	Summary, Description string
	Security             []map[string][]string
	Parameters           []Parameter
	RequestBody          *struct{ Content map[string]media }
	Responses            Ordered[sourceResponse]
}

type sourceResponse struct {
	Ref         string `json:"$ref"`
	Description string
	Content     map[string]media
}

type media struct {
	Schema   *Schema
	Example  json.RawMessage
	Examples Ordered[json.RawMessage]
}

// Parse reads the document.
func Parse(content []byte) (Document, error) {
	var src source
	if err := json.Unmarshal(content, &src); err != nil {
		return Document{}, fmt.Errorf("read the description of the API: %w", err)
	}
	d := Document{Info: src.Info, Tags: src.Tags, Schemas: src.Components.Schemas}
	for _, m := range d.Schemas {
		m.Value.compose(d.Schemas)
	}
	for _, path := range src.Paths {
		var shared []Parameter
		for _, m := range path.Value {
			if m.Name == "parameters" {
				if err := json.Unmarshal(m.Value, &shared); err != nil {
					return Document{}, fmt.Errorf("%s: %w", path.Name, err)
				}
				continue
			}
			var op sourceOperation
			if err := json.Unmarshal(m.Value, &op); err != nil {
				return Document{}, fmt.Errorf("%s %s: %w", m.Name, path.Name, err)
			}
			d.Operations = append(d.Operations, src.operation(strings.ToUpper(m.Name), path.Name, shared, op))
		}
	}
	return d, nil
}

func (src source) operation(method, path string, shared []Parameter, from sourceOperation) Operation {
	op := Operation{
		ID: from.OperationID, Method: method, Path: path, Tag: strings.Join(from.Tags, ", "),
		Summary: from.Summary, Description: from.Description,
	}
	for _, s := range from.Security {
		op.Scopes = append(op.Scopes, s["bearer"]...)
	}
	for _, p := range slices.Concat(shared, from.Parameters) {
		if p.Ref != "" {
			p = src.Components.Parameters[nameOf(p.Ref)]
		}
		op.Parameters = append(op.Parameters, p)
	}
	if from.RequestBody != nil {
		op.Body = from.RequestBody.Content["application/json"].Schema
	}
	for _, r := range from.Responses {
		if r.Value.Ref != "" {
			r.Value = src.Components.Responses[nameOf(r.Value.Ref)]
		}
		to := Response{Status: r.Name, Description: r.Value.Description}
		for kind, content := range r.Value.Content {
			to.Schema, to.Example = content.Schema, content.Example
			for _, e := range content.Examples {
				if kind == "application/problem+json" && e.Name != "invalid" {
					to.Codes = append(to.Codes, e.Name)
				}
			}
		}
		op.Responses = append(op.Responses, to)
	}
	return op
}

// nameOf returns the last part of a reference: "#/components/schemas/Customer" is Customer.
func nameOf(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }
