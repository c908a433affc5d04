package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/token"
)

type tokenResource struct {
	ID         int64           `json:"id"`
	Name       string          `json:"name"`
	Abilities  []token.Ability `json:"abilities"`
	LastUsedAt *stamp          `json:"last_used_at"`
	ExpiresAt  *stamp          `json:"expires_at"`
	CreatedAt  stamp           `json:"created_at"`
}

func newTokenResource(t token.Token) tokenResource {
	return tokenResource{
		ID: t.ID, Name: t.Name, Abilities: t.Abilities,
		LastUsedAt: optionalStamp(t.LastUsedAt), ExpiresAt: optionalStamp(t.ExpiresAt), CreatedAt: stamp(t.CreatedAt),
	}
}

// createdTokenResource is the only resource with the secret.
type createdTokenResource struct {
	ID        int64           `json:"id"`
	Name      string          `json:"name"`
	Token     string          `json:"token"`
	Abilities []token.Ability `json:"abilities"`
	ExpiresAt *stamp          `json:"expires_at"`
	CreatedAt stamp           `json:"created_at"`
}

func (a *API) listTokens(c echo.Context) error {
	q, err := parameters(c)
	if err != nil {
		return err
	}
	p := q.page()
	l, err := a.Tokens.List(c.Request().Context(), actor(c), p)
	if err != nil {
		return err
	}
	return writeList(c, p, l, newTokenResource)
}

// createToken ignores an idempotency key, because a stored response would have the secret.
func (a *API) createToken(c echo.Context) error {
	in, err := readBody(c)
	if err != nil {
		return err
	}
	t, err := core.Result(a.Tokens.Create(c.Request().Context(), actor(c), token.New{
		Name: in.value("name"), Scopes: in.texts("scopes"), ExpiresAt: in.instant("expires_at"), Malformed: in.unreadable,
	}, nil))
	if err != nil {
		return err
	}
	return writeData(c, http.StatusCreated, createdTokenResource{
		ID: t.ID, Name: t.Name, Token: t.Secret, Abilities: t.Abilities,
		ExpiresAt: optionalStamp(t.ExpiresAt), CreatedAt: stamp(t.CreatedAt),
	})
}

func (a *API) revokeToken(c echo.Context) error {
	id, err := pathNumber(c)
	if err != nil {
		return err
	}
	if _, err := a.Tokens.Revoke(c.Request().Context(), actor(c), id, nil); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
