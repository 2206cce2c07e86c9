package extract

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
)

const shop = `<html><head><title>Shop</title><meta name="author" content=" Eleni "></head><body>
<h1>All  <b>thi</b>ngs<script>var x</script></h1>
<div class="item" data-id="7"><a class="name" href="/a?x=1">First</a> <span class="price">€ 1,234.50</span> <i class="tag">new</i><i class="tag">red</i></div>
<div class="item"><a class="name" href="b">Second</a> <span class="price">free</span></div>
<table><tr><td>k</td><td>v</td></tr></table>
</body></html>`

func page(body string) *webrace.Document {
	return &webrace.Document{URL: "https://shop.org/dir/", MediaType: "text/html", Body: []byte(body)}
}

func try(t *testing.T, o Options, inputs ...any) *stagetest.Result {
	t.Helper()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	return stagetest.Try(t, stagetest.Case{Type: "extract", Options: o, Inputs: inputs})
}

func TestConformance(t *testing.T) {
	stagetest.Run(t, stagetest.Case{Type: "extract", Options: Options{Fields: map[string]string{"t": "css:h1"}, Rows: "css:div"}, Inputs: []any{page(shop), page("")}})
}

func TestFieldsAreWhatSelectorsChoose(t *testing.T) {
	for selector, want := range map[string]any{
		"css:h1":                        "All things",
		"css:.price":                    "€ 1,234.50",
		"css:.price | number":           1234.5,
		"css:.price | all":              []any{"€ 1,234.50", "free"},
		"css:.price | number | all":     []any{1234.5},
		"css:.name@href":                "/a?x=1",
		"css:.name@href | url":          "https://shop.org/a?x=1",
		"css:.name@HREF | url | all":    []any{"https://shop.org/a?x=1", "https://shop.org/dir/b"},
		"css:.item@data-id | number":    7,
		"css:meta[name=author]@content": "Eleni",
		"css:.nothing":                  nil,
		"css:.nothing | all":            []any{},
		"css:.name@nothing":             nil,
		"xpath://td[2]":                 "v",
		"xpath://a/@href":               "/a?x=1",
		"xpath://a/@href | all":         []any{"/a?x=1", "b"},
		"xpath://td/td | //h1 | text":   "All things",
		"xpath:nothing | html":          "Shop All things First € 1,234.50 newred Second free k v",
		"xpath://h1 | //td":             "All things",
		"css:.item > a.name | text":     "First",
		"css:.item":                     "First € 1,234.50 newred",
	} {
		got := try(t, Options{Fields: map[string]string{"f": selector}}, page(shop))
		if want := []any{pipeline.Record{"url": "https://shop.org/dir/", "f": want}}; !reflect.DeepEqual(got.Out[""], want) {
			t.Errorf("%s: got %v, %v, want %v", selector, got.Out[""], got.Failures, want)
		}
	}
}

func TestEachRowGivesARecord(t *testing.T) {
	o := Options{
		Rows:   "css:.item",
		Fields: map[string]string{"name": "css:a", "id": "xpath:@data-id", "tags": "css:.tag | all", "page": "xpath://title", "price": "css:.price | number"},
	}
	u := "https://shop.org/dir/"
	want := []any{
		pipeline.Record{"url": u, "name": "First", "id": "7", "tags": []any{"new", "red"}, "page": "Shop", "price": 1234.5},
		pipeline.Record{"url": u, "name": "Second", "id": nil, "tags": []any{}, "page": "Shop", "price": nil},
	}
	if got := try(t, o, page(shop)); !reflect.DeepEqual(got.Out[""], want) {
		t.Errorf("got %v, %v", got.Out[""], got.Failures)
	}
	o.Required = []string{"tags", "price"}
	if got := try(t, o, page(shop)); !reflect.DeepEqual(got.Out[""], want[:1]) || got.Counters["incomplete"] != 1 {
		t.Errorf("with what is required: %v, %v", got.Out[""], got.Counters)
	}
}

