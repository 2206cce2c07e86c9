package usage_test

import (
	"net/http"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/robots"
	"github.com/webrace/webrace/internal/usage"
)

const page = "https://example.org/dir/page"

// stated is where something is stated of a page.
type stated struct {
	fields []string // "Name: value"
	page   string   // HTML
	robots string   // of the host
	file   []string // lines of tdmrep.json, as they are recorded
	path   string   // of the page, if it is another
	agent  string   // if it is another
}

// of reads it as it is read of a document that fetch has got.
func (s stated) of(t testing.TB) usage.Statements {
	t.Helper()
	url := page
	if s.path != "" {
		url = "https://example.org" + s.path
	}
	header := http.Header{}
	for _, field := range s.fields {
		name, value, _ := strings.Cut(field, ": ")
		header.Add(name, value)
	}
	agent := s.agent
	if agent == "" {
		agent = "webrace/1.0 (+https://example.org/contact)"
	}
	for _, line := range robots.Parse([]byte(s.robots)).Agent(agent).Usage(strings.TrimPrefix(url, "https://example.org")) {
		header.Add(webrace.UsageField, usage.Recorded(usage.InRobots, line.Line, line.Text))
	}
	for i, line := range s.file {
		header.Add(webrace.UsageField, usage.Recorded(usage.InTDMRep, i+1, line))
	}
	var root *html.Node
	if s.page != "" {
		var err error
		if root, err = htmltree.Parse([]byte(s.page)); err != nil {
			t.Fatal(err)
		}
	}
	return usage.Of(url, header, root)
}

// outcome writes what follows for each purpose that something is stated of, in the order of [usage.Purposes].
func outcome(all usage.Statements) string {
	var list []string
	for _, p := range usage.Purposes {
		allowed, forbids := all.Allows(p)
		known := false
		for _, s := range all {
			known = known || s.Purpose == p
		}
		switch {
		case !allowed && forbids != nil && forbids.Purpose == p && !forbids.Allowed:
			list = append(list, string(p)+"=n")
		case !allowed || forbids != nil:
			list = append(list, string(p)+" is forbidden by nothing")
		case known:
			list = append(list, string(p)+"=y")
		}
	}
	return strings.Join(list, " ")
}

const (
	mined    = "train-ai=n ai-input=n text-and-data-mining=n"
	minable  = "train-ai=y ai-input=y text-and-data-mining=y"
	nothing  = "train-ai=n ai-input=n search=n text-and-data-mining=n"
	simple   = "User-Agent: *\nAllow: /\nDisallow: /never/\nContent-Usage: train-ai=n\nContent-Usage: /ai-ok/ train-ai=y\n\nUser-Agent: ExampleBot\nAllow: /\nContent-Usage: train-ai=y\n"
	managed  = "# comment\nUser-agent: *\nContent-Signal: search=yes,ai-train=no,use=reference\nAllow: /\n\nUser-agent: Amazonbot\nDisallow: /\n"
	reserved = `<meta name="tdm-reservation" content="1"><meta name="tdm-policy" content="https://provider.com/policies/policy.json">`
)

