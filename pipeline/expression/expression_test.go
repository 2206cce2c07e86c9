package expression

import (
	"errors"
	"net/http"
	"net/netip"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	_ "github.com/webrace/webrace/stages/kinds" // whose fields the expressions name
)

var documents = pipeline.KindOf[*webrace.Document]()

func page() *webrace.Document {
	return &webrace.Document{
		URL: "https://news.example.org/a/b?lang=el&x=1", Outcome: webrace.Fetched, Status: 200, Took: 1500 * time.Millisecond,
		At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), MediaType: "text/html", Language: "en-GB", Title: "Hello, World",
		Header: http.Header{"Content-Type": {"text/html"}}, Origin: netip.MustParseAddr("192.0.2.1"),
		Body: []byte("<p>one two"), Text: &webrace.Text{Bytes: []byte("one two")}, Links: []string{"https://a.org/", "https://b.org/x"},
		Visit: &webrace.Visit{Status: 404, Attempts: 2}, Reach: []webrace.Reach{{Crawl: "c1", Distance: 3}},
		Digest: webrace.Digest{1}, Likeness: 1 << 63,
	}
}

func TestAnExpressionSeesTheFieldsOfAValue(t *testing.T) {
	meta := map[string]string{"lang": "el"}
	for text, want := range map[string]any{
		`url`:                               "https://news.example.org/a/b?lang=el&x=1",
		`media_type in ["text/html"]`:       true,
		`outcome == "fetched"`:              true,
		`status >= 200 and status < 300`:    true,
		`took_s > 1`:                        true,
		`at.Year()`:                         2026,
		`at < date("2026-02-01")`:           true,
		`host(url)`:                         "news.example.org",
		`path(url)`:                         "/a/b",
		`query(url)`:                        "lang=el&x=1",
		`param(url, "lang")`:                "el",
		`text`:                              "one two",
		`words(text)`:                       2,
		`body contains "<p>"`:               true,
		`len(links)`:                        2,
		`any(links, # endsWith "x")`:        true,
		`filter(links, host(#) == "a.org")`: []any{"https://a.org/"},
		`visit.status`:                      404,
		`visit?.attempts ?? 0`:              2,
		`reach[0].distance`:                 3,
		`map(reach, .crawl)`:                []any{"c1"},
		`header["Content-Type"][0]`:         "text/html",
		`origin`:                            "192.0.2.1",
		`digest startsWith "sha256:01"`:     true,
		`likeness`:                          "8000000000000000",
		`changed`:                           false,
		`meta.lang`:                         "el",
		`meta["none"]`:                      "",
		`kind`:                              "document",
		`value.title`:                       "Hello, World",
		`upper(title) + "!"`:                "HELLO, WORLD!",
		`let t = lower(title); t + t`:       "hello, worldhello, world",
		`status + 1`:                        201,
		`join(links, " ")`:                  "https://a.org/ https://b.org/x",
		`replace(title, "l", "LL")`:         "HeLLLLo, WorLLd",
		`title matches "^H.*d$"`:            true,
		`title[0:5]`:                        "Hello",
		`{"a": status, "b": title}`:         map[string]any{"a": 200, "b": "Hello, World"},
	} {
		p, err := Compile(text, documents)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, err := p.Value(page(), meta); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %#v, %v; want %#v", text, got, err, want)
		}
	}
}

func TestValuesOfOtherKinds(t *testing.T) {
	for _, c := range []struct {
		text  string
		value any
		want  any
	}{
		{`price > 10 and kind == "record"`, map[string]any{"price": 12.5}, true},
		{`value["odd name"]`, map[string]any{"odd name": "x"}, "x"},
		{`missing`, map[string]any{}, nil},
		{`missing ?? "none"`, map[string]any{}, "none"},
		{`count`, map[string]any{"count": 3}, 3},
		{`path`, map[string]any{"path": "/x"}, "/x"},
		{`nested.list[1]`, map[string]any{"nested": map[string]any{"list": []any{1, "two"}}}, "two"},
		{`value`, "a line", "a line"},
		{`value contains "li"`, "a line", true},
		{`len(value)`, []any{1, 2}, 2},
		{`value[0].title + value[1]`, pipeline.List{page(), "!"}, "Hello, World!"},
		{`map(value, .media_type)`, pipeline.List{page()}, []any{"text/html"}},

		{`kind`, "a line", "text"},
		{`kind`, nil, "json"},
		{`text`, &webrace.Document{}, ""},
		{`visit`, &webrace.Document{}, nil},
		{`error + stage`, &pipeline.Failure{Stage: "s", Err: errors.New("broken")}, "brokens"},
		{`crawl?.start`, webrace.Request{}, nil},
		{`from`, &webrace.Links{From: "f"}, "f"},
	} {
		p, err := Compile(c.text)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, err := p.Value(c.value, nil); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s over %#v is %#v, %v; want %#v", c.text, c.value, got, err, c.want)
		}
	}
}

