package exec

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/recordjson"
	"github.com/webrace/webrace/pipeline/stagetest"
)

// python returns options that run a Python program which uses the library.
func python(t *testing.T, source string) Options {
	t.Helper()
	program, err := osexec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not here")
	}
	library, err := filepath.Abs("../../cmd/internal/scaffold/python")
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "program.py")
	if err := os.WriteFile(script, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	o := defaults
	o.Command, o.Env = []string{program, script}, map[string]pipeline.Secret{"PYTHONPATH": pipeline.NewSecret(library), "PYTHONDONTWRITEBYTECODE": pipeline.NewSecret("1")}
	o.Gives, o.Ready = []Output{{Kind: "document"}, {Port: "found", Kind: "links", Doc: "links"}}, pipeline.Duration(5*time.Minute)
	return o
}

const shout = `
from webrace_stage import Retry, new, stage

@stage(gives={"": "document", "found": "links"}, options={"volume": 1, "mark": "!"})
def shout(item, options):
    print("heard", item.url)
    if item.url.endswith("/quiet"):
        return
    if item.url.endswith("/busy"):
        raise Retry("not now")
    if item.url.endswith("/bad"):
        raise ValueError("cannot shout that")
    shout.count("shouted")
    yield item.change(title=item.title.upper() + options.mark * options.volume, body=item.body.upper())
    yield item.keep()
    for link in item.links:
        yield new("links", port="found", from_=item.url, urls=[link])

shout.run()
`

func page(name string) *webrace.Document {
	return &webrace.Document{
		URL: "https://example.org/" + name, Outcome: webrace.Fetched, Status: 200, Title: "γειά", Body: []byte("<p>hi\xff"),
		Links: []string{"https://example.org/1", "https://example.org/2"}, Text: &webrace.Text{Bytes: []byte("hi"), Blocks: []webrace.Block{{End: 2}}},
	}
}

func TestPython(t *testing.T) {
	o := python(t, shout)
	o.Options = pipeline.Table{"volume": int64(2)}
	a := page("a")
	got := try(t, o, a, page("quiet"), page("busy"), page("bad"))
	if len(got.Out[""]) != 2 || len(got.Out["found"]) != 2 {
		t.Fatalf("out %v, failures %v", got.Out, got.Failures)
	}
	loud := got.Out[""][0].(*webrace.Document)
	if loud.Title != "ΓΕΙΆ!!" || string(loud.Body) != "<P>HI\xff" || loud.Text != a.Text && string(loud.Text.Bytes) != "hi" || loud.URL != a.URL {
		t.Errorf("got %+v", loud)
	}
	if got.Out[""][1] != a {
		t.Error("what is kept as it came is a copy")
	}
	if links := got.Out["found"][1].(*webrace.Links); links.From != a.URL || links.URLs[0] != "https://example.org/2" {
		t.Errorf("got %+v", links)
	}
	failures := fmt.Sprint(got.Failures)
	if len(got.Failures) != 2 || !strings.Contains(failures, "not now") || !strings.Contains(failures, "ValueError: cannot shout that") {
		t.Errorf("failures %v", failures)
	}
	if got.Counters["shouted"] != 1 {
		t.Errorf("counters %v", got.Counters)
	}
}

func TestPythonConforms(t *testing.T) {
	if testing.Short() {
		t.Skip("Python computes: not in short mode")
	}
	stagetest.Run(t, stagetest.Case{Type: "exec", Options: python(t, shout), Inputs: []any{page("a"), page("b"), page("quiet")}})
}

func TestPythonChecksItsOptions(t *testing.T) {
	for want, options := range map[string]pipeline.Table{
		"there is no option 'volme' (did you mean volume?)":  {"volme": int64(1)},
		"option 'volume' takes something like 1, not 'loud'": {"volume": "loud"},
		"option 'volume' takes something like 1, not True":   {"volume": true},
	} {
		o := python(t, shout)
		o.Options = options
		mustNotOpen(t, o, want)
	}
}

