package frontier

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/pipeline"
)

// Real sites are no traps: of all that large documentation links to, nothing is refused as one, and what is
// ignored is no page.
func TestNoLinkOfRealDocumentationIsATrap(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	gate, err := defaults.gate()
	if err != nil {
		t.Fatal(err)
	}
	for _, site := range []struct {
		dir   string
		every int // how many pages of it are read
	}{{"python3.11/html", 2}, {"postgresql-doc-15/html", 4}, {"openjdk-17-doc/api", 40}, {"libboost1.74-doc/HTML", 20}} {
		dir, err := filepath.EvalSymlinks(filepath.Join("/usr/share/doc", site.dir))
		if err != nil {
			t.Logf("%s is not installed", site.dir)
			continue
		}
		families := map[uint64]map[string]bool{}
		pages, links := 0, 0
		err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".html") {
				return err
			}
			if pages++; pages%site.every != 0 {
				return nil
			}
			body, err := os.ReadFile(path)
			if err != nil {
				return nil // a link to what is not installed
			}
			r, err := extract.Document(body, "text/html", "http://127.0.0.1:8099"+filepath.ToSlash(path), extract.Options{})
			if err != nil {
				return err
			}
			for _, u := range r.Links {
				links++
				switch why := gate.Judge(u); {
				case why == scope.IgnoredType && (strings.HasSuffix(u, ".html") || strings.HasSuffix(u, "/")):
					t.Errorf("%s is ignored", u)
				case why != scope.Pass && why != scope.IgnoredType:
					t.Errorf("%s is taken for trap %d", u, why)
				}
				join(families, gate, u)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d links of one page in %d", site.dir, links, site.every)
		for _, members := range families {
			if len(members)*site.every > 1000 {
				t.Errorf("%s has a family of %d URLs", site.dir, len(members))
			}
		}
	}
}

func join(families map[uint64]map[string]bool, gate *scope.Gate, u string) {
	list, n := gate.Traps.Families(u, time.Now())
	for _, f := range list[:n] {
		if families[f.ID] == nil {
			families[f.ID] = map[string]bool{}
		}
		families[f.ID][u] = true
	}
}

func TestGateOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for option, change := range map[string]func(*Options){
		"rules":            func(o *Options) { o.Rules = []string{"deny x"} },
		"ignore_types":     func(o *Options) { o.IgnoreTypes = []string{"tar.gz"} },
		"url_length":       func(o *Options) { o.URLLength = -1 },
		"path_repeats":     func(o *Options) { o.PathRepeats = 1 },
		"query_parameters": func(o *Options) { o.QueryParameters = -1 },
		"far_dates":        func(o *Options) { o.FarDates = -1 },
		"crawl_urls":       func(o *Options) { o.CrawlURLs = -1 },
	} {
		o := defaults
		change(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), option) {
			t.Errorf("%s: %v, want an error that names it", option, err)
		}
	}
	none := defaults
	none.IgnoreTypes, none.URLLength, none.PathDepth, none.PathRepeats, none.QueryParameters, none.PathQueries, none.DatedPages, none.FarDates, none.HostURLs, none.CrawlURLs = nil, 0, 0, 0, 0, 0, 0, 0, 0, 0
	if err := none.Validate(); err != nil {
		t.Errorf("without limits: %v", err)
	}
}

func write(t *testing.T, path, text string, at time.Time) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestAListThatChangesIsReadAgain(t *testing.T) {
	t.Parallel()
	at := time.Now().Add(-time.Hour)
	o := defaults
	o.BlockedDomainsFile, o.BlockedURLsFile = filepath.Join(t.TempDir(), "domains"), filepath.Join(t.TempDir(), "urls")
	write(t, o.BlockedDomainsFile, "a.example\n", at)
	write(t, o.BlockedURLsFile, "http://b.example/1\n", at)
	env := pipeline.NewEnv("p", "frontier", nil)
	q, lists, err := o.queue(env)
	if err == nil {
		err = lists.load()
	}
	if err != nil {
		t.Fatal(err)
	}
	check := func(when string, want ...scope.Refusal) {
		t.Helper()
		for i, u := range []string{"http://x.a.example/", "http://b.example/1", "http://c.example/"} {
			if why, _ := q.Gate.Admit(u); why != want[i] {
				t.Errorf("%s, %s is refused by %d, want %d", when, u, why, want[i])
			}
		}
	}
	check("at first", scope.BlockedDomain, scope.BlockedURL, scope.Pass)
	write(t, o.BlockedDomainsFile, "c.example\n", at.Add(time.Minute)) // of the same size
	lists.refresh()
	check("with another domain", scope.Pass, scope.BlockedURL, scope.BlockedDomain)
	if err := os.Remove(o.BlockedDomainsFile); err != nil {
		t.Fatal(err)
	}
	write(t, o.BlockedURLsFile, "", at.Add(time.Minute))
	lists.refresh()
	check("with one file gone and the other empty", scope.Pass, scope.Pass, scope.BlockedDomain)
	write(t, o.BlockedDomainsFile, "a.example\n", at.Add(2*time.Minute))
	lists.refresh()
	check("when it is back", scope.BlockedDomain, scope.Pass, scope.Pass)
	if n := env.Counters(); n["blocked_domains"] != 1 || n["blocked_urls"] != 0 {
		t.Errorf("counted %v", n)
	}
	if _, err := (Options{BlockedURLsFile: o.BlockedURLsFile + ".none"}).QueueOptions(env); err == nil {
		t.Error("a run begins without the list of what is blocked")
	}
}
