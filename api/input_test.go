package api_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/api"
)

// raw sends bytes that an HTTP client wouldn't. It adds Host and Authorization to the head.
func (s *shop) raw(t *testing.T, head, body string) answer {
	t.Helper()
	conn, err := tls.Dial("tcp", s.address, &tls.Config{InsecureSkipVerify: true, ServerName: domain})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	s.must(nil, conn.SetDeadline(time.Now().Add(20*time.Second)))
	s.must(io.WriteString(conn, head+"Host: "+domain+"\r\nAuthorization: Bearer "+s.token+"\r\n\r\n"+body))
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%.100s: %v", head, err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, string(text)}
}

// Invalid input gets a 4xx problem, and nothing is written.
func TestInvalidInput(t *testing.T) {
	t.Parallel()
	proves(t, noObject, nulText, integers, largeBody,
		"| 400 | Error | `An error occurred.` | Malformed request, e.g. invalid JSON. |")
	s := newShop(t)
	s.fill("{anna}{points}{sale}")
	s.call("GET", "/api/v1/tokens", s.token, "")
	before := s.state()
	huge := strings.Repeat("x", api.MaxBody-100)
	deep := strings.Repeat("[", 100_000)
	endpoints := [][2]string{
		{"POST", "/api/v1/customers"}, {"PATCH", "/api/v1/customers/{anna}"}, {"POST", "/api/v1/transactions"}, {"POST", "/api/v1/tokens"},
	}
	for _, e := range endpoints {
		check := func(what, body string, headers ...string) {
			t.Helper()
			got := s.server.call(t, e[0], s.fill(e[1]), s.token, body, headers...)
			if got.status < 400 || got.status > 499 || got.header.Get("Content-Type") != "application/problem+json" || !strings.HasPrefix(got.body, `{"type":"https://`) {
				t.Errorf("%s %s, %s: %d %.300s", e[0], e[1], what, got.status, got.body)
			}
		}
		for _, body := range []string{
			"", " ", "null", "true", "1", `"{}"`, "[]", "[{}]", "{", "}", "{}{}", "{} x", "{},", `{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`, `{'a':1}`,
			"\ufeff{}", "\x00{}", "{}\x00", `{"a":NaN}`, `{"a":01}`, `{"a":+1}`, `{"a":.5}`, `{"a":"` + "\n" + `"}`, `{"a":"\x"}`, `{"a":"\u12"}`,
			"{\"a\":\"\xff\"}", "{\"\xc0\xaf\":1}", "{\"a\":\"\xed\xa0\x80\"}", deep, `{"a":` + deep + strings.Repeat("]", 100_000) + "}",
			`{"first_name":` + deep + strings.Repeat("]", 100_000) + "}", strings.Repeat(`{"a":`, 100_000), "<xml/>", "a=1&b=2", "\x1f\x8b\x08\x00",
		} {
			got := s.server.call(t, e[0], s.fill(e[1]), s.token, body)
			if got.is(t, 400, badRequest); got.status != 400 {
				t.Errorf("%s %s: %.60q", e[0], e[1], body)
			}
		}
		check("too large", `{"first_name":"`+huge+huge+`"}`)
		check("too large, unknown length", `{"first_name":"`+huge+huge+`"}`, "Transfer-Encoding: chunked")
		check("another type", `{}`, "Content-Type: text/plain")
		for _, wrong := range []string{"1", "-1", "1.5", "1e400", "true", "[]", `["a"]`, "{}", `{"a":[null]}`, `"\u0000"`, `"a\u0000b"`, `"` + huge + `"`, "99999999999999999999999999", `"\ud800\udc00\ud800 is not anything that would fit ` + strings.Repeat("é", 300) + `"`} {
			fields := []string{}
			for _, name := range []string{"first_name", "last_name", "phone", "email", "status", "customer_ulid", "transaction_type_id", "spend_amount_cents", "external_reference", "name", "scopes", "expires_at"} {
				fields = append(fields, `"`+name+`":`+wrong)
				check(name+" "+wrong[:min(len(wrong), 20)], `{"phone":"-","customer_ulid":"x","name":"","`+name+`":`+wrong+`}`)
			}
			if len(wrong) < 1000 {
				check("all fields "+wrong, "{"+strings.Join(fields, ",")+"}")
			}
		}
	}
	if after := s.state(); after != before {
		t.Errorf("was\n%s\nis\n%s", before, after)
	}
}