func TestWhatCannotBeIsRefusedWithItsColumn(t *testing.T) {
	for text, want := range map[string]string{
		`titel == "x"`:                   `column 1: there is no "titel" (did you mean title?)`,
		`status == 200 and mediatype`:    `column 19: there is no "mediatype" (did you mean media_type?)`,
		`hosst(url)`:                     `column 1: there is no "hosst" (did you mean host?)`,
		`host == "a.org"`:                `column 1: there is no field "host", and the function of that name needs arguments: host(…)`,
		`status + title`:                 `column 8: `,
		`status and true`:                `column 8: `,
		`upper(status)`:                  `column 7: `,
		`title ==`:                       `column `,
		`"`:                              `column 2: `,
		`host(1)`:                        `column 6: `,
		`$env["url"]`:                    `column 1: there is no "$env"`,
		`status == 1 # x`:                `column `,
		strings.Repeat("1+", 5000) + "1": `more than`,
		`all(links, any(links, all(links, # == "")))`: `3 deep, more than 2`,
		``: `expression ""`,
	} {
		if _, err := Compile(text, documents); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: got %v, want %q in it", text, err, want)
		}
	}
}

// A mistake knows the bytes that it is in, whatever stands before it.
func TestAMistakeKnowsItsPlaceAndWhatWasMeant(t *testing.T) {
	for text, want := range map[string]string{
		`titel == "x"`: "titel", `"λ" == titel`: "titel", "1 == 1 and\n  titel": "titel", `status + title`: "+", `upper(status)`: "status",
	} {
		_, err := Compile(text, documents)
		var mistake *Error
		if !errors.As(err, &mistake) {
			t.Errorf("%s: %v", text, err)
			continue
		}
		at, width := mistake.Within()
		if !strings.HasPrefix(text[at:], want) || width < 1 {
			t.Errorf("%s: at %d, of %d bytes, want it at %q", text, at, width, want)
		}
		if meant := mistake.Meant(); (meant == "title") != (want == "titel") {
			t.Errorf("%s: %q was meant", text, meant)
		}
	}
}

func TestWhatIsInRecordsAndListsIsKnown(t *testing.T) {
	for text, known := range map[string]bool{
		`price > 1 and meta.a == "" and kind == "record"`: true, `prize > 1`: false, `count + 1 > 2`: true, `value.price`: true,
	} {
		if _, err := Compile(text, pipeline.RecordOf("price", "count")); (err == nil) != known {
			t.Errorf("%s of a record: %v", text, err)
		}
	}
	if _, err := Compile(`titel`, pipeline.RecordOf()); err != nil {
		t.Errorf("a record of which nothing is known: %v", err)
	}
}

func TestAConditionIsBoolean(t *testing.T) {
	if _, err := CompileBool(`title`, documents); err == nil || !strings.Contains(err.Error(), "gives a text") {
		t.Errorf("got %v", err)
	}
	p, err := CompileBool(`flag`)
	if err != nil {
		t.Fatal(err)
	}
	if holds, err := p.Bool(map[string]any{"flag": true}, nil); err != nil || !holds {
		t.Errorf("%v, %v", holds, err)
	}
	if _, err := p.Bool(map[string]any{"flag": "yes"}, nil); err == nil {
		t.Error("a text holds")
	}
}

func TestNamesOfSeveralKindsAreThoseOfAnyOfThem(t *testing.T) {
	both := []pipeline.Kind{documents, pipeline.KindOf[webrace.Request]()}
	for _, text := range []string{`status == 200`, `from == ""`, `url + from`} {
		if _, err := Compile(text, both...); err != nil {
			t.Error(err)
		}
	}
	if _, err := Compile(`titel`, both...); err == nil {
		t.Error("a name of neither is taken")
	}
}

// TestOnlyWhatIsNamedIsMade holds the laziness: the text of a document is not touched by who asks for its URL.
func TestOnlyWhatIsNamedIsMade(t *testing.T) {
	p, err := Compile(`host(url) == "a.org" and status == 200`, documents)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Names(); !slices.Equal(got, []string{"status", "url"}) {
		t.Errorf("it names %q", got)
	}
	small, large := page(), page()
	large.Text = &webrace.Text{Bytes: make([]byte, 1<<20)}
	bytes := func(d *webrace.Document) uint64 {
		const runs = 100
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			if _, err := p.Value(d, nil); err != nil {
				t.Fatal(err)
			}
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / runs
	}
	if a, b := bytes(small), bytes(large); b > a+100_000 {
		t.Errorf("%d bytes an item for a small document, %d for a large one", a, b)
	}
}

