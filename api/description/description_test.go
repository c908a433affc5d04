package description_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"example.com/loyalty/api/description"
)

func TestParseReadsTheDocument(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	d, err := description.Parse(content)
	if err != nil {
		t.Fatal(err)
	}
	var generic struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(content, &generic); err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, methods := range generic.Paths {
		want += len(methods)
		if methods["parameters"] != nil {
			want--
		}
	}
	if len(d.Operations) != want || want == 0 {
		t.Errorf("%d operations, want %d", len(d.Operations), want)
	}
	for _, op := range d.Operations {
		if op.Summary == "" || op.Tag == "" || len(op.Responses) == 0 || op.Method == "POST" && op.Path == "/api/v1/transactions" && op.Body.Name() != "NewTransaction" {
			t.Errorf("read incompletely: %+v", op)
		}
		for _, p := range op.Parameters {
			if p.Name == "" || p.Schema == nil {
				t.Errorf("%s has an unresolved parameter: %+v", op.ID, p)
			}
		}
	}
	sale, found := d.Schemas.Find("Transaction")
	if !found || sale.Properties[0].Name != "ulid" || sale.Properties[len(sale.Properties)-1].Name != "items" {
		t.Errorf("the fields of a transaction are out of order: %+v", sale)
	}
	reference, _ := sale.Properties.Find("external_reference")
	if !reference.Nullable() || reference.Kind() != "string" || !slices.Contains(sale.Required, "external_reference") {
		t.Errorf("external_reference: %+v", reference)
	}
}

func TestParseRefusesAnotherShape(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "[]", `{"paths":[]}`, `{"paths":{"/x":{"get":[]}}}`, `{"paths":{"/x":{"parameters":{}}}}`} {
		if d, err := description.Parse([]byte(content)); err == nil {
			t.Errorf("Parse(%q) = %+v, want an error", content, d)
		}
	}
}
