package extract_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/testutil/mails"
)

var messages = []struct {
	name, contentType, body        string
	title, language, charset, text string
	links                          []string
}{
	{"plain text", "message/rfc822", "From: a@b\r\nSubject: The  =?utf-8?q?caf=C3=A9?=\r\nContent-Language: en-GB\r\n\r\nDear all,\r\n\r\n> quoted\r\n> text\r\n-- \r\nA.",
		"The café", "en-GB", "utf-8", "title:The café|navigation:a@b|Dear all,|> quoted|> text|--|A.", nil},
	{"quoted-printable in Greek", "message/global", "Subject: =?iso-8859-7?b?4eLj?=\nContent-Type: text/plain; charset=iso-8859-7\nContent-Transfer-Encoding: quoted-printable\n\n=E1=E2=\n=E3\n",
		"αβγ", "", "iso-8859-7", "title:αβγ|αβγ", nil},
	{"HTML in base64", "message/rfc822", "Subject: s\nContent-Type: text/html; charset=windows-1252\nContent-Transfer-Encoding: base64\n\n" +
		base64.StdEncoding.EncodeToString([]byte("<html lang=de><title>x</title><h1>K\xe4se</h1><a href=/k>k</a><a href=mailto:a@b>m</a><base href=//c/>")) + "\n",
		"s", "de", "windows-1252", "title:s|heading:x|heading:Käse|k m", []string{"http://c/k"}},
	{"no subject: the title of the page", "message/rfc822", "Content-Type: text/html\n\n<title>x</title>y", "x", "", "utf-8", "title:x|y", nil},
	{"alternatives: the last that can be read", "message/rfc822", "Subject: s\nContent-Type: multipart/alternative; boundary=b\n\n--b\n\nplain\n--b\nContent-Type: text/html\n\n<p>page\n--b\nContent-Type: text/calendar\n\nBEGIN\n--b--\n",
		"s", "", "utf-8", "title:s|page", nil},
	{"alternatives: the page has no text, but links", "multipart/alternative; boundary=b", "--b\n\nplain\n--b\nContent-Type: text/html\n\n<a href=/x><img src=y></a>\n--b--\n",
		"", "", "utf-8", "plain", []string{"http://example.org/x"}},
	{"mixed and related", "message/rfc822", "Subject: s\nContent-Type: multipart/mixed; boundary=b\n\nfor old programs\n--b\nContent-Type: multipart/related; boundary=bb\n\n--bb\nContent-Type: text/html\n\n<p>page\n--bb\nContent-Type: image/png\n\nPNG\n--bb--\n--b\nContent-Type: text/plain\nContent-Disposition: attachment\n\nnotes\n--b--\nfor nobody",
		"s", "", "utf-8", "title:s|page|notes", nil},
	{"each part in an encoding of its own", "multipart/mixed; boundary=b", "--b\nContent-Type: text/plain; charset=iso-8859-1\n\n\xe9\n--b\nContent-Type: text/plain; charset=utf-8\n\né\n--b\nContent-Type: text/plain; charset=koi8-r\n\n\xd1\n--b--",
		"", "", "windows-1252", "é|é|я", nil},
	{"a message forwarded", "message/rfc822", "Subject: Fwd\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nsee\n--b\nContent-Type: message/rfc822\n\nSubject: inner\n\ntext\n--b--",
		"Fwd", "", "utf-8", "title:Fwd|see|heading:inner|text", nil},
	{"a digest", "multipart/digest; boundary=b", "--b\n\nSubject: one\n\n1\n--b\n\nSubject: two\n\n2\n--b--", "one", "", "utf-8", "title:one|1|heading:two|2", nil},
	{"robots and bases are the part's", "multipart/mixed; boundary=b", "--b\nContent-Type: text/html\n\n<base href=http://c/><a href=x>1</a>\n--b\nContent-Type: text/html\n\n<a href=x>2</a>\n--b--",
		"", "", "utf-8", "1|2", []string{"http://c/x", "http://example.org/a/x"}},
	{"who it is from", "message/rfc822", "Subject: s\nFrom: =?utf-8?q?Eleni_=CE=9A?= <e@a.example>\nReply-To: list@a.example\nList-Id: Boats\n <boats.a.example>\n\nt",
		"s", "", "utf-8", "title:s|navigation:Eleni Κ <e@a.example>|navigation:list@a.example|navigation:Boats <boats.a.example>|t", nil},
	{"where it was posted", "message/rfc822", "Subject: s\nFrom: e@a.example\nNewsgroups: comp.lang.go,\n comp.lang.c\n\nt",
		"s", "", "utf-8", "title:s|navigation:e@a.example|navigation:comp.lang.go, comp.lang.c|t", nil},
	{"names of files", "message/rfc822", "Subject: s\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nsee\n--b\nContent-Type: application/pdf; name=\"old.pdf\"\nContent-Disposition: attachment; filename*=utf-8''%CE%9A%20timetable.pdf\n\n%PDF\n--b\nContent-Type: image/png; name=\"=?utf-8?q?caf=C3=A9?=.png\"\n\nPNG\n--b\nContent-Disposition: attachment; filename=\"C:\\\\me\\\\notes.txt\"\n\nnotes\n--b--",
		"s", "", "utf-8", "title:s|see|Κ timetable.pdf|café.png|notes.txt|notes", nil},
	{"the name of a file, whose base64 has a slash", "message/rfc822", "Subject: s\nContent-Type: image/png; name=\"=?utf-8?b?0L/Ri9GP?=.png\"\n\nPNG", "s", "", "", "title:s|пыя.png", nil},
	{"the path of a file, encoded", "message/rfc822", "Subject: s\nContent-Type: image/png; name=\"=?utf-8?q?=2Fme=5Ccaf=C3=A9?=.png\"\n\nPNG", "s", "", "", "title:s|café.png", nil},
	{"no mail at all", "message/rfc822", "Dear all,\n\nthis is text: yes\n", "", "", "utf-8", "Dear all,|this is text: yes", nil},
	{"empty", "message/rfc822", "", "", "", "utf-8", "", nil},
	{"binary", "message/rfc822", "Subject: s\nContent-Type: application/pdf\n\n%PDF", "s", "", "", "title:s", nil},
	{"the boundary is not said", "multipart/mixed", "x\n--b\n\none\n--b\n\ntwo\n--b--", "", "", "utf-8", "one|two", nil},
	{"the boundary is another", "multipart/mixed; boundary=c", "one\n\n--b\ntwo", "", "", "utf-8", "one|--b|two", nil},
	{"cut off", "message/rfc822", "Subject: s\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Transfer-Encoding: base64\n\nYWJjZ", "s", "", "utf-8", "title:s|abc", nil},
	{"encodings and types nobody knows", "message/rfc822", "Subject: s\nContent-Type: text/plain; charset=nosuch; ;\nContent-Transfer-Encoding: x-uuencode\n\na\x00b", "s", "", "utf-8", "title:s|ab", nil},
}

