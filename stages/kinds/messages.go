package kinds

import (
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/stages/internal/delivery"
)

func init() {
	codec.Register(codec.Codec[*delivery.Message, message]{
		Name: "message", Doc: "what one person is told at once, on one of their channels; where it goes is shown by its host alone, so that one which was written and read again cannot be sent",
		Body: "that of the request, if it is one", Encode: encodeMessage, Decode: decodeMessage,
	})
}

// message is a delivery.Message without what of its address is as good as a password.
type message struct {
	ID        string `json:"id,omitzero" doc:"the same whenever it is sent"`
	Owner     string `json:"owner,omitzero" doc:"who it is for"`
	Transport string `json:"transport,omitzero" doc:"mail or webhook"`
	Host      string `json:"host,omitzero" doc:"of its receiver"`
	Entries   int    `json:"entries,omitzero" doc:"how many things it tells of"`
	Urgency   int    `json:"urgency,omitzero" doc:"the greatest of theirs, 1 to 3"`
	Once      bool   `json:"once,omitzero" doc:"it is not sent again where it is not taken"`
	Subject   string `json:"subject,omitzero" doc:"of a mail"`
	Text      string `json:"text,omitzero" doc:"of a mail"`
	HTML      string `json:"html,omitzero" doc:"of a mail: the same as a page"`
	Method    string `json:"method,omitzero" doc:"of a request"`
	MediaType string `json:"media_type,omitzero" doc:"of a request's body"`

	Unsubscribe string `json:"unsubscribe,omitzero" doc:"of a mail: where a POST stops such mails (RFC 8058)"`
}

func encodeMessage(m *delivery.Message) (message, []byte) {
	host := ""
	if to, _ := m.Address.Reveal(); to != "" {
		host = m.Address.String()
	}
	return message{m.ID, m.Owner, m.Transport, host, m.Entries, m.Urgency, m.Once, m.Subject, m.Text, m.HTML, m.Method, m.MediaType, m.Unsubscribe}, m.Body
}

func decodeMessage(h message, body []byte) (*delivery.Message, error) {
	return &delivery.Message{
		ID: h.ID, Owner: h.Owner, Transport: h.Transport, Entries: h.Entries, Urgency: h.Urgency, Once: h.Once, Unsubscribe: h.Unsubscribe,
		Subject: h.Subject, Text: h.Text, HTML: h.HTML, Method: h.Method, MediaType: h.MediaType, Body: body,
	}, nil
}
