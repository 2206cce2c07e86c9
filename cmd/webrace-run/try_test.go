package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// tryHere runs try in a directory of its own, in which nothing may be made.
func tryHere(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	dir := t.TempDir()
	stdout, stderr, err = webraceRun(append([]string{"try", "--data", filepath.Join(dir, "data"), "--set", "fetch.allow_networks=loopback"}, args...)...)
	if made, _ := os.ReadDir(dir); len(made) > 0 {
		t.Errorf("try made %v", made)
	}
	return stdout, stderr, err
}

func TestTryFetchesLikeAPipelineAndStoresNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.redirect("/from", "/page")
	s.handle("/page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=iso-8859-7")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		z.Write([]byte("<title>Boats</title><p>\xe2\xdc\xf1\xea\xe5\xf2 in the harbour")) // βάρκες
		z.Close()
	})
	out, said, err := tryHere(t, "--url", s.URL+"/from", "--keyword", "βαρκα:5", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var v trialJSON
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatal(err)
	}
	if v.URL != s.URL+"/page" || len(v.URDs) != 1 || !v.URDs[0].Alert || v.URDs[0].Summary != "«βάρκες» in the harbour" || v.Charset != "iso-8859-7" {
		t.Errorf("shown %+v", v)
	}
	if !strings.Contains(said, "worth an alert to 1 of 1 URD") {
		t.Errorf("said %q", said)
	}
	if got := s.requests(); !slices.Equal(got, []string{"200 /page", "302 /from"}) {
		t.Errorf("asked for %q", got)
	}
}

func TestTryFailsWhenTheDocumentCannotBeHad(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.handle("/robots.txt", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("User-agent: *\nDisallow: /private")) })
	for path, want := range map[string]string{"/gone": "404 Not Found", "/private": "refused by robots.txt"} {
		out, _, err := tryHere(t, "--url", s.URL+path, "-k", "boat")
		if err == nil || !strings.Contains(err.Error(), want) || out != "" {
			t.Errorf("%s: %v and %q", path, err, out)
		}
	}
	if got := s.requests(); !slices.Equal(got, []string{"404 /gone"}) {
		t.Errorf("asked for %q", got)
	}
}

func TestOptionsOfFetchAreThoseOfTheConfiguration(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.handle("/", func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("for " + r.UserAgent())) })
	config := filepath.Join(t.TempDir(), "pipelines.toml")
	write := func(content string) {
		if err := os.WriteFile(config, []byte("version = 1\n"+content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for content, want := range map[string]string{
		"[defaults.fetch]\nuser_agent = \"mine/1\"\n[pipeline.a]\nflow = [\"lines > print\"]\n[pipeline.b]\nflow = [\"lines > frontier > fetch > drop\", \"fetch.redirects > frontier\"]\n": "for mine/1",
		"[pipeline.a]\nflow = [\"lines > print\"]\n": "for webrace/1",
	} {
		write(content)
		out, _, err := tryHere(t, "--config", config, "--url", s.URL+"/")
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v\n%s", content, err, out)
		}
	}
	write("[pipeline.b]\nflow = [\"lines > frontier > fetsh\"]\n")
	if _, _, err := tryHere(t, "--config", config, "--url", s.URL+"/"); err == nil || !strings.Contains(err.Error(), "fetsh") {
		t.Errorf("a configuration that is wrong: %v", err)
	}
}

// With --nonfilter what asks for any change is judged, as urd add stores it: whatever the words, if its number is met.
func TestTryOfAnyChange(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "page.html")
	writeFile(t, file, "<title>Boat</title><p>Boat <b id=price>12 €</b>")
	for flags, want := range map[string]string{
		"":                            "nothing was looked for",
		"-k sail":                     "worth an alert to 0 of 1 URD",
		"--nonfilter":                 "worth an alert to 1 of 1 URD",
		"--nonfilter -k sail":         "worth an alert to 1 of 1 URD",
		"--nonfilter --select #price": "worth an alert to 1 of 1 URD",
		"--nonfilter --select #never": "worth an alert to 0 of 1 URD",
		"--nonfilter --select #price --when number<10": "worth an alert to 0 of 1 URD",
	} {
		_, said, err := tryHere(t, append([]string{"--file", file}, strings.Fields(flags)...)...)
		if err != nil || !strings.Contains(said, want) {
			t.Errorf("try %s: %v, %q, want %q", flags, err, said, want)
		}
	}
}

