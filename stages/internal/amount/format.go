package amount

import (
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"

	"github.com/webrace/webrace/internal/lru"
)

// format is how a language writes numbers.
type format struct {
	decimal rune // parts decimals
	spaces  bool // thousands are parted by spaces, also behind a word
	known   bool // the language is
}

var unknown = format{decimal: point, spaces: true}

// formats are those of the languages that were asked for last: a page may call its language what it likes.
var formats = lru.New[format](256, nil)

// longestTag is that of a language, and more.
const longestTag = 64

// formatOf asks the CLDR, as golang.org/x/text has it, how a language writes a number.
func formatOf(tag string) format {
	if tag == "" || len(tag) > longestTag {
		return unknown
	}
	if f, known := formats.Get(tag); known {
		return f
	}
	f := unknown
	if parsed, err := language.Parse(tag); err == nil {
		f.known = true
		written := message.NewPrinter(parsed).Sprint(number.Decimal(1234567.5))
		if strings.HasSuffix(written, ",5") {
			f.decimal = comma
		}
		f.spaces = strings.ContainsAny(written, "\u00a0\u202f\u2009 ")
	}
	formats.Add(tag, f)
	return f
}
