package mailout

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"fmt"
	htmltemplate "html/template"
	"net/mail"
	"strings"
	"text/template"
	"time"
	"unicode"
	"unicode/utf8"

	gomail "github.com/wneessen/go-mail"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/xmlschema"
)

// Digest is what one mail tells one owner; templates see it.
type Digest struct {
	Owner       string
	Annotations []*xmlschema.ACI
	Notices     []*webrace.Notice

	parcels []delivery.Parcel // all of it, in order
}

// First is what the mail is about first of all.
func (d *Digest) First() string {
	if len(d.Annotations) > 0 {
		return either(d.Annotations[0].Title, d.Annotations[0].URI)
	}
	if len(d.Notices) > 0 {
		return d.Notices[0].URI + " " + verb(d.Notices[0])
	}
	return ""
}

// More is how many things the mail tells besides the first.
func (d *Digest) More() int { return len(d.parcels) - 1 }

func verb(n *webrace.Notice) string {
	switch n.State {
	case webrace.SourceRecovered:
		return "answers again"
	case webrace.SourceTooCostly:
		return "cannot be looked at"
	case webrace.SourceEmpty:
		return "has nothing of what is looked for"
	}
	return "gives no document any more"
}

// digestsOf sorts values by owner, in the order in which these first come.
func digestsOf(parcels []delivery.Parcel) ([]*Digest, error) {
	var all []*Digest
	byOwner := make(map[string]*Digest)
	of := func(owner string, p delivery.Parcel) *Digest {
		d := byOwner[owner]
		if d == nil {
			d = &Digest{Owner: owner}
			byOwner[owner] = d
			all = append(all, d)
		}
		d.parcels = append(d.parcels, p)
		return d
	}
	for _, p := range parcels {
		switch v := p.Value.(type) {
		case *xmlschema.ACI:
			d := of(v.Owner, p)
			d.Annotations = append(d.Annotations, v)
		case *webrace.Notice:
			d := of(v.Owner, p)
			d.Notices = append(d.Notices, v)
		default:
			return nil, fmt.Errorf("takes annotations and notices, got %T", v)
		}
	}
	return all, nil
}

const defaultSubject = `{{.First}}{{if .More}} (and {{.More}} more){{end}}`

var (
	//go:embed digest.txt
	defaultText string
	//go:embed digest.html
	defaultHTML string
)

type templates struct {
	subject, text *template.Template
	html          *htmltemplate.Template // nil: none
}

// templates reads the templates; an error comes with the option that is at fault.
func (o Options) templates() (t *templates, option string, err error) {
	t = new(templates)
	functions := template.FuncMap{"verb": verb, "line": oneLine}
	if t.subject, err = template.New("subject").Funcs(functions).Parse(o.Subject); err != nil {
		return nil, "subject", err
	}
	if t.text, err = template.New("text").Funcs(functions).Parse(either(o.Text, defaultText)); err != nil {
		return nil, "text", err
	}
	if !o.Plain {
		t.html, err = htmltemplate.New("html").Funcs(htmltemplate.FuncMap(functions)).Parse(either(o.HTML, defaultHTML))
	}
	return t, "html", err
}

func either(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// oneLine makes a line of a text: no line ends and no other control characters, and none that turn the direction of
// what stands behind them.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return ' '
		case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return strings.Join(strings.Fields(s), " ")
}

// compose writes the mail of a digest.
func (s *stage) compose(d *Digest, to string) (*gomail.Msg, error) {
	var subject, text, html bytes.Buffer
	err := s.templates.subject.Execute(&subject, d)
	if err == nil {
		err = s.templates.text.Execute(&text, d)
	}
	if err == nil && s.templates.html != nil {
		err = s.templates.html.Execute(&html, d)
	}
	if err != nil {
		return nil, err
	}
	return s.mail(content{to, delivery.Together(d.parcels), subject.String(), text.String(), html.String(), s.options.Unsubscribe, false})
}

// content is what a mail says, and to whom.
type content struct {
	to, id, subject, text, html string

	unsubscribe string // where it is said that no more are wanted; empty: nowhere
	oneClick    bool   // by a POST to there (RFC 8058)
}

// mail makes a mail. Its id is the same for the same content.
func (s *stage) mail(c content) (*gomail.Msg, error) {
	m := gomail.NewMsg()
	if err := m.From(s.options.From); err != nil {
		return nil, err
	}
	if err := m.To(c.to); err != nil {
		return nil, err
	}
	setSubject(m, oneLine(c.subject))
	m.SetMessageIDWithValue(c.id + "@" + s.domain())
	m.SetDateWithValue(time.Now())
	m.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no vacation responder answers it
	if c.unsubscribe != "" {
		m.SetGenHeaderPreformatted(gomail.HeaderListUnsubscribe, "<"+c.unsubscribe+">")
	}
	if c.oneClick {
		m.SetGenHeaderPreformatted(gomail.HeaderListUnsubscribePost, "List-Unsubscribe=One-Click")
	}
	m.SetBodyString(gomail.TypeTextPlain, strings.ToValidUTF8(c.text, "\ufffd"))
	if c.html != "" && !s.options.Plain {
		m.AddAlternativeString(gomail.TypeTextHTML, strings.ToValidUTF8(c.html, "\ufffd"))
	}
	return m, nil
}

// setSubject sets the subject so that it reads as the line does: one that is written like an encoded word (RFC 2047),
// which a reader would decode, is encoded itself.
func setSubject(m *gomail.Msg, line string) {
	if !strings.Contains(line, "=?") {
		m.Subject(line)
		return
	}
	const longest = 45 // bytes, which are 60 of base64: an encoded word has 75 at most
	var words []string
	for line != "" {
		end := min(longest, len(line))
		for end < len(line) && !utf8.RuneStart(line[end]) {
			end--
		}
		words = append(words, "=?UTF-8?B?"+base64.StdEncoding.EncodeToString([]byte(line[:end]))+"?=")
		line = line[end:]
	}
	m.SetGenHeaderPreformatted(gomail.HeaderSubject, strings.Join(words, "\r\n "))
}

// domain is that of the sender.
func (s *stage) domain() string {
	from, err := mail.ParseAddress(s.options.From)
	if err != nil {
		return "webrace"
	}
	return from.Address[strings.LastIndexByte(from.Address, '@')+1:]
}