// By the same flags a URD is tried and stored: both are worth the same, and refused together.
func TestTryJudgesAsTheURDStoredByTheSameFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	page := filepath.Join(dir, "page.html")
	writeFile(t, page, "<title>Boat</title><p>Boat <b id=price>12 €</b><p>The ferry leaves at nine, and the boat at ten")
	for i, flags := range []string{
		"-k ferry", "-k ferry -k sail", "-k ferry -k sail --match all", "-k ferry -k boat:5 --match all --threshold 60", "-k ferry:1", "-k boat --change page",
		"-k boat --change first --remember 3", "--change page", "--remember 2", "--nonfilter -k sail", "--nonfilter --select #price --when number<10",
		"--select #price --when number<20 --ignore regex:€", "--select sparql:{?s_a_schema:Offer} --nonfilter",
		"-k ferry --match most", "-k ferry --change never", "-k ferry --remember 9", "-k ferry --threshold 101", "-k the --match all", "--select p[ --nonfilter", "-k boat --when number<1",
	} {
		args := strings.Fields(flags)
		for i, arg := range args {
			args[i] = strings.ReplaceAll(arg, "_", " ")
		}
		data := filepath.Join(dir, fmt.Sprint(i))
		_, refused := webraceStore(append([]string{"urd", "add", "--data", data, "--url", "http://a.example/", "--owner", "ann"}, args...)...)
		direct, _, err := tryHere(t, append([]string{"--file", page, "--json", "--owner", "ann"}, args...)...)
		if (err != nil) != (refused != nil) {
			t.Errorf("%s: urd add says %v, try %v", flags, refused, err)
			continue
		}
		if err != nil {
			continue
		}
		urds := filepath.Join(dir, fmt.Sprint(i, ".xml"))
		exported, err := webraceStore("urd", "export", "--data", data)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, urds, exported)
		stored, _, err := tryHere(t, "--file", page, "--json", "--urds", urds)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := judgementIn(t, direct), judgementIn(t, stored); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: tried\n%+v, stored\n%+v", flags, got, want)
		}
	}
}

// judgementIn returns what try --json prints of its only URD, but for its name and start.
func judgementIn(t *testing.T, said string) scoreJSON {
	t.Helper()
	var trial trialJSON
	if err := json.Unmarshal([]byte(said), &trial); err != nil || len(trial.URDs) != 1 {
		t.Fatalf("%v: %s", err, said)
	}
	score := trial.URDs[0]
	score.ID, score.URI = "", ""
	return score
}

func TestLongBlocksAreShownAroundWhatWasFound(t *testing.T) {
	t.Parallel()
	var page bytes.Buffer
	for range 100 {
		page.WriteString("<p>" + strings.Repeat("weather ", 200) + "boat " + strings.Repeat("wind ", 300) + "boat.</p><p>none</p>\n")
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, page.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	some, _, err := tryHere(t, "--file", file, "-k", "boat")
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := tryHere(t, "--file", file, "-k", "boat", "--text", "full")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(some, " «boat»"); n != 2*40+1 { // one of them in the summary
		t.Errorf("%d found are shown", n)
	}
	if len(some) > 40*6*160 || strings.Contains(some, "weatherboat") || !strings.Contains(some, "further blocks; --text full") {
		t.Errorf("%d bytes are shown:\n%.500s", len(some), some)
	}
	if n := strings.Count(all, "«boat»"); n != 201 || len(all) < page.Len()/2 {
		t.Errorf("%d found of %d bytes are shown in full", n, len(all))
	}
}
