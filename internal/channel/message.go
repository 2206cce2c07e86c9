package channel

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"sort"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/wording"
)

// MaxShown is how many entries of a message are shown at most.
const MaxShown = 50

// Entry is one thing that a person is told.
type Entry struct {
	Title     string    `json:"title,omitempty"`
	URL       string    `json:"url,omitempty"` // of the page that it is about
	Summary   string    `json:"summary,omitempty"`
	Relevance int       `json:"relevance"`          // 0 to 100
	Keywords  []string  `json:"keywords,omitempty"` // why it is relevant
	Urgency   int       `json:"urgency,omitempty"`  // 1 to 3, 3 the most urgent
	Labels    []string  `json:"labels,omitempty"`
	Time      time.Time `json:"time,omitzero"`
	Link      string    `json:"link,omitempty"`   // to where the person reads of it
	Notice    bool      `json:"notice,omitempty"` // it tells how a source fares, and has no relevance
}

// Message is what is sent on a channel at one time.
type Message struct {
	Entries []Entry `json:"entries"`        // in the order in which they are shown
	More    int     `json:"more,omitempty"` // how many others there are
	Link    string  `json:"link,omitempty"` // to where the person finds all of it
	Stop    string  `json:"-"`              // of a mail: to where it is said that no more are wanted; empty: nowhere
}

// shown returns the first entries, most or [MaxShown] of them, and how many others there are. Each text of these is a
// line (see line), and cut.
func (m Message) shown(most int) (entries []Entry, more int) {
	n := min(len(m.Entries), most, MaxShown)
	for _, e := range m.Entries[:n] {
		entries = append(entries, e.inLines())
	}
	return entries, m.More + len(m.Entries) - n
}

// errTooLong is the error of what would be longer than it may be.
var errTooLong = errors.New("it would be too long")

// largest composes a text of as many entries as there is room for, most at first: compose writes it, with how many
// others there are. The error is errTooLong if it is longer than size, or compose returns that, without any entry.
func (m Message) largest(most, size int, compose func(entries []Entry, more int) ([]byte, error)) ([]byte, error) {
	entries, more := m.shown(most)
	attempt := func(n int) ([]byte, error) {
		text, err := compose(entries[:n], more+len(entries)-n)
		if err == nil && len(text) > size {
			return nil, errTooLong
		}
		return text, err
	}
	text, err := attempt(len(entries))
	if !errors.Is(err, errTooLong) {
		return text, err
	}
	tooMany := sort.Search(len(entries), func(n int) bool {
		_, err := attempt(n)
		return err != nil
	})
	return attempt(max(tooMany-1, 0))
}

// The most characters of the parts of an entry.
const (
	maxTitle    = 300
	maxSummary  = 1000
	maxURL      = 2000
	maxKeyword  = 60
	maxKeywords = 20
)

// inLines is the entry with each text in a line of its own. It has a title: if need be, its URL is one.
func (e Entry) inLines() Entry {
	e.Title = cut(cmp.Or(line(e.Title), line(e.URL), "(no title)"), maxTitle)
	e.Summary, e.URL = cut(line(e.Summary), maxSummary), cut(line(e.URL), maxURL)
	e.Keywords, e.Labels = words(e.Keywords), words(e.Labels)
	return e
}

func words(all []string) (short []string) {
	for _, word := range all[:min(len(all), maxKeywords)] {
		if word = cut(line(word), maxKeyword); word != "" {
			short = append(short, word)
		}
	}
	return short
}

// about is the line on an entry: why it is relevant, and what it belongs to.
func (e Entry) about() string {
	var parts []string
	if !e.Notice {
		parts = append(parts, fmt.Sprint("relevance ", e.Relevance))
	}
	if len(e.Keywords) > 0 {
		parts = append(parts, strings.Join(e.Keywords, ", "))
	}
	if len(e.Labels) > 0 {
		parts = append(parts, strings.Join(e.Labels, ", "))
	}
	if e.Urgency == mostUrgent {
		parts = append(parts, "urgent")
	}
	return strings.Join(parts, " · ")
}

// target is where who wants to know more of an entry goes: to the page; empty if it has no address on the web.
func (e Entry) target() string { return cmp.Or(webURL(e.URL), webURL(e.Link)) }

// Subject tells in a line what the message is about first of all, and how much more there is in it.
func (m Message) Subject() string {
	const longest = 120 // characters of the title: what lists of mails show
	entries, more := m.shown(1)
	if len(entries) == 0 {
		return wording.Count(more, "alert")
	}
	first := cut(entries[0].Title, longest)
	if more > 0 {
		first += fmt.Sprintf(" (and %d more)", more)
	}
	return first
}

// rest is how the entries that are not shown are told of; empty if there are none.
func rest(more int) string {
	if more == 0 {
		return ""
	}
	return fmt.Sprint(more, " more")
}

// JSON writes the message for programs: the first entries as they are, and how many more there are. It ends in no
// line end.
func (m Message) JSON() ([]byte, error) {
	n := min(len(m.Entries), MaxShown)
	m.More += len(m.Entries) - n
	m.Entries = append([]Entry{}, m.Entries[:n]...)
	return marshal(m)
}

// marshal writes JSON with letters as they are, so that it is as long as it has to be.
func marshal(v any) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("write a message as JSON: %w", err)
	}
	return []byte(strings.TrimSuffix(b.String(), "\n")), nil
}

// line makes a line of a text: valid UTF-8, single spaces, no other control characters, and none that turn the
// direction of what stands behind them.
func line(s string) string {
	return wording.OneLine(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return ' '
		case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd")))
}

// cut returns a text of so many characters at most. One that was longer ends in …, if there is room for it.
func cut(s string, most int) string {
	return fit(s, most, func(rune) int { return 1 }, nil)
}

// fit returns as much of a text as has the size most when its characters are escaped, nil for as they are. One that
// was longer ends in …, if there is room for it. No character has a greater size than its bytes in UTF-8.
func fit(s string, most int, size func(rune) int, escape func(rune) string) string {
	if escape == nil && len(s) <= most {
		return s
	}
	var b strings.Builder
	used, room, short := 0, most-size('…'), 0 // short is how much of it leaves room for …
	for _, r := range s {
		before := b.Len()
		if escape == nil {
			b.WriteRune(r)
		} else {
			b.WriteString(escape(r))
		}
		for _, r := range b.String()[before:] {
			used += size(r)
		}
		switch {
		case used > most && room < 0:
			return ""
		case used > most:
			return b.String()[:short] + "…"
		case used <= room:
			short = b.Len()
		}
	}
	return b.String()
}

// webURL returns an address on the web in characters that have no meaning around it, such as in a list or between
// angle brackets; empty if it is none.
func webURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || !isHost(u.Host) || !utf8.ValidString(address) {
		return ""
	}
	var b strings.Builder
	for _, c := range []byte(u.String()) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	if b.Len() > maxURL {
		return ""
	}
	return b.String()
}

// isHost reports whether a host, perhaps with a port, is written as each service takes it.
func isHost(host string) bool {
	if host == "" {
		return false
	}
	for _, r := range host {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(".-:[]", r) {
			return false
		}
	}
	return true
}
