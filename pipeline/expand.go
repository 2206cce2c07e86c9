package pipeline

import (
	"fmt"
	"strings"
)

// expand replaces ${NAME} and ${NAME:-default} in a string of the configuration by variables of the
// environment. As in a shell, the default stands in for a variable that is not set or is empty; $${ is a
// ${ that is meant as such. It returns findings for what it could not replace. Values of --set have
// been through a shell already and stay as they are.
func (l *loader) expand(v *value) (string, []Finding) {
	if v.doc.flag {
		return v.text, nil
	}
	var out strings.Builder
	var wrong []Finding
	for i := 0; i < len(v.text); {
		rest := v.text[i:]
		switch {
		case strings.HasPrefix(rest, "$${"):
			out.WriteString("${")
			i += 3
		case strings.HasPrefix(rest, "${"):
			replaced, width, finding := l.variable(v, i)
			if finding != nil {
				wrong = append(wrong, *finding)
			}
			out.WriteString(replaced)
			i += width
		default:
			out.WriteByte(rest[0])
			i++
		}
	}
	return out.String(), wrong
}

// variable returns what the ${...} at a byte of the string is replaced by, and how long it is.
func (l *loader) variable(v *value, at int) (replaced string, width int, problem *Finding) {
	inner, _, closed := strings.Cut(v.text[at+2:], "}")
	width = len("${") + len(inner) + len("}")
	name, fallback, hasFallback := strings.Cut(inner, ":-")
	if !closed || !isVariable(name) {
		f := v.insideFinding(CodeBadVariable, at, 2, "${ begins a variable, ${NAME} or ${NAME:-default}; write $${ if it does not")
		return "", min(width, len(v.text)-at), &f
	}
	set, isSet := l.options.Env(name)
	switch {
	case isSet && (set != "" || !hasFallback):
		return set, width, nil
	case hasFallback:
		return fallback, width, nil
	}
	f := v.insideFinding(CodeUnsetVariable, at, width, fmt.Sprintf("environment variable %s is not set", name))
	return "", width, &f
}

func isVariable(name string) bool {
	return isName(name) && !strings.Contains(name, "-") && (name[0] < '0' || name[0] > '9')
}
