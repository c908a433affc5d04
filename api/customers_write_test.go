package api_test

import (
	"regexp"
	"strings"
	"sync"
	"testing"
)

const (
	upserts = "| POST | /api/v1/customers | customers:write | `first_name`, `last_name`, `phone` (string, at most 30 chars), optional `email`. | `data`: customer. " +
		"Upsert: when the phone or e-mail already matches a customer, that customer is returned and none is created. The response has the same shape whether created or found. |"
	byPhoneFirst = "Upsert finds by `external_id` first, then by phone, then by e-mail, and changes nothing but an `external_id` that is still empty: 201 created, 200 found."
	allRequired  = "`first_name`, `last_name`, `phone` are required on create."
	wrongType    = "Wrong JSON type of a field: 422 on it; every failing field is reported at once."
	wording      = "Validation messages use Laravel's present wording, attribute names with spaces: \"The first name field is required.\", \"The phone field must not be greater than 30 characters.\", " +
		"\"The email field must be a valid email address.\", \"The spend amount cents field must be an integer.\", \"The spend amount cents field must be at least 0.\", " +
		"\"The selected customer ulid is invalid.\", \"The phone has already been taken.\"."
	phoneTooLong = "| 422 | Validation Error | `The given data was invalid.` plus `errors` | Field validation failed (for example a bad e-mail, or a phone longer than 30 characters). |"
	nulText      = "`\\u0000` in text is 422 on the field; invalid UTF-8 is 400."
	keptPhones   = "Phone numbers are kept as written and compared by a stored key (E.164 by the tenant's country, and the extension; at least three digits or 422); e-mail by a stored key, whatever its capitals."
	created      = "201 for: customer created by upsert, transaction, redemption, token, tenant."
	patches      = "PATCH: absent keeps, null clears `email`, `external_id`, `metadata` and `tags`, other nulls are 422."
)

// made is the JSON of a customer just added.
func made(first, last, phone, email string) string {
	return one(`{"ulid":"<ulid>","first_name":"` + first + `","last_name":"` + last + `","phone":"` + phone + `","email":` + email +
		`,"status":"active","points_balance":0,"stamps_balance":0,"created_at":"<time>","updated_at":"<time>",` + plainRest + `}`)
}

// customers checks the number of customers afterwards.
func customers(want int) func(*shop, answer) {
	return func(s *shop, _ answer) {
		s.T.Helper()
		if got := s.rows("customer"); got != want {
			s.T.Errorf("%d customers, want %d", got, want)
		}
	}
}

