package formats

import (
	"bytes"
	"fmt"
	"html"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	goldmarkhtml "github.com/yuin/goldmark/renderer/html"

	"github.com/webrace/webrace/internal/pdftext"
)

// markdown is CommonMark with what GitHub adds: tables, tasks, plain addresses as links. HTML within is HTML.
var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM, counted{}), goldmark.WithRendererOptions(goldmarkhtml.WithUnsafe()))

// HTML returns the page that Markdown in UTF-8 means: without what it declares of itself at its beginning, of which
// title and language become those of the page. What is longer than a limit is left out, and said. What its reader takes
// is reserved.
func HTML(source []byte, reserve Reserve) (page []byte, unread pdftext.Unread) {
	return Default.html(source, reserve)
}

func (l Limits) html(source []byte, reserve Reserve) (page []byte, unread pdftext.Unread) {
	if len(source) > l.Markdown {
		source = bytes.ToValidUTF8(source[:l.Markdown], nil)
		unread = pdftext.Unread{Cause: pdftext.TooLong, Reason: fmt.Sprintf("only its first %d KiB are read", l.Markdown>>10)}
	}
	title, language, source := frontMatter(source)
	var out bytes.Buffer
	out.WriteString("<html lang=\"" + html.EscapeString(language) + "\">")
	if title != "" {
		out.WriteString("<title>" + html.EscapeString(title) + "</title>\n")
	}
	source = shallow(source)
	most, m := l.Work, &memory{reserve: reserve}
	page, cutAt := convert(source, most, m)
	for cutAt >= 0 {
		unread = pdftext.Unread{Cause: pdftext.TooLong, Reason: fmt.Sprintf("only its first %d lines are read: what is behind them takes too much work", bytes.Count(source[:cutAt], []byte("\n")))}
		source = source[:cutAt]
		most += most / 8 // the end of the document, which is another now, takes some
		page, cutAt = convert(source, most, m)
	}
	out.Write(page)
	return out.Bytes(), unread
}

// frontMatter cuts off what pages of site generators declare of themselves: lines of YAML or TOML between two lines of
// "---" or "+++", at the beginning.
func frontMatter(source []byte) (title, language string, rest []byte) {
	source = bytes.TrimPrefix(source, []byte("\ufeff"))
	fence, lines, ok := bytes.Cut(source, []byte("\n"))
	if fence = bytes.TrimRight(fence, space); !ok || string(fence) != "---" && string(fence) != "+++" {
		return "", "", source
	}
	const longest = 64 << 10
	for rest := lines; len(rest) > 0 && len(lines)-len(rest) < longest; {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		if line = bytes.TrimRight(line, space); bytes.Equal(line, fence) {
			return title, language, rest
		}
		name, value, ok := strings.Cut(strings.Replace(string(line), "=", ":", 1), ":")
		value = strings.Trim(collapse(value), `"'`)
		switch name = strings.TrimSpace(name); {
		case !ok:
		case name == "title":
			title = value
		case name == "lang" || name == "language":
			language = value
		}
	}
	return "", "", source
}

// mostContainers is how many quotations and lists may begin on one line. Each would be a level of recursion.
const mostContainers = 100

// shallow leaves out what begins more of them.
func shallow(source []byte) []byte {
	var out []byte // nil while nothing was left out
	for at := 0; at < len(source); {
		end := at + bytes.IndexByte(source[at:], '\n') + 1
		if end == at {
			end = len(source)
		}
		line := source[at:end]
		markers, i := 0, 0
		for i < len(line) && markers < mostContainers && bytes.IndexByte([]byte(" \t>-+*0123456789.)"), line[i]) >= 0 {
			if c := line[i]; c != ' ' && c != '\t' && (c < '0' || c > '9') {
				markers++
			}
			i++
		}
		if markers == mostContainers {
			if out == nil {
				out = append(make([]byte, 0, len(source)), source[:at]...)
			}
			out = append(out, line[:i]...)
			line = bytes.TrimLeft(line[i:], " \t>-+*0123456789.)")
		}
		if out != nil {
			out = append(out, line...)
		}
		at = end
	}
	if out == nil {
		return source
	}
	return out
}
