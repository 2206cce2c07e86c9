package value

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"math"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// Functions on strings: section 17.4.3. A string literal is one with or without a language.

// stringLiteral takes a string literal apart.
func stringLiteral(t webrace.Term, p *parsed) error {
	parse(t, p)
	if p.kind != text && p.kind != langText {
		return ErrType
	}
	return nil
}

// like returns a text in the language of another one.
func (p *parsed) like(s string) webrace.Term {
	if p.kind == langText {
		return rdf.NewLangString(s, p.tag)
	}
	return rdf.NewString(s)
}

// compatible takes two arguments apart by the rules of section 17.4.3.1.2: the second has no language or that of the
// first.
func compatible(args []webrace.Term, p, q *parsed) error {
	if err := stringLiteral(args[0], p); err != nil {
		return err
	}
	if err := stringLiteral(args[1], q); err != nil {
		return err
	}
	if q.kind == langText && (p.kind != langText || p.tag != q.tag) {
		return ErrType
	}
	return nil
}

func strLen(args []webrace.Term, _ *Env) (webrace.Term, error) {
	var p parsed
	if err := stringLiteral(args[0], &p); err != nil {
		return "", err
	}
	return Integer(int64(utf8.RuneCountInString(p.text))), nil
}

// substring counts characters from 1, and rounds, as fn:substring.
func substring(args []webrace.Term, _ *Env) (webrace.Term, error) {
	var p parsed
	if err := stringLiteral(args[0], &p); err != nil {
		return "", err
	}
	first, err := position(args[1])
	if err != nil {
		return "", err
	}
	end := math.Inf(1)
	if len(args) == 3 {
		length, err := position(args[2])
		if err != nil {
			return "", err
		}
		end = first + length
	}
	from, to, at := -1, 0, 0.0
	for i, r := range p.text {
		if at++; at >= first && at < end {
			if from < 0 {
				from = i
			}
			to = i + max(1, utf8.RuneLen(r))
		}
	}
	if from < 0 {
		return p.like(""), nil
	}
	return p.like(p.text[from:min(to, len(p.text))]), nil
}

func position(t webrace.Term) (float64, error) {
	var p parsed
	parse(t, &p)
	if !p.numeric() {
		return 0, ErrType
	}
	return roundFloat(p.promoted(double), nearest), nil
}

func upperCase(args []webrace.Term, env *Env) (webrace.Term, error) {
	return mapCase(args[0], env, strings.ToUpper, cases.Upper)
}

func lowerCase(args []webrace.Term, env *Env) (webrace.Term, error) {
	return mapCase(args[0], env, strings.ToLower, cases.Lower)
}

// mapCase changes letters by all of Unicode's rules: ß in upper case is SS, which the package strings does not know.
func mapCase(t webrace.Term, env *Env, ascii func(string) string,
	full func(language.Tag, ...cases.Option) cases.Caser) (webrace.Term, error) {
	var p parsed
	if err := stringLiteral(t, &p); err != nil {
		return "", err
	}
	if err := env.tooLong(len(p.text)); err != nil {
		return "", err
	}
	for i := range len(p.text) {
		if p.text[i] >= utf8.RuneSelf {
			s := full(language.Und).String(p.text)
			return p.like(s), env.tooLong(len(s))
		}
	}
	return p.like(ascii(p.text)), nil
}

func strStarts(args []webrace.Term, _ *Env) (webrace.Term, error) {
	return compareTexts(args, strings.HasPrefix)
}

func strEnds(args []webrace.Term, _ *Env) (webrace.Term, error) {
	return compareTexts(args, strings.HasSuffix)
}

func contains(args []webrace.Term, _ *Env) (webrace.Term, error) {
	return compareTexts(args, strings.Contains)
}

func compareTexts(args []webrace.Term, holds func(s, part string) bool) (webrace.Term, error) {
	var p, q parsed
	if err := compatible(args, &p, &q); err != nil {
		return "", err
	}
	return Of(holds(p.text, q.text)), nil
}

func strBefore(args []webrace.Term, _ *Env) (webrace.Term, error) {
	return cut(args, func(before, _ string) string { return before })
}

func strAfter(args []webrace.Term, _ *Env) (webrace.Term, error) {
	return cut(args, func(_, after string) string { return after })
}

// cut returns a part of a text in its language; where the second text is not in it, an empty one without a language.
func cut(args []webrace.Term, part func(before, after string) string) (webrace.Term, error) {
	var p, q parsed
	if err := compatible(args, &p, &q); err != nil {
		return "", err
	}
	before, after, found := strings.Cut(p.text, q.text)
	if !found {
		return `""`, nil
	}
	return p.like(part(before, after)), nil
}

// concat gives a text in the language that all arguments have, if they have one.
func concat(args []webrace.Term, env *Env) (webrace.Term, error) {
	if len(args) == 0 {
		return `""`, nil
	}
	var b strings.Builder
	var first, p parsed
	for i, a := range args {
		if err := stringLiteral(a, &p); err != nil {
			return "", err
		}
		if i == 0 {
			first = p
		} else if p.kind != first.kind || p.tag != first.tag {
			first.kind = text
		}
		if err := env.tooLong(b.Len() + len(p.text)); err != nil {
			return "", err
		}
		b.WriteString(p.text)
	}
	return first.like(b.String()), nil
}

// encodeForURI keeps what RFC 3986 reserves nothing for.
func encodeForURI(args []webrace.Term, env *Env) (webrace.Term, error) {
	var p parsed
	if err := stringLiteral(args[0], &p); err != nil {
		return "", err
	}
	if err := env.tooLong(len(p.text)); err != nil {
		return "", err
	}
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(p.text) {
		c := p.text[i]
		if lower := c | 0x20; lower >= 'a' && lower <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-_.~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
	return rdf.NewString(b.String()), env.tooLong(b.Len())
}

// digest makes a function of section 17.4.6 of a hash.
func digest(sum func(string) string) func([]webrace.Term, *Env) (webrace.Term, error) {
	return func(args []webrace.Term, _ *Env) (webrace.Term, error) {
		s, err := simple(args[0])
		if err != nil {
			return "", err
		}
		return rdf.NewString(sum(s)), nil
	}
}

func md5Hex(s string) string    { b := md5.Sum([]byte(s)); return hex.EncodeToString(b[:]) }
func sha1Hex(s string) string   { b := sha1.Sum([]byte(s)); return hex.EncodeToString(b[:]) }
func sha256Hex(s string) string { b := sha256.Sum256([]byte(s)); return hex.EncodeToString(b[:]) }
func sha384Hex(s string) string { b := sha512.Sum384([]byte(s)); return hex.EncodeToString(b[:]) }
func sha512Hex(s string) string { b := sha512.Sum512([]byte(s)); return hex.EncodeToString(b[:]) }