func TestMail(t *testing.T) {
	t.Parallel()
	for _, c := range messages {
		r := document(t, c.body, c.contentType, extract.Options{})
		if got := render(r.Text); r.Title != c.title || r.Language != c.language || r.Charset != c.charset || got != c.text || !slices.Equal(r.Links, c.links) {
			t.Errorf("%s: title %q, language %q, charset %q\n got %q %q\nwant %q %q", c.name, r.Title, r.Language, r.Charset, got, r.Links, c.text, c.links)
		}
		check(t, r, extract.DefaultMaxLinks)
	}
}

func TestMessageOf(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]extract.Message{
		"":                             {},
		"Message-ID: <a@b>\n":          {ID: "a@b", Thread: "a@b"},
		"message-id:a@b (old)\n":       {ID: "a@b", Thread: "a@b"},
		"Message-ID: <a\n @b> <c@d>\n": {ID: "a@b", Thread: "a@b"},
		"Message-ID: <a@b\n":           {ID: "a@b", Thread: "a@b"},
		"Message-ID: <>\n":             {},
		"Message-ID: <c@d>\nReferences: <a@b>\n <b@b>\nIn-Reply-To: <b@b>\n": {ID: "c@d", Thread: "a@b"},
		"Message-ID: <c@d>\nIn-Reply-To: Your mail of Monday <a@b>\n":        {ID: "c@d", Thread: "a@b"},
		"References: <a@b>\n":                  {Thread: "a@b"},
		"Subject: none\n\nMessage-ID: <a@b>\n": {},
		"X-No-Archive: Yes\n":                  {NoArchive: true},
		"x-no-archive:yes (please)\n":          {NoArchive: true},
		"X-No-Archive: no\n":                   {},
		"Archive: no; filename=x\n":            {NoArchive: true},
		"Archive: yes\n":                       {},
		"Subject: s\n\nX-No-Archive: yes\n":    {},
	} {
		if got := extract.MessageOf([]byte(header)); got != want {
			t.Errorf("%q: %+v, want %+v", header, got, want)
		}
	}
}

