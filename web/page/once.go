package page

import (
	"crypto/sha256"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
)

// FormKey is the name of the field that makes two clicks one deed.
const FormKey = "form_key"

// NewFormKey is a key for a form that is shown, also for one that was refused.
func (k *Kit) NewFormKey() string { return core.NewID(k.Now()).String() }

// Once is the actor of a form that must have its effect once, however often it is sent:
// to is where its result leads. A form without a key is done as often as it is sent.
func Once[T any](c echo.Context, form *Form, to func(T) string) core.Actor {
	return OnceBy(Actor(c), c, form, to)
}

// OnceBy is Once for an actor without a session. What it remembers is kept for a day, so to
// must not tell a secret.
func OnceBy[T any](by core.Actor, c echo.Context, form *Form, to func(T) string) core.Actor {
	key := form.Value(FormKey)
	if _, err := core.ParseID(key); err != nil {
		return by
	}
	by.Once = &core.Once{
		Key:         key,
		Fingerprint: sha256.Sum256([]byte(c.Request().URL.Path + "\n" + form.Values.Encode())),
		Wait:        true,
		Render: func(result any) (core.Answer, error) {
			return core.Answer{Status: http.StatusSeeOther, Body: []byte(to(result.(T)))}, nil
		},
	}
	return by
}

// Repeated tells where the same form led when it was sent before.
func Repeated(by core.Actor, err error) (path string, again bool) {
	if by.Once == nil || !errors.Is(err, core.ErrReplayed) {
		return "", false
	}
	return string(by.Once.Answer.Body), true
}
