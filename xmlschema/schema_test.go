package xmlschema

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/beevik/etree"
	"github.com/jacoelho/xsd"
)

func publicSchema(t testing.TB) *xsd.Schema {
	t.Helper()
	schema, err := xsd.Compile(Schemas, "webrace.xsd", xsd.NewSourceOptions(), xsd.NewBuildOptions())
	if err != nil {
		t.Fatalf("compile webrace.xsd: %v", err)
	}
	return schema
}

// beyondXSD are the findings that XML Schema 1.0 has no words for.
var beyondXSD = []string{"is too long a time", "is not an IP address", "is not an http or https URL", "names no host", "contains white space"}

// ofRequests are such findings about how a source is asked.
var ofRequests = []string{
	"this cannot be sent: ", "a GET request has no body", "type is that of a <body>", "the request says nothing", "is no media type",
	"is longer than 256 characters", "<request> is for http and feed", "<request> asks for nothing",
}

func isBeyondXSD(err error) bool {
	var problems Problems
	if !errors.As(err, &problems) {
		return false
	}
	return !slices.ContainsFunc(problems, func(p Problem) bool {
		if strings.Contains(p.Message, " cannot be looked for: ") || strings.Contains(p.Message, "css, xpath, jq, ") ||
			strings.HasPrefix(p.Message, "a request has one condition on a number") ||
			strings.HasPrefix(p.Message, `label "`) && strings.HasSuffix(p.Message, "is given twice") ||
			strings.HasPrefix(p.Message, `at "`) || strings.HasPrefix(p.Message, "at and timing are both given") ||
			slices.ContainsFunc(ofRequests, func(words string) bool { return strings.Contains(p.Message, words) }) {
			return false
		}
		uri := strings.HasPrefix(p.Message, "uri ")
		return !slices.ContainsFunc(beyondXSD, func(words string) bool {
			return strings.HasSuffix(p.Message, words) && (uri || words != "contains white space")
		})
	})
}

func TestSchemaAgreesOnEveryCase(t *testing.T) {
	t.Parallel()
	schema := publicSchema(t)
	accepts := map[string]bool{"good": true, "bad": false, "beyond": true}
	for folder, want := range accepts {
		files, _ := filepath.Glob("testdata/" + folder + "/*.xml")
		for _, file := range files {
			document, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(document, []byte("<urd")) && !bytes.Contains(document, []byte("UTF-8")) && !allASCII(document) {
				continue // the schema library reads UTF-8 only
			}
			if err := schema.Validate(bytes.NewReader(document)); (err == nil) != want {
				t.Errorf("%s: the schema accepts it: %v, want %v: %v", file, err == nil, want, err)
			}
			if got := readAny(document); folder == "beyond" && !isBeyondXSD(got.err) {
				t.Errorf("%s: refused for more than the schema leaves open: %v", file, got.err)
			}
		}
	}
}

func allASCII(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c == 0 || c >= 0x80 })
}

// candidates are values that are right for one attribute or another, and some that are for none.
var candidates = []string{
	"", " ", "a", " a ", "a b", "0", "1", "2", "3", "4", "5", "6", "+1", "-1", "007", "1.5", ".5", "0.", "1.0", "1e0", "NaN", "99",
	"100", "101", "199", "200", "999", "1000", "65535", "65536", "2147483647", "2147483648", "9223372036854775807",
	"9223372036854775808", "253402300799999", "253402300800000", "true", "false", "TRUE", "yes", "http", "HTTP", "pop3", "imap", "nntp",
	"feed", "db", "rmi", "x:a", "x:", "x:A", "x:abcdefghijklmnopqrstuvwxyzabcdef", "x:abcdefghijklmnopqrstuvwxyzabcdefg", "pull",
	"push", "filter", "nonfilter", "added", "page", "first", "host", "domain", "prefix", "any", "all", "none", "word", "substring",
	"text", "html", "binary", "multipart", "unknown", "10m", "1h30m", "1.5h", "1h 30m", "10 m", "1d", "ms", "-5m", "+5m", "1us1µs1μs", ".s",
	"00ff00ff00ff00ff", "00FF00FF00FF00FF", "00ff00ff00ff00f", " 00ff00ff00ff00ff ", "+0ff00ff00ff00ff", "2001-01-06T08:25:00Z", " 2001-01-06T08:25:00Z ", "2001-01-06T08:25:00", "2001-01-06T08:25:00+14:00", "2001-01-06T08:25:00-14:30",
	"2001-02-29T08:25:00Z", "2000-02-29T08:25:00.123456789Z", "2001-01-06T24:00:00Z", "2001-01-06T08:25:60Z", "2001-01-06t08:25:00z",
	"2001-01-06 08:25:00Z", "2001-01-06T8:25:00Z", "2001-13-06T08:25:00Z", "0000-01-06T08:25:00Z", "0001-01-06T08:25:00Z", "-2001-01-06T08:25:00Z",
	"12001-01-06T08:25:00Z", "2001-01-06T08:25:00,5Z", "0 8 * * 1-5 Europe/Athens", " 0  8 * * 1 ", "0 8 30 2 *", "0 8 * * *" + strings.Repeat(" ", 600), strings.Repeat("0,", 300) + "0 8 * * *", "http://a.example/", strings.Repeat("é", 256), strings.Repeat("é", 257), strings.Repeat("k", 1024), strings.Repeat("k", 1025), "é\u00a0ü", "\u2003",
	"active", "paused", " paused ", "Paused", "work boats", " work  boats ", "a\u2028b", "a\u0085b", strings.Repeat("é", 50), strings.Repeat("é", 51), strings.Repeat("é", 200), strings.Repeat("é", 201),
	"a b c d e f g h i j k l m n o p q r s t", "a b c d e f g h i j k l m n o p q r s t u", " " + strings.Repeat("é", 199), " " + strings.Repeat("é", 200),
	" Is a  deadline moved? ", "is\u0085it", strings.Repeat("é", 1000), strings.Repeat("é", 1001), " " + strings.Repeat("é", 999) + "  é",
}

