package objects

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace"
)

// mail is a message that no HTTP server answered.
func mail(url, body string) *webrace.Document {
	return &webrace.Document{
		URL: url, Outcome: webrace.Fetched, Header: http.Header{webrace.SourceField: {"imap://a.example/INBOX"}}, At: noon, MediaType: "message/rfc822", Charset: "koi8-r", Language: "ru", Secret: "mailbox",
		Body: []byte(body), Links: []string{"https://example.org/"},
	}
}

// TestWhatNoServerAnsweredIsAResource stores messages, of which one is shorter than it was, and one is in two
// mailboxes, and reads them back: from the store, when its index has been lost, when it was compressed anew, and by
// another library.
func TestWhatNoServerAnsweredIsAResource(t *testing.T) {
	t.Parallel()
	eachCompression(t, func(t *testing.T, c Compression) {
		dir := t.TempDir()
		s := openAt(t, dir, Options{Compression: c})
		put(t, s, page(home, "page"))
		if n, _, err := get(s, formatKey, decodeNumber); err != nil || n >= formatResources {
			t.Errorf("with a page alone, the format is %d, %v", n, err)
		}
		again := mail("mid:1@a.example", "Subject: one\r\n\r\nHTTP/1.1 200 OK\r\n\r\n")
		again.Secret = "other"
		cut := mail("mid:2@a.example", "Subject: tw")
		cut.Truncated = true
		webrace.SetTruncation(cut.Header, webrace.TruncatedByTime)
		bare := mail("ni:///sha-256;47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU", "")
		bare.Header = nil
		bare.MediaType, bare.Charset, bare.Language, bare.Secret = "", "", "", ""
		all := []*webrace.Document{mail("mid:1@a.example", string(again.Body)), again, cut, mail(cut.URL, "Subject: two\r\n\r\n"), bare}
		var stored []Version
		for _, d := range all {
			stored = append(stored, put(t, s, d))
		}
		if n, _, err := get(s, formatKey, decodeNumber); err != nil || n != formatResources {
			t.Errorf("with a message, the format is %d, %v", n, err)
		}
		if same := put(t, s, again); same.Changed || same.Number != 1 {
			t.Errorf("the same message makes another version: %+v", same)
		}
		look := func(when string) {
			t.Helper()
			for i, d := range all {
				v, err := s.Get(View(d.Secret, d.URL), stored[i].Number)
				if err != nil {
					t.Fatalf("%s: %v", when, err)
				}
				header := wantBody(t, s, v, string(d.Body))
				if v.Status != 0 || v.MediaType != d.MediaType || v.Charset != d.Charset || v.Language != d.Language || v.Truncated != d.Truncated {
					t.Errorf("%s: %+v", when, v)
				}
				if got, want := header.Get(webrace.SourceField), d.Header.Get(webrace.SourceField); got != want {
					t.Errorf("%s: of source %q, want %q", when, got, want)
				}
				if want := webrace.TruncationOf(d.Header); webrace.TruncationOf(header) != want && d.Truncated {
					t.Errorf("%s: truncated by %s, want %s", when, webrace.TruncationOf(header), want)
				}
				if m, err := s.Meta(v); err != nil || len(m.Links) != len(d.Links) || m.Status != 0 {
					t.Errorf("%s: meta-info %+v, %v", when, m, err)
				}
			}
			sound(t, s)
		}
		look("stored")
		closeStore(t, s)
		if err := os.RemoveAll(filepath.Join(dir, indexName)); err != nil {
			t.Fatal(err)
		}
		repair(t, dir)
		s = openAt(t, dir, Options{Compression: c})
		look("with an index that was built again")
		collect(t, s, CollectOptions{Verdict: only(Remove, func(v Version) bool { return v.URL == home })})
		look("when another is gone")
		closeStore(t, s)
		kinds := map[string]string{}
		for _, r := range readStrictly(t, dir) {
			if r.kind == typeResource || r.kind == typeRevisit {
				kinds[r.kind] += fmt.Sprintln(r.url, len(r.block))
			}
		}
		want := map[string]string{
			typeResource: fmt.Sprintln("mid:1@a.example", len(again.Body)) + fmt.Sprintln("mid:2@a.example", 11) + fmt.Sprintln("mid:2@a.example", 16) + fmt.Sprintln(bare.URL, 0),
			typeRevisit:  fmt.Sprintln("mid:1@a.example", 0),
		}
		for kind, records := range want {
			if c == Gzip && kinds[kind] != records {
				t.Errorf("another library, which knows gzip, reads the records of type %s\n%swant\n%s", kind, kinds[kind], records)
			}
		}
	})
}

func TestWhatMayHaveNoStatus(t *testing.T) {
	t.Parallel()
	s := opened(t, Options{})
	for url, want := range map[string]string{
		home:                   "0 is not an HTTP status",
		"http://a.example/":    "0 is not an HTTP status",
		"urn:view:mid:1@a":     "that of a screenshot",
		"urn:fullPage:mid:1@a": "that of a screenshot",
	} {
		if _, err := s.Put(mail(url, "x"), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
}
