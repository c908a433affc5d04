package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// contract is openapi.json. server.try checks every accepted request and every response against
// it, stricter than promised to clients: an undescribed field, header, code or status fails.
type contract struct {
	*openapi3.T
	fine sync.Map // responses that were checked before
}

var described = sync.OnceValue(func() *contract {
	doc, err := openapi3.NewLoader().LoadFromFile("openapi.json")
	if err != nil {
		panic(err)
	}
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for _, response := range op.Responses.Map() {
				for _, media := range response.Value.Content {
					forbidUnknown(media.Schema)
				}
			}
		}
	}
	return &contract{T: doc}
})

// forbidUnknown forbids undescribed fields in a schema, recursively.
func forbidUnknown(s *openapi3.SchemaRef) {
	if s == nil {
		return
	}
	if len(s.Value.Properties) > 0 {
		s.Value.AdditionalProperties = openapi3.BoolSchema{Has: new(false)}
	}
	for _, property := range s.Value.Properties {
		forbidUnknown(property)
	}
	forbidUnknown(s.Value.Items)
}

// check validates a response, and the request if it was accepted.
func (c *contract) check(r *http.Request, sent string, got answer) error {
	in := c.input(r)
	err := c.answers(r.Context(), in, got)
	if got.status < 300 && !isLenient(r) && !refusesItems(got) {
		in.Request.Body = io.NopCloser(strings.NewReader(sent))
		err = errors.Join(err, openapi3filter.ValidateRequest(r.Context(), in))
	}
	if err != nil {
		return fmt.Errorf("%s %s, %d: not as openapi.json says: %w\n%s", r.Method, r.URL.Path, got.status, err, got.body)
	}
	return nil
}

func (c *contract) input(r *http.Request) *openapi3filter.RequestValidationInput {
	route, params := c.route(r.Method, r.URL)
	return &openapi3filter.RequestValidationInput{
		Request: r.Clone(r.Context()), PathParams: params, QueryParams: query(r.URL), Route: route,
		Options: &openapi3filter.Options{
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true, MultiError: true,
		},
	}
}

// answers validates a response.
func (c *contract) answers(ctx context.Context, in *openapi3filter.RequestValidationInput, got answer) error {
	response := in.Route.Operation.Responses.Status(got.status)
	if response == nil {
		return errors.New("the status is not described")
	}
	for name := range got.header {
		if !slices.Contains(plumbing, name) && !describes(response.Value, name) {
			return fmt.Errorf("the header %s is not described", name)
		}
	}
	if len(response.Value.Content) == 0 || in.Request.Method == http.MethodHead {
		if got.body != "" {
			return errors.New("there is a body")
		}
		return nil
	}
	// Most responses repeat: checking each once takes a tenth of the time.
	seen := fmt.Sprint(in.Route.Method, in.Route.Path, got.status, got.header.Get("Content-Type"), got.body)
	if _, ok := c.fine.Load(seen); ok {
		got.body = ""
	}
	err := openapi3filter.ValidateResponse(ctx, &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: got.status, Header: got.header, Body: io.NopCloser(strings.NewReader(got.body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true, ExcludeResponseBody: got.body == ""},
	})
	if err == nil && got.body != "" && got.status >= 400 {
		err = c.explains(response.Value, got)
	}
	if err == nil {
		c.fine.Store(seen, true)
	}
	return err
}

// explains checks that the document has an example of a problem: by its code, or "invalid" without one.
func (c *contract) explains(response *openapi3.Response, got answer) error {
	var p struct {
		Status int
		Code   string
		Errors map[string][]string
	}
	if err := json.Unmarshal([]byte(got.body), &p); err != nil {
		return err
	}
	switch {
	case p.Status != got.status:
		return fmt.Errorf("status %d in the body", p.Status)
	case got.status != http.StatusUnprocessableEntity:
		if p.Code != "" || p.Errors != nil {
			return errors.New("a code or errors beside a status other than 422")
		}
		return nil
	case p.Code == "" && p.Errors == nil:
		return errors.New("a 422 has a code, errors, or both")
	}
	if p.Code == "" {
		p.Code = "invalid"
	}
	if response.Content.Get("application/problem+json").Examples[p.Code] == nil {
		return fmt.Errorf("no example of %s", p.Code)
	}
	return nil
}

// plumbing lists headers that are not part of the API.
var plumbing = []string{
	"Cache-Control", "Content-Encoding", "Content-Length", "Content-Security-Policy", "Content-Type", "Date", "Vary",
	"Strict-Transport-Security", "X-Content-Type-Options", // of the running product
}

func describes(r *openapi3.Response, header string) bool {
	for name := range r.Headers {
		if http.CanonicalHeaderKey(name) == header {
			return true
		}
	}
	return false
}

// route finds the operation of a request. Unknown paths and methods are found, too: they have
// responses without an operation.
func (c *contract) route(method string, u *url.URL) (*routers.Route, map[string]string) {
	if method == http.MethodHead {
		method = http.MethodGet // the same headers
	}
	for path, item := range c.Paths.Map() {
		if params, fits := fit(path, u.EscapedPath()); fits && item.GetOperation(method) != nil {
			return &routers.Route{Spec: c.T, Path: path, PathItem: item, Method: method, Operation: item.GetOperation(method)}, params
		}
	}
	responses := &openapi3.Responses{}
	for status, name := range map[string]string{
		"400": "BadRequest", "404": "NotFound", "405": "MethodNotAllowed", "429": "TooManyRequests", "500": "InternalError", "503": "Unavailable",
	} {
		responses.Set(status, c.Components.Responses[name])
	}
	return &routers.Route{
		Spec: c.T, Path: u.EscapedPath(), PathItem: &openapi3.PathItem{}, Method: method, Operation: &openapi3.Operation{Responses: responses},
	}, nil
}

// fit reads the parameters of a path such as /customers/{ulid}.
func fit(pattern, path string) (params map[string]string, fits bool) {
	wanted, given := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(wanted) != len(given) {
		return nil, false
	}
	params = map[string]string{}
	for i, part := range wanted {
		value, err := url.PathUnescape(given[i])
		if name, isParam := strings.CutPrefix(part, "{"); isParam {
			params[strings.TrimSuffix(name, "}")] = value
		} else if part != given[i] || err != nil {
			return nil, false
		}
	}
	return params, true
}

// query leaves out empty parameters, which count as absent.
func query(u *url.URL) url.Values {
	values := u.Query()
	for name := range values {
		if values.Get(name) == "" {
			values.Del(name)
		}
	}
	return values
}

// refusesItems reports whether a batch was accepted although the document doesn't allow one of its items, which was refused.
func refusesItems(got answer) bool { return strings.Contains(got.body, `"problem":{`) }

// isLenient reports whether the API accepts a request that the document doesn't allow.
func isLenient(r *http.Request) bool {
	size := r.URL.Query().Get("per_page")
	return r.Header.Get("Content-Type") == "" || // a body without a type
		strings.HasSuffix(r.URL.Path, "/redeem") || // whatever a body is that names no sale
		len(size) > 18 // a number above int64, treated as 100
}
