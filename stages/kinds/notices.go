package kinds

import (
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline/codec"
)

func init() {
	codec.Register(codec.Codec[*webrace.Notice, notice]{
		Name: "notice", Doc: "how the start of an owner's crawl fares: it fails, answers again, or has nothing to find; or that rules cost too much on a page", Encode: encodeNotice, Decode: decodeNotice,
	})
}

// notice is a webrace.Notice field by field, so that each is the other.
type notice struct {
	ID       string              `json:"id,omitzero" doc:"of the notice"`
	State    webrace.SourceState `json:"state,omitzero" doc:"failing, recovered, finds-nothing or too-costly"`
	Owner    string              `json:"owner,omitzero" doc:"who it is for"`
	URD      string              `json:"urd,omitzero" doc:"the id of the request whose crawl begins there"`
	URI      string              `json:"uri,omitzero" doc:"where it begins, or the page"`
	Reason   string              `json:"reason,omitzero" doc:"why the last attempt failed, there is nothing to find, or the page is not looked at"`
	Failures int                 `json:"failures,omitzero" doc:"rounds in a row that failed, had nothing to find, or had failed"`
	At       time.Time           `json:"at,omitzero" doc:"when that was found"`
}

func encodeNotice(n *webrace.Notice) (notice, []byte) { return notice(*n), nil }

func decodeNotice(h notice, _ []byte) (*webrace.Notice, error) {
	n := webrace.Notice(h)
	return &n, nil
}
