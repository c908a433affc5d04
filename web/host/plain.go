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

// HSTS has browsers use nothing but https on this host and below it for a year:
// a first visit to a tenant's host is protected, too, once the browser was at the base
// host. Browsers heed it only over a connection they trust, and never on addresses. On
// localhost it holds for the name alone: other programs serve below that.
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
