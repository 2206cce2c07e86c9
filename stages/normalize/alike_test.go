package normalize

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/analyze"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/simhash"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
)

// article is a page of words at random, at a path, beside a clock.
func article(path string, seed uint64, clock string) *webrace.Document {
	random := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	fmt.Fprintf(&b, "<title>Article %d</title><a href='/next'>next</a> It is %s. ", seed, clock)
	for range 3000 {
		fmt.Fprintf(&b, "w%d ", random.IntN(30000))
	}
	d := page(b.String())
	d.URL = "http://example.org" + path
	return d
}

// tryAll sends documents through the stage, one after the other.
func tryAll(t *testing.T, o Options, docs ...any) *stagetest.Result {
	t.Helper()
	r := stagetest.Try(t, stagetest.Case{Type: "normalize", Options: o, Inputs: docs})
	if len(r.Failures) > 0 {
		t.Fatal(r.Failures[0])
	}
	return r
}

func report(o *Options) { o.Likeness = true }

func filter(o *Options) { o.Likeness, o.NearDuplicates = true, filterThem }

func TestPagesThatAreNearlyTheSameAreCounted(t *testing.T) {
	t.Parallel()
	elsewhere, secret := article("/a", 1, "9:00"), article("/b", 1, "9:00")
	elsewhere.URL, secret.Secret = "http://example.net/a", "members"
	r := tryAll(t, with(report), article("/a", 1, "9:00"), article("/b", 1, "9:01"), article("/c", 2, "9:02"), article("/a", 1, "9:03"), elsewhere, secret)
	if n := r.Counters["near_duplicates"]; n != 2 { // the second and the fourth
		t.Errorf("%d near duplicates of 2", n)
	}
	if len(r.Out[""]) != 6 || r.Counters["near_duplicates_filtered"] != 0 || r.Counters["soft_404"] != 0 {
		t.Errorf("%d of 6 passed on; counters %v", len(r.Out[""]), r.Counters)
	}
	first, other := r.Out[""][0].(*webrace.Document).Likeness, r.Out[""][2].(*webrace.Document).Likeness
	if first == 0 || other == 0 || simhash.Near(first, other) {
		t.Errorf("likenesses %x and %x", first, other)
	}
}

func TestAPageIsNoDuplicateOfItsEarlierVersion(t *testing.T) {
	t.Parallel()
	r := tryAll(t, with(filter), article("/a", 1, "9:00"), article("/a", 1, "9:01"), article("/a", 1, "9:01"))
	if len(r.Out[""]) != 3 || r.Counters["near_duplicates"] != 0 {
		t.Errorf("%d of 3 passed on; counters %v", len(r.Out[""]), r.Counters)
	}
}

func TestFilteredPagesAreFollowedButNotPassedOn(t *testing.T) {
	t.Parallel()
	stored := article("/stored", 1, "9:02")
	stored.Visit = &webrace.Visit{Version: 1}
	r := tryAll(t, with(filter), article("/a", 1, "9:00"), article("/b", 1, "9:01"), stored, article("/d", 2, "9:00"))
	if len(r.Out[""]) != 3 || len(r.Out["links"]) != 4 {
		t.Errorf("%d documents and %d sets of links, want 3 and 4", len(r.Out[""]), len(r.Out["links"]))
	}
	if r.Counters["near_duplicates"] != 2 || r.Counters["near_duplicates_filtered"] != 1 {
		t.Errorf("counters %v", r.Counters)
	}
	visit := webrace.Visit{ETag: "e", LastModified: "then", Status: 200}
	for _, what := range r.Outcomes[1].Learned {
		what.(webrace.Learned)(&visit)
	}
	if visit.ETag != "" || visit.LastModified != "" || visit.Version != 0 || visit.Digest == (webrace.Digest{}) ||
		visit.Error != "left out: nearly the same as http://example.org/a" {
		t.Errorf("the next visit knows %+v", visit)
	}
}

