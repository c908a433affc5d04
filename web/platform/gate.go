package platform

import (
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
)

const actorKey = "actor"

// gate makes whoever got past page.Local a super-admin: nobody else is on this machine.
func (p *Platform) gate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Set(actorKey, core.Actor{
			Kind: core.ByAdmin, Name: "This machine", Role: core.SuperAdmin,
			Address: p.Address(c.Request()), RequestID: c.Response().Header().Get(echo.HeaderXRequestID),
		})
		return next(c)
	}
}

// actor is who acts: the one place that every page takes it from. It is the zero actor, who
// may do nothing, where nobody is signed in.
func actor(c echo.Context) core.Actor {
	by, _ := c.Get(actorKey).(core.Actor)
	return by
}

func signedIn(c echo.Context) bool { return actor(c).Kind != "" }
