package xmlschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Record is an annotation as JSON, with the names of its XML, words set apart. It is the one such form: what the
// command line prints, what files and other people's programs are sent, and what stages in other languages and
// expressions know an annotation by. What is zero is left out.
type Record struct {
	ID         string            `json:"id,omitzero" doc:"of the annotation"`
	URD        string            `json:"urd,omitzero" doc:"the id of the request that it answers"`
	Owner      string            `json:"owner,omitzero" doc:"who it is for"`
	URI        string            `json:"uri,omitzero" doc:"of the document"`
	Thread     string            `json:"thread,omitzero" doc:"of a message: the ID of the one that began what it belongs to"`
	Title      string            `json:"title,omitzero" doc:"of the document"`
	Relevance  int               `json:"relevance,omitzero" doc:"0 to 100"`
	Urgency    int               `json:"urgency,omitzero" doc:"1 to 3, 3 the most urgent"`
	Summary    string            `json:"summary,omitzero" doc:"what the document says of it"`
	UpdateTime time.Time         `json:"update_time,omitzero" doc:"when the document was fetched"`
	Extension  string            `json:"extension,omitzero" doc:"of the document's name: html"`
	Format     string            `json:"format,omitzero" doc:"of the document: text, html, binary, multipart or unknown"`
	FileSize   int               `json:"file_size,omitzero" doc:"in bytes"`
	Docbase    RecordDocbase     `json:"docbase,omitzero" doc:"the stored version: digest, version, since (the version that the owner had seen before), secret, name; and fingerprints of what the owner was shown, which tell mirrors: likeness, shown, matched"`
	Expired    bool              `json:"expired,omitzero" doc:"its owner did not retrieve it in time"`
	Retrieved  time.Time         `json:"retrieved,omitzero" doc:"when its owner took it, if that is known; absent while it waits"`
	Explain    *RecordExplain    `json:"explain,omitzero" doc:"why it was made: relevance, threshold, and keywords with key, weight and hits in title, heading, body and navigation, saturation and share"`
	Judgement  *RecordJudgement  `json:"judgement,omitzero" doc:"what a model was asked of it: question, answer (yes, no, or none: it was not judged), reason (in the words of the model, or why there is no answer) and model; before that question, news (what is asked of) and forbidden (why it must not be)"`
	Also       RecordAlso        `json:"also,omitzero" doc:"where else the same text stands, or nearly the same: count, and documents with uri and version"`
	Twins      *RecordTwins      `json:"twins,omitzero" doc:"before it is stored: ids of annotations of the same for other URDs of the owner, and the uri of its own URD; with one that is there it is listed"`
	Former     []string          `json:"former,omitzero" doc:"before it is stored: the URLs at which the document was before it moved for good, which it is no mirror of"`
	Values     map[string]string `json:"values,omitempty" doc:"what stages have added, by name"`
}

// RecordDocbase is a [Docbase].
type RecordDocbase struct {
	Digest   string      `json:"digest,omitzero"`
	Version  int         `json:"version,omitzero"`
	Since    int         `json:"since,omitzero"`
	Secret   string      `json:"secret,omitzero"`
	Likeness Fingerprint `json:"likeness,omitzero"`
	Shown    Fingerprint `json:"shown,omitzero"`
	Matched  Fingerprint `json:"matched,omitzero"`
	Name     string      `json:"name,omitzero"`
}

// Fingerprint is 64 bits that are written as sixteen digits: JSON's numbers cannot hold them.
type Fingerprint uint64

// MarshalText writes it.
func (f Fingerprint) MarshalText() ([]byte, error) { return []byte(writePrint(uint64(f))), nil }

// UnmarshalText reads what MarshalText wrote.
func (f *Fingerprint) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	if err != nil || len(text) != 16 {
		return fmt.Errorf("%q is not sixteen digits from 0 to f", text)
	}
	*f = Fingerprint(n)
	return nil
}

// RecordExplain is an [Explain].
type RecordExplain struct {
	Relevance int           `json:"relevance,omitzero"`
	Threshold int           `json:"threshold,omitzero"`
	Keywords  []RecordShare `json:"keywords,omitzero"`
}

// RecordShare is a [KeywordShare].
type RecordShare struct {
	Key        string  `json:"key,omitzero"`
	Weight     int     `json:"weight,omitzero"`
	Title      int     `json:"title,omitzero"`
	Heading    int     `json:"heading,omitzero"`
	Body       int     `json:"body,omitzero"`
	Navigation int     `json:"navigation,omitzero"`
	Saturation float64 `json:"saturation,omitzero"`
	Share      float64 `json:"share,omitzero"`
}

