package storecmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
	"github.com/webrace/webrace/storage/quads"
)

// sameAs states that two names are of one thing.
const sameAs = webrace.Term("<http://www.w3.org/2002/07/owl#sameAs>")

const typeTerm = webrace.Term("<" + rdf.Type + ">")

// labelTerms are the properties by which things are called, the best first.
var labelTerms = []webrace.Term{
	"<http://www.w3.org/2004/02/skos/core#prefLabel>", "<http://www.w3.org/2000/01/rdf-schema#label>",
	"<http://schema.org/name>", "<https://schema.org/name>", "<http://xmlns.com/foaf/0.1/name>",
	"<http://purl.org/dc/terms/title>", "<http://purl.org/dc/elements/1.1/title>", "<http://purl.org/rss/1.0/title>",
	"<http://ogp.me/ns#title>", "<http://www.w3.org/2006/vcard/ns#fn>", "<http://microformats.org/profile/name>",
}

// Limits of what is shown of a thing.
const (
	mostSame  = 100 // names of it
	mostDepth = 4   // blank nodes within each other
)

// thing is all that is said of a thing, as far as it is shown.
type thing struct {
	names []webrace.Term // the IRI that was asked for, and with --same-as its others
	said  [4][]property  // by section
	at    map[string]int // their places in it, by what they say
	cut   [4]bool        // a section has more
	urls  []string       // of the documents that state it, in the order in which they came up
	known map[string]int // their places, from 1
}

// note takes the documents that state something.
func (t *thing) note(urls []string) {
	for _, url := range urls {
		if t.known[url] == 0 {
			t.urls = append(t.urls, url)
			t.known[url] = len(t.urls)
		}
	}
}

// section is a part of what is said of a thing.
type section int

const (
	labels section = iota
	types
	properties
	pointers
)

// sections are what the parts are called: in the first field of a line, on a terminal, and in JSON.
var sections = [...]struct{ field, title string }{
	labels: {"label", "labels"}, types: {"type", "types"}, properties: {"property", "properties"}, pointers: {"from", "what points to it"},
}

// property is a value of a thing. A value of a blank node that the thing leads to has the way to it as its path. For
// what points to the thing, the value is the subject.
type property struct {
	path   []webrace.Term
	value  webrace.Term
	saidBy []string
}

func (p property) pathOf(write func(webrace.Term) string) string {
	parts := make([]string, len(p.path))
	for i, t := range p.path {
		parts[i] = write(t)
	}
	return strings.Join(parts, " / ")
}

// showFlags determine what is shown of a thing, and how.
type showFlags struct {
	sameAs, json bool
	number       int
}

func newQuadsShow(globals *cli.Globals) *cobra.Command {
	f := new(showFlags)
	c := &cobra.Command{
		Use:   "show IRI",
		Short: "all that is said of a thing, and by whom: labels, types, properties, what points to it, and the documents with version and date",
		Long: `show says all that is said of a thing, and which documents say it. With --same-as it takes
together what is said of all that documents say it is the same as (owl:sameAs): they may
be wrong. A thing without an IRI goes by its blank node, as _:b0. A value of a blank node
that it leads to is shown with the way there, as schema:offers / schema:price.

Elsewhere than on a terminal a line has: label, type, property or from; the property; the
value; and the URL, the version and the date of a document that says so.`,
		Example: `  webrace-store quads show https://example.org/#port
  webrace-store quads show --same-as https://example.org/people#eleni`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if f.number < 1 {
				return cli.Wrongf("-n %d: it is at least 1", f.number)
			}
			name, err := nameOf(args[0])
			if err != nil {
				return err
			}
			return lookIntoQuads(c, globals, func(ctx context.Context, s *quads.Snapshot) error { return f.show(ctx, c, s, name) })
		},
	}
	c.Flags().BoolVar(&f.sameAs, "same-as", false, "also what is said of the same thing under other names")
	c.Flags().IntVarP(&f.number, "number", "n", 1000, "how many statements to show of each kind")
	c.Flags().BoolVar(&f.json, "json", false, "as JSON")
	return c
}

// nameOf returns the term of a thing that is named on the command line.
func nameOf(arg string) (webrace.Term, error) {
	if label, blank := strings.CutPrefix(arg, "_:"); blank && label != "" {
		return rdf.NewBlank(label), nil
	}
	if inner, ok := strings.CutPrefix(arg, "<"); ok {
		arg = strings.TrimSuffix(inner, ">")
	}
	if !strings.Contains(arg, ":") || !rdf.ValidIRI(arg) {
		return "", cli.Wrongf("%q is no absolute IRI: write it in full, as https://example.org/#thing", arg)
	}
	return rdf.NewIRI(arg), nil
}

