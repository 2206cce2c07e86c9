package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// storms is a page with a main part, which holds some more text.
func storms(more string) string {
	return `<!DOCTYPE html><html lang="en"><head><title>Storms</title><meta name="author" content="Ann Quinn"></head><body>
<nav><a href="/">Home</a> <a href="/boats">Boats for hire</a></nav>
<article><h1>Storms are coming</h1>
<p>A storm with winds of more than a hundred kilometres an hour is expected to reach the western islands on Friday evening, the weather service announced.</p>
<p>Ferries will stay in their harbours until Sunday, and people who live near the coast are asked to bring in whatever the wind could carry away, see <a href="advice">the advice</a>.</p>
<p>` + more + ` It would be the third storm of this year, and the first of them that comes from the north, where the sea is deeper and the waves therefore longer.</p>
</article><footer>Imprint and contact</footer></body></html>`
}

// reads runs the program, as it is shipped, to read something.
func (w *world) readsAs(status int, args ...string) (stdout, stderr string) {
	w.t.Helper()
	var out, complaints strings.Builder
	c := exec.Command("webrace-run", append([]string{"read", "--set", "fetch.allow_networks=loopback"}, args...)...)
	c.Stdout, c.Stderr, c.Dir = &out, &complaints, w.t.TempDir()
	if err := c.Run(); c.ProcessState.ExitCode() != status {
		w.t.Fatalf("%v: %v, want status %d\n%s%s", args, err, status, out.String(), complaints.String())
	}
	return out.String(), complaints.String()
}

func TestReadWritesWhatAPageSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.raw("/storms", storms(""))
	w.raw("/list", `<title>Boats</title><ul><li><a href="/1">One</a><li><a href="/2">Two</a></ul>`)
	w.file("/prices.csv", "text/csv", []byte("name,price\nBolt,12\nNut,9\n"))
	w.file("/robots.txt", "text/plain", []byte("User-agent: *\nDisallow: /private\n"))
	w.raw("/private", storms(""))

	out, _ := w.readsAs(0, w.URL+"/storms")
	for _, want := range []string{"---\nurl: \"" + w.URL + "/storms\"\n", "part: \"main\"\n", "# Storms are coming\n", "[the advice](" + w.URL + "/advice)", "third storm"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, not := range []string{"Boats for hire", "Imprint"} {
		if strings.Contains(out, not) {
			t.Errorf("%q in\n%s", not, out)
		}
	}
	all, _ := w.readsAs(0, w.URL+"/storms", "--all")
	mustSay(t, all, "Imprint", `part: "all"`)
	_, said := w.readsAs(0, w.URL+"/list")
	mustSay(t, said, "no part of the page stands out")
	selected, _ := w.readsAs(0, w.URL+"/storms", "--select", "nav a", "--select", "xpath://footer")
	mustSay(t, selected, "Boats for hire", "Imprint", `part: "selected"`)
	if strings.Contains(selected, "winds") {
		t.Errorf("more than what is selected:\n%s", selected)
	}
	short, said := w.readsAs(0, w.URL+"/storms", "--max-words", "30")
	if mustSay(t, said, "first "); strings.Contains(short, "Ferries") || !strings.Contains(short, "winds of more") {
		t.Errorf("thirty words:\n%s", short)
	}
	csv, _ := w.readsAs(0, w.URL+"/prices.csv")
	mustSay(t, csv, "Bolt", "12", "Nut")

	// One request each, and one for robots.txt; a URL that gives nothing keeps no other from being read.
	w.forget()
	lines, said := w.readsAs(1, "--json", w.URL+"/storms", w.URL+"/missing", w.URL+"/private", w.URL+"/list")
	mustSay(t, said, w.URL+"/missing", "404", w.URL+"/private", "robots.txt", "2 of 4 URLs were not read")
	var urls []string
	for line := range strings.Lines(lines) {
		var read struct {
			URL, Markdown, Part, Author string
			Words                       int
			Fetched                     time.Time
		}
		if err := json.Unmarshal([]byte(line), &read); err != nil || read.Markdown == "" || read.Words == 0 || read.Fetched.IsZero() {
			t.Errorf("%v: %s", err, line)
		}
		urls = append(urls, read.URL)
	}
	slices.Sort(urls)
	mustBe(t, "what was read", urls, w.URL+"/list", w.URL+"/storms")
	if got := w.requests(); len(got) != 3 {
		t.Errorf("the site was asked for %v", got)
	}
}

