package extract_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/match"
)

// entryOf is an entry of a list as its publisher has it.
type entryOf struct{ id, title, text string }

// published is a form in which a list is published, with what moves at each request.
type published struct {
	contentType           string
	before, entry, behind string // with ID, TITLE, TEXT and NOW in them
	between               string
	unnamed               bool // entries are known by their content alone
	feed                  bool
}

var forms = map[string]published{
	"RSS": {contentType: "application/rss+xml", feed: true,
		before: `<rss version="2.0"><channel><title>List</title><lastBuildDate>NOW</lastBuildDate><ttl>NOW</ttl>`,
		entry:  `<item><guid>ID</guid><title>TITLE</title><description>&lt;p&gt;TEXT&lt;p&gt;more</description><pubDate>NOW</pubDate><slash:comments>NOW</slash:comments></item>`, behind: `</channel></rss>`},
	"RSS by links":   {contentType: "text/xml", feed: true, before: `<rss version="0.91"><channel><title>List NOW</title>`, entry: `<item><title>TITLE</title><link>http://h/ID</link><description>TEXT</description></item>`, behind: `</channel></rss>`},
	"RSS of no name": {contentType: "text/plain", unnamed: true, before: `<rss version="2.0"><channel><title>List NOW</title>`, entry: `<item><title>TITLE</title><description>TEXT</description></item>`, behind: `</channel></rss>`},
	"RSS 1.0": {contentType: "application/rdf+xml", feed: true, before: `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel><title>List</title><dc:date>NOW</dc:date></channel>`,
		entry: `<item rdf:about="http://h/ID"><title>TITLE</title><description>TEXT</description><dc:date>NOW</dc:date></item>`, behind: `</rdf:RDF>`},
	"Atom": {contentType: "application/atom+xml", feed: true, before: `<feed xmlns="http://www.w3.org/2005/Atom"><title>List</title><updated>NOW</updated><id>urn:x</id>`,
		entry: `<entry><id>urn:ID</id><title>TITLE</title><updated>NOW</updated><source><id>urn:s</id><updated>NOW</updated></source><summary>TEXT</summary><thr:total>NOW</thr:total></entry>`, behind: `</feed>`},
	"JSON Feed": {contentType: "application/feed+json", feed: true, before: `{"version":"https://jsonfeed.org/version/1.1","title":"NOW","items":[`,
		entry: `{"id":"ID","title":"TITLE","content_text":"TEXT","date_modified":"NOW"}`, between: ",", behind: "]}"},
	"JSON":            {contentType: "application/json", before: `{"generated_at":"NOW","items":[`, entry: `{"views":NOW,"properties":{"TITLE":"TEXT","tags":["TITLE","x"]},"id":ID,"updated_at":"NOW"}`, between: ",", behind: "]}"},
	"JSON of no name": {contentType: "application/json", unnamed: true, before: "[", entry: `{"title":"TITLE","text":"TEXT"}`, between: ",", behind: "]"},
	"JSON lines":      {contentType: "application/jsonl", entry: `{"uid":"ID","title":"TITLE","text":"TEXT"}`, between: "\n"},
	"words in JSON":   {contentType: "application/json", unnamed: true, before: `{"list":[`, entry: `"TITLE TEXT"`, between: ",", behind: "]}"},
	"records of XML":  {contentType: "text/xml", before: "<list>", entry: `<record id="ID"><title>TITLE</title><text>TEXT</text><updated>NOW</updated></record>`, behind: "</list>"},
	"records by name": {contentType: "text/xml", before: "<a><list>", entry: `<record><title>TITLE</title><text>TEXT</text><url>http://h/ID</url></record>`, behind: "</list></a>"},
	"a calendar": {contentType: "text/calendar", before: "BEGIN:VCALENDAR\r\nBEGIN:VTIMEZONE\r\nTZID:NOW\r\nEND:VTIMEZONE\r\n",
		entry: "BEGIN:VEVENT\r\nDTSTAMP:NOW\r\nUID:ID\r\nSUMMARY:TITLE\r\nDESCRIPTION;X=\"a:b\":TE\r\n XT\r\nSEQUENCE:NOW\r\nBEGIN:VALARM\r\nTRIGGER:NOW\r\nEND:VALARM\r\nEND:VEVENT\r\n", behind: "END:VCALENDAR\r\n"},
	"cards": {contentType: "text/vcard", entry: "BEGIN:VCARD\nFN:TITLE\nitem1.NOTE:TEXT\nREV:NOW\nPHOTO;ENCODING=b:AAAA\nUID:ID\nEND:VCARD\n"},
}

