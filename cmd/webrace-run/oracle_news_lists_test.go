package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// oracleEntry is an entry of a list: a story of a feed, an element of JSON, a row of a table.
type oracleEntry struct {
	number      int
	title, more string
	page        *oracleProse // what the entry leads to; nil for nothing
}

// oracleList is entries that come, go, come back, are edited, and change places. It is published by its kind.
type oracleList struct {
	*oracleSite
	*oracleDocument
	*oraclePlace
	entries []oracleEntry
	gone    []oracleEntry
	built   int // when it was built, which is nobody's news
	leads   bool
}

func (s *oracleSite) newList(kind string, leads bool) *oracleList {
	l := &oracleList{oracleSite: s, oracleDocument: new(oracleDocument), oraclePlace: s.newPlace(kind), leads: leads}
	for range 2 + s.IntN(3) {
		l.entries = append(l.entries, l.entry())
	}
	return l
}

func (l *oracleList) rules() (language string, parts []string) { return "", nil }

func (l *oracleList) entry() oracleEntry {
	e := oracleEntry{number: l.number(), title: l.words(), more: l.words()}
	if l.leads {
		e.page = newOracleProse(l.oracleSite)
	}
	return e
}

// change lets entries come and go, two times out of three.
func (l *oracleList) change() {
	for _, e := range l.entries {
		if e.page != nil && l.IntN(3) == 0 {
			if e.page.change(); l.IntN(12) == 0 {
				l.move(e.page.oraclePlace)
			}
		}
	}
	for range l.IntN(3) {
		n := len(l.entries)
		if n < 2 {
			l.entries = append(l.entries, l.entry())
			continue
		}
		switch i := l.IntN(n); l.IntN(9) {
		case 0, 1, 2:
			l.entries = slices.Insert(l.entries, 0, l.entry())
		case 3:
			l.gone = append(l.gone, l.entries[i])
			l.entries = slices.Delete(l.entries, i, i+1)
		case 4:
			if len(l.gone) > 0 {
				l.comesBack(i, oneOf(l.Rand, l.gone...))
			}
		case 5:
			l.gone = append(l.gone, l.entries[i])
			l.entries[i].title = l.words()
		case 6:
			l.gone = append(l.gone, l.entries[i])
			l.entries[i].more = l.words()
		case 7:
			j := l.IntN(n)
			l.entries[i], l.entries[j] = l.entries[j], l.entries[i]
		case 8:
			l.built++
		}
	}
}

// comesBack puts an entry there as it was, in the place of what it was edited to.
func (l *oracleList) comesBack(at int, e oracleEntry) {
	if i := slices.IndexFunc(l.entries, func(other oracleEntry) bool { return other.number == e.number }); i >= 0 {
		l.entries[i] = e
		return
	}
	l.entries = slices.Insert(l.entries, at, e)
}

// oracleFeed is a feed in RSS or Atom, whose entries may lead to pages.
type oracleFeed struct {
	*oracleList
	format func(f *oracleFeed, e oracleEntry, link string) string
	head   string
	foot   string
	isBare bool // its entries have no GUIDs
}

func newOracleFeed(s *oracleSite) *oracleFeed {
	f := &oracleFeed{oracleList: s.newList("feed", s.IntN(3) > 0)}
	f.isFeed = true
	f.isBare = f.leads && s.IntN(3) == 0
	f.format, f.head, f.foot = (*oracleFeed).rss, "<rss version='2.0'><channel><title>Levanda</title><lastBuildDate>%s</lastBuildDate>", "</channel></rss>"
	if s.IntN(2) == 0 {
		f.format, f.head, f.foot = (*oracleFeed).atom, "<feed xmlns='http://www.w3.org/2005/Atom'><title>Levanda</title><id>urn:levanda</id><updated>%s</updated>", "</feed>"
	}
	return f
}

