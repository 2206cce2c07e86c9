package readfile

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/webrace/webrace/pipeline"
)

type rec = pipeline.Record

// elementsOf reads a document to its end, or to what is wrong with it.
func elementsOf(text, record string, most pipeline.Size) (all []any, bad int, err error) {
	in, err := contentOf(strings.NewReader(text))
	if err != nil {
		return nil, 0, err
	}
	in.decode()
	next := with(func(o *Options) { o.Format, o.Record, o.MaxLength = "xml", record, most }).reader(in, new(opened), false)
	for {
		v, err := next()
		var left *badRecord
		switch {
		case errors.As(err, &left):
			bad++
		case errors.Is(err, errEnd):
			return all, bad, nil
		case err != nil:
			return all, bad, err
		default:
			all = append(all, v)
		}
	}
}

func TestElementsAreRecords(t *testing.T) {
	t.Parallel()
	const feed = `<?xml version="1.0"?><!DOCTYPE rss><rss xmlns:m="urn:m"><item>outside</item><channel a="b"><title>T</title>` +
		`<item id="7" m:rank="1"><title> One &amp; <![CDATA[<two>]]>&nbsp;</title><link href="/a"/><link href="/b">b</link><!-- no --><m:empty/></item>` +
		"\n<item>alone <b>and</b> mixed</item><item/></channel></rss>\n"
	first := rec{"id": "7", "rank": "1", "title": "One & <two>", "link": []any{rec{"href": "/a"}, rec{"href": "/b", "text": "b"}}, "empty": ""}
	second, third := rec{"text": "alone  mixed", "b": "and"}, rec{}
	for record, want := range map[string][]any{
		"item":              {rec{"text": "outside"}, first, second, third},
		"//item":            {rec{"text": "outside"}, first, second, third},
		"channel/item":      {first, second, third},
		"/rss/channel/item": {first, second, third},
		"/rss/*/title":      {rec{"text": "T"}},
		"item/title":        {rec{"text": "One & <two>"}},
		"/item":             nil,
		"/channel/item":     nil,
		"x/rss/item":        nil,
		"empty":             {rec{}},
	} {
		got, bad, err := elementsOf(feed, record, 1<<20)
		if err != nil || bad > 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %d left out: %#v", record, err, bad, got)
		}
	}
	if got, _, err := elementsOf("<a><a>in</a></a>", "a", 100); err != nil || !reflect.DeepEqual(got, []any{rec{"a": "in"}}) {
		t.Errorf("a record in a record is one of its own: %v, %v", got, err)
	}
	for _, nothing := range []string{"", "\n", "<a/>"} {
		if got, _, err := elementsOf(nothing, "item", 100); err != nil || got != nil {
			t.Errorf("%q: %v, %v", nothing, got, err)
		}
	}
}

