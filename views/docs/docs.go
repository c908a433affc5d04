// Package docs is the HTML of the base host's pages for people who read the
// API's references. Web builds the view models; nothing is decided here.
package docs

// Frame is what every page has around its content.
type Frame struct {
	Title       string // of the tab
	Description string // for search engines; "" keeps them away
	Stylesheets []string
	Icon        string
	Section     Section
}

// Section is the entry of the navigation that is marked as the current one.
type Section int

// The sections.
const (
	NoSection Section = iota
	HomeSection
	ReferenceSection
	RetriesSection
	VersioningSection
	ChangelogSection
	ProblemsSection
)

// Home is the start page.
type Home struct {
	Frame
	API     string // base URL of the API
	Example string // a first request
}

// Reference is the page that a script fills with the API's description.
type Reference struct {
	Frame
	Description string // its address
	Scalar      string // the script that knows how
	Script      string // ours, which asks it to
	Licence     string // of theirs
}

// Retries is the guide to sending a request again.
type Retries struct {
	Frame
	Keyed, Referenced, Found string // requests
	Loop, Pseudocode         string
}

// Versioning is the policy.
type Versioning struct {
	Frame
	Headers string // of a deprecated endpoint's answer
	Watch   string // a request that shows them
}

// Changelog is what v1 has, and what it may get.
type Changelog struct {
	Frame
	Launch []EndpointGroup
	Added  []Addition
}

// EndpointGroup is a part of the API.
type EndpointGroup struct {
	Title     string
	Endpoints []Endpoint
}

// Endpoint is a line of the changelog.
type Endpoint struct{ Method, Path, Scope string }

// Addition is something that the launch list did not have.
type Addition struct{ What, Why Text }

// ProblemList names every business rule.
type ProblemList struct {
	Frame
	Groups []ProblemGroup
}

// ProblemGroup is the rules of one part of the API.
type ProblemGroup struct {
	ID       string // of its heading
	Title    string
	Problems []ProblemLink
}

// ProblemLink leads to a rule.
type ProblemLink struct{ Slug, Detail string }

// Problem is the reference of one business rule.
type Problem struct {
	Frame
	Slug     string
	Heading  string
	Detail   string // the API's sentence, word for word
	Group    string
	Requests []string // that can be refused so
	Happened []Text   // paragraphs
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
}

// NotFound is the page for an address without one.
type NotFound struct{ Frame }
