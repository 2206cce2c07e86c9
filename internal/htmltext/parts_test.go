package htmltext_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/htmltext"
)

func partScanner() *htmltext.Scanner {
	return &htmltext.Scanner{Options: htmltext.Options{Parts: true}}
}

// withParts returns the text, with each part in brackets.
func withParts(s *htmltext.Scanner) string {
	var out strings.Builder
	last := int32(0)
	for _, b := range s.Text.Blocks {
		switch {
		case b.Entry == last && out.Len() > 0:
			out.WriteString("|")
		case b.Entry != last && last != 0:
			out.WriteString("]")
		}
		if b.Entry != last && b.Entry != 0 {
			out.WriteString("[")
		}
		last = b.Entry
		out.Write(s.Text.Slice(b))
	}
	if last != 0 {
		out.WriteString("]")
	}
	return out.String()
}

func TestParts(t *testing.T) {
	t.Parallel()
	const a = "<a href=%d>"
	three := func(unit string) string {
		all := ""
		for i := range 3 {
			all += strings.ReplaceAll(unit, "%d", fmt.Sprint(i+1))
		}
		return all
	}
	for _, c := range []struct{ name, in, want string }{
		{"boxes", three("<div class=o>" + a + "A%d</a><p>b</div>"), "[A1|b][A2|b][A3|b]"},
		{"two boxes are columns", "<div class=o><a href=1>A</a></div><div class=o><a href=2>B</a></div>", "A|B"},
		{"boxes without a class", three("<div>" + a + "A%d</a></div>"), "A1|A2|A3"},
		{"classes in any order", "<div class='a b'><a href=1>A</a></div><div class='b  a'><a href=2>B</a></div><div class='a b'><a href=3>C</a></div>", "[A][B][C]"},
		{"boxes of other classes", "<div class=a><a href=1>A</a></div><div class=b><a href=2>B</a></div><div class=c><a href=3>C</a></div>", "A|B|C"},
		{"boxes of two kinds by turns", three("<div class=o>" + a + "A%d</a></div><div class=p><a href=p%d>B</a></div>"), "[A1][B][A2][B][A3][B]"},
		{"items", "<ul><li><a href=1>A</a><li><a href=2>B</a></ul>", "[A][B]"},
		{"items with end tags", "<ul><li><a href=1>A</a></li><li class=odd><a href=2>B</a></li></ul>c", "[A][B]c"},
		{"one item", "<ul><li><a href=1>A</a></ul>", "A"},
		{"items of two lists", "<ul><li><a href=1>A</a></ul><ul><li><a href=2>B</a></ul>", "A|B"},
		{"articles", "<article><h2><a href=1>A</a></h2><p>b</article><article><h2><a href=2>C</a></h2>d</article>", "[A|b][C|d]"},
		{"one without a link", "<ul><li><a href=1>A</a><li>b<li><a href=2>C</a></ul>", "[A]b[C]"},
		{"the same link", "<ul><li><a href=1>A</a><li><a href=1>B</a><li><a href=2>C</a><li><a href=3>D</a></ul>", "A|B[C][D]"},
		{"a heading leads to it", three("<li><a href=x>a long text</a><h2>" + a + "A%d</a></h2></li>"), "[a long text|A1][a long text|A2][a long text|A3]"},
		{"the longest text leads to it", three("<li><a href=x>a</a> " + a + "Offer %d</a></li>"), "[a Offer 1][a Offer 2][a Offer 3]"},
		{"a picture leads to it", three("<li>" + a + "<img></a>A</li>"), "[A][A][A]"},
		{"a link around it", three(a + "<div class=o>A<p>b</div></a>"), "[A|b][A|b][A|b]"},
		{"a link that holds blocks", three(a + "<h3>A</h3><div>b</div></a>"), "[A|b][A|b][A|b]"},
		{"links in a sentence", "<p>" + three(a+"A</a>, "), "A, A, A,"},
		{"in navigation", "<nav><ul>" + three("<li>"+a+"A</a>") + "</ul></nav>", "A|A|A"},
		{"innermost", "<ul>" + three("<li>"+a+"A</a><ul><li><a href=x%d>B</a><li><a href=y%d>C</a></ul>") + "</ul>", "A[B][C]A[B][C]A[B][C]"},
		{"rows", "<table>" + three("<tr><td>"+a+"A</a><td>b") + "</table>", "[A|b][A|b][A|b]"},
		{"rows by their first cell", "<table><thead><tr><th>x<th>y<tbody>" + three("<tr><td>A%d<td>b") + "</table>", "x|y[A1|b][A2|b][A3|b]"},
		{"rows that are counted", "<table>" + three("<tr><td>%d.<td>b") + "</table>", "1.|b|2.|b|3.|b"},
		{"rows of one cell", "<table>" + three("<tr><td>A%d") + "</table>", "A1|A2|A3"},
		{"terms", "<dl>" + three("<dt>A%d<dd>b<dd>c") + "</dl>d", "[A1|b|c][A2|b|c][A3|b|c]d"},
		{"terms with end tags", "<dl>" + three("<dt>A%d</dt><dd>b</dd>") + "</dl>", "[A1|b][A2|b][A3|b]"},
		{"text in front and behind", "a<ul>b" + three("<li>"+a+"A</a>") + "</ul>c", "a|b[A][A][A]c"},
		{"end tags of others", "<div><ul>" + three("<li>"+a+"A</a></li></li>") + "</ul></div></div>", "[A][A][A]"},
		{"what is not shown", "<ul>" + three("<li>"+a+"A%d</a>") + "<li hidden><a href=4>D</a></ul>", "[A1][A2][A3]"},
		{"fields that touch", three("<li>" + a + "A</a><b>b</b></li>"), "[A b][A b][A b]"},
		{"fields that touch in front", three("<li><b>b</b>" + a + "A</a></li>"), "[b A][b A][b A]"},
		{"signs that touch", three("<li>" + a + "A</a><b>(b)</b></li>"), "[A(b)][A(b)][A(b)]"},
		{"a word that goes on", three("<li>" + a + "A</a>b</li>"), "[Ab][Ab][Ab]"},
		{"where there are no parts", "<p>" + a + "A</a><b>b</b>", "Ab"},
		{"letters of several bytes", three("<li><b>é</b>" + a + "ä</a><b>ö</b></li>"), "[é ä ö][é ä ö][é ä ö]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := partScanner()
			s.Scan([]byte(c.in))
			if got := withParts(s); got != c.want {
				t.Errorf("%s\n got %q\nwant %q", c.in, got, c.want)
			}
		})
	}
}