// What is stored is read as it was when it came, by the same flags; and the number of words is kept to the word.
func TestWhatIsStoredIsReadAsWhatIsFetched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := strings.Replace(storms(""), "</article>", "<ul><li><pre>one two\n\nthree</pre></ul><p>Four five</article>", 1)
	w.raw("/", body)
	w.crawlsTo("-")
	for flags, words := range map[string]int{
		"": 92, "--all": 99, "--select css:p,pre --select xpath://h1": 92, "--max-words 89": 87, "--max-words 91": 90, "--max-words 2": 2,
	} {
		fetched, _ := w.readsAs(0, append(strings.Fields(flags), "--json", w.URL+"/")...)
		stored, err := exec.Command("webrace-store", append([]string{"--data", w.data, "cache", "cat", w.URL + "/", "--markdown", "--json"}, strings.Fields(flags)...)...).Output()
		if err != nil {
			t.Fatalf("%s: %v", flags, err)
		}
		var a, b map[string]any
		if err := errors.Join(json.Unmarshal([]byte(fetched), &a), json.Unmarshal(stored, &b)); err != nil {
			t.Fatalf("%s: %v", flags, err)
		}
		if b["version"] != 1.0 || b["digest"] != fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(body))) {
			t.Errorf("%s: %s", flags, stored)
		}
		for _, name := range []string{"version", "digest", "fetched"} {
			delete(a, name)
			delete(b, name)
		}
		if diff := cmp.Diff(a, b); diff != "" || a["words"] != float64(words) {
			t.Errorf("%s: %v words, want %d (- fetched, + stored):\n%s\n%s", flags, a["words"], words, diff, a["markdown"])
		}
	}
}

// forget forgets what the site was asked for.
func (s *site) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = nil
}

func TestReadRefusesWhatIsWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "text")
	for _, c := range []struct {
		args string
		want string
	}{
		{"", "say what to read"},
		{"a.example", "did you mean https://a.example?"},
		{"--max-words -1 " + w.URL, "--max-words -1"},
		{"--all --select p " + w.URL, "choose one"},
		{"--select jq:.a " + w.URL, "only css: and xpath: choose elements"},
		{"--select css:p[ " + w.URL, `css "p["`},
		{"--file a.html " + w.URL, "read URLs, or a file"},
	} {
		_, said := w.readsAs(2, strings.Fields(c.args)...)
		mustSay(t, said, c.want)
	}
	_, said := w.readsAs(1, "--select", "table", w.URL+"/")
	mustSay(t, said, "nothing in it is what was selected")
}

// treeOf returns the files below a folder, and when they were written.
func treeOf(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	files := make(map[string]time.Time)
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = info.ModTime()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestOutputTreeIsRewrittenWhereItChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "start", "/storms", "/calm", "/news/")
	for _, path := range []string{"/storms", "/calm", "/news/"} {
		w.raw(path, storms("Of "+path+"."))
	}
	dir := t.TempDir()
	out, _ := w.crawlsTo(dir, askAll...)
	mustSay(t, out, "4 documents in "+dir, "4 of them new or changed")
	first := treeOf(t, dir)
	if len(first) != 5 { // and index.md
		t.Errorf("files: %v", first)
	}
	host := strings.TrimPrefix(w.URL, "http://")
	page := readFile(t, filepath.Join(dir, strings.Replace(host, ":", "+", 1)+"+http", "storms.md"))
	for _, want := range []string{"url: \"" + w.URL + "/storms\"\n", "version: 1\n", "digest: \"sha256:", "Of /storms."} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}

	w.raw("/calm", storms("Changed."))
	out, _ = w.crawlsTo(dir+"/", askAll...)
	mustSay(t, out, "4 documents in", "1 of them new or changed")
	var changed []string
	for name, at := range treeOf(t, dir) {
		if !at.Equal(first[name]) {
			changed = append(changed, name)
		}
	}
	if len(changed) != 1 || !strings.Contains(readFile(t, filepath.Join(dir, changed[0])), "Changed.") {
		t.Errorf("written by the second run: %v", changed)
	}

	// What is confirmed or fresh is there in another folder, too.
	other := filepath.Join(t.TempDir(), "other")
	w.crawlsTo(other + "/")
	if got := treeOf(t, other); len(got) != len(first) {
		t.Errorf("in another folder: %v", got)
	}
}

