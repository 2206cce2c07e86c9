package main

import (
	"archive/zip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// outputPages is a small site: its pages, and the body of each.
func (w *world) outputPages() (urls []string) {
	w.page("/", "start", "/a", "/b", "/missing")
	w.page("/a", "tea, \"with\" a comma", "/c")
	w.page("/b", "water")
	w.page("/c", "the end")
	for _, path := range []string{"/", "/a", "/b", "/c"} {
		urls = append(urls, w.URL+path)
	}
	return urls
}

// crawlsTo crawls, and returns what it writes to standard output and to standard error.
func (w *world) crawlsTo(output string, more ...string) (stdout, stderr string) {
	w.t.Helper()
	var out, complaints strings.Builder
	c := exec.Command("webrace-run", w.crawls(append(more, "--output", output)...)...)
	c.Stdout, c.Stderr = &out, &complaints
	if err := c.Run(); err != nil {
		w.t.Fatalf("%v\n%s%s", err, out.String(), complaints.String())
	}
	return out.String(), complaints.String()
}

// jsonURLs reads JSON lines.
func jsonURLs(t *testing.T, text string) (urls []string) {
	t.Helper()
	for line := range strings.Lines(text) {
		var d struct {
			URL, Text, Outcome string
			Status             int
		}
		if err := json.Unmarshal([]byte(line), &d); err != nil || d.Text == "" || d.Status == 0 || d.Outcome == "" {
			t.Fatalf("%q: %v, %+v", line, err, d)
		}
		urls = append(urls, d.URL)
	}
	slices.Sort(urls)
	return urls
}

func csvURLs(t *testing.T, text string) (urls []string) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || !slices.Equal(rows[0], outputColumns) {
		t.Fatalf("%v: %q", err, rows[0])
	}
	for _, row := range rows[1:] {
		urls = append(urls, row[0])
	}
	slices.Sort(urls)
	return urls
}

func TestCrawlOutput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := w.outputPages()
	dir := t.TempDir()
	readBack := map[string]func(path string) []string{
		"out.jsonl": func(path string) []string { return jsonURLs(t, readFile(t, path)) },
		"out.csv":   func(path string) []string { return csvURLs(t, readFile(t, path)) },
		"out.warc.gz": func(path string) []string {
			mustBeStrictWARC(t, path)
			return imported(t, path)
		},
		"out.wacz": func(path string) []string {
			archive, err := zip.OpenReader(path)
			if err != nil {
				t.Fatal(err)
			}
			defer archive.Close()
			records, err := archive.Open("archive/data.warc.gz")
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(records)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "of-wacz.warc.gz")
			writeFile(t, file, string(content))
			mustBeStrictWARC(t, file)
			return imported(t, file)
		},
	}
	for _, name := range []string{"out.jsonl", "out.csv", "out.warc.gz", "out.wacz"} { // the first fetches, the others have it confirmed
		path := filepath.Join(dir, name)
		writeFile(t, path, "of an earlier run")
		stdout, _ := w.crawlsTo(path, askAll...)
		mustSay(t, stdout, "4 documents written to "+path)
		mustBe(t, "documents in "+name, readBack[name](path), want...)
		if _, err := os.Stat(partName(path)); err == nil {
			t.Errorf("%s is left", partName(path))
		}
	}
	stdout, stderr := w.crawlsTo("-", askAll...)
	mustBe(t, "documents on standard output", jsonURLs(t, stdout), want...)
	mustSay(t, stderr, "crawl: 0 pages", "4 not modified")
	for _, wrong := range []string{"out.txt", filepath.Join(dir, "nowhere", "out.csv")} {
		p := startCommand(t, w.crawls("--output", wrong)...)
		p.mustExit(2)
		mustSay(t, p.said(), "--output "+wrong)
	}
}

// imported imports a WARC file into a data directory of its own, and returns the URLs that are in it then.
func imported(t *testing.T, path string) (urls []string) {
	t.Helper()
	data := t.TempDir()
	for _, args := range [][]string{{"cache", "import", path}, {"cache", "ls"}} {
		out, err := exec.Command("webrace-store", append([]string{"--data", data}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		for line := range strings.Lines(string(out)) {
			if args[1] == "ls" {
				url, _, _ := strings.Cut(line, "\t")
				urls = append(urls, url)
			}
		}
	}
	slices.Sort(urls)
	return urls
}

// A run that is killed leaves what it had written under another name, and the file of the run before as it was.
func TestCrawlOutputOfARunThatIsKilledHasAnotherName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "start", "/waits")
	letGo, arrived := make(chan struct{}), make(chan struct{}, 10)
	t.Cleanup(func() { close(letGo) })
	w.handle("/waits", func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-letGo
	})
	path := filepath.Join(t.TempDir(), "out.csv")
	writeFile(t, path, "of an earlier run")
	p := startCommand(t, w.crawls("--output", path)...)
	await(t, arrived, 1)
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.Wait()
	if got := readFile(t, path); got != "of an earlier run" {
		t.Errorf("the file is %q", got)
	}
	if _, err := os.Stat(partName(path)); err != nil {
		t.Error(fmt.Errorf("what was written: %w", err))
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
