package readfile

import (
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// TestAmplification reads files that others have written: of what is in one, a record at a time is in memory.
func TestAmplification(t *testing.T) {
	repeated, times := testutil.Repeated, strings.Repeat
	for _, c := range []struct {
		format string
		testutil.Construct
	}{
		{"text", repeated("lines", "", "a\n", "")},
		{"text", repeated("lines without anything", "", "\n", "")},
		{"text", repeated("a line", "", "a", "")},
		{"text", repeated("bytes that are no UTF-8", "", "\xff", "")},
		{"text", repeated("lines that are no UTF-8", "", "\xff\n", "")},
		{"jsonl", repeated("records", "", "{\"a\":%d}\n", "")},
		{"jsonl", repeated("numbers", "[", "1,", "1]\n")},
		{"jsonl", repeated("fields", "{", `"a%d":1,`, "\"a\":1}\n")},
		{"jsonl", repeated("objects", "[", `{"":1},`, "1]\n")},
		{"jsonl", repeated("objects in objects", "[", times(`{"":`, 90)+"1"+times("}", 90)+",", "1]\n")},
		{"jsonl", repeated("lists in lists", "", "[", "\n")},
		{"jsonl", repeated("lines that are no JSON", "", "{\n", "")},
		{"csv", repeated("rows", "a,b\n", "1,2\n", "")},
		{"csv", repeated("columns", "", "a,", "\n")},
		{"csv", repeated("columns of a name each", "", "%d,", "\n")},
		{"csv", repeated("columns and a row", string(repeated("", "", "%d,", "\n").Grow(64<<10)), times(",", 12_000)+"\n", "")},
		{"csv", repeated("rows below wide ones", times("a,", 8_000)+"\n", times("1,", 8_000)+"\n", "")},
		{"csv", repeated("rows that are too wide", "a\n", times("1,", 8_000)+"\n", "")},
		{"csv", repeated("quotes", "", `"`, "\n")},
		{"csv", repeated("lines in quotes", "a\n\"", "a\n", "\"\n")},
		{"csv", repeated("quoted cells", "a,b\n", "\"a\",\"b\"\n", "")},
		{"csv", repeated("quotes that have no end", "a\n", "\"a\n\n", "")},
		{"xml", repeated("elements", "<a>", "<r b='c'>d</r>", "</a>")},
		{"xml", repeated("elements of a record", "<a><r>", "<b/>", "</r></a>")},
		{"xml", repeated("elements of a name each", "<a><r>", "<b%d/>", "</r></a>")},
		{"xml", repeated("elements in elements", "<a><r>", "<b>", "")},
		{"xml", repeated("elements in records", "<a>", "<r>"+times("<b>", 90)+times("</b>", 90)+"</r>", "</a>")},
		{"xml", repeated("attributes", "<a><r", " b%d=''", "/></a>")},
		{"xml", repeated("attributes of elements", "<a><r>", "<b c='' d='' e=''/>", "</r></a>")},
		{"xml", repeated("namespaces", "<a", " xmlns:b%d=''", "/>")},
		{"xml", repeated("entities", "<a><r>", "&amp;", "</r></a>")},
		{"xml", repeated("declarations", "<!DOCTYPE a [", "<!ENTITY b 'c'>", "]><a/>")},
		{"xml", repeated("comments", "<a>", "<!---->", "</a>")},
	} {
		grow := c.Grow
		c.Name, c.Grow = c.format+" "+c.Name, func(size int) []byte { return []byte(zipped(string(grow(size)))) }
		testutil.Amplify(t, c.Construct, func(body []byte) bool {
			return readWhole(t, c.format, body)
		})
	}
}

// readWhole reads a file, and reports whether something in it could not be.
func readWhole(t *testing.T, format string, body []byte) (bad bool) {
	o := with(func(o *Options) {
		if o.Paths, o.Format = []string{file(t, string(body))}, format; format == "xml" {
			o.Record = "r"
		}
	})
	end, err := stageOf(o).read(&target{path: o.Paths[0]}, start{}, func(some []entry) bool {
		for _, e := range some {
			bad = bad || e.bad != nil
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return bad || end.err != nil
}
