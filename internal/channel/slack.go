package channel

import (
	"strings"
	"unicode/utf16"
)

// The limits of Slack for a message of blocks. It rejects some of more than 11,300 characters in all, which it does
// not document: as their JSON is no longer than maxSlackJSON, no way of counting comes to that.
const (
	maxSlackBlocks = 50
	maxSlackText   = 3000  // of a block
	maxSlackTitle  = 4000  // of the text that stands for the blocks where these cannot be shown
	maxSlackJSON   = 10000 // bytes
)

type slackMessage struct {
	Text        string       `json:"text"`
	Blocks      []slackBlock `json:"blocks,omitempty"`
	UnfurlLinks bool         `json:"unfurl_links"` // false: Slack fetches no page to show a part of it
	UnfurlMedia bool         `json:"unfurl_media"`
}

type slackBlock struct {
	Type string    `json:"type"`
	Text slackText `json:"text"`
}

type slackText struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Verbatim bool   `json:"verbatim"` // true: no names are looked for in the text
}

func slackSection(text string) slackBlock {
	return slackBlock{"section", slackText{"mrkdwn", text, true}}
}

// slack is the message as the incoming webhooks of Slack take it.
func (m Message) slack() ([]byte, error) {
	return m.largest(maxSlackBlocks-1, maxSlackJSON, func(entries []Entry, more int) ([]byte, error) {
		message := slackMessage{Text: fit(m.Subject(), maxSlackTitle, utf16.RuneLen, slackEscape)}
		for _, e := range entries {
			message.Blocks = append(message.Blocks, slackSection(slackEntry(e)))
		}
		if text := rest(more); text != "" {
			message.Blocks = append(message.Blocks, slackSection(slackLink(webURL(m.Link), text)))
		}
		return marshal(message)
	})
}

// slackEntry is an entry in Slack's mrkdwn. Its parts together are within the limit of a block.
func slackEntry(e Entry) string {
	const title, summary, about = 300, 600, 400 // characters, once they are escaped; two links have 700 each
	lines := []string{slackLink(e.target(), fit(e.Title, title, utf16.RuneLen, slackEscape))}
	if e.Summary != "" {
		lines = append(lines, fit(e.Summary, summary, utf16.RuneLen, slackEscape))
	}
	last := fit(e.about(), about, utf16.RuneLen, slackEscape)
	if link := webURL(e.Link); link != "" {
		last = strings.TrimPrefix(last+" · "+slackLink(link, "details"), " · ")
	}
	if last != "" {
		lines = append(lines, last)
	}
	return strings.Join(lines, "\n")
}

// slackLink is a link on a text that is escaped; the text alone if there is no address, or a very long one.
func slackLink(address, text string) string {
	const longest = 700
	address = strings.ReplaceAll(address, "&", "&amp;")
	if address == "" || len(address) > longest {
		return text
	}
	return "<" + address + "|" + text + ">"
}

// slackEscape makes a character of a text one of mrkdwn that addresses nobody and links to nothing. What only formats
// is left as it is: Slack has no way to escape it, and its effect ends with the block.
func slackEscape(r rune) string {
	switch r {
	case '&':
		return "&amp;"
	case '<':
		return "&lt;"
	case '>':
		return "&gt;"
	}
	return string(r)
}
