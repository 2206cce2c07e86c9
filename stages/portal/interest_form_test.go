package portal

import (
	"bytes"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/xmlschema"
)

// browsed is a form as a browser sends it that was shown it.
func browsed(shown url.Values) url.Values {
	sent := make(url.Values)
	for name, values := range shown {
		for _, v := range values {
			v = strings.ReplaceAll(strings.ReplaceAll(v, "\r\n", "\n"), "\r", "\n")
			switch name {
			case "keywords", "select", "ignore":
				v = strings.ReplaceAll(v, "\n", "\r\n")
			default:
				v = strings.ReplaceAll(v, "\n", "")
			}
			sent.Add(name, v)
		}
	}
	return sent
}

// typed is the form of an interest with some fields changed.
func typed(u *xmlschema.URD, pairs ...string) *form {
	values := browsed(interestValues(u))
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return newForm(values)
}

// What is typed becomes what the interest is.
func TestInterestIsWhatWasTyped(t *testing.T) {
	t.Parallel()
	u := xmlschema.NewURD("eleni", "")
	f := typed(u, "url", " https://a.example/x ", "title", " Boats ", "labels", "work boats work", "keywords", "\nboat\r\nannual report: 5\r\nC++: 2 exact part\nnear:3 c++ λ\n",
		"match", "all", "threshold", "7", "tell", "nonfilter", "change", "page", "urgency", "3", "select", "#price\nregex:\\d+ a:b", "ignore", ".ad",
		"depth", "2", "scope", "domain", "every", "1d 12h", "remember", "4", "secret", "eleni/shop")
	is := readInterest(f, u, defaults)
	if !f.ok() {
		t.Fatal(f.Wrong)
	}
	want := xmlschema.NewURD("eleni", "https://a.example/x")
	want.Title, want.Labels, want.Urgency, want.Depth, want.Scope, want.Timing, want.Remember, want.Secret = "Boats", []string{"boats", "work"}, 3, 2, "domain", 36*time.Hour, 4, "eleni/shop"
	want.Keywords = xmlschema.NewKeywords(xmlschema.Keyword{Key: "boat"}, xmlschema.Keyword{Key: "annual report", Weight: 5},
		xmlschema.Keyword{Key: "C++", Weight: 2, Exact: true, Match: "substring"}, xmlschema.Keyword{Key: "near:3 c++ λ"})
	want.Keywords.Match, want.Keywords.Threshold, want.ProcessType, want.Change = "all", 7, "nonfilter", "page"
	want.Select = []xmlschema.Rule{{Language: "css", Text: "#price"}, {Language: "regex", Text: `\d+ a:b`}}
	want.Ignore = []xmlschema.Rule{{Language: "css", Text: ".ad"}}
	if !bytes.Equal(is.Canonical(), want.Canonical()) {
		t.Errorf("got %s\nwant %s", is.Canonical(), want.Canonical())
	}
}

// What is wrong is said at its field, with what was meant.
func TestWhatIsWrongWithAnInterest(t *testing.T) {
	t.Parallel()
	page := xmlschema.NewURD("eleni", "https://a.example/")
	conditional := xmlschema.NewURD("eleni", "https://a.example/")
	conditional.Select = []xmlschema.Rule{{Language: "css", Text: "#price", When: "number < 100"}}
	endless := xmlschema.NewURD("eleni", "https://a.example/")
	endless.Depth = 0
	for _, c := range []struct {
		was          *xmlschema.URD
		name, value  string
		field, wrong string // empty: nothing is
	}{
		{page, "url", "", "url", "which page"},
		{page, "url", "www.a.example/x", "url", "did you mean https://www.a.example/x?"},
		{page, "url", "ftp://a.example/", "url", "in full"},
		{page, "url", "https://eleni:hush@a.example/", "url", "password"},
		{page, "url", "https://a.example/*", "url", "cannot be asked for here"},
		{page, "url", "https://a.example:99999/", "url", "address"},
		{page, "below", "1", "url", "cannot be asked for here"},
		{page, "title", strings.Repeat("x", 201), "title", "200"},
		{page, "labels", strings.Repeat("x", 51), "labels", "50"},
		{page, "keywords", "boat: 9", "keywords", "from 1"},
		{page, "keywords", "boat:", "keywords", "boat: 5"},
		{page, "keywords", "12:30", "keywords", "behind it"},
		{page, "match", "some", "match", "none of what"},
		{page, "threshold", "101", "threshold", "0 to 100"},
		{page, "select", "xpath://[", "select", "xpath://["},
		{page, "ignore", "sparql:{ ?a ?b ?c }", "ignore", "sparql"},
		{page, "depth", "6", "depth", "1 to 5"},
		{page, "depth", "0", "depth", "1 to 5"},
		{page, "scope", "world", "scope", "none of what"},
		{page, "every", "often", "every", "30m"},
		{page, "every", "-1h", "every", "30m"},
		{page, "at", "at eight", "at", "no times"},
		{page, "remember", "9", "remember", "none of what"},
		{page, "urgency", "4", "urgency", "none of what"},
		{conditional, "select", "", "select", "number < 100"},
		{conditional, "select", ".cost", "", ""},
		{endless, "title", "All of it", "", ""},
		{endless, "url", "https://b.example/", "depth", "1 to 5"},
	} {
		f := typed(c.was, c.name, c.value)
		is := readInterest(f, c.was, defaults)
		switch {
		case c.field == "" && !f.ok(), c.field != "" && !strings.Contains(f.Wrong[c.field], c.wrong):
			t.Errorf("%s %q: %v", c.name, c.value, f.Wrong)
		case c.was.When() != nil && f.ok() && is.When() == nil:
			t.Errorf("%s %q: the condition is lost", c.name, c.value)
		}
	}
	both := typed(page, "every", "1h", "at", "0 8 * * *")
	if readInterest(both, page, defaults); both.Wrong["at"] == "" {
		t.Error("both times are accepted")
	}
	allowed := defaults
	allowed.Prefixes = true
	for address, ok := range map[string]bool{"https://a.example/": true, "https://a.example/x/*": true, "https://a.example": false, "https://": false, "": false} {
		f := typed(page, "url", address, "below", "1")
		is := readInterest(f, page, allowed)
		if _, below := is.Prefix(); f.ok() != ok || ok && !below {
			t.Errorf("below %q: %v, %v", address, is.URI, f.Wrong)
		}
	}
}

