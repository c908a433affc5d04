package audit

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Change is a changed field of a subject, with its values as text; nil: no value.
type Change struct {
	Field string
	Old   *string
	New   *string
}

// Changes are the fields in which the old and new values of an entry differ, by name.
type Changes []Change

// UnmarshalJSON reads an array of the entry's old and new values.
func (c *Changes) UnmarshalJSON(values []byte) error {
	var entry [2]map[string]json.RawMessage
	if err := json.Unmarshal(values, &entry); err != nil {
		return fmt.Errorf("audit: read an entry: %w", err)
	}
	fields := map[string]json.RawMessage{}
	maps.Copy(fields, entry[0])
	maps.Copy(fields, entry[1])
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		was, is := valueText(entry[0][field]), valueText(entry[1][field])
		if !reflect.DeepEqual(was, is) {
			*c = append(*c, Change{field, was, is})
		}
	}
	return nil
}

// valueText returns a string without its quotes, other values as JSON, and nil for null.
func valueText(value json.RawMessage) *string {
	var text *string
	if value != nil && json.Unmarshal(value, &text) != nil {
		return new(string(value)) // not a string
	}
	return text
}

// Changed returns the facts that an edit changed, as they were and as they are now, for Entry.Old
// and Entry.New. Pointers are compared by what they point to.
func Changed(before, after map[string]any) (old, now map[string]any) {
	old, now = map[string]any{}, map[string]any{}
	for name, value := range after {
		if !reflect.DeepEqual(value, before[name]) {
			old[name], now[name] = before[name], value
		}
	}
	return old, now
}