func TestWorkIsBounded(t *testing.T) {
	value := map[string]any{"s": strings.Repeat("x", 1000), "l": slices.Repeat([]any{"x"}, 100_000)}
	for _, text := range []string{
		`reduce(1..60, #acc + #acc, s)`,
		`repeat(s, 100000000)`,
		`1..100000000`,
		`replace(s, "", repeat("x", 1000000))`,
		`join(map(l, s), s)`,
		`let a = s + s + s + s; let b = a + a + a + a + a + a; let c = b + b + b + b + b + b + b + b + b + b; let d = c + c + c + c + c + c + c + c + c + c; let e = d + d + d + d + d + d + d; e`,
	} {
		p, err := Compile(text)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := p.Value(value, nil); err == nil {
			t.Errorf("%s is evaluated", text)
		}
	}
}

func TestAProgramIsUsedByManyAtOnce(t *testing.T) {
	p, err := CompileBool(`any(links, # == meta.wanted) and title == meta.title`, documents)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			title := strings.Repeat("t", i)
			d := &webrace.Document{Title: title, Links: []string{"a", title + "x"}}
			for range 200 {
				if ok, err := p.Bool(d, map[string]string{"wanted": title + "x", "title": title}); !ok || err != nil {
					t.Errorf("%v, %v", ok, err)
					return
				}
			}
		})
	}
	all.Wait()
}

func TestKeysAreTexts(t *testing.T) {
	for text, want := range map[string]string{
		`1.5`: "1.5", `3`: "3", `"x"`: "x", `nil`: "", `true`: "true", `[1, "a"]`: `[1,"a"]`, `{"a": 1}`: `{"a":1}`,
		`date("2026-01-02T03:04:05Z")`: "2026-01-02T03:04:05Z", `duration("90s")`: "1m30s",
	} {
		p, err := Compile(text)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, err := p.Text(nil, nil); err != nil || got != want {
			t.Errorf("%s is the key %q, %v; want %q", text, got, err, want)
		}
	}
}

// FuzzExpression wants places of mistakes that are in the expression, and neither a panic nor a result that differs
// from one evaluation to the next, whatever the expression.
func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		`url`, `media_type in ["a"]`, `filter(links, # != title)[0]`, `reduce(links, #acc + #, "")`, `visit.status + 1`, `let a = 1; a`,
		`sortBy(reach, .distance)`, `title[1:-1]`, `text matches url`, `groupBy(links, host(#))`, `fromJSON(title)`, `at - at`, `1..5 | map(# * status)`,
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, typed bool) {
		var kinds []pipeline.Kind
		if typed {
			kinds = append(kinds, documents)
		}
		p, err := Compile(text, kinds...)
		if mistake := (*Error)(nil); errors.As(err, &mistake) {
			if at, width := mistake.Within(); at < 0 || width < 0 || at+width > len(text) {
				t.Errorf("%q: the mistake is at %d, of %d bytes", text, at, width)
			}
		}
		if err != nil {
			return
		}
		first, err := p.Value(page(), nil)
		_, again := p.Value(page(), nil)
		if (err == nil) != (again == nil) {
			t.Errorf("%q: %v, then %v", text, err, again)
		}
		_ = Text(first)
	})
}

func BenchmarkCondition(b *testing.B) {
	p, err := CompileBool(`status == 200 and media_type in ["text/html", "text/plain"]`, documents)
	if err != nil {
		b.Fatal(err)
	}
	d := page()
	b.ReportAllocs()
	for range b.N {
		if ok, err := p.Bool(d, nil); !ok || err != nil {
			b.Fatal(err)
		}
	}
}

func TestTheKindThatAConditionLeaves(t *testing.T) {
	for condition, want := range map[string]string{
		`kind == "aci"`: "aci", `relevance > 50 and "aci" == kind`: "aci", `kind == "document" && status == 200 && title != ""`: "document",
		`kind == "aci" or kind == "notice"`: "", `not (kind == "aci")`: "", `kind != "aci"`: "", `title == "aci"`: "", `kind == "nothing"`: "", `kind ==`: "", ``: "",
	} {
		kind, known := KindMeant(condition)
		if known != (want != "") || known && kind.Name() != want {
			t.Errorf("%s leaves %v, %t, want %q", condition, kind, known, want)
		}
	}
}
