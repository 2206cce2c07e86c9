package chunk

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/storage"
)

const address = "https://example.org/page"

// document returns a version of a page.
func document(version int, body string) *webrace.Document {
	return &webrace.Document{
		URL: address, MediaType: "text/html", Title: "A page", Language: "en", Body: []byte(body), Text: &webrace.Text{},
		Version: version, Digest: sha256.Sum256([]byte(body)), Outcome: webrace.Fetched,
	}
}

// sentences returns a paragraph of so many words that are those of no other.
func sentences(seed uint64, words int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for i := range words {
		fmt.Fprintf(&b, "w%x", r.Uint32())
		if i%9 == 8 {
			b.WriteString(".")
		}
		b.WriteString(" ")
	}
	return strings.TrimSpace(b.String())
}

func article(paragraphs []string) string {
	return "<h1>Title</h1><p>" + strings.Join(paragraphs, "</p>\n<p>") + "</p>"
}

func fiftyParagraphs() (all []string) {
	for i := range 50 {
		all = append(all, sentences(uint64(i), 20+i*7%60))
	}
	return all
}

// try runs the stage in a data directory that outlives the run.
func try(t *testing.T, resources *pipeline.Resources, o Options, documents ...any) *stagetest.Result {
	t.Helper()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	got := stagetest.Try(t, stagetest.Case{Type: "chunk", Options: o, Inputs: documents, Resources: resources})
	if len(got.Failures) > 0 {
		t.Fatal(got.Failures)
	}
	return got
}

func states() *pipeline.Resources {
	r := new(pipeline.Resources)
	pipeline.Provide(r, pipeline.StatesInMemory())
	return r
}

func ids(values []any) (all []string) {
	for _, v := range values {
		all = append(all, v.(pipeline.Record)["id"].(string))
	}
	return all
}

func TestConformance(t *testing.T) {
	stagetest.Run(t, stagetest.Case{Type: "chunk", Options: defaults, Inputs: []any{document(1, article(fiftyParagraphs())), document(2, "<p>a"), document(3, ""), &webrace.Gone{URL: address}, &webrace.Gone{URL: address}, storage.Collected{}}})
}

func TestPiecesFollowHeadings(t *testing.T) {
	t.Parallel()
	got := try(t, states(), defaults, document(3, "<p>Before.<h1>One <i>two</i> &amp; <code>*</code></h1><h2>A</h2><p>a<ul><li>b</ul><h2>B</h2><h3>C</h3><pre>c\n\n# d</pre><h1>Last</h1>"))
	piece := func(id any, position float64, text string, words float64, heading ...any) pipeline.Record {
		if heading == nil {
			heading = []any{}
		}
		return pipeline.Record{
			"id": id, "change": "new", "url": address, "version": 3.0, "title": "A page", "language": "en", "heading": heading,
			"position": position, "words": words, "text": text,
		}
	}
	want := []pipeline.Record{
		piece(nil, 1, "Before.", 1),
		piece(nil, 2, "# One _two_ & `*`\n\n## A\n\na\n\n- b", 10, "One two & *", "A"),
		piece(nil, 3, "## B\n\n### C\n\n```\nc\n\n# d\n```", 9, "One two & *", "B", "C"),
		piece(nil, 4, "# Last", 2, "Last"),
	}
	if len(got.Out[""]) != len(want) {
		t.Fatalf("%d pieces: %v", len(got.Out[""]), got.Out[""])
	}
	for i, v := range got.Out[""] {
		p := maps.Clone(v.(pipeline.Record))
		if id := p["id"].(string); !isUUID.MatchString(id) {
			t.Errorf("%s is no UUID of version 8", id)
		}
		p["id"] = nil
		if fmt.Sprint(p) != fmt.Sprint(want[i]) {
			t.Errorf("piece %d is\n%v\nnot\n%v", i+1, p, want[i])
		}
	}
}

