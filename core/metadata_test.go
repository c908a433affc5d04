package core_test

import (
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"example.com/loyalty/core"
)

func TestMetadata(t *testing.T) {
	t.Parallel()
	full := core.Metadata{}
	for i := range core.MaxMetadataKeys {
		full[strconv.Itoa(i)] = strings.Repeat("å", core.MaxMetadataValue)
	}
	crowded := core.Metadata{"one more": ""}
	for key, value := range full {
		crowded[key] = value
	}
	long := strings.Repeat("ä", core.MaxMetadataKey)
	for name, test := range map[string]struct {
		given core.Metadata
		want  core.Fields
	}{
		"as many and as long as may be": {full, nil},
		"the longest key":               {core.Metadata{long: " kept as it is "}, nil},
		"an empty value":                {core.Metadata{"size": ""}, nil},
		"one key too many":              {crowded, core.Fields{"metadata": {core.MaxItems(20)}}},
		"a key too long":                {core.Metadata{long + "x": "1"}, core.Fields{"metadata": {core.MetadataKey}}},
		"an empty key and a long one":   {core.Metadata{"": "1", long + "x": "1"}, core.Fields{"metadata": {core.MetadataKey}}},
		"a key with NUL":                {core.Metadata{"a\x00": "1"}, core.Fields{"metadata": {core.MetadataKey}}},
		"a value with NUL":              {core.Metadata{"size": "\x00"}, core.Fields{"metadata.size": {core.NoNUL}}},
		"a value too long": {core.Metadata{"size": strings.Repeat("x", 501), "colour": "red"}, core.Fields{
			"metadata.size": {core.MaxLength(500)},
		}},
	} {
		check := core.NewCheck(nil)
		read := check.Metadata("metadata", test.given)
		var refusal *core.Error
		errors.As(check.Err(), &refusal)
		switch {
		case test.want == nil && (refusal != nil || !reflect.DeepEqual(read, test.given)):
			t.Errorf("%s: read as %v, refused: %v", name, read, refusal)
		case test.want != nil && (refusal == nil || !reflect.DeepEqual(refusal.Fields, test.want)):
			t.Errorf("%s: %v, want %v", name, refusal, test.want)
		}
	}
	if read := core.NewCheck(nil).Metadata("metadata", core.Metadata{}); read != nil {
		t.Errorf("no keys are read as %v, want nil", read)
	}
}
