package kinds

import (
	"encoding/base64"

	"github.com/webrace/webrace"
)

type screenshot struct {
	PNG   picture `json:"png,omitzero"`
	Whole bool    `json:"whole,omitzero"`
}

// picture is written in base 64, wherever it is written.
type picture []byte

func (p picture) MarshalText() ([]byte, error) { return base64.StdEncoding.AppendEncode(nil, p), nil }

func (p *picture) UnmarshalText(text []byte) (err error) {
	*p, err = base64.StdEncoding.AppendDecode(nil, text)
	return err
}

func encodeScreenshot(s *webrace.Screenshot) *screenshot {
	if s == nil {
		return nil
	}
	return &screenshot{s.PNG, s.Whole}
}

func decodeScreenshot(s *screenshot) *webrace.Screenshot {
	if s == nil {
		return nil
	}
	return &webrace.Screenshot{PNG: s.PNG, Whole: s.Whole}
}
