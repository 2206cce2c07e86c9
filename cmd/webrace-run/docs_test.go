package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// Every link and every path in the pages that people read leads to something that is there.
func TestWhatThePagesNameExists(t *testing.T) {
	t.Parallel()
	repository := os.DirFS("../..")
	for _, problem := range brokenReferences(t, repository, pagesOf(t, repository)) {
		t.Error(problem)
	}
}

// Every page of docs, and every decision, is in the list of its folder.
func TestEveryPageAndDecisionIsListed(t *testing.T) {
	t.Parallel()
	repository := os.DirFS("../..")
	list := func(name string) string {
		text, err := fs.ReadFile(repository, name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	pages, decisions := list("docs/README.md"), list("docs/decisions/README.md")
	for _, page := range pagesOf(t, repository) {
		switch name := path.Base(page); path.Dir(page) {
		case "docs":
			if name != "README.md" && !strings.Contains(pages, "("+name+")") {
				t.Errorf("docs/README.md does not list %s", name)
			}
		case "docs/decisions":
			for anchor := range anchorsOf(list(page)) {
				title := strings.HasPrefix(anchor, "decisions") // of the page itself
				if name != "README.md" && !title && !strings.Contains(decisions, "("+name+"#"+anchor+")") {
					t.Errorf("docs/decisions/README.md does not list %s#%s", name, anchor)
				}
			}
		}
	}
}

// Every package but the stages, which are called as in pipelines.toml, is named in the tree of the architecture.
func TestTheArchitectureNamesEveryPackage(t *testing.T) {
	t.Parallel()
	repository := os.DirFS("../..")
	tree, err := fs.ReadFile(repository, "docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"cmd/*", "cmd/internal/*", "stages/internal/*", "pipeline/*", "pipeline/internal/*", "storage/*", "storage/internal/*", "internal/*"} {
		files, err := fs.Glob(repository, pattern+"/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		named := make(map[string]bool)
		for _, file := range files {
			folder := path.Dir(file)
			if named[folder] {
				continue
			}
			named[folder] = true
			if !strings.Contains(string(tree), "`"+folder+"/`") && !strings.Contains(string(tree), "`"+path.Base(folder)+"`") {
				t.Errorf("docs/architecture.md does not name %s", folder)
			}
		}
	}
}

func TestBrokenReferencesAreFound(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, broken string }{
		{"[b](b.md), [b](b.md#two-words), [here](#a), [up](../README.md), [code](../pipeline)", ""},
		{"[elsewhere](https://example.com/a.md#b), [mail](mailto:a@example.com)", ""},
		{"`pipeline/run.go`, `pipeline/`, `./pipeline`, `run.go`, `cmd/*/main.go`, `stages/<name>/`, `GET /cmd`, `fetch/x`", ""},
		{"```\n[no link](nowhere.md) `pipeline/nothing.go`\n```", ""},
		{"[b](c.md)", "docs/a.md:3: c.md does not exist"},
		{"[`b`](b.md#three)", "docs/a.md:3: b.md has no heading #three"},
		{"[here](#two-words)", "docs/a.md:3: a.md has no heading #two-words"},
		{"[code](../pipeline/walk.go)", "docs/a.md:3: ../pipeline/walk.go does not exist"},
		{"[out](../../webrace/README.md)", "docs/a.md:3: ../../webrace/README.md does not exist"},
		{"first `pipeline/walk.go`", "docs/a.md:3: pipeline/walk.go does not exist"},
		{"`examples/none/`", "docs/a.md:3: examples/none/ does not exist"},
		{"`cmd/*/walk.go`", "docs/a.md:3: cmd/*/walk.go does not exist"},
		{"`walk.go`", "docs/a.md:3: there is no file walk.go"},
	} {
		repository := fstest.MapFS{
			"README.md": {}, "pipeline/run.go": {}, "cmd/webrace-run/main.go": {},
			"docs/a.md": {Data: []byte("# A\n\n" + test.text + "\n")},
			"docs/b.md": {Data: []byte("# B\n\n## Two *words*!\n")},
		}
		if got := strings.Join(brokenReferences(t, repository, []string{"docs/a.md"}), "; "); got != test.broken {
			t.Errorf("%s: %q is reported, want %q", test.text, got, test.broken)
		}
	}
}

// pagesOf returns the pages for people: those at the top, in docs and in bench.
func pagesOf(t *testing.T, repository fs.FS) (pages []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "bench/*.md"} {
		found, err := fs.Glob(repository, pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	if len(pages) < 20 {
		t.Fatalf("only %d pages are found", len(pages))
	}
	return pages
}

var (
	codeSpan = regexp.MustCompile("`[^`]+`")
	linkTo   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// A path begins with a folder at the top of the repository. Placeholders, as in <name>, make it none.
	aPath   = regexp.MustCompile(`^(\./)?(\.ci|bench|cmd|docs|examples|internal|pipeline|release|stages|storage|xmlschema)(/[\w.*-]+)*/?$`)
	aGoFile = regexp.MustCompile(`^\w+\.go$`)
)

// brokenReferences tells of every link and path in the pages that leads nowhere.
func brokenReferences(t *testing.T, repository fs.FS, pages []string) (problems []string) {
	t.Helper()
	files := fileNames(t, repository)
	for _, page := range pages {
		text, err := fs.ReadFile(repository, page)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(withoutBlocks(string(text)), "\n") {
			report := func(format string, args ...any) {
				problems = append(problems, fmt.Sprintf("%s:%d: ", page, i+1)+fmt.Sprintf(format, args...))
			}
			for _, link := range linkTo.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, ""), -1) {
				if !strings.Contains(link[1], ":") {
					checkLink(repository, page, link[1], report)
				}
			}
			for _, span := range codeSpan.FindAllString(line, -1) {
				switch name := strings.Trim(span, "`"); {
				case aPath.MatchString(name) && !exists(repository, path.Clean(name)):
					report("%s does not exist", name)
				case aGoFile.MatchString(name) && !slices.Contains(files, name):
					report("there is no file %s", name)
				}
			}
		}
	}
	return problems
}

// checkLink looks for the file that a link leads to, and for the heading in it.
func checkLink(repository fs.FS, page, link string, report func(string, ...any)) {
	file, anchor, _ := strings.Cut(link, "#")
	at := page
	if file != "" {
		at = path.Join(path.Dir(page), file)
	}
	if !exists(repository, at) {
		report("%s does not exist", file)
	} else if text, _ := fs.ReadFile(repository, at); anchor != "" && !anchorsOf(string(text))[anchor] {
		report("%s has no heading #%s", path.Base(at), anchor)
	}
}

// exists reports whether there is a file or folder of that name, or one that a pattern matches.
func exists(repository fs.FS, name string) bool {
	found, err := fs.Glob(repository, name)
	return err == nil && len(found) > 0
}

// fileNames returns the names of all Go files, without their folders.
func fileNames(t *testing.T, repository fs.FS) (names []string) {
	t.Helper()
	err := fs.WalkDir(repository, ".", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".go" {
			names = append(names, path.Base(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// withoutBlocks empties the lines of fenced blocks, which hold code, and keeps the number of lines.
func withoutBlocks(text string) string {
	lines := strings.Split(text, "\n")
	within := false
	for i, line := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence || within {
			lines[i] = ""
		}
		within = within != fence
	}
	return strings.Join(lines, "\n")
}

var (
	heading   = regexp.MustCompile(`(?m)^#+ (.+)$`)
	markedBy  = regexp.MustCompile(`<a id="([^"]+)">`)
	notInSlug = regexp.MustCompile(`[^\pL\pN _-]`)
)

// anchorsOf returns what links into a page may name: its headings in the form of forges, and the anchors that it sets.
func anchorsOf(text string) map[string]bool {
	text = withoutBlocks(text)
	anchors := make(map[string]bool)
	for _, match := range heading.FindAllStringSubmatch(text, -1) {
		slug := strings.ReplaceAll(notInSlug.ReplaceAllString(strings.ToLower(linkTo.ReplaceAllString(match[1], "]")), ""), " ", "-")
		for n, free := 1, slug; ; n++ {
			if !anchors[free] {
				anchors[free] = true
				break
			}
			free = fmt.Sprintf("%s-%d", slug, n)
		}
	}
	for _, match := range markedBy.FindAllStringSubmatch(text, -1) {
		anchors[match[1]] = true
	}
	return anchors
}
