package xslt

import (
	"errors"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/stages/internal/filestate"
)

// TestAmplification gives documents to a stylesheet that copies what they have.
func TestAmplification(t *testing.T) {
	repeated, times := testutil.Repeated, strings.Repeat
	sheet, err := loadStylesheet(t.Context(), string(sheetOf(t, `<xsl:template match="/"><xsl:copy-of select="."/></xsl:template>`)), new(filestate.Files))
	if err != nil {
		t.Fatal(err)
	}
	const page, xml = "text/html", "application/xml"
	for _, c := range []struct {
		mediaType string
		testutil.Construct
	}{
		{xml, repeated("elements", "<a>", "<b/>", "</a>")},
		{xml, repeated("texts", "<a>", "<b/>a", "</a>")},
		{xml, repeated("elements in elements", "<a>", times("<b>", 200)+times("</b>", 200), "</a>")},
		{xml, repeated("attributes", "<a", " b%d=''", "/>")},
		{xml, repeated("attributes of elements", "<a>", "<b c='' d=''/>", "</a>")},
		{xml, repeated("namespaces", "<a>", "<b xmlns='c%d'/>", "</a>")},
		{xml, repeated("comments", "<a>", "<!---->", "</a>")},
		{xml, repeated("instructions", "<a>", "<?a?>", "</a>")},
		{xml, repeated("references", "<a>", "&amp;", "</a>")},
		{xml, repeated("entities", "<!DOCTYPE a [", "<!ENTITY b%d 'c'>", "]><a/>")},
		{xml, repeated("uses of an entity", "<!DOCTYPE a [<!ENTITY b '"+times("c", 100)+"'>]><a>", "&b;", "</a>")},
		{xml, repeated("uses of an entity of elements", "<!DOCTYPE a [<!ENTITY b '"+times("<c/>", 25)+"'>]><a>", "&b;", "</a>")},
		{page, repeated("elements of a page", "", "<b>", "")},
		{page, repeated("paragraphs", "", "<p>a", "")},
	} {
		testutil.Amplify(t, c.Construct, func(body []byte) bool {
			tree, err := newInput(documentOf(c.mediaType, string(body))).parse(t.Context())
			if err == nil {
				_, err = sheet.transform(t.Context(), tree, int(defaults().MaxOutput))
			}
			var malformed *malformedError
			if err != nil && !errors.As(err, &malformed) && !errors.Is(err, errNodes) && !errors.Is(err, errTooLarge) {
				t.Fatal(err)
			}
			return err != nil
		})
	}
}
