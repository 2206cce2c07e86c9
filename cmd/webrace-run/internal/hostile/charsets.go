package hostile

import (
	"encoding/binary"
	"net/http"
	"unicode/utf16"
)

// inUTF16 writes a text in two bytes a letter, the greater first.
func inUTF16(text string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		b = binary.BigEndian.AppendUint16(b, u)
	}
	return b
}

// typed serves a page that leads on, as what it is said to be.
func typed(contentType string, content []byte) func(*Site) {
	return func(s *Site) {
		s.handle(bad, body(contentType, content))
		s.hide("/behind", page("<p>behind"))
	}
}

func charsets() []Case {
	return []Case{
		{Name: "charset-mislabelled", Does: "says that Latin-1 is UTF-8", Lay: typed("text/html; charset=utf-8", []byte("<p>caf\xe9 cr\xe8me"+behindIt)), Expect: ledOn()},
		{Name: "charset-unknown", Does: "names a charset that there is not", Lay: typed("text/html; charset=klingon-8", []byte("<p>qapla'"+behindIt)), Expect: ledOn()},
		{Name: "charset-said-twice", Does: "names one charset in the header and another in the page", Lay: typed("text/html; charset=utf-8", []byte(`<meta charset="utf-16"><p>naïve`+behindIt)), Expect: ledOn()},
		{Name: "utf-16-unmarked", Does: "sends UTF-16 without a byte order mark", Lay: typed("text/html; charset=utf-16be", inUTF16("<p>wide"+behindIt)), Expect: ledOn()},
		{Name: "utf-16-odd", Does: "sends UTF-16 with half a letter at its end, and halves of pairs within", Lay: typed("text/html", append([]byte("\xfe\xff\xd8\x00\xdc"), append(inUTF16("x<p>wide"+behindIt), 0)...)), Expect: fetched()},
		{Name: "utf-7", Does: "sends UTF-7, in which no filter sees a script", Lay: typed("text/html; charset=utf-7", []byte("<p>+ADw-a href=/poison+AD4-"+behindIt)), Expect: ledOn().saying("/poison", "never accepted")},
		{Name: "invalid-utf-8", Does: "sends bytes that are in no charset: overlong, cut, beyond Unicode", Lay: typed("text/html; charset=utf-8", []byte("<p>\xc0\xaf\xe2\x82\xf8\x88\x80\x80\x80\xed\xa0\x80\xff\xfe"+behindIt)), Expect: ledOn()},
		{Name: "two-byte-order-marks", Does: "begins with a mark of one charset, and goes on in another", Lay: typed("text/html; charset=utf-16le", []byte("\xef\xbb\xbf\xef\xbb\xbf<p>marked"+behindIt)), Expect: ledOn()},
		{
			Name: "binary-as-text", Does: "sends a megabyte of noise as text",
			Lay: func(s *Site) {
				noise := make([]byte, 1<<20)
				x := uint32(1)
				for i := range noise {
					x = x*1664525 + 1013904223
					noise[i] = byte(x >> 24)
				}
				s.handle(bad, func(w http.ResponseWriter, r *http.Request) { body("text/plain", noise)(w, r) })
			},
			Expect: fetched(),
		},
	}
}
