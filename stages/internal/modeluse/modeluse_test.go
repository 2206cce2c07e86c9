package modeluse

import (
	"net/http"
	"strings"
	"testing"
)

// What forbids that a page is given to a model is told with where it stands; what forbids something else is not.
func TestForbidden(t *testing.T) {
	t.Parallel()
	html := http.Header{"Content-Type": {"text/html"}}
	for _, c := range []struct {
		header    http.Header
		body, say string
	}{
		{html, "<p>nothing", ""},
		{http.Header{"Content-Usage": {"train-ai=n, search=n"}}, "", ""},
		{http.Header{"Content-Signal": {"ai-input=no"}}, "", "Content-Signal: ai-input=no (in the header)"},
		{http.Header{"Webrace-Usage": {"robots.txt:3: Content-Usage: ai-use=n"}}, "", "line 3 of https://a.example/robots.txt"},
		{html, `<head><meta name="tdm-reservation" content="1"></head>`, "in the page"},
		{nil, `<head><meta name="tdm-reservation" content="1"></head>`, "in the page"},
	} {
		said := Forbidden("https://a.example/x", c.header, []byte(c.body), "text/html")
		if (said == "") != (c.say == "") || !strings.Contains(said, c.say) {
			t.Errorf("%v %s: %q, want %q", c.header, c.body, said, c.say)
		}
	}
}