func TestPagesWithoutElementsGiveWhatThereIs(t *testing.T) {
	xml := &webrace.Document{URL: "u", MediaType: "application/xml", Body: []byte("<a><b x='1'>t</b></a>")}
	image := &webrace.Document{URL: "u", MediaType: "image/png", Body: []byte("\x89PNG")}
	got := try(t, Options{Fields: map[string]string{"f": "xpath:/a/b/@x | number"}}, xml, image, page(""))
	want := []any{pipeline.Record{"url": "u", "f": 1}, pipeline.Record{"url": "u", "f": nil}}
	if !reflect.DeepEqual(got.Out[""], want) || got.Counters["without_body"] != 1 {
		t.Errorf("got %v, %v, %v", got.Out[""], got.Failures, got.Counters)
	}
}

func TestNumbersAreReadAsPeopleWriteThem(t *testing.T) {
	for text, want := range map[string]any{
		"7": 7, "007": 7, "$ 1,234.56": 1234.56, "1.234,56 €": 1234.56, "12,5 %": 12.5, "1,234": 1234, "1.5": 1.5, "1.234.567": 1234567, "1,234,567": 1234567,
		"1\u00a0234,5": 1234.5, "1'234'567.5": 1234567.5, "-3": -3, "−3 °C": -3, "A-3": 3, "from 10 to 20": 10, "v1.": 1, "none": nil, "": nil, ".": nil,
		"99999999999999999999": json.Number("99999999999999999999"), "1.234.567.890.123.456.789,50": json.Number("1234567890123456789.5"), "1.10": 1.1, "0.00": 0, "-0": 0, "00.5": 0.5,
	} {
		if got := number(text, "", nil); got != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
	german := page("<b class=price>1.299 €</b>")
	german.Language = "de"
	got := try(t, Options{Fields: map[string]string{"f": "css:.price | number"}}, german)
	if want := []any{pipeline.Record{"url": "https://shop.org/dir/", "f": 1299}}; !reflect.DeepEqual(got.Out[""], want) {
		t.Errorf("in German: %v, want %v", got.Out[""], want)
	}
}

func FuzzNumber(f *testing.F) {
	for _, seed := range []string{"1,234.5", "-1", "1'2", "−", "9.9.9,9"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := number(text, "de", nil)
		if has := strings.ContainsAny(text, "0123456789"); has != (got != nil) && len(text) < 300 {
			t.Errorf("%q is the number %v", text, got)
		}
	})
}

func FuzzField(f *testing.F) {
	for _, seed := range []string{"css:a@href | url | all", "xpath://a | //b", "css:", "css:.a | numbr", "@", " | "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, err := parseField("f", text)
		if err == nil && first.finder == nil {
			t.Errorf("%q is a field of nothing", text)
		}
	})
}

func TestOptionsAreValidated(t *testing.T) {
	one := func(selector string) Options { return Options{Fields: map[string]string{"f": selector}} }
	for name, c := range map[string]struct {
		options      Options
		option, says string
	}{
		"nothing":            {Options{}, "fields", "say what to take"},
		"no language":        {one(".price"), "fields", "in which language"},
		"another one":        {one("regex:x"), "fields", "in which language"},
		"no CSS":             {one("css:a["), "fields", "f: css:a["},
		"no XPath":           {one("xpath://a["), "fields", "f: xpath"},
		"a typo":             {one("css:a | numbr"), "fields", "did you mean number?"},
		"url":                {Options{Fields: map[string]string{"url": "css:a"}}, "fields", "every record"},
		"no rows":            {Options{Fields: map[string]string{"f": "css:a"}, Rows: "div"}, "rows", "in which language"},
		"required of nobody": {Options{Fields: map[string]string{"f": "css:a"}, Required: []string{"g"}}, "required", `no field "g"`},
	} {
		var fault *pipeline.OptionError
		if err := c.options.Validate(); !errors.As(err, &fault) || fault.Option != c.option || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want a fault of %s: %s", name, err, c.option, c.says)
		}
	}
}

