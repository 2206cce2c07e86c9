package portal

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/channel"
)

// read returns the files of a pattern, in one.
func read(t *testing.T, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v, %v", pattern, names, err)
	}
	var b strings.Builder
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(content)
	}
	return b.String()
}

// used are the patterns by which keys are named in templates and handlers, and what keys each makes of what it finds.
var used = []struct {
	find  *regexp.Regexp
	makes []string // of the groups, as $1
}{
	{regexp.MustCompile(`\bt "([a-z_.]+)"`), []string{"$1"}},
	{regexp.MustCompile(`\btext\("([a-z_.]+)"[,)]`), []string{"$1"}},
	{regexp.MustCompile(`\bcounted(?: |\()"([a-z_.]+)"`), []string{"$1.one", "$1.many"}},
	{regexp.MustCompile(`\bfield [.$A-Za-z]+ "([a-z_]+)" "([a-z_]+)" "`), []string{"$1.$2"}},
	{regexp.MustCompile(`\bnewField\([^"]*"([a-z_]+)", "([a-z_]+)", "`), []string{"$1.$2"}},
	{regexp.MustCompile(`\brefuse\([^"]*"([a-z_.]+)"`), []string{"$1"}},
	{regexp.MustCompile(`\bkey: +"([a-z_.]+)"`), []string{"$1"}},
	{regexp.MustCompile(`\.wrong\("[a-z_]+", "([a-z_.]+)"`), []string{"$1"}},
	{regexp.MustCompile(`\.show\([^"]*"([a-z_]+)", `), []string{"$1.title"}},
	{regexp.MustCompile(`\bsee\(.*, "([a-z_]+)"\)`), []string{"done.$1"}},
	{regexp.MustCompile(`\bdone = "([a-z_]+)"`), []string{"done.$1"}},
	{regexp.MustCompile(`\bdone := "([a-z_]+)"`), []string{"done.$1"}},
	{regexp.MustCompile(`\benterState\([^"]*"([a-z_]+)", `), []string{"done.$1"}},
	{regexp.MustCompile(`\bmailLink\(.*, "([a-z_]+)"\)`), []string{"mail.$1.subject", "mail.$1.text"}},
	{regexp.MustCompile(`\bmailTo\([^"]*"([a-z_]+)"`), []string{"mail.$1.subject", "mail.$1.text"}},
}

// families are the texts whose keys end in a value.
var families = map[string][]string{
	"channel":       {"digest_days", "quiet_days", "wrong_number"},
	"channels.kind": {"mail", "webhook", "feed"}, "channels.add": {"mail", "webhook", "feed"}, "channels.state": {"unconfirmed", "active", "paused", "stopped"},
	"channel.urgencies": {"0", "1", "2", "3"}, "channel.units": {"seconds", "minutes", "hours"}, "channel.formats": append(channel.Presets(), "none", ownFormat),
	"channel.methods": {"none", "PUT", "PATCH"}, "channel.days": weekdays, "channel.mutes": {"1", "8", "24", "168"},
	"deliveries.state": {"waiting", "sent", "dead"},
}

// Each text that is named is there, and each that is there is named.
func TestTexts(t *testing.T) {
	t.Parallel()
	sources := read(t, "*.go") + read(t, "page/*.html")
	keys := make(map[string]bool)
	for _, p := range used {
		for _, found := range p.find.FindAllStringSubmatchIndex(sources, -1) {
			for _, makes := range p.makes {
				keys[string(p.find.ExpandString(nil, strings.ReplaceAll(makes, "$1", "${1}"), sources, found))] = true
			}
		}
	}
	for _, state := range inboxStates {
		keys["state."+string(state)] = true
	}
	for about, values := range families {
		for _, value := range values {
			keys[about+"."+value] = true
		}
	}
	for key := range keys {
		if texts[key] == "" {
			t.Errorf("there is no text %s", key)
		}
	}
	for key := range texts {
		if !keys[key] && !keys[strings.TrimSuffix(key, "_hint")] {
			t.Errorf("nobody says %s", key)
		}
		if strings.TrimSpace(texts[key]) == "" {
			t.Errorf("%s is empty", key)
		}
	}
}

// Nothing that people read stands in a template.
func TestNothingLiteralInTemplates(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(pageFiles, "page/*.html")
	if err != nil {
		t.Fatal(err)
	}
	action := regexp.MustCompile(`\{\{[^}]*\}\}`)
	attribute := regexp.MustCompile(` aria-[a-z]+="[^"]*"`) // of a template that is called within a tag
	spoken := []string{"alt", "title", "aria-label", "placeholder"}
	for _, name := range names {
		content, err := fs.ReadFile(pageFiles, name)
		if err != nil {
			t.Fatal(err)
		}
		tokens := html.NewTokenizer(strings.NewReader(action.ReplaceAllString(string(content), "")))
		for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
			token := tokens.Token()
			if kind == html.TextToken && strings.ContainsFunc(attribute.ReplaceAllString(token.Data, ""), unicode.IsLetter) {
				t.Errorf("%s says %q", name, token.Data)
			}
			for _, a := range token.Attr {
				if slices.Contains(spoken, a.Key) && strings.ContainsFunc(a.Val, unicode.IsLetter) {
					t.Errorf("%s says %q in %s", name, a.Val, a.Key)
				}
			}
		}
	}
}
