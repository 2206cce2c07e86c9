package normalize

import (
	"reflect"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline/stagetest"
)

// led is where a document led on its level, and what its visit keeps of that.
func led(r result) (same []webrace.Links, visit webrace.Visit) {
	for _, v := range r.Out["links"] {
		if l := v.(*webrace.Links); l.Via != webrace.ViaLink {
			same = append(same, *l)
		}
	}
	for _, learned := range r.Outcomes[0].Learned {
		learned.(webrace.Learned)(&visit)
	}
	return same, visit
}

func steps(d *webrace.Document, urls ...string) (all []webrace.Links) {
	vias := []webrace.Via{webrace.ViaRefresh, webrace.ViaCanonical}
	for i, u := range urls {
		if u != "" {
			all = append(all, webrace.Links{From: here, Reach: d.Reach, Via: vias[i], Redirects: d.Redirects + 1, URLs: []string{u}})
		}
	}
	return all
}

func TestWhereADocumentLeadsOnItsLevel(t *testing.T) {
	const refresh, canonical = `<meta http-equiv=refresh content="0;url=/next">`, `<link rel=canonical href="/canon">`
	const next, canon = "https://example.org/next", "https://example.org/canon"
	ignore := with(func(o *Options) { o.Canonical = ignoreCanonical })
	for name, c := range map[string]struct {
		options            Options
		in                 *webrace.Document
		refresh, canonical string // as kept
		sent               []string
		links              []string
	}{
		"both, before the links": {defaults, page(refresh + canonical + `<a href="/next">here</a>`), next, canon, []string{next, canon}, []string{next}},
		"the same":               {defaults, page(refresh + `<link rel=canonical href="/next">`), next, next, []string{next}, nil},
		"to itself":              {defaults, page(`<meta http-equiv=refresh content="0;#x"><link rel=canonical href="page?utm_source=x">`), "", "", nil, nil},
		"ignored":                {ignore, page(refresh + canonical), next, canon, []string{next}, nil},
		"ignored, the same":      {ignore, page(refresh + `<link rel=canonical href="/next">`), next, next, []string{next}, nil},
		"nofollow":               {defaults, page(refresh+canonical, "X-Robots-Tag", "nofollow"), "", "", nil, nil},
		"nofollow in itself":     {defaults, page(refresh + canonical + `<meta name=robots content=nofollow>`), "", "", nil, nil},
		"noindex":                {defaults, page(refresh + canonical + `<meta name=robots content=noindex>`), next, canon, []string{next, canon}, nil},
		"dwells":                 {defaults, page(`<meta http-equiv=refresh content="60;/next">`), "", "", nil, []string{next}},
		"header":                 {defaults, page(`text`, "Link", `</canon>; rel=canonical`), "", canon, []string{"", canon}, nil},
		"Refresh":                {defaults, page("text", "Refresh", "0; url=/next"), next, "", []string{next}, nil},
		"Refresh as it is sent":  {defaults, page("text", "Refresh", `5,URL='/next?utm_source=x'`), next, "", []string{next}, nil},
		"Refresh goes first":     {defaults, page(`<meta http-equiv=refresh content="0;/other">`, "Refresh", "0;/next"), next, "", []string{next}, nil},
		"Refresh that dwells":    {defaults, page(`<a href="/next">x</a>`, "Refresh", "300; url=/later"), "", "", nil, []string{next, "https://example.org/later"}},
		"Refresh of itself":      {defaults, page("text", "Refresh", "10"), "", "", nil, nil},
		"Refresh, nofollow":      {defaults, page("text", "Refresh", "0;/next", "X-Robots-Tag", "nofollow"), "", "", nil, nil},
		"Refresh of no web page": {defaults, page("text", "Refresh", "0;mailto:x@y"), "", "", nil, nil},
		"no web page":            {defaults, page(`<meta http-equiv=refresh content="0;mailto:x@y"><link rel=canonical href="urn:x">`), "", "", nil, nil},
	} {
		c.in.Redirects = 4
		r := try(t, c.options, c.in)
		same, visit := led(r)
		if want := steps(c.in, c.sent...); !reflect.DeepEqual(same, want) {
			t.Errorf("%s: led to %+v, want %+v", name, same, want)
		}
		if visit.Refresh != c.refresh || visit.Canonical != c.canonical {
			t.Errorf("%s: keeps %q, %q", name, visit.Refresh, visit.Canonical)
		}
		var links []string // are the last that goes out
		if len(r.Out["links"]) > len(same) {
			links = r.urls()
		}
		if !reflect.DeepEqual(links, c.links) {
			t.Errorf("%s: links %q, want %q", name, links, c.links)
		}
		if n := r.Counters["refreshes"] + r.Counters["canonical"]; int(n) != len(same) {
			t.Errorf("%s: %v", name, r.Counters)
		}
	}
}

func TestADocumentThatIsNotFetchedAgainLeadsWhereItLed(t *testing.T) {
	in := page("")
	in.Outcome, in.Body, in.Redirects = webrace.NotModified, nil, 2
	in.Visit = &webrace.Visit{Version: 3, Refresh: "https://example.org/next", Canonical: "https://example.org/canon"}
	r := try(t, defaults, in)
	if same, _ := led(r); !reflect.DeepEqual(same, steps(in, in.Visit.Refresh, in.Visit.Canonical)) || r.document != in {
		t.Errorf("led to %+v, and passed %+v", same, r.document)
	}
	r = try(t, with(func(o *Options) { o.Canonical = ignoreCanonical }), in)
	if same, _ := led(r); !reflect.DeepEqual(same, steps(in, in.Visit.Refresh)) {
		t.Errorf("ignored: led to %+v", same)
	}
	in.Visit.Version = 0
	if r = try(t, defaults, in); len(r.Out["links"]) != 2 || r.document != nil {
		t.Errorf("of a document that was not kept: %+v", r.Out)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	if err := with(func(o *Options) { o.Canonical = "merge" }).Validate(); err == nil {
		t.Error("canonical = merge is taken")
	}
	stagetest.Run(t, stagetest.Case{Type: "normalize", Inputs: []any{
		page(`<meta http-equiv=refresh content="0;/next"><link rel=canonical href=/canon>`),
		&webrace.Document{URL: here, Outcome: webrace.Fresh, Visit: &webrace.Visit{Version: 1, Refresh: "https://example.org/next"}},
	}})
}
