package formats

import (
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// TestAmplificationMarkdown reads each construct of Markdown that a reader looks for the end of, nests, or makes more
// of than is written.
func TestAmplificationMarkdown(t *testing.T) {
	repeated := testutil.Repeated
	grown := func(name string, grow func(size int) string) testutil.Construct {
		return testutil.Construct{Name: name, Grow: func(size int) []byte { return []byte(grow(size)) }}
	}
	times := strings.Repeat
	for _, c := range []testutil.Construct{
		grown("a table whose rows are short", func(n int) string {
			return times("|a", n/7) + "\n" + times("|-", n/7) + "\n" + times("|a\n", n/7)
		}),
		grown("a table of rows", func(n int) string { return "|a|b|c|\n|-|-|-|\n" + times("|a|b|c\n", n/7) }),
		grown("a head without rows", func(n int) string { return times("|a", n/4) + "\n" + times("|-", n/4) }),
		grown("tables after tables", func(n int) string { return times("|a|\n|-|\n|b|\n\n", n/14) }),
		repeated("bars that are no ends of cells", "|a|\n|-|\n", "`\\|", ""),
		grown("links that do not end in a cell", func(n int) string { return "|a|\n|-|\n|" + times("[a](", n/4) }),
		repeated("definitions", "", "[r%d]: x\n", ""),
		repeated("definitions one by one", "", "[r%d]: x\n\n", ""),
		repeated("definitions over two lines", "", "[r%d]:\n", ""),
		repeated("definitions with titles that do not end", "", "[r%d]: x \"\n", ""),
		grown("definitions and their uses", func(n int) string {
			return string(repeated("", "", "[r%d]: x\n\n", "").Grow(n/2)) + string(repeated("", "", "[r%d] ", "").Grow(n/2))
		}),
		grown("a long definition, used often", func(n int) string {
			return "[a]: http://x/" + times("y", n/2) + "\n\n" + times("[a] ", n/8)
		}),
		repeated("a name of many lines", "[", "a\n", "]: x\n"),
		repeated("names in lines", "", "[a]\n", ""),
		repeated("brackets", "", "[", ""),
		repeated("brackets that close", "", "]", ""),
		repeated("pairs of brackets", "", "[]", ""),
		repeated("images that do not end", "", "![", ""),
		repeated("links", "", "[a](b) ", ""),
		repeated("links without white space", "", "[a](b)", ""),
		repeated("links that do not end", "", "[a](", ""),
		repeated("links between angles that do not end", "", "[a](<b ", ""),
		repeated("titles that do not end", "", `[a](b "`, ""),
		repeated("links that do not end, in a heading", "# ", "[a](", ""),
		repeated("links with emphasis", "", "[*a*](b) ", ""),
		grown("images in images", func(n int) string { return times("![", n/6) + "a" + times("](b)", n/6) }),
		grown("brackets around much", func(n int) string { return times("[", 900) + times("![a](b) ", n/8) + times("]", 900) }),
		repeated("emphasis", "", "*a **b ", ""),
		repeated("marks", "", "*", ""),
		repeated("marks within a word", "", "a_", ""),
		repeated("marks of three kinds", "", "*a_b~c ", ""),
		grown("emphasis in emphasis", func(n int) string { return times("*a ", n/6) + times("b* ", n/6) }),
		grown("marks that find none of theirs", func(n int) string { return times("*a ", n/6) + times("b_ ", n/6) }),
		grown("ticks of each length", func(n int) string {
			var b strings.Builder
			for i := 1; b.Len() < n; i++ {
				b.WriteString("a" + times("`", i))
			}
			return b.String()
		}),
		repeated("ticks", "", "`a``", ""),
		repeated("angles", "", "<", ""),
		repeated("tags", "", "<a>", ""),
		repeated("comments that do not end", "a ", "<!--", ""),
		repeated("attributes that do not end", "a ", "<a b='", ""),
		repeated("addresses", "", "http://a.b/c ", ""),
		repeated("dots of an address", "", "www.a_", ""),
		repeated("an address in brackets", "www.a.b/", "(", ""),
		repeated("addresses of mail", "", "a@", ""),
		repeated("names of characters in an address", "www.a.b/", "&a;", ""),
		repeated("ampersands", "", "&", ""),
		repeated("paragraphs", "", "a\n\n", ""),
		repeated("lines", "", "a\n", ""),
		repeated("breaks", "", "a\\\n", ""),
		repeated("words", "", "word ", ""),
		repeated("empty lines", "", "\n", ""),
		repeated("headings", "", "# a\n", ""),
		repeated("headings below lines", "", "a\n=\n", ""),
		repeated("rules", "", "---\n", ""),
		repeated("code", "```\n", "a\n", ""),
		repeated("elements", "", "<div>\n\n", ""),
		repeated("entries", "", "- a\n", ""),
		repeated("entries apart", "", "- a\n\n", ""),
		repeated("empty entries", "", "-\n", ""),
		repeated("numbers", "", "%d. a\n", ""),
		repeated("tasks", "", "- [ ] a\n", ""),
		repeated("lists in lists", "", times("- ", 90)+"a\n", ""),
		grown("lists that step in", func(n int) string {
			var b strings.Builder
			for i := 0; b.Len() < n; i++ {
				b.WriteString(times(" ", 2*i) + "- a\n")
			}
			return b.String()
		}),
		repeated("empty lines in deep lists", times("- ", 90)+"a\n", "\n", "- b"),
		repeated("code in deep lists", times("- ", 90)+"a\n", times("\t", 45)+"b\n", ""),
		repeated("lines in deep quotations", times("> ", 90)+"a\n", "b\n", ""),
		repeated("quotations in quotations", "", times(">", 90)+"a\n", ""),
		repeated("quotations", "", "> a\n\n", ""),
	} {
		testutil.Amplify(t, c, func(body []byte) bool {
			_, unread := HTML(body)
			return unread.Cause != ""
		})
	}
}
