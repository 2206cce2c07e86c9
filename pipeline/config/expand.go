package config

import (
	"fmt"
	"strings"

	"github.com/webrace/webrace/internal/secretfile"
	"github.com/webrace/webrace/pipeline/finding"
	"github.com/webrace/webrace/pipeline/internal/flow"
)

// expand replaces ${NAME} and ${NAME:-default} in a string of the configuration by variables of the
// environment. As in a shell, the default stands in for a variable that is not set or is empty; $${ is a
// ${ that is meant as such. It returns findings for what it could not replace. Values of --set have
// been through a shell already and stay as they are.
func (l *loader) expand(v *value) (string, []finding.Finding) { return l.replace(v, false, asText) }

// expandSecret does the same for a value that is never shown, in which ${file:PATH} is what a file holds besides.
func (l *loader) expandSecret(v *value) (string, []finding.Finding) {
	return l.replace(v, true, asText)
}

// expandExpression does the same for an expression, in which what stands in for a variable is a text, and never code.
func (l *loader) expandExpression(v *value) (string, []finding.Finding) {
	return l.replace(v, false, asConstant)
}

// replace has what stands in for a variable written as it is in its place, of which it knows what is before.
func (l *loader) replace(v *value, hidden bool, written func(before, set string) string) (string, []finding.Finding) {
	if v.doc.flag {
		return v.text, nil
	}
	var out strings.Builder
	var wrong []finding.Finding
	for i := 0; i < len(v.text); {
		rest := v.text[i:]
		switch {
		case strings.HasPrefix(rest, "$${"):
			out.WriteString("${")
			i += 3
		case strings.HasPrefix(rest, "${"):
			replaced, width, problem := l.variable(v, i, hidden)
			if problem != nil {
				wrong = append(wrong, *problem)
			}
			out.WriteString(written(out.String(), replaced))
			i += width
		default:
			out.WriteByte(rest[0])
			i++
		}
	}
	return out.String(), wrong
}

func asText(_, set string) string { return set }

// asConstant writes a text within the literal that it stands in, and as one where it stands in none.
func asConstant(before, set string) string {
	switch quote := openIn(before); quote {
	case comment:
		return ""
	case '`':
		return strings.ReplaceAll(set, "`", "``")
	case 0:
		return `"` + escaped(set, '"') + `"`
	default:
		return escaped(set, quote)
	}
}

func escaped(text string, quote byte) string {
	return strings.NewReplacer(`\`, `\\`, string(quote), `\`+string(quote), "\n", `\n`, "\r", `\r`).Replace(text)
}

// comment is what is open in an expression at the beginning of which a comment has not ended.
const comment = '/'

// openIn returns the quote of the literal that is open where the beginning of an expression ends, or [comment]; 0 if
// neither is.
func openIn(text string) (open byte) {
	for i := 0; i < len(text); i++ {
		c, rest := text[i], text[i:]
		switch {
		case open == '`' && strings.HasPrefix(rest, "``"):
			i++
		case open != 0 && open != '`' && c == '\\':
			i++
		case open != 0 && c == open:
			open = 0
		case open != 0:
		case c == '"' || c == '\'' || c == '`':
			open = c
		case strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "/*"):
			end := "\n"
			if rest[1] == '*' {
				end = "*/"
			}
			_, behind, ended := strings.Cut(rest[2:], end)
			if !ended {
				return comment
			}
			i = len(text) - len(behind) - 1
		}
	}
	return open
}

// variable returns what the ${...} at a byte of the string is replaced by, and how long it is.
func (l *loader) variable(v *value, at int, hidden bool) (replaced string, width int, problem *finding.Finding) {
	inner, _, closed := strings.Cut(v.text[at+2:], "}")
	width = len("${") + len(inner) + len("}")
	if path, isFile := strings.CutPrefix(inner, "file:"); isFile && closed {
		replaced, problem = l.secretFile(v, at, width, path, hidden)
		return replaced, width, problem
	}
	name, fallback, hasFallback := strings.Cut(inner, ":-")
	if !closed || !isVariable(name) {
		f := v.insideFinding(finding.CodeBadVariable, at, 2, "${ begins a variable, ${NAME} or ${NAME:-default}, or a secret, ${file:PATH}; write $${ if it does not")
		return "", min(width, len(v.text)-at), &f
	}
	set, isSet := l.options.Env(name)
	switch {
	case isSet && (set != "" || !hasFallback):
		return set, width, nil
	case hasFallback:
		return fallback, width, nil
	}
	f := v.insideFinding(finding.CodeUnsetVariable, at, width, fmt.Sprintf("environment variable %s is not set", name))
	return "", width, &f
}

// secretFile returns the secret that the file of a ${file:PATH} holds. Its name is relative to the file of the
// configuration that names it. What it holds is a secret: where it could be shown, it does not stand.
func (l *loader) secretFile(v *value, at, width int, path string, hidden bool) (string, *finding.Finding) {
	refuse := func(code finding.Code, message string) (string, *finding.Finding) {
		f := v.insideFinding(code, at, width, message)
		return "", &f
	}
	switch {
	case !hidden:
		return refuse(finding.CodeBadVariable, "${file:PATH} is a secret, and would be shown here: it stands in options of type secret alone (webrace-run stages TYPE); elsewhere take a variable, ${NAME}")
	case strings.TrimSpace(path) == "":
		return refuse(finding.CodeBadVariable, "${file: names no file: it is written ${file:PATH}")
	case strings.Contains(path, "${"):
		return refuse(finding.CodeBadVariable, "a variable within ${file:PATH} is not replaced: write the path in full")
	}
	secret, err := secretfile.Read(v.doc.beside(path))
	if err != nil {
		return refuse(finding.CodeFile, err.Error())
	}
	return secret, nil
}

// unsetIn returns the first variable whose default stands in for it in a value, or in those of a list; empty if none
// does.
func (l *loader) unsetIn(v *value) string {
	for _, element := range v.list {
		if name := l.unsetIn(element); name != "" {
			return name
		}
	}
	if v.kind != stringValue || v.doc.flag {
		return ""
	}
	for _, part := range strings.Split(strings.ReplaceAll(v.text, "$${", ""), "${")[1:] {
		inner, _, _ := strings.Cut(part, "}")
		name, _, hasFallback := strings.Cut(inner, ":-")
		if set, _ := l.options.Env(name); hasFallback && set == "" {
			return name
		}
	}
	return ""
}

func isVariable(name string) bool {
	return flow.IsName(name) && !strings.Contains(name, "-") && (name[0] < '0' || name[0] > '9')
}