// TestPythonReadsItemsHoweverTheyAreWritten: the library reads what this host writes without a reader of JSON, and what
// another one writes with it.
func TestPythonReadsItemsHoweverTheyAreWritten(t *testing.T) {
	o := python(t, "from webrace_stage import key_of, stage\n@stage(takes='any')\ndef echo(item, options):\n"+
		"    yield item.change(was=[item.kind, item.get('title'), item.get('value'), item.body.decode(), key_of(item)])\necho.run()\n")
	c := osexec.Command(o.Command[0], o.Command[1:]...)
	c.Env = append(os.Environ(), "PYTHONPATH="+o.Env["PYTHONPATH"].Reveal(), "PYTHONDONTWRITEBYTECODE=1")
	items := []string{
		string(appendItem(nil, 7, "document", []byte(`{"title":"Ω \"}","value":[1]}`), nil, "0a")),
		string(appendItem(nil, 7, "document", []byte(`{"title":"Ω"}`), []byte(`{"lang":"}"}`), "")),
		string(appendItem(nil, 7, "record", []byte(`{"key":"of the record"}`), []byte(`{"key":"of meta"}`), "0b")),
		`{"value": {"title": "Ω \"}", "value": [1]}, "kind": "document", "key": "0a", "new": 1, "type": "item", "id": 7}`,
		`{"type":"item","id":7,"kind":"document","value":{"title":"Ω \"}","value":[1]},"key":"0a","new":1}`,
		`{"type":"item","id":7,"kind":"text"}`, `{"type":"other"}`,
	}
	in := appendFrame(nil, []byte(`{"type":"hello","abi":1}`), nil)
	for _, item := range items {
		in = appendFrame(in, []byte(item), []byte("body"))
	}
	c.Stdin = bytes.NewReader(in)
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(bytes.NewReader(out))
	var said []string
	for header, _, err := readFrame(r, 1<<20); err == nil; header, _, err = readFrame(r, 1<<20) {
		said = append(said, string(header))
	}
	emit, done := `{"type":"emit","id":7,"keep":true,"set":{"was":["document","\u03a9 \"}",[1],"body","0a"]}}`, `{"type":"done","id":7}`
	other := `{"type":"emit","id":7,"keep":true,"set":{"was":["text",null,null,"body",""]}}`
	short := `{"type":"emit","id":7,"keep":true,"set":{"was":["document","\u03a9",null,"body",""]}}`
	record := `{"type":"emit","id":7,"keep":true,"set":{"was":["record",null,null,"body","0b"]}}`
	if want := []string{emit, done, short, done, record, done, emit, done, emit, done, other, done}; !slices.Equal(said[1:], want) {
		t.Errorf("it said\n%s\nwant\n%s", strings.Join(said[1:], "\n"), strings.Join(want, "\n"))
	}
}

