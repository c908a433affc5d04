package core

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Metadata are a program's own fields of a record: texts by key. The product keeps them and reads none of them.
type Metadata map[string]string

// The limits of a record's metadata.
const (
	MaxMetadataKeys  = 20
	MaxMetadataKey   = 40  // characters
	MaxMetadataValue = 500 // characters; "" is a value
)

// MetadataKey requires keys of 1 to 40 characters. It is about the keys, so a message can name the field only.
var MetadataKey = Violation{Rule: "metadata_key", Limit: MaxMetadataKey}

// Metadata reads metadata as they were sent: keys and values are neither trimmed nor composed, so that a program gets back
// what it wrote. A value's violation is of the field "metadata.key". None are nil.
func (c *Check) Metadata(field string, m Metadata) Metadata {
	if len(m) == 0 {
		return nil
	}
	if len(m) > MaxMetadataKeys {
		c.Add(field, MaxItems(MaxMetadataKeys))
		return nil
	}
	for key, value := range m {
		if n := utf8.RuneCountInString(key); n == 0 || n > MaxMetadataKey || strings.ContainsRune(key, 0) {
			if c.OK(field) {
				c.Add(field, MetadataKey)
			}
			continue
		}
		switch name := field + "." + key; {
		case strings.ContainsRune(value, 0):
			c.Add(name, NoNUL)
		case utf8.RuneCountInString(value) > MaxMetadataValue:
			c.Add(name, MaxLength(MaxMetadataValue))
		}
	}
	return m
}

// Stored returns metadata as they are stored, or nil for none.
func (m Metadata) Stored() *string {
	if len(m) == 0 {
		return nil
	}
	text, _ := json.Marshal(m) // texts can be marshalled
	return new(string(text))
}
