package xmlschema

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

const open = `<urd xmlns="urn:webrace:1"`

// endless is a document that never ends: reading it proves that a limit is met before the end is.
func endless(start, repeat string) io.Reader {
	return io.MultiReader(strings.NewReader(start), &repeating{text: repeat})
}

type repeating struct {
	text string
	read int
}

func (r *repeating) Read(p []byte) (int, error) {
	n := copy(p, r.text[r.read%len(r.text):])
	r.read += n
	return n, nil
}

func TestLimitsAreMetBeforeTheDocumentEnds(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		start, repeat string
		want          string
	}{
		"attribute":     {open + ` id="`, "a", "1:8224: an attribute is larger than 8 KB"},
		"attributes":    {open, ` a="b"`, "1:408: an element has more than 64 attributes"},
		"tag":           {"<", "a", "1:8195: a tag is larger than 8 KB"},
		"depth":         {open + ">", "<a>", "1:217: elements are nested more than 64 deep"},
		"text":          {open + ">", "a", "1:1048577: the element is larger than 1 MB"},
		"comment":       {open + "><!--", "a ", "1:1048577: the element is larger than 1 MB"},
		"cdata":         {open + "><![CDATA[", "a ", "1:1048577: the element is larger than 1 MB"},
		"instruction":   {open + "><?x ", "a ", "1:1048577: the element is larger than 1 MB"},
		"prolog":        {"<!--", "a ", "1:1048577: a tag, text or comment is larger than 1 MB"},
		"urd":           {open + ">", "<a/>", "1:1048577: the element is larger than 1 MB"},
		"urd in a list": {`<urds xmlns="urn:webrace:1">` + "\n<urd><uri>*</uri></urd>\n<urd>", "<a/>", "3:1048577: the element is larger than 1 MB"},
		"doctype":       {"<!DOCTYPE", " a", "1:1: document type declarations are not allowed"},
		"document":      {`<urds xmlns="urn:webrace:1">` + "\n", "<urd><uri>http://a.example/</uri></urd>\n", "the document is too large"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := NewDecoder(endless(c.start, c.repeat))
			for range d.URDs() {
			}
			var problems Problems
			if !errors.As(d.Err(), &problems) {
				t.Fatalf("%v", d.Err())
			}
			if last := problems[len(problems)-1].String(); !strings.Contains(last, c.want) {
				t.Errorf("got %.200s, want %s", last, c.want)
			}
		})
	}
}

func TestLimitsAllowWhatTheySay(t *testing.T) {
	t.Parallel()
	many := ""
	for i := range MaxAttributes - 1 {
		many += fmt.Sprintf(` a%d=""`, i)
	}
	cases := map[string]string{
		"attribute":  open + ` login="` + strings.Repeat("a", MaxAttribute) + `"/>`,
		"attributes": open + many + "/>",
		"depth":      open + ">" + strings.Repeat("<a>", MaxDepth-1) + strings.Repeat("</a>", MaxDepth-1) + "</urd>",
	}
	for name, document := range cases {
		d := NewDecoder(strings.NewReader(document))
		d.URD()
		if err := d.Err(); err == nil || strings.Contains(err.Error(), "larger") || strings.Contains(err.Error(), "more than") {
			t.Errorf("%s: %.200v", name, err)
		}
	}
	links := &Meta{URL: "u"}
	for i := range 60000 {
		links.Links = append(links.Links, fmt.Sprintf("http://a.example/%030d", i))
	}
	if _, err := readMeta(links.Canonical()); err != nil {
		t.Errorf("meta-information of 3 MB: %v", err)
	}
	urds := 800_000
	if testing.Short() {
		urds /= 10
	}
	big := `<urds xmlns="urn:webrace:1">` + strings.Repeat("\n<urd><uri>*</uri></urd>", urds) + "</urds>"
	n := 0
	d := NewDecoder(strings.NewReader(big), SizeLimit(1<<30))
	for range d.URDs() {
		n++
	}
	if d.Err() != nil || n != urds {
		t.Errorf("a file of %d MB: %d, %v", len(big)>>20, n, d.Err())
	}
}

func TestRequestsAreYieldedAsTheyAreRead(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	d := NewDecoder(r)
	go fmt.Fprint(w, `<urds xmlns="urn:webrace:1"><urd id="a"><uri>*</uri></urd>`)
	for u := range d.URDs() {
		if u.ID != "a" {
			t.Errorf("id %s", u.ID)
		}
		break // the rest was never written
	}
	if err := d.Err(); err != nil {
		t.Error(err)
	}
	r.Close()
}