func (f *oracleFeed) rss(e oracleEntry, link string) string {
	text := "<item>"
	if !f.isBare {
		text += fmt.Sprintf("<guid isPermaLink='false'>story %d</guid>", e.number)
	}
	if link != "" {
		text += "<link>" + link + "</link>"
	}
	return text + fmt.Sprintf("<title>%s</title><description>%s</description><pubDate>%s</pubDate></item>", e.title, e.more, f.date())
}

func (f *oracleFeed) atom(e oracleEntry, link string) string {
	text := "<entry>"
	if !f.isBare {
		text += fmt.Sprintf("<id>urn:story:%d</id>", e.number)
	}
	if link != "" {
		text += "<link href='" + link + "'/>"
	}
	return text + fmt.Sprintf("<title>%s</title><updated>%s</updated><summary>%s</summary></entry>", e.title, f.date(), e.more)
}

func (f *oracleFeed) date() string { return fmt.Sprintf("2026-11-%02dT08:00:00Z", f.built+1) }

func (f *oracleFeed) publish() {
	page := oraclePage{doc: f.oracleDocument, mediaType: "application/xml"}
	page.body = fmt.Sprintf(f.head, f.date())
	for _, e := range f.entries {
		link := ""
		if e.page != nil {
			e.page.publish()
			link = f.URL + e.page.address()
			page.links = append(page.links, e.page.address())
		}
		name := fmt.Sprint("story ", e.number)
		if f.isBare {
			name = link
		}
		page.body += f.format(f, e, link)
		page.items = append(page.items, oracleItem{name, []oracleBlock{{words: e.title, counts: 2}, {words: e.more, counts: 1}}})
	}
	page.body += f.foot
	f.pages[f.at] = page
}

// oracleJSON is JSON with a list.
type oracleJSON struct {
	*oracleList
	members map[string]string // besides the list, which may be missing
	isBare  bool              // its elements have no ids
}

func newOracleJSON(s *oracleSite) *oracleJSON {
	return &oracleJSON{s.newList("data", false), map[string]string{"a": s.words()}, s.IntN(3) == 0}
}

func (j *oracleJSON) rules() (language string, parts []string) { return "jq", oracleParts }

func (j *oracleJSON) change() {
	j.oracleList.change()
	if part := oneOf(j.Rand, oracleParts...); j.IntN(4) == 0 {
		if _, isThere := j.members[part]; isThere && j.IntN(2) == 0 {
			delete(j.members, part)
		} else {
			j.members[part] = j.words()
		}
	}
}

func (j *oracleJSON) publish() {
	page := oraclePage{doc: j.oracleDocument, mediaType: "application/json"}
	all := map[string]any{"updated_at": fmt.Sprintf("2026-11-%02dT08:00:00Z", j.built+1)}
	for _, part := range oracleParts {
		if words, isThere := j.members[part]; isThere {
			all[part] = words
			page.items = append(page.items, oracleItem{blocks: []oracleBlock{{part + ": " + words, 1, part}}})
		}
	}
	list := []any{}
	for _, e := range j.entries {
		element := map[string]any{"title": e.title, "more": e.more}
		it := oracleItem{blocks: []oracleBlock{{words: "title: " + e.title, counts: 1}, {words: "more: " + e.more, counts: 1}}}
		if !j.isBare {
			element["id"], it.name = e.number, fmt.Sprint("element ", e.number)
		}
		list, page.items = append(list, element), append(page.items, it)
	}
	all["offers"] = list
	body, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	page.body = string(body)
	j.pages[j.at] = page
}

// oracleTable is CSV.
type oracleTable struct{ *oracleList }

func newOracleTable(s *oracleSite) oracleTable {
	return oracleTable{s.newList("table", false)}
}

func (t oracleTable) publish() {
	page := oraclePage{doc: t.oracleDocument, mediaType: "text/csv"}
	rows := []string{"title,more"}
	for _, e := range t.entries {
		rows = append(rows, e.title+","+e.more)
		page.items = append(page.items, oracleItem{blocks: []oracleBlock{{words: "title: " + e.title + " ; more: " + e.more, counts: 1}}})
	}
	page.body = strings.Join(rows, "\n") + "\n"
	t.pages[t.at] = page
}
