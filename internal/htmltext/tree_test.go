package htmltext_test

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/webrace/webrace"
)

var hiddenNames = set("script style svg template noframes noembed iframe")

// tree collects the words of a document from its tree, which knows where elements really end.
type tree struct {
	words []word
	text  []byte
	field webrace.Field
}

func treeWords(tb testing.TB, src []byte) []word {
	tb.Helper()
	root, err := html.ParseWithOptions(bytes.NewReader(src), html.ParseOptionEnableScripting(false))
	if err != nil {
		tb.Fatal(err)
	}
	var t tree
	t.walk(root, webrace.FieldBody)
	t.enter(webrace.FieldBody, true)
	return t.words
}

// enter goes on in another field; at the end of the document it takes what is left.
func (t *tree) enter(f webrace.Field, end bool) {
	if f == t.field && !end {
		return
	}
	for w := range strings.FieldsSeq(string(t.text)) {
		t.words = append(t.words, word{w, t.field})
	}
	t.text, t.field = t.text[:0], f
}

func (t *tree) walk(n *html.Node, f webrace.Field) {
	t.enter(f, false)
	if n.Type == html.TextNode {
		t.text = append(t.text, n.Data...)
		return
	}
	name := ""
	if n.Type == html.ElementNode {
		name = n.Data
	}
	between := ""
	if name != "" && !joining[name] {
		between = " "
	}
	t.text = append(t.text, between...)
	if !hiddenNames[name] {
		inner := fieldWithin(name, f)
		for c := range n.ChildNodes() {
			t.walk(c, inner)
		}
		t.enter(f, false)
	}
	t.text = append(t.text, between...)
}

func fieldWithin(name string, outside webrace.Field) webrace.Field {
	switch {
	case name == "title":
		return webrace.FieldTitle
	case sections[name]:
		return webrace.FieldNavigation
	case heads[name] && outside == webrace.FieldBody:
		return webrace.FieldHeading
	}
	return outside
}

func withoutMarks(words []word) (kept []word) {
	for _, w := range words {
		if w.text != mark {
			kept = append(kept, w)
		}
	}
	return kept
}
