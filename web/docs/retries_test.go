package docs_test

import (
	"cmp"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/web/webtest"
)

// unreliable is a server that responds to each request with the next of these statuses,
// and repeats the last. 0 drops the connection; 429 asks for 5 seconds, or what after says.
type unreliable struct {
	*httptest.Server
	statuses []int
	after    string

	mu   sync.Mutex
	sent []string // path, key and body of each request
}

func newUnreliable(statuses ...int) *unreliable {
	u := &unreliable{statuses: statuses}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		u.mu.Lock()
		status := u.statuses[min(len(u.sent), len(u.statuses)-1)]
		u.sent = append(u.sent, r.Method+" "+r.URL.Path+" "+r.Header.Get("Idempotency-Key")+" "+string(body))
		u.mu.Unlock()
		switch status {
		case 0:
			panic(http.ErrAbortHandler)
		case http.StatusTooManyRequests:
			w.Header().Set("Retry-After", cmp.Or(u.after, "5"))
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"status":` + strconv.Itoa(status) + `}`))
	}))
	return u
}

// runScript runs a script with a sleep that takes no time, and returns what it printed,
// how long it would have slept each time, and how it ended.
func runScript(t *testing.T, script string) (out string, slept []float64, ended error) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", "sleep() { echo $1 >>slept; }\n"+script)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TOKEN=1|x", "CUSTOMER=01M7ZCQV0638E1B1EP24VGSMPB"}
	printed, ended := cmd.CombinedOutput()
	naps, _ := os.ReadFile(filepath.Join(dir, "slept")) // doesn't exist if it never slept
	for nap := range strings.FieldsSeq(string(naps)) {
		seconds, err := strconv.ParseFloat(nap, 64)
		if err != nil {
			t.Fatal(err)
		}
		slept = append(slept, seconds)
	}
	return string(printed), slept, ended
}

// "Retry guidance for clients: no retry on 400, 401, 403, 404 or 422. Retry on 429 after
// `Retry-After` seconds and on 5xx after a delay. Recommended back-off is 1, 2, 4 and 8
// seconds with 10 to 20 percent jitter, giving up after 4 attempts.".
func TestExampleLoopRetries(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	_, loop, _ := strings.Cut(htmlOf(newSite(t), "/docs/retries", http.StatusOK), `<pre data-copy aria-labelledby="loop"><code>`)
	loop, _, _ = strings.Cut(loop, "</code></pre>")
	for name, c := range map[string]struct {
		statuses []int
		waits    []float64
		prints   string
	}{
		"no retry":                 {[]int{201}, nil, `{"status":201}`},
		"Retry-After":              {[]int{429, 201}, []float64{5}, `{"status":201}`},
		"back-off longer":          {[]int{500, 503, 502, 429, 200}, []float64{1, 2, 4, 8}, `{"status":200}`},
		"no answer":                {[]int{0, 201}, []float64{1}, `{"status":201}`},
		"no answer, after a limit": {[]int{429, 0, 201}, []float64{5, 2}, `{"status":201}`},
		"the first still runs":     {[]int{409, 201}, []float64{1}, `{"status":201}`},
		"given up":                 {[]int{503}, []float64{1, 2, 4, 8}, "given up: 503"},
		"given up without answer":  {[]int{0}, []float64{1, 2, 4, 8}, "given up: none"},
		"400":                      {[]int{400}, nil, `{"status":400}`},
		"401":                      {[]int{401}, nil, `{"status":401}`},
		"403":                      {[]int{403}, nil, `{"status":403}`},
		"404":                      {[]int{404}, nil, `{"status":404}`},
		"422, after a retry":       {[]int{500, 422}, []float64{1}, `{"status":422}`},
		"seconds with a zero":      {[]int{429, 201}, []float64{8}, `{"status":201}`},
		"a date":                   {[]int{429, 201}, []float64{60}, `{"status":201}`},
		"a date in the past":       {[]int{429, 429, 201}, []float64{1, 2}, `{"status":201}`},
		"a date that never comes":  {[]int{429, 201}, []float64{120}, `{"status":201}`},
		"absurd seconds":           {[]int{429, 201}, []float64{120}, `{"status":201}`},
		"words":                    {[]int{429, 201}, []float64{1}, `{"status":201}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newUnreliable(c.statuses...)
			server.after = map[string]string{
				"seconds with a zero": "08", "a date": time.Now().Add(time.Minute).UTC().Format(http.TimeFormat),
				"a date in the past": "Wed, 21 Oct 2015 07:28:00 GMT", "a date that never comes": "Fri, 31 Dec 9999 23:59:59 GMT",
				"absurd seconds": strings.Repeat("9", 30), "words": "soon",
			}[name]
			out, slept, err := runScript(t, strings.ReplaceAll(html.UnescapeString(loop), webtest.Base, server.URL))
			server.Close() // waits for its requests
			if ok := c.statuses[len(c.statuses)-1]/100 == 2; ok != (err == nil) || strings.TrimSpace(out) != c.prints {
				t.Errorf("%v: %s", err, out)
			}
			if len(slept) != len(c.waits) || len(server.sent) != len(c.waits)+1 {
				t.Fatalf("slept %v, sent %q", slept, server.sent)
			}
			const epsilon = 0.0005 // the script rounds to milliseconds
			for i, wait := range c.waits {
				least := wait * 1.1
				if name == "a date" {
					least /= 2 // seconds pass until it is read
				}
				if slept[i] < least-epsilon || slept[i] > wait*1.2+epsilon {
					t.Errorf("slept %v, want %v and 10 to 20 percent", slept, c.waits)
				}
				if server.sent[i+1] != server.sent[0] {
					t.Errorf("sent %s, then %s", server.sent[0], server.sent[i+1])
				}
			}
			if !strings.HasPrefix(server.sent[0], "POST /api/v1/transactions till-3-receipt-4713 {") {
				t.Errorf("sent %s", server.sent[0])
			}
		})
	}
}
