// Generate writes the Python client, one module on the standard library, from api/openapi.json:
//
//	go run ./api/clients/python/generate
//
// There is a generator of our own because no other produces a client that needs no packages at
// run time. The module's fixed part is module.py, which is edited like any other source.
package main

import (
	_ "embed"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"example.com/loyalty/api/description"
)

const (
	source = "api/openapi.json"
	target = "api/clients/python/loyalty.py"
	width  = 100
)

// fixed is the part of the module that doesn't depend on the document. Its two marks are where
// the records and the methods go.
//
//go:embed module.py
var fixed string

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	content, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	d, err := description.Parse(content)
	if err != nil {
		return err
	}
	module := strings.NewReplacer(
		"# RECORDS\n", records(d),
		"    # METHODS\n", methods(d),
		"VERSION", d.Info.Version,
	).Replace(fixed)
	return os.WriteFile(target, []byte(module), 0o644)
}

// records returns a type for each schema that responses have.
func records(d description.Document) string {
	used := map[string]bool{}
	var mark func(s *description.Schema)
	mark = func(s *description.Schema) {
		if s == nil {
			return
		}
		if name := s.Name(); name != "" {
			if used[name] {
				return
			}
			used[name] = true
			s = d.Resolve(s)
		}
		mark(s.Items)
		mark(s.AdditionalProperties)
		for _, each := range slices.Concat(s.OneOf, s.AnyOf) {
			mark(each)
		}
		for _, m := range s.Properties {
			mark(m.Value)
		}
	}
	for _, op := range d.Operations {
		mark(data(op))
		for _, p := range op.Parameters {
			mark(p.Schema)
		}
		if op.Body != nil {
			for _, m := range d.Resolve(op.Body).Properties {
				mark(m.Value)
			}
		}
	}
	var b strings.Builder
	for _, m := range d.Schemas {
		if !used[m.Name] {
			continue
		}
		if len(m.Value.Enum) > 0 {
			fmt.Fprintf(&b, "%s = %s\n\n\n", m.Name, typeOf(m.Value))
			continue
		}
		b.WriteString(record(recordName(m.Name), m.Value) + "\n\n")
	}
	return b.String()
}

// record returns the type of a record: a class, or a call if a field has a name that a class
// can't have.
func record(name string, of *description.Schema) string {
	var class, call strings.Builder
	isClass := true
	fmt.Fprintf(&class, "class %s(TypedDict):\n%s\n", name, docstring(of.Description, "    "))
	fmt.Fprintf(&call, "%s = TypedDict(%q, {\n", name, name)
	for _, f := range of.Properties {
		kind := typeOf(f.Value)
		if !slices.Contains(of.Required, f.Name) {
			kind = "NotRequired[" + kind + "]"
		}
		isClass = isClass && keyword(f.Name) == f.Name
		fmt.Fprintf(&class, "    %s: %s\n%s", f.Name, kind, docstring(f.Value.Description, "    "))
		fmt.Fprintf(&call, "    %q: %q,  # %s\n", f.Name, kind, f.Value.Description)
	}
	if isClass {
		return class.String()
	}
	return call.String() + "})\n" + docstring(of.Description, "")
}

// data returns the schema of what an operation responds with, inside "data"; nil without a body.
func data(op description.Operation) *description.Schema {
	for _, r := range op.Responses {
		if strings.HasPrefix(r.Status, "2") && r.Schema != nil {
			s, _ := r.Schema.Properties.Find("data")
			return s
		}
	}
	return nil
}

// isPaginated reports whether an operation responds with one page of a list.
func isPaginated(op description.Operation) bool {
	for _, r := range op.Responses {
		if r.Schema != nil {
			_, found := r.Schema.Properties.Find("meta")
			return found
		}
	}
	return false
}

func methods(d description.Document) string {
	var b strings.Builder
	for i, op := range d.Operations {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(method(d, op))
	}
	return b.String()
}

// argument is a parameter of a method.
type argument struct{ name, field, kind, fallback, text string }

