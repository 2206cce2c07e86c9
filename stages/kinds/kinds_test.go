package kinds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/xmlschema"
)

// samples are one value of each kind of this package.
func samples() []any {
	return []any{webrace.Request{}, &webrace.Links{}, &webrace.Document{}, &xmlschema.ACI{}, &webrace.Notice{}, &webrace.Gone{}}
}

// fill sets everything in v to something, so that a field which a codec forgets does not come back.
func fill(r *rand.Rand, v reflect.Value) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(r.Int64N(1<<32), r.Int64N(1e9)).UTC()))
		return
	case netip.Addr:
		v.Set(reflect.ValueOf(netip.AddrFrom4([4]byte{127, 0, 0, byte(r.Uint32())})))
		return
	case webrace.Text:
		v.Set(reflect.ValueOf(webrace.Text{Bytes: []byte("«Iris» \x01<passed>"), Blocks: []webrace.Block{{Start: 0, End: 8, Field: 1}, {Start: 9, End: 18, Field: webrace.Field(r.IntN(4))}}}))
		return
	case []webrace.Triple:
		subject := webrace.Term(fmt.Sprintf("_:x%d", r.Uint32()))
		v.Set(reflect.ValueOf([]webrace.Triple{
			{Subject: subject, Predicate: "<http://a.example/p>", Object: `"τ\"\n"@el`}, {Subject: subject, Predicate: "<http://a.example/p>", Object: "_:b1"},
		}))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(r, v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1+r.IntN(3), 4))
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(r, key)
		fill(r, value)
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString(fmt.Sprintf("τ\"%d\n", 1+r.IntN(1e6)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(0.1 + r.Float64())
	default:
		if v.CanUint() {
			v.SetUint(1 + r.Uint64()&(1<<v.Type().Bits()-2))
			return
		}
		n := 1 + r.Int64N(1<<62)
		if v.OverflowInt(n) {
			n = 1 + n%100
		}
		v.SetInt(n)
	}
}

func filled(r *rand.Rand, sample any) any {
	v := reflect.New(reflect.TypeOf(sample)).Elem()
	fill(r, v)
	return v.Interface()
}

func TestAValueWithEverythingInItComesBackTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		for _, sample := range samples() {
			for _, want := range []any{filled(r, sample), reflect.Zero(reflect.TypeOf(sample)).Interface()} {
				if rv := reflect.ValueOf(want); rv.Kind() == reflect.Pointer && rv.IsNil() {
					want = sample
				}
				kind, header, body, err := codec.Encode(want)
				if err != nil {
					t.Fatal(err)
				}
				got, err := codec.Decode(kind, header, body)
				if err != nil {
					t.Fatalf("%s %s: %v", kind, header, err)
				}
				if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
					t.Fatalf("%s (-want +got):\n%s", kind, diff)
				}
			}
		}
	}
}

func TestNothingIsWrittenOfWhatIsZero(t *testing.T) {
	for _, sample := range samples() {
		kind, header, body, err := codec.Encode(sample)
		if err != nil || string(header) != "{}" || body != nil {
			t.Errorf("%s: %s, body %q, %v", kind, header, body, err)
		}
	}
}

// FuzzDecode gives the codecs what a program in another language may write: no panic, and what is taken
// stays as it is from then on.
func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, sample := range samples() {
		kind, header, body, err := codec.Encode(filled(r, sample))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(kind, []byte(header), body)
		f.Add(kind, []byte(`{"unknown": [1], "took_s": 1e3, "header": {"A": null}, "visit": {"baseline": ["0f"]}}`), []byte(nil))
	}
	f.Fuzz(func(t *testing.T, kind string, header, body []byte) {
		first, err := codec.Decode(kind, header, body)
		if err != nil {
			return
		}
		name, h1, b1, err := codec.Encode(first)
		if err != nil {
			t.Skip(err) // a year that JSON has no way to write
		}
		second, err := codec.Decode(name, h1, b1)
		if err != nil {
			t.Fatalf("%s: what it wrote itself it does not read: %s: %v", kind, h1, err)
		}
		_, h2, b2, err := codec.Encode(second)
		if err != nil || !bytes.Equal(h1, h2) || !bytes.Equal(b1, b2) {
			t.Fatalf("%s: %s became %s, %v", kind, h1, h2, err)
		}
	})
}

func TestFieldsHaveTheNamesOfTheHeader(t *testing.T) {
	d := &webrace.Document{
		URL: "https://a.org/", MediaType: "text/html", Status: 200, Took: 1500 * time.Millisecond, Body: []byte("<p>"),
		Text: &webrace.Text{Bytes: []byte("hi")}, Links: []string{"https://a.org/b"}, Header: map[string][]string{"Etag": {"x"}},
	}
	got := codec.Fields(d)
	want := map[string]any{
		"url": "https://a.org/", "media_type": "text/html", "status": 200, "took_s": 1.5, "body": "<p>", "text": "hi",
		"title": "", "truncated": false, "version": 0, "digest": "", "visit": nil,
	}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %#v, want %#v", name, got[name], value)
		}
	}
	if diff := cmp.Diff([]any{"https://a.org/b"}, got["links"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"Etag": []any{"x"}}, got["header"]); diff != "" {
		t.Error(diff)
	}
	if only := codec.Fields(d, "status", "nonsense"); len(only) != 1 || only["status"] != 200 {
		t.Errorf("asked for the status: %v", only)
	}
}

