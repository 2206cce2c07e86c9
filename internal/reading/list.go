package reading

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/markdown"
)

// Listed is a file of a document in a list of such.
type Listed struct {
	Path       string // relative to the list, with slashes
	URL, Title string
}

// longestFrontMatter is how many bytes of a file are looked at for its front matter.
const longestFrontMatter = 64 << 10

// ReadFrontMatter reads URL and title of a file that begins as AppendFrontMatter writes; ok is false for any other.
func ReadFrontMatter(file io.Reader) (l Listed, ok bool) {
	lines := bufio.NewScanner(io.LimitReader(file, longestFrontMatter))
	lines.Buffer(nil, longestFrontMatter)
	if !lines.Scan() || lines.Text() != "---" {
		return l, false
	}
	for lines.Scan() && lines.Text() != "---" {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "url":
			ok = json.Unmarshal([]byte(value), &l.URL) == nil
		case "title":
			_ = json.Unmarshal([]byte(value), &l.Title) // what is no string is no title
		}
	}
	return l, ok
}

// AppendList appends a page of Markdown that links to files, by URL, below a heading for each host.
func AppendList(dst []byte, files []Listed) []byte {
	slices.SortFunc(files, func(a, b Listed) int { return cmp.Or(strings.Compare(a.URL, b.URL), strings.Compare(a.Path, b.Path)) })
	host := ""
	dst = append(dst, "# Documents\n"...)
	for _, f := range files {
		if at := hostOf(f.URL); at != host {
			host = at
			dst = append(appendLine(append(dst, "\n## "...), host), "\n"...)
		}
		dst = appendLine(append(dst, "- ["...), cmp.Or(f.Title, f.URL))
		dst = append(dst, "]("...)
		dst = append(dst, (&url.URL{Path: f.Path}).EscapedPath()...)
		dst = append(dst, ")\n"...)
	}
	return dst
}

func hostOf(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" {
		return "elsewhere"
	}
	return u.Host
}

// appendLine appends text as what stands within a line.
func appendLine(dst []byte, text string) []byte {
	text = strings.Join(strings.Fields(text), " ")
	line := markdown.Append(nil, []*html.Node{{Type: html.TextNode, Data: text}}, markdown.Options{})
	return append(dst, strings.TrimSpace(string(line))...)
}
