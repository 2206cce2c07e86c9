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
	codec.Register(codec.Codec[*webrace.Gone, gone]{
		Name: "gone", Doc: "that a URL has no document, or none any more that may be kept", Encode: encodeGone, Decode: decodeGone,
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

// gone is a webrace.Gone field by field.
type gone struct {
	URL    string    `json:"url,omitzero" doc:"that was asked for, normalized"`
	Secret string    `json:"secret,omitzero" doc:"the name of the credentials it was asked for with"`
	Reason string    `json:"reason,omitzero" doc:"why there is none: 404 Not Found"`
	At     time.Time `json:"at,omitzero" doc:"when that was found"`
}

func encodeGone(g *webrace.Gone) (gone, []byte) { return gone(*g), nil }

func decodeGone(h gone, _ []byte) (*webrace.Gone, error) {
	g := webrace.Gone(h)
	return &g, nil
}
