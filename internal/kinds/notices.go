package kinds

import (
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
)

func init() {
	pipeline.RegisterCodec(pipeline.Codec[*webrace.Notice, notice]{
		Name: "notice", Doc: "how the start of somebody's crawl fares: it fails, or answers again", Encode: encodeNotice, Decode: decodeNotice,
	})
}

type notice struct {
	ID       string    `json:"id,omitzero" doc:"of the notice"`
	State    string    `json:"state,omitzero" doc:"failing or recovered"`
	Owner    string    `json:"owner,omitzero" doc:"who it is for"`
	URD      string    `json:"urd,omitzero" doc:"the id of the request whose crawl begins there"`
	URI      string    `json:"uri,omitzero" doc:"where it begins"`
	Reason   string    `json:"reason,omitzero" doc:"why the last attempt failed"`
	Failures int       `json:"failures,omitzero" doc:"rounds in a row that failed, or had"`
	At       time.Time `json:"at,omitzero" doc:"when that was found"`
}

func encodeNotice(n *webrace.Notice) (notice, []byte) {
	return notice{n.ID, string(n.State), n.Owner, n.URD, n.URI, n.Reason, n.Failures, n.At}, nil
}

func decodeNotice(h notice, _ []byte) (*webrace.Notice, error) {
	return &webrace.Notice{
		ID: h.ID, State: webrace.SourceState(h.State), Owner: h.Owner, URD: h.URD, URI: h.URI, Reason: h.Reason, Failures: h.Failures, At: h.At,
	}, nil
}
