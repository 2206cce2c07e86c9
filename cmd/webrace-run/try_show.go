package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
)

// show writes the trial for a person.
func (t *trial) show(s *screen, text string) error {
	t.showDocument(s)
	colours := t.colours()
	for i := range t.scores {
		s.line(run{})
		t.scores[i].show(s, text, colours)
	}
	if len(t.fields) > 0 {
		s.line(run{})
		t.showFields(s)
	}
	if chosen := t.chosen(text); len(chosen) > 0 && (text == textFull || !t.looksAtParts()) {
		s.line(run{})
		t.showText(s, chosen, text == textFull, colours)
	}
	return s.err
}

// looksAtParts reports whether only parts of the document are looked at.
func (t *trial) looksAtParts() bool {
	return len(t.scores)+len(t.fields) > 0 && !slices.ContainsFunc(t.scores, func(w score) bool { return w.part == nil })
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

// show writes what the document is worth to one URD: the same as webrace-store explain.
func (w *score) show(s *screen, text string, colours map[string]style) {
	if w.ID == adHocID {
		s.line(run{w.Owner + ": ", bold}, run{cli.InterestInFull(w.URD), plain})
	} else {
		s.line(run{w.Owner + ": ", bold}, run{cli.InterestInFull(w.URD), plain}, run{fmt.Sprintf(" (URD %s, %s)", w.ID, w.URI), dim})
	}
	explanation := strings.TrimSuffix(w.Explanation.String(), "\n")
	switch {
	case w.number != "" && w.unmet:
		explanation = "no alert: " + w.number + "\n  its text, " + strings.TrimLeft(explanation, " ")
	case w.number != "":
		explanation += "\n  " + w.number
	}
	for i, line := range strings.Split(explanation, "\n") {
		said := strings.TrimLeft(line, " ")
		label := run{"  " + line[:len(line)-len(said)], plain}
		switch {
		case i == 0 && w.alerts():
			s.line(label, emphasized(said, good)...)
		case i == 0:
			s.line(label, emphasized(said, bad)...)
		default:
			s.line(label, w.keyed(said, colours)...)
		}
	}
	if w.summary != "" {
		s.line(run{"  ", plain}, marked(w.summary, bold)...)
	}
	if w.astray != "" {
		s.line(run{"  ", plain}, run{"not asked in a crawl: " + w.astray, bad})
	}
	for _, warning := range slices.Concat(w.Warnings, w.remarks) {
		s.line(run{"  ", plain}, run{"warning: " + warning, bad})
	}
	if w.part == nil {
		return
	}
	if w.AnyChange() && text == textMatches {
		text = textFull // nothing is found in it, and all of it is looked at
	}
	if chosen := w.part.chosen(text); len(chosen) > 0 {
		s.line(run{"  ", plain}, run{"the part of the page that it looks at:", dim})
		w.part.showText(s, chosen, text == textFull, colours)
	}
}

// emphasized gives what stands before the first colon a style.
func emphasized(text string, st style) []run {
	head, rest, _ := strings.Cut(text, ":")
	return []run{{head + ":", st}, {rest, plain}}
}

// keyed gives the keyword that a line is about the colour that it has in the text.
func (w *score) keyed(text string, colours map[string]style) []run {
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