// TestPythonKnowsNoFieldThatThereIsNot has a stage look at fields of an item: what it sees, or the error that the item
// fails with.
func TestPythonKnowsNoFieldThatThereIsNot(t *testing.T) {
	if testing.Short() {
		t.Skip("another program computes: not in short mode")
	}
	record := map[string]any{"price": int64(7), "unit price": "a", "kind": "shoe"}
	for _, c := range []struct {
		item         any
		look, fields string
		want, fails  string
	}{
		{page("a"), "item.titel", "None", "", "AttributeError: a document has no field 'titel' (did you mean title?)"},
		{page("a"), "item['titel']", "None", "", "a document has no field 'titel' (did you mean title?)"},
		{page("a"), "item.charset, item.visit, item.get('titel'), item.version", "None", "('', None, None, 0)", ""},
		{page("a"), "item.url", "['title']", "", "AttributeError: the stage has not asked for 'url': add it to its fields=['title']"},
		{page("a"), "item.get('url')", "['title']", "", "the stage has not asked for 'url'"},
		{page("a"), "item.body", "['title']", "", "AttributeError: the stage has not asked for 'body'"},
		{page("a"), "item.body, item.title", "['title', 'body']", `(b'<p>hi\xff', 'γειά')`, ""},
		{record, "item.price, item['unit price'], item['kind'], item.kind, item.get('colour'), item.get('colour', 'red')", "None", "(7, 'a', 'shoe', 'record', None, 'red')", ""},
		{record, "item.prize", "None", "", "AttributeError: a record has no field 'prize' (did you mean price?)"},
		{record, "'price' in item, 'prize' in item", "None", "(True, False)", ""},
		{record, "options.volme", "None", "", "AttributeError: there is no option 'volme' (did you mean volume?)"},
		{record, "new('links', urlz=[])", "None", "", "AttributeError: a links has no field 'urlz' (did you mean urls?)"},
		{"text", "item.body, item.titel", "None", "", "AttributeError: a text has no field 'titel' (there are none)"},
	} {
		o := python(t, "from webrace_stage import new, stage\n@stage(takes='any', gives='text', options={'volume': 1}, fields="+c.fields+")\n"+
			"def look(item, options):\n    yield new('text', body=str(("+c.look+")))\nlook.run()\n")
		o.Takes, o.Gives = []string{"any"}, []Output{{Kind: "text"}}
		got := try(t, o, c.item)
		switch {
		case c.fails == "" && (len(got.Out[""]) != 1 || got.Out[""][0] != c.want):
			t.Errorf("%s is %q, want %q; failures %v", c.look, got.Out[""], c.want, got.Failures)
		case c.fails != "" && (len(got.Failures) != 1 || !strings.Contains(got.Failures[0].Error(), c.fails)):
			t.Errorf("%s: failures %v, want %q; out %q", c.look, got.Failures, c.fails, got.Out[""])
		}
	}
}

const copies = `
from webrace_stage import new, stage

@stage(takes="record", gives={"": "record"})
def copies(item, options):
    yield item.keep()
    yield item.change(text="\ud834" if item.get("half") else "x")
    yield new("record", **{"id": item.id, "price": item.price, "list": [item.list, {"n": item.list[0], 7: True}], "sum": item.price + 1, "text": str(item.price)})

copies.run()
`

// Numbers leave a program as they came, also where it makes another record of them.
func TestPythonExactNumbers(t *testing.T) {
	o := python(t, copies)
	o.Takes, o.Gives = []string{"record"}, []Output{{Kind: "record"}}
	var a, b pipeline.Record
	if err := recordjson.Unmarshal([]byte(`{"id":2882429806056571124,"price":1.10,"list":[0.12345678901234567890,1e-7,7,1.5,18446744073709551615]}`), &a); err != nil {
		t.Fatal(err)
	}
	if err := recordjson.Unmarshal([]byte(`{"id":1,"price":0.5,"list":[1],"half":true}`), &b); err != nil {
		t.Fatal(err)
	}
	got := try(t, o, b, a)
	var written []string
	for _, v := range got.Out[""] {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		written = append(written, string(text))
	}
	want := []string{
		`{"half":true,"id":1,"list":[1],"price":0.5}`, `{"half":true,"id":1,"list":[1],"price":0.5,"text":"` + "\uFFFD" + `"}`, `{"id":1,"list":[[1],{"7":true,"n":1}],"price":0.5,"sum":1.5,"text":"0.5"}`,
		`{"id":2882429806056571124,"list":[0.12345678901234567890,1e-7,7,1.5,18446744073709551615],"price":1.10}`,
		`{"id":2882429806056571124,"list":[0.12345678901234567890,1e-7,7,1.5,18446744073709551615],"price":1.10,"text":"x"}`,
		`{"id":2882429806056571124,"list":[[0.12345678901234567890,1e-7,7,1.5,18446744073709551615],{"7":true,"n":0.12345678901234567890}],"price":1.10,"sum":2.1,"text":"1.10"}`,
	}
	if !slices.Equal(written, want) || got.Counters["invalid_text"] != 1 {
		t.Errorf("got\n%s\nwant\n%s\nfailures %v, counters %v", strings.Join(written, "\n"), strings.Join(want, "\n"), got.Failures, got.Counters)
	}
}
