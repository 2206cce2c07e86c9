package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/pflag"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/reading"
	"github.com/webrace/webrace/internal/selection"
)

// ReadingFlags are those by which a command is told what of a document to show as Markdown.
type ReadingFlags struct {
	All       bool
	Select    []string
	MostWords int
	JSON      bool

	wanted reading.Options
}

// Add adds the flags.
func (r *ReadingFlags) Add(f *pflag.FlagSet) {
	f.BoolVar(&r.All, "all", false, "all of a page, not its main part alone")
	f.StringArrayVar(&r.Select, "select", nil, "this part of a page instead, by `css:RULE|xpath:RULE`, as often as needed")
	f.IntVar(&r.MostWords, "max-words", 0, "at most `N` words, in whole paragraphs (0: all)")
	f.BoolVar(&r.JSON, "json", false, "as a line of JSON")
}

// Prepare checks them, before anything is read.
func (r *ReadingFlags) Prepare() error {
	if r.MostWords < 0 {
		return Wrongf("--max-words %d: it is a number of words, or 0 for all", r.MostWords)
	}
	if r.All && len(r.Select) > 0 {
		return Wrongf("--all is all of a page, and --select a part: choose one")
	}
	rules, err := ParseRules("--select", r.Select)
	if err != nil {
		return Wrong(err)
	}
	r.wanted.All = r.All
	for _, rule := range rules {
		language := selection.Language(rule.Language)
		if language != selection.CSS && language != selection.XPath {
			return Wrongf("--select %s:%s: only css: and xpath: choose elements of a page", rule.Language, rule.Text)
		}
		finder, err := selection.NewFinder(language, rule.Text)
		if err != nil {
			return Wrongf("--select %s:%s: %w", rule.Language, rule.Text, err)
		}
		r.wanted.Select = append(r.wanted.Select, finder)
	}
	return nil
}

// Reading is what is shown of a document, by the names of its JSON.
type Reading struct {
	*reading.Page
	reading.Stored
	Text     string   `json:"markdown"`
	Words    int      `json:"words"`
	Cut      bool     `json:"cut"` // there are more words
	MayBeFor []string `json:"usage,omitempty"`
}

// Read reads a document as it is wanted.
func (r *ReadingFlags) Read(ctx context.Context, d *webrace.Document, s reading.Stored) (*Reading, error) {
	p, err := reading.Of(ctx, d, r.wanted)
	if err != nil {
		return nil, err
	}
	shown := &Reading{Page: p, Stored: s}
	if r.MostWords > 0 {
		p.Markdown, shown.Cut = reading.Cut(p.Markdown, r.MostWords)
	}
	shown.Words = reading.Words(p.Markdown)
	return shown, nil
}

// Write writes what was read: as a line of JSON, or as Markdown below a front matter.
func (r *ReadingFlags) Write(w io.Writer, shown *Reading) error {
	if r.JSON {
		shown.Text, shown.MayBeFor = string(shown.Markdown), shown.Usage.Lines()
		return NewEncoder(w).Encode(shown)
	}
	_, err := w.Write(append(shown.AppendFrontMatter(nil, shown.Stored), shown.Markdown...))
	return err
}

// Remarks are what a person should know of what was read.
func (r *ReadingFlags) Remarks(shown *Reading) (remarks []string) {
	if shown.Part == reading.PartAll && shown.IsPage && !r.All {
		remarks = append(remarks, "no part of the page stands out as what a reader comes for: this is all of it")
	}
	if shown.Broken != nil {
		remarks = append(remarks, fmt.Sprintf("it cannot be taken apart (%v): this is its text", shown.Broken))
	}
	if len(shown.Markdown) == 0 {
		remarks = append(remarks, "it has no text")
	}
	if shown.Cut {
		remarks = append(remarks, fmt.Sprintf("these are its first %d words; --max-words has more", shown.Words))
	}
	return remarks
}
