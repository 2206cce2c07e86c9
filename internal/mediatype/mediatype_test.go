package mediatype

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		"text/html": "text/html", "TEXT/HTML;charset=utf-8": "text/html", " text/html\t; charset": "text/html", "application/ld+json": "application/ld+json",
		"text/html;": "text/html", "x/y;;;=": "x/y",
		"": "", "html": "", "text/": "", "/html": "", "text": "", "text/html/x": "", "text/html, text/html": "", "te xt/html": "", "*/*": "", "none;charset=utf-8": "",
		"text html": "", "text/ht ml": "", "téxt/html": "", ";": "", "text/html<script>": "",
	} {
		if got := Of(field); got != want {
			t.Errorf("%q: %q, want %q", field, got, want)
		}
	}
}

// FuzzOf: what is a media type is one again, and is two tokens.
func FuzzOf(f *testing.F) {
	f.Add("text/html; charset=utf-8")
	f.Add("html")
	f.Fuzz(func(t *testing.T, field string) {
		got := Of(field)
		if Of(got) != got || got != "" && (strings.Count(got, "/") != 1 || strings.ContainsAny(got, " ;,\t") || got != strings.ToLower(got)) {
			t.Errorf("%q: %q", field, got)
		}
	})
}
