package docs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/loyalty/api/description"
	"example.com/loyalty/web/webtest"
)

// collection is what Postman's format 2.1 has of what we use: with another field, it isn't read.
type (
	collection struct {
		Info struct{ Name, Description, Version, Schema string }
		Auth struct {
			Type   string
			Bearer []value
		}
		Variable []value
		Item     []struct {
			Name, Description string
			Item              []item
		}
	}
	item struct {
		Name  string
		Event []struct {
			Listen string
			Script struct {
				Type string
				Exec []string
			}
		}
		Request struct {
			Method, Description string
			Header              []value
			Body                *struct {
				Mode, Raw string
				Options   struct{ Raw struct{ Language string } }
			}
			URL struct {
				Raw             string
				Host, Path      []string
				Query, Variable []value
			}
		}
	}
	value struct {
		Key, Value, Description string
		Disabled                bool
	}
)

// The collection has every request of the document with its parameters and an example of its body. All that a request
// refers to is a variable, whose first value is an example.
func TestPostmanCollection(t *testing.T) {
	t.Parallel()
	got := newSite(t).Ask(http.MethodGet, "/docs/postman.json")
	if got.Code != http.StatusOK || got.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("%d %v", got.Code, got.Header())
	}
	var c collection
	d := json.NewDecoder(got.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		t.Fatal(err)
	}
	if c.Info.Schema != "https://schema.getpostman.com/json/collection/v2.1.0/collection.json" || c.Info.Name == "" || c.Auth.Type != "bearer" ||
		!slices.Equal(c.Auth.Bearer, []value{{Key: "token", Value: "{{token}}"}}) {
		t.Errorf("%+v %+v", c.Info, c.Auth)
	}
	variables := map[string]string{}
	for _, v := range c.Variable {
		if variables[v.Key] = v.Value; v.Value == "" && v.Key != "token" {
			t.Errorf("the variable %s has no first value", v.Key)
		}
	}
	if variables["base_url"] != webtest.Base {
		t.Errorf("the address is %s", variables["base_url"])
	}
	// fill returns a text with the values of its variables.
	fill := func(text string) string {
		return regexp.MustCompile(`{{([^}]+)}}`).ReplaceAllStringFunc(text, func(name string) string {
			name = strings.Trim(name, "{}")
			if name == "$guid" {
				return "5f3c1a52-7d0e-4d0f-9a0b-2f6b8c1d4e7a"
			}
			if _, found := variables[name]; !found {
				t.Errorf("nothing sets the variable %s", name)
			}
			return variables[name]
		})
	}
	requests := map[string]item{}
	for _, folder := range c.Item {
		for _, i := range folder.Item {
			path := "/" + strings.Join(i.Request.URL.Path, "/")
			if i.Request.URL.Raw != "{{base_url}}"+path || !slices.Equal(i.Request.URL.Host, []string{"{{base_url}}"}) {
				t.Errorf("%s leads to %+v", i.Name, i.Request.URL)
			}
			for _, v := range i.Request.URL.Variable {
				path = strings.Replace(path, ":"+v.Key, "{"+v.Key+"}", 1)
				if fill(v.Value) == "" {
					t.Errorf("%s has no %s", i.Name, v.Key)
				}
			}
			requests[i.Request.Method+" "+path] = i
		}
	}
	api, err := description.Parse(openapi(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range api.Operations {
		name := op.Method + " " + op.Path
		i, found := requests[name]
		if delete(requests, name); !found {
			t.Errorf("%s is missing", name)
			continue
		}
		if i.Name != op.Summary || i.Request.Description != op.Description {
			t.Errorf("%s is %s", name, i.Name)
		}
		for _, p := range op.Parameters {
			list := map[string][]value{"path": i.Request.URL.Variable, "query": i.Request.URL.Query, "header": i.Request.Header}[p.In]
			at := slices.IndexFunc(list, func(v value) bool { return v.Key == p.Name })
			if at < 0 || list[at].Value == "" || p.In == "query" && list[at].Disabled == p.Required {
				t.Errorf("%s: the parameter %s is %+v", name, p.Name, list)
			}
		}
		if (op.Body != nil) != (i.Request.Body != nil) {
			t.Errorf("%s has the body %+v", name, i.Request.Body)
		}
		if op.Body != nil {
			var sent map[string]any
			if err := json.Unmarshal([]byte(fill(i.Request.Body.Raw)), &sent); err != nil || len(sent) == 0 {
				t.Errorf("%s: %v: %s", name, err, i.Request.Body.Raw)
			}
		}
	}
	for name := range requests {
		t.Errorf("%s isn't a request of the API", name)
	}
}

// What is added to a business by one request is what the next one is about: a sale is of the customer that was added.
func TestPostmanKeepsRecords(t *testing.T) {
	t.Parallel()
	content := newSite(t).Ask(http.MethodGet, "/docs/postman.json").Body.Bytes()
	var c collection
	if err := json.NewDecoder(bytes.NewReader(content)).Decode(&c); err != nil {
		t.Fatal(err)
	}
	sets, uses := map[string]bool{}, map[string]string{}
	for _, folder := range c.Item {
		for _, i := range folder.Item {
			for _, v := range i.Request.URL.Variable {
				uses[v.Value] = i.Name
			}
			if i.Request.Body != nil {
				for _, name := range regexp.MustCompile(`{{\w+}}`).FindAllString(i.Request.Body.Raw, -1) {
					uses[name] = i.Name
				}
			}
			for _, e := range i.Event {
				found := regexp.MustCompile(`pm\.collectionVariables\.set\('(\w+)', record\.(ulid|id)\)`).FindStringSubmatch(strings.Join(e.Script.Exec, "\n"))
				if e.Listen != "test" || found == nil || !strings.HasSuffix(found[1], "_"+found[2]) {
					t.Errorf("%s: %+v", i.Name, e)
					continue
				}
				sets["{{"+found[1]+"}}"] = true
			}
		}
	}
	for name, user := range uses {
		if name == "{{plan_id}}" || name == "{{transaction_type_id}}" || name == "{{location_id}}" {
			continue // chosen by hand, or listed
		}
		if !sets[name] {
			t.Errorf("%s uses %s, which no response sets", user, name)
		}
	}
	if want := "{{customer_ulid}} {{voucher_ulid}} {{reward_ulid}}"; len(uses) == 0 || !sets[strings.Fields(want)[0]] {
		t.Error(fmt.Sprint(uses))
	}
}