// Every document that is one change away from a good one is accepted by both or by neither.
func TestValidatorEqualsSchemaOneChangeAway(t *testing.T) {
	if testing.Short() {
		t.Skip("a lot to compute, in one goroutine: not in short mode")
	}
	t.Parallel()
	schema := publicSchema(t)
	checked, refused := 0, 0
	compare := func(d *etree.Document, change string) {
		t.Helper()
		document, err := d.WriteToBytes()
		if err != nil {
			t.Fatal(err)
		}
		checked++
		got := readAny(document)
		if isBeyondXSD(got.err) {
			return
		}
		if got.err != nil {
			refused++
		}
		if err := schema.Validate(bytes.NewReader(document)); (err == nil) != (got.err == nil) {
			t.Errorf("%s:\nschema  %v\ndecoder %v\n%s", change, err, got.err, document)
		}
	}
	for _, file := range []string{"urd-full", "urd-at", "urd-marks", "urd-ask", "urds", "aci-full", "aci-judged", "acis", "meta-full", "profile"} {
		d := etree.NewDocument()
		if err := d.ReadFromFile("testdata/good/" + file + ".xml"); err != nil {
			t.Fatal(err)
		}
		for _, e := range d.FindElements("//*") {
			mutate(d, e, compare)
		}
	}
	t.Logf("%d documents, %d refused by both", checked, refused)
	if refused < 1000 || checked-refused < 500 {
		t.Errorf("too few documents on one side: %d, %d refused", checked, refused)
	}
}

func mutate(d *etree.Document, e *etree.Element, compare func(*etree.Document, string)) {
	for i := range e.Attr {
		a := &e.Attr[i]
		if a.Space != "" || a.Key == "xmlns" {
			continue
		}
		kept := *a
		for _, value := range candidates {
			a.Value = value
			compare(d, e.Tag+"/@"+a.Key+"="+value)
		}
		*a = kept
		a.Key = "x" + kept.Key
		compare(d, "rename "+e.Tag+"/@"+kept.Key)
		*a = kept
		all := slices.Clone(e.Attr)
		e.Attr = slices.Delete(e.Attr, i, i+1)
		compare(d, "remove "+e.Tag+"/@"+kept.Key)
		e.Attr = all
	}
	parent := e.Parent()
	if parent == nil || parent.Parent() == nil {
		return
	}
	at := e.Index()
	parent.RemoveChildAt(at)
	compare(d, "remove "+e.Tag)
	parent.AddChild(e)
	compare(d, "move to the end "+e.Tag)
	parent.RemoveChild(e)
	parent.InsertChildAt(at, e)
	again := e.Copy()
	parent.InsertChildAt(at, again)
	compare(d, "repeat "+e.Tag)
	parent.RemoveChild(again)
	tag := e.Tag
	for _, other := range []string{"x" + tag, "keyword", "group", "uri", "link", "header", "depth"} {
		e.Tag = other
		compare(d, "rename "+tag+" to "+other)
	}
	e.Tag = tag
	for _, text := range []string{"text", " ", "  http://a.example/ ", "10.0.0.1"} {
		extra := etree.NewText(text)
		e.AddChild(extra)
		compare(d, "text in "+tag)
		e.RemoveChild(extra)
	}
}
