package htmltree

import (
	"strings"
	"sync"
	"testing"

	"github.com/lestrrat-go/helium"
	"golang.org/x/net/html"
)

func TestAPageIsWrittenAsXML(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		`<!DOCTYPE html><title>A &amp; B</title><p>one<br>two`: `<head><title>A &amp; B</title></head><body><p>one<br/>two</p></body>`,
		`<p class=a class=b hidden title="x&quot;y
z">`: `<head/><body><p class="a" hidden="" title="x&quot;y&#10;z"/></body>`,
		"<p>a\x01b\xff\ufffe]]>&#13;c":                                         "<head/><body><p>a\ufffdb\ufffd\ufffd]]&gt;&#13;c</p></body>",
		`<script>if (a < b && c) "</x>"</script>`:                              `<head><script>if (a &lt; b &amp;&amp; c) "&lt;/x&gt;"</script></head><body/>`,
		`<a:b c:d="e" ê=f -g=h "=i>x`:                                          `<head/><body><aU00003Ab cU00003Ad="e" U0000EA="f" U00002Dg="h" U000022="i">x</aU00003Ab></body>`,
		"<p title='a\x00'>a\x00b\r\nc":                                         "<head/><body><p title=\"a\ufffd\">ab\nc</p></body>",
		`<svg><![CDATA[a&amp;<b>]]></svg><![CDATA[c>`:                          `<head/><body><svg xmlns="http://www.w3.org/2000/svg">a&amp;amp;&lt;b&gt;</svg></body>`,
		`<p><!-- a -- b --></div>c<td>`:                                        `<head/><body><p>c<td/></p></body>`,
		`<svg><a xlink:href="#b"/><title><b>c</b>`:                             `<head/><body><svg xmlns="http://www.w3.org/2000/svg"><a xlinkU00003Ahref="#b"/><title><b xmlns="http://www.w3.org/1999/xhtml">c</b></title></svg></body>`,
		`<math><mi>x</mi></math><p xmlns="urn:a">`:                             `<head/><body><math xmlns="http://www.w3.org/1998/Math/MathML"><mi>x</mi></math><p/></body>`,
		`<p xmlns:dc="urn:dc" xml:lang=el xmlns:b="" xmlns:c=% xmlns:d="a b">`: `<head/><body><p xmlns:dc="urn:dc" xml:lang="el"/></body>`,
		``: `<head/><body/>`,
	} {
		root, err := Parse([]byte(page))
		if err != nil {
			t.Fatal(err)
		}
		got := string(AppendXHTML(nil, root))
		if whole := `<html xmlns="http://www.w3.org/1999/xhtml">` + want + `</html>`; got != whole {
			t.Errorf("%s\nis  %s\nnot %s", page, got, whole)
		}
		wellFormed(t, root)
	}
}

// wellFormed fails the test unless a parser of XML reads the page, with the same elements and the same text.
func wellFormed(t *testing.T, root *html.Node) {
	t.Helper()
	text := AppendXHTML([]byte("<?xml version='1.0'?>"), root)
	document, err := helium.NewParser().MaxDepth(MaxDepth+1).MaxNameLength(-1).Parse(t.Context(), text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	elements := 0
	for n := range helium.Descendants(document) {
		if n.Type() == helium.ElementNode {
			elements++
		}
	}
	var page strings.Builder
	for n := range root.Descendants() {
		switch n.Type {
		case html.ElementNode:
			elements--
		case html.TextNode:
			page.WriteString(allowed(n.Data)) // each by itself: bytes of two may be a character together
		}
	}
	if elements != 0 {
		t.Errorf("%d elements are new\n%s", elements, text)
	}
	if got := string(document.DocumentElement().Content()); got != page.String() {
		t.Errorf("its text is %q, not %q", got, page.String())
	}
}

// allowed returns a text with U+FFFD for what XML does not allow.
func allowed(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0xfffe || r == 0xffff {
			return '\ufffd'
		}
		return r
	}, text)
}

func FuzzAppendXHTML(f *testing.F) {
	for _, page := range []string{
		"", "<p>a<br>b", `<a:b c:d="e" "=f xmlns:g=h xmlns:xml=i xmlns="j" g:k=l>`, "<svg><foreignobject><p></svg><math><svg>", "<table><td><template><tr>x",
		"<p a=1 A=2 aU00003Ab=3 a:b=4>&#0;&#x1f;\x00\xff]]>", "<!DOCTYPE html [<!ENTITY a 'b'>]><?php x ?><!-- -- -->", "<title></title></p></body>x<frameset>",
		"0\xd0<A>\x91", `<p xmlns:a="http://www.w3.org/XML/1998/namespace" xmlns:b=" " xmlns:c="&#1;" xmlns:XML=x>`,
	} {
		f.Add([]byte(page))
	}
	f.Fuzz(func(t *testing.T, page []byte) {
		root, err := Parse(page)
		if err != nil {
			return
		}
		wellFormed(t, root)
		room := rooms.Get().(*Room)
		defer rooms.Put(room)
		if again, err := room.Parse(page); err != nil || outline(again) != outline(root) {
			t.Errorf("in a room that was used: %v", err)
		}
	})
}

// rooms were used for the pages before.
var rooms = sync.Pool{New: func() any { return new(Room) }}
