package api_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/loyalty/core/dbtest"
)

// extras is the end of a customer with a program's own fields.
func extras(id, metadata, tags string) string {
	return `<anything>"external_id":` + id + `,"metadata":` + metadata + `,"tags":` + tags + `<anything>`
}

// ulidOf returns the ULID of a record.
func ulidOf(got answer) string {
	_, rest, _ := strings.Cut(got.body, `"ulid":"`)
	ulid, _, _ := strings.Cut(rest, `"`)
	return ulid
}

// A program finds customers by its own ID and keeps fields and tags of its own. PATCH changes the keys of metadata that it
// names (RFC 7396) and replaces tags.
func TestAProgramsFields(t *testing.T) {
	t.Parallel()
	proves(t, "Of `metadata`, it changes the keys that it names (RFC 7396).")
	s := newShop(t)
	call := func(method, path, body string, status int, want string) answer {
		t.Helper()
		got := s.call(method, "/api/v1/customers"+path, s.token, body)
		got.is(t, status, s.fill(want))
		return got
	}
	const dora = `"first_name":"Dora","last_name":"Gran","phone":"070 174 06 09"`
	call("POST", "", `{`+dora+`,"external_id":"wc-1","metadata":{"shop":"web","none":null},"tags":["Regular","regular","VIP"]}`, 201,
		extras(`"wc-1"`, `{"shop":"web"}`, `["Regular","VIP"]`))
	id := ulidOf(call("POST", "", `{"first_name":"D","last_name":"G","phone":"112","external_id":" wc-1","metadata":{"shop":"other"},"tags":[]}`, 200,
		extras(`"wc-1"`, `{"shop":"web"}`, `["Regular","VIP"]`)))
	call("GET", "?external_id=wc-1", "", 200, `<anything>"ulid":"`+id+extras(`"wc-1"`, `{"shop":"web"}`, `["Regular","VIP"]`))
	call("GET", "?external_id=WC-1", "", 200, `{"data":[],<anything>`)
	call("PATCH", "/"+id, `{"metadata":{"shop":null,"size":"XL"},"tags":["vip"],"external_id":"wc-2"}`, 200, extras(`"wc-2"`, `{"size":"XL"}`, `["VIP"]`))
	call("PATCH", "/"+id, `{"last_name":"Grön"}`, 200, extras(`"wc-2"`, `{"size":"XL"}`, `["VIP"]`))
	call("PATCH", "/"+id, `{"metadata":null,"tags":null,"external_id":null}`, 200, extras(`null`, `{}`, `[]`))
	call("GET", "/"+id, "", 200, extras(`null`, `{}`, `[]`))

	many := make([]string, 21)
	for i := range many {
		many[i] = fmt.Sprintf(`"%d":"x"`, i)
	}
	for body, want := range map[string]string{
		`"external_id":1,"metadata":[],"tags":"VIP"`:             `"external_id":["The external id field must be a string."],"metadata":["The metadata field must be an object."],"tags":["The tags field must be an array."]`,
		`"metadata":{"size":1},"tags":["a",2]`:                   `"metadata.size":["The metadata.size field must be a string."],"tags.1":["The tags.1 field must be a string."]`,
		`"metadata":{"":"x"}`:                                    `"metadata":["The metadata field must only have keys of 1 to 40 characters."]`,
		`"metadata":{` + strings.Join(many, ",") + `}`:           `"metadata":["The metadata field must not have more than 20 items."]`,
		`"metadata":{"size":"` + strings.Repeat("x", 501) + `"}`: `"metadata.size":["The metadata.size field must not be greater than 500 characters."]`,
		`"external_id":"` + strings.Repeat("x", 101) + `"`:       `"external_id":["The external id field must not be greater than 100 characters."]`,
		`"tags":["` + strings.Repeat("y", 31) + `"]`:             `"tags.0":["The tags.0 field must not be greater than 30 characters."]`,
	} {
		call("PATCH", "/"+id, `{`+body+`}`, 422, invalid(want))
		call("POST", "", `{"first_name":"E","last_name":"F","phone":"113",`+body+`}`, 422, invalid(want))
	}
	call("POST", "", `{"first_name":"E","last_name":"F","phone":"113","external_id":"wc-9"}`, 201, extras(`"wc-9"`, `{}`, `[]`))
	call("PATCH", "/"+id, `{"external_id":"wc-9"}`, 422, invalid(`"external_id":["The external id has already been taken."]`))

	// Another business has these IDs for itself.
	stranger := s.stranger()
	got := stranger.call("GET", "/api/v1/customers?external_id=wc-9", stranger.token, "")
	got.is(t, 200, `{"data":[],<anything>`)
	stranger.call("PATCH", "/api/v1/customers/"+id, stranger.token, `{"external_id":"x","metadata":{"a":"b"},"tags":["a"]}`).is(t, 404, notFound)
}

// Where the business allows it, a customer has an e-mail address and no phone number, which is "" then.
func TestCustomersByEmailAlone(t *testing.T) {
	t.Parallel()
	proves(t, "A business may allow customers with an `email` and no `phone` (section 14).")
	s := newShop(t)
	call := func(method, path, body string, status int, want string) answer {
		t.Helper()
		got := s.call(method, "/api/v1/customers"+path, s.token, body)
		got.is(t, status, s.fill(want))
		return got
	}
	const greta = `{"first_name":"Greta","last_name":"Nyman","email":"greta@example.com"}`
	call("POST", "", greta, 422, invalid(`"phone":["The phone field is required."]`))
	s.Exec("update loyalty.tenant set phone_optional = true where id = $1", s.By.Tenant.ID)
	dbtest.Tick(s.db)
	call("POST", "", `{"first_name":"Greta","last_name":"Nyman"}`, 422, invalid(`"email":["The email field is required when phone is not present."]`))
	call("POST", "", greta, 201, made("Greta", "Nyman", "", `"greta@example.com"`))
	id := ulidOf(call("POST", "", strings.Replace(greta, "Greta", "G", 1), 200, made("Greta", "Nyman", "", `"greta@example.com"`)))
	call("PATCH", "/"+id, `{"email":null}`, 422, invalid(`"email":["The email field is required when phone is not present."]`))
	call("PATCH", "/"+id, `{"phone":"070 174 06 09"}`, 200, `<anything>"phone":"070 174 06 09"<anything>`)
	call("PATCH", "/"+id, `{"phone":null}`, 200, `<anything>"phone":"","email":"greta@example.com"<anything>`)
	s.Exec("update loyalty.tenant set phone_optional = false where id = $1", s.By.Tenant.ID)
	call("GET", "/"+id, "", 200, `<anything>"phone":"","email":"greta@example.com","status":"active"<anything>`)
}
