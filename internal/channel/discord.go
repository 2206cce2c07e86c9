package channel

import (
	"strings"
	"time"
	"unicode/utf16"
)

// The limits of Discord, in characters. They are counted as UTF-16 has them, which is more than they are where it
// matters.
const (
	maxDiscordContent     = 2000
	maxDiscordEmbeds      = 10
	maxDiscordTitle       = 256
	maxDiscordDescription = 4096
	maxDiscordFooter      = 2048
	maxDiscordText        = 6000 // of the texts of all embeds together
)

type discordMessage struct {
	Content         string          `json:"content"`
	Embeds          []discordEmbed  `json:"embeds,omitempty"`
	AllowedMentions discordMentions `json:"allowed_mentions"`
}

type discordEmbed struct {
	Title       string         `json:"title"`
	URL         string         `json:"url,omitempty"`
	Description string         `json:"description,omitempty"`
	Timestamp   string         `json:"timestamp,omitempty"`
	Footer      *discordFooter `json:"footer,omitempty"`
}

type discordFooter struct {
	Text string `json:"text"`
}

// discordMentions are the kinds of mention in a text that ping whom they name.
type discordMentions struct {
	Parse []string `json:"parse"` // empty, and not nil: none
}

// discord is the message as the webhooks of Discord take it.
func (m Message) discord() ([]byte, error) {
	entries, more := m.shown(maxDiscordEmbeds)
	message := discordMessage{AllowedMentions: discordMentions{Parse: []string{}}}
	end := ""
	if text := m.restLine(more); text != "" {
		end = "\n" + text
	}
	if len(end) > maxDiscordContent/2 {
		end = "\n" + rest(more)
	}
	message.Content = fit(m.Subject(), maxDiscordContent-len(end), utf16.RuneLen, discordEscape) + end
	for _, e := range entries {
		share := maxDiscordText / len(entries)
		embed := discordEmbed{
			Title:       fit(e.Title, min(maxDiscordTitle, share/4), utf16.RuneLen, discordEscape),
			URL:         e.target(),
			Description: fit(e.Summary, min(maxDiscordDescription, share/2), utf16.RuneLen, discordEscape),
		}
		if !e.Time.IsZero() {
			embed.Timestamp = e.Time.UTC().Format(time.RFC3339)
		}
		if about := fit(e.about(), min(maxDiscordFooter, share/4), utf16.RuneLen, nil); about != "" { // of plain text
			embed.Footer = &discordFooter{about}
		}
		message.Embeds = append(message.Embeds, embed)
	}
	return marshal(message)
}

// discordEscape makes a character of a text one of Discord's Markdown that has no meaning there.
func discordEscape(r rune) string {
	if strings.ContainsRune("\\*_~`|<>[]()#:@-", r) {
		return "\\" + string(r)
	}
	return string(r)
}