func TestUpsertCustomer(t *testing.T) {
	annaOnly := func(s *shop) { s.fill("{anna}") }
	runScenarios(t, []scenario{
		{
			says: upserts, with: "created", method: "POST", path: "/customers", auth: "customers:write",
			body:   `{"first_name":"Dora","last_name":"Gran","phone":"070 174 06 09","email":"dora@example.com"}`,
			status: 201, want: made("Dora", "Gran", "070 174 06 09", `"dora@example.com"`), after: customers(1),
		},
		{
			says: upserts, with: "without an e-mail", method: "POST", path: "/customers",
			body:   `{"first_name":"Dora","last_name":"Gran","phone":"070 174 06 09"}`,
			status: 201, want: made("Dora", "Gran", "070 174 06 09", `null`), after: customers(1),
		},
		{
			says: upserts, with: "found by phone", method: "POST", path: "/customers", before: annaOnly,
			body:   `{"first_name":"Someone","last_name":"Else","phone":"+46 70 174 06 05","email":"new@example.com"}`,
			status: 200, want: one(annaIs), after: customers(1),
		},
		{
			says: upserts, with: "found by a number as a spreadsheet writes it", method: "POST", path: "/customers", before: annaOnly,
			body:   `{"first_name":"Someone","last_name":"Else","phone":"=\"0701740605\""}`,
			status: 200, want: one(annaIs), after: customers(1),
		},
		{
			says: allRequired, with: "two numbers", method: "POST", path: "/customers", before: annaOnly,
			body:   `{"first_name":"Someone","last_name":"Else","phone":"070-174 06 05 / 070-174 06 06"}`,
			status: 422, want: invalid(`"phone":["The phone field must be one phone number."]`), after: customers(1),
		},
		{
			says: allRequired, with: "a rounded number", method: "POST", path: "/customers", before: annaOnly,
			body:   `{"first_name":"Someone","last_name":"Else","phone":"4.67E+10"}`,
			status: 422, want: invalid(`"phone":["The phone field must be a phone number with all its digits."]`), after: customers(1),
		},
		{
			says: upserts, with: "found by e-mail", method: "POST", path: "/customers", before: annaOnly,
			body:   `{"first_name":"Someone","last_name":"Else","phone":"0701740600","email":"ANNA@EXAMPLE.COM"}`,
			status: 200, want: one(annaIs), after: customers(1),
		},
		{
			says: byPhoneFirst, with: "the phone is Bo's, the e-mail Anna's", method: "POST", path: "/customers",
			before: annaAndBo, body: `{"first_name":"A","last_name":"B","phone":"+46812345678","email":"anna@example.com"}`,
			status: 200, want: one(boIs), after: customers(2),
		},
		{
			says: created, method: "POST", path: "/customers",
			body: `{"first_name":"Åsa","last_name":"<&>","phone":"112"}`, status: 201, want: made("Åsa", "<&>", "112", "null"),
		},
		{says: "200 for: customer found,", method: "POST", path: "/customers", before: func(s *shop) { s.fill("{inactive}") }, body: `{"first_name":"A","last_name":"B","phone":"0701740699"}`, status: 200, want: one(inactiveIs)},
		{
			says: "Unknown body fields are ignored.", method: "POST", path: "/customers",
			body:   `{"first_name":"A","last_name":"B","phone":"112","status":"inactive","id":1,"x":[{"y":null}],"Email":"E@example.com"}`,
			status: 201, want: made("A", "B", "112", "null"),
		},
		{says: allRequired, with: "absent", method: "POST", path: "/customers", body: `{}`, status: 422, want: invalid(`"first_name":["The first name field is required."],"last_name":["The last name field is required."],"phone":["The phone field is required."]`), after: customers(0)},
		{says: allRequired, with: "null", method: "POST", path: "/customers", body: `{"first_name":null,"last_name":null,"phone":null,"email":null}`, status: 422, want: invalid(`"first_name":["The first name field is required."],"last_name":["The last name field is required."],"phone":["The phone field is required."]`)},
		{says: allRequired, with: "blank", method: "POST", path: "/customers", body: `{"first_name":"","last_name":" \t ","phone":"\u00a0","email":""}`, status: 422, want: invalid(`"first_name":["The first name field is required."],"last_name":["The last name field is required."],"phone":["The phone field is required."]`)},
		{
			says: wrongType, method: "POST", path: "/customers", body: `{"first_name":1,"last_name":["x"],"phone":46701740605,"email":{"a":1}}`,
			status: 422, want: invalid(`"email":["The email field must be a string."],"first_name":["The first name field must be a string."],"last_name":["The last name field must be a string."],"phone":["The phone field must be a string."]`),
		},
		{says: wrongType, with: "beside other mistakes", method: "POST", path: "/customers", body: `{"first_name":true,"phone":"x","email":"y"}`, status: 422, want: invalid(`"email":["The email field must be a valid email address."],"first_name":["The first name field must be a string."],"last_name":["The last name field is required."],"phone":["The phone field must be a valid phone number."]`)},
		{
			says: wording, method: "POST", path: "/customers", body: `{"last_name":"B","phone":"` + strings.Repeat("0", 31) + `","email":"invalid"}`,
			status: 422, want: invalid(`"email":["The email field must be a valid email address."],"first_name":["The first name field is required."],"phone":["The phone field must not be greater than 30 characters."]`),
		},
		{says: phoneTooLong, with: "a phone of 31", method: "POST", path: "/customers", body: `{"first_name":"A","last_name":"B","phone":"` + strings.Repeat("1", 31) + `"}`, status: 422, want: invalid(`"phone":["The phone field must not be greater than 30 characters."]`)},
		{says: phoneTooLong, with: "a bad e-mail", method: "POST", path: "/customers", body: `{"first_name":"A","last_name":"B","phone":"112","email":"a b@example.com"}`, status: 422, want: invalid(`"email":["The email field must be a valid email address."]`), after: customers(0)},
		{says: "| Customer `phone` | at most 30 characters |", with: "characters, not bytes", method: "POST", path: "/customers", body: `{"first_name":"A","last_name":"B","phone":"070–` + strings.Repeat("1", 26) + `","email":null}`, status: 201, want: made("A", "B", "070–"+strings.Repeat("1", 26), "null")},
		{says: "| Customer `phone` | at most 30 characters |", with: "30 pass", method: "POST", path: "/customers", body: `{"first_name":"A","last_name":"B","phone":"` + strings.Repeat("1", 30) + `"}`, status: 201, want: made("A", "B", strings.Repeat("1", 30), "null")},
		{says: "Names at most 100 characters.", with: "100 characters, not bytes, pass", method: "POST", path: "/customers", body: `{"first_name":"` + strings.Repeat("Ö", 100) + `","last_name":"B","phone":"112"}`, status: 201, want: made(strings.Repeat("Ö", 100), "B", "112", "null")},
		{says: "Names at most 100 characters.", with: "101 do not", method: "POST", path: "/customers", body: `{"first_name":"` + strings.Repeat("a", 101) + `","last_name":"` + strings.Repeat("Ö", 101) + `","phone":"112"}`, status: 422, want: invalid(`"first_name":["The first name field must not be greater than 100 characters."],"last_name":["The last name field must not be greater than 100 characters."]`)},
		{says: nulText, with: "NUL", method: "POST", path: "/customers", body: `{"first_name":"A\u0000","last_name":"\u0000","phone":"1\u000012","email":"a@\u0000.com"}`, status: 422, want: invalid(`"email":["The email field must not contain NUL characters."],"first_name":["The first name field must not contain NUL characters."],"last_name":["The last name field must not contain NUL characters."],"phone":["The phone field must not contain NUL characters."]`)},
		{says: nulText, with: "UTF-8", method: "POST", path: "/customers", body: "{\"first_name\":\"A\xff\",\"last_name\":\"B\",\"phone\":\"112\"}", status: 400, want: badRequest, after: customers(0)},
		{says: keptPhones, with: "as written", method: "POST", path: "/customers", body: `{"first_name":"A","last_name":"B","phone":" 070/174.06 05 "}`, status: 201, want: made("A", "B", "070/174.06 05", "null")},
		{says: keptPhones, with: "compared by E.164", method: "POST", path: "/customers", before: annaOnly, body: `{"first_name":"A","last_name":"B","phone":"0046701740605"}`, status: 200, want: one(annaIs)},
		{says: keptPhones, with: "two digits", method: "POST", path: "/customers", body: `{"first_name":"A","last_name":"B","phone":"1-2"}`, status: 422, want: invalid(`"phone":["The phone field must be a valid phone number."]`)},
		{says: keptPhones, with: "three digits", method: "POST", path: "/customers", body: `{"first_name":"A","last_name":"B","phone":"1-2-3"}`, status: 201, want: made("A", "B", "1-2-3", "null")},
		{says: "No body where one is needed, a body that is not a JSON object, or trailing garbage: 400.", with: "none", method: "POST", path: "/customers", status: 400, want: badRequest},
		{says: "| email | string or null | Must be a valid e-mail address when sent. Used to match existing customers on upsert. |", method: "POST", path: "/customers", body: `{"first_name":"A","last_name":"B","phone":"112","email":"Anna <anna@example.com>"}`, status: 422, want: invalid(`"email":["The email field must be a valid email address."]`)},
		{
			says: "A tenant token reaches only its own tenant's data.", with: "the same phone in another tenant", method: "POST", path: "/customers",
			before: func(s *shop) { s.fill("{foreign_anna}") },
			body:   `{"first_name":"Anna","last_name":"Lindqvist","phone":"070-174 06 05","email":"Anna@example.com"}`,
			status: 201, want: made("Anna", "Lindqvist", "070-174 06 05", `"Anna@example.com"`), after: customers(1),
		},
	})
}

