package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// warcRecord is a record as a plain reader of the standard has it.
type warcRecord struct {
	header textproto.MIMEHeader
	block  []byte
}

// readWARC reads a file of gzip members with a record each.
func readWARC(t *testing.T, content []byte) (records []warcRecord) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	for len(text) > 0 {
		end := bytes.Index(text, []byte("\r\n\r\n"))
		lines := textproto.NewReader(bufio.NewReader(bytes.NewReader(text[:end+4])))
		if version, err := lines.ReadLine(); err != nil || version != "WARC/1.1" {
			t.Fatalf("%q, %v", version, err)
		}
		header, err := lines.ReadMIMEHeader()
		if err != nil {
			t.Fatal(err)
		}
		var size int
		fmt.Sscan(header.Get("Content-Length"), &size)
		block := text[end+4 : end+4+size]
		if text = text[end+4+size:]; !bytes.HasPrefix(text, []byte("\r\n\r\n")) {
			t.Fatalf("a record does not end where it says: %v", header)
		}
		text = text[4:]
		records = append(records, warcRecord{header, block})
	}
	return records
}

// replay serves an archive as a player does: by the responses, of which revisits refer to the body of another one.
type replay struct {
	t         *testing.T
	responses map[string]*http.Response
	bodies    map[string][]byte // by URL
}

func newReplay(t *testing.T, records []warcRecord) *replay {
	r := &replay{t, map[string]*http.Response{}, map[string][]byte{}}
	ids := map[string]string{} // URLs of responses
	requests := 0
	digest := regexp.MustCompile(`^sha256:[A-Z2-7]{52}={0,4}$`)
	for _, rec := range records {
		h, address := rec.header, rec.header.Get("WARC-Target-URI")
		if d := h.Get("WARC-Payload-Digest"); d != "" && !digest.MatchString(d) {
			t.Errorf("%s has the digest %s", address, d)
		}
		switch h.Get("WARC-Type") {
		case "response", "revisit":
			response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(rec.block)), nil)
			if err != nil {
				t.Fatalf("%s: %v", address, err)
			}
			body, err := io.ReadAll(response.Body)
			if err != nil && h.Get("WARC-Type") == "response" {
				t.Fatalf("%s: %v", address, err)
			}
			if of := h.Get("WARC-Refers-To-Target-URI"); of != "" {
				body = r.bodies[of]
			}
			r.responses[address], r.bodies[address] = response, body
			ids[h.Get("WARC-Record-ID")] = address
		case "request":
			request, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(rec.block)))
			if err != nil {
				t.Fatal(err)
			}
			if of := ids[h.Get("WARC-Concurrent-To")]; of != address || "http://"+request.Host+request.RequestURI != address {
				t.Errorf("a request of %s, with %s, for the response of %q", address, request.RequestURI, of)
			}
			requests++
		}
	}
	if requests != len(r.responses) {
		t.Errorf("%d requests of %d responses", requests, len(r.responses))
	}
	return r
}

var hrefs = regexp.MustCompile(`href="([^"]*)"`)

// walk follows all links from a URL, and reports what a reader sees at each address that it names.
func (r *replay) walk(address string, seen map[string]string) {
	if seen[address] != "" {
		return
	}
	at, hops := address, 0
	for ; hops < 10; hops++ {
		response := r.responses[at]
		if response == nil {
			seen[address] = "not archived: " + at
			return
		}
		if response.StatusCode < 300 || response.StatusCode > 399 {
			break
		}
		to, err := response.Location()
		if err != nil {
			base, _ := url.Parse(at)
			if to, err = base.Parse(response.Header.Get("Location")); err != nil {
				r.t.Fatal(err)
			}
		}
		at = to.String()
	}
	seen[address] = fmt.Sprintf("%d %s after %d", r.responses[at].StatusCode, at, hops)
	base, _ := url.Parse(at)
	for _, link := range hrefs.FindAllSubmatch(r.bodies[at], -1) {
		to, err := base.Parse(string(link[1]))
		if err != nil {
			r.t.Fatal(err)
		}
		r.walk(to.String(), seen)
	}
}

