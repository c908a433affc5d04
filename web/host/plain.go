package host

import (
	"net/http"
	"net/url"
	"path"
	"strings"
)

// PlainHandler answers requests that arrived without TLS, by refusing them.
// The API doesn't redirect: a client that follows would send its token unencrypted each time, without
// anyone noticing. apiRefusal answers in the API's own format. A browser is redirected to https.
func PlainHandler(n Names, apiRefusal http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case isForAPI(r):
			apiRefusal.ServeHTTP(w, r)
		case r.Method == http.MethodGet || r.Method == http.MethodHead:
			http.Redirect(w, r, secureURL(n, r), http.StatusPermanentRedirect)
		default:
			// Redirecting a form would send its values unencrypted once more.
			http.Error(w, "This address takes only https.", http.StatusBadRequest)
		}
	})
}

// isForAPI checks the token as well as the path, in case the path is misspelled.
func isForAPI(r *http.Request) bool {
	return strings.HasPrefix(path.Clean(r.URL.Path)+"/", "/api/") || r.Header.Get("Authorization") != ""
}

// secureURL is the requested page over https, on the requested host or, if that is unknown, on the base
// host. It is assembled from parts: appended to a host, the request line "GET x:@elsewhere" would name
// another host.
func secureURL(n Names, r *http.Request) string {
	slug, _ := n.Slug(r.Host)
	u := url.URL{Scheme: "https", Host: n.hostPort(slug), Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
	return u.String()
}

// HSTS makes browsers use only https on this host and its subdomains for a year, which also protects
// the first visit to a tenant's host after one to the base host. Browsers apply it only over a trusted
// connection, and never to addresses. On localhost it excludes subdomains: other programs use them.
func HSTS(n Names, next http.Handler) http.Handler {
	value := "max-age=31536000; includeSubDomains"
	if n.IsLocal() {
		value = "max-age=31536000"
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", value)
		next.ServeHTTP(w, r)
	})
}