func TestEncodingsOfXML(t *testing.T) {
	t.Parallel()
	utf16 := []byte{0xff, 0xfe}
	for _, c := range "<?xml version='1.0' encoding='UTF-16'?><a>ö</a>" {
		utf16 = append(utf16, byte(c), byte(c>>8))
	}
	for text, want := range map[string]string{
		"<a>ö</a>":       "ö",
		"\uFEFF<a>ö</a>": "ö",
		"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xf6</a>": "ö",
		`<?xml version="1.0" encoding = "utf-8"?><a>ö</a>`:       "ö",
		`<?xml version="1.0" encoding="unheard-of"?><a>ö</a>`:    "ö",
		"<a>\xf6</a>":                   "\uFFFD",
		string(utf16):                   "ö",
		zipped("<a>zipped</a>"):         "zipped",
		"<?xml version='1.0'?><a>z</a>": "z",
	} {
		got, _, err := elementsOf(text, "a", 100)
		if err != nil || !reflect.DeepEqual(got, []any{rec{"text": want}}) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestXMLThatIsNotWellFormedSaysWhereAndKeepsWhatCameBefore(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"<r>\n<a>1</a>\n  <a>ö</b></r>":                                 "line 3, column 10: element <a> closed by </b>",
		"<r><a>1</a>\n<a":                                               "line 2, column 2: unexpected EOF",
		"<r><a>1</a>\n<a>x":                                             "line 2, column 4: unexpected EOF",
		"<r><a>1</a>&nope;</r>":                                         "line 1, column 17: invalid character entity &nope;",
		"<r><a>1</a><a>\x01</a></r>":                                    "line 1, column 16: illegal character code U+0001",
		"<r><a>1</a>" + strings.Repeat("<b>", 1e3):                      "more than 1000 elements are in one another",
		"<r><a>1</a><a>" + strings.Repeat("<b>", 1e3):                   "more than 1000 elements are in one another",
		"<r><a>1</a><a x='" + strings.Repeat("y", 20000) + "'/></r>":    "a tag, comment or section is longer than max_length, 10KB",
		"<r><a>1</a><!--" + strings.Repeat("y", 20000) + "--></r>":      "a tag, comment or section is longer than max_length, 10KB",
		"<r><a>1</a><![CDATA[" + strings.Repeat("<", 20000) + "]]></r>": "a tag, comment or section is longer than max_length, 10KB",
	} {
		got, _, err := elementsOf(text, "a", 10_000)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
		if !reflect.DeepEqual(got, []any{rec{"text": "1"}}) {
			t.Errorf("%.40q: before it came %v", text, got)
		}
	}
	path := file(t, "<r>\n</a></r>")
	got := try(t, with(func(o *Options) { o.Paths, o.Format, o.Record = []string{path}, "xml", "a" }))
	if len(got.Failures) != 1 || !strings.Contains(got.Failures[0].Error(), path+" cannot be read on: line 2, column 4: ") {
		t.Errorf("the stage fails on %v", got.Failures)
	}
}

func TestAnElementThatIsTooLongIsLeftOut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	for name, text := range map[string]string{
		"a text":        "<r><a>1</a><a>" + long + "</a><a>2</a></r>",
		"many elements": "<r><a>1</a><a><w>" + strings.Repeat("<v>x</v>", 60) + "</w></a><a>2</a></r>",
		"text inside":   "<r><a>1</a><a><b><c>" + long + "</c></b><d e='f'/></a><a>2</a></r>",
		"text between":  "<r><a>1</a><a>3" + strings.Repeat("<b/> ", 60) + "</a><a>2</a></r>",
	} {
		got, bad, err := elementsOf(text, "a", 100)
		if err != nil || bad != 1 || !reflect.DeepEqual(got, []any{rec{"text": "1"}, rec{"text": "2"}}) {
			t.Errorf("%s: %v, %d left out, %v", name, got, bad, err)
		}
	}
	if got, bad, err := elementsOf("<r>"+long+"<a>1</a></r>", "a", 100); err != nil || bad != 0 || len(got) != 1 {
		t.Errorf("of what is no record: %v, %d left out, %v", got, bad, err)
	}
}

// endlessly is a long document, most of it in elements that are no records or too long for one.
type endlessly struct{ left int }

func (e *endlessly) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := 0
	for n+64 < len(p) && e.left > 0 {
		n += copy(p[n:], "<o><p q='r'>some text</p></o>")
		e.left -= 29
	}
	return n, nil
}

func TestAFileOfXMLNeedsNoMoreMemoryThanARecord(t *testing.T) {
	const size = 1 << 20
	for _, around := range [][2]string{{"<r>", "</r>"}, {"<r><a>", "</a></r>"}} {
		in, err := contentOf(io.MultiReader(strings.NewReader(around[0]), &endlessly{size}, strings.NewReader(around[1])))
		if err != nil {
			t.Fatal(err)
		}
		in.decode()
		e := with(func(o *Options) { o.Format, o.Record, o.MaxLength = "xml", "a", 1<<10 }).reader(in, new(opened), false)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		_, err = e()
		runtime.GC()
		runtime.ReadMemStats(&after)
		var bad *badRecord
		if !errors.Is(err, errEnd) && !errors.As(err, &bad) {
			t.Fatal(err)
		}
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > size/8 {
			t.Errorf("%s: %d bytes are kept of %d", around[0], grown, size)
		}
		runtime.KeepAlive(e)
	}
}

