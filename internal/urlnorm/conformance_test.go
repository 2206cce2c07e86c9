package urlnorm

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheStandardsOwnCasesPass runs the cases by which the URL standard is tested, as they come with the
// parser's module, through Parse and Resolve. What differs is what this package documents beyond the
// standard, and no more.
func TestTheStandardsOwnCasesPass(t *testing.T) {
	t.Parallel()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/nlnwa/whatwg-url").Output()
	if err != nil {
		t.Skipf("the parser's module is not at hand: %v", err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "testdata", "urltestdata.json"))
	if err != nil {
		t.Skipf("the parser's module came without its cases: %v", err)
	}
	var all []json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	of := 0
	for _, raw := range all {
		var c standardCase
		if json.Unmarshal(raw, &c) != nil { // a comment
			continue
		}
		if want, ok := c.wanted(); ok {
			of++
			c.check(t, want)
		}
	}
	t.Logf("%d cases", of)
	if of < 400 {
		t.Errorf("only %d cases of %d concern this package", of, len(all))
	}
}

type standardCase struct {
	Input, Href string
	Base        *string
	Failure     bool
}

// wanted returns what this package is to make of a case, nothing if it is to refuse it. A base that is
// neither http nor https is none of a crawler's.
func (c standardCase) wanted() (href string, ok bool) {
	if c.Base != nil && *c.Base != "about:blank" && !strings.HasPrefix(strings.ToLower(*c.Base), "http") {
		return "", false
	}
	if c.Failure || !strings.HasPrefix(c.Href, "http://") && !strings.HasPrefix(c.Href, "https://") {
		return "", true
	}
	href, _, _ = strings.Cut(c.Href, "#")
	scheme, rest, _ := strings.Cut(href, "://")
	end := strings.IndexAny(rest, "/?")
	host := rest[:end]
	host = host[strings.LastIndexByte(host, '@')+1:]
	return escapeBarePercent(scheme + "://" + host + rest[end:]), true
}

func (c standardCase) check(t *testing.T, want string) {
	t.Helper()
	var got string
	var err error
	if c.Base == nil || *c.Base == "about:blank" {
		got, err = Parse(c.Input)
	} else {
		var base *Base
		if base, err = NewBase(*c.Base); err == nil {
			got, err = base.Resolve([]byte(c.Input))
		}
	}
	if got != want || (err == nil) != (want != "") {
		base := ""
		if c.Base != nil {
			base = *c.Base
		}
		t.Errorf("%q on %q is %q, %v; the standard has %q", c.Input, base, got, err, want)
	}
}
