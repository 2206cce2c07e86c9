package xmlschema

import (
	"bytes"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// encodable is a document that is stored in both of its forms.
type encodable interface {
	// plain reports whether it is certain, without writing and reading it, that the document is valid if it is not
	// too large. It may return false for one that is.
	plain() bool
	writable
	Validate() error
}

// encode returns the canonical form of a valid document, and its table.
func encode(d encodable) (canonical, table []byte, err error) {
	if d.plain() {
		f := newFormWriter()
		defer f.release()
		f.tabled = true
		if d.write(f); len(f.xml) <= plainSize {
			table, err = f.table.bytes()
			return bytes.Clone(f.xml), table, err
		}
	}
	if err := d.Validate(); err != nil {
		return nil, nil, err
	}
	canonical = canonicalForm(d)
	table, err = BuildTable(canonical)
	return canonical, table, err
}

// The limits of plain values are far below those of the reader.
const (
	plainToken = 256
	plainValue = 1024
	plainText  = 16 << 10
	plainSize  = MaxItem / 4
)

func percent(n int) bool { return n >= 0 && n <= 100 }
func natural(n int) bool { return n >= 0 && n <= math.MaxInt32 }

func fraction(f float64) bool { return f >= 0 && f <= 1 && !math.Signbit(f) }

// plainString reports whether a text is at most so long and of characters that XML carries as they are.
// Spaces, where there may be any, stand within.
func plainString(s string, most int, spaces bool) bool {
	if len(s) > most {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			return plainRunes(s, spaces)
		case c < ' ' || c == 0x7f || c == ' ' && !spaces:
			return false
		}
	}
	return strings.Trim(s, " ") == s
}

func plainRunes(s string, spaces bool) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if !unicode.IsGraphic(r) || r != ' ' && unicode.IsSpace(r) || r == ' ' && !spaces || r == utf8.RuneError || r&0xfffe == 0xfffe {
			return false
		}
	}
	return strings.Trim(s, " ") == s
}
