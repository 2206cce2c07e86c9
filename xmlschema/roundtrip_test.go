package xmlschema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// generator makes valid values at random, of all that XML makes difficult.
type generator struct{ *rand.Rand }

func newGenerator(seed uint64) generator { return generator{rand.New(rand.NewPCG(seed, 1))} }

var pieces = []string{
	"a", "java", " ", "  ", "\t", "\n", "\r", "\r\n", "<", ">", "&", "\"", "'", "]]>", "-->", "<!--", "&amp;", "&#10;", "é", "λόγος", "𝄞",
	"\u00a0", "\u2028", "\ufffd", "«", "»", "x:y", "*", "http://a.example/?a=1&b=2", "\u0085",
}

func (g generator) text() string {
	var b strings.Builder
	for range g.IntN(5) {
		b.WriteString(pieces[g.IntN(len(pieces))])
	}
	return b.String()
}

func (g generator) some() string {
	for {
		if s := g.text(); trim(s) != "" {
			return s
		}
	}
}

// word has no white space around it.
func (g generator) word() string { return trim(g.some()) }

func (g generator) name() string {
	if g.IntN(4) == 0 {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if r < 0x80 && isSpace(byte(r)) {
			return '_'
		}
		return r
	}, g.some())
}

func (g generator) one(values ...string) string { return values[g.IntN(len(values))] }

func (g generator) time() time.Time {
	if g.IntN(3) == 0 {
		return time.Time{}
	}
	return time.Unix(g.Int64N(4e10)-2e10, g.Int64N(1e9)).UTC()
}

func (g generator) group(depth int) Group {
	group := Group{Match: g.one(MatchAny, MatchAll, MatchNone)}
	for range 1 + g.IntN(3) {
		group.Keywords = append(group.Keywords, Keyword{Key: g.some(), Weight: 1 + g.IntN(5), Exact: g.IntN(2) == 0, Match: g.one(MatchWord, MatchSubstring)})
	}
	for depth < 3 && g.IntN(3) == 0 {
		group.Groups = append(group.Groups, g.group(depth+1))
	}
	return group
}

func (g generator) urd() *URD {
	u := NewURD(g.name(), "http://a.example/"+strings.Map(func(r rune) rune {
		if r <= ' ' {
			return -1
		}
		return r
	}, g.text()))
	u.ID, u.Remember, u.Paused = g.name(), g.IntN(MostRemembered+1), g.IntN(3) == 0
	if g.IntN(2) == 0 {
		u.Title = g.one("News", " News <of> \"Levanda\" & 'more' ", strings.Repeat("é", LongestTitle))
	}
	if g.IntN(2) == 0 {
		u.Labels = []string{"<a&b>", "boats", "work", strings.Repeat("é", LongestLabel)}[g.IntN(4):]
	}
	u.Timing = time.Duration(g.Int64N(1 << g.IntN(63)))
	if g.IntN(4) == 0 {
		u.Timing, u.At = 0, g.one("0 8 * * 1-5 Europe/Athens", "*/5 * * * *", "0 0 1,15 JAN-jun/2 7 America/Port-au-Prince")
	}
	u.LastCheck = g.time()
	u.Port, u.Login, u.Secret, u.Group = g.IntN(65536), g.text(), g.name(), g.text()
	u.Protocol = g.one(ProtocolHTTP, ProtocolPOP3, ProtocolIMAP, ProtocolNNTP, ProtocolFeed, ProtocolDB, "x:gopher-7")
	if u.Protocol != ProtocolHTTP && u.Protocol != ProtocolFeed {
		u.URI = g.word()
	}
	u.Method, u.ProcessType = g.one(MethodPull, MethodPush), g.one(ProcessFilter, ProcessNonFilter)
	u.Change = g.one(ChangeAdded, ChangePage, ChangeFirst)
	if g.IntN(4) > 0 {
		top := g.group(0)
		u.Keywords = Keywords{Threshold: g.IntN(101), Match: top.Match, Keywords: top.Keywords, Groups: top.Groups}
	}
	for range g.IntN(3) {
		u.Select = append(u.Select, g.ruleOf(ruleLanguages...))
	}
	if len(u.Select) > 0 && g.IntN(3) == 0 {
		u.Select[len(u.Select)-1].When = g.one("number < 100", "change > 0.05 && last != \"<é>\"\n")
	}
	for range g.IntN(3) {
		u.Ignore = append(u.Ignore, g.ruleOf(RuleCSS, RuleXPath, RuleJQ, RuleRegex))
	}
	if g.IntN(3) == 0 {
		u.Ask = g.one("Is a deadline moved?", "<é> & \"more\"", strings.Repeat("é", LongestQuestion))
	}
	u.Depth, u.Scope, u.Urgency = g.IntN(5), g.one(ScopeHost, ScopeDomain, ScopePrefix, ScopeAny), 1+g.IntN(3)
	return u
}

