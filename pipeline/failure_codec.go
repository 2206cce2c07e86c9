package pipeline

import (
	"encoding/json"
	"errors"

	"github.com/webrace/webrace/pipeline/codec"
)

const failureKind = "failure"

func init() {
	codec.Register(codec.Codec[*Failure, failureHeader]{
		Name: failureKind, Doc: "an item that a stage failed on, and why", Body: "the body of the value",
		Encode: encodeFailure, Decode: decodeFailure, Own: ownFailure,
	})
}

type failureHeader struct {
	Stage    string          `json:"stage,omitzero" doc:"the stage that failed"`
	Error    string          `json:"error,omitzero" doc:"why"`
	Attempts int             `json:"attempts,omitzero" doc:"how often it was tried"`
	Kind     string          `json:"kind,omitzero" doc:"the kind of the value"`
	Value    json.RawMessage `json:"value,omitzero" doc:"the header of the value"`
}

// encodeFailure leaves out a value that cannot be written: that something failed is worth knowing without.
func encodeFailure(f *Failure) (failureHeader, []byte) {
	h := failureHeader{Stage: f.Stage, Attempts: f.Attempts}
	if f.Err != nil {
		h.Error = f.Err.Error()
	}
	kind, value, body, err := codec.Encode(f.Value)
	if err != nil || f.Value == nil {
		return h, nil
	}
	h.Kind, h.Value = kind, value
	return h, body
}

func decodeFailure(h failureHeader, body []byte) (*Failure, error) {
	f := &Failure{Stage: h.Stage, Attempts: h.Attempts, Err: errors.New(h.Error)}
	if h.Kind == "" {
		return f, nil
	}
	value, err := codec.Decode(h.Kind, h.Value, body)
	f.Value = value
	return f, err
}

func ownFailure(f *Failure) *Failure {
	own := *f
	own.Value = codec.Own(f.Value)
	return &own
}

// MarshalJSON writes the failure by the names of its kind, as every format does. Of the error, its text is all that
// survives being written.
func (f *Failure) MarshalJSON() ([]byte, error) {
	_, header, _, err := codec.Encode(f)
	return header, err
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *Failure) UnmarshalJSON(text []byte) error {
	read, err := codec.Decode(failureKind, text, nil)
	if err == nil {
		*f = *read.(*Failure)
	}
	return err
}
