package reading

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/webrace/webrace"
)

// Stored is where a document that is read has its place among the versions of its URL.
type Stored struct {
	Version int            `json:"version,omitempty"` // 0 for one that is not stored
	Fetched time.Time      `json:"fetched,omitzero"`  // when it came
	Digest  webrace.Digest `json:"digest,omitzero"`
}

// AppendFrontMatter appends what is known of the page as YAML between two lines of "---", as site generators and note
// books read it. What is not known is left out. Every value is a quoted string, a number or a list of strings, and so
// nothing that a page declares of itself can be anything else.
func (p *Page) AppendFrontMatter(dst []byte, s Stored) []byte {
	dst = append(dst, "---\n"...)
	text := func(name, value string) {
		if value != "" {
			dst = appendQuoted(append(dst, name+": "...), value)
			dst = append(dst, '\n')
		}
	}
	text("url", p.URL)
	text("title", p.Title)
	text("author", p.Author)
	text("site", p.Site)
	text("language", p.Language)
	text("published", p.Published)
	text("image", p.Image)
	text("part", p.Part)
	if s.Version > 0 {
		dst = append(strconv.AppendInt(append(dst, "version: "...), int64(s.Version), 10), '\n')
	}
	if !s.Fetched.IsZero() {
		text("fetched", s.Fetched.UTC().Format(time.RFC3339))
	}
	if s.Digest != (webrace.Digest{}) {
		text("digest", s.Digest.String())
	}
	for i, line := range p.Usage.Lines() {
		if i == 0 {
			dst = append(dst, "usage:\n"...)
		}
		dst = append(appendQuoted(append(dst, "  - "...), line), '\n')
	}
	return append(dst, "---\n\n"...)
}

// appendQuoted appends a string as JSON has it, which YAML 1.2 reads alike (section 5.7): control characters, of which
// YAML allows fewer, as blanks.
func appendQuoted(dst []byte, s string) []byte {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError || r == '\ufeff' {
			return ' '
		}
		return r
	}, s)
	quoted, _ := json.Marshal(s) // which no string fails
	return append(dst, quoted...)
}

// FrontMatter is what is known of a file by its front matter.
type FrontMatter struct {
	URL, Title, Part, Digest string
	Version                  int
}

// longestFrontMatter is how many bytes of a file are looked at for its front matter.
const longestFrontMatter = 64 << 10

// ReadFrontMatter reads that of a file which begins as AppendFrontMatter writes; ok is false for any other.
func ReadFrontMatter(file io.Reader) (m FrontMatter, ok bool) {
	lines := bufio.NewScanner(io.LimitReader(file, longestFrontMatter))
	lines.Buffer(make([]byte, 0, 1<<10), longestFrontMatter)
	if !lines.Scan() || lines.Text() != "---" {
		return m, false
	}
	values := map[string]any{"url": &m.URL, "title": &m.Title, "part": &m.Part, "digest": &m.Digest, "version": &m.Version}
	for lines.Scan() && lines.Text() != "---" {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		if to := values[name]; to != nil && json.Unmarshal([]byte(value), to) != nil {
			return m, false
		}
	}
	return m, m.URL != ""
}
