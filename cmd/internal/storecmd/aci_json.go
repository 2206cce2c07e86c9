package storecmd

import (
	"bufio"
	"io"
	"iter"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// aciView is an annotation as a JSON line, with the names of its XML.
type aciView struct {
	ID         string      `json:"id"`
	URD        string      `json:"urd"`
	Owner      string      `json:"owner"`
	URI        string      `json:"uri"`
	Title      string      `json:"title"`
	Relevance  int         `json:"relevance"`
	Urgency    int         `json:"urgency"`
	Summary    string      `json:"summary"`
	UpdateTime string      `json:"updatetime"`
	Extension  string      `json:"extension"`
	Format     string      `json:"format"`
	FileSize   int         `json:"filesize"`
	Digest     string      `json:"digest"`
	Version    int         `json:"version"`
	Expired    bool        `json:"expired"`
	Retrieved  string      `json:"retrieved,omitempty"` // when; absent while it waits
	Explain    *reasonView `json:"explain,omitempty"`
}

type reasonView struct {
	Threshold int         `json:"threshold"`
	Keywords  []shareView `json:"keywords"`
}

type shareView struct {
	Key        string  `json:"key"`
	Weight     int     `json:"weight"`
	Title      int     `json:"title"`
	Heading    int     `json:"heading"`
	Body       int     `json:"body"`
	Navigation int     `json:"navigation"`
	Saturation float64 `json:"saturation"`
	Share      float64 `json:"share"`
}

func viewACI(a control.ACI) aciView {
	return aciView{
		ID: a.ID, URD: a.URD, Owner: a.Owner, URI: a.URI, Title: a.Title, Relevance: a.Relevance, Urgency: a.Urgency,
		Summary: a.Summary, UpdateTime: moment(a.UpdateTime), Extension: a.Extension, Format: a.Format, FileSize: a.FileSize,
		Digest: a.Docbase.Digest, Version: a.Docbase.Version, Expired: a.Expired, Retrieved: moment(a.Retrieved),
		Explain: viewExplain(a.Explain),
	}
}

func viewExplain(x *xmlschema.Explain) *reasonView {
	if x == nil {
		return nil
	}
	v := &reasonView{Threshold: x.Threshold, Keywords: []shareView{}}
	for _, k := range x.Keywords {
		v.Keywords = append(v.Keywords, shareView{k.Key, k.Weight, k.Title, k.Heading, k.Body, k.Navigation, k.Saturation, k.Share})
	}
	return v
}

func writeACILines(w io.Writer, acis iter.Seq2[control.ACI, error]) error {
	buffer := bufio.NewWriter(w)
	encoder := newEncoder(buffer)
	for aci, err := range acis {
		if err == nil {
			err = encoder.Encode(viewACI(aci))
		}
		if err != nil {
			buffer.Flush()
			return err
		}
	}
	return buffer.Flush()
}
