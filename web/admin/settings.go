package admin

import (
	"crypto/sha256"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

const settingsPath = "/admin/settings"

// sections are the pages of the settings, in the order of the page.
var sections = []entry{
	{"Business", businessPath, "building-store", core.Owner},
	{"People", staffPath, "users", core.Owner},
	{"API tokens", tokensPath, "key", core.Owner},
	{"Your account", securityPath, "shield-lock", core.Cashier},
}

func (a *Admin) settingsRoutes() []route {
	return []route{{method: get, path: settingsPath, least: core.Cashier, handle: a.showSettings}}
}

// showSettings leads to the first section that the person may see.
func (a *Admin) showSettings(c echo.Context) error {
	return a.Redirect(c, ownSections(c, "")[0].Path)
}

// settings is what a page of the settings has around its content. section is the path of
// the section that it belongs to.
func (a *Admin) settings(c echo.Context, title, section string, crumbs ...ui.Crumb) views.Settings {
	return views.Settings{Frame: a.frame(c, title, settingsPath, crumbs...), Sections: ownSections(c, section)}
}

// ownSections are those that the person may see.
func ownSections(c echo.Context, section string) (own []views.NavItem) {
	for _, s := range sections {
		if page.Actor(c).Role.Includes(s.least) {
			own = append(own, views.NavItem{Label: s.label, Path: s.path, Icon: s.icon, Current: s.path == section})
		}
	}
	return own
}

// onceAs is a person who sends a form that carries a key: sent again, whatever was
// changed in it meanwhile, it makes nothing more. What was made is not remembered.
func onceAs(by core.Actor, form *page.Form) core.Actor {
	key, err := core.ParseID(form.Value("key"))
	if err != nil {
		return by // not from the page
	}
	by.Once = &core.Once{
		Key:         "form " + key.String(),
		Fingerprint: sha256.Sum256([]byte("form")),
		Render:      func(any) (core.Answer, error) { return core.Answer{Status: http.StatusCreated, Body: []byte{}}, nil },
	}
	return by
}

// wasSent reports whether err says that the form has made what it makes, or just does.
func wasSent(err error) bool {
	return errors.Is(err, core.ErrReplayed) || errors.Is(err, core.ErrKeyRunning)
}
