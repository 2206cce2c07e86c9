package portal

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/xmlschema"
)

// Keywords and rules are shown and typed as lines of a text. A line that is sent back as it was shown stands for the
// value that it showed, whatever there is of it that a line does not tell.

// lineEnds stand for the ends of lines within a value, which has a line of its own.
var lineEnds = strings.NewReplacer("\r\n", "⏎", "\r", "⏎", "\n", "⏎")

// shownLine is a value as a line of a text.
func shownLine(s string) string { return strings.TrimSpace(lineEnds.Replace(s)) }

// linesOf returns the lines of a text that have something in them, as they were shown.
func linesOf(text string) (lines []string) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// readLines returns the values of lines: those that were shown are what they were before, each as often as it was
// shown; the others are read.
func readLines[T any](lines []string, before []T, show func(T) string, read func(string) (T, bool)) (values []T) {
	shown := make(map[string][]T)
	for _, v := range before {
		shown[show(v)] = append(shown[show(v)], v)
	}
	for _, line := range lines {
		if known := shown[line]; len(known) > 0 {
			values = append(values, known[0])
			shown[line] = known[1:]
		} else if v, ok := read(line); ok {
			values = append(values, v)
		}
	}
	return values
}

// showKeyword returns the line of a keyword: KEY: WEIGHT, and what is particular about it.
func showKeyword(k xmlschema.Keyword) string {
	line := k.Key + ": " + strconv.Itoa(k.Weight)
	if k.Exact {
		line += " " + text("interest.exact")
	}
	if k.Match == xmlschema.MatchSubstring {
		line += " " + text("interest.part")
	}
	return shownLine(line)
}

// weighted is a line that ends in a weight, and maybe in words that say more of the keyword.
var weighted = regexp.MustCompile(`^(.*):[ \t]*([0-9]+)((?:[ \t]+[^ \t]+)*)$`)

// readKeyword reads what showKeyword writes, and a keyword without a weight. It returns what is wrong with a line.
func readKeyword(line string) (k xmlschema.Keyword, wrong string) {
	k = xmlschema.Keyword{Key: line, Weight: xmlschema.DefaultWeight, Match: xmlschema.MatchWord}
	if m := weighted.FindStringSubmatch(line); m != nil && particular(&k, m[3]) {
		weight, err := strconv.Atoi(m[2])
		if err != nil || weight < 1 || weight > 5 {
			return k, text("interest.wrong_weight", line)
		}
		k.Key, k.Weight = strings.TrimSpace(m[1]), weight
	}
	k.Key = strings.ReplaceAll(k.Key, "⏎", "\n")
	if k.Key == "" || strings.HasSuffix(k.Key, ":") {
		return k, text("interest.wrong_keyword", line)
	}
	return k, ""
}

// particular takes in the words behind a weight, and reports whether it knows all of them.
func particular(k *xmlschema.Keyword, words string) bool {
	is := *k
	for word := range strings.FieldsSeq(words) {
		switch word {
		case text("interest.exact"):
			is.Exact = true
		case text("interest.part"):
			is.Match = xmlschema.MatchSubstring
		default:
			return false
		}
	}
	*k = is
	return true
}

// ruleLine returns the line of a rule: the rule, with its language before it unless that is CSS.
func ruleLine(r xmlschema.Rule) string {
	language := cmp.Or(r.Language, xmlschema.RuleCSS)
	if _, _, named := cutLanguage(r.Text); language == xmlschema.RuleCSS && !named && strings.TrimSpace(r.Text) == r.Text {
		return shownLine(r.Text)
	}
	return shownLine(language + ":" + r.Text)
}

// cutLanguage cuts the language off a rule that names one.
func cutLanguage(line string) (language, rule string, named bool) {
	language, rule, named = strings.Cut(line, ":")
	if named && slices.Contains(selection.Languages, selection.Language(language)) {
		return language, rule, true
	}
	return xmlschema.RuleCSS, line, false
}

// readRule reads what ruleLine writes. It returns what is wrong with a line.
func readRule(line string, ignore bool) (r xmlschema.Rule, wrong string) {
	language, rule, _ := cutLanguage(line)
	r = xmlschema.Rule{Language: language, Text: strings.ReplaceAll(rule, "⏎", "\n")}
	if err := (selection.Rule{Ignore: ignore, Language: selection.Language(language), Text: r.Text}).Check(); err != nil {
		return r, text("interest.wrong_rule", line, err)
	}
	return r, ""
}
