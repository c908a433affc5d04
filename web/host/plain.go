package host

import (
	"net/http"
	"net/url"
	"path"
	"strings"
)

// PlainHandler answers requests that arrived without TLS, by refusing them.
// The API never redirects: a client that follows would send its token in the
// clear each time and nobody would notice. apiRefusal says so in the API's own
// format. A person's browser is sent to the same page over https.
func PlainHandler(n Names, apiRefusal http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case isForAPI(r):
			apiRefusal.ServeHTTP(w, r)
		case r.Method == http.MethodGet || r.Method == http.MethodHead:
			http.Redirect(w, r, secureURL(n, r), http.StatusPermanentRedirect)
		default:
			// Redirecting a form would send what was typed in the clear once more.
			http.Error(w, "This address takes only https.", http.StatusBadRequest)
		}
	})
}

// isForAPI goes by the token as well as by the path, in case the client
// misspelled the path.
func isForAPI(r *http.Request) bool {
	return strings.HasPrefix(path.Clean(r.URL.Path)+"/", "/api/") || r.Header.Get("Authorization") != ""
}

// secureURL is the requested page on the requested host, or on the base host
// when the requested one is not ours. It is assembled from parts: pasted after
// a host, the request line "GET x:@elsewhere" would name another host.
func secureURL(n Names, r *http.Request) string {
	slug, _ := n.Slug(r.Host)
	u := url.URL{Scheme: "https", Host: n.hostPort(slug), Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
	return u.String()
}

// HSTS has browsers use nothing but https on this host for a year. Browsers
// heed it only over a connection they trust, and never on addresses.
//
// It leaves out includeSubDomains, which only the base host could make use of:
// customers visit tenant hosts, each of which sends the header itself, while an
// operator's unrelated plain site below the base host would be gone for a year.
func HSTS(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		next.ServeHTTP(w, r)
	})
}
