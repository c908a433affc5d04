package core

import "errors"

// Idempotency makes a request take effect once (decisions §5): the transaction of the use case
// stores the response together with the effect, so that a crash can't separate them, and a repeated
// request gets the stored response.
type Idempotency struct {
	Key         string
	Fingerprint [32]byte // of method, path and body

	// Wait lets a repeated request wait for the first one and return its response, instead of being
	// refused with ErrKeyRunning. For forms: after two clicks a browser shows the second response.
	Wait bool

	// Render makes the response from the result of the use case.
	Render func(result any) (Response, error)
	// Response is set by the transaction: the one just stored, or the first one.
	Response Response
}

// Response is a stored HTTP response.
type Response struct {
	Status   int
	Body     []byte
	Replayed bool
}

// ErrReplayed stops a use case whose request was answered before; Idempotency.Response has the response.
var ErrReplayed = errors.New("answered before")