func TestWhatIsRightIsYieldedAndWhatIsWrongReported(t *testing.T) {
	t.Parallel()
	const document = `<urds xmlns="urn:webrace:1">
<urd id="a"><uri>*</uri></urd>
<urd id="b"/>
<urd id="c"><uri>*</uri></urd>
<urd id="d"><uri>*</urd>
<urd id="e"><uri>*</uri></urd>
</urds>`
	d := NewDecoder(strings.NewReader(document), Name("x.xml"))
	var ids []string
	for u := range d.URDs() {
		ids = append(ids, u.ID)
	}
	if !slices.Equal(ids, []string{"a", "c"}) {
		t.Errorf("yielded %v", ids)
	}
	const want = "x.xml:3:1: <urd> has no <uri>\nx.xml:5:19: element <uri> closed by </urd>"
	if err := d.Err(); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

func TestThePlaceIsThatOfWhatWasYielded(t *testing.T) {
	t.Parallel()
	d := NewDecoder(strings.NewReader("<urds xmlns='urn:webrace:1'>\n <urd owner='a'><uri>http://a.example/</uri></urd><urd/>\n\n  <!-- x --><urd owner='b'><uri>http://b.example/</uri></urd></urds>"))
	var got []string
	place := func() {
		line, column, path := d.Place()
		got = append(got, fmt.Sprintf("%d:%d %s", line, column, path))
	}
	place()
	for range d.URDs() {
		place()
	}
	if want := []string{"0:0 ", "2:2 /urds/urd[1]", "4:13 /urds/urd[3]"}; !slices.Equal(got, want) {
		t.Errorf("places %q, want %q", got, want)
	}
}

func TestManyProblemsEndTheReading(t *testing.T) {
	t.Parallel()
	d := NewDecoder(endless(`<urds xmlns="urn:webrace:1">`, "<urd/>"))
	for range d.URDs() {
		t.Error("a request without a URI was yielded")
	}
	var problems Problems
	if !errors.As(d.Err(), &problems) || len(problems) != maxProblems+1 || !strings.Contains(problems[maxProblems].Message, "too many problems") {
		t.Errorf("%v", d.Err())
	}
}

func TestTheKindOfDocumentIsTheOneAskedFor(t *testing.T) {
	t.Parallel()
	if _, err := readURD((&ACI{URI: "a"}).Canonical()); err == nil || err.Error() != "1:1: the document is <aci>, not <urd>" {
		t.Errorf("%v", err)
	}
	d := NewDecoder(bytes.NewReader((&Meta{URL: "u"}).Canonical()))
	for range d.ACIs() {
		t.Error("yielded")
	}
	if err := d.Err(); err == nil || err.Error() != "1:1: the document is <meta>, not <acis> or <aci>" {
		t.Errorf("%v", err)
	}
	if _, err := readURD(URDs{NewURD("a", "*")}.Canonical()); err == nil || err.Error() != `1:1: the document is <urds>, not <urd> (did you mean "urd"?)` {
		t.Errorf("%v", err)
	}
}

func TestReadingErrorsAreNoProblemsOfTheDocument(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken pipe")
	for _, start := range []string{"", open, open + "><uri>*</uri></urd>\n"} {
		d := NewDecoder(io.MultiReader(strings.NewReader(start), iotest.ErrReader(broken)), Name("a.xml"))
		_, err := d.URD()
		if !errors.Is(err, broken) || err.Error() != "read a.xml: broken pipe" {
			t.Errorf("after %q: %v", start, err)
		}
	}
}

func TestAnyWayOfReadingGivesTheSame(t *testing.T) {
	t.Parallel()
	document := newGenerator(3).urd().Canonical()
	for name, r := range map[string]io.Reader{
		"byte by byte": iotest.OneByteReader(bytes.NewReader(document)),
		"halves":       iotest.HalfReader(bytes.NewReader(document)),
		"with EOF":     iotest.DataErrReader(bytes.NewReader(document)),
	} {
		u, err := NewDecoder(r).URD()
		if err != nil || !bytes.Equal(u.Canonical(), document) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestASourceReadsAsItsBytes(t *testing.T) {
	t.Parallel()
	const document = "<a b='1\t2\r\n3'>x\r\ny\rz\t</a>"
	s := &source{r: bufio.NewReader(strings.NewReader(document)), at: position{1, 1}}
	got, err := io.ReadAll(s)
	if err != nil || string(got) != "<a b='1 2 3'>x\ny\nz\t</a>" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestALargeAttributeCostsNoMemory(t *testing.T) {
	const large = 16 << 20
	document := io.MultiReader(io.LimitReader(endless(open+` id="`, "a"), large), strings.NewReader(`"/>`))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := NewDecoder(document).URD()
	runtime.ReadMemStats(&after)
	if err == nil {
		t.Error("accepted")
	}
	if spent := after.TotalAlloc - before.TotalAlloc; spent > large/8 {
		t.Errorf("%d bytes of memory for an attribute of %d", spent, large)
	}
}

func ExampleDecoder_URDs() {
	document := `<urds xmlns="urn:webrace:1">
  <urd id="u1" owner="eleni"><uri timing="10m">http://www.cs.ucy.ac.cy/</uri></urd>
  <urd id="u2" onwer="eleni"><uri>http://www.cnn.com/</uri></urd>
</urds>`
	d := NewDecoder(strings.NewReader(document), Name("requests.xml"))
	for u := range d.URDs() {
		fmt.Println(u.ID, u.Owner, u.URI, u.Timing)
	}
	fmt.Println(d.Err())
	// Output:
	// u1 eleni http://www.cs.ucy.ac.cy/ 10m0s
	// requests.xml:3:16: <urd> has no attribute onwer (did you mean "owner"?)
}

func ExampleQuery_Match() {
	u := NewURD("eleni", "http://www.cs.ucy.ac.cy/")
	u.Keywords = NewKeywords(Keyword{Key: "java", Weight: 4})
	table, err := BuildTable(u.Canonical())
	if err != nil {
		panic(err)
	}
	query, err := Compile("/urds/urd[@owner='eleni']/keywords/keyword[@weight > 3]")
	if err != nil {
		panic(err)
	}
	fmt.Println(query.Hints())
	fmt.Println(query.Match(context.Background(), table))
	// Output:
	// [{owner eleni}]
	// true <nil>
}
