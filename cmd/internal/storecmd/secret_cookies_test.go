package storecmd

import (
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/credentials"
)

const cookiesTxt = "# Netscape HTTP Cookie File\n\n" +
	".example.org\tTRUE\t/\tTRUE\t0\tsession\tabc\n" +
	"#HttpOnly_forum.example.org\tFALSE\t/\tTRUE\t4102444800\ttoken\tdef\r\n" +
	"forum.example.org\tFALSE\t/\tTRUE\t1000\told\tgone\n" +
	"example.org\tFALSE\t/\tTRUE\t0\tother\tthat host's alone\n" +
	"evil.example\tTRUE\t/\tFALSE\t0\tother\tnot ours\n"

func TestOfACookiesTxtThoseOfTheHostsAreTaken(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"forum.example.org":      "session=abc; token=def",
		"forum.example.org:8443": "session=abc; token=def",
		"example.org":            "session=abc; other=that host's alone",
		"*.example.org":          "session=abc; token=def; other=that host's alone",
		"elsewhere.example":      "",
	} {
		bounds, err := credentials.NewBounds([]string{host}, false)
		if err != nil {
			t.Fatal(err)
		}
		got, err := cookiesOf(credentials.KindCookie, cookiesTxt, bounds)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", host, got, err, want)
		}
	}
	if _, err := cookiesOf(credentials.KindCookie, cookiesTxt, credentials.Bounds{}); err == nil || !strings.Contains(err.Error(), "--host") {
		t.Errorf("without a host: %v", err)
	}
	if got, err := cookiesOf(credentials.KindCookie, "a=1; b=2", credentials.Bounds{}); got != "a=1; b=2" || err != nil {
		t.Errorf("a Cookie field becomes %q, %v", got, err)
	}
}

func FuzzCookieField(f *testing.F) {
	f.Add(cookiesTxt)
	f.Add("a\tTRUE\t/\tTRUE\tx\tb\tc")
	bounds := credentials.Bounds{Hosts: []string{"*.example.org"}}
	f.Fuzz(func(t *testing.T, file string) {
		got, err := cookieField(file, bounds, time.Unix(0, 0))
		if err != nil && got != "" || err == nil && !strings.Contains(got, "=") {
			t.Errorf("%q, %v", got, err)
		}
		for _, cookie := range strings.Split(got, "; ") {
			if !strings.Contains(file, strings.Replace(cookie, "=", "\t", 1)) && strings.Count(cookie, "=") == 1 {
				t.Errorf("%q is not of the file", cookie)
			}
		}
	})
}