// A page may declare what its references are relative to, as for the links that are followed.
func TestURLsAreRelativeToWhatThePageDeclares(t *testing.T) {
	const links = `<a href="b">x</a><a href="/c">y</a><a href="https://other.org/">z</a><a href="#top">t</a>`
	for head, want := range map[string][]any{
		``:                                  {"https://shop.org/dir/b", "https://shop.org/c", "https://other.org/", "https://shop.org/dir/#top"},
		`<base href="https://cdn.org/x/y">`: {"https://cdn.org/x/b", "https://cdn.org/c", "https://other.org/", "https://cdn.org/x/y#top"},
		`<base href="/deep/">`:              {"https://shop.org/deep/b", "https://shop.org/c", "https://other.org/", "https://shop.org/deep/#top"},
		`<base target=x><base href=" sub/ "><base href="/no/">`: {"https://shop.org/dir/sub/b", "https://shop.org/c", "https://other.org/", "https://shop.org/dir/sub/#top"},
		`<base href="javascript:0">`:                            {"https://shop.org/dir/b", "https://shop.org/c", "https://other.org/", "https://shop.org/dir/#top"},
		`<base href="http://[">`:                                {"https://shop.org/dir/b", "https://shop.org/c", "https://other.org/", "https://shop.org/dir/#top"},
	} {
		for _, selector := range []string{"css:a@href | url | all", "xpath://a/@href | url | all"} {
			got := try(t, Options{Fields: map[string]string{"f": selector}}, page("<head>"+head+"</head><body>"+links))
			if want := []any{pipeline.Record{"url": "https://shop.org/dir/", "f": want}}; !reflect.DeepEqual(got.Out[""], want) {
				t.Errorf("%s, %s: got %v, want %v", head, selector, got.Out[""], want)
			}
		}
	}
}

func TestQueriesOfURLsAreInTheEncodingOfThePage(t *testing.T) {
	for _, c := range []struct{ mediaType, want string }{{"text/html", "https://shop.org/dir/?q=%D0"}, {"application/xml", "https://shop.org/dir/?q=п"}} {
		d := page("<p><a href='?q=\xd0'>x</a></p>")
		d.MediaType, d.Charset = c.mediaType, "koi8-r"
		got := try(t, Options{Fields: map[string]string{"f": "css:a@href | url"}}, d)
		if want := []any{pipeline.Record{"url": "https://shop.org/dir/", "f": c.want}}; !reflect.DeepEqual(got.Out[""], want) {
			t.Errorf("%s: got %v, want %v", c.mediaType, got.Out[""], want)
		}
	}
}

func TestURLsOfXMLAreRelativeToTheBaseAroundThem(t *testing.T) {
	d := page(`<?xml version="1.0"?><list xml:base="/a/"><item xml:base="b/"><link>c</link></item><item><link>d</link></item></list>`)
	d.MediaType = "application/xml"
	got := try(t, Options{Rows: "css:item", Fields: map[string]string{"f": "css:link | url"}}, d)
	want := []any{
		pipeline.Record{"url": "https://shop.org/dir/", "f": "https://shop.org/a/b/c"}, pipeline.Record{"url": "https://shop.org/dir/", "f": "https://shop.org/a/d"},
	}
	if !reflect.DeepEqual(got.Out[""], want) {
		t.Errorf("got %v, %v, want %v", got.Out[""], got.Failures, want)
	}
}

func TestFormatsOfJSONGiveRecords(t *testing.T) {
	t.Parallel()
	const body = `{"next":"/p2","items":[{"name":"Bolt","price":"€ 12,50","n":3},{"name":"Nut","tags":["a"]}],"id":12345678901234567890,"large":1e300}`
	for _, c := range []struct {
		rows   string
		fields map[string]string
		want   []any
	}{
		{"", map[string]string{"names": "jq:.items[].name | all", "next": "jq:.next | url", "count": "jq:.items | length", "none": "jq:.none", "text": "jq:.items[0].n | text", "id": "jq:.id", "large": "jq:.large"},
			[]any{pipeline.Record{"url": "http://a.example/api", "names": []any{"Bolt", "Nut"}, "next": "http://a.example/p2", "count": 2, "none": nil, "text": "3", "id": json.Number("12345678901234567890"), "large": json.Number("1e300")}}},
		{"jq:.items[]", map[string]string{"name": "jq:.name", "price": "jq:.price | number", "tags": "jq:.tags"}, []any{
			pipeline.Record{"url": "http://a.example/api", "name": "Bolt", "price": 12.5, "tags": nil}, pipeline.Record{"url": "http://a.example/api", "name": "Nut", "price": nil, "tags": []any{"a"}}}},
	} {
		d := &webrace.Document{URL: "http://a.example/api", Outcome: webrace.Fetched, MediaType: "application/json", Body: []byte(body), Charset: "utf-8"}
		if got := try(t, Options{Fields: c.fields, Rows: c.rows}, d); !reflect.DeepEqual(got.Out[""], c.want) {
			t.Errorf("%v: %v, %v, want %v", c.fields, got.Out[""], got.Failures, c.want)
		}
	}
}