var isUUID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func TestAParagraphThatChangesChangesTwoPiecesAtMost(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{defaults, {Words: 200, Overlap: 50}, {Words: 120, Overlap: 10}} {
		for at := range 50 {
			if testing.Short() && at%5 > 0 {
				continue
			}
			for _, words := range []int{15, 70} {
				paragraphs, resources := fiftyParagraphs(), states()
				before := try(t, resources, o, document(1, article(paragraphs)))
				paragraphs[at] = sentences(1000+uint64(at), words)
				after := try(t, resources, o, document(2, article(paragraphs)))
				fresh, gone := len(after.Out[""]), len(after.Out[portGone])
				most := 2
				if was := len(strings.Fields(fiftyParagraphs()[at])); words-was > (o.Words-o.Overlap)/5 {
					most = 3 // it may have no place in its piece any more
				}
				if fresh == 0 || fresh > most || gone == 0 || gone > 2 {
					t.Errorf("%+v: paragraph %d, of %d words now: %d pieces are new, %d are gone", o, at, words, fresh, gone)
				}
				had := slices.Sorted(slices.Values(ids(before.Out[""])))
				if told := slices.Sorted(slices.Values(slices.Concat(ids(after.Out[portSame]), ids(after.Out[portGone])))); !slices.Equal(had, told) {
					t.Errorf("%+v: paragraph %d: of %d pieces, %d are told of", o, at, len(had), len(told))
				}
			}
		}
	}
}

func TestAParagraphMoreOrLessChangesTwoPiecesAtMost(t *testing.T) {
	t.Parallel()
	for at := range 50 {
		for name, change := range map[string]func([]string) []string{
			"more": func(p []string) []string { return slices.Insert(p, at, sentences(2000, 30)) },
			"less": func(p []string) []string { return slices.Delete(p, at, at+1) },
		} {
			resources := states()
			try(t, resources, defaults, document(1, article(fiftyParagraphs())))
			got := try(t, resources, defaults, document(2, article(change(fiftyParagraphs()))))
			if fresh, gone := len(got.Out[""]), len(got.Out[portGone]); fresh > 2 || gone > 2 {
				t.Errorf("a paragraph %s at %d: %d pieces are new, %d are gone", name, at, fresh, gone)
			}
		}
	}
}

// store is what a vector store has that takes what the stage tells.
type store map[string]string

func (s store) take(t *testing.T, got *stagetest.Result) {
	t.Helper()
	for _, v := range got.Out[""] {
		p := v.(pipeline.Record)
		s[p["id"].(string)] = p["text"].(string)
	}
	for _, id := range ids(got.Out[portGone]) {
		if _, ok := s[id]; !ok {
			t.Errorf("%s is gone, and was not there", id)
		}
		delete(s, id)
	}
	for _, v := range got.Out[portSame] {
		p := v.(pipeline.Record)
		if s[p["id"].(string)] != p["text"] {
			t.Errorf("%v is the same, and was not there", p)
		}
	}
}

// wordsOf returns the words of a text in order.
func wordsOf(text string) []string { return strings.Fields(text) }

func TestAStoreThatIsToldWhatChangedHasThePage(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	resources, s := states(), store{}
	o := Options{Words: 80, Overlap: 15}
	paragraphs := fiftyParagraphs()
	for version := 1; version <= 60; version++ {
		at := r.IntN(len(paragraphs))
		switch r.IntN(4) {
		case 0:
			paragraphs = slices.Insert(paragraphs, at, sentences(r.Uint64(), 1+r.IntN(200)))
		case 1:
			paragraphs = slices.Delete(paragraphs, at, at+1)
		case 2:
			paragraphs[at] = sentences(r.Uint64(), 1+r.IntN(100))
		default:
			paragraphs[at] = paragraphs[r.IntN(len(paragraphs))]
		}
		got := try(t, resources, o, document(version, article(paragraphs)))
		s.take(t, got)
		var all []pipeline.Record
		for _, v := range slices.Concat(got.Out[""], got.Out[portSame]) {
			all = append(all, v.(pipeline.Record))
		}
		if len(all) != len(s) {
			t.Fatalf("version %d: %d pieces, and the store has %d", version, len(all), len(s))
		}
		have := make(map[string]bool)
		for _, p := range all {
			if n := words(p["text"].(string)); n > o.Words {
				t.Fatalf("version %d: a piece of %d words", version, n)
			}
			for _, w := range wordsOf(p["text"].(string)) {
				have[w] = true
			}
		}
		for _, w := range wordsOf(strings.Join(paragraphs, " ")) {
			if !have[w] {
				t.Fatalf("version %d: no piece has %s", version, w)
			}
		}
	}
}

