package scope

import (
	"slices"
	"testing"
)

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		patterns  []string
		take, not []string
	}{
		{nil, []string{"text/html", "image/png", ""}, nil},
		{[]string{"text/*", "application/xhtml+xml"}, []string{"text/html", "text/plain", "application/xhtml+xml", ""}, []string{"image/png", "application/xml", "textual/html", "text"}},
		{[]string{"!image/svg+xml", "*+xml", "Text/HTML"}, []string{"application/atom+xml", "text/html"}, []string{"image/svg+xml", "text/plain", "xml"}},
		{[]string{"!image/*", "!video/*"}, []string{"text/html", "application/pdf"}, []string{"image/png", "video/mp4"}},
		{[]string{"image/png", "!image/*", "*/*"}, []string{"image/png", "text/html", "nonsense"}, []string{"image/gif"}},
		{[]string{"!*"}, []string{""}, []string{"text/html"}},
	} {
		m, err := ParseMediaTypes(tt.patterns)
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range slices.Concat(tt.take, tt.not) {
			taken, because := m.Take(of)
			if taken != slices.Contains(tt.take, of) || because != "" && !slices.Contains(tt.patterns, because) {
				t.Errorf("%q of %q is taken: %v (%q)", of, tt.patterns, taken, because)
			}
		}
	}
	for _, bad := range []string{"", "!", "text", "text/", "/html", "te*t/html", "text/ht*", "text/html; charset=utf-8", "*+", "text/html,text/plain"} {
		if _, err := ParseMediaTypes([]string{bad}); err == nil {
			t.Errorf("%q is taken for a media type", bad)
		}
	}
}

func TestExtensions(t *testing.T) {
	t.Parallel()
	set, err := ParseExtensions([]string{"png", ".CSS", "woff2"})
	if err != nil {
		t.Fatal(err)
	}
	g := NewGate(nil)
	g.Ignore = set
	for path, want := range map[string]string{
		"/x.png": "png", "/x.PNG?y": "PNG", "/d/x.tar.css": "css", "/x.woff2#z": "woff2",
		"/.png": "", "/x.png/": "", "/x.pngx": "", "/png": "", "/x.": "", "": "", "/x.html?a.png": "", "/x.png/index": "", "/x.morethaneight": "",
	} {
		u := "http://a.png" + path
		if got, ignored := g.Explain(u).Extension, g.Judge(u) == IgnoredType; got != want || ignored != (want != "") {
			t.Errorf("%s: %q, %v, want %q", path, got, ignored, want)
		}
	}
	for _, bad := range []string{"", ".", "tar.gz", "a/b", "ninechars", "*"} {
		if _, err := ParseExtensions([]string{bad}); err == nil {
			t.Errorf("%q is taken for an extension", bad)
		}
	}
}