func TestAPageThatBecameAnotherStandsForNoneAnyMore(t *testing.T) {
	t.Parallel()
	short := page("gone")
	short.URL = "http://example.org/a"
	for what, now := range map[string]*webrace.Document{"another text": article("/a", 2, "9:00"), "a short text": short} {
		r := tryAll(t, with(filter), article("/a", 1, "9:00"), now, article("/b", 1, "9:01"))
		if len(r.Out[""]) != 3 || r.Counters["near_duplicates"] != 0 {
			t.Errorf("%s: %d of 3 passed on; counters %v", what, len(r.Out[""]), r.Counters)
		}
	}
}

// A page that the server confirmed, or that is fresh, is known by what it was like when it was fetched.
func TestAPageThatIsConfirmedStandsForOthersStill(t *testing.T) {
	t.Parallel()
	for _, outcome := range []webrace.Outcome{webrace.NotModified, webrace.Fresh} {
		first := tryAll(t, with(report), article("/a", 1, "9:00"))
		visit := webrace.Visit{Version: 1}
		for _, what := range first.Outcomes[0].Learned {
			what.(webrace.Learned)(&visit)
		}
		confirmed := article("/a", 1, "9:00")
		confirmed.Body, confirmed.Outcome, confirmed.Visit = nil, outcome, &visit
		r := tryAll(t, with(filter), confirmed, article("/b", 1, "9:01"), article("/c", 2, "9:01"))
		if len(r.Out[""]) != 2 || r.Counters["near_duplicates"] != 1 || r.Counters["near_duplicates_filtered"] != 1 {
			t.Errorf("%s: %d of 3 passed on; counters %v", outcome, len(r.Out[""]), r.Counters)
		}
		if got, want := r.Out[""][0].(*webrace.Document).Likeness, first.Out[""][0].(*webrace.Document).Likeness; got != want || want == 0 {
			t.Errorf("%s: its likeness is %x, and was %x", outcome, got, want)
		}
		if r = tryAll(t, defaults, confirmed); r.Out[""][0] != any(confirmed) {
			t.Errorf("%s: without the option, it passes as %+v", outcome, r.Out[""][0])
		}
	}
}

func TestSoft404sAreCountedFromTheEleventhOn(t *testing.T) {
	t.Parallel()
	var docs []any
	for i := range 15 {
		docs = append(docs, article(fmt.Sprintf("/missing/%d", i), 1, "9:00"))
	}
	again := article("/missing/3", 1, "9:00") // among ten others by now
	gone := article("/gone", 1, "9:00")
	gone.Status = 404
	titled := article("/titled", 1, "9:00")
	titled.Body = []byte(strings.Replace(string(titled.Body), "Article", "Another", 1))
	docs = append(docs, again, gone, titled)
	for _, c := range []struct {
		options      Options
		near, soft   int64
		passed, left int
	}{
		{with(report), 17, 6, 18, 0},
		{with(func(o *Options) { o.Likeness, o.Soft404 = true, 12 }), 17, 4, 18, 0},
		{with(func(o *Options) { o.Likeness, o.Soft404 = true, 0 }), 17, 0, 18, 0},
		{with(filter), 17, 6, 1, 17},
		{defaults, 0, 0, 18, 0},
	} {
		r := tryAll(t, c.options, docs...)
		got := []int64{r.Counters["near_duplicates"], r.Counters["soft_404"], int64(len(r.Out[""])), r.Counters["near_duplicates_filtered"]}
		if want := []int64{c.near, c.soft, int64(c.passed), int64(c.left)}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%+v: near duplicates, soft 404s, passed on and left out are %v, want %v", c.options, got, want)
		}
	}
}

