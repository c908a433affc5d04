package docs

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/api/description"
)

const postmanPath = "/docs/postman.json"

// A collection of Postman, in its format 2.1: every request of the document, with its examples. Identifiers are
// variables, which each request with such a record sets, so that an imported collection works on any business.
type (
	collection struct {
		Info      collectionInfo  `json:"info"`
		Auth      postmanAuth     `json:"auth"`
		Variables []postmanValue  `json:"variable"`
		Folders   []postmanFolder `json:"item"`
	}
	collectionInfo struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Version     string `json:"version"`
		Schema      string `json:"schema"`
	}
	postmanAuth struct {
		Type   string         `json:"type"`
		Bearer []postmanValue `json:"bearer"`
	}
	postmanFolder struct {
		Name        string        `json:"name"`
		Description string        `json:"description"`
		Items       []postmanItem `json:"item"`
	}
	postmanItem struct {
		Name    string         `json:"name"`
		Events  []postmanEvent `json:"event,omitempty"`
		Request postmanRequest `json:"request"`
	}
	postmanEvent struct {
		Listen string        `json:"listen"`
		Script postmanScript `json:"script"`
	}
	postmanScript struct {
		Type string   `json:"type"`
		Exec []string `json:"exec"`
	}
	postmanRequest struct {
		Method      string         `json:"method"`
		Description string         `json:"description"`
		Headers     []postmanValue `json:"header"`
		Body        *postmanBody   `json:"body,omitempty"`
		URL         postmanURL     `json:"url"`
	}
	postmanBody struct {
		Mode    string `json:"mode"`
		Raw     string `json:"raw"`
		Options any    `json:"options"`
	}
	postmanURL struct {
		Raw       string         `json:"raw"`
		Host      []string       `json:"host"`
		Path      []string       `json:"path"`
		Query     []postmanValue `json:"query,omitempty"`
		Variables []postmanValue `json:"variable,omitempty"`
	}
	// postmanValue is a header, a parameter or a variable.
	postmanValue struct {
		Key         string `json:"key"`
		Value       string `json:"value"`
		Description string `json:"description,omitempty"`
		Disabled    bool   `json:"disabled,omitempty"`
	}
)

// newPostman returns the collection of an installation.
func newPostman(s site, d description.Document) []byte {
	p := postman{d: d}
	c := collection{
		Info: collectionInfo{
			Name: d.Info.Title + " API", Version: d.Info.Version, Schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
			Description: "Every request of the API. Set the variable `token` to an API token of your business; requests set the other variables as they are answered. The reference is at " + s.base + "/docs.",
		},
		Auth: postmanAuth{Type: "bearer", Bearer: []postmanValue{{Key: "token", Value: "{{token}}"}}},
	}
	p.variables = []postmanValue{{Key: "base_url", Value: s.base}, {Key: "token"}}
	for _, tag := range d.Tags {
		f := postmanFolder{Name: tag.Name, Description: tag.Description}
		for _, op := range d.Operations {
			if op.Tag == tag.Name {
				f.Items = append(f.Items, p.item(op))
			}
		}
		c.Folders = append(c.Folders, f)
	}
	c.Variables = p.variables
	content, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		panic(err) // it has only texts
	}
	return content
}

// postman makes the requests of a collection, and collects their variables.
type postman struct {
	d         description.Document
	variables []postmanValue
}

// variable returns a reference to a variable, which is an example as long as no response has set it.
func (p *postman) variable(name, example string) string {
	if !slices.ContainsFunc(p.variables, func(v postmanValue) bool { return v.Key == name }) {
		p.variables = append(p.variables, postmanValue{Key: name, Value: example})
	}
	return "{{" + name + "}}"
}