func TestConcurrentUpsertsAddOneCustomer(t *testing.T) {
	t.Parallel()
	proves(t, "Both keys are unique in a tenant.", "POST /customers is idempotent through upsert.")
	s := newShop(t)
	var made sync.Map
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			got, err := s.try(t.Context(), "POST", "/api/v1/customers", s.token, strings.NewReader(`{"first_name":"A","last_name":"B","phone":"0701740605"}`))
			if err != nil {
				t.Error(err)
			}
			made.Store(got.status, got.body)
		})
	}
	all.Wait()
	created, _ := made.Load(201)
	found, _ := made.Load(200)
	if created == nil || created != found || s.rows("customer") != 1 {
		t.Errorf("created %v, found %v; %d customers", created, found, s.rows("customer"))
	}
}

func TestEditCustomer(t *testing.T) {
	with := func(old, now string) string { return one(strings.Replace(annaIs, old, now, 1)) }
	const edits = "| PATCH | /api/v1/customers/{ulid} | customers:write | Fields to update. | Customer. |"
	const fields = "PATCH takes `first_name, last_name, phone, email, status, external_id, metadata, tags`."
	const erased = "Erased: names `Erased`, phone `\"\"`, e-mail null, inactive, keys null; the ledger stays."
	const erasedIs = `{"ulid":"{erased}","first_name":"Erased","last_name":"Erased","phone":"","email":null,` +
		`"status":"inactive","points_balance":0,"stamps_balance":0,"created_at":"<time>","updated_at":"<time>",` + plainRest + `}`
	runScenarios(t, []scenario{
		{says: edits, method: "PATCH", path: "/customers/{anna}", auth: "customers:write", body: `{"last_name":"Ek"}`, status: 200, want: with("Lindqvist", "Ek")},
		{
			says: fields, also: []string{"Fields accepted by PATCH /api/v1/customers/{ulid}"}, method: "PATCH", path: "/customers/{anna}",
			body:   `{"first_name":"Bo","last_name":"Ek","phone":"112","email":"bo@example.com","status":"inactive","points_balance":1000000,"ulid":"{missing}"}`,
			status: 200, want: strings.NewReplacer("Anna", "Bo", "Lindqvist", "Ek", "070-174 06 05", "112", "active", "inactive").Replace(
				strings.Replace(one(annaIs), "Anna@", "bo@", 1)),
		},
		{says: "PATCH.", with: "answers 200", method: "PATCH", path: "/customers/{anna}", body: `{}`, status: 200, want: one(annaIs)},
		{says: patches, with: "absent keeps", method: "PATCH", path: "/customers/{anna}", body: `{"status":"active","unknown":null}`, status: 200, want: one(annaIs)},
		{says: patches, with: "null clears the e-mail", method: "PATCH", path: "/customers/{anna}", body: `{"email":null}`, status: 200, want: with(`"Anna@example.com"`, "null")},
		{says: patches, with: "other nulls", method: "PATCH", path: "/customers/{anna}", body: `{"first_name":null,"last_name":null,"phone":null,"status":null}`, status: 422, want: invalid(`"first_name":["The first name field is required."],"last_name":["The last name field is required."],"phone":["The phone field is required."],"status":["The status field is required."]`)},
		{says: wrongType, with: "in a patch", method: "PATCH", path: "/customers/{anna}", body: `{"first_name":[],"phone":{},"email":1,"status":false}`, status: 422, want: invalid(`"email":["The email field must be a string."],"first_name":["The first name field must be a string."],"phone":["The phone field must be a string."],"status":["The status field must be a string."]`)},
		{says: "| Customer `phone` | at most 30 characters |", with: "in a patch", method: "PATCH", path: "/customers/{anna}", body: `{"phone":"` + strings.Repeat("1", 31) + `"}`, status: 422, want: invalid(`"phone":["The phone field must not be greater than 30 characters."]`)},
		{says: fields, with: "unknown status", method: "PATCH", path: "/customers/{anna}", body: `{"status":"gone"}`, status: 422, want: invalid(`"status":["The selected status is invalid."]`)},
		{says: wording, with: "a phone that is Bo's", method: "PATCH", path: "/customers/{anna}", before: annaAndBo, body: `{"phone":"08-123 456 78"}`, status: 422, want: invalid(`"phone":["The phone has already been taken."]`)},
		{says: wording, with: "an e-mail that is Anna's", method: "PATCH", path: "/customers/{bo}", before: annaAndBo, body: `{"email":"ANNA@example.com"}`, status: 422, want: invalid(`"email":["The email has already been taken."]`)},
		{says: erased, method: "GET", path: "/customers/{erased}", status: 200, want: one(erasedIs)},
		{says: erased, with: "and stays so", method: "PATCH", path: "/customers/{erased}", body: `{"first_name":"Cleo","status":"active"}`, status: 422, want: refused("customer-erased", "This customer was erased and cannot be changed.")},
		{says: keptPhones, with: "one's own phone, written otherwise", method: "PATCH", path: "/customers/{anna}", body: `{"phone":"+46701740605"}`, status: 200, want: with("070-174 06 05", "+46701740605")},
		{says: "ULIDs are read in either case, written in upper case.", with: "in a patch", method: "PATCH", path: "/customers/{anna_lower}", body: `{}`, status: 200, want: one(annaIs)},
		{says: "A record of another tenant answers byte for byte like a missing one.", with: "in a patch", method: "PATCH", path: "/customers/{foreign_anna}", body: `{"first_name":"Mine"}`, status: 404, want: notFound},
	})
}

