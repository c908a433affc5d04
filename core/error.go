package core

import (
	"errors"
	"fmt"
	"maps"
	"time"
)

// Kind is the kind of a refusal. Front ends map it to a status.
type Kind int

// The kinds of refusals.
const (
	KindRule            Kind = iota + 1 // a business rule
	KindInvalid                         // invalid fields, named by Fields
	KindNotFound                        // missing, or another tenant's
	KindUnauthenticated                 // unknown caller
	KindForbidden                       // known caller, but not allowed
	KindRunning                         // the same request is running
	KindThrottled                       // too many requests; Message says when to try again
	KindUnavailable                     // temporarily: the database can't be used, or too much work is waiting
	KindStale                           // the record isn't as the caller saw it
)

// Error is a refusal that is shown to the caller. Any other error is a fault, which is only logged.
type Error struct {
	Kind    Kind
	Code    string // of a rule: the slug of its reference page; of KindInvalid: what a program does about it
	Message string // shown to the caller
	Fields  Fields // of KindInvalid
	// Existing is the record that has the value of a refused field.
	Existing *Existing
	Wait     time.Duration // of KindThrottled and Busy: until the next try; 0: unknown
	Cause    error         // only logged
}

// Existing is a record that a refusal names, such as the sale that has a reference already.
type Existing struct {
	Member string // of the problem document, such as "transaction_ulid"
	ID     ID
}

// Error returns the message with code, fields and cause.
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

// Refuse returns the refusal of a rule, for a variable beside the code that refuses.
func Refuse(code, message string) *Error {
	return &Error{Kind: KindRule, Code: code, Message: message}
}

// Is reports whether a refusal is of the same rule, in whatever sentence.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && e.Code != "" && e.Code == other.Code
}

// Saying returns the refusal in another sentence, one that names what was refused.
func (e *Error) Saying(message string) *Error {
	said := *e
	said.Message = message
	return &said
}

// Invalid returns the refusal of fields.
func Invalid(f Fields) *Error {
	return &Error{Kind: KindInvalid, Message: "The given data was invalid.", Fields: maps.Clone(f)}
}

// Unavailable returns the refusal of a request because the database can't be used.
func Unavailable(cause error) *Error {
	return &Error{Kind: KindUnavailable, Message: "The service is temporarily unavailable.", Cause: cause}
}

// Busy returns the refusal of heavy work that has waited too long. People read the message; clients of the
// API get the status and the time to wait.
func Busy(message string, wait time.Duration) *Error {
	return &Error{Kind: KindUnavailable, Message: message, Wait: wait}
}

// Refusals of all packages.
var (
	// ErrNotFound refuses a record that is missing or another tenant's: the two must look the same.
	ErrNotFound = &Error{Kind: KindNotFound, Message: "The requested resource was not found."}
	// ErrUnauthenticated refuses an unknown caller.
	ErrUnauthenticated = &Error{Kind: KindUnauthenticated, Message: "Authentication required."}
	// ErrForbidden refuses a known caller without the ability.
	ErrForbidden = &Error{Kind: KindForbidden, Message: "Invalid ability provided."}
	// ErrSuspended refuses what a suspended business can't do.
	ErrSuspended = &Error{Kind: KindForbidden, Message: "This business is suspended. No one can sign in, and its data is safe."}
	// ErrStale refuses a change of a record that has changed since the caller saw it.
	ErrStale = &Error{Kind: KindStale, Message: "The record has changed since it was read."}
	// ErrKeyReused refuses an idempotency key that was used for a different request.
	ErrKeyReused = Refuse("idempotency-key-reused", "This idempotency key was used with a different request.")
	// ErrKeyRunning refuses an idempotency key while its first request runs.
	ErrKeyRunning = &Error{Kind: KindRunning, Message: "A request with this idempotency key is still running."}
)

// IsKind reports whether err is a refusal of a kind.
func IsKind(err error, k Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == k
}
