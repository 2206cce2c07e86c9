package reading

import (
	"cmp"
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