const wholeURD = `<urd xmlns="urn:webrace:1" id="u42" owner="eleni" title="Boats &#10084;" labels="b a" remember="2">
<uri timing="1h30m" port="8080" secret="s">http://www.example.org/news/</uri><request method="POST" type="text/plain"><header name="Accept">a</header><body>x</body></request>
<type protocol="feed" change="page" processtype="nonfilter"/>
<keywords match="all" threshold="35"><keyword key="ibm" weight="1"/><keyword key=" mobile&#10;agents: 3" weight="4" exact="true"/><keyword key="a: 5 part" match="substring"/>
<group match="any"><keyword key="java*" weight="5"/></group></keywords>
<selection><select css="#news" when="number &lt; 100"/><select regex="css: a&#10;b "/><ignore jq=".a"/></selection>
<depth level="0" scope="any"/><urgency urgent="3"/></urd>`

// An interest that is shown and sent back unchanged is the same.
func FuzzInterestShown(f *testing.F) {
	f.Add(wholeURD)
	for _, seed := range []string{"*", "http://a.example/**", "https://a.example/x*", "http://a.example/"} {
		f.Add(`<urd xmlns="urn:webrace:1"><uri at="0 8 * * 1-5 Europe/Athens">` + seed + `</uri></urd>`)
		f.Add(`<urd xmlns="urn:webrace:1"><uri>` + seed + `</uri><keywords><keyword key="x⏎y"/><keyword key="x&#10;y" weight="5"/><keyword key="x&#13;&#10;y"/></keywords></urd>`)
	}
	f.Fuzz(func(t *testing.T, document string) {
		u, err := xmlschema.NewDecoder(strings.NewReader(document)).URD()
		if err != nil || u.Validate() != nil {
			return
		}
		form := newForm(browsed(interestValues(u)))
		is := readInterest(form, u, defaults)
		if !form.ok() && onlyStart(form) {
			return // it starts no crawl that there could be, and nobody has stored it
		}
		if !form.ok() || !bytes.Equal(is.Canonical(), u.Canonical()) {
			t.Fatalf("%v: it was\n%s and is\n%s", form.Wrong, u.Canonical(), is.Canonical())
		}
	})
}

// onlyStart reports whether nothing is wrong but where a crawl would start.
func onlyStart(f *form) bool {
	cut, _, _ := strings.Cut(texts()["interest.wrong_start"], "%")
	return len(f.Wrong) == 1 && strings.HasPrefix(f.Wrong["url"], cut)
}

// Whatever is sent says what is wrong with it, or is an interest that can be stored.
func FuzzInterestForm(f *testing.F) {
	f.Add(typed(xmlschema.NewURD("", "https://a.example/"), "keywords", "a: 3\nb").values.Encode())
	f.Add("url=https%3A%2F%2Fa.example%2F&match=any&threshold=20&tell=filter&change=added&urgency=1&depth=1&scope=host&select=%23a%0Aregex%3A%5B&every=1d&secret=+a")
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		form := newForm(values)
		if is := readInterest(form, xmlschema.NewURD("eleni", ""), defaults); form.ok() {
			if err := is.Validate(); err != nil {
				t.Fatalf("%s is accepted: %v", is.Canonical(), err)
			}
			again := newForm(browsed(interestValues(is)))
			if same := readInterest(again, is, defaults); !again.ok() || !bytes.Equal(same.Canonical(), is.Canonical()) {
				t.Fatalf("%v: it was\n%s and is\n%s", again.Wrong, is.Canonical(), same.Canonical())
			}
		}
	})
}
