package channel

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/template"
	"text/template/parse"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/wording"
)

const (
	maxTemplate = 4 << 10  // bytes of a template
	maxBody     = 64 << 10 // bytes of what it writes
	maxWork     = 8 * maxBody
)

// Template is the template of a body that a person has written: a [text/template] with fields, if, range .Items, and
// the functions json (a value as JSON, with its quotes), cut (cut 80 .Title: so many characters at most) and line (a
// text in one line), and nothing else. So it ends, and tells nothing but the message that it is given.
//
// Fields are Subject, Text, Link, Items, Count (of all) and More (how many of them are no items); of an item Title,
// URL, Summary, Link, Time, Relevance, Urgency, Keywords and Labels.
type Template struct{ tree *parse.Tree }

// templateMessage is a message as templates see it.
type templateMessage struct {
	Subject string         `json:"subject"`
	Text    string         `json:"text"`
	Link    string         `json:"link,omitempty"`
	Items   []templateItem `json:"items"`
	Count   int            `json:"count"`
	More    int            `json:"more"`
}

type templateItem struct {
	Title     string   `json:"title"`
	URL       string   `json:"url,omitempty"`
	Summary   string   `json:"summary,omitempty"`
	Link      string   `json:"link,omitempty"`
	Time      string   `json:"time,omitempty"`
	Relevance int      `json:"relevance"`
	Urgency   int      `json:"urgency,omitempty"`
	Keywords  []string `json:"keywords,omitempty"`
	Labels    []string `json:"labels,omitempty"`
}

var (
	messageFields = []string{"Subject", "Text", "Link", "Items", "Count", "More"}
	itemFields    = []string{"Title", "URL", "Summary", "Link", "Time", "Relevance", "Urgency", "Keywords", "Labels"}
	functionNames = []string{"json", "cut", "line"}
)

const allowedOnly = "allowed are fields as {{.Subject}}, {{if .Link}}, {{range .Items}}, and the functions json, cut and line"

// ParseTemplate reads a template. An error tells the line, and what is allowed.
func ParseTemplate(text string) (*Template, error) {
	if len(text) > maxTemplate {
		return nil, fmt.Errorf("the template has %d bytes, and %d are allowed", len(text), maxTemplate)
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("the template is not in UTF-8")
	}
	const name = "template"
	functions := map[string]any{}
	for _, f := range functionNames {
		functions[f] = true // that there is one is all that is looked at
	}
	trees, err := parse.Parse(name, text, "", "", functions)
	if err != nil {
		return nil, errors.New(readableTemplateError(err.Error()))
	}
	c, tree := &templateChecker{text: text}, trees[name]
	for other, named := range trees {
		if other != name {
			return nil, c.refuse(named.Root, "define and block are not allowed")
		}
	}
	if err := c.list(tree.Root, messageFields); err != nil {
		return nil, err
	}
	return &Template{tree}, nil
}

// readableTemplateError is an error of the library: "template: template:3: unexpected …".
func readableTemplateError(text string) string {
	text = strings.TrimPrefix(text, "template: template:")
	if number, message, ok := strings.Cut(text, ": "); ok && number != "" && strings.Trim(number, "0123456789:") == "" {
		number, _, _ = strings.Cut(number, ":")
		text = "line " + number + ": " + message
	}
	if strings.Contains(text, "not defined") {
		text += ": " + allowedOnly
	}
	return text
}

// Execute writes the body of a message, of 64 KB at most. It has as many items as there is room for; the error is
// that not even a body without any has it.
func (t *Template) Execute(m Message) ([]byte, error) {
	text, err := m.largest(MaxShown, maxBody, func(entries []Entry, more int) ([]byte, error) {
		run := new(templateRun)
		lent := template.FuncMap{"json": run.json, "cut": run.cut, "line": run.line}
		executable, err := template.New(t.tree.Name).Funcs(lent).AddParseTree(t.tree.Name, t.tree)
		if err != nil {
			return nil, err
		}
		if err := executable.Execute(run, templateMessageOf(m, entries, more)); err != nil {
			return nil, err
		}
		return []byte(run.body.String()), nil
	})
	if errors.Is(err, errTooLong) {
		return nil, fmt.Errorf("the template writes more than %d bytes, even without items", maxBody)
	}
	return text, err
}

func templateMessageOf(m Message, entries []Entry, more int) templateMessage {
	shown := Message{Entries: entries, More: more, Link: m.Link}
	seen := templateMessage{Subject: shown.Subject(), Text: shown.Text(), Link: webURL(m.Link), Count: more + len(entries), More: more}
	for _, e := range entries {
		seen.Items = append(seen.Items, templateItem{
			Title: e.Title, URL: e.URL, Summary: e.Summary, Link: webURL(e.Link), Time: wording.Moment(e.Time),
			Relevance: e.Relevance, Urgency: e.Urgency, Keywords: e.Keywords, Labels: e.Labels,
		})
	}
	return seen
}

// templateRun is one execution of a template. It ends with errTooLong when the body, or all that its functions had to
// look at, is too much.
type templateRun struct {
	body strings.Builder
	work int
}

var _ io.Writer = (*templateRun)(nil)

// Write adds to the body.
func (run *templateRun) Write(p []byte) (int, error) {
	if run.body.Len()+len(p) > maxBody {
		return 0, errTooLong
	}
	return run.body.Write(p)
}

// looked counts what a function had to look at.
func (run *templateRun) looked(n int) error {
	if run.work += n; run.work > maxWork {
		return errTooLong
	}
	return nil
}

func (run *templateRun) json(v any) (string, error) {
	written, err := marshal(v)
	if err != nil {
		return "", err
	}
	return string(written), run.looked(len(written))
}

func (run *templateRun) cut(most int, v any) (string, error) {
	s := fmt.Sprint(v)
	return cut(s, most), run.looked(len(s))
}

func (run *templateRun) line(v any) (string, error) {
	s := fmt.Sprint(v)
	return line(s), run.looked(len(s))
}
