package portal

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"golang.org/x/net/html"
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

// TestMain fails if a key was shown that there is no text for.
func TestMain(m *testing.M) {
	var mu sync.Mutex
	missing := make(map[string]bool)
	missed = func(key string) {
		mu.Lock()
		defer mu.Unlock()
		missing[key] = true
	}
	status := m.Run()
	if len(missing) > 0 {
		fmt.Println("there is no text for", slices.Sorted(maps.Keys(missing)))
		status = max(status, 1)
	}
	os.Exit(status)
}

// named reports whether templates or handlers name a key: whole, or, where the last part of it is put together, the
// part before it and the last. The hint of a field, and the forms of a count, are named by what they belong to.
func named(sources, key string) bool {
	quoted := func(part string) bool { return strings.Contains(sources, `"`+part+`"`) }
	key = strings.TrimSuffix(key, "_hint")
	for _, form := range []string{"", ".one", ".many", ".subject", ".text", ".title"} {
		trimmed := strings.TrimSuffix(key, form)
		i := strings.LastIndexByte(trimmed, '.')
		before, last := trimmed[:max(i, 0)], trimmed[i+1:]
		if quoted(trimmed) || quoted(last) && (quoted(before) || quoted(before+".")) {
			return true
		}
		if field, value, is := strings.Cut(last, "_"); is && quoted(before+".") && quoted(field) && (value == "" || quoted(value)) {
			return true
		}
	}
	return false
}

// Each text that there is, is named.
func TestTexts(t *testing.T) {
	t.Parallel()
	sources := read(t, "*.go") + read(t, "page/*.html") + read(t, "../../storage/control/*.go") + read(t, "../../internal/credentials/*.go") + read(t, "../../internal/channel/*.go") + read(t, "../../xmlschema/*.go")
	for key, value := range texts() {
		if !named(sources, key) {
			t.Errorf("nobody says %s", key)
		}
		if strings.TrimSpace(value) == "" {
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
