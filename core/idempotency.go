package core

// Once makes a request take effect once (decisions §5): the transaction of the use case stores the response together with the
// effect, so that a crash can't separate them, and a repeated request gets the stored response. A nil Once lets it take effect each time.
type Once[T any] struct {
	RequestKey
	// Respond makes the response from the result of the use case.
	Respond func(T) (Response, error)
}

// RequestKey identifies a request among those of its caller.
type RequestKey struct {
	Key         string
	Fingerprint [32]byte // of method, path and body

	// Wait lets a repeated request wait for the first one and get its response, instead of being
	// refused with ErrKeyRunning. For forms: after two clicks a browser shows the second response.
	Wait bool
}

// Response is an HTTP response that is stored.
type Response struct {
	Status   int
	Body     []byte
	Replayed bool // it is the stored one of an earlier request
}

// Reply is what a use case that takes effect once returns: its result with the response that was stored or, if the request was
// answered before, that response alone.
type Reply[T any] struct {
	Result   T         // zero if the response is replayed
	Response *Response // nil without a Once
}

// Replayed reports whether the request was answered before.
func (r Reply[T]) Replayed() bool { return r.Response != nil && r.Response.Replayed }

// Result returns the result of a use case that was called without a Once.
func Result[T any](r Reply[T], err error) (T, error) { return r.Result, err }

// Outcome is what came of one of several requests that were sent together.
type Outcome[T any] struct {
	Reply[T]
	Err error // why it was refused, or failed; nil: it was carried out
}