// TestArchiveReplays: who follows the links in an archive of a crawl comes to where the site led, also by redirects,
// and to the pages that were gone.
func TestArchiveReplays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redirect("/", "/home")
	w.page("/home", "start", "/moved", "/missing", "/gone", "/long", "/copy")
	w.handle("/moved", http.RedirectHandler("/moved-again", http.StatusMovedPermanently).ServeHTTP)
	w.redirect("/moved-again", "/here?a=1&b=2")
	w.page("/here", "here it is", "/home")
	w.status("/gone", http.StatusGone)
	w.page("/long", strings.Repeat("a page that is too long. ", 500))
	w.page("/copy", "here it is", "/home") // a revisit
	dir := t.TempDir()
	direct, wacz, exported := filepath.Join(dir, "a.warc.gz"), filepath.Join(dir, "a.wacz"), filepath.Join(dir, "b.warc.gz")
	run := func(program string, args ...string) {
		t.Helper()
		if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	limit := []string{"--set", "fetch.max_body=4KB", "--depth", "4", "--all"}
	run("webrace-run", w.crawls(append(limit, "--output", direct)...)...)
	run("webrace-run", w.crawls(append(append(limit, askAll...), "--output", wacz)...)...)
	run("webrace-store", "--data", w.data, "cache", "export", "--all", "--warc", exported)
	want := map[string]string{
		"/": "200 /home after 1", "/home": "200 /home after 0", "/moved": "200 /here?a=1&b=2 after 2", "/missing": "404 /missing after 0",
		"/gone": "410 /gone after 0", "/long": "200 /long after 0", "/copy": "200 /copy after 0",
	}
	for name, content := range map[string][]byte{
		"of a crawl": []byte(readFile(t, direct)), "of a WACZ": waczRecords(t, wacz), "of the cache": []byte(readFile(t, exported)),
	} {
		records := readWARC(t, content)
		got := map[string]string{}
		newReplay(t, records).walk(w.URL+"/", got)
		for path, wanted := range want {
			if is := strings.ReplaceAll(got[w.URL+path], w.URL, ""); is != wanted {
				t.Errorf("%s: %s is %q, want %q", name, path, is, wanted)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: followed are %v", name, got)
		}
		for _, rec := range records {
			if cut := rec.header.Get("WARC-Truncated"); (cut == "length") != (rec.header.Get("WARC-Target-URI") == w.URL+"/long" && rec.header.Get("WARC-Type") == "response") {
				t.Errorf("%s: %s is truncated by %q", name, rec.header.Get("WARC-Target-URI"), cut)
			}
		}
		file := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".warc.gz")
		writeFile(t, file, string(content))
		mustBeStrictWARC(t, file)
	}
	p := startCommand(t, w.crawls("--all", "--output", filepath.Join(dir, "a.csv"))...)
	p.mustExit(2)
	mustSay(t, p.said(), "--all")
}

// waczRecords returns the records of a WACZ, and wants the digests of its index to be spelt as theirs.
func waczRecords(t *testing.T, path string) []byte {
	t.Helper()
	records := unzipped(t, path, "archive/data.warc.gz")
	statuses := map[string]int{}
	for line := range strings.Lines(string(unzipped(t, path, "indexes/index.cdxj"))) {
		var entry struct {
			URL, Status, Digest string
			Offset, Length      int `json:",string"`
		}
		if err := json.Unmarshal([]byte(line[strings.Index(line, "{"):]), &entry); err != nil {
			t.Fatal(err)
		}
		rec := readWARC(t, records[entry.Offset:entry.Offset+entry.Length])[0].header
		if rec.Get("WARC-Payload-Digest") != entry.Digest || rec.Get("WARC-Target-URI") != entry.URL {
			t.Errorf("%s leads to %v", line, rec)
		}
		statuses[entry.Status]++
	}
	if fmt.Sprint(statuses) != "map[200:4 301:1 302:2 404:1 410:1]" {
		t.Errorf("the index has the statuses %v", statuses)
	}
	return records
}

// unzipped returns a file that is in a zip.
func unzipped(t *testing.T, path, name string) []byte {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	in, err := z.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
