package xmlschema

import "time"

// Record is an annotation as JSON, with the names of its XML: what the command line prints, and what is sent to
// others' programs.
type Record struct {
	ID         string         `json:"id"`
	URD        string         `json:"urd"`
	Owner      string         `json:"owner"`
	URI        string         `json:"uri"`
	Title      string         `json:"title"`
	Relevance  int            `json:"relevance"`
	Urgency    int            `json:"urgency"`
	Summary    string         `json:"summary"`
	UpdateTime string         `json:"updatetime"` // RFC 3339 in UTC; empty if unknown
	Extension  string         `json:"extension"`
	Format     string         `json:"format"`
	FileSize   int            `json:"filesize"`
	Digest     string         `json:"digest"`
	Version    int            `json:"version"`
	Expired    bool           `json:"expired"`
	Retrieved  string         `json:"retrieved,omitempty"` // when its owner took it, if that is known; absent while it waits
	Explain    *RecordExplain `json:"explain,omitempty"`
}

// RecordExplain is why a [Record] was made.
type RecordExplain struct {
	Threshold int           `json:"threshold"`
	Keywords  []RecordShare `json:"keywords"`
}

// RecordShare is a keyword's part in it.
type RecordShare struct {
	Key        string  `json:"key"`
	Weight     int     `json:"weight"`
	Title      int     `json:"title"`
	Heading    int     `json:"heading"`
	Body       int     `json:"body"`
	Navigation int     `json:"navigation"`
	Saturation float64 `json:"saturation"`
	Share      float64 `json:"share"`
}

// Record returns the annotation as JSON has it.
func (a *ACI) Record() Record {
	r := Record{
		ID: a.ID, URD: a.URD, Owner: a.Owner, URI: a.URI, Title: a.Title, Relevance: a.Relevance, Urgency: a.Urgency,
		Summary: a.Summary, Extension: a.Extension, Format: a.Format, FileSize: a.FileSize,
		Digest: a.Docbase.Digest, Version: a.Docbase.Version, Expired: a.Expired, Explain: a.Explain.record(),
	}
	if !a.UpdateTime.IsZero() {
		r.UpdateTime = a.UpdateTime.UTC().Format(time.RFC3339)
	}
	return r
}

func (x *Explain) record() *RecordExplain {
	if x == nil {
		return nil
	}
	r := &RecordExplain{Threshold: x.Threshold, Keywords: []RecordShare{}}
	for _, k := range x.Keywords {
		r.Keywords = append(r.Keywords, RecordShare(k))
	}
	return r
}
