package xmltoken_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/xmltoken"
)

func TestBareAmpersandsAreEscaped(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                               "",
		"<a>&amp;&lt;&#65;&#x41;</a>":    "<a>&amp;&lt;&#65;&#x41;</a>",
		"<a b='?x=1&copy=2&amp;y'>&</a>": "<a b='?x=1&amp;copy=2&amp;y'>&amp;</a>",
		"&<a>&own;<![CDATA[&copy]]>&copy<![CDATA[&]]></a>&": "&amp;<a>&own;<![CDATA[&copy]]>&amp;copy<![CDATA[&]]></a>&amp;",
		"<a>&<![CDATA[&": "<a>&amp;<![CDATA[&",
	} {
		if got := string(xmltoken.EscapeBare([]byte(in))); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

// What is escaped means the same to this reader, and has no bare ampersand to another.
func FuzzWhatIsEscapedMeansTheSame(f *testing.F) {
	for _, s := range []string{"<a b='?x=1&copy=2'>Q&A &notit; &#65;&eacute;</a>", "<a><![CDATA[&]]>&</a>"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		escaped := xmltoken.EscapeBare(src)
		if again := xmltoken.EscapeBare(escaped); !bytes.Equal(again, escaped) {
			t.Fatalf("twice: %q", again)
		}
		if bytes.IndexByte(src, '<') >= 0 {
			return
		}
		if got, want := xmltoken.Decode(escaped), xmltoken.Decode(src); !bytes.Equal(got, want) {
			t.Fatalf("%q\n got %q\nwant %q", src, got, want)
		}
		d := xml.NewDecoder(bytes.NewReader(escaped))
		for {
			_, err := d.Token()
			if err == io.EOF {
				return
			}
			if err != nil {
				if strings.Contains(err.Error(), "no semicolon") {
					t.Fatalf("%q: %v", escaped, err)
				}
				return
			}
		}
	})
}
