// Package annotate turns what an owner asked for into a profile to match documents with, and what was
// matched into the annotation that the owner is told: URD in, ACI out.
//
// An annotation can be stored whatever the page holds: texts of a page are cut to a length, and characters
// that XML cannot carry are replaced.
package annotate

import (
	"cmp"
	"math"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/formats"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/xmlschema"
)

const (
	// SummaryBytes is the longest summary of an annotation, unless its alert was asked for another.
	SummaryBytes = 300
	// threadBytes is the longest line that a message may have.
	threadBytes = 998

	// TitleBytes is the longest title of an annotation: a page may call itself a book.
	TitleBytes = 500
	// MostExplained is how many keywords an annotation explains, those that matter most: a request may
	// have more than can be stored with each of its annotations.
	MostExplained = 100
)

// Profile returns what a request wants to be told of. A request for any change has an empty profile,
// which every document that has something new to look at meets.
func Profile(u *xmlschema.URD) match.Profile {
	p := match.Profile{ID: u.ID, Threshold: u.Keywords.Threshold, Once: u.Remember > 1}
	if u.AnyChange() {
		p.Threshold = match.AnyRelevance
		return p
	}
	if p.Threshold == 0 {
		p.Threshold = match.AnyRelevance
	}
	p.Group = group(u.Keywords.Match, u.Keywords.Keywords, u.Keywords.Groups)
	return p
}

// Selection returns the part of a page that a request looks at; nil for all of it.
func Selection(u *xmlschema.URD) (*selection.Selection, error) { return selection.Compile(u.Rules()) }

func group(mode string, keywords []xmlschema.Keyword, groups []xmlschema.Group) match.Group {
	g := match.Group{Match: modes[mode]}
	for _, k := range keywords {
		g.Keywords = append(g.Keywords, match.Keyword{
			Key: k.Key, Weight: k.Weight, Exact: k.Exact, Substring: k.Match == xmlschema.MatchSubstring,
		})
	}
	for _, sub := range groups {
		g.Groups = append(g.Groups, group(sub.Match, sub.Keywords, sub.Groups))
	}
	return g
}

var modes = map[string]match.Mode{
	xmlschema.MatchAny: match.Any, xmlschema.MatchAll: match.All, xmlschema.MatchNone: match.None,
}

// ACI returns the annotation that an alert on a document makes for the owner of a request, who had seen a version
// of the document before, or none (0). Its id is the same whenever the same version is matched for the same
// interest, so that an owner is told of it once.
func ACI(u *xmlschema.URD, a match.Alert, d *webrace.Document, since int) *xmlschema.ACI {
	return Of(d).ACI(u, a, since)
}

// Document is what all annotations of a document have in common.
type Document struct{ common xmlschema.ACI }

// Of returns what annotations of a document have in common, to make many of them.
func Of(d *webrace.Document) *Document {
	return &Document{xmlschema.ACI{
		URI:        d.URL,
		Thread:     clean(d.Thread, threadBytes),
		Title:      clean(titleOf(d), TitleBytes),
		Extension:  extension(d.URL, d.MediaType),
		Format:     format(d.MediaType),
		UpdateTime: d.At.UTC().Truncate(time.Second),
		FileSize:   len(d.Body),
		Docbase:    xmlschema.Docbase{Digest: d.Digest.String(), Version: d.Version, Secret: d.Secret},
	}}
}

// ACI is the function of that name.
func (d *Document) ACI(u *xmlschema.URD, a match.Alert, since int) *xmlschema.ACI {
	aci, interest := d.common, u.InterestHash()
	docbase := &aci.Docbase
	docbase.Since, docbase.Likeness, docbase.Shown = since, a.Shown.Likeness, a.Shown.Text
	docbase.Matched = xmlschema.MatchedID(u.ID, interest, a.Matched)
	aci.ID = xmlschema.ACIID(u.ID, interest, aci.URI, *docbase)
	aci.URD, aci.Owner, aci.Urgency = u.ID, u.Owner, u.Urgency
	aci.Relevance, aci.Summary, aci.Explain = a.Relevance, clean(a.Summary, len(a.Summary)), Explain(a.Explanation)
	return &aci
}