func (g generator) ruleOf(languages ...string) Rule {
	texts := map[string][]string{
		RuleCSS:    {"p", "a[title='<é>\n\t&\"']", "div > .x, #y:not(b)"},
		RuleXPath:  {"//p", "//a[@href='λ' and . = \"]]>\"]", "/html/body//text()"},
		RuleJQ:     {".a", ".items[] | select(.x < 3 and .y == \"é\")", "\"\\(.a) & b\""},
		RuleSPARQL: {"{ ?p a schema:Offer ; schema:price ?n FILTER(?n < 100) }", "SELECT ?é { ?é ?b \"<&'\"@el }\nORDER BY ?é"},
		RuleRegex:  {"a|b", "(?i)\\d+ <readers> & 'more' \r\n\t", "\\pL{2,}  "},
		RulePart:   {"main"},
	}
	language := g.one(languages...)
	return Rule{Language: language, Text: g.one(texts[language]...)}
}

func (g generator) aci() *ACI {
	a := &ACI{
		ID: g.name(), URD: g.name(), Owner: g.name(), URI: g.word(), Thread: g.text(), Title: g.text(), Extension: g.text(),
		Format:    g.one(FormatText, FormatHTML, FormatBinary, FormatMultipart, FormatUnknown),
		Relevance: g.IntN(101), UpdateTime: g.time(), FileSize: g.IntN(1 << 40), Urgency: 1 + g.IntN(3),
		Docbase: Docbase{Digest: g.text(), Version: g.IntN(3), Since: g.IntN(3), Likeness: g.Uint64() >> g.IntN(65), Shown: g.Uint64() >> g.IntN(65), Matched: g.Uint64() >> g.IntN(65), Name: trim(g.text())}, Expired: g.IntN(2) == 0, Summary: g.text(),
	}
	if g.IntN(2) == 0 {
		a.Explain = &Explain{Relevance: g.IntN(101), Threshold: g.IntN(101)}
		for range g.IntN(3) {
			a.Explain.Keywords = append(a.Explain.Keywords, KeywordShare{
				Key: g.some(), Weight: 1 + g.IntN(5), Title: g.IntN(2), Heading: g.IntN(2), Body: g.IntN(9), Navigation: g.IntN(2),
				Saturation: g.Float64(), Share: g.Float64() / 1e9,
			})
		}
	}
	if g.IntN(4) > 0 {
		return a // most have nothing beside
	}
	a.Docbase.Secret = g.name()
	if g.IntN(2) == 0 {
		a.Judgement = &Judgement{Question: g.one("", "<é> & \"more\""), Answer: g.one(AnswerNone, AnswerYes, AnswerNo), Reason: g.text(), Model: g.text()}
	}
	for range g.IntN(3) {
		a.Also.Documents = append(a.Also.Documents, Mirror{g.word(), g.IntN(3)})
	}
	a.Also.Count = len(a.Also.Documents) * (1 + g.IntN(3))
	for range g.IntN(3) {
		if a.Values == nil {
			a.Values = make(map[string]string)
		}
		a.Values["n"+g.name()] = g.text()
	}
	return a
}

func (g generator) meta() *Meta {
	m := &Meta{
		URL: g.word(), IP: g.one("", "194.42.7.2", "2001:db8::1"), Status: 100 + g.IntN(900), Size: g.IntN(1 << 40),
		ETag: g.text(), LastModified: g.text(), Fetched: g.time(),
	}
	for range g.IntN(4) {
		m.Header = append(m.Header, HeaderField{g.some(), g.text()})
		m.Links = append(m.Links, g.some())
	}
	return m
}

func (g generator) profile() *Profile {
	optional := func() string { return g.one("", g.some()) }
	return &Profile{
		Owner: g.some(), State: g.one(profileStates...), Created: g.time(), Name: optional(), Mail: optional(), Language: optional(), Zone: optional(),
	}
}

