package core

import "errors"

// Idempotency lets a request be answered once (decisions §5): the transaction of the
// use case stores the answer together with the effect, so that a crash cannot
// part them, and a repeated request reads the stored answer instead of having
// its effect again.
type Idempotency struct {
	Key         string
	Fingerprint [32]byte // of method, path and body: what the key stands for

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

// ErrReplayed stops a use case whose request was answered before; the answer is in Once.
var ErrReplayed = errors.New("answered before")
