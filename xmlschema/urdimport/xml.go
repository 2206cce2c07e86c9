package urdimport

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/webrace/webrace/xmlschema"
)

// xml reads a document of URDs. Its problems are those of entries, unless one is of all of the document.
func (r *reader) xml(in io.Reader) error {
	d := xmlschema.NewDecoder(in, xmlschema.Name(r.options.Name), xmlschema.Check(func(u *xmlschema.URD) []xmlschema.Fault {
		u.Owner = cmp.Or(u.Owner, r.options.Defaults.Owner)
		return r.check(u)
	}))
	for u := range d.URDs() {
		e := Entry{URI: u.URI, URD: u}
		e.Line, e.Column, e.Path = d.Place()
		if err := r.enter(e); err != nil {
			return err
		}
	}
	var problems xmlschema.Problems
	if err := d.Err(); err != nil {
		whole := func(p xmlschema.Problem) bool { return itemOf(p.Path) == "" }
		if !errors.As(err, &problems) || slices.ContainsFunc(problems, whole) {
			return err
		}
	}
	if err := r.refused(problems); err != nil {
		return err
	}
	slices.SortStableFunc(r.Entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	r.warned(d.Warnings())
	return nil
}

// itemOf returns the path of the item of a document in which something is: "/urds/urd[2]" of
// "/urds/urd[2]/depth/@level". It is empty where that is in no item.
func itemOf(path string) string {
	steps := strings.SplitN(path, "/", 4) // the first is empty
	switch {
	case len(steps) > 1 && steps[1] == "urd":
		return "/urd"
	case len(steps) > 2 && !strings.HasPrefix(steps[2], "@"):
		return strings.Join(steps[:3], "/")
	}
	return ""
}

// refused adds an entry for each item that has problems, at the first of them.
func (r *reader) refused(problems xmlschema.Problems) error {
	at := make(map[string]int)
	for _, p := range problems {
		path := itemOf(p.Path)
		i, known := at[path]
		if !known || !strings.HasSuffix(path, "]") && path != "/urd" { // elements of no known name are not numbered
			i = len(r.Entries)
			at[path] = i
			if err := r.enter(Entry{Line: p.Line, Column: p.Column, Path: path}); err != nil {
				return err
			}
		}
		r.Entries[i].Problems = append(r.Entries[i].Problems, p)
	}
	return nil
}

// warned gives each entry the warnings about it.
func (r *reader) warned(warnings xmlschema.Problems) {
	at := make(map[string]int, len(r.Entries))
	for i := range r.Entries {
		at[r.Entries[i].Path] = i
	}
	for _, w := range warnings {
		if i, known := at[itemOf(w.Path)]; known {
			r.Entries[i].Warnings = append(r.Entries[i].Warnings, w)
		}
	}
}
