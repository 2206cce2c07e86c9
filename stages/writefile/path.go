package writefile

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/pagepath"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/expression"
)

// pathTemplate is a path with values: texts, and behind each but the last an expression.
type pathTemplate struct {
	texts  []string
	values []*expression.Program
	at     []int // where the values stand in the option
	page   bool  // the last value is a URL, of which folders and a file are made
}

// pathError is of a part of the option.
type pathError struct {
	at, width int
	err       error
}

func (e *pathError) Error() string { return e.err.Error() }
func (e *pathError) Unwrap() error { return e.err }

// Within returns where the part stands in the option, in bytes.
func (e *pathError) Within() (at, width int) { return e.at, e.width }

// Meant returns what an expression probably meant there; "" if that is not known.
func (e *pathError) Meant() string {
	if within := (*expression.Error)(nil); errors.As(e.err, &within) {
		return within.Meant()
	}
	return ""
}

// The last value may be the one function of paths: pagepath(EXPRESSION) gives the file of a URL, with its folders.
const (
	pageOpens  = "pagepath("
	pageCloses = ")"
)

// parsePath reads the option.
func parsePath(option string) (*pathTemplate, error) {
	t := new(pathTemplate)
	fixed := []byte(option) // the same with each value as a name
	rest := option
	for {
		text, behind, found := strings.Cut(rest, "{{")
		t.texts = append(t.texts, text)
		if !found {
			return t, t.check(option, string(fixed))
		}
		at := len(option) - len(behind)
		inner, after, closed := strings.Cut(behind, "}}")
		if !closed {
			return t, &pathError{at - 2, 2, fmt.Errorf("%q: {{ has no }}", option)}
		}
		whole := pathError{at - 2, len(inner) + 4, nil}
		for i := range whole.width {
			fixed[whole.at+i] = 'v'
		}
		value := strings.TrimSpace(inner)
		at += strings.Index(inner, value)
		if t.page = strings.HasPrefix(value, pageOpens) && strings.HasSuffix(value, pageCloses); t.page {
			value, at = value[len(pageOpens):len(value)-len(pageCloses)], at+len(pageOpens)
			if whole.err = t.checkPage(text, after); whole.err != nil {
				return t, &whole
			}
		}
		if strings.Contains(value, pageOpens) {
			whole.err = errors.New("pagepath(…) stands alone in its {{…}}: what it is the path of stands within its brackets")
			return t, &whole
		}
		program, err := expression.Compile(value)
		if err != nil {
			place := pathError{at, len(value), fmt.Errorf("{{%s}}: %w", inner, err)}
			if within := (*expression.Error)(nil); errors.As(err, &within) {
				from, width := within.Within()
				place.at, place.width = at+from, width
			}
			return t, &place
		}
		t.values, t.at = append(t.values, program), append(t.at, at)
		rest = after
	}
}

// check refuses a path whose values are to lie in a folder that it leaves. A folder above is named by its own path.
func (t *pathTemplate) check(option, fixed string) error {
	if !t.varies() {
		return nil
	}
	at := 0
	for name := range strings.SplitSeq(filepath.ToSlash(fixed), "/") {
		if name == ".." {
			return &pathError{at, len(name), fmt.Errorf("%q leads out of the folder by ..: name the folder in which the files of all values lie without it", option)}
		}
		at += len(name) + 1
	}
	return nil
}

// checkPage refuses pagepath(…) where it would not be the whole path of a file in its folder.
func (t *pathTemplate) checkPage(before, after string) error {
	if before != "" && !strings.HasSuffix(filepath.ToSlash(before), "/") || before == "" && len(t.values) > 0 {
		return errors.New("pagepath(…) begins with a folder: what stands before it ends in a slash, as in out/{{pagepath(url)}}.jsonl")
	}
	if len(after) > longestEnding || !endings.MatchString(after) {
		return fmt.Errorf("an extension follows pagepath(…), of %d lower-case letters, digits and dots at most, as in out/{{pagepath(url)}}.jsonl", longestEnding)
	}
	return nil
}

// longestEnding is how long the extension behind pagepath(…) is at most, in bytes.
const longestEnding = 16

var endings = regexp.MustCompile(`^(\.[a-z0-9]+)+$`)

// varies reports whether the path depends on what is written.
func (t *pathTemplate) varies() bool { return len(t.values) > 0 }

func (t *pathTemplate) parts() []pipeline.Part { return expression.Parts(t.values...) }

func (t *pathTemplate) checkNames(kinds []pipeline.Kind) (all []error) {
	for i, value := range t.values {
		all = append(all, expression.CheckNamesAt("path", t.at[i], value.String(), kinds))
	}
	return all
}

// folder is where the files of all values lie.
func (t *pathTemplate) folder() string { return filepath.Dir(t.texts[0] + "x") }

// pattern matches the files of all values.
func (t *pathTemplate) pattern() string { return strings.Join(t.texts, "*") }

// longestName is what file systems take, in bytes.
const longestName = 255

// of returns the path for a value. No value leads to another folder than the texts do.
func (t *pathTemplate) of(value any, meta map[string]string) (string, error) {
	path := t.texts[0]
	for i, program := range t.values {
		text, err := program.Text(value, meta)
		isPage := t.page && i == len(t.values)-1
		switch {
		case err != nil:
		case text == "":
			err = errors.New("is empty")
		case isPage:
			path += filepath.FromSlash(pagepath.Of(text, t.texts[i+1]))
		default:
			path += nameOf(text) + t.texts[i+1]
		}
		if err != nil {
			return "", fmt.Errorf("the value of {{%s}} in path: %w", program, err)
		}
	}
	for name := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if len(name) > longestName {
			return "", fmt.Errorf("the name of a file would have %d bytes, and %d are the most: %.60s…", len(name), longestName, name)
		}
	}
	return path, nil
}

// longestValue is how much of a name a value is as it stands, in bytes.
const longestValue = 200

// nameOf writes a value as part of the name of a file, such as all systems take. What no name may have becomes %XX,
// and so does %, so that two values are two names; of a value that is too long, what is cut off becomes a hash.
func nameOf(value string) string {
	stem, _, _ := strings.Cut(value, ".")
	reserved := pagepath.IsDevice(strings.TrimRight(stem, " "))
	var b strings.Builder
	for i, r := range value {
		_, size := utf8.DecodeRuneInString(value[i:])
		last := i+size == len(value)
		start := b.Len()
		if r < ' ' || r == 0x7F || r == utf8.RuneError && size == 1 || strings.ContainsRune(`/\<>:"|?*%`, r) ||
			r == '.' && (i == 0 || last) || r == ' ' && last || reserved && i == 0 {
			for _, c := range []byte(value[i : i+size]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		} else {
			b.WriteString(value[i : i+size])
		}
		if b.Len() > longestValue { // with the hash it is longer than any that stands as it is
			sum := sha256.Sum256([]byte(value))
			return b.String()[:start] + fmt.Sprintf("~%x", sum[:10])
		}
	}
	return b.String()
}
