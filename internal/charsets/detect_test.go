package charsets

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/unicode/norm"
)

// decomposed writes Vietnamese as windows-1258 has it: tones apart from their letters.
func decomposed(text string) string {
	var out strings.Builder
	for _, r := range norm.NFC.String(text) {
		if _, ok := charmap.Windows1258.EncodeRune(r); ok {
			out.WriteRune(r)
			continue
		}
		whole := []rune(norm.NFD.String(string(r)))
		tone := len(whole) - 1
		for i, m := range whole { // a tone may stand before the mark of the letter
			if strings.ContainsRune("\u0300\u0301\u0303\u0309\u0323", m) {
				tone = i
			}
		}
		letter := append(whole[:tone:tone], whole[tone+1:]...)
		out.WriteString(norm.NFC.String(string(letter)) + string(whole[tone]))
	}
	return out.String()
}

// legacy are 31 encodings, with languages whose pages are in them.
var legacy = []struct{ encoding, languages string }{
	{"windows-1250", "cs hr hu pl ro sk sl"}, {"windows-1251", "be bg mk ru sr uk"}, {"windows-1252", "ca da de es fi fr is it nb nl pt sv"},
	{"windows-1253", "el"}, {"windows-1254", "tr"}, {"windows-1255", "he"}, {"windows-1256", "ar fa"}, {"windows-1257", "et lt lv"},
	{"windows-1258", "vi"}, {"windows-874", "th"}, {"iso-8859-2", "cs hr hu pl sk sl"}, {"iso-8859-3", "eo"}, {"iso-8859-4", "et lt lv"},
	{"iso-8859-5", "bg ru sr"}, {"iso-8859-6", "ar"}, {"iso-8859-7", "el"}, {"iso-8859-8", "he"}, {"iso-8859-13", "lt lv"}, {"iso-8859-15", "de fi fr"},
	{"iso-8859-16", "ro"}, {"koi8-r", "ru"}, {"koi8-u", "uk"}, {"ibm866", "be ru"}, {"x-mac-cyrillic", "bg ru uk"}, {"macintosh", "de fr es sv"},
	{"gb18030", "zh_CN"}, {"big5", "zh_TW"}, {"shift_jis", "ja"}, {"euc-jp", "ja"}, {"iso-2022-jp", "ja"}, {"euc-kr", "ko"},
}

// writable returns the part of a text that an encoding has, and that in the encoding.
func writable(t testing.TB, encoding, text string) (kept string, encoded []byte) {
	t.Helper()
	e, err := htmlindex.Get(encoding)
	if err != nil {
		t.Fatal(err)
	}
	if encoding == "windows-1258" {
		text = decomposed(text)
	}
	if encoding == "windows-1250" || encoding == "iso-8859-2" {
		text = strings.NewReplacer("ș", "ş", "ț", "ţ", "Ș", "Ş", "Ț", "Ţ").Replace(text)
	}
	encoder := e.NewEncoder()
	var out strings.Builder
	for _, r := range text {
		if _, err := encoder.String(string(r)); err == nil {
			out.WriteRune(r)
		}
	}
	encoded, err = encoder.Bytes([]byte(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), encoded
}

// pieces cuts a text into pieces of about so many characters, at the ends of lines.
func pieces(text string, size, most int) (all []string) {
	var piece strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		piece.WriteString(line)
		if n += len([]rune(line)); n >= size {
			all = append(all, piece.String())
			piece.Reset()
			n = 0
		}
	}
	return all[:min(len(all), most)]
}

var pages = flag.Int("pages", 10, "how many pages of each encoding and language, and of each length, are read")

// TestDetect reads pages made of GLib's translations, as if their encoding were not declared, and with a declaration.
func TestDetect(t *testing.T) {
	t.Parallel()
	for _, size := range []int{100, 1000} {
		found, all := 0, 0
		for _, w := range legacy {
			foundHere, allHere := 0, 0
			wrong := make(map[string]int)
			for language := range strings.FieldsSeq(w.languages) {
				text := textIn(t, language, func(file string) bool { return file == heldOut })
				if text == "" {
					t.Skip("texts in many languages are missing: install the Debian package libglib2.0-data")
				}
				for _, piece := range pieces(text, size, *pages) {
					kept, body := writable(t, w.encoding, "<!DOCTYPE html><title>x</title><p>"+piece)
					got, err := Decode(body, "text/html")
					if err != nil {
						t.Fatal(err)
					}
					allHere++
					if string(got.Text) == kept {
						foundHere++
					} else {
						wrong[language+" as "+got.Name]++
					}
					for header, declaring := range map[string]string{"text/html; charset=" + w.encoding: "", "text/html": `<meta charset="` + w.encoding + `">`} {
						d, err := Decode(append([]byte(declaring), body...), header)
						if err != nil || string(d.Text) != declaring+kept || d.Name != w.encoding {
							t.Errorf("%s, which is declared, was read as %s: %v", w.encoding, d.Name, err)
						}
					}
				}
			}
			t.Logf("%d characters, %-14s %3d of %3d %v", size, w.encoding, foundHere, allHere, fmt.Sprint(wrong))
			found, all = found+foundHere, all+allHere
		}
		t.Logf("%d characters: %d of %d, %.1f %%", size, found, all, 100*float64(found)/float64(all))
		if size == 1000 && float64(found) < 0.95*float64(all) {
			t.Errorf("%d of %d pages were read right", found, all)
		}
	}
}
