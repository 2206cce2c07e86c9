package channel

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// Presets are the services whose webhooks take a body of their own.
func Presets() []string { return []string{"slack", "ntfy", "discord"} }

// Request is what a webhook is sent.
type Request struct {
	Method    string
	URL       string
	MediaType string
	Body      []byte
}

// Request composes what the webhook at an address is sent. The error does not hold the address, which is a secret.
func (m Message) Request(hook Webhook, address string) (Request, error) {
	request := Request{Method: "POST", URL: address, MediaType: "application/json"}
	var err error
	switch {
	case hook.Body != "":
		var t *Template
		if t, err = ParseTemplate(hook.Body); err != nil {
			return Request{}, err
		}
		if hook.Method != "" {
			request.Method = hook.Method
		}
		if hook.MediaType != "" {
			request.MediaType = hook.MediaType
		}
		request.Body, err = t.Execute(m)
	case hook.Preset == "":
		request.Body, err = m.JSON()
	case hook.Preset == "slack":
		request.Body, err = m.slack()
	case hook.Preset == "discord":
		request.Body, err = m.discord()
	case hook.Preset == "ntfy":
		var topic string
		if request.URL, topic, err = ntfyTopic(address); err == nil {
			request.Body, err = m.ntfy(topic)
		}
	default:
		err = fmt.Errorf("%.40q is no preset of a webhook", hook.Preset)
	}
	if err != nil {
		return Request{}, err
	}
	return request, nil
}

var topicName = regexp.MustCompile(`^[-_A-Za-z0-9]{1,64}$`)

// ntfyTopic divides the address of a topic into that of its server, which takes JSON, and the topic.
func ntfyTopic(address string) (server, topic string, err error) {
	u, err := url.Parse(address)
	if err == nil {
		path := strings.TrimSuffix(u.Path, "/")
		slash := strings.LastIndexByte(path, '/')
		topic = path[slash+1:]
		u.Path, u.RawPath = path[:max(slash, 0)]+"/", ""
	}
	if err != nil || u.Host == "" || !topicName.MatchString(topic) {
		return "", "", errors.New("the address names no topic of ntfy: https://ntfy.sh/TOPIC is meant, with a topic of up to 64 letters, digits, - and _")
	}
	return u.String(), topic, nil
}

// restLine tells of what is not shown, and where that is; empty if all is.
func (m Message) restLine(more int) string {
	text := rest(more)
	if link := webURL(m.Link); text != "" && link != "" {
		text += ": " + link
	}
	return text
}
