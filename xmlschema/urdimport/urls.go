package urdimport

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace/xmlschema"
)

// urls reads a list: a URL a line, perhaps with keywords behind it, WORD or WORD:WEIGHT between commas.
// Empty lines and those that begin with # are passed over.
func (r *reader) urls(content []byte) error {
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(string(content), "\ufeff")) {
		number++
		text := strings.TrimSpace(line)
		if text == "" || text[0] == '#' {
			continue
		}
		column := utf8.RuneCountInString(line[:strings.Index(line, text)]) + 1
		url, rest := text, ""
		if i := strings.IndexAny(text, " \t"); i >= 0 {
			url, rest = text[:i], text[i:]
		}
		if err := r.add(Entry{Line: number, Column: column}, r.urd(url), listed(rest)); err != nil {
			return err
		}
	}
	return nil
}

// listed reads keywords between commas.
func listed(text string) (keywords []xmlschema.Keyword) {
	for part := range strings.SplitSeq(text, ",") {
		k := xmlschema.Keyword{Key: strings.TrimSpace(part)}
		if i := strings.LastIndexByte(k.Key, ':'); i >= 0 {
			if weight, err := strconv.Atoi(k.Key[i+1:]); err == nil && weight > 0 {
				k.Key, k.Weight = k.Key[:i], weight
			}
		}
		if k.Key != "" {
			keywords = append(keywords, k)
		}
	}
	return keywords
}