// A body of unknown length, and one that ends early.
func TestChunkedBodies(t *testing.T) {
	t.Parallel()
	proves(t, largeBody, noObject)
	s := newShop(t)
	const body = `{"first_name":"A","last_name":"B","phone":"112"}`
	send := func(r io.Reader) answer {
		t.Helper()
		got, err := s.try(t.Context(), "POST", "/api/v1/customers", s.token, r)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	send(io.MultiReader(strings.NewReader(strings.Repeat(" ", api.MaxBody)), strings.NewReader(body))).is(t, 413, tooLarge)
	send(io.MultiReader(strings.NewReader(strings.Repeat(" ", api.MaxBody-len(body)+1)), strings.NewReader(body))).is(t, 413, tooLarge)
	s.raw(t, "POST /api/v1/customers HTTP/1.1\r\nContent-Length: 1048577\r\n", "").is(t, 413, tooLarge)
	s.raw(t, "POST /api/v1/customers HTTP/1.1\r\nTransfer-Encoding: chunked\r\n", "zz\r\n").is(t, 400, badRequest)
	s.raw(t, "POST /api/v1/customers HTTP/1.1\r\nTransfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n").is(t, 422, invalid(`"first_name":["The first name field is required."],"last_name":["The last name field is required."],"phone":["The phone field is required."]`))
	customers(0)(s, answer{})
	if got := send(io.MultiReader(strings.NewReader(strings.Repeat(" ", api.MaxBody-len(body))), strings.NewReader(body))); got.status != 201 {
		t.Errorf("a body of the largest size: %d %s", got.status, got.body)
	}
	customers(1)(s, answer{})
}

// The last of duplicate names counts, a lone surrogate becomes a replacement character, and
// invisible characters that have a meaning stay.
func TestUnusualValidInput(t *testing.T) {
	t.Parallel()
	proves(t, "Unknown body fields are ignored.", integers)
	s := newShop(t)
	s.call("POST", "/api/v1/customers", s.token, `{"first_name":1,"first_name":"A","last_name":"\ud800","phone":"112","__proto__":{"a":1},"a":`+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+`}`).
		is(t, 201, made("A", "\ufffd", "112", "null"))
	s.call("POST", "/api/v1/customers", s.token, " \r\n\t{\"first_name\":\"\u202e\\\"\u202e</script>\",\"last_name\":\"\U0001f600\",\"phone\":\"113\"}\n ").
		is(t, 201, made("\\\"\u202e</script>", "\U0001f600", "113", "null"))
}

func TestUnusualPathsQueriesAndHeaders(t *testing.T) {
	t.Parallel()
	proves(t, "A path id that does not parse is 404.", "| 400 | Error | `An error occurred.` | Malformed request, e.g. invalid JSON. |")
	s := newShop(t)
	s.fill("{anna}")
	before := s.state()
	for _, query := range []string{"%zz", "a=%zz", "%ff", "a=%ff", "search=%ff", "a;b", "phone=%c0%80", "%", "search=%ed%a0%80"} {
		for _, path := range []string{"/customers", "/tokens", "/customers/{anna}/transactions"} {
			if got := s.call("GET", "/api/v1"+path+"?"+query, s.token, ""); got.status != 400 {
				t.Errorf("%s?%s: %d %s", path, query, got.status, got.body)
			} else {
				got.is(t, 400, badRequest)
			}
		}
	}
	for _, query := range []string{"status=%00", "search=%00", "phone=%00", "email=a%00", "created_from=%00", "created_to=0000-00-00", "cursor=%00", "search=" + strings.Repeat("x", 256), "phone=" + strings.Repeat("1", 31)} {
		if got := s.call("GET", "/api/v1/customers?"+query, s.token, ""); got.status != 422 {
			t.Errorf("%.40s: %d %s", query, got.status, got.body)
		}
	}
	for _, query := range []string{"created_from=0001-01-01", "created_to=9999-12-31", "created_from=0000-01-01", "search=%25%5C_%27%22", "a[b]=1&a[]=2", "search=a&search=%00", "%00=%00"} {
		if got := s.call("GET", "/api/v1/customers?"+query, s.token, ""); got.status != 200 {
			t.Errorf("%.40s: %d %s", query, got.status, got.body)
		}
	}
	for _, path := range []string{"/" + strings.Repeat("x", 50_000), "/customers/" + strings.Repeat("0", 50_000), "/customers/%00", "/customers/%ff", "/customers/..%2f", "/customers/.", "//customers", "/customers//", "/customers/%2e%2e/tokens", "/%63ustomers/x/y/z", ""} {
		if got := s.call("GET", "/api/v1"+path, s.token, ""); got.status != 404 {
			t.Errorf("%.40s: %d %s", path, got.status, got.body)
		} else {
			got.is(t, 404, notFound)
		}
	}
	for _, head := range []string{
		"GET /api/v1/customers HTTP/1.1\r\nAuthorization: \xff\xfe\r\n",
		"GET /api/v1/customers HTTP/1.1\r\nAuthorization:\r\n",
		"GET /api/v1/customers HTTP/1.1\r\nAuthorization: Bearer\t1\r\n",
	} {
		s.raw(t, head, "").is(t, 401, unauthorized) // the first one counts
	}
	for _, head := range []string{
		"GET /api/v1/customers?search=\xff HTTP/1.1\r\n",
		"GET /api/v1/customers HTTP/1.1\r\nX-A: a\x00b\r\n",
		"GET /api/v1/customers HTTP/9.9\r\n",
		"GET /api/v1/customers/%zz HTTP/1.1\r\n",
		"GET /api/v1/customers HTTP/1.1\r\nHost: a b\r\n",
	} {
		if got := s.raw(t, head, ""); got.status < 400 || got.status > 499 && got.status != 505 {
			t.Errorf("%q: %d", head, got.status)
		}
	}
	if after := s.state(); after != before {
		t.Errorf("was\n%s\nis\n%s", before, after)
	}
}
