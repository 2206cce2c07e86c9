package extract

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/charsets"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/internal/suggest"
	numbers "github.com/webrace/webrace/pipeline/number"
	"github.com/webrace/webrace/stages/internal/amount"
)

// field is one of a record: where it is found, and what is made of it.
type field struct {
	name      string
	finder    *selection.Finder
	attribute string // empty: the text
	all       bool
	as        string // "number", "url", "text"; empty: the text, or the value of JSON
	article   string // what of the article it is, which no selector finds; empty for others
}

var words = []string{"all", "number", "text", "url"}

// parseField reads "css:a.more@href | url | all".
func parseField(name, text string) (field, error) {
	f := field{name: name}
	if name == urlField {
		return f, errors.New("every record has the page's address in a field of that name")
	}
	if about, isArticle := strings.CutPrefix(strings.TrimSpace(text), articlePrefix); isArticle {
		f.article = about
		return f, checkArticle(about)
	}
	for {
		before, word, found := cutLast(text, " | ")
		word = strings.TrimSpace(word)
		if !found || !isWord(word) || (strings.HasPrefix(text, "xpath:") || strings.HasPrefix(text, "jq:")) && !slices.Contains(words, word) {
			break // it is part of the selector
		}
		switch word {
		case "all":
			f.all = true
		case "number", "url", "text":
			f.as = word
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

// parseSelector reads "css:.price", "xpath://td[2]" or "jq:.price".
func parseSelector(text string) (*selection.Finder, error) {
	language, selector, found := strings.Cut(strings.TrimSpace(text), ":")
	if !found || language != "css" && language != "xpath" && language != "jq" {
		return nil, fmt.Errorf(`%q does not say in which language it is: "css:.price", "xpath://td[2]", "jq:.price" or, of a field, "article:title"`, text)
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
	value, isJSON := at.Value()
	if isJSON && (f.as == "" || value == nil) {
		return plain(value), nil
	}
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
		return number(text, d.Language, d.Text), nil
	case f.as == "url":
		if url, ok := search.Resolve(at, d.URL, reference(d, text)); ok {
			return url, nil
		}
		return nil, nil
	}
	return text, nil
}

// plain returns a value of JSON as one of a record.
func plain(value any) any {
	switch v := value.(type) {
	case json.Number:
		return numberOf(v.String())
	case *big.Int:
		return numberOf(v.String())
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = plain(v[i])
		}
		return all
	case map[string]any:
		all := make(map[string]any, len(v))
		for key := range v {
			all[key] = plain(v[key])
		}
		return all
	}
	return value
}

// reference returns a reference with its query in the encoding of the document, if that is a page.
func reference(d *webrace.Document, text string) string {
	if d.MediaType != "text/html" && d.MediaType != "application/xhtml+xml" {
		return text
	}
	return string(charsets.EncodeQuery([]byte(text), d.Charset))
}

// number returns the first number in a text of a language, without zeros that mean nothing; nil if there is none.
func number(text, language string, page *webrace.Text) any {
	var around []byte
	if page != nil {
		around = page.Bytes
	}
	read, found := amount.First(text, language, around)
	if !found {
		return nil
	}
	digits := read.Digits
	sign, digits := digits[:len(digits)-len(strings.TrimPrefix(digits, "-"))], strings.TrimLeft(strings.TrimPrefix(digits, "-"), "0")
	if digits == "" || digits[0] == '.' {
		digits = "0" + digits
	}
	key, _ := numbers.Key(json.Number(sign + digits))
	return numberOf(key)
}

// numberOf returns a number as one of a record, an int if it is one; its text if there is no such number.
func numberOf(text string) any {
	if whole, err := strconv.Atoi(text); err == nil {
		return whole
	}
	n, err := numbers.Of(text)
	if err != nil {
		return text
	}
	return n
}
