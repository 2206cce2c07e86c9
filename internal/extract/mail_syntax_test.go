package extract

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMailHeader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		want     mailHeader
		body     string
	}{
		{"empty", "", mailHeader{}, ""},
		{"fields in any case, lines of any end", "SUBJECT: a\r\ncontent-type: text/html\nContent-Transfer-Encoding:base64\nContent-Language:\tel\n\nb\n",
			mailHeader{Subject: "a", ContentType: "text/html", TransferEncoding: "base64", Language: "el"}, "b\n"},
		{"folded", "Subject: a\r\n b\n\t c \nX: y\n z\n\nd", mailHeader{Subject: "a b c"}, "d"},
		{"the first of two counts, also an empty one", "Subject:\nSubject: b\n c\n\nd", mailHeader{}, "d"},
		{"encoded words", "Subject: =?utf-8?q?caf=C3=A9?= =?iso-8859-7?B?4eLj?= =?koi8-r?q?=D1?= x\n\n", mailHeader{Subject: "caféαβγя x"}, ""},
		{"encoded words that are none", "Subject: =?utf-8?x?a?= =?utf-8?b?!?= =?a\n\n", mailHeader{Subject: "=?utf-8?x?a?= =?utf-8?b?!?= =?a"}, ""},
		{"an unknown encoding", "Subject: =?nosuch?q?a=E9?=\n\n", mailHeader{Subject: "aé"}, ""},
		{"bytes beyond ASCII", "Subject: caf\xe9 und K\xe4se\n\n", mailHeader{Subject: "café und Käse"}, ""},
		{"encoded word of broken bytes", "Subject: =?utf-8?q?a=FFb?=\n\n", mailHeader{Subject: "a\ufffdb"}, ""},
		{"as in a mail box", "From a@b Sat Nov 21\nSubject: a\n\nb", mailHeader{Subject: "a"}, "b"},
		{"none", "Dear all,\n\nb: c\n", mailHeader{}, "Dear all,\n\nb: c\n"},
		{"none, but white space", " a\nSubject: b\n", mailHeader{}, " a\nSubject: b\n"},
		{"no empty line after it", "Subject: a\nDear all,\nb: c", mailHeader{Subject: "a"}, "Dear all,\nb: c"},
		{"no body", "Subject: a", mailHeader{Subject: "a"}, ""},
		{"an empty one", "\r\na: b", mailHeader{}, "a: b"},
		{"white space before the colon", "Subject : a\n\nb", mailHeader{Subject: "a"}, "b"},
	} {
		h, body := splitMail([]byte(c.in))
		if h != c.want || string(body) != c.body {
			t.Errorf("%s: %q\n got %+v, %q\nwant %+v, %q", c.name, c.in, h, body, c.want, c.body)
		}
	}
}

func TestGiganticFieldsAreCutOff(t *testing.T) {
	t.Parallel()
	h, body := splitMail([]byte("Subject: " + strings.Repeat("a\n b", 1<<18) + "\n\nc"))
	if len(h.Subject) > 32<<10 || string(body) != "c" {
		t.Errorf("%d bytes of a subject, body %.20q", len(h.Subject), body)
	}
}

func TestMailParts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"empty", "", nil},
		{"preamble and epilogue", "x\n--b\na\n--b\r\n\r\nc\r\n--b--\nd\n--b\ne", []string{"a", "\r\nc"}},
		{"white space after a delimiter", "--b \t\r\na\n--b-- \nc", []string{"a"}},
		{"not ended", "--b\na\n--b\nc\n", []string{"a", "c\n"}},
		{"ended in the middle of a delimiter", "--b\na\n--b", []string{"a"}},
		{"of nothing", "--b\n--b\n--b--", []string{"", ""}},
		{"delimiters within lines, or of longer names, are none", "--b\na --b\n--bc\n--b c\n--b-\n--b--", []string{"a --b\n--bc\n--b c\n--b-"}},
		{"no delimiter", "a\n -b\n--c\n", nil},
	} {
		var got []string
		for _, p := range splitParts([]byte(c.in), "b", 10) {
			got = append(got, string(p))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q\n got %q\nwant %q", c.name, c.in, got, c.want)
		}
	}
	if n := len(splitParts(bytes.Repeat([]byte("--b\na\n"), 100), "b", 10)); n != 10 {
		t.Errorf("%d parts, where 10 were wanted", n)
	}
}

func TestMailBoundary(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ contentType, body, want string }{
		{`multipart/mixed; boundary="a b"`, "", "a b"},
		{"multipart/mixed; BOUNDARY=a; x", "--c\n--c--", "a"},
		{"multipart/mixed; broken; Boundary='a'", "", "a"},
		{"multipart/mixed; charset=\xff; boundary=a", "", "a"},
		{"multipart/mixed", "x\n-- \n--a\ny\n--a--\n", "a"},
		{"multipart/mixed; boundary=", "--a\r\n\r\nx\r\n--a--\r\n", "a"},
		{"multipart/mixed", "--a\nx\n", ""},
		{"multipart/mixed", "x", ""},
	} {
		if got := boundaryOf(c.contentType, []byte(c.body)); got != c.want {
			t.Errorf("%q %q: %q, want %q", c.contentType, c.body, got, c.want)
		}
	}
}

