package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/webrace/webrace/cmd/internal/storecmd"
	"github.com/webrace/webrace/internal/transform"
	"github.com/webrace/webrace/storage/quads"
)

// formatNames are what people call media types.
var formatNames = map[string]string{
	"text/turtle": "Turtle", "application/trig": "TriG", "application/n-triples": "N-Triples", "application/n-quads": "N-Quads",
	"application/rdf+xml": "RDF/XML", "application/ld+json": "JSON-LD", "application/atom+xml": "Atom", "application/rss+xml": "RSS",
	"application/xml": "XML", "text/html": "HTML",
}

func formatName(mediaType string) string {
	if name := formatNames[mediaType]; name != "" {
		return name
	}
	return mediaType
}

// sourcesOfFormat counts the documents of a format, and what they state.
type sourcesOfFormat struct{ documents, quads, problems int }

// sources shows how much is said in which format.
func (d *dataShow) sources() error {
	byFormat, err := d.byFormat()
	if err != nil {
		return err
	}
	d.say("Who says something, by format:")
	var rows [][]any
	for _, format := range slices.Sorted(maps.Keys(byFormat)) {
		n := byFormat[format]
		rows = append(rows, []any{format, n.documents, n.quads, n.problems})
	}
	return storecmd.WriteTable(d.c.OutOrStdout(), []string{"format", "documents", "quads", "problems"}, rows)
}

func (d *dataShow) byFormat() (map[string]sourcesOfFormat, error) {
	store, err := d.dir.Quads()
	if err != nil {
		return nil, err
	}
	s, err := store.Snapshot()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	byFormat := make(map[string]sourcesOfFormat)
	for r, err := range s.Contexts(d.c.Context(), d.site) {
		if err != nil {
			return nil, err
		}
		format, err := d.formatOf(r)
		if err != nil {
			return nil, err
		}
		n := byFormat[format]
		byFormat[format] = sourcesOfFormat{n.documents + 1, n.quads + r.Quads, n.problems + len(r.Problems)}
	}
	return byFormat, nil
}

// formatOf returns the format in which a document states something. Of pages, only their text tells.
func (d *dataShow) formatOf(r quads.Record) (string, error) {
	documents, err := d.dir.Objects()
	if err != nil {
		return "", err
	}
	version, err := documents.Latest(r.URL)
	if err != nil {
		return "", err
	}
	body, header, err := documents.Body(version)
	if err != nil {
		return "", err
	}
	stored := transform.MediaType(body, header.Get("Content-Type"), r.URL)
	switch name := formatName(stored); {
	case r.MediaType != "" && r.MediaType != stored:
		return name + " by XSLT", nil
	case stored == "text/html":
		return name + " with " + strings.Join(transform.Syntaxes(body), ", "), nil
	default:
		return name, nil
	}
}
