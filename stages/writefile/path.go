package writefile

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/expression"
)

// pathTemplate is a path with values: texts, and behind each but the last an expression.
type pathTemplate struct {
	texts  []string
	values []*expression.Program
	at     []int // where the values stand in the option
}

// parsePath reads the option.
func parsePath(option string) (*pathTemplate, error) {
	t := new(pathTemplate)
	rest := option
	for {
		text, behind, found := strings.Cut(rest, "{{")
		t.texts = append(t.texts, text)
		if !found {
			return t, nil
		}
		at := len(option) - len(behind)
		inner, after, closed := strings.Cut(behind, "}}")
		if !closed {
			return t, fmt.Errorf("%q: {{ has no }}", option)
		}
		program, err := expression.Compile(inner)
		if err != nil {
			return t, fmt.Errorf("{{%s}}: %w", inner, err)
		}
		t.values, t.at = append(t.values, program), append(t.at, at)
		rest = after
	}
}

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
		if err == nil {
			text, err = nameOf(text)
		}
		if err != nil {
			return "", fmt.Errorf("the value of {{%s}} in path: %w", program, err)
		}
		path += text + t.texts[i+1]
	}
	for name := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if len(name) > longestName {
			return "", fmt.Errorf("the name of a file would have %d bytes, and %d are the most: %.60s…", len(name), longestName, name)
		}
	}
	return path, nil
}

// nameOf writes a value as part of the name of a file, such as all systems take. What no name may have becomes %XX,
// and so does %, so that two values are two names.
func nameOf(value string) (string, error) {
	if value == "" {
		return "", errors.New("is empty")
	}
	stem, _, _ := strings.Cut(value, ".")
	reserved := isReserved(strings.TrimRight(stem, " "))
	var b strings.Builder
	for i, r := range value {
		_, size := utf8.DecodeRuneInString(value[i:])
		last := i+size == len(value)
		if r < ' ' || r == 0x7F || r == utf8.RuneError && size == 1 || strings.ContainsRune(`/\<>:"|?*%`, r) ||
			r == '.' && (i == 0 || last) || r == ' ' && last || reserved && i == 0 {
			for _, c := range []byte(value[i : i+size]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
			continue
		}
		b.WriteString(value[i : i+size])
	}
	return b.String(), nil
}

// isReserved reports whether a name is that of a device of Windows.
func isReserved(name string) bool {
	name = strings.ToUpper(name)
	switch name {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	number, found := strings.CutPrefix(name, "COM")
	if !found {
		number, found = strings.CutPrefix(name, "LPT")
	}
	return found && utf8.RuneCountInString(number) == 1 && strings.Contains("0123456789¹²³", number)
}