// A successful edit changes updated_at and is logged.
func TestRefusedEditChangesNothing(t *testing.T) {
	t.Parallel()
	proves(t, "+ `updated_at`")
	s := newShop(t)
	s.fill("{anna}")
	s.change("customer", "created_at = '2020-01-01T00:00:00Z', updated_at = '2020-01-01T00:00:00Z'")
	before := s.everything()
	s.call("PATCH", "/api/v1/customers/{anna}", s.token, `{"first_name":"X","phone":"x"}`)
	got := s.call("GET", "/api/v1/customers/{anna}", s.token, "")
	if !strings.Contains(got.body, `"first_name":"Anna"`) || !strings.Contains(got.body, `"updated_at":"2020-01-01T00:00:00.000Z"`) || s.everything() != before {
		t.Errorf("after a refused edit: %s; %s, before %s", got.body, s.everything(), before)
	}
	s.call("PATCH", "/api/v1/customers/{anna}", s.token, `{"first_name":"X"}`)
	got = s.call("GET", "/api/v1/customers/{anna}", s.token, "")
	if strings.Contains(got.body, `"updated_at":"2020`) || !strings.Contains(got.body, `"created_at":"2020-01-01T00:00:00.000Z"`) {
		t.Errorf("after an edit: %s", got.body)
	}
}