func method(d description.Document, op description.Operation) string {
	var path, query, body, headers []argument
	keyed := false
	for _, p := range op.Parameters {
		a := argument{name: keyword(p.Name), field: p.Name, kind: typeOf(p.Schema), text: p.Description}
		switch {
		case p.In == "path":
			path = append(path, a)
		case p.In == "query":
			a.kind, a.fallback = a.kind+" | None", "None"
			query = append(query, a)
		case p.Name == "Idempotency-Key":
			keyed = true
		case p.In == "header" && p.Name != "Prefer": // which the module sends itself
			a.name = strings.ToLower(strings.ReplaceAll(p.Name, "-", "_"))
			a.kind, a.fallback = a.kind+" | None", "None"
			headers = append(headers, a)
		}
	}
	if op.Body != nil {
		schema := d.Resolve(op.Body)
		var optional []argument
		for _, m := range schema.Properties {
			a := argument{name: keyword(m.Name), field: m.Name, kind: typeOf(m.Value), text: m.Value.Description}
			if slices.Contains(schema.Required, m.Name) {
				body = append(body, a)
				continue
			}
			a.fallback = "UNSET"
			optional = append(optional, a)
		}
		body = append(body, optional...)
	}

	signature := []string{"self"}
	for _, a := range path {
		signature = append(signature, a.name+": "+a.kind)
	}
	var named []string
	for _, a := range slices.Concat(query, body, headers) {
		if a.fallback == "" {
			named = append(named, a.name+": "+a.kind)
		} else {
			named = append(named, a.name+": "+a.kind+" = "+a.fallback)
		}
	}
	if keyed {
		named = append(named, "idempotency_key: str | None = None")
	}
	if len(named) > 0 {
		signature = append(append(signature, "*"), named...)
	}
	returns := "None"
	if s := data(op); s != nil {
		returns = typeOf(s)
		if isPaginated(op) {
			returns = "Records[" + strings.TrimSuffix(strings.TrimPrefix(returns, "list["), "]") + "]"
		}
	}

	var b strings.Builder
	head := "    def " + snake(op.ID) + "(" + strings.Join(signature, ", ") + ") -> " + returns + ":\n"
	if len(head) > width {
		head = "    def " + snake(op.ID) + "(\n        " + strings.Join(signature, ",\n        ") + ",\n    ) -> " + returns + ":\n"
	}
	b.WriteString(head)
	b.WriteString(docstring(help(op, slices.Concat(path, query, body, headers)), "        "))

	call := []string{fmt.Sprintf("%q", op.Method), pathExpression(op.Path)}
	if len(query) > 0 {
		call = append(call, "query="+object(query))
	}
	if op.Body != nil {
		call = append(call, "body="+object(body))
	}
	if len(headers) > 0 {
		call = append(call, "headers="+object(headers))
	}
	if keyed {
		call = append(call, "key=idempotency_key or str(uuid.uuid4())")
	}
	send, suffix := "self._send", `["data"]`
	switch {
	case isPaginated(op):
		send, suffix = "self._records", ""
	case returns == "None":
		suffix = ""
	}
	line := send + "(" + strings.Join(call, ", ") + ")" + suffix
	if len(line)+15 > width {
		line = send + "(\n            " + strings.Join(call, ",\n            ") + ",\n        )" + suffix
	}
	if returns != "None" {
		line = "return " + line
	}
	b.WriteString("        " + line + "\n")
	return b.String()
}

// object returns a dictionary of arguments by the names that the API has.
func object(list []argument) string {
	var pairs []string
	for _, a := range list {
		pairs = append(pairs, fmt.Sprintf("%q: %s", a.field, a.name))
	}
	line := "{" + strings.Join(pairs, ", ") + "}"
	if len(line) > 80 {
		line = "{\n                " + strings.Join(pairs, ",\n                ") + ",\n            }"
	}
	return line
}

