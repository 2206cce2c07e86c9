package extract

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/charsets"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/internal/suggest"
)

// field is one of a record: where it is found, and what is made of it.
type field struct {
	name      string
	finder    *selection.Finder
	attribute string // empty: the text
	all       bool
	as        string // "number", "url", or the text
}

var words = []string{"all", "number", "text", "url"}

// parseField reads "css:a.more@href | url | all".
func parseField(name, text string) (field, error) {
	f := field{name: name}
	if name == urlField {
		return f, errors.New("every record has the page's address in a field of that name")
	}
	for {
		before, word, found := cutLast(text, " | ")
		word = strings.TrimSpace(word)
		if !found || !isWord(word) || strings.HasPrefix(text, "xpath:") && !slices.Contains(words, word) {
			break // it is part of the selector
		}
		switch word {
		case "all":
			f.all = true
		case "number", "url":
			f.as = word
		case "text":
		default:
			return f, unknownWord(word)
		}
		text = before
	}
	if strings.HasPrefix(text, "css:") {
		if before, attribute, found := cutLast(text, "@"); found && isWord(attribute) {
			text, f.attribute = before, strings.ToLower(attribute)
		}
	}
	var err error
	f.finder, err = parseSelector(text)
	return f, err
}

func unknownWord(word string) error {
	if near := suggest.Nearest(word, words); near != "" {
		return fmt.Errorf("there is no %q (did you mean %s?)", word, near)
	}
	return fmt.Errorf("there is no %q, only %s", word, strings.Join(words, ", "))
}

// isWord tells a name from a part of a selector.
func isWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_:") == ""
}

func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}

// parseSelector reads "css:.price" or "xpath://td[2]".
func parseSelector(text string) (*selection.Finder, error) {
	language, selector, found := strings.Cut(strings.TrimSpace(text), ":")
	if !found || language != "css" && language != "xpath" {
		return nil, fmt.Errorf(`%q does not say in which language it is: "css:.price" or "xpath://td[2]"`, text)
	}
	finder, err := selection.NewFinder(selection.Language(language), strings.TrimSpace(selector))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	return finder, nil
}

// value returns what a row has for the field: nil if nothing, a list if all are wanted.
func (f field) value(d *webrace.Document, search *selection.Search, row selection.Found) (any, error) {
	found, err := search.Find(f.finder, row)
	if err != nil {
		return nil, err
	}
	all := []any{}
	for _, one := range found {
		value, err := f.one(d, search, one)
		if err != nil {
			return nil, err
		}
		if value == nil {
			continue
		}
		if !f.all {
			return value, nil
		}
		all = append(all, value)
	}
	if f.all {
		return all, nil
	}
	return nil, nil
}

// one returns what is made of one element or attribute; nil if it has not what is wanted.
func (f field) one(d *webrace.Document, search *selection.Search, at selection.Found) (any, error) {
	text, ok := "", true
	var err error
	if f.attribute != "" {
		text, ok = at.Attribute(f.attribute)
		text = strings.TrimSpace(text)
	} else {
		text, err = search.Text(at)
	}
	switch {
	case err != nil || !ok:
		return nil, err
	case f.as == "number":
		return number(text), nil
	case f.as == "url":
		if url, ok := search.Resolve(at, d.URL, reference(d, text)); ok {
			return url, nil
		}
		return nil, nil
	}
	return text, nil
}

// reference returns a reference with its query in the encoding of the document, if that is a page.
func reference(d *webrace.Document, text string) string {
	if d.MediaType != "text/html" && d.MediaType != "application/xhtml+xml" {
		return text
	}
	return string(charsets.EncodeQuery([]byte(text), d.Charset))
}

// number returns the first number in a text, an int if it is whole; nil if there is none. Of points and
// commas, the last is taken for the decimal one if both stand, or if it is a point, or a comma without
// exactly three digits behind it; all others group digits.
func number(text string) any {
	digits := firstNumber(text)
	if digits == "" {
		return nil
	}
	point, comma := strings.LastIndexByte(digits, '.'), strings.LastIndexByte(digits, ',')
	decimal := max(point, comma)
	switch {
	case decimal < 0, point >= 0 && comma >= 0:
	case strings.Count(digits, digits[decimal:decimal+1]) > 1: // 1.234.567
		decimal = -1
	case comma >= 0 && len(digits)-comma-1 == 3: // 1,234
		decimal = -1
	}
	var plain strings.Builder
	for i := range len(digits) {
		switch c := digits[i]; {
		case i == decimal:
			plain.WriteByte('.')
		case c == '-' || c >= '0' && c <= '9':
			plain.WriteByte(c)
		}
	}
	if whole, err := strconv.Atoi(plain.String()); err == nil {
		return whole
	}
	if f, err := strconv.ParseFloat(plain.String(), 64); err == nil {
		return f
	}
	return nil
}

// spaces between groups of digits: 1 234
var spaces = strings.NewReplacer("\u00a0", "'", "\u202f", "'", "\u2009", "'", "−", "-")

// firstNumber returns the first stretch of digits, with what groups and divides them, and its sign.
func firstNumber(text string) string {
	text = spaces.Replace(text)
	start := strings.IndexAny(text, "0123456789")
	if start < 0 {
		return ""
	}
	end := start
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || end+1 < len(text) && strings.IndexByte(".,'", text[end]) >= 0 && text[end+1] >= '0' && text[end+1] <= '9') {
		end++
	}
	if start > 0 && text[start-1] == '-' && (start == 1 || strings.IndexByte(" ('\t\n", text[start-2]) >= 0) {
		start--
	}
	return text[start:end]
}
