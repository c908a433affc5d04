package core

import "errors"

// Idempotency makes a request take effect once (decisions §5): the transaction of the use case
// stores the response together with the effect, so that a crash can't separate them, and a repeated
// request gets the stored response.
type Idempotency struct {
	Key         string
	Fingerprint [32]byte // of method, path and body

	// Wait lets a repeated request wait for the one that runs and then have its answer,
	// where otherwise ErrKeyRunning refuses it. For forms: of two clicks a browser shows
	// the answer to the second.
	Wait bool

	// Render makes the answer from what the use case returned.
	Render func(result any) (Response, error)
	// Response is set by the transaction: the one just stored, or the first one.
	Response Response
}

// Response is what the caller is told.
type Response struct {
	Status   int
	Body     []byte
	Replayed bool
}

// ErrReplayed stops a use case whose request was answered before; the stored response is in Idempotency.Response.
var ErrReplayed = errors.New("answered before")
