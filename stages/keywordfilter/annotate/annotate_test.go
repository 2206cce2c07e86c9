package annotate

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/xmlschema"
)

func urd(change func(*xmlschema.URD)) *xmlschema.URD {
	u := xmlschema.NewURD("eleni", "https://example.org/")
	u.ID = "u1"
	if change != nil {
		change(u)
	}
	return u
}

func interested(keys ...string) *xmlschema.URD {
	return urd(func(u *xmlschema.URD) {
		var keywords []xmlschema.Keyword
		for _, key := range keys {
			keywords = append(keywords, xmlschema.Keyword{Key: key})
		}
		u.Keywords = xmlschema.NewKeywords(keywords...)
	})
}

func TestProfileIsWhatTheRequestSays(t *testing.T) {
	keyword := func(key string) []match.Keyword { return []match.Keyword{{Key: key, Weight: 3}} }
	for name, c := range map[string]struct {
		urd  *xmlschema.URD
		want match.Profile
	}{
		"any change": {urd(nil), match.Profile{ID: "u1", Threshold: match.AnyRelevance}},
		"nonfilter with keywords": {
			urd(func(u *xmlschema.URD) {
				*u = *interested("ibm")
				u.ID, u.ProcessType = "u1", xmlschema.ProcessNonFilter
			}),
			match.Profile{ID: "u1", Threshold: match.AnyRelevance},
		},
		"default threshold": {interested("ibm"), match.Profile{ID: "u1", Threshold: 20, Group: match.Group{Keywords: keyword("ibm")}}},
		"threshold 0 is none": {
			urd(func(u *xmlschema.URD) { u.Keywords = interested("ibm").Keywords; u.Keywords.Threshold = 0 }),
			match.Profile{ID: "u1", Threshold: match.AnyRelevance, Group: match.Group{Keywords: keyword("ibm")}},
		},
		"exact and substring": {
			urd(func(u *xmlschema.URD) {
				u.Keywords = xmlschema.NewKeywords(
					xmlschema.Keyword{Key: "a", Weight: 5, Exact: true}, xmlschema.Keyword{Key: "b", Weight: 1, Match: xmlschema.MatchSubstring})
			}),
			match.Profile{ID: "u1", Threshold: 20, Group: match.Group{Keywords: []match.Keyword{
				{Key: "a", Weight: 5, Exact: true}, {Key: "b", Weight: 1, Substring: true},
			}}},
		},
		"groups": {
			urd(func(u *xmlschema.URD) {
				three := func(key string) []xmlschema.Keyword { return []xmlschema.Keyword{{Key: key, Weight: 3}} }
				u.Keywords = xmlschema.Keywords{Threshold: 40, Match: xmlschema.MatchAll, Keywords: three("a"), Groups: []xmlschema.Group{
					{Match: xmlschema.MatchAny, Keywords: three("b"), Groups: []xmlschema.Group{{Match: xmlschema.MatchNone, Keywords: three("c")}}},
					{Keywords: three("d")},
				}}
			}),
			match.Profile{ID: "u1", Threshold: 40, Group: match.Group{Match: match.All, Keywords: keyword("a"), Groups: []match.Group{
				{Match: match.Any, Keywords: keyword("b"), Groups: []match.Group{{Match: match.None, Keywords: keyword("c")}}},
				{Match: match.Any, Keywords: keyword("d")},
			}}},
		},
	} {
		if got := Profile(c.urd); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// document is a page with a title and one block of text.
func document(title, body string) *webrace.Document {
	text := &webrace.Text{Bytes: []byte(title + "\n" + body)}
	n := int32(len(title))
	text.Blocks = []webrace.Block{{Start: 0, End: n, Field: webrace.FieldTitle}, {Start: n + 1, End: int32(len(text.Bytes))}}
	return &webrace.Document{
		URL: "https://example.org/a/page.HTML?q=1", MediaType: "text/html", Body: []byte("12345"), Title: title, Text: text,
		At: time.Date(2026, 1, 2, 3, 4, 5, 678, time.FixedZone("", 7200)), Digest: webrace.Digest{1, 2}, Version: 7,
	}
}

// alert matches the document with the request, which it must meet.
func alert(t *testing.T, u *xmlschema.URD, d *webrace.Document) match.Alert {
	t.Helper()
	compiled, _, err := match.Compile(Profile(u))
	if err != nil {
		t.Fatal(err)
	}
	var index match.Index
	index.Add(compiled)
	alerts := slices.Collect(index.Match(d.Text, match.Options{Recipients: []match.Recipient{{ID: u.ID}}, Summary: SummaryBytes}))
	if len(alerts) != 1 {
		t.Fatalf("%d alerts", len(alerts))
	}
	return alerts[0]
}

// mustRoundTrip fails unless the annotation can be stored, and comes back as it is.
func mustRoundTrip(t *testing.T, aci *xmlschema.ACI) {
	t.Helper()
	if err := aci.Validate(); err != nil {
		t.Errorf("it cannot be stored: %v\n%+v", err, aci)
		return
	}
	back, err := xmlschema.NewDecoder(bytes.NewReader(aci.Canonical())).ACI()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, aci) {
		t.Errorf("it comes back as\n%+v, not\n%+v", back, aci)
	}
}

func TestAnnotationSaysWhatWasFoundWhereAndWhy(t *testing.T) {
	u, d := interested("ibm", "mainframe"), document("News", "Of IBM there is news today")
	a := alert(t, u, d)
	got := ACI(u, a, d, 6)
	want := &xmlschema.ACI{
		ID: xmlschema.ACIID("u1", u.InterestHash(), d.URL, xmlschema.Docbase{Digest: d.Digest.String(), Version: 7}), URD: "u1", Owner: "eleni",
		URI: d.URL, Title: "News", Extension: "html", Format: xmlschema.FormatHTML, Relevance: a.Relevance,
		UpdateTime: time.Date(2026, 1, 2, 1, 4, 5, 0, time.UTC), FileSize: 5, Urgency: 1,
		Docbase: xmlschema.Docbase{Digest: d.Digest.String(), Version: 7, Since: 6, Matched: xmlschema.MatchedID("u1", u.InterestHash(), a.Matched)},
		Summary: "Of «IBM» there is news today",
		Explain: &xmlschema.Explain{Relevance: a.Relevance, Threshold: 20, Keywords: []xmlschema.KeywordShare{
			{Key: "ibm", Weight: 3, Body: 1, Saturation: 0.563, Share: 0.338},
			{Key: "mainframe", Weight: 3},
		}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v %+v, want\n%+v %+v", got, got.Explain, want, want.Explain)
	}
	mustRoundTrip(t, got)
}

func TestEveryKindOfInterestMakesAnAnnotationThatCanBeStored(t *testing.T) {
	word := func(key string) []xmlschema.Keyword { return []xmlschema.Keyword{{Key: key, Weight: 3}} }
	for name, keywords := range map[string]xmlschema.Keywords{
		"any change":  {},
		"threshold 0": {Keywords: word("news")},
		"all":         {Match: xmlschema.MatchAll, Keywords: append(word("news"), word("ibm")...)},
		"none alone":  {Match: xmlschema.MatchNone, Keywords: word("apple")},
		"none within": {Threshold: 20, Keywords: word("ibm"), Groups: []xmlschema.Group{{Match: xmlschema.MatchNone, Keywords: word("apple")}}},
		"none of another weight": {
			Keywords: word("ibm"), Groups: []xmlschema.Group{{Match: xmlschema.MatchNone, Keywords: word("apple"), Groups: []xmlschema.Group{{Keywords: word("pear")}}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			u, d := urd(func(u *xmlschema.URD) { u.Keywords = keywords }), document("News", "Of IBM there is news today")
			aci := ACI(u, alert(t, u, d), d, 0)
			mustRoundTrip(t, aci)
			if aci.Explain.Threshold != keywords.Threshold {
				t.Errorf("threshold %d, want %d", aci.Explain.Threshold, keywords.Threshold)
			}
		})
	}
}

func TestHostilePagesMakeAnnotationsThatCanBeStored(t *testing.T) {
	for name, c := range map[string]struct {
		title, body, url, mediaType string
	}{
		"control characters":   {"a\x00b\x1b[2J\x7f", "ibm \x01\x02\x0b ibm \x1b", "", ""},
		"broken UTF-8":         {"a\xff\xfeb\xc3", "ibm \xff ibm\xed\xa0\x80", "", ""},
		"noncharacters":        {"a\uFFFE\uFFFFb", "ibm \uFFFE ibm\uFFFF", "", ""},
		"white space":          {" a\r\n\tb\u2028c ", "\r\n ibm \r\u0085 x ", "", ""},
		"markup":               {"]]><a b='c'>&amp;", "<ibm> ]]> & \"ibm\"", "", ""},
		"a title without end":  {strings.Repeat("ä ", 1<<20), "ibm", "", ""},
		"a word without end":   {"", "ibm" + strings.Repeat("ä", 1<<20) + " ibm", "", ""},
		"an extension":         {"", "ibm", "https://example.org/a.%01%ff%00b", ""},
		"a long URL":           {"", "ibm", "https://example.org/" + strings.Repeat("x", 8000) + "?<&>", ""},
		"an extension in UTF8": {"", "ibm", "https://example.org/a.%CE%B1%CE%B2", ""},
		"a media type":         {"", "ibm", "https://example.org/", "x\x00/\x01"},
	} {
		t.Run(name, func(t *testing.T) {
			d := document(c.title, c.body)
			if c.url != "" {
				d.URL = c.url
			}
			if c.mediaType != "" {
				d.MediaType = c.mediaType
			}
			u := interested("ibm*")
			u.Keywords.Threshold = 0
			aci := ACI(u, alert(t, u, d), d, 0)
			mustRoundTrip(t, aci)
			if len(aci.Title) > TitleBytes || len(aci.Summary) > SummaryBytes {
				t.Errorf("title of %d bytes, summary of %d", len(aci.Title), len(aci.Summary))
			}
		})
	}
}

func TestRequestsWithManyKeywordsMakeAnnotationsThatCanBeStored(t *testing.T) {
	var keys []string
	for i := range 10_000 {
		keys = append(keys, fmt.Sprintf("%sq%d", strings.Repeat("x", 60), i))
	}
	keys[7_777], keys[8_888] = "ibm", "news"
	d := document("News", "Of IBM there is news today")
	u := interested(keys...)
	aci := ACI(u, alert(t, u, d), d, 0)
	mustRoundTrip(t, aci)
	k := aci.Explain.Keywords
	if len(k) != MostExplained || k[0].Key != "news" || k[1].Key != "ibm" || k[2].Share != 0 {
		t.Errorf("%d keywords explained, first %+v", len(k), k[:3])
	}
}

// FuzzAnnotation checks that, whatever a page holds, its annotation can be stored and comes back as it is.
func FuzzAnnotation(f *testing.F) {
	f.Add("News", "Of IBM there is news", "https://example.org/a.html", "text/html")
	f.Add("\x00\xff\uFFFE", "\r\x0b ibm", "https://example.org/.%00", "multipart/x")
	f.Add("]]>", "", "not a url \x00", "image/svg+xml")
	u := urd(nil)
	f.Fuzz(func(t *testing.T, title, body, url, mediaType string) {
		d := document(title, body)
		d.MediaType = mediaType
		aci := ACI(u, match.Alert{ID: u.ID, Summary: body, Explanation: match.Explanation{Profile: u.ID}}, d, 0)
		mustRoundTrip(t, aci)
		d.URL = url
		if got := extension(url, mediaType); len(got) > 8 || strings.ContainsFunc(got, func(r rune) bool { return r > 'z' || r < '0' }) {
			t.Errorf("extension %q", got)
		}
	})
}

func TestIDIsThatOfDocumentVersionAndInterest(t *testing.T) {
	d := document("News", "Of IBM there is news today")
	id := func(u *xmlschema.URD, d *webrace.Document) string { return ACI(u, alert(t, u, d), d, 0).ID }
	first := id(interested("ibm"), d)
	again := document("News", "Of IBM there is nothing today")
	again.At, again.Title = again.At.Add(time.Hour), "Renamed"
	if id(interested("ibm"), again) != first {
		t.Error("the same version has another id")
	}
	version, elsewhere, private := *d, *d, *d
	version.Version, elsewhere.URL, private.Secret = 8, "https://example.org/b", "bank"
	unversioned, other := *d, *d
	unversioned.Version, other.Version, other.Digest = 0, 0, webrace.Digest{3}
	if id(interested("ibm"), &unversioned) == id(interested("ibm"), &other) {
		t.Error("two bodies without versions have the same id")
	}
	checked := interested("ibm")
	checked.LastCheck, checked.Timing, checked.Urgency = d.At, time.Hour, 3
	if id(checked, d) != first {
		t.Error("what the interest does not depend on changes the id")
	}
	for name, other := range map[string]string{
		"keyword":     id(interested("ibm", "news"), d),
		"version":     id(interested("ibm"), &version),
		"URL":         id(interested("ibm"), &elsewhere),
		"credentials": id(interested("ibm"), &private),
		"request":     id(urd(func(u *xmlschema.URD) { u.ID, u.Keywords = "u2", interested("ibm").Keywords }), d),
		"change":      id(urd(func(u *xmlschema.URD) { u.Change, u.Keywords = xmlschema.ChangePage, interested("ibm").Keywords }), d),
	} {
		if other == first {
			t.Errorf("another %s has the same id", name)
		}
	}
}

func TestExtensionAndFormat(t *testing.T) {
	for _, c := range []struct{ url, mediaType, extension, format string }{
		{"https://a.org/x.HTM", "text/html", "htm", xmlschema.FormatHTML},
		{"https://a.org/", "text/html", "html", xmlschema.FormatHTML},
		{"https://a.org/a.b/c", "application/xhtml+xml", "html", xmlschema.FormatHTML},
		{"https://a.org/x.tar.gz?y=z.exe", "application/gzip", "gz", xmlschema.FormatBinary},
		{"https://a.org/notes", "text/plain", "txt", xmlschema.FormatText},
		{"https://a.org/feed", "application/rss+xml", "xml", xmlschema.FormatText},
		{"https://a.org/release.20260102030405", "image/png", "", xmlschema.FormatBinary},
		{"https://a.org/mail", "multipart/mixed", "", xmlschema.FormatMultipart},
		{"https://a.org/mail", "message/rfc822", "eml", xmlschema.FormatMultipart},
		{"https://a.org/what", "", "", xmlschema.FormatUnknown},
		{"::", "", "", xmlschema.FormatUnknown},
	} {
		if e, f := extension(c.url, c.mediaType), format(c.mediaType); e != c.extension || f != c.format {
			t.Errorf("%s as %s: %q and %q, want %q and %q", c.url, c.mediaType, e, f, c.extension, c.format)
		}
	}
}
