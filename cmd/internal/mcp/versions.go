package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/formats"
	"github.com/webrace/webrace/internal/visible"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
	"github.com/webrace/webrace/stages/keywordfilter/textdiff"
	"github.com/webrace/webrace/storage/objects"
)

type versionsIn struct {
	URL    string `json:"url" jsonschema:"the address of a document, in full"`
	URD    string `json:"urd,omitempty" jsonschema:"the id of a watch of yours: the document as that sees it, with its credentials"`
	Before int    `json:"before,omitempty" jsonschema:"those before this number: next of the answer before"`
}

type versionsOut struct {
	URL      string          `json:"url"`
	Versions []storedVersion `json:"versions" jsonschema:"the latest first"`
	Next     int             `json:"next,omitempty" jsonschema:"as before, for those that are older"`
}

type storedVersion struct {
	Version     int    `json:"version"`
	FetchedAt   string `json:"fetched_at"`
	ValidatedAt string `json:"validated_at,omitempty" jsonschema:"when it was last found unchanged"`
	Status      int    `json:"status,omitempty"`
	MediaType   string `json:"media_type,omitempty"`
	Bytes       int64  `json:"bytes"`
	Digest      string `json:"digest"`
}

const versionsOnPage = 50

var versionsTool = define("versions", "List the stored versions of a document, the latest first.", looks, false, nil, versions)

func versions(ctx context.Context, d *Desk, in versionsIn, _ func(string)) (*versionsOut, error) {
	document, err := d.see(ctx, in.URL, in.URD)
	if err != nil {
		return nil, err
	}
	all, err := document.history()
	if err != nil {
		return nil, err
	}
	slices.Reverse(all)
	if in.Before > 0 {
		all = slices.DeleteFunc(all, func(v objects.Version) bool { return v.Number >= in.Before })
	}
	out := &versionsOut{URL: document.shownURL(), Versions: []storedVersion{}}
	for _, v := range all[:min(len(all), versionsOnPage)] {
		out.Versions = append(out.Versions, storedVersion{v.Number, moment(v.FetchedAt), moment(v.ValidatedAt), v.Status, v.MediaType, v.Size, v.Digest.String()})
	}
	if len(all) > versionsOnPage {
		out.Next = all[versionsOnPage-1].Number
	}
	return out, nil
}

type diffIn struct {
	URL  string `json:"url" jsonschema:"the address of a document, in full"`
	From int    `json:"from,omitempty" jsonschema:"the earlier version; without both, the latest two are compared"`
	To   int    `json:"to,omitempty" jsonschema:"the later version"`
	URD  string `json:"urd,omitempty" jsonschema:"the id of a watch of yours: the document as that sees it, with its credentials"`
}

type diffOut struct {
	Notice string `json:"notice"`
	URL    string `json:"url"`
	From   int    `json:"from"`
	To     int    `json:"to"`
	Equal  bool   `json:"equal" jsonschema:"a reader sees no difference"`
	Cut    bool   `json:"cut,omitempty" jsonschema:"there is more of it than is here"`
	Text   string `json:"text" jsonschema:"quoted: a paragraph a line, behind - what went, behind + what came"`
}

var diffTool = define("diff", "Show what a reader sees changed between two versions of a document, the latest two by default.",
	looks, true, func(out *diffOut) (string, string) { return out.URL, out.shown() }, diff)

func (o *diffOut) shown() string {
	if o.Equal {
		return fmt.Sprintf("versions %d and %d: a reader sees no difference", o.From, o.To)
	}
	return fmt.Sprintf("version %d to version %d\n%s", o.From, o.To, o.Text)
}

func diff(ctx context.Context, d *Desk, in diffIn, _ func(string)) (*diffOut, error) {
	document, err := d.see(ctx, in.URL, in.URD)
	if err != nil {
		return nil, err
	}
	numbers, err := in.numbers(document)
	if err != nil {
		return nil, err
	}
	var stored [2]*explain.Stored
	for i, number := range numbers {
		version, err := document.version(number)
		if err != nil {
			return nil, err
		}
		if stored[i], err = explain.Read(ctx, document.cache, version); err == nil {
			err = d.Limits.allowsUse(version.URL, stored[i].Usage())
		}
		if err != nil {
			return nil, err
		}
	}
	out := &diffOut{Notice: notice, URL: document.shownURL(), From: numbers[0], To: numbers[1]}
	out.compare(stored)
	return out, nil
}

// numbers returns which versions are compared.
func (in diffIn) numbers(document *seen) (numbers [2]int, err error) {
	switch {
	case in.From > 0 && in.To > 0:
		return [2]int{in.From, in.To}, nil
	case in.From != 0 || in.To != 0:
		return numbers, fmt.Errorf("name both versions, from and to, or neither for the latest two: versions lists them")
	}
	all, err := document.history()
	if err != nil {
		return numbers, err
	}
	if len(all) == 1 {
		return numbers, fmt.Errorf("%s has one version, %d: there is nothing to compare it with", document.shownURL(), all[0].Number)
	}
	return [2]int{all[len(all)-2].Number, all[len(all)-1].Number}, nil
}

// linesAround is how many lines that are the same are shown around a change.
const linesAround = 2

// compare writes the difference in the manner of diff -u.
func (o *diffOut) compare(stored [2]*explain.Stored) {
	var texts [2]*webrace.Text
	var lines [2][]string
	for i, s := range stored {
		texts[i], lines[i] = s.Text, textdiff.Lines(s.Text)
		if len(s.Text.Blocks) == 0 && stored[0].Version.Digest != stored[1].Version.Digest { // its type and size are all there is to compare
			texts[i], lines[i] = &webrace.Text{}, []string{s.AsBody().String() + "\n"}
		}
	}
	json := formats.IsJSON(stored[0].MediaType) && formats.IsJSON(stored[1].MediaType)
	changes, _ := textdiff.Texts(texts, lines, json)
	o.Equal = len(changes) == 0
	var b strings.Builder
	write := func(sign string, lines []string) {
		for _, line := range lines {
			line = sign + strings.TrimSuffix(visible.Text(line), "\n") + "\n"
			if o.Cut = o.Cut || b.Len()+len(line) > mostBytes; !o.Cut {
				b.WriteString(line)
			}
		}
	}
	for _, hunk := range textdiff.Hunks(changes, len(lines[0]), len(lines[1]), linesAround) {
		write("@@ ", []string{fmt.Sprintf("-%d +%d @@", hunk.A+1, hunk.B+1)})
		at := hunk.A
		for _, c := range hunk.Changes {
			write(" ", lines[0][at:c.A])
			write("-", lines[0][c.A:c.AEnd])
			write("+", lines[1][c.B:c.BEnd])
			at = c.AEnd
		}
		write(" ", lines[0][at:hunk.AEnd])
	}
	o.Text = b.String()
}
