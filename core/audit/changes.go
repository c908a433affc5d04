package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Change is one field of a subject: what it was and what it became, as text. Nil: there
// was nothing, or nothing is left.
type Change struct {
	Field string
	Old   *string
	New   *string
}

// changes are the fields that differ, in the order of their names.
func changes(old, now []byte) ([]Change, error) {
	was, err := facts(old)
	if err != nil {
		return nil, err
	}
	is, err := facts(now)
	if err != nil {
		return nil, err
	}
	fields := maps.Clone(was)
	maps.Copy(fields, is)
	var changed []Change
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if bytes.Equal(was[field], is[field]) {
			continue
		}
		c := Change{Field: field}
		if c.Old, err = text(was[field]); err != nil {
			return nil, err
		}
		if c.New, err = text(is[field]); err != nil {
			return nil, err
		}
		if c.Old != nil || c.New != nil {
			changed = append(changed, c)
		}
	}
	return changed, nil
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

func facts(document []byte) (map[string]json.RawMessage, error) {
	facts := map[string]json.RawMessage{}
	if document == nil {
		return facts, nil
	}
	if err := json.Unmarshal(document, &facts); err != nil {
		return nil, fmt.Errorf("audit: read an entry: %w", err)
	}
	return facts, nil
}

// text is a value as somebody reads it: a string without its quotes, everything else as
// JSON writes it.
func text(value json.RawMessage) (*string, error) {
	if value == nil || string(value) == "null" {
		return nil, nil //nolint:nilnil // no value
	}
	s := string(value)
	if value[0] == '"' {
		if err := json.Unmarshal(value, &s); err != nil {
			return nil, fmt.Errorf("audit: read a value: %w", err)
		}
	}
	return &s, nil
}