func TestMailIsReadToBoundedDepthAndInBoundedParts(t *testing.T) {
	t.Parallel()
	const levels = 10_000
	var deep strings.Builder
	for i := range levels {
		fmt.Fprintf(&deep, "Subject: level %d\nContent-Type: message/rfc822\n\n", i)
	}
	r := document(t, deep.String(), "message/rfc822", extract.Options{})
	if n := len(r.Text.Blocks); n < 10 || n > 20 {
		t.Errorf("%d levels were read", n)
	}
	deep.Reset()
	for i := range levels {
		fmt.Fprintf(&deep, "Content-Type: multipart/mixed; boundary=%d\n\n--%d\n", i, i)
	}
	if r = document(t, deep.String(), "message/rfc822", extract.Options{}); len(r.Text.Blocks) > 0 {
		t.Errorf("text %q", r.Text.Bytes)
	}
	r = document(t, strings.Repeat("--b\n\ntext\n", levels), "multipart/mixed; boundary=b", extract.Options{})
	if n := len(r.Text.Blocks); n < 900 || n > 1_000 {
		t.Errorf("%d parts were read", n)
	}
}

func FuzzMail(f *testing.F) {
	for _, c := range messages {
		f.Add([]byte(c.body), c.contentType)
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		kept := bytes.Clone(body)
		r, err := extract.Document(body, contentType, at, extract.Options{MaxLinks: 5})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(body, kept) {
			t.Fatal("the body was changed")
		}
		check(t, r, 5)
		if m := extract.MessageOf(body); strings.ContainsAny(m.ID, " \n\r\t") || strings.ContainsAny(m.Thread, " \n\r\t") {
			t.Fatalf("%+v", m)
		}
		if r.Title != "" && contentType == "message/rfc822" && len(r.Text.Blocks) == 0 {
			t.Fatalf("the title %q is no text", r.Title)
		}
	})
}

// A message has the same text when it is forwarded as it is, and with the ends of lines that servers send.
func FuzzMailSaysTheSameWithinMail(f *testing.F) {
	for _, c := range messages {
		f.Add(c.body)
	}
	f.Add(string(mails.New(1, 1000).Message("a@b")))
	f.Fuzz(func(t *testing.T, message string) {
		if strings.Contains(message, "\r") || strings.Count(message, "message/")+strings.Count(message, "multipart/") > 10 || strings.Count(message, "--") > 500 {
			return // how deep parts lie, and how many there are, is bounded
		}
		boundary := "b"
		for strings.Contains(message, boundary) {
			boundary += "b"
		}
		read := func(message string) *extract.Result {
			r, err := extract.Document([]byte(message), "message/rfc822", at, extract.Options{MaxLinks: 5})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		want := read(message)
		forwarded := "Content-Type: multipart/mixed; boundary=" + boundary + "\n\n--" + boundary + "\nContent-Type: message/rfc822\n\n" + message + "\n--" + boundary + "--\n"
		for how, sent := range map[string]string{"forwarded": forwarded, "with other ends of lines": strings.ReplaceAll(message, "\n", "\r\n")} {
			got := read(sent)
			text := strings.ReplaceAll(render(got.Text), "\r\n", "\n") // of lines within a paragraph
			if got.Title != want.Title || text != render(want.Text) || got.Charset != want.Charset || got.Language != want.Language || !slices.Equal(got.Links, want.Links) {
				t.Fatalf("%q %s is %q: %q, %q\nwant %q: %q, %q", message, how, got.Title, text, got.Links, want.Title, render(want.Text), want.Links)
			}
		}
	})
}

func FuzzPlainTextKeepsItsWords(f *testing.F) {
	for _, s := range []string{"", "a\r\n\r\nb\rc\n \nd", "\x00\n", "a\x00b\n\n\x00\n\nc", "é"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := extract.Document(body, "text/plain; charset=utf-8", at, extract.Options{})
		if err != nil {
			t.Fatal(err)
		}
		check(t, r, 0)
		if !utf8.Valid(body) || bytes.HasPrefix(body, []byte("\xef\xbb\xbf")) || bytes.HasPrefix(body, []byte("\xfe\xff")) {
			return
		}
		want := strings.FieldsFunc(strings.ReplaceAll(string(body), "\x00", ""), isSpace)
		var got []string
		for _, b := range r.Text.Blocks {
			got = append(got, strings.FieldsFunc(string(r.Text.Slice(b)), isSpace)...)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("words of %q are %q", body, got)
		}
	})
}
