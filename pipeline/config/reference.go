package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/finding"
)

// Reference returns the stage types of the registry, nil being the [pipeline.DefaultRegistry], as a page of
// Markdown: what each takes and gives, and its options with their defaults.
func Reference(r *pipeline.Registry) []byte {
	r = cmp.Or(r, pipeline.DefaultRegistry)
	var b strings.Builder
	b.WriteString("# Stages\n\nEvery stage has these options:\n\n")
	writeOptions(&b, CommonOptions())
	b.WriteString("\nAnd an output port `errors`, for the items that it failed on; where it leads somewhere, it takes the place of `on_error`.\n")
	for _, typ := range r.Types() {
		spec, _ := r.Lookup(typ)
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", typ, sentence(spec.Summary))
		if spec.Doc != "" {
			fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(spec.Doc))
		}
		b.WriteString("\n")
		for _, line := range traits(spec) {
			fmt.Fprintf(&b, "- %s: %s\n", line[0], line[1])
		}
		if options := Options(r, typ); len(options) > 0 {
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

// doc returns the option's phrase, the words it can be, and what of it is deprecated.
func (o OptionInfo) doc() string {
	doc := o.Doc
	if o.Enum != nil {
		doc += ": " + suggest.Or(o.Enum)
	}
	if o.Deprecated != nil {
		doc += " (deprecated: " + strings.Join(o.Deprecated, "; ") + ")"
	}
	return doc
}

func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// traits returns in pairs of a word and a text what the type is, takes and gives.
func traits(s pipeline.Spec) [][2]string {
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
		add("takes", "%s", suggest.Or(s.In))
	}
	if text := needsText(s); text != "" {
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
		for _, line := range partsOf(port) {
			add(strings.Replace(word, "gives", "parts", 1), "%s", line)
		}
	}
	if s.Effect != "" {
		add("effect", "to %s, which a dry run shows instead", s.Effect)
	}
	if s.Whole != "" {
		add("cluster", "not in a pipeline of which each partition has a part: %s", s.Whole)
	}
	if s.Workers > 1 {
		add("workers", "%d", s.Workers)
	}
	if s.Batch != (pipeline.Batch{}) {
		size := fmt.Sprintf("%d items", s.Batch.Count)
		if s.Batch.Bytes > 0 {
			size += fmt.Sprintf(" or %d MiB of them", s.Batch.Bytes>>20)
		}
		add("batch", "%s, or what came within %s", size, s.Batch.Period)
	}
	return traits
}

// needsText returns which parts the type needs of what it takes, and which it makes use of; "" if that goes without
// saying.
func needsText(s pipeline.Spec) string {
	var said []string
	switch {
	case slices.Contains(s.Needs, pipeline.AllParts):
		said = append(said, "all parts that any of what it takes has")
	case len(s.Needs) > 0:
		said = append(said, "the "+suggest.And(s.Needs)+" of what it takes")
	}
	for _, own := range s.Own {
		said = append(said, "gets "+suggest.And(own.Parts)+where(own)+" by itself")
	}
	if len(s.Uses) > 0 {
		said = append(said, "makes use of the "+suggest.And(s.Uses)+" where it comes")
	}
	if s.NeedsLater {
		said = append(said, "what its options or the running stage say")
	}
	return strings.Join(said, "; ")
}

// partsOf returns what parts leave the port.
func partsOf(p pipeline.Port) []string {
	var lines []string
	for _, c := range p.Cases {
		lines = append(lines, fmt.Sprintf("%s: %s", c.Name, cmp.Or(suggest.And(c.Parts), "none")))
	}
	for _, a := range p.Adds {
		text := "adds " + suggest.And(a.Parts)
		if len(a.Of) > 0 {
			text += ", made of " + suggest.And(a.Of)
		}
		lines = append(lines, text+where(a))
	}
	return lines
}

// where returns in which cases something is added.
func where(a pipeline.Addition) string {
	if len(a.In) == 0 {
		return ""
	}
	return " if " + suggest.Or(a.In)
}

// Describe returns a stage type as text of at most so many columns, 0 being no limit, or an error with what was
// probably meant.
func Describe(r *pipeline.Registry, typ string, columns int) (string, error) {
	spec, ok := r.Lookup(typ)
	if !ok {
		return "", finding.List{r.Missing(typ)}
	}
	var b strings.Builder
	b.WriteString(terminal.Wrap(fmt.Sprintf("%s: %s\n", typ, spec.Summary), columns))
	if spec.Doc != "" {
		fmt.Fprintf(&b, "\n%s\n", terminal.Paragraphs(spec.Doc, columns))
	}
	var about []terminal.Definition
	for _, line := range traits(spec) {
		about = append(about, terminal.Definition{Term: line[0], Text: line[1]})
	}
	if len(spec.In) > 0 {
		about = append(about, terminal.Definition{Term: "gives at errors", Text: "the items that it failed on, in place of what on_error says, where the port leads somewhere"})
	}
	b.WriteString("\n")
	b.WriteString(terminal.Definitions(about, 2, columns))
	if options := Options(r, typ); len(options) > 0 {
		b.WriteString("\noptions\n" + listOptions(options, columns))
	}
	b.WriteString("\noptions of every stage\n" + listOptions(CommonOptions(), columns))
	return b.String(), nil
}

// listOptions lists options with their types, defaults and what they are for. A default that takes more than a third
// of the line stands below.
func listOptions(options []OptionInfo, columns int) string {
	var list []terminal.Definition
	for _, o := range options {
		text := o.Type
		switch {
		case o.Default == "":
		case columns > 0 && terminal.Columns(o.Default) > columns/3:
			text += "\n" + o.Default
		default:
			text += " " + o.Default
		}
		list = append(list, terminal.Definition{Term: o.Name, Text: text + "\n" + o.doc()})
	}
	return terminal.Definitions(list, 2, columns)
}