func TestTransferDecoding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ encoding, in, want string }{
		{"", "a=41", "a=41"},
		{"8BIT", "a=41", "a=41"},
		{"x-unknown", "a", "a"},
		{" Base64 ", "YWJj\r\nZGU=\r\n", "abcde"},
		{"base64", "Y W.J\x00jZ-GU", "abcde"},
		{"base64", "YQ==\nYmM=\n", "abc"},
		{"base64", "YWJjZ", "abc"},
		{"base64", "====", ""},
		{"QUOTED-PRINTABLE", "caf=C3=A9 =3d=3D a=\r\nb=  \nc=", "café == abc"},
		{"quoted-printable", "a=b=4=XY=\rz==41", "a=b=4=XY=\rz=A"},
	} {
		if got := decodeTransfer([]byte(c.in), c.encoding); string(got) != c.want {
			t.Errorf("%s: %q is %q, want %q", c.encoding, c.in, got, c.want)
		}
	}
}

var seeds = []string{
	"Subject: a\n b\r\nContent-Type: multipart/mixed; boundary=b\n\nx\n--b\n\na\n--b\nContent-Type: text/html\n\n<p>c\n--b--\ne",
	"From x\nSubject: =?utf-8?q?=C3=A9?=\nContent-Transfer-Encoding: quoted-printable\n\n=C3=A9=\n=41\n",
	"Content-Transfer-Encoding: base64\n\nYWJjZGU=\nYQ==\n", "--b\n\n\n--b \n--b--", "Subject: a", "\n\n--b--\n",
}

func FuzzHeaderIsThatOfNetMail(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		h, body := splitMail(message)
		if !utf8.ValidString(h.Subject) || !bytes.HasSuffix(message, body) {
			t.Fatalf("subject %q, body %q", h.Subject, body)
		}
		m, err := mail.ReadMessage(bytes.NewReader(message))
		if err != nil || bytes.Contains(message, []byte("\r\r")) || bytes.Contains(message, []byte("\n:")) || bytes.HasPrefix(message, []byte(":")) {
			return // net/mail lets two carriage returns end a line sometimes, and passes over a field without a name
		}
		for name := range m.Header {
			if strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
				return // no name of a field by RFC 5322
			}
		}
		want, err := io.ReadAll(m.Body)
		if err != nil || !bytes.Equal(body, want) {
			t.Fatalf("body %q, want %q, %v", body, want, err)
		}
		for _, c := range []struct{ name, got string }{
			{"Content-Type", h.ContentType}, {"Content-Transfer-Encoding", h.TransferEncoding}, {"Content-Language", h.Language},
			{"Content-Disposition", h.Disposition}, {"Message-Id", h.ID}, {"References", h.References},
		} {
			if want := m.Header.Get(c.name); c.got != want {
				t.Fatalf("%s is %q, want %q", c.name, c.got, want)
			}
		}
	})
}

var closed = regexp.MustCompile(`(?m)^--b--[ \t]*\r?$`)

func FuzzPartsAreThoseOfMimeMultipart(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		const most = 50
		got := splitParts(body, "b", most)
		if len(got) > most {
			t.Fatalf("%d parts", len(got))
		}
		if !closed.Match(body) {
			return // mime/multipart passes over a last part that is cut off within its header
		}
		r := multipart.NewReader(bytes.NewReader(body), "b")
		var want [][]byte
		for {
			p, err := r.NextRawPart()
			if err == io.EOF {
				break
			}
			if err != nil {
				return
			}
			content, err := io.ReadAll(p)
			if err != nil || len(want) == most {
				return
			}
			want = append(want, content)
		}
		for i, part := range got {
			_, got[i] = splitMail(part)
		}
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("parts of %q are %q, want %q", body, got, want)
		}
	})
}

func FuzzDecodeIsThatOfTheLibrary(f *testing.F) {
	for _, s := range []string{"YWJj\r\nZGU=\n", "=C3=A9 a=\r\nb = \nc=", "a=20 \n", "YQ==YQ=="} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got := decodeTransfer(body, "base64")
		if want, err := base64.StdEncoding.DecodeString(string(body)); err == nil && !bytes.Equal(got, want) {
			t.Fatalf("base64: %q is %q, want %q", body, got, want)
		}
		got = decodeTransfer(body, "quoted-printable")
		if len(got) > len(body) {
			t.Fatalf("%d bytes from %d", len(got), len(body))
		}
		want, err := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(body)))
		if err == nil && !slices.Equal(strings.Fields(string(got)), strings.Fields(string(want))) {
			t.Fatalf("quoted-printable: %q is %q, want %q", body, got, want)
		}
	})
}

// FuzzBase64 holds the way by which what is whole is decoded to the one for what is broken.
func FuzzBase64(f *testing.F) {
	for _, body := range []string{"", "QQ==", "QUI=\r\n", "QU\r\nJD\n", "QR==", "QQ==QQ==", "Q", "QUI", "Q Q = =", "QQ=\n=\n", "====", "-_-_"} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if got, want := decodeBase64(body), decodeStretches(nil, body); !bytes.Equal(got, want) {
			t.Errorf("%q is %q, want %q", body, got, want)
		}
	})
}