func TestWhatIsStated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		stated
		want string
	}{
		// draft-ietf-aipref-attach
		{"attach 1.2: the header", stated{fields: []string{"Content-Usage: train-ai=n"}}, "train-ai=n"},
		{"attach 1.2: robots.txt", stated{robots: "User-Agent: *\nAllow: /\nContent-Usage: train-ai=n\n"}, "train-ai=n"},
		{"attach 3.4: the group of all", stated{robots: simple, path: "/test"}, "train-ai=n"},
		{"attach 3.4: the longest path", stated{robots: simple, path: "/ai-ok/test"}, "train-ai=y"},
		{"attach 3.4: the crawler's own group", stated{robots: simple, path: "/test", agent: "ExampleBot"}, "train-ai=y"},
		{"attach 3.1: rules of one path that differ", stated{robots: "User-agent: *\nContent-Usage: /dir/ train-ai=y\nContent-Usage: /dir/ train-ai=n\n"}, "train-ai=n"},
		{"attach 3.1: in the other order", stated{robots: "User-agent: *\nContent-Usage: /dir/ train-ai=n\nContent-Usage: /dir/ train-ai=y\n"}, "train-ai=n"},
		{"attach 3.1: the longest path replaces the shorter one as a whole", stated{robots: "User-agent: *\nContent-Usage: train-ai=n, search=n\nContent-Usage: /dir/ search=y\n"}, "search=y"},
		{"attach 3.1: paths are matched as of Disallow", stated{robots: "User-agent: *\nContent-Usage: /*ge$ train-ai=n\n"}, "train-ai=n"},
		{"attach 3.1: and their end, too", stated{robots: "User-agent: *\nContent-Usage: /*pa$ train-ai=n\n"}, ""},
		{"attach 3.1: escapes are compared", stated{robots: "User-agent: *\nContent-Usage: /%7edir train-ai=n\n", path: "/~dir"}, "train-ai=n"},
		{"attach 3.2: blanks around the name and colon", stated{robots: "User-agent: *\n \tContent-Usage\t : \ttrain-ai=n \t# not search=n\n"}, "train-ai=n"},
		{"attach 3.2: a tab behind the path", stated{robots: "User-agent: *\nContent-usage: /dir\ttrain-ai=n\n"}, "train-ai=n"},
		{"attach 3.2: a path without a preference", stated{robots: "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /dir\n"}, ""},
		{"groups: another crawler's", stated{robots: "User-agent: other\nContent-Usage: train-ai=n\n"}, ""},
		{"groups: ours in place of that of all", stated{robots: "User-agent: *\nContent-Usage: train-ai=n\n\nUser-agent: WebRace\nContent-Usage: search=y\n"}, "search=y"},
		{"groups: ours, in two places", stated{robots: "User-agent: webrace\nContent-Usage: train-ai=n\n\nUser-agent: x\nDisallow: /\n\nUser-agent: webrace\nContent-Usage: search=n\n"}, "train-ai=n search=n"},
		{"groups: ours without any", stated{robots: "User-agent: webrace\nDisallow: /x\n\nUser-agent: *\nContent-Usage: train-ai=n\n"}, ""},
		{"groups: of two crawlers", stated{robots: "User-agent: other\nUser-agent: webrace\nContent-Usage: train-ai=n\n"}, "train-ai=n"},
		{"groups: a rule on usage parts them", stated{robots: "User-agent: other\nContent-Usage: train-ai=n\nUser-agent: webrace\nContent-Usage: search=y\n"}, "search=y"},
		{"groups: without a crawler", stated{robots: "Content-Usage: train-ai=n\n"}, ""},

		// draft-ietf-aipref-vocab
		{"vocab 6: two categories", stated{fields: []string{"Content-Usage: train-ai=y, search=n"}}, "train-ai=y search=n"},
		{"vocab 6.5.1: values that are no tokens", stated{fields: []string{`Content-Usage: train-ai=y, train-ai, search=n, search="n"`}}, ""},
		{"vocab 6.5.2: parameters", stated{fields: []string{"Content-Usage: train-ai;allow=n, train-ai=y"}}, "train-ai=y"},
		{"vocab 6.5.2: parameters alone", stated{fields: []string{`Content-Usage: train-ai;has;parameters="?"`}}, ""},
		{"vocab 6.1: labels are of lower case", stated{fields: []string{"Content-Usage: Train-AI=n"}}, ""},
		{"vocab 6.2: so are values", stated{fields: []string{"Content-Usage: train-ai=N, search=no"}}, ""},
		{"vocab 6.5: what is no dictionary states nothing", stated{fields: []string{"Content-Usage: search=n, train-ai=n;"}}, ""},
		{"vocab 6.4: unknown labels", stated{fields: []string{"Content-Usage: x=n, train-ai=n, y=(a b)"}}, "train-ai=n"},
		{"vocab 6.5.1: two lines are one dictionary", stated{fields: []string{"Content-Usage: train-ai=n", "Content-Usage: train-ai=y"}}, "train-ai=y"},
		{"vocab 5.1: the header allows what robots.txt forbids", stated{fields: []string{"Content-Usage: train-ai=y"}, robots: "User-agent: *\nContent-Usage: train-ai=n"}, "train-ai=n"},
		{"vocab 5.1: the header forbids what robots.txt allows", stated{fields: []string{"Content-Usage: train-ai=n"}, robots: "User-agent: *\nContent-Usage: train-ai=y"}, "train-ai=n"},
		{"vocab 5.1: each category for itself", stated{fields: []string{"Content-Usage: search=y"}, robots: "User-agent: *\nContent-Usage: train-ai=n"}, "train-ai=n search=y"},
		{"vocab-02: ai-use", stated{fields: []string{"Content-Usage: ai-use=n"}}, "ai-input=n"},
		{"vocab-03: the narrower counts more", stated{fields: []string{"Content-Usage: bots=n, search=y"}}, "train-ai=n ai-input=n search=y text-and-data-mining=n"},
		{"vocab-03: a narrower one that forbids", stated{fields: []string{"Content-Usage: train-ai=y, train-genai=n"}}, "train-ai=n"},
		{"vocab-04: ai-output", stated{fields: []string{"Content-Usage: bots=y, ai-output=n"}}, "train-ai=y ai-input=n search=y text-and-data-mining=y"},

		// contentsignals.org, draft-romm-aipref-contentsignals
		{"signals: managed by Cloudflare", stated{robots: managed}, "train-ai=n search=y"},
		{"signals: all", stated{robots: "User-Agent: *\nContent-Signal: ai-train=no, search=yes, ai-input=no\nAllow: /\n"}, "train-ai=n ai-input=n search=y"},
		{"signals: in the header", stated{fields: []string{"Content-Signal: ai-train=yes, search=yes, ai-input=yes"}}, "train-ai=y ai-input=y search=y"},
		{"signals: of any case, with blanks", stated{robots: "User-agent: *\ncontent-signal : AI-Train = No\n"}, "train-ai=n"},
		{"signals: no yes and no", stated{robots: "User-agent: *\nContent-Signal: ai-train=maybe, search, =no, ai-input=n\n"}, ""},
		{"signals: twice", stated{robots: "User-agent: *\nContent-Signal: ai-train=yes, ai-train=no\n"}, "train-ai=n"},
		{"signals: of a path", stated{robots: "User-agent: *\nContent-Signal: ai-train=no\nContent-Signal: /dir/ ai-train=yes\n"}, "train-ai=y"},
		{"signals: beside Content-Usage", stated{robots: "User-agent: *\nContent-Signal: ai-train=no\nContent-Usage: /dir/ train-ai=y\n"}, "train-ai=n"},

		// noai
		{"noai: in the header", stated{fields: []string{"X-Robots-Tag: noai, noimageai"}}, "train-ai=n ai-input=n"},
		{"noai: in the page", stated{page: `<meta name="robots" content="noai, noimageai">`}, "train-ai=n ai-input=n"},
		{"noai: of images alone, for a page", stated{fields: []string{"X-Robots-Tag: noimageai", "Content-Type: text/html"}}, ""},
		{"noai: of images alone, for an image", stated{fields: []string{"X-Robots-Tag: noimageai", "Content-Type: image/png"}}, "train-ai=n ai-input=n"},
		{"noai: for another robot", stated{fields: []string{"X-Robots-Tag: otherbot: noai, noindex"}, page: `<meta name="otherbot" content="noai">`}, ""},
		{"noai: for us", stated{fields: []string{"X-Robots-Tag: otherbot: noindex, webrace: noai"}}, "train-ai=n ai-input=n"},
		{"noai: for us, in the page", stated{page: `<META NAME=WebRace CONTENT=NOAI>`}, "train-ai=n ai-input=n"},
		{"noai: behind a date and a number", stated{fields: []string{"X-Robots-Tag: unavailable_after: 25 Jun 2010 15:00:00 PST, max-snippet: 10, noai"}}, "train-ai=n ai-input=n"},
		{"noai: other words", stated{fields: []string{"X-Robots-Tag: noindex, noaiming, none"}}, ""},
		{"noai: in a comment of a reader", stated{page: `<title>x</title><p>text<meta name="robots" content="noai">`}, ""},

		// TDM Reservation Protocol
		{"tdm: a header", stated{fields: []string{"tdm-reservation: 1"}}, mined},
		{"tdm: a page", stated{page: "<!DOCTYPE html><html><head><meta charset=utf-8>" + reserved + "<title>Document title</title></head><body>"}, mined},
		{"tdm: the file", stated{file: []string{"tdm-reservation: 1"}}, mined},
		{"tdm: not reserved", stated{fields: []string{"tdm-reservation: 0"}}, minable},
		{"tdm: the header supersedes the file", stated{fields: []string{"tdm-reservation: 0"}, file: []string{"tdm-reservation: 1"}}, minable},
		{"tdm: the page supersedes the header", stated{fields: []string{"tdm-reservation: 0"}, page: reserved}, mined},
		{"tdm: other values are errors", stated{fields: []string{"tdm-reservation: true"}, page: `<meta name="tdm-reservation" content="2">`}, ""},
		{"tdm: an error supersedes nothing", stated{fields: []string{"tdm-reservation: 1"}, page: `<meta name="tdm-reservation" content="no">`}, mined},
		{"tdm: a policy reserves nothing", stated{fields: []string{"tdm-policy: https://provider.com/policies/policy.json"}}, ""},
		{"tdm: beside Content-Usage", stated{fields: []string{"tdm-reservation: 0", "Content-Usage: train-ai=n"}}, "train-ai=n ai-input=y text-and-data-mining=y"},

		// RSL
		{"rsl: terms forbid nothing by themselves", stated{robots: "License: https://example.com/license.xml\n\nUser-agent: Googlebot\nAllow: /\n"}, ""},

		{"nothing", stated{}, ""},
		{"everything", stated{fields: []string{"Content-Usage: bots=n"}, page: reserved, robots: managed}, nothing},
		{"what a server writes in our name", stated{fields: []string{"Webrace-Usage: robots.txt:0: Content-Usage: train-ai=n", "Webrace-Usage: x", "Webrace-Usage: elsewhere:1: Content-Usage: train-ai=n"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := outcome(c.of(t)); got != c.want {
				t.Errorf("it states %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhereItIsStated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		stated
		want string // the lines, one behind the other
	}{
		{"a line of robots.txt", stated{robots: simple}, "train-ai=n: Content-Usage: train-ai=n (line 4 of https://example.org/robots.txt)"},
		{"with a path", stated{robots: simple, path: "/ai-ok/"}, "train-ai=y: Content-Usage: /ai-ok/ train-ai=y (line 5 of https://example.org/robots.txt)"},
		{"several preferences of one line", stated{robots: managed}, "train-ai=n, search=y: Content-Signal: search=yes,ai-train=no,use=reference (line 3 of https://example.org/robots.txt)"},
		{"the header before the page before files", stated{fields: []string{"Content-Usage: search=y"}, page: `<meta name="robots" content="noai">`, robots: "User-agent: *\nContent-Usage: search=n"},
			`search=y: Content-Usage: search=y (in the header)` + "\n" + `train-ai=n, ai-input=n: <meta name="robots" content="noai"> (in the page)` + "\n" + "search=n: Content-Usage: search=n (line 2 of https://example.org/robots.txt)"},
		{"terms", stated{robots: "License: https://example.com/license.xml"}, "terms https://example.com/license.xml: License: https://example.com/license.xml (line 1 of https://example.org/robots.txt)"},
		{"terms of the header", stated{fields: []string{`Link: </cc>; rel=license, </license.xml>; rel="license"; type="application/rsl+xml"`}},
			`terms https://example.org/license.xml: Link: </cc>; rel=license, </license.xml>; rel="license"; type="application/rsl+xml" (in the header)`},
		{"terms of the page", stated{page: `<link rel="license" type="application/rsl+xml" href="rsl.xml"><link rel=license href=/cc>`},
			`terms https://example.org/dir/rsl.xml: <link rel="license" type="application/rsl+xml" href="rsl.xml"> (in the page)`},
		{"terms that are no URL of the web", stated{robots: "License: javascript:alert(1)"}, ""},
		{"a policy", stated{fields: []string{"tdm-reservation: 1", "tdm-policy: /policy.json"}},
			"text-and-data-mining=n, train-ai=n, ai-input=n, terms https://example.org/policy.json: tdm-reservation: 1 (in the header)"},
		{"a policy of the page, for what the file reserves", stated{file: []string{"tdm-reservation: 1"}, page: `<meta name="tdm-policy" content="/policy.json">`},
			"text-and-data-mining=n, train-ai=n, ai-input=n, terms https://example.org/policy.json: tdm-reservation: 1 (rule 1 of https://example.org/.well-known/tdmrep.json)"},
		{"no policy of what is free", stated{fields: []string{"tdm-reservation: 0", "tdm-policy: /policy.json"}}, "text-and-data-mining=y, train-ai=y, ai-input=y: tdm-reservation: 0 (in the header)"},
		{"characters that steer a terminal", stated{page: "<meta name=robots content='noai \x1b[2J\u202e\n x'>"}, `train-ai=n, ai-input=n: <meta name="robots" content="noai [2J x"> (in the page)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(c.of(t).Lines(), "\n"); got != c.want {
				t.Errorf("it states\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestAllowsReturnsTheFirstThatForbids(t *testing.T) {
	t.Parallel()
	all := stated{fields: []string{"Content-Usage: train-ai=y", "Content-Signal: ai-train=no"}, robots: simple}.of(t)
	if allowed, by := all.Allows(usage.TrainAI); allowed || by.String() != "train-ai=n: Content-Signal: ai-train=no (in the header)" {
		t.Errorf("%v by %v", allowed, by)
	}
	if allowed, by := all.Allows(usage.Search); !allowed || by != nil {
		t.Errorf("%v by %v", allowed, by)
	}
	if allowed, by := (usage.Statements)(nil).Allows(usage.TrainAI); !allowed || by != nil {
		t.Errorf("of nothing: %v by %v", allowed, by)
	}
}

func TestPagesCallUsByOneName(t *testing.T) {
	t.Parallel()
	all := stated{fields: []string{"X-Robots-Tag: " + extract.DefaultRobotsName + ": noai"}}.of(t)
	if allowed, _ := all.Allows(usage.TrainAI); allowed {
		t.Errorf("what is asked of %s is not asked of us", extract.DefaultRobotsName)
	}
}

func TestTheBodyOfAPage(t *testing.T) {
	t.Parallel()
	const body = "\xff\xfe<\x00m\x00e\x00t\x00a\x00 \x00n\x00a\x00m\x00e\x00=\x00r\x00o\x00b\x00o\x00t\x00s\x00 \x00c\x00o\x00n\x00t\x00e\x00n\x00t\x00=\x00n\x00o\x00a\x00i\x00>\x00"
	for contentType, want := range map[string]string{"text/html": "train-ai=n ai-input=n", "application/xhtml+xml; charset=utf-16": "train-ai=n ai-input=n", "text/plain": "", "": ""} {
		if got := outcome(usage.OfBody(page, nil, []byte(body), contentType)); got != want {
			t.Errorf("as %q it states %q, want %q", contentType, got, want)
		}
	}
	if got := outcome(usage.OfBody(page, http.Header{"Tdm-Reservation": {"1"}}, nil, "application/pdf")); got != mined {
		t.Errorf("a PDF states %q", got)
	}
}

// However much a site writes, what is read of it is bounded.
func TestHostileStatements(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	for name, s := range map[string]stated{
		"a long dictionary":          {fields: []string{"Content-Usage: " + strings.Repeat("a=1, ", 1<<18) + "train-ai=n"}},
		"a long list":                {fields: []string{"Content-Signal: " + strings.Repeat("a=no, ", 1<<18)}},
		"a long text":                {page: `<meta name="robots" content="noai ` + long + `">`},
		"a long text of many bytes":  {page: `<meta name="robots" content="noai ` + strings.Repeat("\u00e9", 1<<18) + `">`},
		"many elements":              {page: strings.Repeat(`<meta name="robots" content="noai">`, 50_000)},
		"many links":                 {page: strings.Repeat(`<link rel="license" type="application/rsl+xml" href="a">`, 50_000)},
		"a long link":                {page: `<link rel="license" type="application/rsl+xml" href="` + long + `">`},
		"many names of robots":       {fields: []string{"X-Robots-Tag: " + strings.Repeat("a:", 1<<19) + "noai"}},
		"many rules":                 {robots: "User-agent: *\n" + strings.Repeat("Content-Usage: train-ai=n\n", 20_000)},
		"many rules of a long path":  {robots: "User-agent: *\n" + strings.Repeat("Content-Usage: /dir/"+strings.Repeat("*", 500)+" train-ai=n\n", 900)},
		"many licenses":              {robots: strings.Repeat("License: https://example.com/a\nLicense: https://example.com/b\n", 8_000)},
		"a long rule":                {robots: "User-agent: *\nContent-Usage: /" + long + " train-ai=n\n"},
		"many groups":                {robots: strings.Repeat("User-agent: webrace\nContent-Usage: train-ai=n\n", 10_000)},
		"many agents":                {robots: strings.Repeat("User-agent: a\n", 20_000) + "User-agent: webrace\nContent-Usage: train-ai=n\n"},
		"terms of a long URL":        {robots: "License: https://example.com/" + strings.Repeat("a", 900)},
		"many policies":              {page: strings.Repeat(`<meta name="tdm-policy" content="/a">`, 50_000) + strings.Repeat(`<meta name="tdm-reservation" content="1">`, 50_000)},
		"a dictionary of many lists": {fields: []string{"Content-Usage: a=" + strings.Repeat("(", 4000)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := s.of(t)
			if len(all) > 128 {
				t.Errorf("%d statements", len(all))
			}
			checkTexts(t, all)
		})
	}
}

func checkTexts(t testing.TB, all usage.Statements) {
	t.Helper()
	for _, s := range all {
		if len(s.Text) > 303 || !utf8.ValidString(s.Text) || strings.ContainsFunc(s.Text, func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) }) {
			t.Errorf("a text of %d bytes: %.400q", len(s.Text), s.Text)
		}
		if s.Terms != "" && !strings.HasPrefix(s.Terms, "http://") && !strings.HasPrefix(s.Terms, "https://") {
			t.Errorf("terms at %q", s.Terms)
		}
	}
}

// FuzzOf wants that a header that forbids is heard, whatever else is stated, and that nothing is stated by what is
// empty.
func FuzzOf(f *testing.F) {
	f.Add("train-ai=n, search=y", "ai-train=no", "noai", `<meta name="robots" content="noai">`, simple)
	f.Add(`a="`, "x=yes,,", "a:b:noai", reserved, managed)
	f.Add("bots=?1;x", "=", "unavailable_after: x, noai", `<link rel=license type=application/rsl+xml href=//[>`, "User-agent: *\nContent-Usage: /* *=y\nLicense: :")
	f.Fuzz(func(t *testing.T, preference, signal, tag, page, robotsTxt string) {
		s := stated{fields: []string{"Content-Usage: " + preference, "Content-Signal: " + signal, "X-Robots-Tag: " + tag}, page: page, robots: robotsTxt}
		if len(page) > 1<<20 {
			return
		}
		all := s.of(t)
		checkTexts(t, all)
		if len(all) > 128 {
			t.Errorf("%d statements", len(all))
		}
		for _, p := range usage.Purposes {
			forbidden := false
			for _, each := range all {
				forbidden = forbidden || each.Purpose == p && !each.Allowed
			}
			if allowed, by := all.Allows(p); allowed == forbidden || forbidden && by.Purpose != p {
				t.Errorf("%s: %v by %v, of %v", p, allowed, by, all)
			}
		}
		s.fields = append(s.fields, "X-Robots-Tag: noai")
		if allowed, by := s.of(t).Allows(usage.TrainAI); allowed || by == nil {
			t.Errorf("noai is not heard beside %q", s)
		}
	})
}