func readURD(b []byte) (*URD, error)   { return NewDecoder(bytes.NewReader(b)).URD() }
func readACI(b []byte) (*ACI, error)   { return NewDecoder(bytes.NewReader(b)).ACI() }
func readMeta(b []byte) (*Meta, error) { return NewDecoder(bytes.NewReader(b)).Meta() }

type stored interface {
	Canonical() []byte
	Validate() error
}

func TestWhatIsWrittenReadsTheSame(t *testing.T) {
	t.Parallel()
	check := func(seed uint64, kind string, value, back stored, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s %d: %v\n%s", kind, seed, err, value.Canonical())
		}
		if !reflect.DeepEqual(value, back) {
			t.Fatalf("%s %d: %s\n%s", kind, seed, cmp.Diff(value, back), value.Canonical())
		}
		if err := value.Validate(); err != nil {
			t.Fatalf("%s %d: valid, but %v", kind, seed, err)
		}
	}
	for seed := range uint64(orInShort(1200, 150)) {
		g := newGenerator(seed)
		u := g.urd()
		backURD, err := readURD(u.Canonical())
		check(seed, "urd", u, backURD, err)
		a := g.aci()
		backACI, err := readACI(a.Canonical())
		check(seed, "aci", a, backACI, err)
		m := g.meta()
		backMeta, err := readMeta(m.Canonical())
		check(seed, "meta", m, backMeta, err)
		p := g.profile()
		backProfile, err := NewDecoder(bytes.NewReader(p.Canonical())).Profile()
		check(seed, "profile", p, backProfile, err)
	}
}

func TestListsReadTheSame(t *testing.T) {
	t.Parallel()
	g := newGenerator(7)
	var urds URDs
	var acis ACIs
	for i := range 200 {
		u, a := g.urd(), g.aci()
		u.ID, a.ID = fmt.Sprint(i), fmt.Sprint(i)
		urds, acis = append(urds, u), append(acis, a)
	}
	d := NewDecoder(bytes.NewReader(urds.Canonical()))
	var backURDs URDs
	for u := range d.URDs() {
		backURDs = append(backURDs, u)
	}
	if err := d.Err(); err != nil || !reflect.DeepEqual(urds, backURDs) {
		t.Errorf("%v %s", err, cmp.Diff(urds, backURDs))
	}
	d = NewDecoder(bytes.NewReader(acis.Canonical()))
	var backACIs ACIs
	for a := range d.ACIs() {
		backACIs = append(backACIs, a)
	}
	if err := d.Err(); err != nil || !reflect.DeepEqual(acis, backACIs) {
		t.Errorf("%v %s", err, cmp.Diff(acis, backACIs))
	}
}

func TestEmptyFieldsReadAsDefaults(t *testing.T) {
	t.Parallel()
	u := &URD{URI: "http://a.example/", Depth: 1, LastCheck: time.Now(), Keywords: Keywords{Threshold: 20}}
	if err := u.Validate(); err != nil {
		t.Fatal(err)
	}
	want := NewURD("", "http://a.example/")
	want.LastCheck = u.LastCheck.UTC().Round(0)
	got, err := readURD(u.Canonical())
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v %s", err, cmp.Diff(want, got))
	}
	a := &ACI{URI: "a", UpdateTime: time.Now()}
	if err := a.Validate(); err != nil {
		t.Error(err)
	}
}