func TestSetFieldsLeavesTheOriginalAlone(t *testing.T) {
	d := &webrace.Document{URL: "https://a.org/", Title: "old", Links: []string{"https://a.org/1", "https://a.org/2"}, Outcome: webrace.Fetched, Body: []byte("b")}
	changed, err := codec.SetFields(d, raw("title", `"new"`, "links", `["https://b.org/"]`, "body", `"c"`))
	if err != nil {
		t.Fatal(err)
	}
	got := changed.(*webrace.Document)
	if got.Title != "new" || len(got.Links) != 1 || got.URL != d.URL || string(got.Body) != "c" {
		t.Errorf("got %+v", got)
	}
	if d.Title != "old" || d.Links[0] != "https://a.org/1" || string(d.Body) != "b" {
		t.Errorf("the original is %+v", d)
	}
	for _, c := range []struct{ name, value, want string }{
		{"titel", `""`, `a document has no field "titel" (did you mean title?)`},
		{"status", `"many"`, "set status of a document"},
		{"blocks", `[{"start":0,"end":9,"field":"body"}]`, ""},
		{"blocks", `[{"field":"foot"}]`, `not "foot"`},
		{"likeness", `"xyz"`, "16 hexadecimal digits"},
		{"took_s", `"1s"`, "number of seconds"},
	} {
		_, err := codec.SetFields(d, raw(c.name, c.value))
		if c.want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %s: %v, want %q", c.name, c.value, err, c.want)
		}
	}
}

func TestAGraphIsTriplesEachOnce(t *testing.T) {
	t.Parallel()
	d := &webrace.Document{Graph: &webrace.Graph{}}
	const line = "_:x <http://a.example/p> <http://a.example/o> ."
	text, err := json.Marshal(line + "\n# a comment\n" + line + "\n")
	if err != nil {
		t.Fatal(err)
	}
	changed, err := codec.SetFields(d, raw("graph", string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if g := changed.(*webrace.Document).Graph; len(g.Triples) != 1 || g.Triples[0].Subject != "_:x" || g.Whole {
		t.Errorf("%s is %+v", text, g)
	}
	if _, err := codec.SetFields(d, raw("graph", `"\n_:x <p> \"no"`)); err == nil || !strings.Contains(err.Error(), "line 2, column 5") {
		t.Errorf("got %v", err)
	}
}

// What the subjects and objects of a graph keep in memory is counted, long as they may be.
func TestTheSizeOfAGraphHasItsTerms(t *testing.T) {
	t.Parallel()
	const n, long = 100, 8000
	a := strings.Repeat("a", long)
	for name, of := range map[string]func(i int) webrace.Triple{
		"subjects": func(i int) webrace.Triple {
			return webrace.Triple{Subject: webrace.Term(fmt.Sprintf("<v:%s%d>", a, i)), Predicate: "<v:p>", Object: "<v:o>"}
		},
		"objects": func(i int) webrace.Triple {
			return webrace.Triple{Subject: "<v:s>", Predicate: "<v:p>", Object: webrace.Term(fmt.Sprintf("<v:%s%d>", a, i))}
		},
	} {
		g := &webrace.Graph{Whole: true}
		for i := range n {
			g.Triples = append(g.Triples, of(i))
		}
		if size, known := codec.Size(&webrace.Document{Graph: g}); !known || size < n*long {
			t.Errorf("long %s: %d bytes", name, size)
		}
	}
	g := &webrace.Graph{Triples: make([]webrace.Triple, n)}
	for i := range g.Triples {
		g.Triples[i] = webrace.Triple{Subject: webrace.Term("<v:" + a + ">"), Predicate: "<v:p>", Object: "<v:o>"}
	}
	if size, _ := codec.Size(&webrace.Document{Graph: g}); size > 10*long {
		t.Errorf("a subject of many triples is counted more than once: %d bytes", size)
	}
}

func TestBlocksMustLieInTheText(t *testing.T) {
	d := &webrace.Document{Text: &webrace.Text{Bytes: []byte("long enough"), Blocks: []webrace.Block{{Start: 0, End: 11}}}}
	if _, err := codec.SetFields(d, raw("text", `"short"`)); err == nil || !strings.Contains(err.Error(), "set blocks as well") {
		t.Errorf("got %v", err)
	}
}

// TestAnOwnDocumentSharesNoByteWithTheOriginal overwrites what a document borrows from its request.
func TestAnOwnDocumentSharesNoByteWithTheOriginal(t *testing.T) {
	d := filled(rand.New(rand.NewPCG(5, 6)), new(webrace.Document)).(*webrace.Document)
	d.Body, d.Text = []byte("body"), &webrace.Text{Bytes: []byte("text"), Blocks: []webrace.Block{{End: 4}}}
	own := codec.Own(d).(*webrace.Document)
	if diff := cmp.Diff(d, own, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("it is another document: %s", diff)
	}
	copy(d.Body, "used")
	copy(d.Text.Bytes, "anew")
	d.Text.Blocks[0].End = 1
	if string(own.Body) != "body" || string(own.Text.Bytes) != "text" || own.Text.Blocks[0].End != 4 {
		t.Errorf("it changed with the original: body %q, text %q, blocks %v", own.Body, own.Text.Bytes, own.Text.Blocks)
	}
	if nothing := codec.Own(&webrace.Document{}).(*webrace.Document); nothing.Body != nil || nothing.Text != nil {
		t.Errorf("a document without a body got one: %+v", nothing)
	}
}
