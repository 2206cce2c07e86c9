package formats

import (
	"bytes"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/entries"
)

// calendar reads the lines of iCalendar (RFC 5545) and vCard (RFC 6350), which have one form. Each event, task,
// note or card is an entry, known by its UID and, if it stands for one of several times, by which; each property
// that means something to people is a block, "location: Pier 2". As each is published by itself, they are a feed. Times
// that are repeated by a rule are not worked out.
func (w *writer) calendar(body []byte) {
	c := calendar{writer: w}
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	for len(body) > 0 && !w.ended() {
		var line []byte
		if line, body = c.unfold(body); !c.line(line) {
			break
		}
	}
	switch {
	case c.in != "":
		c.mark()
		w.spoil("its last %s does not end", c.in)
	case !c.Text.Feed:
		w.spoil("it is no such file: it does not begin with BEGIN:")
	}
}

// calendar is the work on one document.
type calendar struct {
	*writer
	in     string // the entry that is open: vevent, vtodo, vjournal, vcard; empty for none
	beside int    // parts that are open and are no entries, within an entry or a time zone
	from   int    // the first block of the entry
	uid    string
	which  string // of several times
	name   string // of a card
	folded []byte
}

// unfold cuts off the first line, with those that go on with it: they begin with a blank.
func (c *calendar) unfold(body []byte) (line, rest []byte) {
	line, rest = cutAtLineEnd(body)
	if len(rest) == 0 || rest[0] != ' ' && rest[0] != '\t' {
		return line, rest
	}
	c.folded = append(c.folded[:0], line...)
	for len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t') {
		line, rest = cutAtLineEnd(rest[1:])
		c.folded = append(c.folded, line...)
	}
	return c.folded, rest
}

func cutAtLineEnd(body []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(body, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), rest
}

var calendarEntries = map[string]bool{"vevent": true, "vtodo": true, "vjournal": true, "vcard": true}

// line handles a property, and reports whether there is place for more.
func (c *calendar) line(line []byte) bool {
	name, parameters, value := property(line)
	switch part := strings.ToLower(strings.TrimSpace(value)); {
	case name == "begin" && c.in == "" && calendarEntries[part]:
		c.Text.Feed, c.in, c.from, c.uid, c.which, c.name = true, part, len(c.Text.Blocks), "", "", ""
	case name == "begin" && (c.in != "" || part == "vtimezone"):
		c.beside++
	case name == "begin":
		c.Text.Feed = true
	case name == "end" && c.beside > 0:
		c.beside--
	case name == "end" && part == c.in:
		c.mark()
		c.in = ""
	case c.beside > 0 || name == "":
	case c.in != "":
		return c.property(name, parameters, value)
	case name == "x-wr-calname" || name == "name":
		c.title(value)
	}
	return true
}

// title takes the name of a calendar for its title, which makes nothing new.
func (c *calendar) title(value string) {
	n := len(c.Text.Blocks)
	c.writer.name(unescaped(value))
	for i := n; i < len(c.Text.Blocks); i++ {
		c.Text.Blocks[i].Aside = true
	}
}

func (c *calendar) mark() {
	name := c.uid
	if name == "" {
		name = c.name
	}
	if name != "" && c.which != "" {
		name += "\x00" + c.which
	}
	entries.MarkRenamed(&c.Text, c.from, c.in, name)
}

// property parts a line "NAME;PARAMETER=VALUE:value", whose name may have a group in front. A parameter may have
// colons between quotes.
func property(line []byte) (name, parameters, value string) {
	quoted := false
	for i, b := range line {
		switch {
		case b == '"':
			quoted = !quoted
		case b == ':' && !quoted:
			name, parameters, _ = strings.Cut(string(line[:i]), ";")
			return strings.ToLower(name[strings.LastIndexByte(name, '.')+1:]), strings.ToLower(parameters), string(line[i+1:])
		}
	}
	return "", "", ""
}

// property handles what is said of an entry.
func (c *calendar) property(name, parameters, value string) bool {
	field, aside := webrace.FieldBody, false
	switch name {
	case "uid":
		c.uid = value
		return true
	case "recurrence-id":
		c.which = value
	case "fn":
		c.name = value
		field = webrace.FieldHeading
	case "summary":
		field = webrace.FieldHeading
	case "dtstamp", "created", "last-modified", "rev", "sequence": // when it was written, and how often
		aside = true
	case "version", "prodid", "class", "transp":
		return true
	}
	if strings.HasPrefix(name, "x-") || isBinary(parameters, value) {
		return true
	}
	n := len(c.Text.Blocks)
	text := timeOf(value)
	if text == "" {
		text = collapse(unescaped(value))
	}
	if text == "" {
		return true
	}
	more := c.block([]byte(name+": "+text), field)
	for i := n; i < len(c.Text.Blocks); i++ {
		c.Text.Blocks[i].Aside = aside
	}
	return more
}

// isBinary reports whether a value is a picture or a sound.
func isBinary(parameters, value string) bool {
	return strings.Contains(parameters, "encoding=b") || strings.HasPrefix(value, "data:")
}

// unescaped returns a text as it is meant: what parts a structured value becomes a blank.
func unescaped(value string) string {
	return calendarEscapes.Replace(value)
}

var calendarEscapes = strings.NewReplacer(`\n`, "\n", `\N`, "\n", `\,`, ",", `\;`, ";", `\\`, `\`, ";", " ")

// timeOf writes a date or a time as people do; nothing for what is none.
func timeOf(value string) string {
	date, clock, timed := strings.Cut(value, "T")
	if len(date) != len("20261128") || strings.Trim(date, "0123456789") != "" {
		return ""
	}
	text := date[:4] + "-" + date[4:6] + "-" + date[6:]
	clock, utc := strings.CutSuffix(clock, "Z")
	switch {
	case !timed:
		return text
	case len(clock) != len("190000") || strings.Trim(clock, "0123456789") != "":
		return ""
	}
	text += " " + clock[:2] + ":" + clock[2:4]
	if seconds := clock[4:]; seconds != "00" {
		text += ":" + seconds
	}
	if utc {
		text += " UTC"
	}
	return text
}
