package chunk

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
)

func TestWhatIsGoneHasNoPieces(t *testing.T) {
	t.Parallel()
	resources, s := states(), store{}
	page := document(3, article(fiftyParagraphs()))
	own, other := document(1, article(fiftyParagraphs()[:2])), document(1, article(fiftyParagraphs()[:2]))
	own.Secret, other.URL = "member", address+"/other"
	got := try(t, resources, defaults, page, own, other)
	s.take(t, got)
	gone := &webrace.Gone{URL: address, Reason: "404 Not Found"}
	last := try(t, resources, defaults, gone)
	s.take(t, last)
	if len(s) != 2 || len(last.Out[portGone]) != len(got.Out[""])-2 || len(last.Out[""])+len(last.Out[portSame]) > 0 {
		t.Errorf("%d pieces are left, and %v were told", len(s), told(last))
	}
	if r := last.Out[portGone][0].(pipeline.Record); r["url"] != address || r["version"] != 3.0 || r["change"] != "gone" || len(r) != 4 {
		t.Errorf("a piece that is gone is told as %v", r)
	}
	if again := try(t, resources, defaults, gone, &webrace.Gone{URL: address + "/never"}); told(again) != [3]int{} {
		t.Errorf("it is told again: %v", told(again))
	}
	back := try(t, resources, defaults, page)
	s.take(t, back)
	if !slices.Equal(ids(back.Out[""]), ids(got.Out[""])[:len(got.Out[""])-2]) || len(s) != len(got.Out[""]) {
		t.Errorf("it comes back with %v", told(back))
	}
	if got := try(t, resources, defaults, &webrace.Gone{URL: address, Secret: "member"}); told(got) != [3]int{0, 1, 0} || got.Out[portGone][0].(pipeline.Record)["url"] != address {
		t.Errorf("of what was fetched with a secret, %v were told", got.Out)
	}
}

// feed gives the stage one value after the other, and what it tells to a taker, as often as it is called with the same
// resources.
func feed(ctx context.Context, resources *pipeline.Resources, values []any, take func(pipeline.Record) error) error {
	g := pipeline.DefaultRegistry.NewGraph("vectors")
	out := []pipeline.Port{{Kind: pipeline.KindOf[*webrace.Document]()}, {Name: portGone, Kind: pipeline.KindOf[*webrace.Gone]()}}
	g.AddStage("pages", pipeline.Spec{Type: "pages", Out: out}, func(*pipeline.Env) (any, error) { return pages(values), nil })
	g.AddType("chunk", "chunk", defaults)
	g.AddStage("taker", pipeline.Spec{Type: "taker", In: pipeline.Kinds(pipeline.KindOf[pipeline.Record]())}, func(*pipeline.Env) (any, error) {
		return taker(take), nil
	})
	g.Connect("pages", "", "chunk")
	g.Connect("pages", portGone, "chunk")
	g.Connect("chunk", "", "taker")
	g.Connect("chunk", portGone, "taker")
	_, err := g.Run(ctx, pipeline.RunOptions{Resources: resources})
	return err
}

type pages []any

func (p pages) Run(ctx context.Context, out pipeline.Emitter) error {
	for _, v := range p {
		port, ended := "", make(chan struct{})
		if _, gone := v.(*webrace.Gone); gone {
			port = portGone
		}
		it := pipeline.NewItem(v, nil)
		it.OnEnd(func() { close(ended) })
		if err := out.EmitTo(ctx, port, it); err != nil {
			return err
		}
		<-ended
	}
	return nil
}

type taker func(pipeline.Record) error

func (f taker) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	return f(it.Value.(pipeline.Record))
}

// A process that ends while a page is told to be gone may have told that of some pieces. If the page is back when the
// next one looks, as it was, all of its pieces are told.
func TestWhatWasAboutToGoAndIsBackIsTold(t *testing.T) {
	t.Parallel()
	resources, s := states(), store{}
	page := document(1, article(fiftyParagraphs()))
	take := func(p pipeline.Record) error {
		if p["change"] == "gone" {
			delete(s, p["id"].(string))
		} else {
			s[p["id"].(string)] = p["text"].(string)
		}
		return nil
	}
	if err := feed(t.Context(), resources, []any{page}, take); err != nil {
		t.Fatal(err)
	}
	had := maps.Clone(s)
	dying, die := context.WithCancel(t.Context())
	_ = feed(dying, resources, []any{&webrace.Gone{URL: address}}, func(p pipeline.Record) error {
		if len(s) == 5 {
			die()
			return dying.Err()
		}
		return take(p)
	})
	if len(s) != 5 {
		t.Fatalf("%d pieces are left, want 5", len(s))
	}
	for range 2 {
		if err := feed(t.Context(), resources, []any{page}, take); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(s, had) {
			t.Errorf("the store has %d pieces, and the page %d", len(s), len(had))
		}
	}
	if err := feed(t.Context(), resources, []any{page}, func(p pipeline.Record) error { t.Errorf("told again: %v", p); return nil }); err != nil {
		t.Fatal(err)
	}
}

