package value

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxPattern is how many bytes a regular expression may have.
const maxPattern = 1 << 16

// translateRegex makes a regular expression of RE2 of one of XPath (XPath Functions, section 7.6.1) and its flags.
func translateRegex(pattern, flags string) (string, error) {
	if len(pattern) > maxPattern {
		return "", fmt.Errorf("the regular expression %.40q has %d bytes, of at most %d",
			pattern, len(pattern), maxPattern)
	}
	if wrong := strings.Trim(flags, "smixq"); wrong != "" {
		return "", fmt.Errorf("%q is no flag of a regular expression: there are s, m, i, x and q", flags)
	}
	re2 := ""
	for _, flag := range []string{"s", "m", "i"} {
		if strings.Contains(flags, flag) {
			re2 += flag
		}
	}
	if re2 != "" {
		re2 = "(?" + re2 + ")"
	}
	if strings.Contains(flags, "q") {
		return re2 + regexp.QuoteMeta(pattern), nil
	}
	t := translator{pattern: pattern, spaces: strings.Contains(flags, "x")}
	if err := t.expression(); err != nil {
		return "", err
	}
	return re2 + t.out.String(), nil
}

// translator goes through a regular expression of XPath.
type translator struct {
	pattern string
	at      int
	spaces  bool // white space does not count
	out     strings.Builder
}

func (t *translator) wrong(format string, args ...any) error {
	return fmt.Errorf("the regular expression %.80q: %s at character %d", t.pattern, fmt.Sprintf(format, args...),
		utf8.RuneCountInString(t.pattern[:min(t.at, len(t.pattern))])+1)
}

