package urdimport

import (
	"bytes"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// TestAmplification reads lists that other programs have written.
func TestAmplification(t *testing.T) {
	repeated, times := testutil.Repeated, strings.Repeat
	const opml = "<opml version='2.0'><body>"
	for _, c := range []struct {
		format string
		testutil.Construct
	}{
		{URLs, repeated("lines", "", "#\n", "")},
		{URLs, repeated("entries", "", "x\n", "")},
		{OPML, repeated("outlines without anything", opml, "<outline/>", "</body></opml>")},
		{OPML, repeated("outlines in outlines", opml, times("<outline>", 50)+times("</outline>", 50), "</body></opml>")},
		{OPML, repeated("attributes", opml+"<outline", " a%d=''", "/></body></opml>")},
		{OPML, repeated("texts", opml, "a<!---->", "</body></opml>")},
		{ChangeDetection, repeated("members", "{", `"%d":1,`, `"a":1}`)},
		{ChangeDetection, repeated("watches", "{", `"%d":{},`, `"a":{}}`)},
		{ChangeDetection, repeated("objects in a watch", `{"a":{"b":[`, `{"":1},`, "1]}}")},
	} {
		testutil.Amplify(t, c.Construct, func(body []byte) bool {
			_, err := Read(bytes.NewReader(body), Options{Format: c.format, Most: 50_000}) // of strangers, whose entries are counted
			return err != nil
		})
	}
}
