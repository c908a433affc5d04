package email

// For tests.
const (
	NotExpected = notExpected
	SampleNote  = sampleNote
	SampleCode  = sampleCode
)
