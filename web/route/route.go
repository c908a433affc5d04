// Package route declares the endpoints of all areas in one form: how each is reached, who may call it, what
// answers, and what bounds it. The routers are built from these declarations, and tests walk them.
package route

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/token"
)

// Route is a page, an action, a file, or an operation of the API.
type Route struct {
	Method  string
	Path    string // as the router has it: ":ulid" in place of a record's id
	Who     Who
	Handle  echo.HandlerFunc
	Kind    Kind
	Budgets []Budget
}

// Kind is what kind of response a route has.
type Kind int

// The kinds. A page includes its parts and actions.
const (
	Page   Kind = iota
	File        // an upload or download, without a time limit
	Stream      // events, for as long as the page is open: without a time limit, not compressed
)

// Get declares a route that changes nothing.
func Get(path string, who Who, handle echo.HandlerFunc) Route {
	return Route{Method: http.MethodGet, Path: path, Who: who, Handle: handle}
}

// Post declares an action.
func Post(path string, who Who, handle echo.HandlerFunc) Route {
	return Route{Method: http.MethodPost, Path: path, Who: who, Handle: handle}
}

// Patch declares an operation that changes the fields it is sent.
func Patch(path string, who Who, handle echo.HandlerFunc) Route {
	return Route{Method: http.MethodPatch, Path: path, Who: who, Handle: handle}
}

// Delete declares an operation that removes something.
func Delete(path string, who Who, handle echo.HandlerFunc) Route {
	return Route{Method: http.MethodDelete, Path: path, Who: who, Handle: handle}
}

// AsFile declares that the route is an upload or a download.
func (r Route) AsFile() Route {
	r.Kind = File
	return r
}

// AsStream declares that the response has no end.
func (r Route) AsStream() Route {
	r.Kind = Stream
	return r
}

// Within declares what bounds a route that everyone may call.
func (r Route) Within(budgets ...Budget) Route {
	r.Budgets = budgets
	return r
}

// Reading returns the routes that change nothing: those with GET.
func Reading(routes []Route) []Route {
	return slices.DeleteFunc(slices.Clone(routes), func(r Route) bool { return r.Method != http.MethodGet })
}

// Budget is what bounds an action that needs no sign-in.
type Budget struct {
	What    string
	Counted string // who is counted
	Allowed string
	Beyond  string // what happens beyond it
	Test    string
}

// What happens beyond most budgets.
const (
	Refused   = "429 with `Retry-After`"
	FormWaits = "the form says when to try again (429 with `Retry-After`)"
)

// Who says who may call a route. The zero value admits no one.
type Who struct {
	Everyone      bool
	Role          core.Role // the lowest role that may; core.SuperAdmin: super-admins and their tokens
	BeforeTwoStep bool      // also super-admins who have yet to set up two-step verification
	Ability       token.Ability
	Others        []token.Ability // each of which is enough, too
}

// Who may call a route, beside the tokens that have an ability.
var (
	Everyone    = Who{Everyone: true}
	Cashiers    = Who{Role: core.Cashier} // and managers, and owners
	Managers    = Who{Role: core.Manager} // and owners
	Owners      = Who{Role: core.Owner}
	SuperAdmins = Who{Role: core.SuperAdmin}
)

// Tokens are the tokens of businesses that have an ability, or one of the others.
func Tokens(a token.Ability, others ...token.Ability) Who { return Who{Ability: a, Others: others} }

// Scopes returns the abilities each of which is enough, as OAuth lists scopes: with spaces between them.
func (w Who) Scopes() string {
	scopes := []string{string(w.Ability)}
	for _, other := range w.Others {
		scopes = append(scopes, string(other))
	}
	return strings.Join(scopes, " ")
}

// Admits reports whether a caller may call a route.
func (w Who) Admits(by token.Caller) bool {
	switch {
	case w.Everyone:
		return true
	case w.Ability != "":
		return !by.IsPlatform() && (by.May(w.Ability) || slices.ContainsFunc(w.Others, by.May))
	case w.Role == core.SuperAdmin:
		return by.RequireAdmin() == nil
	}
	return w.Role != "" && by.Require(w.Role) == nil
}

// Guard is how an area finds out who calls, and answers those who may not.
type Guard struct {
	// Caller returns who calls, if they are known.
	Caller func(c echo.Context) (by token.Caller, known bool)
	// Stranger answers a caller who isn't known.
	Stranger echo.HandlerFunc
	// Refusal answers a caller whom the route doesn't admit.
	Refusal error
	// MustSetUp reports whether the caller has to set up two-step verification first, and SetUp leads them there.
	// Nil: the area doesn't require it.
	MustSetUp func(c echo.Context) bool
	SetUp     echo.HandlerFunc
}

// Handler returns the handler of a route behind its guard.
func (g Guard) Handler(r Route) echo.HandlerFunc {
	return func(c echo.Context) error {
		if r.Who.Everyone {
			return r.Handle(c)
		}
		by, known := g.Caller(c)
		switch {
		case !known:
			return g.Stranger(c)
		case g.MustSetUp != nil && g.MustSetUp(c) && r.Who.BeforeTwoStep:
			return r.Handle(c)
		case g.MustSetUp != nil && g.MustSetUp(c):
			return g.SetUp(c)
		case !r.Who.Admits(by):
			return g.Refusal
		}
		return r.Handle(c)
	}
}
