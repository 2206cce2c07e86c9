package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
	"github.com/webrace/webrace/xmlschema"
)

// trial is a document, and what it is worth.
type trial struct {
	*triedDocument
	*explain.Trial
	fields []triedField
}

func newTrial(ctx context.Context, d *triedDocument, urds []*xmlschema.URD) (*trial, error) {
	t, err := explain.Try(ctx, d.asDocument(), d.asked, urds)
	return &trial{triedDocument: d, Trial: t}, err
}

// show writes the trial for a person.
func (t *trial) show(s *screen, text string) error {
	t.showDocument(s)
	colours := t.colours()
	for i := range t.Scores {
		s.line(run{})
		showScore(s, &t.Scores[i], text, colours)
	}
	if len(t.fields) > 0 {
		s.line(run{})
		t.showFields(s)
	}
	if chosen := chosen(&t.Whole, text); len(chosen) > 0 && (text == textFull || !t.looksAtParts()) {
		s.line(run{})
		showText(s, &t.Whole, chosen, text == textFull, colours)
	}
	return s.err
}

// looksAtParts reports whether only parts of the document are looked at.
func (t *trial) looksAtParts() bool {
	return len(t.Scores)+len(t.fields) > 0 && !slices.ContainsFunc(t.Scores, func(w explain.Score) bool { return w.Selected == nil })
}

func (t *trial) showDocument(s *screen) {
	title := cmp.Or(t.Title, "(no title)")
	s.line(run{}, run{title, bold})
	s.line(run{"  ", plain}, run{t.name, plain})
	facts := fmt.Sprintf("%s, %s, %s, %s", t.MediaType, wording.Count(len(t.body), "byte"), wording.Count(len(t.Text.Blocks), "block")+" of text", wording.Count(len(t.Links), "link"))
	if t.rendered {
		facts += ", rendered"
	}
	s.line(run{"  ", plain}, run{facts, dim})
	switch {
	case len(t.body) == 0:
		t.warn(s, "it is empty")
	case t.Unread.Cause != "":
		t.warn(s, "its text was not read, or not whole: "+t.Unread.Reason)
	case len(t.Text.Blocks) == 0 && t.Charset == "":
		t.warn(s, "no text is read of this type")
	case len(t.Text.Blocks) == 0:
		t.warn(s, "it has no text"+scriptsUnread(t.rendered))
	}
	if t.truncated {
		limit := "fetch.max_body"
		if t.rendered {
			limit = "render.max_page"
		}
		t.warn(s, "it is longer than "+limit+", and was cut there")
	}
	for _, note := range t.notes {
		t.warn(s, note)
	}
	for _, line := range t.usage.Lines() {
		s.line(run{"  its owner states " + line, plain})
	}
}

func scriptsUnread(rendered bool) string {
	if rendered {
		return ""
	}
	return ": what scripts write is not read (--render reads it)"
}

func (t *trial) warn(s *screen, what string) {
	s.line(run{"  ", plain}, run{what, bad})
}

// showScore writes what the document is worth to one URD: the same as webrace-store explain.
func showScore(s *screen, w *explain.Score, text string, colours map[string]style) {
	if w.ID == adHocID {
		s.line(run{w.Owner + ": ", bold}, run{cli.InterestInFull(w.URD), plain})
	} else {
		s.line(run{w.Owner + ": ", bold}, run{cli.InterestInFull(w.URD), plain}, run{fmt.Sprintf(" (URD %s, %s)", w.ID, w.URI), dim})
	}
	explanation := strings.TrimSuffix(w.Explanation.String(), "\n")
	switch {
	case w.Condition != "" && w.Unmet:
		explanation = "no alert: " + w.Condition + "\n  its text, " + strings.TrimLeft(explanation, " ")
	case w.Condition != "":
		explanation += "\n  " + w.Condition
	}
	for i, line := range strings.Split(explanation, "\n") {
		said := strings.TrimLeft(line, " ")
		label := run{"  " + line[:len(line)-len(said)], plain}
		switch {
		case i == 0 && w.Alerts():
			s.line(label, emphasized(said, good)...)
		case i == 0:
			s.line(label, emphasized(said, bad)...)
		default:
			s.line(label, keyed(w, said, colours)...)
		}
	}
	if w.Summary != "" {
		s.line(run{"  ", plain}, marked(w.Summary, bold)...)
	}
	if w.Astray != "" {
		s.line(run{"  ", plain}, run{"not asked in a crawl: " + w.Astray, bad})
	}
	for _, warning := range slices.Concat(w.Warnings, w.Remarks) {
		s.line(run{"  ", plain}, run{"warning: " + warning, bad})
	}
	if w.Selected == nil {
		return
	}
	if w.AnyChange() && text == textMatches {
		text = textFull // nothing is found in it, and all of it is looked at
	}
	if chosen := chosen(w.Selected, text); len(chosen) > 0 {
		s.line(run{"  ", plain}, run{"the part of the page that it looks at:", dim})
		showText(s, w.Selected, chosen, text == textFull, colours)
	}
}

// emphasized gives what stands before the first colon a style.
func emphasized(text string, st style) []run {
	head, rest, _ := strings.Cut(text, ":")
	return []run{{head + ":", st}, {rest, plain}}
}

// keyed gives the keyword that a line is about the colour that it has in the text.
func keyed(w *explain.Score, text string, colours map[string]style) []run {
	for _, k := range w.Explanation.Keywords {
		if rest, ok := strings.CutPrefix(text, k.Key+": weight "); ok {
			return []run{{k.Key, colours[k.Key]}, {": weight " + rest, plain}}
		}
	}
	return []run{{text, dim}}
}

// marked gives what stands within «» a style.
func marked(text string, st style) (runs []run) {
	for text != "" {
		before, rest, _ := strings.Cut(text, "«")
		inside, after, found := strings.Cut(rest, "»")
		runs = append(runs, run{before, plain})
		if found {
			runs = append(runs, run{"«" + inside + "»", st})
		}
		text = after
	}
	return runs
}
