package xmltoken_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/xmltoken"
)

// tokens writes the tokens of a document: <name key=value|...>, </name>, and text as it is.
func tokens(src []byte) string {
	var b strings.Builder
	r := xmltoken.NewReader(src)
	for {
		switch r.Next() {
		case xmltoken.None:
			return b.String()
		case xmltoken.Text:
			b.Write(r.Text)
		case xmltoken.Start:
			fmt.Fprintf(&b, "<%s", r.Name)
			for key, value := range r.Attributes() {
				fmt.Fprintf(&b, " %s=%s|", key, value)
			}
			b.WriteString(">")
			if r.Empty {
				fmt.Fprintf(&b, "</%s>", r.Name)
			}
		case xmltoken.End:
			fmt.Fprintf(&b, "</%s>", r.Name)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"elements", `<a><b x="1" y = '2"'/>t</a >`, `<a><b x=1| y=2"|></b>t</a>`},
		{"names of any letters and prefixes", "<_><Ελένη>x</Ελένη><a:b-c.d/></_>", "<_><Ελένη>x</Ελένη><a:b-c.d></a:b-c.d></_>"},
		{"names keep their case", `<pubDate isPermaLink="x"/>`, `<pubDate isPermaLink=x|></pubDate>`},
		{"> and < in values and line ends around", "<a\r\n\tx='<b>'\n>y</a\n>", "<a x=<b>|>y</a>"},
		{"references", "<a x='&lt;&#65;&quot;'>&amp;&#x41;&eacute;&#150;&own;</a>", `<a x=<A"|>&Aé–&own;</a>`},
		{"bare ampersands", "<a x='?a&copy=1&region=2&amp;lt=3&sect'>Q&A &notit; &; &#; &#x; &amp &#65 &#12a; &no thing; &longer-than-it-is-wise;</a>", "<a x=?a&copy=1&region=2&lt=3&sect|>Q&A &notit; &; &#; &#x; &amp &#65 &#12a; &no thing; &longer-than-it-is-wise;</a>"},
		{"CDATA", "<a><![CDATA[<b>&amp;]]]]><![CDATA[>]]></a>", "<a><b>&amp;]]></a>"},
		{"comments end at --> alone", "<a><!-->x--!>y--->z</a>", "<a>z</a>"},
		{"instructions end at ?>", `<?xml version="1.0"?><a><?php if (a>b) ?>x</a>`, "<a>x</a>"},
		{"document type with all it may hold", `<!DOCTYPE a [<!ENTITY b "<c>]>'"><!-- '>]> --><?d ">]>?><!ELEMENT a (#PCDATA)>]><a>x</a>`, "<a>x</a>"},
		{"nothing is expanded", `<!DOCTYPE a [<!ENTITY b "&c;&c;"><!ENTITY c "d">]><a>&b;</a>`, "<a>&b;</a>"},

		{"document type that does not end", `<!DOCTYPE a [<!ENTITY b "c><a>x</a>`, "<a>x</a>"},
		{"declarations anywhere", "<a><!b>x<!></a>", "<a>x</a>"},
		{"instruction that does not end", "<a><?b>x</a>", "<a>x</a>"},
		{"comment that does not end", "<a>x<!--</a>", "<a>x"},
		{"CDATA that does not end", "<a><![CDATA[x</a>", "<a>x</a>"},
		{"tags that do not end", "<a>x<b y='z", "<a>x"},
		{"end tag that does not end", "<a>x</a", "<a>x</a>"},
		{"less-than signs", "<a>1 < 2 << 3 <= 4 <5></a><", "<a>1 < 2 << 3 <= 4 <5></a><"},
		{"end tags of nothing", "<a></>x</ a>y</1></a>", "<a>xy</a>"},
		{"attributes without quotation marks or value", "<a b=c d e= f=g/><h i/>", "<a b=c| d=| e=f=g/|></a><h i=|></h>"},
		{"attribute without a name", `<a ="b" c='d'>`, "<a =b| c=d|>"},
	} {
		if got := tokens([]byte(c.in)); got != c.want {
			t.Errorf("%s: %q\n got %q\nwant %q", c.name, c.in, got, c.want)
		}
	}
}

// Each of these was, or would be, looked at to its end from each of its places.
func TestHostileDocumentsAreReadInLinearTime(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"<?a>", "<!--", "<!a \"'>", "<!<>", "<![CDATA[", "<a b='", "</", "<!DOCTYPE [<!--", "&", "<"} {
		tokens(bytes.Repeat([]byte(unit), 1<<20/len(unit)))
	}
}

func FuzzTokensOfWellFormedDocumentsAreThoseOfEncodingXML(f *testing.F) {
	for _, s := range []string{
		`<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a x="1" y='&lt;'><b/>t&amp;<![CDATA[<u>]]><!-- c --><?d e?></a>`,
		"<Ελένη><a:b c:d='e'>x\r\ny</a:b></Ελένη>", "<a>]]</a>", "<a></a>text", "<a/><b/>", "<!-- a --><a b=\"'\"/>",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		got := tokens(src)
		if utf8.Valid(src) && !utf8.ValidString(got) {
			t.Fatalf("tokens of valid UTF-8 are not: %q", got)
		}
		if want, ok := oracle(src); ok && got != want {
			t.Fatalf("tokens of %q\n got %q\nwant %q", src, got, want)
		}
	})
}

// oracle writes the tokens as encoding/xml has them; not ok where a document is not well-formed, or where
// more is promised than encoding/xml gives.
func oracle(src []byte) (written string, ok bool) {
	var b strings.Builder
	declared := false
	d := xml.NewDecoder(bytes.NewReader(src))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		token, err := d.RawToken()
		switch token := token.(type) {
		case nil:
			s := b.String()
			more := bytes.ContainsAny(src, "\r\f\u0080\u0081") || bytes.Contains(src, []byte("&#"))
			return s, err == io.EOF && !more
		case xml.Directive:
			if declared || !bytes.HasPrefix(token, []byte("DOCTYPE ")) {
				return "", false
			}
			declared = true
		case xml.CharData:
			b.Write(token)
		case xml.StartElement:
			fmt.Fprintf(&b, "<%s", qualified(token.Name))
			for _, a := range token.Attr {
				fmt.Fprintf(&b, " %s=%s|", qualified(a.Name), a.Value)
			}
			b.WriteString(">")
		case xml.EndElement:
			fmt.Fprintf(&b, "</%s>", qualified(token.Name))
		}
	}
}

func qualified(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}