func TestAVersionThatIsKnownIsNotToldAgain(t *testing.T) {
	t.Parallel()
	resources := states()
	one, two := document(1, article(fiftyParagraphs()[:3])), document(2, article(fiftyParagraphs()[:4]))
	if got := try(t, resources, defaults, one); got.Counters["new"] == 0 {
		t.Fatalf("counters %v", got.Counters)
	}
	for _, d := range []*webrace.Document{one, one} {
		if got := try(t, resources, defaults, d); len(got.Out[""])+len(got.Out[portGone]) > 0 || len(got.Out[portSame]) == 0 {
			t.Errorf("it is told again: %v", got.Out)
		}
	}
	try(t, resources, defaults, two)
	if got := try(t, resources, defaults, one); len(got.Out[""])+len(got.Out[portGone])+len(got.Out[portSame]) > 0 {
		t.Errorf("version 1 behind version 2: %v", got.Out)
	}
}

// A version that changes nothing counts as the last all the same: gc may have removed those before.
func TestAVersionThatChangesNothingIsTheLast(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]string{"the same": article(fiftyParagraphs()), "empty": ""} {
		resources, first := states(), document(1, article(fiftyParagraphs()))
		two, late := document(2, second), document(1, article(fiftyParagraphs()[:5]))
		none := func(p pipeline.Record) error { t.Errorf("%s: %v is told", name, p); return nil }
		for _, d := range []*webrace.Document{first, two, late} {
			take := none
			if d == first {
				take = func(pipeline.Record) error { return nil }
			}
			if err := feed(t.Context(), resources, []any{d}, take); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestADocumentThatIsCutOffMakesNothingGone(t *testing.T) {
	t.Parallel()
	cut := document(2, article(fiftyParagraphs()[:10]))
	cut.Truncated = true
	for name, d := range map[string]*webrace.Document{"cut off": cut, "empty": document(2, "")} {
		resources := states()
		try(t, resources, defaults, document(1, article(fiftyParagraphs())))
		if got := try(t, resources, defaults, d); len(got.Out[portGone])+len(got.Out[""]) > 0 {
			t.Errorf("%s: %v", name, got.Out)
		}
		if got := try(t, resources, defaults, document(3, article(fiftyParagraphs()))); len(got.Out[portGone])+len(got.Out[""]) > 0 {
			t.Errorf("%s, then whole again: %v", name, got.Out)
		}
	}
}

// told counts what is told of pieces: new, gone, same.
func told(got *stagetest.Result) [3]int {
	return [3]int{len(got.Out[""]), len(got.Out[portGone]), len(got.Out[portSame])}
}

func TestOtherOptionsMakeOtherPieces(t *testing.T) {
	t.Parallel()
	resources, s := states(), store{}
	d := document(1, article(fiftyParagraphs()))
	for _, o := range []Options{defaults, {Words: 60, Overlap: 0}, defaults} {
		got := try(t, resources, o, d)
		s.take(t, got)
		if len(s) != len(got.Out[""])+len(got.Out[portSame]) {
			t.Errorf("%+v: the store has %d pieces of %d", o, len(s), len(got.Out[""])+len(got.Out[portSame]))
		}
	}
}

func TestPiecesThatAreAlikeAreSeveral(t *testing.T) {
	t.Parallel()
	paragraph := sentences(1, 90)
	got := try(t, states(), Options{Words: 100, Overlap: 0}, document(1, strings.Repeat("<h1>A</h1><p>"+paragraph, 5)))
	if all := slices.Compact(slices.Sorted(slices.Values(ids(got.Out[""])))); len(all) != 5 {
		t.Errorf("%d names of 5 pieces: %v", len(all), all)
	}
}

func TestADocumentOfASecretIsAnother(t *testing.T) {
	t.Parallel()
	own := document(1, article(fiftyParagraphs()[:2]))
	own.Secret = "member"
	got := try(t, states(), defaults, document(1, article(fiftyParagraphs()[:2])), own)
	if len(got.Out[""]) != 2 || ids(got.Out[""])[0] == ids(got.Out[""])[1] {
		t.Errorf("pieces %v", got.Out[""])
	}
}

func TestOptionsAreValidated(t *testing.T) {
	t.Parallel()
	for option, o := range map[string]Options{"words": {Words: 5}, "overlap": {Words: 100, Overlap: 51}} {
		var fault *pipeline.OptionError
		if err := o.Validate(); !errors.As(err, &fault) || fault.Option != option {
			t.Errorf("%+v: got %v, want a fault of %s", o, err, option)
		}
	}
	if err := defaults.Validate(); err != nil {
		t.Error(err)
	}
}