// TestPartsAreKnownByTheirLinks holds that neither the text of a part nor its place makes it the same part.
func TestPartsAreKnownByTheirLinks(t *testing.T) {
	t.Parallel()
	known := func(in string) (links []uint64) {
		s := partScanner()
		s.Scan([]byte(in))
		for _, e := range s.Text.Entries {
			links = append(links, e.Link)
		}
		return links
	}
	first := known("<ul><li><a href=1?a=b&amp;c>A</a>10<li><a href=2>B</a></ul>")
	second := known("<ol><li>new <a href=2>C</a><li><a href='1?a=b&c'>D</a><li><a href=3>E</a></ol>")
	if len(first) != 2 || len(second) != 3 || first[0] != second[1] || first[1] != second[0] || second[2] == first[0] || second[2] == first[1] {
		t.Errorf("%x and then %x", first, second)
	}
}

// FuzzParts holds that looking for parts changes nothing but entries and blanks: that each entry has blocks, which
// follow one another, and that a part has no text of another.
func FuzzParts(f *testing.F) {
	f.Add([]byte("<ul><li><a href=1>A</a><b>b</b><li><a href=2>A</a><b>b</b></ul>"))
	f.Add([]byte("<table><tr><td>a<td>b<tr><td>c<td>d<tr><td>e<td>f</table>"))
	f.Add([]byte("<dl><dt>a<dd>b<dt>c<dd>d<dt>e<dd><ul><li><a href=1>x</a></dl>"))
	f.Add([]byte("<div class=x><a href=1>é</a><i>ö</i></div><div class=x><a href=2><h2>b</h2></a></div><div class=x><a href=3><sup>1</sup></a></div>"))
	f.Add([]byte("<div><a href=1></div><tr>a</tr><tr>b</tr><div><p>b</p></a></div>"))
	f.Fuzz(func(t *testing.T, src []byte) {
		plain, s := new(htmltext.Scanner), partScanner()
		plain.Scan(src)
		s.Scan(src)
		if len(plain.Text.Blocks) != len(s.Text.Blocks) {
			t.Fatalf("%d blocks, and %d without parts", len(s.Text.Blocks), len(plain.Text.Blocks))
		}
		last, ended, seen := int32(0), map[int32]bool{}, map[int32]bool{}
		for i, b := range s.Text.Blocks {
			want := string(plain.Text.Slice(plain.Text.Blocks[i]))
			if got := string(s.Text.Slice(b)); got != want && (b.Entry == 0 || withoutBlanks(got) != withoutBlanks(want)) {
				t.Fatalf("block %d is %q, without parts %q", i, got, want)
			}
			if b.Entry != last {
				ended[last] = true
			}
			if b.Entry < 0 || int(b.Entry) > len(s.Text.Entries) || b.Entry > 0 && ended[b.Entry] {
				t.Fatalf("block %d of %q is of entry %d", i, s.Text.Bytes, b.Entry)
			}
			last, seen[b.Entry] = b.Entry, true
		}
		for i, e := range s.Text.Entries {
			if !e.IsPart() || !seen[int32(i+1)] {
				t.Fatalf("entry %d of %q: %v", i+1, s.Text.Bytes, e)
			}
		}
	})
}

func withoutBlanks(text string) string { return strings.ReplaceAll(text, " ", "") }
