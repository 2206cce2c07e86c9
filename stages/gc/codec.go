package gc

import (
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/storage/quads"
)

func init() {
	codec.Register(codec.Codec[storage.Collected, collected]{
		Name: "collected", Doc: "what was removed from a data directory, and how much space came back",
		Encode: encode, Decode: decode,
	})
}

type collected struct {
	Versions int   `json:"versions,omitzero" doc:"versions removed"`
	Bodies   int   `json:"bodies,omitzero" doc:"bodies removed with the last version that had them"`
	Bytes    int64 `json:"bytes,omitzero" doc:"of the records of what was removed"`
	Kept     int   `json:"kept,omitzero" doc:"versions that were about to go and were taken back"`
	Segments int   `json:"segments,omitzero" doc:"segments rewritten"`
	Freed    int64 `json:"freed,omitzero" doc:"bytes by which they shrank on disk"`
	Expired  int   `json:"expired,omitzero" doc:"annotations that their owners did not retrieve in time"`
	Trimmed  int   `json:"trimmed,omitzero" doc:"annotations removed"`
	Contexts int   `json:"contexts,omitzero" doc:"of the quad store, whose documents are stored no more, removed"`
	Quads    int   `json:"quads,omitzero" doc:"that these said"`
	Terms    int   `json:"terms,omitzero" doc:"of the quad store, which nothing used any more, removed"`
}

func encode(c storage.Collected) (collected, []byte) {
	return collected{
		c.Versions, c.Bodies, c.Bytes, c.Kept, c.Segments, c.Freed, c.Expired, c.Trimmed,
		c.Quads.Contexts, c.Quads.Quads, c.Quads.Terms,
	}, nil
}

func decode(h collected, _ []byte) (storage.Collected, error) {
	return storage.Collected{
		Collected: objects.Collected{
			Versions: h.Versions, Bodies: h.Bodies, Bytes: h.Bytes, Kept: h.Kept, Segments: h.Segments, Freed: h.Freed,
		},
		Expired: h.Expired, Trimmed: h.Trimmed,
		Quads: quads.Collected{Contexts: h.Contexts, Quads: h.Quads, Terms: h.Terms},
	}, nil
}
