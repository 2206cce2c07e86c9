package xmlschema

import (
	"bytes"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// TestAmplification reads documents that others send.
func TestAmplification(t *testing.T) {
	repeated := testutil.Repeated
	const begin, end = `<urds xmlns="` + Namespace + `">`, "</urds>"
	for _, c := range []testutil.Construct{
		repeated("elements", begin, "<urd/>", end),
		repeated("elements that are not known", begin, "<a/>", end),
		repeated("elements in elements", begin, "<urd>", ""),
		repeated("attributes", begin+"<urd", ` a%d=""`, "/>"+end),
		repeated("attributes of elements", begin, `<urd a="" b=""/>`, end),
		repeated("elements of an element", begin+"<urd>", "<keyword>a</keyword>", "</urd>"+end),
		repeated("texts", begin+"<urd>", "a<!---->", "</urd>"+end),
		repeated("references", begin+"<urd>", "&amp;", "</urd>"+end),
		repeated("comments", begin, "<!---->", end),
		repeated("declarations", "<!DOCTYPE a [", "<!ENTITY b 'c'>", "]>"+begin+end),
	} {
		testutil.Amplify(t, c, func(body []byte) bool {
			d := NewDecoder(bytes.NewReader(body))
			for range d.URDs() {
			}
			return d.Err() != nil
		})
	}
}
