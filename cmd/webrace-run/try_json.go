package main

import (
	"io"
	"math"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/usage"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
)

// trialJSON is a trial as JSON.
type trialJSON struct {
	URL       string   `json:"url,omitempty"`
	MediaType string   `json:"media_type"`
	Charset   string   `json:"charset,omitempty"`
	Language  string   `json:"language,omitempty"`
	Title     string   `json:"title"`
	Bytes     int      `json:"bytes"`
	Truncated bool     `json:"truncated,omitempty"`
	Rendered  bool     `json:"rendered,omitempty"`
	Notes     []string `json:"notes,omitempty"`  // on how it was got
	Unread    string   `json:"unread,omitempty"` // why its text was not read, or not whole
	// Usage is what it may be used for, as far as is stated.
	Usage  usage.Statements `json:"usage,omitempty"`
	Blocks int              `json:"blocks"`
	Links  int              `json:"links"`
	URDs   []scoreJSON      `json:"urds"`
	// Fields are what --field takes out of it, by name: null for nothing.
	Fields map[string]any `json:"fields,omitempty"`
	Text   []blockJSON    `json:"text,omitempty"`
}

type scoreJSON struct {
	ID        string     `json:"id"`
	Owner     string     `json:"owner"`
	URI       string     `json:"uri,omitempty"`
	Alert     bool       `json:"alert"`
	Reason    string     `json:"reason"`
	Relevance int        `json:"relevance"`
	Threshold int        `json:"threshold"` // -1 if any relevance will do
	Words     int        `json:"words"`
	Looked    int        `json:"blocks_looked_at"`
	Keywords  []hitsJSON `json:"keywords"`
	Summary   string     `json:"summary,omitempty"`
	Astray    string     `json:"astray,omitempty"`
	Warnings  []string   `json:"warnings,omitempty"`
	Number    string     `json:"number,omitempty"` // how its number stands to its condition

	Part []blockJSON `json:"part,omitempty"` // what it looks at, if that is not the whole
}

type hitsJSON struct {
	Key        string  `json:"key"`
	Weight     int     `json:"weight"` // 0 for one that must not occur
	Title      int     `json:"title"`
	Heading    int     `json:"heading"`
	Body       int     `json:"body"`
	Navigation int     `json:"navigation"`
	Saturation float64 `json:"saturation"`
	Share      float64 `json:"share"` // of the relevance; they add up to 1
}

// blockJSON is a block of the text: what was found in it stands between the offsets, in bytes.
type blockJSON struct {
	Block int        `json:"block"` // from 0
	Field string     `json:"field"`
	Text  string     `json:"text"`
	Marks []markJSON `json:"marks,omitempty"`
}

type markJSON struct {
	Start int    `json:"start"`
	End   int    `json:"end"`
	Key   string `json:"key"`
}

func (t *trial) writeJSON(w io.Writer, text string) error {
	v := trialJSON{
		URL: t.url, MediaType: t.MediaType, Charset: t.Charset, Language: t.Language, Title: t.Title,
		Bytes: len(t.body), Truncated: t.truncated, Rendered: t.rendered, Notes: t.notes, Usage: t.usage, Unread: t.Unread.Reason, Blocks: len(t.Text.Blocks), Links: len(t.Links), URDs: []scoreJSON{},
	}
	for _, score := range t.Scores {
		v.URDs = append(v.URDs, scoreToJSON(&score, text))
	}
	if text == textFull || !t.looksAtParts() {
		v.Text = blocksToJSON(&t.Whole, text)
	}
	for _, f := range t.fields {
		if v.Fields == nil {
			v.Fields = make(map[string]any)
		}
		v.Fields[f.name] = f.value
	}
	encoder := cli.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

func scoreToJSON(w *explain.Score, text string) scoreJSON {
	v := scoreJSON{
		ID: w.ID, Owner: w.Owner, URI: w.URI, Alert: w.Alerts(), Reason: string(w.Reason), Relevance: w.Relevance, Threshold: w.Explanation.Threshold,
		Words: w.Tokens, Looked: w.Looked, Keywords: []hitsJSON{}, Summary: w.Summary, Astray: w.Astray, Warnings: slices.Concat(w.Warnings, w.Remarks), Number: w.Condition,
	}
	if w.ID == adHocID {
		v.URI = ""
	}
	if w.Selected != nil {
		if w.AnyChange() && text == textMatches {
			text = textFull
		}
		v.Part = blocksToJSON(w.Selected, text)
	}
	for _, k := range w.Explanation.Keywords {
		v.Keywords = append(v.Keywords, hitsOf(k))
	}
	return v
}

func hitsOf(k match.KeywordExplanation) hitsJSON {
	v := hitsJSON{Key: k.Key, Weight: k.Weight, Saturation: thousandths(k.Saturation), Share: thousandths(k.Share)}
	for field, n := range k.Hits {
		*map[webrace.Field]*int{
			webrace.FieldTitle: &v.Title, webrace.FieldHeading: &v.Heading, webrace.FieldBody: &v.Body, webrace.FieldNavigation: &v.Navigation,
		}[webrace.Field(field)] = n
	}
	return v
}

func blocksToJSON(v *explain.MarkedText, text string) (all []blockJSON) {
	for _, number := range chosen(v, text) {
		block := v.Text.Blocks[number]
		b := blockJSON{Block: number, Field: block.Field.String(), Text: string(v.Text.Slice(block))}
		for _, m := range v.MarksIn(block) {
			b.Marks = append(b.Marks, markJSON{m.Start - int(block.Start), m.End - int(block.Start), m.Keyword})
		}
		all = append(all, b)
	}
	return all
}

func thousandths(x float64) float64 { return math.Round(1000*x) / 1000 }