// What is no JSON is rejected with its place, and what stands before gives records.
func TestBrokenJSONIsRejected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mediaType, body string
		records         int
		says            string
	}{
		{"application/json", "{\n \"a\": 1,\n}", 0, "line 3, column 1: "},
		{"application/json", `{"a": 1`, 0, "line 1, column 8: unexpected EOF"},
		{"application/json", `{"a": 1}]`, 1, "line 1, column 9: "},
		{"application/x-ndjson", "{\"a\": 1}\n{\"a\": 2}\n{a}\n{\"a\": 3}\n", 2, "line 3, column 2: "},
		{"application/json", `{"b": 1}`, 1, ""},
	} {
		d := page(c.body)
		d.MediaType = c.mediaType
		r := try(t, Options{Fields: map[string]string{"a": "jq:.a"}, Rows: "jq:."}, d)
		if len(r.Out[""]) != c.records || (len(r.Failures) == 1) != (c.says != "") || r.Counters["broken"] != int64(len(r.Failures)) {
			t.Errorf("%s: records %v, failures %v, counters %v", c.body, r.Out[""], r.Failures, r.Counters)
		} else if c.says != "" && (r.Failures[0].Value != any(d) || !strings.HasPrefix(r.Failures[0].Err.Error(), "https://shop.org/dir/: it is no JSON: "+c.says)) {
			t.Errorf("%s: %v", c.body, r.Failures[0].Err)
		}
	}
}

func TestInvalidTextOfJSONIsCounted(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int64{`{"a": "\ud800"}`: 1, `{"a": "\ud83d\ude00"}`: 0, "{\"a\": \"\xff\"}": 1, `{"a": "\\ud800"}`: 0} {
		d := page(body)
		d.MediaType = "application/json"
		r := try(t, Options{Fields: map[string]string{"a": "jq:.a"}}, d)
		if len(r.Out[""]) != 1 || r.Counters["invalid_text"] != want {
			t.Errorf("%q: %v, counters %v", body, r.Out[""], r.Counters)
		}
	}
	if r := try(t, Options{Fields: map[string]string{"a": "css:p"}}, page("<p>\xff")); r.Counters["invalid_text"] != 0 {
		t.Errorf("a page: %v", r.Counters)
	}
}

func TestHostileJQFailsItsDocumentAndIsNamed(t *testing.T) {
	t.Parallel()
	d := &webrace.Document{URL: "http://a.example/api", Outcome: webrace.Fetched, MediaType: "application/json", Body: []byte("{}"), Charset: "utf-8"}
	// It ends after so many steps, however long those take where much else runs.
	o := Options{Fields: map[string]string{"endless": "jq:repeat(.)"}}
	got := stagetest.Try(t, stagetest.Case{Type: "extract", Options: o, Inputs: []any{d}, Patience: time.Minute})
	if len(got.Out[""]) != 0 || len(got.Failures) != 1 || !strings.Contains(fmt.Sprint(got.Failures[0]), `field endless: jq "repeat(.)"`) {
		t.Errorf("%v, %v", got.Out, got.Failures)
	}
	if err := (Options{Rows: "jq:.items[]", Fields: map[string]string{"a": "css:p"}}).Validate(); err == nil || !strings.Contains(err.Error(), "a: nothing of the kind is in the rows") {
		t.Error(err)
	}
}