// A birthday is a day of the year, with the year or without, also 29 February.
func TestABirthday(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	const person = `{"first_name":"Anna","last_name":"Lindqvist","phone":"070-174 06 05"`
	s.call("POST", "/api/v1/customers", s.token, person+`,"birthday":"02-30"}`).has(t, 422, `"birthday":["The birthday field must be a birthday such as 05-21 or 1990-05-21."]`)
	s.call("POST", "/api/v1/customers", s.token, person+`,"birthday":521}`).has(t, 422, `"birthday":["The birthday field must be a string."]`)
	s.call("POST", "/api/v1/customers", s.token, person+`,"birthday":"2199-05-21"}`).has(t, 422, `"birthday":["The birthday field must not be in the future."]`)
	made := s.call("POST", "/api/v1/customers", s.token, person+`,"birthday":"02-29"}`)
	made.has(t, 201, `"birthday":"02-29"`)
	path := "/api/v1/customers/" + regexp.MustCompile(`"ulid":"(\w+)"`).FindStringSubmatch(made.body)[1]
	s.call("PATCH", path, s.token, `{"birthday":"1990-05-21"}`).has(t, 200, `"birthday":"1990-05-21"`)
	s.call("PATCH", path, s.token, `{"last_name":"Berg"}`).has(t, 200, `"birthday":"1990-05-21"`)
	s.call("POST", "/api/v1/customers", s.token, person+`,"birthday":"01-01"}`).has(t, 200, `"birthday":"1990-05-21"`) // found, so unchanged
	s.call("PATCH", path, s.token, `{"birthday":null}`).has(t, 200, `"birthday":null`)
	s.call("GET", path, s.token, "").has(t, 200, `"birthday":null`)
	s.call("POST", "/api/v1/customers/batch", s.token, `{"items":[{"first_name":"Bo","last_name":"Ek","phone":"0701740601","birthday":"12-24"}]}`).has(t, 200, `"birthday":"12-24"`)
}
