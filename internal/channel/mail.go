package channel

import (
	_ "embed"
	htmltemplate "html/template"
	"strings"
	"text/template"
)

var (
	//go:embed mail.txt
	mailText string
	//go:embed mail.html
	mailHTML string

	mailTextTemplate = template.Must(template.New("mail.txt").Parse(mailText))
	mailHTMLTemplate = htmltemplate.Must(htmltemplate.New("mail.html").Parse(mailHTML))
)

// mailEntry is an entry as the templates of mails see it.
type mailEntry struct {
	Title, Summary, About string
	URL                   string // as it is shown
	Target                string // where the title leads; empty for nowhere
	Link                  string // to where the person reads of it; empty for none
}

// mail is what the templates of mails see.
type mail struct {
	Subject string
	Entries []mailEntry
	Rest    string // how many more there are; empty for none
	Link    string
	Stop    string
}

func (m Message) mail() mail {
	entries, more := m.shown(MaxShown)
	seen := mail{Subject: m.Subject(), Rest: rest(more), Link: webURL(m.Link), Stop: webURL(m.Stop)}
	for _, e := range entries {
		entry := mailEntry{Title: e.Title, Summary: e.Summary, About: e.about(), Target: e.target(), Link: webURL(e.Link)}
		if e.URL != e.Title {
			entry.URL = e.URL
		}
		seen.Entries = append(seen.Entries, entry)
	}
	return seen
}

// Text is the message as a text of a mail.
func (m Message) Text() string {
	var b strings.Builder
	if err := mailTextTemplate.Execute(&b, m.mail()); err != nil {
		panic(err) // the template is part of the program, and a string takes all that is written
	}
	return b.String()
}

// HTML is the message as a page of a mail. It loads nothing, and has links to the web alone.
func (m Message) HTML() string {
	var b strings.Builder
	if err := mailHTMLTemplate.Execute(&b, m.mail()); err != nil {
		panic(err) // as of Text
	}
	return b.String()
}
