package pipeline

import (
	"fmt"
	"strings"
)

// DOT returns the graph as a picture for Graphviz: queues are cylinders, sources ellipses, everything
// else boxes; an edge that leaves another port than the default one carries its name.
func (g *Graph) DOT() string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n\trankdir=LR;\n\tnode [shape=box];\n", quoteDOT(g.Name))
	if g.Title != "" {
		fmt.Fprintf(&b, "\tlabel=%s;\n", quoteDOT(g.Title))
	}
	for _, s := range g.Stages {
		var attributes []string
		switch {
		case s.Spec.Queue:
			attributes = append(attributes, "shape=cylinder")
		case s.IsSource():
			attributes = append(attributes, "shape=ellipse")
		}
		if label := s.label("\n"); label != s.Name {
			attributes = append(attributes, "label="+quoteDOT(label))
		}
		fmt.Fprintf(&b, "\t%s%s;\n", quoteDOT(s.Name), bracketed(attributes))
	}
	for _, e := range g.Edges {
		var attributes []string
		if e.Port != "" {
			attributes = append(attributes, "label="+quoteDOT(e.Port))
		}
		fmt.Fprintf(&b, "\t%s -> %s%s;\n", quoteDOT(e.From), quoteDOT(e.To), bracketed(attributes))
	}
	b.WriteString("}\n")
	return b.String()
}

func bracketed(attributes []string) string {
	if len(attributes) == 0 {
		return ""
	}
	return " [" + strings.Join(attributes, ", ") + "]"
}

// quoteDOT quotes a string as DOT has it, where only the quote itself is special at all times; a
// backslash is doubled so that it does not begin one of Graphviz' escapes.
func quoteDOT(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// Mermaid returns the graph as a picture for Mermaid, which Markdown viewers draw, with the same shapes
// as [Graph.DOT].
func (g *Graph) Mermaid() string {
	var b strings.Builder
	if g.Title != "" {
		fmt.Fprintf(&b, "---\ntitle: %q\n---\n", g.Title)
	}
	b.WriteString("flowchart LR\n")
	ids := make(map[string]string, len(g.Stages))
	for i, s := range g.Stages {
		ids[s.Name] = fmt.Sprintf("s%d", i) // a name could be a word of Mermaid's own, such as "end"
		left, right := "[", "]"
		switch {
		case s.Spec.Queue:
			left, right = "[(", ")]"
		case s.IsSource():
			left, right = "([", "])"
		}
		fmt.Fprintf(&b, "    %s%s%s%s\n", ids[s.Name], left, quoteMermaid(s.label("<br>")), right)
	}
	for _, e := range g.Edges {
		arrow := "-->"
		if e.Port != "" {
			arrow = "-->|" + quoteMermaid(e.Port) + "|"
		}
		fmt.Fprintf(&b, "    %s %s %s\n", ids[e.From], arrow, ids[e.To])
	}
	return b.String()
}

func quoteMermaid(s string) string { return `"` + strings.ReplaceAll(s, `"`, "#quot;") + `"` }

// label returns the stage's name, and its type below if that is another.
func (s *Stage) label(lineEnd string) string {
	if s.Spec.Type == "" || s.Spec.Type == s.Name {
		return s.Name
	}
	return s.Name + lineEnd + "(" + s.Spec.Type + ")"
}
