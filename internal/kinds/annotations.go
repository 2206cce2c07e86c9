package kinds

import (
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/xmlschema"
)

func init() {
	pipeline.RegisterCodec(pipeline.Codec[*xmlschema.ACI, aci]{
		Name: "aci", Doc: "an annotation: a page that matters to an owner, and why", Encode: encodeACI, Decode: decodeACI,
	})
}

type aci struct {
	ID         string    `json:"id,omitzero" doc:"of the annotation"`
	URD        string    `json:"urd,omitzero" doc:"the id of the request that it answers"`
	Owner      string    `json:"owner,omitzero" doc:"who it is for"`
	URI        string    `json:"uri,omitzero" doc:"of the document"`
	Title      string    `json:"title,omitzero" doc:"of the document"`
	Extension  string    `json:"extension,omitzero" doc:"of the document's name: html"`
	Format     string    `json:"format,omitzero" doc:"of the document"`
	Relevance  int       `json:"relevance,omitzero" doc:"0 to 100"`
	UpdateTime time.Time `json:"update_time,omitzero" doc:"when the document was fetched"`
	FileSize   int       `json:"file_size,omitzero" doc:"in bytes"`
	Urgency    int       `json:"urgency,omitzero" doc:"1 to 3, 3 the most urgent"`
	Docbase    docbase   `json:"docbase,omitzero" doc:"the stored version: digest, version, since, likeness, name"`
	Expired    bool      `json:"expired,omitzero" doc:"nobody retrieved it in time"`
	Summary    string    `json:"summary,omitzero" doc:"what the document says of it"`
	Explain    *explain  `json:"explain,omitzero" doc:"why it was made: relevance, threshold, and keywords with key, weight and hits in title, heading, body and navigation, saturation and share"`
}

type docbase struct {
	Digest   string `json:"digest,omitzero"`
	Version  int    `json:"version,omitzero"`
	Since    int    `json:"since,omitzero"`
	Likeness hash   `json:"likeness,omitzero"`
	Name     string `json:"name,omitzero"`
}

type explain struct {
	Relevance int       `json:"relevance,omitzero"`
	Threshold int       `json:"threshold,omitzero"`
	Keywords  []keyword `json:"keywords,omitzero"`
}

type keyword struct {
	Key        string `json:"key,omitzero"`
	Weight     int    `json:"weight,omitzero"`
	Title      int    `json:"title,omitzero"`
	Heading    int    `json:"heading,omitzero"`
	Body       int    `json:"body,omitzero"`
	Navigation int    `json:"navigation,omitzero"`

	Saturation float64 `json:"saturation,omitzero"`
	Share      float64 `json:"share,omitzero"`
}

func encodeACI(a *xmlschema.ACI) (aci, []byte) {
	h := aci{
		ID: a.ID, URD: a.URD, Owner: a.Owner, URI: a.URI, Title: a.Title, Extension: a.Extension, Format: a.Format,
		Relevance: a.Relevance, UpdateTime: a.UpdateTime, FileSize: a.FileSize, Urgency: a.Urgency,
		Docbase: docbase{a.Docbase.Digest, a.Docbase.Version, a.Docbase.Since, hash(a.Docbase.Likeness), a.Docbase.Name},
		Expired: a.Expired, Summary: a.Summary,
	}
	if e := a.Explain; e != nil {
		h.Explain = &explain{e.Relevance, e.Threshold, convert(e.Keywords, func(k xmlschema.KeywordShare) keyword { return keyword(k) })}
	}
	return h, nil
}

func decodeACI(h aci, _ []byte) (*xmlschema.ACI, error) {
	a := &xmlschema.ACI{
		ID: h.ID, URD: h.URD, Owner: h.Owner, URI: h.URI, Title: h.Title, Extension: h.Extension, Format: h.Format,
		Relevance: h.Relevance, UpdateTime: h.UpdateTime, FileSize: h.FileSize, Urgency: h.Urgency,
		Docbase: xmlschema.Docbase{
			Digest: h.Docbase.Digest, Version: h.Docbase.Version, Since: h.Docbase.Since,
			Likeness: uint64(h.Docbase.Likeness), Name: h.Docbase.Name,
		},
		Expired: h.Expired, Summary: h.Summary,
	}
	if e := h.Explain; e != nil {
		a.Explain = &xmlschema.Explain{
			Relevance: e.Relevance, Threshold: e.Threshold,
			Keywords: convert(e.Keywords, func(k keyword) xmlschema.KeywordShare { return xmlschema.KeywordShare(k) }),
		}
	}
	return a, nil
}
