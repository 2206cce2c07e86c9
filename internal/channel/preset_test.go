package channel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"
)

func request(t *testing.T, m Message, hook Webhook, address string) Request {
	t.Helper()
	r, err := m.Request(hook, address)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEachPresetHasTheRequestOfItsService(t *testing.T) {
	t.Parallel()
	for preset, want := range map[string]Request{
		"": {URL: "https://hooks.levanda.org/x", Body: []byte(`{"entries":[{"title":"Gale <warning> & *storm*","url":"https://weather.levanda.org/a?b=1&c=2|x",` +
			`"summary":"Winds of 9\n[bank](https://evil.org) <!channel> @everyone","relevance":73,"keywords":["gale","wind"],"urgency":3,"labels":["sea"],` +
			`"time":"2026-11-30T08:00:00Z","link":"https://race.levanda.org/a/7"},{"title":"https://x.org/ gives no document any more",` +
			`"url":"javascript:alert(1)","summary":"404","relevance":0,"notice":true}],"more":3,"link":"https://race.levanda.org/"}`)},
		"slack": {URL: "https://hooks.levanda.org/x", Body: []byte(`{"text":"Gale &lt;warning&gt; &amp; *storm* (and 4 more)","blocks":[` +
			`{"type":"section","text":{"type":"mrkdwn","text":"<https://weather.levanda.org/a?b=1&amp;c=2%7Cx|Gale &lt;warning&gt; &amp; *storm*>\n` +
			`Winds of 9 [bank](https://evil.org) &lt;!channel&gt; @everyone\nrelevance 73 · gale, wind · sea · urgent · <https://race.levanda.org/a/7|details>","verbatim":true}},` +
			`{"type":"section","text":{"type":"mrkdwn","text":"https://x.org/ gives no document any more\n404","verbatim":true}},` +
			`{"type":"section","text":{"type":"mrkdwn","text":"<https://race.levanda.org/|3 more>","verbatim":true}}],"unfurl_links":false,"unfurl_media":false}`)},
		"ntfy": {URL: "https://hooks.levanda.org/", Body: []byte(`{"topic":"x","title":"Gale <warning> & *storm* (and 4 more)","message":"Gale <warning> & *storm*\n` +
			`Winds of 9 [bank](https://evil.org) <!channel> @everyone\nrelevance 73 · gale, wind · sea · urgent\nhttps://weather.levanda.org/a?b=1&c=2%7Cx\n\n` +
			`https://x.org/ gives no document any more\n404\n\n3 more: https://race.levanda.org/","tags":["sea"],"priority":4,"click":"https://race.levanda.org/"}`)},
		"discord": {URL: "https://hooks.levanda.org/x", Body: []byte(`{"content":"Gale \\<warning\\> & \\*storm\\* \\(and 4 more\\)\n3 more: https://race.levanda.org/","embeds":[` +
			`{"title":"Gale \\<warning\\> & \\*storm\\*","url":"https://weather.levanda.org/a?b=1&c=2%7Cx",` +
			`"description":"Winds of 9 \\[bank\\]\\(https\\://evil.org\\) \\<!channel\\> \\@everyone","timestamp":"2026-11-30T08:00:00Z",` +
			`"footer":{"text":"relevance 73 · gale, wind · sea · urgent"}},{"title":"https\\://x.org/ gives no document any more","description":"404"}],` +
			`"allowed_mentions":{"parse":[]}}`)},
	} {
		got := request(t, storm, Webhook{Preset: preset}, "https://hooks.levanda.org/x")
		if got.Method != "POST" || got.MediaType != "application/json" || got.URL != want.URL || !bytes.Equal(got.Body, want.Body) {
			t.Errorf("%q: %s %s %s\n%s\nwant %s\n%s", preset, got.Method, got.MediaType, got.URL, got.Body, want.URL, want.Body)
		}
	}
	own := request(t, storm, Webhook{Body: "{{.Count}}", Method: "PUT", MediaType: "text/plain"}, "https://hooks.levanda.org/x")
	if fmt.Sprintf("%s %s %s %s", own.Method, own.URL, own.MediaType, own.Body) != "PUT https://hooks.levanda.org/x text/plain 5" {
		t.Errorf("%+v", own)
	}
	for _, hook := range []Webhook{{Preset: "slak"}, {Body: "{{range 9}}{{end}}"}} {
		if _, err := storm.Request(hook, ""); err == nil {
			t.Errorf("%+v makes a request", hook)
		}
	}
}

func TestATopicOfNtfyIsTheLastPartOfItsAddress(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://ntfy.sh/storms":                          "https://ntfy.sh/ storms",
		"https://ntfy.sh/storms/":                         "https://ntfy.sh/ storms",
		"https://a.org:8080/push/my_topic-1":              "https://a.org:8080/push/ my_topic-1",
		"https://a.org/storms?auth=c2VjcmV0":              "https://a.org/?auth=c2VjcmV0 storms",
		"https://ntfy.sh":                                 "",
		"https://ntfy.sh/":                                "",
		"https://ntfy.sh/a b":                             "",
		"https://ntfy.sh/secret%20part":                   "",
		"https://ntfy.sh/" + strings.Repeat("secret", 11): "",
		"secret":  "",
		":secret": "",
	} {
		server, topic, err := ntfyTopic(address)
		if got := strings.TrimSpace(server + " " + topic); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %s, %v, want %s", address, got, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("an error tells the address: %v", err)
		}
	}
}

