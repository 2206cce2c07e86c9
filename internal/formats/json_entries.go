package formats

import (
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/entries"
)

// jsonEntry is an object that is an element of a list, and is being read.
type jsonEntry struct {
	from int    // its first block
	list string // the path to its list, without the numbers of elements
	name string // what it calls itself
	rank int    // of the key that says so, in Names
}

// Names are the keys and elements that identify an entry of a list, the best first.
var Names = []string{
	"id", "@id", "_id", "guid", "uid", "uuid", "key", "sku", "gtin", "gtin13", "isbn", "slug", "url", "link", "href", "permalink", "loc",
}

// wrappers are keys under which an element has what it is about: as in GeoJSON, JSON:API, GraphQL, search engines.
var wrappers = map[string]bool{"properties": true, "attributes": true, "data": true, "node": true, "fields": true, "_source": true}

// inList reports whether the value at the path is an element of a list, as values one after another are.
func (j *jsonReader) inList() bool {
	top := j.top()
	return top != nil && top.list || top == nil && len(j.path) > 0
}

// skip returns how much of the path to the value at hand tells only where in lists it is.
func (j *jsonReader) skip() int {
	switch top := j.top(); {
	case j.inList():
		return len(j.path)
	case top == nil:
		return 0
	default:
		return top.skip
	}
}

// listName returns the path to the list that the value at hand is in, without the numbers of elements.
func (j *jsonReader) listName() string {
	return withoutIndexes(shorten(string(j.path), longestPath) + ": ")
}

// name takes note of a value that tells which element of a list it is of.
func (j *jsonReader) name(value string) {
	top := j.top()
	if top == nil || top.list || value == "" {
		return
	}
	e, worse := top.entry, 0
	if n := len(j.levels); e == nil && n > 1 && wrappers[j.levels[n-2].key] {
		e, worse = j.levels[n-2].entry, len(Names)-len("id")
	}
	if e == nil || len(top.key) > len("permalink") {
		return
	}
	for rank, name := range Names[:min(len(Names), e.rank)] {
		if rank+worse >= e.rank {
			return
		}
		if top.key == name {
			e.name, e.rank = value, rank+worse
			return
		}
	}
}

// place records of the block of a leaf where in lists it is, and makes an entry of an element that is no object,
// unless it is within an entry: then it is part of that.
func (j *jsonReader) place(b *webrace.Block, value string) {
	skip := j.skip()
	switch {
	case j.inList():
		skip += len(": ")
	case skip > 0 && skip < len(j.path) && j.path[skip] == '.':
		skip++
	}
	if beyond := len(j.path) - longestPath; beyond > 0 { // its middle was left out
		skip = max(skip-beyond, 0)
	}
	b.Skip = uint16(skip)
	top := j.top()
	b.Aside = j.keep == nil && top != nil && !top.list && MovesAlone(top.key, value)
	if j.inList() && !j.inEntry() {
		entries.Mark(&j.Text, len(j.Text.Blocks)-1, j.listName(), "")
	}
}

func (j *jsonReader) inEntry() bool {
	for i := range j.levels {
		if j.levels[i].entry != nil {
			return true
		}
	}
	return false
}

func (e *jsonEntry) mark(t *webrace.Text) { entries.Mark(t, e.from, e.list, e.name) }

// endEntries ends the entries that are open where the document breaks, or a limit is reached.
func (j *jsonReader) endEntries() {
	for i := len(j.levels) - 1; i >= 0; i-- {
		if e := j.levels[i].entry; e != nil {
			e.mark(&j.Text)
		}
	}
}

// MovesAlone reports whether a value tells, by its name and form, when something was touched or built, or how often it
// was looked at or answered. These move while all else stays as it is.
func MovesAlone(name, value string) bool {
	if len(name) > 20 || len(value) > 64 {
		return false
	}
	digits := len(value) - len(strings.Trim(value, "0123456789"))
	switch strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name)) {
	case "updated", "updatedat", "updatedon", "lastupdated", "lastupdate", "dateupdated", "modified", "modifiedat", "lastmodified", "datemodified",
		"lastmod", "generated", "generatedat", "lastbuilddate", "builddate", "fetchedat", "retrievedat":
		return strings.ContainsAny(value, "0123456789")
	case "comments", "commentcount", "commentscount", "numcomments", "numberofcomments", "views", "viewcount", "pageviews", "hits":
		return digits == len(value)
	}
	return false
}