// RecordJudgement is a [Judgement].
type RecordJudgement struct {
	Question string `json:"question,omitzero"`
	Answer   string `json:"answer,omitzero"`
	Reason   string `json:"reason,omitzero"`
	Model    string `json:"model,omitzero"`
	News     string `json:"news,omitzero"`

	Forbidden string `json:"forbidden,omitzero"`
}

// RecordTwins is [Twins].
type RecordTwins struct {
	IDs []string `json:"ids,omitzero"`
	URI string   `json:"uri,omitzero"`
}

// RecordAlso is an [Also].
type RecordAlso struct {
	Count     int            `json:"count,omitzero"`
	Documents []RecordMirror `json:"documents,omitzero"`
}

// RecordMirror is a [Mirror].
type RecordMirror struct {
	URI     string `json:"uri,omitzero"`
	Version int    `json:"version,omitzero"`
}

// Record returns the annotation as JSON has it. It shares its values.
func (a *ACI) Record() Record {
	r := Record{
		ID: a.ID, URD: a.URD, Owner: a.Owner, URI: a.URI, Thread: a.Thread, Title: a.Title, Relevance: a.Relevance, Urgency: a.Urgency,
		Summary: a.Summary, UpdateTime: a.UpdateTime, Extension: a.Extension, Format: a.Format, FileSize: a.FileSize,
		Docbase: RecordDocbase{
			a.Docbase.Digest, a.Docbase.Version, a.Docbase.Since, a.Docbase.Secret, Fingerprint(a.Docbase.Likeness),
			Fingerprint(a.Docbase.Shown), Fingerprint(a.Docbase.Matched), a.Docbase.Name,
		},
		Expired: a.Expired, Judgement: (*RecordJudgement)(a.Judgement), Also: RecordAlso{Count: a.Also.Count}, Twins: (*RecordTwins)(a.Twins), Former: a.Former, Values: a.Values,
	}
	if !r.UpdateTime.IsZero() {
		r.UpdateTime = r.UpdateTime.UTC()
	}
	for _, m := range a.Also.Documents {
		r.Also.Documents = append(r.Also.Documents, RecordMirror(m))
	}
	if x := a.Explain; x != nil {
		r.Explain = &RecordExplain{Relevance: x.Relevance, Threshold: x.Threshold}
		for _, k := range x.Keywords {
			r.Explain.Keywords = append(r.Explain.Keywords, RecordShare(k))
		}
	}
	return r
}

// ACI returns the annotation that a record is of.
func (r *Record) ACI() *ACI {
	a := &ACI{
		ID: r.ID, URD: r.URD, Owner: r.Owner, URI: r.URI, Thread: r.Thread, Title: r.Title, Relevance: r.Relevance, Urgency: r.Urgency,
		Summary: r.Summary, UpdateTime: r.UpdateTime, Extension: r.Extension, Format: r.Format, FileSize: r.FileSize,
		Docbase: Docbase{
			Digest: r.Docbase.Digest, Version: r.Docbase.Version, Since: r.Docbase.Since, Secret: r.Docbase.Secret,
			Likeness: uint64(r.Docbase.Likeness), Shown: uint64(r.Docbase.Shown), Matched: uint64(r.Docbase.Matched), Name: r.Docbase.Name,
		},
		Expired: r.Expired, Judgement: (*Judgement)(r.Judgement), Also: Also{Count: r.Also.Count}, Twins: (*Twins)(r.Twins), Former: r.Former, Values: r.Values,
	}
	for _, m := range r.Also.Documents {
		a.Also.Documents = append(a.Also.Documents, Mirror(m))
	}
	if x := r.Explain; x != nil {
		a.Explain = &Explain{Relevance: x.Relevance, Threshold: x.Threshold}
		for _, k := range x.Keywords {
			a.Explain.Keywords = append(a.Explain.Keywords, KeywordShare(k))
		}
	}
	return a
}

// MarshalJSON writes the annotation's [Record].
func (a *ACI) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // a caller that wants < escaped says so to its own encoder
	err := e.Encode(a.Record())
	return b.Bytes(), err
}

// UnmarshalJSON reads the annotation's [Record].
func (a *ACI) UnmarshalJSON(data []byte) error {
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	*a = *r.ACI()
	return nil
}