func TestWhatThereIsNoRoomForIsCounted(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 9, 10, 11, 49, 50, 51, 63} {
		m := many(n)
		for i := range m.Entries {
			m.Entries[i].Summary = strings.Repeat("long ", 20*(n%3))
		}
		isSlack(t, m)
		isDiscord(t, m)
		isNtfy(t, m)
	}
}

func utf16Length(s string) int { return len(utf16.Encode([]rune(s))) }

// counted holds that shown entries and those that a text counts are all.
func counted(t *testing.T, m Message, shown int, text string) {
	t.Helper()
	more := 0
	if found := moreText.FindStringSubmatch(text); found != nil {
		if _, err := fmt.Sscan(found[1], &more); err != nil {
			t.Fatal(err)
		}
	}
	if shown+more != len(m.Entries)+m.More {
		t.Errorf("%d are shown and %d are counted, of %d: %q", shown, more, len(m.Entries)+m.More, text)
	}
}

var moreText = regexp.MustCompile(`(\d+) more(?:>|: \S+)?$`)

func isSlack(t *testing.T, m Message) {
	t.Helper()
	body := request(t, m, Webhook{Preset: "slack"}, "").Body
	var message slackMessage
	if err := json.Unmarshal(body, &message); err != nil || len(body) > 10000 || len(message.Blocks) > 50 {
		t.Fatalf("%d bytes, %d blocks, %v: %s", len(body), len(message.Blocks), err, body)
	}
	texts, last := []string{message.Text}, ""
	shown := 0
	for _, block := range message.Blocks {
		last = block.Text.Text
		texts = append(texts, last)
		shown++
		if !block.Text.Verbatim {
			t.Errorf("names are looked for in %q", last)
		}
	}
	if n := len(m.Entries) + m.More; n > shown || n > 0 && shown > n {
		if shown--; !strings.Contains(last, "more") {
			t.Errorf("%d of %d are shown, and not counted", shown, n)
		}
		counted(t, m, shown, last)
	}
	markup := regexp.MustCompile(`<https?://[^<>|]*\|[^<>]*>|&amp;|&lt;|&gt;`)
	for _, text := range texts {
		isText(t, text, true)
		if n := utf16Length(text); n == 0 || n > 3000 {
			t.Errorf("%d characters: %q", n, text)
		}
		if rest := markup.ReplaceAllString(text, ""); strings.ContainsAny(rest, "<>&") {
			t.Errorf("%q holds more than text and links: %q", text, rest)
		}
	}
}

func isDiscord(t *testing.T, m Message) {
	t.Helper()
	body := request(t, m, Webhook{Preset: "discord"}, "").Body
	var message discordMessage
	if err := json.Unmarshal(body, &message); err != nil || len(message.Embeds) > 10 || !bytes.HasSuffix(body, []byte(`"allowed_mentions":{"parse":[]}}`)) {
		t.Fatalf("%v: %s", err, body)
	}
	if n := utf16Length(message.Content); n == 0 || n > 2000 {
		t.Errorf("%d characters: %q", n, message.Content)
	}
	first, rest, _ := strings.Cut(message.Content, "\n")
	counted(t, m, len(message.Embeds), rest)
	texts, all := []string{first}, 0
	for _, e := range message.Embeds {
		texts = append(texts, e.Title, e.Description)
		title, description, footer := utf16Length(e.Title), utf16Length(e.Description), 0
		if e.Footer != nil {
			footer = utf16Length(e.Footer.Text)
		}
		if all += title + description + footer; title == 0 || title > 256 || description > 4096 || footer > 2048 || len(e.URL) > 2048 {
			t.Errorf("%d, %d and %d characters: %+v", title, description, footer, e)
		}
	}
	if all > 6000 {
		t.Errorf("%d characters in all", all)
	}
	escaped := regexp.MustCompile(`\\[!-/:-@[-` + "`" + `{-~]`)
	for _, text := range texts {
		isText(t, text, false)
		if rest := escaped.ReplaceAllString(text, ""); strings.ContainsAny(rest, "\\*_~`|<>[]()#:@") {
			t.Errorf("%q holds Markdown: %q", text, rest)
		}
	}
}

func isNtfy(t *testing.T, m Message) {
	t.Helper()
	r := request(t, m, Webhook{Preset: "ntfy"}, "https://ntfy.sh/"+strings.Repeat("t", 64))
	var message ntfyMessage
	if err := json.Unmarshal(r.Body, &message); err != nil || len(r.Body) > 8192 || len(message.Message) > 4095 || len(message.Title) > 250 || len(message.Tags) > 5 {
		t.Fatalf("%d bytes, %v: %s", len(r.Body), err, r.Body)
	}
	isText(t, message.Title, false)
	isText(t, message.Message, true)
	if message.Priority < 2 || message.Priority > 4 || strings.Contains(strings.Join(message.Tags, ""), ",") {
		t.Errorf("%s", r.Body)
	}
	if message.Click != "" && webURL(message.Click) != message.Click {
		t.Errorf("leads to %s", message.Click)
	}
	entries := 0
	if message.Message != "" {
		parts := strings.Split(message.Message, "\n\n")
		if entries = len(parts); strings.Contains(message.Message, " more") && moreText.MatchString(parts[entries-1]) && entries <= len(m.Entries)+m.More {
			entries--
			counted(t, m, entries, parts[len(parts)-1])
			return
		}
	}
	if entries != len(m.Entries)+m.More {
		t.Errorf("%d of %d are shown: %q", entries, len(m.Entries)+m.More, message.Message)
	}
}