func TestValidateRefusesWhatWritingWouldChange(t *testing.T) {
	t.Parallel()
	cases := map[string]stored{
		"no uri":            &URD{},
		"negative timing":   &URD{URI: "*", Timing: -1},
		"negative depth":    &URD{URI: "*", Depth: -1},
		"weight":            &URD{URI: "*", Keywords: Keywords{Keywords: []Keyword{{Key: "a"}}}},
		"control character": &ACI{URI: "a", Summary: "bell \a"},
		"not UTF-8":         &ACI{URI: "a", Title: "caf\xe9"},
		"space around":      &ACI{URI: " a"},
		"relevance":         &ACI{URI: "a", Relevance: 101},
		"share":             &ACI{URI: "a", Explain: &Explain{Keywords: []KeywordShare{{Key: "a", Weight: 1, Share: 2}}}},
		"header":            &Meta{URL: "u", Header: []HeaderField{{"X", "\x00"}}},
		"long link":         &Meta{URL: "u", Links: []string{strings.Repeat("x", MaxAttribute+1)}},
		"owner":             &Profile{Name: "Eleni"},
		"state":             &Profile{Owner: "eleni", State: "asleep"},
		"blank":             &Profile{Owner: "eleni", Zone: " "},
		"year":              &Meta{URL: "u", Fetched: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
	}
	for name, value := range cases {
		if value.Validate() == nil {
			t.Errorf("%s: accepted: %s", name, value.Canonical())
		}
	}
}

func TestCanonicalFormFollowsTheDocumentedExample(t *testing.T) {
	t.Parallel()
	u := NewURD("csyiazt1", "http://www.cs.ucy.ac.cy/default.html")
	u.ID, u.Timing, u.Depth = "u42", 10*time.Minute, 4
	u.LastCheck = time.Date(2001, 1, 6, 8, 25, 0, 0, time.UTC)
	u.Keywords = NewKeywords(Keyword{Key: "ibm", Weight: 1}, Keyword{Key: "java", Weight: 4})
	const want = `<urd xmlns="urn:webrace:1" id="u42" owner="csyiazt1">` +
		`<uri timing="10m" lastcheck="2001-01-06T08:25:00Z">http://www.cs.ucy.ac.cy/default.html</uri>` +
		`<type protocol="http" method="pull" processtype="filter"/>` +
		`<keywords match="any" threshold="20"><keyword key="ibm" weight="1"/><keyword key="java" weight="4"/></keywords>` +
		`<depth level="4"/><urgency urgent="1"/></urd>`
	if got := string(u.Canonical()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWritersTellWhatTheyWroteAndWhyNot(t *testing.T) {
	t.Parallel()
	u, a, m := NewURD("a", "*"), &ACI{URI: "a"}, &Meta{URL: "u"}
	for name, w := range map[string]io.WriterTo{"urd": u, "aci": a, "meta": m, "urds": URDs{u, u}, "acis": ACIs{a}} {
		var b bytes.Buffer
		n, err := w.WriteTo(&b)
		if want := w.(interface{ Canonical() []byte }).Canonical(); err != nil || n != int64(len(want)) || !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s: %d, %v: %s", name, n, err, b.Bytes())
		}
		r, full := io.Pipe()
		r.Close()
		if _, err := w.WriteTo(full); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: %v", name, err)
		}
	}
	many := func(yield func(*URD) bool) {
		for i := 0; yield(u); i++ {
			if i > 1<<20 {
				t.Error("a failed writer is written to for ever")
				return
			}
		}
	}
	r, full := io.Pipe()
	r.Close()
	if _, err := WriteURDs(full, many); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a list without end: %v", err)
	}
}

// A profile that is found valid is read as it was written.
func FuzzProfilesReadTheSame(f *testing.F) {
	f.Add("eleni", "active", "Eleni <&> 'E'", "eleni@a.example", "el", "Europe/Athens")
	f.Add(" ", "", "\x00", "\r\n", "\xff", "]]>")
	f.Fuzz(func(t *testing.T, owner, state, name, mail, language, zone string) {
		p := &Profile{Owner: owner, State: state, Name: name, Mail: mail, Language: language, Zone: zone}
		back, err := NewDecoder(bytes.NewReader(p.Canonical())).Profile()
		if p.State == "" {
			p.State = profileStates[0]
		}
		if valid := p.Validate() == nil; valid != (err == nil && reflect.DeepEqual(back, p)) {
			t.Fatalf("valid: %v, and read is %+v, %v:\n%s", valid, back, err, p.Canonical())
		}
	})
}

func FuzzAcceptedDocumentsHaveAFixpoint(f *testing.F) {
	addCases(f)
	f.Fuzz(func(t *testing.T, document []byte) {
		first := readAny(document)
		if first.err != nil {
			if _, ok := first.err.(Problems); !ok {
				t.Fatalf("the error of a document is no list of problems: %v", first.err)
			}
			return
		}
		second := readAny(first.canonical)
		if second.err != nil {
			t.Fatalf("the canonical form is refused: %v\n%s", second.err, first.canonical)
		}
		if !bytes.Equal(first.canonical, second.canonical) {
			t.Fatalf("the canonical form changes\n%s\n%s", first.canonical, second.canonical)
		}
	})
}

// orInShort is so many, or so many in short mode: what runs in one goroutine the race detector need not see in full.
func orInShort(full, short int) int {
	if testing.Short() {
		return short
	}
	return full
}