// help returns the text of a method: what it does, its arguments, and the codes of its refusals.
func help(op description.Operation, arguments []argument) string {
	parts := []string{op.Summary + "."}
	var codes []string
	for part := range strings.SplitSeq(op.Description, "\n\n") {
		if !strings.HasPrefix(part, "|") {
			parts = append(parts, part)
			continue
		}
		for _, row := range strings.Split(part, "\n")[2:] {
			cells := strings.Split(row, "|")
			codes = append(codes, "- "+strings.Trim(cells[1], " `")+": "+strings.TrimSpace(cells[2]))
		}
	}
	if isPaginated(op) {
		parts = append(parts, "Further pages are read when they are needed.")
	}
	var args []string
	for _, a := range arguments {
		args = append(args, "- "+a.name+": "+a.text)
	}
	if len(args) > 0 {
		parts = append(parts, strings.Join(args, "\n"))
	}
	if len(codes) > 0 {
		parts = append(parts, "Raises Problem, of business rules with these codes:\n"+strings.Join(codes, "\n"))
	}
	return strings.Join(parts, "\n\n")
}

var (
	link    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	hole    = regexp.MustCompile(`\{(\w+)\}`)
	capital = regexp.MustCompile(`[A-Z]`)
)

// docstring wraps a text as documentation. "" has none.
func docstring(text, indent string) string {
	if text == "" {
		return ""
	}
	text = link.ReplaceAllString(text, "$1")
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, wrap(line, width-len(indent)-6)...)
	}
	if len(lines) == 1 {
		return indent + `"""` + lines[0] + `"""` + "\n"
	}
	var b strings.Builder
	b.WriteString(indent + `"""`)
	for i, line := range lines {
		if i > 0 && line != "" {
			b.WriteString(indent)
		}
		b.WriteString(line + "\n")
	}
	b.WriteString(indent + `"""` + "\n")
	return b.String()
}

func wrap(text string, width int) (lines []string) {
	line, hanging := "", ""
	if strings.HasPrefix(text, "- ") {
		hanging = "  "
	}
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case len([]rune(line))+1+len([]rune(word)) > width:
			lines, line = append(lines, line), hanging+word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// recordName returns the name of a record's type. Problem is the module's own exception.
func recordName(schema string) string {
	if schema == "Problem" {
		return "ProblemDocument"
	}
	return schema
}

func typeOf(s *description.Schema) string {
	kind := map[string]string{"string": "str", "integer": "int", "boolean": "bool", "number": "float"}[s.Kind()]
	switch {
	case s.Name() != "":
		kind = recordName(s.Name())
	case len(s.Enum) > 0:
		kind = `Literal["` + strings.Join(s.Enum, `", "`) + `"]`
	case s.Items != nil:
		kind = "list[" + typeOf(s.Items) + "]"
	case s.AdditionalProperties != nil:
		kind = "dict[str, " + typeOf(s.AdditionalProperties) + "]"
	case len(s.OneOf)+len(s.AnyOf) > 0:
		var kinds []string
		for _, each := range slices.Concat(s.OneOf, s.AnyOf) {
			kinds = append(kinds, typeOf(each))
		}
		return strings.Join(kinds, " | ")
	case s.Kind() == "null":
		return "None"
	case s.Kind() == "object":
		kind = "dict[str, Any]"
	case kind == "":
		panic(fmt.Sprintf("no Python type for %+v", s))
	}
	if s.Nullable() {
		kind += " | None"
	}
	return kind
}

// pathExpression returns a path as Python writes it, with its arguments escaped.
func pathExpression(path string) string {
	if !strings.Contains(path, "{") {
		return fmt.Sprintf("%q", path)
	}
	return `f"` + hole.ReplaceAllString(path, "{_segment($1)}") + `"`
}

// keyword returns a name that Python can use.
func keyword(name string) string {
	if name == "from" {
		return "from_"
	}
	return name
}

// snake returns find_customer for findCustomer.
func snake(name string) string {
	return capital.ReplaceAllStringFunc(name, func(c string) string { return "_" + strings.ToLower(c) })
}
