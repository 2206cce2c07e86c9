package charsets

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
)

func encode(t testing.TB, name, text string) []byte {
	t.Helper()
	e, err := htmlindex.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := e.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestToUTF8(t *testing.T) {
	t.Parallel()
	meta := func(label string) string { return `<meta charset="` + label + `">` }
	for _, c := range []struct{ name, body, header, text, charset string }{
		{"empty", "", "", "", "utf-8"},
		{"ASCII", "abc", "text/html", "abc", "utf-8"},
		{"UTF-8 without a word", "é", "", "é", "utf-8"},
		{"byte order mark of UTF-8 before the header", "\xef\xbb\xbfé", "text/html; charset=windows-1252", "é", "utf-8"},
		{"byte order mark of UTF-16", "\xff\xfea\x00\xe9\x00", "text/html; charset=utf-8", "aé", "utf-16le"},
		{"byte order mark of big-endian UTF-16", "\xfe\xff\x00a\x00\xe9", "", "aé", "utf-16be"},
		{"UTF-16 with neither", "<\x00a\x00>\x00", "", "<a>", "utf-16le"},
		{"big-endian UTF-16 with neither", "\x00<\x00a\x00>", "", "<a>", "utf-16be"},
		{"header before valid UTF-8", "é", "text/html;charset=ISO-8859-1", "Ã©", "windows-1252"},
		{"header before meta", meta("utf-8") + "\xe4", "text/html; charset=\"iso-8859-7\"", meta("utf-8") + "δ", "iso-8859-7"},
		{"header that is not well-formed", "\xe4", "text/html; charset=iso-8859-7; =", "δ", "iso-8859-7"},
		{"unknown label in the header", "é", "text/html; charset=nonsense", "é", "utf-8"},
		{"label that must not be trusted", "é", "text/html; charset=hz-gb-2312", "é", "utf-8"},
		{"ASCII that is declared", meta("big5") + "a", "", meta("big5") + "a", "big5"},
		{"ASCII in a page that is said to be in seven bits", "a\x1b(B", "text/html; charset=iso-2022-jp", "a", "iso-2022-jp"},
		{"four bytes of GB 18030 in GBK", "\x81\x30\x81\x34", "text/html; charset=gb2312", "\u0084", "gbk"},
		{"plain text that looks like a declaration", meta("iso-8859-7") + "caf\xe9", "text/plain", meta("iso-8859-7") + "café", "windows-1252"},
		{"XML in which a page is quoted", "<x>" + meta("iso-8859-7") + "caf\xe9</x>", "text/xml", "<x>" + meta("iso-8859-7") + "café</x>", "windows-1252"},
		{"XHTML", meta("iso-8859-7") + "\xe4", "application/xhtml+xml", meta("iso-8859-7") + "δ", "iso-8859-7"},
		{"the word charset in the text", "<p>charset: caf\xe9 charset=", "text/html", "<p>charset: café charset=", "windows-1252"},
		{"the word charset in Greek", "<p>charset: \xe3\xeb\xfe\xf3\xf3\xe1 \xea\xe1\xe9 \xe3\xf1\xe1\xf6\xde", "text/html", "<p>charset: γλώσσα και γραφή", "windows-1253"},
		{"valid UTF-8 before meta", meta("windows-1252") + "é", "", meta("windows-1252") + "é", "utf-8"},
		{"meta", meta("iso-8859-7") + "\xe4", "", meta("iso-8859-7") + "δ", "iso-8859-7"},
		{"meta http-equiv", `<META HTTP-EQUIV=Content-Type CONTENT="text/html; CHARSET=iso-8859-7">` + "\xe4", "",
			`<META HTTP-EQUIV=Content-Type CONTENT="text/html; CHARSET=iso-8859-7">δ`, "iso-8859-7"},
		{"meta of UTF-8 that is not quite", meta("utf-8") + "a\xffb", "", meta("utf-8") + "a\ufffdb", "utf-8"},
		{"meta after the first kilobyte", strings.Repeat(" ", 1024) + meta("iso-8859-7") + "\xe4", "", strings.Repeat(" ", 1024) + meta("iso-8859-7") + "δ", "iso-8859-7"},
		{"XML declaration", "<?xml version='1.0' encoding='iso-8859-7'?>\xe4", "", "<?xml version='1.0' encoding='iso-8859-7'?>δ", "iso-8859-7"},
		{"Latin without a word", "caf\xe9", "", "café", "windows-1252"},
		{"invalid in a declared encoding", "a\xffb\xe2\x82", "text/plain; charset=utf-8", "a\ufffdb\ufffd", "utf-8"},
		{"UTF-8 cut within a character", "é \xe2\x82", "", "é \ufffd", "utf-8"},
		{"UTF-16 cut within a character", "\xff\xfea\x00b", "", "a\ufffd", "utf-16le"},
		{"UTF-8 with one wrong byte", "éèêàâîôûçùï \xff", "", "éèêàâîôûçùï \ufffd", "utf-8"},
		{"Japanese in seven bits", string("\x1b$B$\"\x1b(B"), "", "あ", "iso-2022-jp"},
	} {
		text, name, err := ToUTF8([]byte(c.body), c.header)
		if err != nil || string(text) != c.text || name != c.charset {
			t.Errorf("%s: %q, %s, %v\nwant %q, %s", c.name, text, name, err, c.text, c.charset)
		}
	}
}

func TestEncodingsAreKnownByTheirLetters(t *testing.T) {
	t.Parallel()
	texts := map[string][]string{
		"日本語の文章は、ひらがなとカタカナと漢字でできています。これは試験のための短い文です。":                                        {"shift_jis", "euc-jp"},
		"我们在这里说的是一个不长的句子，它是为了看看机器能不能知道这是中文。":                                                 {"gb18030"},
		"我們在這裡說的是一個不長的句子，它是為了看看機器能不能知道這是中文。":                                                 {"big5"},
		"이것은 문자 인코딩을 알아내는지 확인하기 위한 짧은 문장입니다.":                                                {"euc-kr"},
		"Это короткое предложение написано для того, чтобы проверить определение кодировки.": {"windows-1251", "koi8-r", "iso-8859-5"},
		"Αυτή είναι μια σύντομη πρόταση για να ελέγξουμε την κωδικοποίηση.":                  {"windows-1253"},
		"Les élèves français étudient à l'université, où ils apprennent l'été.":              {"windows-1252"},
		"Die Größe der Straße überrascht die Käufer; schöne Grüße für alle.":                 {"windows-1252"},
	}
	for text, names := range texts {
		for _, want := range names {
			for _, around := range []string{"", strings.Repeat("<p>some words in between</p>\n", 20)} {
				got, name, err := ToUTF8(encode(t, want, around+text), "text/html")
				if err != nil || name != want || string(got) != around+text {
					t.Errorf("%s was taken for %s, %v: %.200q", want, name, err, got)
				}
			}
		}
	}
}

func TestValidUTF8IsNotCopied(t *testing.T) {
	t.Parallel()
	body := []byte("\xef\xbb\xbfa é")
	text, _, err := ToUTF8(body, "")
	if err != nil || &text[0] != &body[3] {
		t.Errorf("%q, %v", text, err)
	}
	if n := len(text); n == 0 || cap(text) < n {
		t.Errorf("length %d", n)
	}
}

func FuzzToUTF8(f *testing.F) {
	for _, s := range []string{"", "a", "\xff\xfea", "\xfe\xff", "<\x00", "é\xe2", "<?xml encoding='x'?>\x80", "<meta charset=big5>\x80\xff", "\x1b$B\x80\xff"} {
		for _, h := range []string{"", "text/html; charset=gb18030", "text/html; charset=utf-16", "x; charset='"} {
			f.Add([]byte(s), h)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		kept := bytes.Clone(body)
		text, name, err := ToUTF8(body, contentType)
		if err != nil || !utf8.Valid(text) || !bytes.Equal(body, kept) {
			t.Fatalf("%q, %s, %v", text, name, err)
		}
		if standardName(name) != name {
			t.Fatalf("%q is no standard name", name)
		}
		if rest := bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")); name == "utf-8" && utf8.Valid(rest) && !bytes.Equal(text, rest) {
			t.Fatalf("valid UTF-8 %q became %q", body, text)
		}
	})
}
