package channel

import (
	"strings"
	"unicode/utf8"
)

// The limits of ntfy's servers, in bytes. A message of 4,096 or more becomes a file that is attached, if the server
// has room for such at all; and the whole JSON is refused above 8,192. What is escaped in JSON is twice as long at
// most.
const (
	maxNtfyMessage = 2800
	maxNtfyTitle   = 250
	maxNtfyTags    = 5
	maxNtfyTag     = 40
	maxNtfyClick   = 1000
)

type ntfyMessage struct {
	Topic    string   `json:"topic"`
	Title    string   `json:"title"`
	Message  string   `json:"message"`
	Tags     []string `json:"tags,omitempty"`
	Priority int      `json:"priority"` // 1 to 5; 3 is the default
	Click    string   `json:"click,omitempty"`
}

// ntfy is the message as a server of ntfy takes it at its root.
func (m Message) ntfy(topic string) ([]byte, error) {
	entries, _ := m.shown(MaxShown)
	message := ntfyMessage{
		Topic: topic, Title: fit(m.Subject(), maxNtfyTitle, utf8.RuneLen, nil), Message: m.ntfyText(entries),
		Tags: ntfyTags(entries), Priority: ntfyPriority(entries), Click: webURL(m.Link),
	}
	if len(entries) == 1 && m.More == 0 {
		message.Click = entries[0].target()
	}
	if len(message.Click) > maxNtfyClick {
		message.Click = ""
	}
	return marshal(message)
}

// ntfyText has as many entries as there is room for, and how many more there are.
func (m Message) ntfyText(entries []Entry) string {
	const (
		summary, address, about = 500, 500, 300 // bytes: with its title, one entry has room in any case
		ending                  = 700           // for how many more there are, and where
	)
	var b strings.Builder
	shown := 0
	for _, e := range entries {
		lines := []string{fit(e.Title, maxNtfyTitle, utf8.RuneLen, nil)}
		if e.Summary != "" {
			lines = append(lines, fit(e.Summary, summary, utf8.RuneLen, nil))
		}
		if text := e.about(); text != "" {
			lines = append(lines, fit(text, about, utf8.RuneLen, nil))
		}
		if target := e.target(); target != "" && len(target) <= address {
			lines = append(lines, target)
		}
		text := strings.Join(lines, "\n")
		if b.Len()+len("\n\n")+len(text) > maxNtfyMessage-ending {
			break
		}
		if shown++; shown > 1 {
			b.WriteString("\n\n")
		}
		b.WriteString(text)
	}
	more := m.More + len(m.Entries) - shown
	end := m.restLine(more)
	if len(end) > ending-len("\n\n") {
		end = rest(more)
	}
	return strings.Trim(b.String()+"\n\n"+end, "\n")
}

// ntfyTags are the labels of the entries, each once. Commas would part them.
func ntfyTags(entries []Entry) (tags []string) {
	there := make(map[string]bool)
	for _, e := range entries {
		for _, label := range e.Labels {
			tag := fit(strings.ReplaceAll(label, ",", " "), maxNtfyTag, utf8.RuneLen, nil)
			if len(tags) < maxNtfyTags && !there[tag] {
				there[tag] = true
				tags = append(tags, tag)
			}
		}
	}
	return tags
}

// ntfyPriority is that of the most urgent entry: without a sound for urgency 1, and with more of it for 3.
func ntfyPriority(entries []Entry) int {
	most := 0
	for _, e := range entries {
		most = max(most, e.Urgency)
	}
	switch {
	case most >= mostUrgent:
		return 4
	case most == 1:
		return 2
	}
	return 3
}
