package selection

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/htmltree"
)

// mustBeSound checks that blocks are in order, not empty, without white space around them, and valid UTF-8.
func mustBeSound(t *testing.T, text *webrace.Text) {
	t.Helper()
	end := int32(0)
	for _, b := range text.Blocks {
		if b.Start < end || b.End <= b.Start || int(b.End) > len(text.Bytes) || b.Field > webrace.FieldNavigation ||
			len(bytes.Trim(text.Slice(b), " \t\r\n\f")) != int(b.End-b.Start) {
			t.Fatalf("block %v of %q", b, text.Bytes)
		}
		end = b.End
	}
	if !utf8.Valid(text.Bytes) {
		t.Fatalf("%q is not UTF-8", text.Bytes)
	}
}

// letters are the words of a text without what is between them.
func letters(text *webrace.Text) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, string(text.Bytes))
}

// isPartOf reports whether a text comes about by leaving out parts of another.
func isPartOf(part, whole string) bool {
	for _, r := range part {
		i := strings.IndexRune(whole, r)
		if i < 0 {
			return false
		}
		_, size := utf8.DecodeRuneInString(whole[i:])
		whole = whole[i+size:]
	}
	return true
}

func FuzzApply(f *testing.F) {
	for _, rule := range []string{"css p > b, #x:not(.a)", "css *", "css :root", "xpath //p/text() | //a/@href", "xpath //*", `regex a.|b+`, "regex .*", "css li:nth-child(2n)", "css p:has(b)"} {
		for _, page := range []string{shop, "<p>a<b id=x>b</p>c", "<svg><p>x<math></svg><table><td>y</p></table>", "<?xml version='1.0'?><rss><title>a &lt; b</title><x:y z='1'/></rss>",
			"<html><xmp>a<title>b<plaintext>c", "a\n\nb", "</b></p><template><p>", "<a b\"c<d='e'>f"} {
			f.Add([]byte(page), "text/html", rule, false)
			f.Add([]byte(page), "text/xml", rule, true)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, mediaType, list string, ignore bool) {
		if len(body) > 4<<10 || len(list) > 256 {
			return
		}
		r, err := extract.Document(body, mediaType, "http://example.org/", extract.Options{})
		if err != nil {
			t.Skip()
		}
		all := rules(list)
		for i := range all {
			all[i].Ignore = all[i].Ignore || ignore
		}
		s, err := Compile(all)
		if err != nil {
			return
		}
		kept := bytes.Clone(body)
		d := Open("http://example.org/", body, r.MediaType, r.Charset, r.Text)
		part, err := s.Apply(context.Background(), d, NewBudget())
		if !bytes.Equal(body, kept) {
			t.Fatal("the body was changed")
		}
		if err != nil {
			if !errors.Is(err, ErrBudget) && !errors.Is(err, htmltree.ErrTooLarge) {
				t.Fatal(err)
			}
			return
		}
		mustBeSound(t, part.Text)
		again, err := s.Apply(context.Background(), d, NewBudget())
		if err != nil || written(again.Text) != written(part.Text) {
			t.Fatalf("a second time it gives %q, not %q: %v", written(again.Text), written(part.Text), err)
		}
		if !s.chosen && len(s.kept) == 0 {
			whole := r.Text
			if s.nodes && (d.isHTML() || d.isXML()) {
				root, _ := Compile([]Rule{{Language: XPath, Text: "/"}})
				all, err := root.Apply(context.Background(), d, NewBudget())
				if err != nil {
					t.Fatal(err)
				}
				whole = all.Text
			}
			if !isPartOf(letters(part.Text), letters(whole)) {
				t.Fatalf("ignoring adds text:\n%q to\n%q", part.Text.Bytes, whole.Bytes)
			}
		}
	})
}

func FuzzSelector(f *testing.F) {
	for _, s := range []string{"a > b + c ~ d e, #x.y[z^='1' i]:not(:first-child):nth-child(2n+1)", `\31 a:is(b, :has(> c))`, "*", "a[b|='c']", ":nth-last-of-type(-n + 3)"} {
		f.Add(s)
	}
	root, err := htmltree.Parse([]byte(shop))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if (Rule{Language: CSS, Text: s}).Check() != nil {
			return
		}
		selection, err := Compile([]Rule{{Language: CSS, Text: s}})
		if err != nil {
			t.Fatal(err)
		}
		d := &Document{mediaType: "text/html", root: root, parsed: true, text: &webrace.Text{}}
		part, err := selection.Apply(context.Background(), d, NewBudget())
		if err != nil && !errors.Is(err, ErrBudget) {
			t.Fatal(err)
		}
		if err == nil {
			mustBeSound(t, part.Text)
		}
	})
}
