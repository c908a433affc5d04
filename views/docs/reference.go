package docs

// Overview is the first page of the documentation: what every request has in common, and a list
// of all.
type Overview struct {
	Frame
	API      string // base URL
	Groups   []Group
	Sections []Section
	Records  []Record
}

// Section is a titled piece of prose.
type Section struct {
	ID, Title string
	Prose     []Text
}

// Group is a page of the reference: the operations on one kind of record.
type Group struct {
	Frame
	Title, Text string
	Operations  []Operation
	Records     []Record
}

// Operation is one request that the API answers.
type Operation struct {
	ID           string // of its heading
	Method, Path string
	Link         string // its address
	Summary      string
	Prose        []Text
	Parameters   []Field
	Body         []Field
	BodyExample  string
	Request      string // an example
	Status       string // of the response
	Returns      []Return
	Response     string // an example, "" without a body
	Refusals     []Refusal
	OtherStatus  string
}

// Return is a status of success and what it means.
type Return struct {
	Status, Text string
	Record       Span // of its data
	List         bool // of these records
}

// Refusal is a business rule that can refuse an operation.
type Refusal struct{ Code, Detail string }

// Record is a kind of record or value, and its fields.
type Record struct {
	ID, Name string
	Text     Text
	Fields   []Field
}

// Field is a parameter, or a field of a record or a body.
type Field struct {
	Name     string
	Type     Span
	In       string // where a parameter is; "" for fields
	Required bool
	Note     string // "required" where it is sent, "optional" where it is received; "": the reverse
	Text     Text
	Limits   Text
}

// Search is the page of search results.
type Search struct {
	Frame
	Groups []ResultGroup
	More   bool // there are further ones
}

// ResultGroup has the results of a kind.
type ResultGroup struct {
	Kind    string // "Guides"
	Results []Result
}

// Result is a place in the documentation.
type Result struct{ Path, Title, Place, Text string }