func TestOptionsThatMeanNothingAreRefused(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{
		with(func(o *Options) { o.NearDuplicates = filterThem }),
		with(func(o *Options) { o.Soft404 = -1 }),
	} {
		if o.Validate() == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	if err := defaults.Validate(); err != nil {
		t.Error(err)
	}
}

// shingles returns the sequences of three words of a text, each with how often it stands there.
func shingles(text *webrace.Text) map[string]int {
	var words []string
	for _, b := range text.Blocks {
		if b.Field == webrace.FieldBody || b.Field == webrace.FieldHeading {
			analyze.Words(text.Slice(b), func(_, _ int, folded []byte) bool {
				words = append(words, string(folded))
				return true
			})
		}
	}
	all := make(map[string]int)
	for i := 2; i < len(words); i++ {
		all[strings.Join(words[i-2:i+1], " ")]++
	}
	return all
}

// similarity is the part of all shingles of two texts that stands in both.
func similarity(x, y map[string]int) float64 {
	both, either := 0, 0
	for s, n := range x {
		both += min(n, y[s])
		either += max(n, y[s])
	}
	for s, n := range y {
		if x[s] == 0 {
			either += n
		}
	}
	return float64(both) / float64(max(either, 1))
}

func TestWhatIsReportedOnRealSitesIsAlike(t *testing.T) {
	if testing.Short() {
		t.Skip("whole sites: not in short mode")
	}
	for _, root := range []string{"/usr/share/doc/python3.11/html", "/usr/share/doc/postgresql-doc-15/html"} {
		t.Run(root, func(t *testing.T) {
			docs := realPages(t, root)
			copies := withAnotherClock(docs)
			docs = append(docs, copies...)
			memory, byURL, near := simhash.NewMemory(pagesOfHost), make(map[string]*webrace.Document), 0
			r := tryAll(t, with(report), docs...)
			for _, v := range r.Out[""] {
				d := v.(*webrace.Document)
				byURL[d.URL] = d
				if d.Likeness == 0 {
					continue
				}
				p := simhash.Page{URL: d.URL, Fingerprint: d.Likeness}
				if f := memory.Find(p, 1); f.Near != "" {
					near++
					s := similarity(shingles(d.Text), shingles(byURL[f.Near].Text))
					if s < 0.8 {
						t.Errorf("%s is reported as nearly %s, with a similarity of %.2f", d.URL, f.Near, s)
					}
				}
				memory.Remember(p, true)
			}
			t.Logf("%d near duplicates and %d soft 404s in %d pages and %d copies", near, r.Counters["soft_404"], len(docs)-len(copies), len(copies))
			if near < len(copies)*9/10 {
				t.Errorf("%d near duplicates of %d", near, len(copies))
			}
			if r.Counters["soft_404"] != 0 || r.Counters["near_duplicates"] != int64(near) {
				t.Errorf("counters %v", r.Counters)
			}
		})
	}
}

// withAnotherClock returns every fifth page that is long, with a time below it, as if it stood elsewhere too.
func withAnotherClock(docs []any) (copies []any) {
	for i, v := range docs {
		d := *v.(*webrace.Document)
		if len(d.Body) < 30_000 || i%5 != 0 {
			continue
		}
		d.URL += "?print"
		d.Body = append(d.Body[:len(d.Body):len(d.Body)], fmt.Sprintf("<p>Served at 12:%d:07.", i)...)
		copies = append(copies, &d)
	}
	return copies
}

// realPages returns the pages of a site that is installed.
func realPages(t testing.TB, root string) (docs []any) {
	t.Helper()
	if _, err := os.Stat(root); err != nil {
		t.Skipf("the documentation is not installed: %v", err)
	}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".html") || !e.Type().IsRegular() {
			return err
		}
		body, err := os.ReadFile(path)
		d := page(string(body))
		d.URL = "http://docs.example" + filepath.ToSlash(strings.TrimPrefix(path, root))
		docs = append(docs, d)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

func BenchmarkRealPages(b *testing.B) {
	docs := realPages(b, "/usr/share/doc/python3.11/html")
	for _, on := range []bool{false, true} {
		b.Run(fmt.Sprint("likeness=", on), func(b *testing.B) {
			a := newAlike(with(func(o *Options) { o.Likeness = on }), pipeline.NewEnv("p", "normalize", nil))
			for n := 0; b.Loop(); n++ {
				d := docs[n%len(docs)].(*webrace.Document)
				r, err := extract.Document(d.Body, "text/html", d.URL, defaults.extract())
				if err != nil {
					b.Fatal(err)
				}
				a.compare(normalized(d, r))
			}
		})
	}
}
