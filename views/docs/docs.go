// Package docs is the HTML of the base host's pages for developers: the API's reference
// and guides. Package web/docs builds the view models; nothing is decided here.
package docs

import (
	"strings"
	"time"
)

// Frame is what every page has around its content.
type Frame struct {
	Title       string // of the browser tab
	Description string // for search engines; "" keeps the page out of them
	Path        string // of this page; "" on an unknown address
	Stylesheets []string
	Scripts     []string
	Icon        string
	Guides      []NavGroup // the navigation of the documentation
	Term        string     // of a search
}

// NavGroup is a titled part of the navigation.
type NavGroup struct {
	Title string
	Links []NavLink
}

// NavLink is an entry of the navigation.
type NavLink struct{ Path, Label string }

// inDocs reports whether the page is part of the documentation.
func (f Frame) inDocs() bool {
	return strings.HasPrefix(f.Path, "/docs") || strings.HasPrefix(f.Path, "/problems")
}

// isAt reports whether the page belongs to an entry of the navigation.
func (f Frame) isAt(l NavLink) bool {
	return f.Path == l.Path || l.Path != "/docs" && strings.HasPrefix(f.Path, l.Path+"/")
}

// Home is the start page.
type Home struct {
	Frame
	API      string // base URL of the API
	Suffix   string // of a business's address, after its own part
	Business string // as entered
	Problem  string // with what was entered
	Ready    bool   // the service can be used
}

// QuickStart leads from a token to the first sale.
type QuickStart struct {
	Frame
	Tokens   string // where an owner creates tokens, on the host of a business
	Types    string // where transaction types are
	Programs []Program
	OwnCA    bool // the installation has its own certificate authority
	Recorded string
	Refused  string
}

// Program is the quick start in one language.
type Program struct {
	ID       string // of its tab
	Language string
	Needs    string
	File     string
	Path     string // where it can be downloaded
	Source   string
	Run      string
}

// Clients offers the clients of the API.
type Clients struct {
	Frame
	Clients []Client
	Plugin  string // where the plug-in for WooCommerce can be downloaded
	Address string // that it asks for
}

// Client is a client of the API in one language.
type Client struct {
	ID                   string // of its heading
	Language, Needs      string
	Install              string // commands
	Files                []NavLink
	ExampleFile, Example string
}

// Guide is a page about one job of an integration.
type Guide struct {
	Frame
	Scopes   []string          // that its requests need
	Requests map[string]string // by the id of the heading that they are below
}

// Versioning is the versioning policy.
type Versioning struct {
	Frame
	Headers string // of a deprecated endpoint's response
	Watch   string // a request that shows them
}

// Changelog lists what v1 has, and what may be added.
type Changelog struct {
	Frame
	Feed   string // where it is a feed
	Launch []EndpointGroup
	Added  []Addition
}

// EndpointGroup is a part of the API.
type EndpointGroup struct {
	Title     string
	Endpoints []Endpoint
}

// Endpoint is a kind of request.
type Endpoint struct{ Method, Path, Scope string }

// Addition is something added after the launch.
type Addition struct {
	ID        string // of its heading
	What, Why Text
	On        time.Time
}

// ProblemList lists every business rule.
type ProblemList struct {
	Frame
	Groups []ProblemGroup
}

// ProblemGroup lists the rules of one part of the product.
type ProblemGroup struct {
	ID       string // of its heading
	Title    string
	Problems []ProblemLink
}

// ProblemLink links to the page of a rule.
type ProblemLink struct{ Slug, Detail string }

// Problem is the page of one business rule.
type Problem struct {
	Frame
	Slug     string
	Heading  string
	Detail   string // the API's sentence, word for word
	Group    string
	Requests []Endpoint // that the rule can refuse
	Happened []Text     // paragraphs
	Retry    Text
	Next     []Text // steps
	Example  string // a problem document
}

// Text is prose with code in it.
type Text []Span

// Span is a piece of a Text.
type Span struct {
	Text string
	Code bool
	Link string // "": none
}

// NotFound is the page for an unknown address.
type NotFound struct{ Frame }