func (t *translator) expression() error {
	for t.at < len(t.pattern) {
		var err error
		switch c := t.pattern[t.at]; {
		case t.spaces && strings.IndexByte(" \t\n\r", c) >= 0:
			t.at++
		case c == '\\':
			err = t.escape(&t.out, false)
		case c == '[':
			var class string
			if class, err = t.class(0); err == nil {
				t.out.WriteString(class)
			}
		case c == '(':
			err = t.group()
		case c == '{':
			err = t.count()
		case c == '}' || c == ']':
			err = t.wrong("%c has no beginning; write \\%c for the character", c, c)
		default:
			t.out.WriteByte(c)
			t.at++
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// group copies the beginning of a group. Of the groups with a question mark XPath has the one that captures nothing.
func (t *translator) group() error {
	if rest := t.pattern[t.at:]; strings.HasPrefix(rest, "(?") && !strings.HasPrefix(rest, "(?:") {
		return t.wrong("a group can begin with (?:, but not with %.3s", rest)
	}
	t.out.WriteByte('(')
	t.at++
	return nil
}

var counted = regexp.MustCompile(`^\{[0-9]+(,[0-9]*)?\}`)

// count copies a quantifier in braces.
func (t *translator) count() error {
	quantifier := counted.FindString(t.pattern[t.at:])
	if quantifier == "" || t.out.Len() == 0 {
		return t.wrong("{ is no quantifier, as {2}, {2,} or {2,5}; write \\{ for the character")
	}
	t.out.WriteString(quantifier)
	t.at += len(quantifier)
	return nil
}

// Classes of characters that RE2 has not, or otherwise.
const (
	spaceClass = `\t\n\r `
	nameStart  = `:A-Z_a-z\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{2FF}\x{370}-\x{37D}\x{37F}-\x{1FFF}\x{200C}-\x{200D}` +
		`\x{2070}-\x{218F}\x{2C00}-\x{2FEF}\x{3001}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFFD}\x{10000}-\x{EFFFF}`
	nameCharacter = nameStart + `\-.0-9\x{B7}\x{300}-\x{36F}\x{203F}-\x{2040}`
	notWord       = `\p{P}\p{Z}\p{C}`
)

// complements are the classes whose complement is asked for inside of another class, where RE2 has no way to write it.
var complements = map[byte]func() string{
	'S': sync.OnceValue(func() string { return written(negate(rangesOf("[" + spaceClass + "]"))) }),
	'I': sync.OnceValue(func() string { return written(negate(rangesOf("[" + nameStart + "]"))) }),
	'C': sync.OnceValue(func() string { return written(negate(rangesOf("[" + nameCharacter + "]"))) }),
	'w': sync.OnceValue(func() string { return written(negate(rangesOf("[" + notWord + "]"))) }),
}

// escape translates a backslash and what it stands before.
func (t *translator) escape(out *strings.Builder, inClass bool) error {
	if t.at+1 == len(t.pattern) {
		return t.wrong(`\ stands before nothing; write \\ for the character`)
	}
	c := t.pattern[t.at+1]
	class := func(members string) {
		if !inClass {
			members = "[" + members + "]"
		}
		out.WriteString(members)
	}
	switch {
	case strings.IndexByte(`nrt\|.?*+(){}-[]^$`, c) >= 0:
		out.WriteByte('\\')
		out.WriteByte(c)
	case c == 'd':
		out.WriteString(`\p{Nd}`)
	case c == 'D':
		out.WriteString(`\P{Nd}`)
	case c == 's':
		class(spaceClass)
	case c == 'i':
		class(nameStart)
	case c == 'c':
		class(nameCharacter)
	case c == 'W':
		class(notWord)
	case strings.IndexByte("SICw", c) >= 0:
		class(complements[c]())
	case c == 'p' || c == 'P':
		return t.property(out)
	case c >= '1' && c <= '9':
		return t.wrong(`the back reference \%c is not supported, so that no expression takes more than linear time`, c)
	default:
		return t.wrong(`\%c is no escape of XPath's regular expressions`, c)
	}
	t.at += 2
	return nil
}

var property = regexp.MustCompile(`^\\[pP]\{(\pL[\pL]?)\}`)

// property copies \p{Lu}. Blocks of Unicode are not known.
func (t *translator) property(out *strings.Builder) error {
	m := property.FindString(t.pattern[t.at:])
	if m == "" {
		return t.wrong(`\p and \P take a general category of Unicode, as \p{L} or \p{Lu}; ` +
			`blocks, as \p{IsGreek}, are not supported`)
	}
	out.WriteString(m)
	t.at += len(m)
	return nil
}

// class translates a class in brackets, with what is taken away from it: [a-z-[aeiou]].
func (t *translator) class(depth int) (string, error) {
	if depth == 10 {
		return "", t.wrong("classes are nested too deep")
	}
	start := t.at
	var b strings.Builder
	b.WriteByte('[')
	t.at++
	if t.at < len(t.pattern) && t.pattern[t.at] == '^' {
		b.WriteByte('^')
		t.at++
	}
	for first := true; t.at < len(t.pattern); first = false {
		switch c := t.pattern[t.at]; {
		case c == ']' && first:
			return "", t.wrong("a class is empty")
		case c == ']':
			t.at++
			b.WriteByte(']')
			return b.String(), nil
		case c == '[':
			return "", t.wrong("[ inside of a class; write \\[ for the character")
		case c == '-' && !first && strings.HasPrefix(t.pattern[t.at:], "-["):
			t.at++
			b.WriteByte(']')
			return t.subtract(b.String(), depth)
		case c == '\\':
			if err := t.escape(&b, true); err != nil {
				return "", err
			}
		case c == '-' && (first || strings.HasPrefix(t.pattern[t.at:], "-]")):
			b.WriteString(`\-`)
			t.at++
		default:
			_, size := utf8.DecodeRuneInString(t.pattern[t.at:])
			b.WriteString(t.pattern[t.at : t.at+size])
			t.at += size
		}
	}
	t.at = start
	return "", t.wrong("a class has no end")
}

// subtract translates the class that is taken away from another one, and the bracket after it.
func (t *translator) subtract(from string, depth int) (string, error) {
	without, err := t.class(depth + 1)
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(t.pattern[t.at:], "]") {
		return "", t.wrong("after a class that is taken away there must be ]")
	}
	t.at++
	for _, class := range []string{from, without} {
		if _, err := syntax.Parse(class, syntax.Perl); err != nil {
			return "", regexError(t.pattern, err)
		}
	}
	rest := intersect(rangesOf(from), negate(rangesOf(without)))
	if len(rest) == 0 {
		return `[^\x{0}-\x{10FFFF}]`, nil
	}
	return "[" + written(rest) + "]", nil
}

// rangesOf returns the pairs of least and greatest characters of a class of RE2.
func rangesOf(class string) []rune {
	re, err := syntax.Parse(class, syntax.Perl)
	if err != nil {
		panic(err) // the classes above, and those that were parsed before
	}
	switch re.Op {
	case syntax.OpCharClass:
		return re.Rune
	case syntax.OpLiteral:
		return []rune{re.Rune[0], re.Rune[0]}
	case syntax.OpAnyChar:
		return []rune{0, utf8.MaxRune}
	case syntax.OpAnyCharNotNL:
		return []rune{0, '\n' - 1, '\n' + 1, utf8.MaxRune}
	default: // a class of nothing
		return nil
	}
}

func negate(ranges []rune) []rune {
	var result []rune
	next := rune(0)
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i] > next {
			result = append(result, next, ranges[i]-1)
		}
		next = ranges[i+1] + 1
	}
	if next <= utf8.MaxRune {
		result = append(result, next, utf8.MaxRune)
	}
	return result
}

func intersect(a, b []rune) []rune {
	var result []rune
	for i, j := 0, 0; i < len(a) && j < len(b); {
		if least, greatest := max(a[i], b[j]), min(a[i+1], b[j+1]); least <= greatest {
			result = append(result, least, greatest)
		}
		if a[i+1] < b[j+1] {
			i += 2
		} else {
			j += 2
		}
	}
	return result
}

func written(ranges []rune) string {
	var b strings.Builder
	for i := 0; i < len(ranges); i += 2 {
		fmt.Fprintf(&b, `\x{%X}-\x{%X}`, ranges[i], ranges[i+1])
	}
	return b.String()
}