func (p published) write(list []entryOf, now int) []byte {
	var all []string
	for _, e := range list {
		entry := strings.ReplaceAll(p.entry, "TE\r\n XT", e.text[:1]+"\r\n "+e.text[1:])
		all = append(all, strings.NewReplacer("ID", e.id, "TITLE", e.title, "TEXT", e.text).Replace(entry))
	}
	return []byte(strings.ReplaceAll(p.before+strings.Join(all, p.between)+p.behind, "NOW", fmt.Sprint(1e9+now)))
}

// known is what an entry is the same by in another version.
func (p published) known(e entryOf) string {
	if p.unnamed {
		return e.title + e.text
	}
	return e.id + " " + e.title + e.text
}

// TestOracleLists publishes lists that change at random, and holds that new are just the entries that the version
// before had not; of a feed, without those that were not there since they were the same.
func TestOracleLists(t *testing.T) {
	t.Parallel()
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(20) {
				form.mustTell(t, rand.New(rand.NewPCG(seed, 28)))
			}
		})
	}
}

func (p published) mustTell(t *testing.T, r *rand.Rand) {
	var baseline match.Baseline
	var versions [][]entryOf // the latest first, those alone that differ from the one before
	var list []entryOf
	for round := range 15 {
		list = p.change(r, list)
		body := p.write(list, round)
		read, err := extract.Document(body, p.contentType, "http://h/list", extract.Options{})
		if err != nil || len(read.Text.Entries) != len(list) {
			t.Fatalf("%s: %d entries, want %d, %v", body, len(read.Text.Entries), len(list), err)
		}
		compared := baseline.Compare(read.Text)
		baseline = compared.Next
		added := compared.Added(1)
		told := make([]bool, len(list))
		for i, b := range read.Text.Blocks {
			switch {
			case b.Entry > 0:
				told[b.Entry-1] = added[i]
			case added[i]:
				t.Fatalf("round %d of %s: %q is new, and of no entry", round, body, read.Text.Slice(b))
			}
		}
		for i, e := range list {
			if want := p.isNew(e, versions); told[i] != want {
				t.Fatalf("round %d of %s\nbefore %q\nentry %q is new: %v", round, body, versions, e, told[i])
			}
		}
		if len(versions) == 0 || !p.same(versions[0], list) {
			versions = slices.Insert(versions, 0, list)
		}
	}
}

func (p published) isNew(e entryOf, versions [][]entryOf) bool {
	has := func(v []entryOf) bool {
		return slices.ContainsFunc(v, func(o entryOf) bool { return p.known(o) == p.known(e) })
	}
	if len(versions) > 0 && has(versions[0]) {
		return false
	}
	for _, v := range versions[:min(len(versions), match.MostBaselineVersions)] {
		if !p.feed {
			break
		}
		if has(v) {
			return false
		}
		if slices.ContainsFunc(v, func(o entryOf) bool { return o.id == e.id }) {
			return true
		}
	}
	return true
}

func (p published) same(a, b []entryOf) bool {
	set := func(list []entryOf) (all []string) {
		for _, e := range list {
			all = append(all, p.known(e))
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	return slices.Equal(set(a), set(b))
}

// change inserts, removes, moves and edits entries; there is always one.
func (p published) change(r *rand.Rand, list []entryOf) []entryOf {
	list = slices.Clone(list)
	any := func() string { return []string{"ferry", "strike", "harbour"}[r.IntN(3)] }
	for n := r.IntN(4); n > 0 || len(list) == 0; n-- {
		i := r.IntN(len(list) + 1)
		id := fmt.Sprint(100 + r.IntN(8))
		switch taken := slices.ContainsFunc(list, func(e entryOf) bool { return e.id == id }); {
		case !taken && (len(list) == 0 || r.IntN(2) == 0):
			list = slices.Insert(list, i, entryOf{id, any(), any()})
		case len(list) > 1 && r.IntN(3) == 0:
			list = slices.Delete(list, i%len(list), i%len(list)+1)
		case r.IntN(2) == 0:
			r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		default:
			list[i%len(list)].text = any()
		}
	}
	return list
}
