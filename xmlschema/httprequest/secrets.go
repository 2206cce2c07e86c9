package httprequest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// reference begins the name of a secret in a value; a brace ends it.
const reference = "${secret:"

// maxName is as long as the name of a secret may be.
const maxName = 256

// CheckReferences returns why what looks like references to secrets in a text are none.
func CheckReferences(text string) error {
	_, err := replace(text, func(string) (string, error) { return "", nil })
	return err
}

// Secrets returns the names of the secrets that the request refers to, sorted, each once. Nil refers to none.
func (r *Request) Secrets() (names []string) {
	if r == nil {
		return nil
	}
	note := func(name string) (string, error) {
		names = append(names, name)
		return "", nil
	}
	for _, f := range r.Header {
		_, _ = replace(f.Value, note) // what is no reference is refused when the request is stored
	}
	_, _ = replace(r.Body, note)
	slices.Sort(names)
	return slices.Compact(names)
}

// Expand returns the header and the body as they are sent, with the values of secrets in place of their names. In a
// body a value is written as its type wants it: escaped in JSON and in forms.
func (r *Request) Expand(secret func(name string) (value string, err error)) (header http.Header, body []byte, err error) {
	header = make(http.Header, len(r.Header)+1)
	for _, f := range r.Header {
		value, err := replace(f.Value, secret)
		if err == nil {
			err = CheckField(f.Name, value)
		}
		if err != nil {
			return nil, nil, err
		}
		header.Set(f.Name, value)
	}
	if r.Type != "" {
		header.Set("Content-Type", r.Type)
	}
	escape := escapeFor(r.Type)
	text, err := replace(r.Body, func(name string) (string, error) {
		value, err := secret(name)
		return escape(value), err
	})
	return header, []byte(text), err
}

// replace puts something in place of each reference.
func replace(text string, by func(name string) (string, error)) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, reference)
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		name, after, closed := strings.Cut(rest, "}")
		switch {
		case !closed:
			return "", errors.New("${secret: is not closed: it is written ${secret:NAME}")
		case name == "" || utf8.RuneCountInString(name) > maxName || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f }):
			return "", fmt.Errorf("${secret:%.100s} names no secret: a name has 1 to %d characters, and no white space", name, maxName)
		}
		value, err := by(name)
		if err != nil {
			return "", err
		}
		out.WriteString(value)
		text = after
	}
}

// escapeFor returns how a value is written within a body of a media type.
func escapeFor(contentType string) func(string) string {
	media, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	switch media = strings.TrimSpace(media); {
	case media == "application/x-www-form-urlencoded":
		return url.QueryEscape
	case media == "application/json" || strings.HasSuffix(media, "+json"):
		return func(value string) string {
			quoted, _ := json.Marshal(value) // a string can always be
			return string(quoted[1 : len(quoted)-1])
		}
	}
	return func(value string) string { return value }
}