// Files have no other place than the folder, even where links in it lead out.
func TestOutputTreeFollowsNoLinkOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "start")
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, strings.Replace(strings.TrimPrefix(w.URL, "http://"), ":", "+", 1)+"+http")); err != nil {
		t.Skip(err)
	}
	c := startCommand(t, w.crawls("--output", dir+"/")...)
	c.mustExit(1)
	mustSay(t, c.said(), "--output", "escapes")
	if files := treeOf(t, outside); len(files) > 0 {
		t.Errorf("written outside: %v", files)
	}
}

func TestOutputLeavesOutWhatMayNotBeUsedSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "start", "/open", "/closed", "/meta")
	w.raw("/open", storms(""))
	w.handle("/closed", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Usage", "train-ai=n")
		fmt.Fprint(rw, storms(""))
	})
	w.raw("/meta", strings.Replace(storms(""), "<head>", `<head><meta name="robots" content="noai">`, 1))
	file := filepath.Join(t.TempDir(), "out.jsonl")
	out, _ := w.crawlsTo(file, append([]string{"--markdown", "--for", "train-ai"}, askAll...)...)
	mustSay(t, out, "2 documents left out, whose owners do not allow train-ai", "2 documents written to")
	text := readFile(t, file)
	mustBe(t, "written", jsonURLs(t, text), w.URL+"/", w.URL+"/open")
	if !strings.Contains(text, `"markdown":"# Storms are coming\n`) {
		t.Errorf("without Markdown:\n%s", text)
	}
	out, _ = w.crawlsTo(file, askAll...)
	mustSay(t, out, "4 documents written to")
}

func TestOutputTreeFlagsThatDoNotFit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for args, want := range map[string]string{
		"--output a.csv --markdown":    "--markdown is for lines of JSON",
		"--output a/ --markdown":       "--markdown is for lines of JSON",
		"--output a.jsonl --all":       "--all is for archives and Markdown",
		"--for train-ai":               "--for train-ai is about what is written",
		"--output a.jsonl --for trane": "trane",
	} {
		c := startCommand(t, w.crawls(strings.Fields(args)...)...)
		c.mustExit(2)
		mustSay(t, c.said(), want)
	}
}

// What a page states of its use when it is fetched counts when a server only confirms it later, and states less.
func TestOutputKnowsTheUseOfWhatIsConfirmed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.handle("/", func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
		rw.Header().Set("Etag", `"1"`)
		rw.Header().Set("Content-Usage", "train-ai=n")
		fmt.Fprint(rw, storms(""))
	})
	dir := t.TempDir()
	w.crawlsTo(dir, askAll...)
	first := treeOf(t, dir)
	out, _ := w.crawlsTo(dir, askAll...)
	mustSay(t, out, "1 not modified", "1 document in", "0 of them new or changed")
	for name := range first {
		if text := readFile(t, filepath.Join(dir, name)); name != "index.md" && !strings.Contains(text, "usage:\n  - \"train-ai=n: ") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	out, _ = w.crawlsTo(filepath.Join(t.TempDir(), "a.csv"), append([]string{"--for", "train-ai"}, askAll...)...)
	mustSay(t, out, "1 document left out")
}

// The files of a pipeline, too, stay in the folder that their path names, whatever its values are.
func TestOutputTreeOfAPipelineStaysInItsFolder(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"../{{host(url)}}/out.jsonl":       `config.toml:5:9: stage "write-file": path: "../{{host(url)}}/out.jsonl" leads out of the folder by ..`,
		"out/{{host(url)}}/../a.jsonl":     "leads out of the folder by ..",
		"out/{{pagepath(url)}}/text.jsonl": "an extension follows pagepath(…)",
		"out/{{pagepath(url)}}.jsonl":      "",
	} {
		config := filepath.Join(t.TempDir(), "config.toml")
		writeFile(t, config, "version = 1\n[pipeline.x]\nflow = [\"objects > write-file\"]\n[pipeline.x.stage.write-file]\npath = \""+path+"\"\n")
		c := exec.Command("webrace-run", "lint", "--config", config)
		c.Dir = filepath.Dir(config)
		said, err := c.CombinedOutput()
		if (err == nil) != (want == "") || !strings.Contains(string(said), want) {
			t.Errorf("%s: %v, %s\nwant %q", path, err, said, want)
		}
	}
}
