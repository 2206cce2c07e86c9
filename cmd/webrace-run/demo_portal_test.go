package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
)

// Each of the three owners gets in by the link that the demo prints, the second time as well, and finds what they were
// told; the demo ends as it was meant to.
func TestDemoOpensTheWebApplication(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for _, password := range []string{"the first time", "the second time"} {
		p := startCommand(t, "demo", "--serve", "--data", data)
		p.waitUntil("the web application is open")
		links := regexp.MustCompile(`(?m)^  (\w+) +(http://127\.0\.0\.1:\d+)(/in/\w+)$`).FindAllStringSubmatch(p.said(), -1)
		if len(links) != 3 {
			t.Fatalf("there are %d links, want one for each of three:\n%s", len(links), p.said())
		}
		for _, link := range links {
			inbox := enterByLink(t, link[2], link[3], password)
			if told := strings.Count(inbox, `class="row unread"`); told < 3 {
				t.Errorf("%s finds %d annotations in their inbox, want some: %s", link[1], told, inbox)
			}
		}
		p.signal(os.Interrupt)
		p.mustExit(cli.OK)
	}
}

// enterByLink sets a password by a link of a web application, and returns the page that this leads to.
func enterByLink(t *testing.T, at, link, password string) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at+link, strings.NewReader(url.Values{"password": {password}, "again": {password}}.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	got, err := (&http.Client{Jar: jar}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode != http.StatusOK {
		t.Fatalf("%s gave %s, %v: %s", link, got.Status, err, body)
	}
	return string(body)
}
