package page

import (
	"crypto/sha256"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/web/forms"
)

// FormKey is the name of the field by which two clicks have one effect.
const FormKey = "form_key"

// NewFormKey returns a key for a form that is shown, or shown again with its errors.
func (k *Kit) NewFormKey() string { return core.NewID(k.Now()).String() }

// IdempotentActor returns the actor of a form that takes effect once, however often it is sent. to
// returns the page of its result. A form without a key takes effect each time.
func IdempotentActor[T any](c echo.Context, form *forms.Form, to func(T) string) core.Actor {
	return IdempotentActorFor(Actor(c), c, form, to)
}

// IdempotentActorFor is IdempotentActor for an actor without a session. The path is stored for a day,
// so it must not contain a secret.
func IdempotentActorFor[T any](by core.Actor, c echo.Context, form *forms.Form, to func(T) string) core.Actor {
	key := form.Value(FormKey)
	if _, err := core.ParseID(key); err != nil {
		return by
	}
	by.Idempotency = &core.Idempotency{
		Key:         key,
		Fingerprint: sha256.Sum256([]byte(c.Request().URL.Path + "\n" + form.Values.Encode())),
		Wait:        true,
		Render: func(result any) (core.Response, error) {
			return core.Response{Status: http.StatusSeeOther, Body: []byte(to(result.(T)))}, nil
		},
	}
	return by
}

// ReplayedPath returns the path that the same form led to when it was first sent.
func ReplayedPath(by core.Actor, err error) (path string, again bool) {
	if by.Idempotency == nil || !errors.Is(err, core.ErrReplayed) {
		return "", false
	}
	return string(by.Idempotency.Response.Body), true
}
