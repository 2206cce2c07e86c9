package selection

import (
	"errors"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/testutil"
)

// TestAmplification applies rules that look at everything to documents that have much of one thing. TestHostileRules
// has rules that are costly themselves.
func TestAmplification(t *testing.T) {
	repeated, times := testutil.Repeated, strings.Repeat
	const page, xml, json = "text/html", "text/xml", "application/json"
	for _, c := range []struct {
		contentType, rule string
		testutil.Construct
	}{
		{page, "regex (?m)^.$", repeated("letters with marks", "<p>", "a\u0301\u00ad\n", "")},
		{"text/plain", "regex q", repeated("marks", "a", "\u0323\u0301", "")},
		{page, "regex q", repeated("lines in pre", "<pre>", "a\n", "")},
		{page, "css *", repeated("elements", "", "<b>a", "")},
		{page, "css p", repeated("classes", "<p class='", "a%d ", "'>a")},
		{page, "css .a.b", repeated("elements with classes", "", "<b class='a b c'>", "")},
		{page, "css [id]:not([id=''])", repeated("ids", "", "<b id=%d>a", "")},
		{page, "css :nth-child(2n of .a)", repeated("children", "", "<p class=a>", "")},
		{page, "css p ~ p", repeated("siblings", "", "<p>a", "")},
		{page, "css div div", repeated("elements in elements", "", "<div>a", "")},
		{page, "css :lang(en)", repeated("languages", "", "<p lang=en-%d>a", "")},
		{page, "css :empty", repeated("empty elements", "", "<i></i>", "")},
		{page, "css b:has(+ b)", repeated("elements behind elements", "", "<b>a</b>", "")},
		{page, "xpath //@*", repeated("attributes", "<p", " a%d=b", ">")},
		{page, "xpath //text()", repeated("texts", "", "a<b>", "")},
		{page, "xpath //*[contains(., 'b')]", repeated("texts in elements", "", "<div>a", "")},
		{page, "xpath //p[last()]", repeated("elements of a parent", "", "<p>", "")},
		{page, "xpath //p[@class = //p/@class]", repeated("values that are compared", "", "<p class=%d>", "")},
		{page, "xpath //p/following::p", repeated("elements that follow each other", "", "<p>", "")},
		{page, "xpath //p[normalize-space() = 'a']", repeated("blanks", "<p>a", " ", "")},
		{xml, "xpath //*", repeated("elements of XML", "<a>", "<b/>", "</a>")},
		{xml, "xpath //b:c", repeated("prefixes", "<a>", "<b:c/>", "</a>")},
		{json, "jq .[]", repeated("numbers", "[", "1,", "1]")},
		{json, "jq .[]", repeated("empty lists", "[", "[],", "1]")},
		{json, "jq .[]", repeated("empty objects", "[", "{},", "1]")},
		{json, "jq .[]", repeated("objects of one member", "[", `{"":1},`, "1]")},
		{json, "jq .[]", repeated("objects in objects", "[", times(`{"":`, 90)+"1"+times("}", 90)+",", "1]")},
		{json, "jq ..", repeated("lists in lists", "[", times("[", 90)+times("]", 90)+",", "1]")},
		{json, "jq keys", repeated("members", "{", `"%d":1,`, `"a":1}`)},
		{json, "jq .a", repeated("members that nothing is asked of", "{", `"%d":{},`, `"a":1}`)},
		{json, "jq .[] | tostring", repeated("texts of JSON", "[", `"a",`, "1]")},
		{json, "jq .", repeated("digits", "", "1", "")},
		{page, "sparql SELECT ?o { ?s ?p ?o }", repeated("what is said", "", "<p property=dc:title>%d", "")},
	} {
		language, text, _ := strings.Cut(c.rule, " ")
		s, err := Compile([]Rule{{Language: Language(language), Text: text}})
		if err != nil {
			t.Fatal(err)
		}
		c.Name = c.rule + ": " + c.Name
		testutil.Amplify(t, c.Construct, func(body []byte) bool {
			var content *webrace.Text
			if language == "regex" {
				r, err := extract.Text(body, nil, c.contentType+"; charset=utf-8", "http://a.example/")
				if err != nil {
					t.Fatal(err)
				}
				content = r.Text
			}
			_, err := s.Apply(t.Context(), Open("http://a.example/", body, c.contentType, "utf-8", content), NewBudget())
			if err != nil && !errors.Is(err, ErrBudget) && !errors.Is(err, htmltree.ErrTooLarge) && !errors.Is(err, ErrUnread) {
				t.Fatal(err)
			}
			return err != nil
		})
	}
}
