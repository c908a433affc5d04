package api

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// Responses with a tag may be stored by their client alone, who asks each time whether they are current. All others
// mustn't be stored: they have personal data.
const (
	mayStore  = "private, no-cache"
	dontStore = "no-store"
)

// contentTag returns the hash of a body. With an encoding it makes the tag of a response, because compressed and plain ones are
// different representations.
func contentTag(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:12])
}

func quotedTag(tag, encoding string) string {
	if encoding != "" {
		tag += "-" + encoding
	}
	return `"` + tag + `"`
}

// entityTag is one tag of a list (RFC 9110, section 8.8.3).
var entityTag = regexp.MustCompile(`(W/)?("[\x21\x23-\x7e\x80-\xff]*")`)

// isKnown reports whether the client has the response with this tag, by If-None-Match. Weak tags count.
func isKnown(h http.Header, tag string) bool {
	given := strings.Join(h.Values("If-None-Match"), ",")
	if strings.TrimSpace(given) == "*" {
		return true
	}
	for _, found := range entityTag.FindAllStringSubmatch(given, -1) {
		if found[2] == tag {
			return true
		}
	}
	return false
}

// ifMatch returns the condition of a change (RFC 9110, section 13.1.1): nil without one. It holds for a record that is as the
// client has seen it, in any encoding. Weak tags never match.
func ifMatch[T any](c echo.Context, resource func(T) any) func(T) bool {
	values := c.Request().Header.Values("If-Match")
	given := strings.Join(values, ",")
	if len(values) == 0 || strings.TrimSpace(given) == "*" {
		return nil
	}
	return func(stored T) bool {
		r, err := render(http.StatusOK, envelope{resource(stored)})
		tag := quotedTag(contentTag(r.Body), "")
		return err == nil && slices.ContainsFunc(entityTag.FindAllStringSubmatch(given, -1), func(found []string) bool {
			return found[1] == "" && unencoded(found[2]) == tag
		})
	}
}

// unencoded returns a tag without the suffix of an encoding.
func unencoded(tag string) string {
	for _, e := range encodings {
		if plain, found := strings.CutSuffix(tag, "-"+e.name+`"`); found {
			return plain + `"`
		}
	}
	return tag
}