// node is an element as encoding/xml reads a whole document, for [FuzzXML] to compare with.
type node struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Text    string     `xml:",chardata"`
	Nodes   []*node    `xml:",any"`
}

func (n *node) fields() rec {
	r := rec{}
	add := func(name string, v any) {
		if before, ok := r[name]; !ok {
			r[name] = v
		} else if list, ok := before.([]any); ok {
			r[name] = append(list, v)
		} else {
			r[name] = []any{before, v}
		}
	}
	for _, a := range n.Attrs {
		if a.Name.Space != "xmlns" && a.Name.Local != "xmlns" {
			add(a.Name.Local, a.Value)
		}
	}
	for _, inner := range n.Nodes {
		if f := inner.fields(); len(f) == 0 || len(f) == 1 && f["text"] == strings.TrimSpace(inner.Text) && len(inner.Nodes)+len(inner.Attrs) == 0 {
			add(inner.XMLName.Local, strings.TrimSpace(inner.Text))
		} else {
			add(inner.XMLName.Local, f)
		}
	}
	if text := strings.TrimSpace(n.Text); text != "" {
		add("text", text)
	}
	return r
}

func (n *node) find(name string) (all []any) {
	if n.XMLName.Local == name {
		return []any{n.fields()}
	}
	for _, inner := range n.Nodes {
		all = append(all, inner.find(name)...)
	}
	return all
}

// slowly reads a document with one root as a whole, or reports that it is none.
func slowly(text, name string) ([]any, bool) {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	root := new(node)
	if d.Decode(root) != nil {
		return nil, false
	}
	for {
		token, err := d.Token()
		if _, another := token.(xml.StartElement); another || err != nil {
			return root.find(name), errors.Is(err, io.EOF)
		}
	}
}

var placeOf = regexp.MustCompile(`^line (\d+), column (\d+): .`)

// FuzzXML wants what is well-formed to be read as encoding/xml reads it as a whole, and all else to have a
// place in the document.
func FuzzXML(f *testing.F) {
	for _, seed := range []string{
		"<r><a x='1'>t<b>u</b><b/></a><a/></r>", "<a><a/></a>", "<r>\n<a></b>", "<?xml version='1.0' encoding='koi8-r'?><a>\xc1</a>",
		"<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>", "<a xmlns:n='u' n:b='c'><n:d/></a>", "<a>&lt;<![CDATA[]]></a><a>", "<r><a>" + strings.Repeat("x", 100),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, _, _ = elementsOf(text, "a", 8) // ends
		got, _, err := elementsOf(text, "a", 1<<20)
		if err != nil {
			var line, column int
			lines := bytes.Count([]byte(text), []byte("\n")) + 1
			if strings.HasPrefix(text, "\x1f\x8b") || strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
				return // other bytes than these are read
			}
			if m := placeOf.FindStringSubmatch(err.Error()); m == nil {
				t.Fatalf("no place: %v", err)
			} else if _, err := fmt.Sscan(m[1]+" "+m[2], &line, &column); err != nil || line < 1 || line > lines || column > len(text) {
				t.Fatalf("line %d, column %d of %d lines", line, column, lines)
			}
			return
		}
		if !utf8.ValidString(text) || strings.Contains(text, "encoding") || strings.HasPrefix(text, "\uFEFF") {
			return // it is read as what it declares
		}
		if want, ok := slowly(text, "a"); ok && len(want)+len(got) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %#v\nwant %#v", got, want)
		}
	})
}
