package exec

import (
	"encoding/json"
	"reflect"
	"testing"
)

var headers = []string{
	`{"type":"done","id":1}`, `{"type":"done","id":18446744073709551615}`, `{"type":"done","id":18446744073709551616}`, `{"type":"done","id":01}`,
	`{"type":"done","id":-1}`, `{"type":"done","id":1e3}`, `{"type":"done","id":}`, `{"type":"done","id":1,"count":{"a":1}}`, `{"type":"done","id":1}}`,
	`{"type":"emit","id":7,"keep":true}`, `{"type":"emit","id":7,"keep":false}`, `{"type":"emit","id":7,"keep":true,"port":"x"}`, `{"type":"emit","id":7}`,
	`{"type":"emit","id":,"keep":true}`, `{"id":1,"type":"done"}`, `{"type":"done","id":1,"keep":true}`, `{"type":"emit","id":1_0,"keep":true}`, ``, `{}`,
}

// FuzzPlainMessages holds what is read without a reader of JSON against what that reads.
func FuzzPlainMessages(f *testing.F) {
	for _, header := range headers {
		f.Add([]byte(header))
	}
	f.Fuzz(func(t *testing.T, header []byte) {
		got, plain := readPlain(header)
		if !plain {
			return
		}
		var want message
		if err := json.Unmarshal(header, &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is read as %+v; want %+v, %v", header, got, want, err)
		}
	})
}

func TestPlainMessagesAreReadAsSuch(t *testing.T) {
	for header, want := range map[string]bool{headers[0]: true, headers[1]: true, headers[9]: true, headers[2]: false, headers[11]: false} {
		if _, plain := readPlain([]byte(header)); plain != want {
			t.Errorf("%s: %v", header, plain)
		}
	}
}