func (f *showFlags) show(ctx context.Context, c *cobra.Command, s *quads.Snapshot, name webrace.Term) error {
	t, err := f.look(ctx, s, name)
	if err != nil {
		return err
	}
	if len(t.urls) == 0 {
		noteNothing(c, s, "nothing is said of %s: quads search finds things by words", textOf(name))
		return nil
	}
	if err := f.print(c, s, t); err != nil {
		return err
	}
	for i, cut := range t.cut {
		if cut {
			note(c, "%s: there are more than %d; -n shows them", sections[i].title, f.number)
		}
	}
	return nil
}

// look reads what is said of a thing.
func (f *showFlags) look(ctx context.Context, s *quads.Snapshot, name webrace.Term) (*thing, error) {
	t := &thing{names: []webrace.Term{name}, at: map[string]int{}, known: map[string]int{}}
	for i := 0; i < len(t.names); i++ { // it grows
		id, err := s.Find(t.names[i])
		if err != nil {
			return nil, err
		}
		if id == 0 {
			continue
		}
		if err := errors.Join(f.of(ctx, s, t, id, nil, nil), f.to(ctx, s, t, id)); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(t.said[labels], func(a, b property) int {
		return slices.Index(labelTerms, a.path[0]) - slices.Index(labelTerms, b.path[0])
	})
	return t, nil
}

// of reads what is said of a subject, to which a path leads, and of blank nodes that this leads to, by way of others.
// Those to which the same path has led before are left out: nodes that all lead to all would be met again without end.
func (f *showFlags) of(ctx context.Context, s *quads.Snapshot, t *thing, subject sparql.ID, path []webrace.Term, way []webrace.Term) error {
	type nested struct {
		node webrace.Term
		path []webrace.Term
	}
	var blanks []nested
	err := eachStatement(ctx, s, subject, 0, func(said statement) (bool, error) {
		p := property{path: append(slices.Clone(path), said.Predicate), value: said.Object, saidBy: said.saidBy}
		f.takeName(t, said.Predicate, said.Object)
		if f.add(t, sectionOf(p), p) && rdf.KindOf(said.Object) == rdf.Blank && len(path) < mostDepth && !slices.Contains(way, said.Object) {
			blanks = append(blanks, nested{said.Object, p.path})
		}
		return true, nil // when a section is full, others may have room
	})
	for _, b := range blanks {
		if err != nil {
			return err
		}
		var id sparql.ID
		if id, err = s.Find(b.node); err == nil {
			err = f.of(ctx, s, t, id, b.path, append(way, b.node))
		}
	}
	return err
}

func sectionOf(p property) section {
	switch {
	case len(p.path) > 1:
		return properties
	case p.path[0] == typeTerm:
		return types
	case slices.Contains(labelTerms, p.path[0]) && rdf.KindOf(p.value) == rdf.Literal:
		return labels
	}
	return properties
}

// to reads what points to a thing.
func (f *showFlags) to(ctx context.Context, s *quads.Snapshot, t *thing, object sparql.ID) error {
	return eachStatement(ctx, s, 0, object, func(said statement) (bool, error) {
		f.takeName(t, said.Predicate, said.Subject)
		f.add(t, pointers, property{path: []webrace.Term{said.Predicate}, value: said.Subject, saidBy: said.saidBy})
		return !t.cut[pointers], nil
	})
}

// takeName takes what a statement gives as another name of the thing, if other names are wanted.
func (f *showFlags) takeName(t *thing, predicate, name webrace.Term) {
	if f.sameAs && predicate == sameAs && rdf.KindOf(name) != rdf.Literal && !slices.Contains(t.names, name) && len(t.names) < mostSame {
		t.names = append(t.names, name)
	}
}

// add adds a statement to a section, and reports whether it is new there and has room. That two names have the same
// value is one statement.
func (f *showFlags) add(t *thing, to section, p property) bool {
	key := fmt.Sprintln(to, p.path, p.value)
	if i, known := t.at[key]; known {
		t.note(p.saidBy)
		old := &t.said[to][i]
		for _, url := range p.saidBy {
			if !slices.Contains(old.saidBy, url) {
				old.saidBy = append(old.saidBy, url)
			}
		}
		return false
	}
	if len(t.said[to]) == f.number {
		t.cut[to] = true
		return false
	}
	t.at[key] = len(t.said[to])
	t.said[to] = append(t.said[to], p)
	t.note(p.saidBy)
	return true
}
