package importing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/importing"
)

// An import reads external IDs, and finds customers and rows that repeat one. Existing customers stay as they are.
func TestImportOfExternalIDs(t *testing.T) {
	t.Parallel()
	o := officeIn(t, dbtest.OwnDB(t))
	known := o.made("070 174 06 05", nil)
	i := o.uploaded(lines(
		"Name;Phone;External ID",
		"Anna Lindqvist;070 174 06 05;wc-1",
		"Bo Ek;070 174 06 06;wc-2",
		"Bob Ek;070 174 06 07;wc-2",
	))
	p := o.preview(i.ID)
	if want := []importing.Field{importing.FullNameField, importing.PhoneField, importing.ExternalIDField}; !cmp.Equal(want, p.Columns) {
		t.Fatalf("guessed: %v", p.Columns)
	}
	i = o.checkedAs(i.ID, p.Mapping)
	wantCounts(t, i, importing.Checked, counts{Rows: 3, Done: 3, Created: 1, Found: 1, Repeated: 1})
	i = o.worked(o.running(i.ID))
	wantCounts(t, i, importing.Done, counts{Rows: 3, Done: 3, Created: 1, Found: 2})
	if diff := cmp.Diff(known, o.find(known.ID)); diff != "" {
		t.Errorf("who was there has changed:\n%s", diff)
	}
	if bo := o.upsert("070 174 06 06", nil); bo.Created || core.OrZero(bo.ExternalID) != "wc-2" {
		t.Errorf("imported: %+v", bo)
	}
	o.Verify()
}

// A row without a phone number needs an e-mail address, and is an error where phone numbers are required.
func TestImportWithoutPhoneNumbers(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	file := lines("name,email", "Greta Nyman,greta@example.com", "Gus Ek,")
	i := o.uploaded(file)
	m := o.preview(i.ID).Mapping
	if _, err := o.Imports.Check(t.Context(), o.By, i.ID, m); err == nil {
		t.Fatal("a file without phone numbers was checked")
	}
	o.Exec("update loyalty.tenant set phone_optional = true where id = $1", o.By.Tenant.ID)
	o.By.Tenant.PhoneOptional = true
	i = o.checkedAs(i.ID, m)
	wantCounts(t, i, importing.Checked, counts{Rows: 2, Done: 2, Created: 1, Failed: 1})
	if diff := cmp.Diff([]importing.Problem{bad(3, "email", "", core.RequiredWithout("phone"))}, o.problems(i.ID)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	wantCounts(t, o.worked(o.running(i.ID)), importing.Done, counts{Rows: 2, Done: 2, Created: 1, Failed: 1})
	if diff := cmp.Diff([]string{"Greta Nyman  greta@example.com 0 0"}, o.everybody()); diff != "" {
		t.Errorf("customers (-want +got):\n%s", diff)
	}
}
