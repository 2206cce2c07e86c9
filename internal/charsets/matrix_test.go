package charsets

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// languages are sentences as they stand in newspapers, with the encodings that pages in the language are in.
var languages = []struct{ text, encodings string }{
	{"Η κυβέρνηση ανακοίνωσε χθες το βράδυ ότι τα νέα μέτρα για τη στήριξη των μικρών επιχειρήσεων θα ισχύσουν από την αρχή του επόμενου μήνα, ενώ η αντιπολίτευση ζητά περισσότερα.",
		"windows-1253 iso-8859-7"},
	{"Правительство вчера вечером объявило, что новые меры поддержки малого бизнеса начнут действовать с начала следующего месяца, а оппозиция требует большего.",
		"windows-1251 koi8-r iso-8859-5"},
	{"政府は昨夜、中小企業を支援するための新しい対策を来月の初めから実施すると発表したが、野党はそれだけでは足りないとして、さらに多くのことを求めている。",
		"shift_jis euc-jp"},
	{"政府昨天晚上宣布，支持小企业的新措施将从下个月初开始实行，而反对党说这还不够，他们要求政府在这个问题上做得更多，也要说明这些钱是从哪里来的。", "gb18030 gbk"},
	{"政府昨天晚上宣布，支持小企業的新措施將從下個月初開始實行，而反對黨說這還不夠，他們要求政府在這個問題上做得更多，也要說明這些錢是從哪裡來的。", "big5"},
	{"정부는 어젯밤 중소기업을 지원하기 위한 새로운 대책을 다음 달 초부터 시행한다고 발표했지만 야당은 그것만으로는 충분하지 않다며 더 많은 것을 요구하고 있다.", "euc-kr"},
	{"Le gouvernement a annoncé hier soir que les nouvelles mesures d'aide aux petites sociétés entreront en vigueur dès le début du mois prochain ; l'opposition, déçue, réclame davantage.",
		"windows-1252"},
}

// detectedAs is what encodings are taken for without a label, where that is another: of GBK, GB18030 is all the
// same and more; ISO 8859-7 differs from windows-1253 in a capital alpha and in signs.
var detectedAs = map[string]string{"gbk": "gb18030", "iso-8859-7": "windows-1253"}

func TestEveryEncodingIsReadWithItsLabelWithoutOneAndKnownForWrong(t *testing.T) {
	t.Parallel()
	for _, l := range languages {
		for encoding := range strings.FieldsSeq(l.encodings) {
			page := "<!DOCTYPE html><title>x</title><p>" + l.text
			declaring := `<!DOCTYPE html><meta charset="` + encoding + `"><p>` + l.text
			unlabelled := encoding
			if other := detectedAs[encoding]; other != "" {
				unlabelled = other
			}
			for way, c := range map[string]struct {
				page, header string
				want         Decoded
			}{
				"header": {page, "text/html; charset=" + encoding, Decoded{Name: encoding}},
				"meta":   {declaring, "text/html", Decoded{Name: encoding}},
				"none":   {page, "text/html", Decoded{Name: unlabelled, Guessed: true}},
				"wrong":  {page, "text/html; charset=utf-8", Decoded{Name: "utf-8", Wrong: true}},
			} {
				mustDecode(t, encoding+" by "+way, encode(t, encoding, c.page), c.header, c.page, c.want)
			}
		}
	}
}

func TestUTF16IsReadWithAMarkAndByItsForm(t *testing.T) {
	t.Parallel()
	for _, l := range languages {
		page := `<!DOCTYPE html><meta charset="utf-8"><p>` + l.text // which only a page in ASCII, or more, can declare
		for encoding, mark := range map[string]string{"utf-16le": "\xff\xfe", "utf-16be": "\xfe\xff"} {
			bytes := encode(t, encoding, page)
			marked := append([]byte(mark), bytes...)
			want, wrong := Decoded{Name: encoding}, Decoded{Name: encoding, Wrong: true}
			mustDecode(t, encoding+" with a mark", marked, "", page, want)
			mustDecode(t, encoding+" with a mark and a label", marked, "text/html; charset="+encoding, page, want)
			mustDecode(t, encoding+" with a mark and half a label", marked, "text/html; charset=utf-16", page, want)
			mustDecode(t, encoding+" with a mark and a wrong label", marked, "text/html; charset=iso-8859-7", page, wrong)
			mustDecode(t, encoding+" with a label", bytes, "text/html; charset="+encoding, page, want)
			mustDecode(t, encoding+" with nothing", bytes, "text/html", page, want)
		}
	}
}

func mustDecode(t *testing.T, what string, body []byte, contentType, text string, want Decoded) {
	t.Helper()
	got, err := Decode(body, contentType)
	if err != nil || !utf8.Valid(got.Text) || (string(got.Text) == text) == (want.Name == "utf-8") {
		t.Errorf("%s: %v, %.300q", what, err, got.Text)
	}
	if got.Text = nil; got.Name != want.Name || got.Guessed != want.Guessed || got.Wrong != want.Wrong {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

func TestALabelIsNotWrongForWhatIsCut(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"utf-8", "shift_jis", "gb18030", "utf-16le"} {
		whole := encode(t, encoding, "政府")
		for n := range whole {
			if d, err := Decode(whole[:n], "text/html; charset="+encoding); err != nil || d.Wrong {
				t.Errorf("%d bytes of %s: %+v, %v", n, encoding, d, err)
			}
		}
	}
	for _, c := range []struct{ body, header string }{{"caf\xe9 x", "utf-8"}, {"\x81\x20\x81 x", "shift_jis"}, {"\xef\xbb\xbfx", "koi8-r"}} {
		if d, err := Decode([]byte(c.body), "text/html; charset="+c.header); err != nil || !d.Wrong {
			t.Errorf("%q as %s: %+v, %v", c.body, c.header, d, err)
		}
	}
}
