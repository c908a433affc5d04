package core

import (
	"errors"
	"fmt"
	"maps"
	"time"
)

// Kind says what sort of refusal an Error is. A front end picks the status.
type Kind int

// The kinds of refusals.
const (
	KindRule            Kind = iota + 1 // a rule of the business refuses
	KindInvalid                         // fields are wrong; Fields says which
	KindNotFound                        // missing, or another tenant's
	KindUnauthenticated                 // nobody known is calling
	KindForbidden                       // known, but not allowed
	KindRunning                         // the same request is being answered right now
	KindThrottled                       // too often; Message says when to try again
	KindUnavailable                     // not at the moment: the database cannot be used, or too much is under way
)

// Error is a refusal that the caller is told. Any other error is a fault: its
// text stays in the log.
type Error struct {
	Kind    Kind
	Code    string        // of a rule: the slug of its reference page
	Message string        // of a rule: the sentence the caller reads
	Fields  Fields        // of KindInvalid
	Wait    time.Duration // of KindThrottled and of Busy: how long until it may be tried again; 0: not known
	Cause   error         // for the log, never shown
}

// Error returns the sentence and, where there is one, its cause.
func (e *Error) Error() string {
	text := e.Message
	if e.Code != "" {
		text = e.Code + ": " + text
	}
	if len(e.Fields) > 0 {
		text += fmt.Sprintf(" %v", e.Fields)
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Refuse declares a rule: a variable next to the code that refuses.
func Refuse(code, message string) *Error {
	return &Error{Kind: KindRule, Code: code, Message: message}
}

// Invalid refuses fields.
func Invalid(f Fields) *Error {
	return &Error{Kind: KindInvalid, Message: "The given data was invalid.", Fields: maps.Clone(f)}
}

// Unavailable says that the database could not be used, and why.
func Unavailable(cause error) *Error {
	return &Error{Kind: KindUnavailable, Message: "The service is temporarily unavailable.", Cause: cause}
}

// Busy says that heavy work had to wait for longer than it may, and when to try again.
// People read the message; a client of the API is told the status and the time.
func Busy(message string, wait time.Duration) *Error {
	return &Error{Kind: KindUnavailable, Message: message, Wait: wait}
}

// The refusals that every noun shares.
var (
	// ErrNotFound is a record that is missing or belongs to another tenant: the two must look the same.
	ErrNotFound = &Error{Kind: KindNotFound, Message: "The requested resource was not found."}
	// ErrUnauthenticated is a caller nobody knows.
	ErrUnauthenticated = &Error{Kind: KindUnauthenticated, Message: "Authentication required."}
	// ErrForbidden is a known caller who may not do this.
	ErrForbidden = &Error{Kind: KindForbidden, Message: "Invalid ability provided."}
	// ErrKeyReused is an idempotency key that named a different request before.
	ErrKeyReused = Refuse("idempotency-key-reused", "This idempotency key was used with a different request.")
	// ErrKeyRunning is an idempotency key whose first request has not ended.
	ErrKeyRunning = &Error{Kind: KindRunning, Message: "A request with this idempotency key is still running."}
)

// IsKind reports whether err is a refusal of that kind.
func IsKind(err error, k Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == k
}