// A page whose body stays while its owner forbids to give it to models, and allows that again: what came with the last
// answer counts, and what the server does not send again when it confirms the page stays as it was.
func TestWhatIsForbiddenLaterHasNoPieces(t *testing.T) {
	t.Parallel()
	const noai, robots = "X-Robots-Tag", webrace.UsageField
	fetched := func(header ...string) *webrace.Document {
		d := document(1, article(fiftyParagraphs()))
		d.Header = http.Header{"Content-Type": {"text/html"}}
		for i := 0; i < len(header); i += 2 {
			d.Header.Set(header[i], header[i+1])
		}
		return d
	}
	confirmed := func(header ...string) *webrace.Document {
		d := fetched(header...)
		d.Outcome = webrace.NotModified
		return d
	}
	forbidding := "robots.txt:2: Content-Usage: ai-use=n"
	cut := len(try(t, states(), defaults, fetched()).Out[""])
	for name, c := range map[string]struct {
		documents []any
		change    []int // how many pieces the store has more behind each
	}{
		"by its header":            {[]any{fetched(), fetched(noai, "noai"), fetched(noai, "noai"), fetched()}, []int{cut, -cut, 0, cut}},
		"confirmed without it":     {[]any{fetched(), fetched(noai, "noai"), confirmed(), confirmed(), fetched()}, []int{cut, -cut, 0, 0, cut}},
		"robots.txt, sent":         {[]any{fetched(), fetched(robots, forbidding), confirmed(robots, forbidding), fetched()}, []int{cut, -cut, 0, cut}},
		"robots.txt, confirmed":    {[]any{fetched(), confirmed(robots, forbidding), confirmed(robots, forbidding), confirmed()}, []int{cut, -cut, 0, cut}},
		"its header, confirmed":    {[]any{fetched(), confirmed(noai, "noai"), fetched()}, []int{cut, -cut, cut}},
		"from the first":           {[]any{fetched(noai, "noai"), confirmed(), fetched()}, []int{0, 0, cut}},
		"and then gone":            {[]any{fetched(), fetched(noai, "noai"), &webrace.Gone{URL: address}, fetched()}, []int{cut, -cut, 0, cut}},
		"of its training, not use": {[]any{fetched(), fetched("Content-Usage", "train-ai=n")}, []int{cut, 0}},
	} {
		resources, s := states(), store{}
		storeFirst(t, resources, c.documents[0].(*webrace.Document))
		for i, d := range c.documents {
			before := len(s)
			s.take(t, try(t, resources, defaults, d))
			if got := len(s) - before; got != c.change[i] {
				t.Errorf("%s, answer %d: the store has %d pieces more, want %d", name, i+1, got, c.change[i])
			}
		}
	}
	free := defaults
	free.ObeyUsage = false
	if got := try(t, states(), free, fetched(noai, "noai")); len(got.Out[""]) != cut || got.Counters["forbidden"] != 0 {
		t.Errorf("not obeyed: %v", told(got))
	}
}

// Of documents that the object cache has no more, the pieces are gone, whoever has removed them there.
func TestWhatIsNotStoredAnyMoreHasNoPieces(t *testing.T) {
	t.Parallel()
	page := func(path string, age time.Duration) *webrace.Document {
		d := document(1, article(fiftyParagraphs()[:10]))
		d.URL, d.At, d.Header = address+path, time.Now().Add(-age), http.Header{}
		return d
	}
	old, young, unstored, own := page("/old", 48*time.Hour), page("/young", time.Minute), page("/unstored", 48*time.Hour), page("/old", 48*time.Hour)
	unstored.Version, own.Secret = 0, "member"
	resources := states()
	dir := storeFirst(t, resources, old, young, own)
	if _, err := dir.Control(); err != nil {
		t.Fatal(err)
	}
	cut := len(try(t, resources, defaults, old, young, unstored, own).Out[""]) / 4
	if got := try(t, resources, defaults, storage.Collected{}); told(got) != [3]int{} {
		t.Fatalf("before anything was removed, %v were told", told(got))
	}
	removed, err := dir.Collect(t.Context(), storage.Retention{Unmatched: 24 * time.Hour})
	if err != nil || removed.Versions != 2 {
		t.Fatalf("%v, %v", removed, err)
	}
	got := try(t, resources, defaults, removed, removed)
	if cut == 0 || told(got) != [3]int{0, 2 * cut, 0} || slices.ContainsFunc(got.Out[portGone], func(v any) bool { return v.(pipeline.Record)["url"] != old.URL }) {
		t.Errorf("%v were told, want %d as gone", told(got), 2*cut)
	}
	if got := try(t, resources, defaults, old); told(got) != [3]int{cut, 0, 0} {
		t.Errorf("it comes back with %v", told(got))
	}
}

// What is on its way to the disk yet is not taken for removed.
func TestWhatIsBeingStoredIsNotRemoved(t *testing.T) {
	t.Parallel()
	documents, err := storeFirst(t, states()).Objects()
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{objects: documents}
	for i := range 300 {
		d := document(0, fmt.Sprint(i))
		d.URL, d.Status, d.At = fmt.Sprint(address, i), http.StatusOK, time.Now()
		v, err := documents.Put(d, func(error) {})
		if err != nil {
			t.Fatal(err)
		}
		if removed, err := s.isRemoved(d.URL, known{Version: v.Number}); removed || err != nil {
			t.Fatalf("document %d, just stored, is removed: %t, %v", i, removed, err)
		}
		if removed, err := s.isRemoved(d.URL+"/other", known{Version: v.Number}); !removed || err != nil {
			t.Fatalf("document %d, never stored, is not removed: %t, %v", i, removed, err)
		}
	}
}

// storeFirst adds an object cache that has the first versions of pages.
func storeFirst(t *testing.T, resources *pipeline.Resources, pages ...*webrace.Document) *storage.Dir {
	t.Helper()
	dir, err := storage.Open(t.TempDir(), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	documents, err := dir.Objects()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range pages {
		first, durable := *d, make(chan error, 1)
		if first.Status = http.StatusOK; first.At.IsZero() {
			first.At = time.Now()
		}
		if _, err := documents.Put(&first, func(err error) { durable <- err }); err != nil {
			t.Fatal(err)
		}
		if err := <-durable; err != nil {
			t.Fatal(err)
		}
	}
	pipeline.Provide(resources, dir)
	return dir
}
