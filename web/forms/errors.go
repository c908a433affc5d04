package forms

import (
	"errors"

	"example.com/loyalty/core"
)

// errSentBefore is core.ErrKeyReused for a form: the browser's Back button shows it again with the
// key that it was sent with.
var errSentBefore = &core.Error{
	Kind:    core.KindRule,
	Message: ResubmittedMessage,
}

func RefusalOf(err error) *core.Error {
	if errors.Is(err, core.ErrKeyReused) {
		return errSentBefore
	}
	var refusal *core.Error
	if errors.As(err, &refusal) {
		return refusal
	}
	return nil
}

// Messages of forms that didn't arrive.
const (
	IncompleteMessage  = "The form didn't arrive completely. Go back and send it again."
	ResubmittedMessage = "Already submitted with different values. Check the result first."
	TooSlowMessage     = "The form took too long to arrive. Go back and send it again."
)
