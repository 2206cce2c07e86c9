package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// Reference returns the stage types of the registry, nil being the [DefaultRegistry], as a page of
// Markdown: what each takes and gives, and its options with their defaults.
func Reference(r *Registry) []byte {
	if r == nil {
		r = DefaultRegistry
	}
	var b strings.Builder
	b.WriteString("# Stages\n\nEvery stage has these options:\n\n")
	writeOptions(&b, CommonOptions())
	b.WriteString("\nAnd an output port `errors`, for the items that it failed on; where it leads somewhere, it takes the place of `on_error`.\n")
	for _, typ := range r.Types() {
		t := r.lookup(typ)
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", typ, sentence(t.spec.Summary))
		if t.spec.Doc != "" {
			fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(t.spec.Doc))
		}
		b.WriteString("\n")
		for _, line := range t.spec.traits() {
			fmt.Fprintf(&b, "- %s: %s\n", line[0], line[1])
		}
		if options := r.Options(typ); len(options) > 0 {
			b.WriteString("\n")
			writeOptions(&b, options)
		}
	}
	return []byte(b.String())
}

func writeOptions(b *strings.Builder, options []OptionInfo) {
	b.WriteString("| option | type | default | |\n|---|---|---|---|\n")
	for _, o := range options {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", o.Name, o.Type, code(o.Default), cell(o.doc()))
	}
}

// cell escapes what would end a cell of a Markdown table.
func cell(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "|", `\|`), "\n", " ") }

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + cell(s) + "`"
}

// doc returns the option's phrase, and the words it can be.
func (o OptionInfo) doc() string {
	if o.Enum == nil {
		return o.Doc
	}
	return o.Doc + ": " + joinOr(o.Enum)
}

func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// traits says in pairs of a word and a text what the type is, takes and gives.
func (s Spec) traits() [][2]string {
	var traits [][2]string
	add := func(word, format string, args ...any) {
		traits = append(traits, [2]string{word, fmt.Sprintf(format, args...)})
	}
	switch {
	case s.Queue:
		add("queue", "stores what it takes, so a cycle may pass it")
	case s.Follows:
		add("source", "follows a store from where it last stopped, and ends when it has caught up and nothing feeds it any more")
	case len(s.In) == 0:
		add("source", "takes no input")
	}
	if len(s.In) > 0 {
		add("takes", "%s", kindsOf(s.In))
	}
	if text := s.needsText(); text != "" {
		add("needs", "%s", text)
	}
	for _, port := range s.Out {
		word := "gives"
		if port.Name != "" {
			word += " at " + port.Name
		}
		text := port.Kind.String()
		if port.Doc != "" {
			text += ", " + port.Doc
		}
		add(word, "%s", text)
		for _, line := range port.parts() {
			add(strings.Replace(word, "gives", "parts", 1), "%s", line)
		}
	}
	if s.Workers > 1 {
		add("workers", "%d", s.Workers)
	}
	if s.Batch != (Batch{}) {
		size := fmt.Sprintf("%d items", s.Batch.Count)
		if s.Batch.Bytes > 0 {
			size += fmt.Sprintf(" or %d MiB of them", s.Batch.Bytes>>20)
		}
		add("batch", "%s, or what came within %s", size, s.Batch.Period)
	}
	return traits
}

// needsText says which parts the type needs of what it takes, and which it makes use of; "" if that goes without
// saying.
func (s Spec) needsText() string {
	var said []string
	switch {
	case slices.Contains(s.Needs, AllParts):
		said = append(said, "all parts that any of what it takes has")
	case len(s.Needs) > 0:
		said = append(said, "the "+joinAnd(s.Needs)+" of what it takes")
	}
	for _, own := range s.Own {
		said = append(said, "gets "+joinAnd(own.Parts)+own.where()+" by itself")
	}
	if len(s.Uses) > 0 {
		said = append(said, "makes use of the "+joinAnd(s.Uses)+" where it comes")
	}
	if s.NeedsLater {
		said = append(said, "what its options or the running stage say")
	}
	return strings.Join(said, "; ")
}

// parts says what parts leave the port.
func (p Port) parts() []string {
	var lines []string
	for _, c := range p.Cases {
		lines = append(lines, fmt.Sprintf("%s: %s", c.Name, cmp.Or(joinAnd(c.Parts), "none")))
	}
	for _, a := range p.Adds {
		text := "adds " + joinAnd(a.Parts)
		if len(a.Of) > 0 {
			text += ", made of " + joinAnd(a.Of)
		}
		lines = append(lines, text+a.where())
	}
	return lines
}

// where says in which cases something is added.
func (a Addition) where() string {
	if len(a.In) == 0 {
		return ""
	}
	return " if " + joinOr(a.In)
}

// Describe returns a stage type as text for a terminal, or an error with what was probably meant.
func (r *Registry) Describe(typ string) (string, error) {
	t := r.lookup(typ)
	if t == nil {
		return "", Findings{{Code: CodeUnknownType, Message: fmt.Sprintf("there is no stage type %q", typ), Hint: nearest(typ, r.Types())}}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", typ, t.spec.Summary)
	if t.spec.Doc != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(t.spec.Doc))
	}
	b.WriteString("\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, line := range t.spec.traits() {
		fmt.Fprintf(w, "  %s\t%s\n", line[0], line[1])
	}
	options := r.Options(typ)
	if len(options) > 0 {
		fmt.Fprint(w, "\noptions\n")
	}
	for _, o := range options {
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", o.Name, o.Type, o.Default, o.doc())
	}
	if err := w.Flush(); err != nil {
		return "", fmt.Errorf("describe stage type %q: %w", typ, err)
	}
	return b.String(), nil
}
