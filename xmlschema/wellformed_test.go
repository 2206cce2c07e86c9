package xmlschema

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"unicode/utf16"
)

const least = `<urd xmlns="urn:webrace:1"><uri>http://a.example/</uri></urd>`

// within puts a text in front of the uri of the least request.
func within(text string) string { return strings.Replace(least, "<uri>", text+"<uri>", 1) }

// tagged puts a text into the tag of its uri.
func tagged(text string) string { return strings.Replace(least, "<uri>", "<uri"+text+">", 1) }

func TestWhatXMLForbidsIsRefusedAtItsPlace(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]string{
		within("<!--\x01-->"):                                                    "1:32: illegal character code U+0001",
		within("<!-- é\xff-->"):                                                  "1:34: invalid UTF-8",
		within("<!--\ufffe-->"):                                                  "1:32: illegal character code U+FFFE",
		within("<?x \x02?>"):                                                     "1:32: illegal character code U+0002",
		within("<?x\n \xc0\x80?>"):                                               "2:2: invalid UTF-8",
		within("<?x+y?>"):                                                        "1:31: white space is missing after <?x",
		within("<?XML a?>"):                                                      "1:28: an instruction cannot be called XML",
		within("<?x:y z?>"):                                                      "1:28: the name of instruction x:y has a colon",
		tagged(` login="a&#xD800;"`):                                             "1:41: &#xD800; is the half of a surrogate pair",
		strings.Replace(least, "a.example", "a&#57343;", 1):                      "1:41: &#57343; is the half of a surrogate pair",
		tagged(` xmlns:xml="u"`):                                                 "1:33: the prefix xml cannot be bound to another namespace",
		tagged(` xmlns:xmlns="u"`):                                               "1:33: the prefix xmlns cannot be declared",
		tagged(` xmlns:a="http://www.w3.org/XML/1998/namespace"`):                "has the prefix xml, and no other",
		tagged(` xmlns="http://www.w3.org/XML/1998/namespace"`):                  "has the prefix xml, and no other",
		tagged(` xmlns:a="http://www.w3.org/2000/xmlns/"`):                       "1:33: namespace http://www.w3.org/2000/xmlns/ cannot be declared",
		tagged(` xmlns:1="u"`):                                                   "1:33: namespace prefix 1 does not begin with a letter",
		tagged(` xmlns:s="` + schemaInstance + `" s:SCHEMALOCATION="a b"`):       "<uri> has no attribute {" + schemaInstance + "}SCHEMALOCATION",
		strings.Replace(least, "a.example/", "a/<!<![CDATA[x[y]]>", 1):           "document type declarations are not allowed",
		`<?xml?>` + least:                                                        "1:1: the XML declaration is not of the form",
		`<?xml encoding="UTF-8"?>` + least:                                       "1:1: the XML declaration is not of the form",
		`<?xml version="1.0" standalone="maybe"?>` + least:                       "1:1: the XML declaration is not of the form",
		`<?xml version="1.0" standalone="yes" encoding="UTF-8"?>` + least:        "1:1: the XML declaration is not of the form",
		`<?xml version="1.0"encoding="UTF-8"?>` + least:                          "1:1: the XML declaration is not of the form",
		`<?xml version="1.0" a="b"?>` + least:                                    "1:1: the XML declaration is not of the form",
		`<?xml version="1.0" encoding=""?>` + least:                              "1:1: the XML declaration is not of the form",
		`<?xml version="1.0" encoding="US-ASCII"?><!-- é -->` + least:            "1:47: this is no character of US-ASCII",
		"<?xml version='1.0' encoding='ISO-8859-7'?><!-- \xff -->" + least:       "1:49: this is no character of ISO-8859-7",
		"<?xml version='1.0' encoding='EUC-JP'?>\n<!-- \xa4\xa2\xa4 -->" + least: "2:7: this is no character of EUC-JP",
		inUTF16(least[:40], 0xD800) + inUTF16(least[40:])[2:]:                    "1:41: this is no character of UTF-16",
		inUTF16(least[:40], 0xDC00, 0xD800) + inUTF16(least[40:])[2:]:            "1:41: this is no character of UTF-16",
		inUTF16(least) + "\x00":                                                  "1:62: this is no character of UTF-16",
		inUTF16(`<?xml version="1.0" encoding="UTF-61"?>` + least):               "1:1: encoding UTF-61 is not known",
	} {
		if got := readAny([]byte(document)); got.err == nil || !strings.Contains(got.err.Error(), want) {
			t.Errorf("%q\n got %v\nwant %s", document, got.err, want)
		}
	}
}

func TestWhatXMLAllowsIsRead(t *testing.T) {
	t.Parallel()
	for _, document := range []string{
		within("<?x?><?x ?><?xmls a+b:c?><!-- é < & ]]> \ufffd --><![CDATA[ ]]>"),
		within("<depth><![CDATA[]]></depth>"), // no character is in it
		tagged(` xmlns:xml="` + xmlNamespace + `" xmlns:é="u" xmlns:a="%" login="&#xD7FF;&#xE000;&#x10FFFF;&#0065;"`),
		within("<!-- &#xD800; -->"),
		"<?xml version = '1.0'\n\tencoding = \"utf-8\" standalone='no' ?>\r\n" + least,
		"<?xml version='1.0' encoding='ISO-8859-7'?><!-- \xe1 -->" + least,
		"<?xml version='1.0' encoding='EUC-JP'?><!-- \xa4\xa2 -->" + least,
		`<?xml version="1.0" encoding="US-ASCII"?>` + least,
		inUTF16(`<?xml version="1.0" encoding="UTF-16"?><!-- 𝄞 ` + "\ufffd\ufeff" + ` -->` + least),
		inUTF16(within("<!-- 𝄞 -->"))[2:], // without a mark
	} {
		if got := readAny([]byte(document)); got.err != nil {
			t.Errorf("%q: %v", document, got.err)
		}
	}
}

// inUTF16 writes a text with a byte order mark, and code units behind it.
func inUTF16(text string, units ...uint16) string {
	units = append(utf16.Encode([]rune("\ufeff"+text)), units...)
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, units); err != nil {
		panic(err)
	}
	return b.String()
}

// FuzzUTF16 checks that what is read is the text, character by character, or the byte that is in no text.
func FuzzUTF16(f *testing.F) {
	f.Add([]byte("\x3d\xd8\x00\xde"), 3)
	f.Add([]byte("a\x00\xd8"), 1)
	f.Fuzz(func(t *testing.T, document []byte, size int) {
		units := make([]uint16, len(document)/2)
		for i := range units {
			units[i] = binary.LittleEndian.Uint16(document[2*i:])
		}
		var want []byte
		for i := 0; i < len(units); i++ {
			switch pair := units[i:min(len(units), i+2)]; {
			case !utf16.IsSurrogate(rune(units[i])):
				want = append(want, string(rune(units[i]))...)
			case len(pair) == 2 && utf16.DecodeRune(rune(pair[0]), rune(pair[1])) != '\ufffd':
				want = append(want, string(utf16.Decode(pair))...)
				i++
			default:
				want = append(want, 0xff)
			}
		}
		if len(document)%2 > 0 {
			want = append(want, 0xff)
		}
		got, err := readInSteps(document, 1+uint(size)%7)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%q: %v, want %q", got, err, want)
		}
	})
}

func readInSteps(document []byte, size uint) (all []byte, err error) {
	r := &utf16Reader{r: bufio.NewReaderSize(bytes.NewReader(document), 16), order: binary.LittleEndian}
	for p := make([]byte, size); ; {
		n, err := r.Read(p)
		all = append(all, p[:n]...)
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
	}
}
