package config

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/webrace/webrace/pipeline/finding"
	"github.com/webrace/webrace/pipeline/internal/options"
)

// An option may have had another name, and so may a word that it can be. What is written with the former one works as
// before, with a warning, and the warning knows how to write it now.

// warn notes something that works and is to be written in another way.
func (d *decoder) warn(f finding.Finding, path string) {
	f.Code, f.Warning, f.Path = finding.CodeDeprecated, true, d.path+"."+path
	d.l.warnings = append(d.l.warnings, f)
}

// renamed warns of an option that is set by a name that it had, and reports whether it is set by that alone.
func (d *decoder) renamed(table *value, key, prefix string, f options.Field) bool {
	v, other := table.table[key], table.table[f.Name]
	if other != nil && other != v {
		d.report(v.keyFinding(finding.CodeDuplicate, fmt.Sprintf("option %q is called %q now, which is set as well", prefix+key, prefix+f.Name)), prefix+key)
		return false
	}
	table.table[f.Name] = v // so that what is wrong with the option is found to be written here
	w := v.keyFinding("", fmt.Sprintf("option %q is deprecated: it is called %q now", prefix+key, prefix+f.Name))
	w.Edit = v.renameKey(f.Name)
	d.warn(w, prefix+key)
	return true
}

// renamedWord warns of a word by a name that it had, and returns the word.
func (d *decoder) renamedWord(v *value, was, now, path string) string {
	w := v.finding("", fmt.Sprintf("%q of option %q is deprecated: it is called %q now", was, path, now))
	w.Edit = v.replaceText(was, now)
	d.warn(w, path)
	return now
}

// renameKey returns the edit that gives the value another key, which needs no quotes. It is zero for tables and lists
// of tables, whose key may stand in several places.
func (v *value) renameKey(key string) finding.Edit {
	isTable := func(v *value) bool { return v.kind == tableValue }
	if v.doc.flag || isTable(v) || slices.ContainsFunc(v.list, isTable) {
		return finding.Edit{}
	}
	old := string(v.doc.src[v.keyStart : v.keyStart+v.keyWidth])
	if quote := old[:1]; quote == `"` || quote == `'` {
		key = quote + key + quote
	}
	return finding.Edit{Start: v.keyStart, Old: old, New: key}
}

// replaceText returns the edit that puts one text in the place of another in a string, and leaves its quotes. It is
// zero if the text is written in another way, as by a variable.
func (v *value) replaceText(old, now string) finding.Edit {
	if v.doc.flag {
		return finding.Edit{}
	}
	raw := v.doc.src[v.start : v.start+v.width]
	for _, quotes := range []int{3, 1} {
		quote := bytes.Repeat(raw[:1], quotes)
		if string(raw) == string(quote)+old+string(quote) {
			return finding.Edit{Start: v.start + quotes, Old: old, New: now}
		}
	}
	return finding.Edit{}
}

// deprecated returns what of an option is deprecated, and what takes its place, for people.
func deprecated(f options.Field) []string {
	var said []string
	for _, name := range f.Former {
		said = append(said, fmt.Sprintf("it was called %s", name))
	}
	for _, word := range slices.Sorted(maps.Keys(f.FormerWords)) {
		said = append(said, fmt.Sprintf("%s is %s now", word, f.FormerWords[word]))
	}
	return said
}
