package nntp

import (
	"bufio"
	"bytes"
	"io"
	"net/textproto"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestCommandsAreOneLine(t *testing.T) {
	t.Parallel()
	if line, err := command("AUTHINFO USER", "eleni é"); line != "AUTHINFO USER eleni é\r\n" || err != nil {
		t.Errorf("%q, %v", line, err)
	}
	for _, word := range []string{"a\r\nPOST", "a\n", "a\r", "a\x00", "a\x7f", "\t"} {
		if line, err := command("AUTHINFO PASS", word); err == nil || line != "" || strings.Contains(err.Error(), word) {
			t.Errorf("%q, %v", line, err)
		}
	}
}

// stuffed is a text as a server sends it, by RFC 3977, section 3.1.1.
func stuffed(text string) string {
	return strings.TrimPrefix(strings.ReplaceAll("\r\n"+text, "\r\n.", "\r\n.."), "\r\n") + ".\r\n"
}

// FuzzArticles: an article is read as it was sent, whatever stands in it, wherever buffers end, and nothing of it is
// taken for what follows.
func FuzzArticles(f *testing.F) {
	for _, text := range []string{"", "a\r\n", ".\r\n..\r\n", "a\n.\n.\r\n", "a\r", "\r\n\r\n", ".\r.\n.\r\n", strings.Repeat("x", 40) + "\r\n.x"} {
		f.Add(text, 16, 30)
	}
	f.Fuzz(func(t *testing.T, text string, buffer, most int) {
		if text != "" && !strings.HasSuffix(text, "\r\n") {
			text += "\r\n"
		}
		sent := stuffed(text) + "205 bye\r\n"
		r := bufio.NewReaderSize(strings.NewReader(sent), max(16, min(buffer, 100)))
		body, cut, err := readArticle(r, int64(len(text)))
		next, _ := readLine(r)
		if string(body) != text || cut || err != nil || string(next) != "205 bye" {
			t.Fatalf("%q is read as %q, cut %v, %v; then %q", text, body, cut, err, next)
		}
		if most >= 0 && most < len(text) {
			r := bufio.NewReaderSize(strings.NewReader(sent), max(16, min(buffer, 100)))
			if body, cut, err := readArticle(r, int64(most)); string(body) != text[:most] || !cut || err != nil {
				t.Fatalf("%d bytes of %q are read as %q, cut %v, %v", most, text, body, cut, err)
			}
		}
		// What is broken off is an error, and never less than was sent.
		if body, cut, err := readArticle(buffered(strings.NewReader(strings.TrimSuffix(stuffed(text), ".\r\n"))), 1<<20); err != io.ErrUnexpectedEOF {
			t.Fatalf("broken off: %q, cut %v, %v", body, cut, err)
		}
		// Where there are no lone CR and LF, Go reads the same.
		if lines := strings.ReplaceAll(text, "\r\n", ""); !strings.ContainsAny(lines, "\r\n") {
			want, err := textproto.NewReader(bufio.NewReader(strings.NewReader(sent))).ReadDotBytes()
			if got := bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")); err == nil && !bytes.Equal(got, want) {
				t.Fatalf("%q is read as %q, and by Go as %q", text, got, want)
			}
		}
	})
}

// FuzzReplies: an answer that is one has a code of three digits, and a text that can be shown in a line.
func FuzzReplies(f *testing.F) {
	for _, line := range []string{"200 hello", "200", "2000", "+11 x", "-99 x", "411 no\x1b[2J", "211 1 2 3 a", "", " 200"} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r, ok := parseReply(line)
		if !ok {
			return
		}
		if r.code < 100 || r.code > 599 || !bytes.HasPrefix(line, []byte{byte('0' + r.code/100), byte('0' + r.code/10%10), byte('0' + r.code%10)}) {
			t.Fatalf("%q has the code %d", line, r.code)
		}
		if strings.ContainsFunc(r.text, unicode.IsControl) || !utf8.ValidString(r.text) {
			t.Fatalf("%q has the text %q", line, r.text)
		}
		if id := idOf(r); id != "" && (len(id) > longestID || !strings.HasPrefix(id, "<") || !strings.HasSuffix(id, ">") || strings.ContainsAny(id, " \t\r\n") || !bytes.Contains(line, []byte(id))) {
			t.Fatalf("%q has the ID %q", line, id)
		}
	})
}

// FuzzLists: each line of a list is a line that was sent, and what follows the list is not touched.
func FuzzLists(f *testing.F) {
	for _, text := range []string{"1\ts\r\n", "..\r\n", "1\n2\r\n", "18446744073709551616\t\r\n", "007\t\r\n-1\r\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if text != "" && !strings.HasSuffix(text, "\r\n") {
			text += "\r\n"
		}
		r := buffered(strings.NewReader(stuffed(text) + "205 bye\r\n"))
		var got strings.Builder
		err := readList(r, func(line []byte) error {
			got.Write(line)
			got.WriteString("\r\n")
			if n, err := parseOverview(line); err == nil && (n < 0 || n > mostNumber || !strings.HasPrefix(strings.TrimLeft(string(line), "0"), strings.TrimLeft(itoa(n), "0"))) {
				t.Fatalf("%q is of article %d", line, n)
			}
			return nil
		})
		if strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\n") || len(text) > longestLine {
			return // which are no lines
		}
		next, _ := readLine(r)
		if err != nil || got.String() != text || string(next) != "205 bye" {
			t.Fatalf("%q is read as %q, %v; then %q", text, got.String(), err, next)
		}
	})
}

func itoa(n int64) string { return strings.Split(rangeOf(n, n), "-")[0] }

// FuzzTrace: without what servers write into them, two copies of an article are the same, and nothing else is gone.
func FuzzTrace(f *testing.F) {
	f.Add("a!b", "news.example a:1\r\n b:2", "Subject: s\r\n x\r\n", "Path: of the text\r\n")
	f.Fuzz(func(t *testing.T, path, xref, header, text string) {
		path, xref = strings.Join(strings.Fields(path), " "), strings.Join(strings.Fields(xref), "\r\n ")
		field, _, _ := strings.Cut(header, ":")
		if strings.Contains(header, "\n\n") || strings.Contains(header, "\n\r") || strings.ContainsAny(field, "\r\n \t") || strings.HasPrefix(header, ":") {
			return
		}
		lower := "\n" + strings.ToLower(header)
		if strings.Contains(lower, "\npath") || strings.Contains(lower, "\nxref") || field == header {
			return
		}
		if !strings.HasSuffix(header, "\r\n") {
			header += "\r\n"
		}
		rest := header + "\r\n" + text
		copied := "Path: " + path + "\r\nXREF: " + xref + "\r\n" + rest
		if got := withoutTrace([]byte(copied)); string(got) != rest {
			t.Fatalf("%q becomes %q, and not %q", copied, got, rest)
		}
		behind := header + "Xref: " + xref + "\r\npath: " + path + "\r\n\r\n" + text
		if got := withoutTrace([]byte(behind)); string(got) != rest {
			t.Fatalf("%q becomes %q, and not %q", behind, got, rest)
		}
	})
}