// titleOf returns the title of a document; of one that has none the name of its file, or of its host.
func titleOf(d *webrace.Document) string {
	if title := strings.TrimSpace(d.Title); title != "" {
		return d.Title
	}
	u, err := url.Parse(d.URL)
	if err != nil {
		return d.URL
	}
	if name := path.Base(u.Path); name != "/" && name != "." {
		return name
	}
	return cmp.Or(u.Host, d.URL)
}

// clean returns at most so many bytes of a text, without control characters and what is no character.
func clean(text string, most int) string {
	if len(text) <= most && isPrintable(text) {
		return text
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r):
			return ' '
		case r == '\uFFFE' || r == '\uFFFF':
			return utf8.RuneError
		}
		return r
	}, text[:min(len(text), most)])
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// isPrintable reports whether a text has printable characters of ASCII alone, as most have.
func isPrintable(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// Explain returns how a relevance came about, as it is written in an annotation: the keywords that count,
// not those that only set a condition.
func Explain(e match.Explanation) *xmlschema.Explain {
	x := &xmlschema.Explain{Relevance: e.Relevance, Threshold: max(e.Threshold, 0)}
	for _, k := range e.Keywords {
		if k.Weight == 0 {
			continue
		}
		x.Keywords = append(x.Keywords, xmlschema.KeywordShare{
			Key: k.Key, Weight: k.Weight,
			Title: hits(k, webrace.FieldTitle), Heading: hits(k, webrace.FieldHeading),
			Body: hits(k, webrace.FieldBody), Navigation: hits(k, webrace.FieldNavigation),
			Saturation: rounded(k.Saturation), Share: rounded(k.Saturation * float64(k.Weight) / 5),
		})
	}
	if len(x.Keywords) > MostExplained {
		slices.SortStableFunc(x.Keywords, func(a, b xmlschema.KeywordShare) int { return cmp.Compare(b.Share, a.Share) })
		x.Keywords = x.Keywords[:MostExplained]
	}
	return x
}

func hits(k match.KeywordExplanation, f webrace.Field) int {
	if k.Hits == nil {
		return 0
	}
	return k.Hits[f]
}

// rounded keeps three decimals: more would only make two annotations differ that mean the same.
func rounded(x float64) float64 { return math.Round(x*1000) / 1000 }

// extension is what the document's name ends in, or what its media type is usually called.
func extension(address, mediaType string) string {
	if u, err := url.Parse(address); err == nil {
		ext := strings.ToLower(strings.TrimPrefix(path.Ext(u.Path), "."))
		if ext != "" && len(ext) <= 8 && strings.Trim(ext, "abcdefghijklmnopqrstuvwxyz0123456789") == "" {
			return ext
		}
	}
	switch mediaType {
	case "text/html", "application/xhtml+xml":
		return "html"
	case "text/plain":
		return "txt"
	case formats.CSV.MediaType():
		return "csv"
	case formats.Markdown.MediaType():
		return "md"
	case "message/rfc822", "message/global":
		return "eml"
	}
	switch {
	case strings.HasSuffix(mediaType, "xml"):
		return "xml"
	case formats.IsJSON(mediaType):
		return "json"
	}
	return ""
}

func format(mediaType string) string {
	switch {
	case mediaType == "text/html", mediaType == "application/xhtml+xml":
		return xmlschema.FormatHTML
	case strings.HasPrefix(mediaType, "text/"), strings.HasSuffix(mediaType, "xml"), formats.IsJSON(mediaType):
		return xmlschema.FormatText
	case strings.HasPrefix(mediaType, "multipart/"), strings.HasPrefix(mediaType, "message/"):
		return xmlschema.FormatMultipart
	case mediaType == "":
		return xmlschema.FormatUnknown
	}
	return xmlschema.FormatBinary
}
