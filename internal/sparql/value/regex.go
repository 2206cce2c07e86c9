package value

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/webrace/webrace"
)

// Limits on regular expressions: RE2 takes time for the size of its program times the length of the text.
const (
	maxProgram  = 20_000      // instructions
	maxRegexRun = 100_000_000 // instructions times bytes of a text
	maxMatches  = 2 << 20     // of REPLACE, times groups: they are all found before the first is replaced
	longText    = 4096        // bytes of a text before which the query is asked whether it has ended
	// compiledBytes is how long a text is over which an expression runs for as long as it is compiled.
	compiledBytes = 64
	cachedRegex   = 64
)

// regexKey is a regular expression as a query writes it.
type regexKey struct{ pattern, flags string }

// regex is a compiled regular expression, and of how many instructions it is.
type regex struct {
	*regexp.Regexp
	size int
}

func compile(pattern, flags string) (*regex, error) {
	translated, err := translateRegex(pattern, flags)
	if err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(translated, syntax.Perl)
	if err != nil {
		return nil, regexError(pattern, err)
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, regexError(pattern, err)
	}
	if len(program.Inst) > maxProgram {
		return nil, fmt.Errorf("the regular expression %.40q is too large: %d instructions, of at most %d",
			pattern, len(program.Inst), maxProgram)
	}
	re, err := regexp.Compile(translated)
	if err != nil {
		return nil, regexError(pattern, err)
	}
	return &regex{re, len(program.Inst)}, nil
}

func regexError(pattern string, err error) error {
	var wrong *syntax.Error
	if errors.As(err, &wrong) {
		return fmt.Errorf("the regular expression %.80q: %s", pattern, wrong.Code)
	}
	return fmt.Errorf("the regular expression %.80q: %w", pattern, err)
}

// regex returns a compiled regular expression; the last ones of a query are kept.
func (e *Env) regex(pattern, flags webrace.Term) (*regex, error) {
	p, err := simple(pattern)
	if err != nil {
		return nil, err
	}
	f := ""
	if flags != "" {
		if f, err = simple(flags); err != nil {
			return nil, err
		}
	}
	key := regexKey{p, f}
	if re, ok := e.regexes[key]; ok {
		return re, nil
	}
	if err := e.interrupted(); err != nil {
		return nil, err
	}
	re, err := compile(p, f)
	if err != nil {
		return nil, err
	}
	e.Instructions += re.size * compiledBytes
	if e.regexes == nil || len(e.regexes) == cachedRegex {
		e.regexes = make(map[regexKey]*regex)
	}
	e.regexes[key] = re
	return re, nil
}

// ready reports why a regular expression is not run over a text.
func (e *Env) ready(re *regex, s string) error {
	if len(s) > maxRegexRun/re.size {
		return fmt.Errorf("a text of %d bytes is too long for a regular expression of %d instructions", len(s), re.size)
	}
	e.Instructions += re.size * len(s)
	if len(s) > longText {
		return e.interrupted()
	}
	return nil
}

func matchRegex(args []webrace.Term, env *Env) (webrace.Term, error) {
	var p parsed
	if err := stringLiteral(args[0], &p); err != nil {
		return "", err
	}
	re, err := env.regex(args[1], optional(args, 2))
	if err != nil {
		return "", err
	}
	if err := env.ready(re, p.text); err != nil {
		return "", err
	}
	return Of(re.MatchString(p.text)), nil
}

func optional(args []webrace.Term, i int) webrace.Term {
	if i < len(args) {
		return args[i]
	}
	return ""
}

// replace is fn:replace.
func replace(args []webrace.Term, env *Env) (webrace.Term, error) {
	var p parsed
	if err := stringLiteral(args[0], &p); err != nil {
		return "", err
	}
	replacement, err := simple(args[2])
	if err != nil {
		return "", err
	}
	re, err := env.regex(args[1], optional(args, 3))
	if err != nil {
		return "", err
	}
	if err := env.ready(re, p.text); err != nil {
		return "", err
	}
	if re.MatchString("") {
		return "", errors.New("REPLACE: the regular expression matches the empty text")
	}
	var parts []replacementPart
	if literal := len(args) == 4 && strings.Contains(string(args[3]), "q"); literal {
		parts = []replacementPart{{text: replacement, group: -1}}
	} else if parts, err = parseReplacement(replacement, re.NumSubexp()); err != nil {
		return "", err
	}
	s, err := env.replaceAll(re, p.text, parts)
	if err != nil {
		return "", err
	}
	return p.like(s), nil
}

func (e *Env) replaceAll(re *regex, s string, parts []replacementPart) (string, error) {
	most := maxMatches / (re.NumSubexp() + 1)
	matches := re.FindAllStringSubmatchIndex(s, most)
	if len(matches) == most {
		return "", fmt.Errorf("%w: REPLACE has %d matches", ErrTooLong, most)
	}
	var b strings.Builder
	last := 0
	for _, m := range matches {
		b.WriteString(s[last:m[0]])
		for _, part := range parts {
			b.WriteString(part.text)
			if part.group >= 0 && m[2*part.group] >= 0 {
				b.WriteString(s[m[2*part.group]:m[2*part.group+1]])
			}
			if err := e.tooLong(b.Len()); err != nil {
				return "", err
			}
		}
		last = m[1]
	}
	b.WriteString(s[last:])
	return b.String(), e.tooLong(b.Len())
}

// replacementPart is a text and the group that comes after it, if that is not -1.
type replacementPart struct {
	text  string
	group int
}

// parseReplacement reads the replacement of fn:replace: $1 is a group, \$ and \\ are themselves. Of $12 where there are
// fewer groups, the 2 is a text; a group that there is not is empty.
func parseReplacement(s string, groups int) ([]replacementPart, error) {
	var parts []replacementPart
	var text strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i++; i == len(s) || s[i] != '$' && s[i] != '\\' {
				return nil, fmt.Errorf(`REPLACE: in the replacement %.80q, \ can stand before $ and \ alone`, s)
			}
			text.WriteByte(s[i])
		case '$':
			if i++; i == len(s) || s[i] < '0' || s[i] > '9' {
				return nil, fmt.Errorf(`REPLACE: in the replacement %.80q, $ has no number; write \$ for the character`, s)
			}
			group := int(s[i] - '0')
			for i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9' && group*10+int(s[i+1]-'0') <= groups {
				i++
				group = group*10 + int(s[i]-'0')
			}
			if group > groups {
				group = -1
			}
			parts = append(parts, replacementPart{text.String(), group})
			text.Reset()
		default:
			text.WriteByte(c)
		}
	}
	return append(parts, replacementPart{text.String(), -1}), nil
}
