package page

import (
	"crypto/sha256"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/web/forms"
)

// FormKey is the name of the field by which two clicks have one effect.
const FormKey = "form_key"

// NewFormKey returns a key for a form that is shown, or shown again with its errors.
func (k *Kit) NewFormKey() string { return core.NewID(k.Now()).String() }

// Once lets a form take effect once, however often it is sent. to returns the page of its result, which is stored for a day, so it must not contain
// a secret. A form without a key takes effect each time.
func Once[T any](c echo.Context, form *forms.Form, to func(T) string) *core.Once[T] {
	key := form.Value(FormKey)
	if _, err := core.ParseID(key); err != nil {
		return nil
	}
	return &core.Once[T]{
		RequestKey: core.RequestKey{Key: key, Fingerprint: sha256.Sum256([]byte(c.Request().URL.Path + "\n" + form.Values.Encode())), Wait: true},
		Respond: func(result T) (core.Response, error) {
			return core.Response{Status: http.StatusSeeOther, Body: []byte(to(result))}, nil
		},
	}
}

// ReplayedPath returns the path that the same form led to when it was first sent.
func ReplayedPath[T any](reply core.Reply[T]) (path string, again bool) {
	if !reply.Replayed() {
		return "", false
	}
	return string(reply.Response.Body), true
}