func (p *postman) item(op description.Operation) postmanItem {
	i := postmanItem{Name: op.Summary, Request: postmanRequest{Method: op.Method, Description: op.Description, Headers: []postmanValue{}}}
	path := strings.Split(strings.TrimPrefix(op.Path, "/"), "/")
	for _, param := range op.Parameters {
		v := postmanValue{Key: param.Name, Value: strings.Trim(string(param.Example), `"`), Description: param.Description}
		switch param.In {
		case "path":
			at := slices.Index(path, "{"+param.Name+"}")
			path[at] = ":" + param.Name
			v.Value = p.variable(p.recordOf(v.Value, path[at-1])+"_"+param.Name, v.Value)
			i.Request.URL.Variables = append(i.Request.URL.Variables, v)
		case "query":
			v.Disabled = !param.Required
			i.Request.URL.Query = append(i.Request.URL.Query, v)
		case "header":
			v.Disabled = !param.Required
			if v.Key == "Idempotency-Key" {
				v.Value, v.Disabled = "{{$guid}}", false
			}
			i.Request.Headers = append(i.Request.Headers, v)
		}
	}
	i.Request.URL.Host, i.Request.URL.Path = []string{"{{base_url}}"}, path
	i.Request.URL.Raw = "{{base_url}}/" + strings.Join(path, "/")
	if op.Body != nil {
		i.Request.Headers = append(i.Request.Headers, postmanValue{Key: "Content-Type", Value: "application/json"})
		language := map[string]any{"raw": map[string]string{"language": "json"}}
		i.Request.Body = &postmanBody{Mode: "raw", Raw: p.body(op), Options: language}
	}
	if name, key := p.kept(op); name != "" {
		i.Events = []postmanEvent{{Listen: "test", Script: postmanScript{Type: "text/javascript", Exec: []string{
			"const { data } = pm.response.code < 300 ? pm.response.json() : {}",
			"const record = Array.isArray(data) ? data[0] : data",
			"if (record) pm.collectionVariables.set('" + name + "', record." + key + ")",
		}}}}
	}
	return i
}

// recordOf returns what an identifier is of: the record that has it as its example, or what the path says before it.
func (p *postman) recordOf(example, parent string) string {
	for _, m := range p.d.Schemas {
		var record struct{ ULID string }
		if len(m.Value.Examples) > 0 && json.Unmarshal(m.Value.Examples[0], &record) == nil && record.ULID != "" && record.ULID == example {
			return snake(m.Name)
		}
	}
	return strings.TrimSuffix(parent, "s")
}

// kept returns the variable that the response of a request sets, and the field that it is set to; "" without one.
func (p *postman) kept(op description.Operation) (name, key string) {
	for _, r := range op.Responses {
		if !strings.HasPrefix(r.Status, "2") || r.Schema == nil {
			continue
		}
		data, found := r.Schema.Properties.Find("data")
		if !found {
			continue
		}
		if data.Items != nil {
			data = data.Items
		}
		record := snake(strings.TrimPrefix(data.Name(), "Created"))
		if record == "" {
			continue
		}
		for _, key := range []string{"ulid", "id"} {
			if _, found := p.d.Resolve(data).Properties.Find(key); found {
				return record + "_" + key, key
			}
		}
	}
	return "", ""
}

var (
	identifier = regexp.MustCompile(`"(\w+_(?:ulid|id))": ("?)(\w+)"?`)
	external   = regexp.MustCompile(`"external_reference": "[^"]*"`)
	capital    = regexp.MustCompile(`(\w)([A-Z])`)
)

// body returns the example of a request, with variables for identifiers, and a new reference each time.
func (p *postman) body(op description.Operation) string {
	schema := p.d.Resolve(op.Body)
	if len(schema.Examples) == 0 {
		return "{}"
	}
	text := identifier.ReplaceAllStringFunc(indented(schema.Examples[0]), func(field string) string {
		part := identifier.FindStringSubmatch(field)
		return `"` + part[1] + `": ` + part[2] + p.variable(part[1], part[3]) + part[2]
	})
	return external.ReplaceAllString(text, `"external_reference": "{{$$guid}}"`)
}

// snake returns top_customer for TopCustomer.
func snake(name string) string {
	return strings.ToLower(capital.ReplaceAllString(name, "${1}_$2"))
}

func (p *Pages) showPostman(c echo.Context) error {
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, p.postman)
}
