package delivery

import (
	"slices"
	"time"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/pipeline"
)

// Message is what one person is told at once, on one of their channels, composed for how it is sent. Its sender tries
// once, and has the queue that it comes from learn a [Result]: when, and how often, it is tried is for the queue to
// say.
type Message struct {
	ID        string // the same whenever it is sent: the Idempotency-Key of a request, and of a mail in its Message-ID
	Owner     string
	Transport string // TransportMail or TransportWebhook
	Address   channel.Address
	Entries   int  // that it tells of
	Urgency   int  // the greatest of theirs
	Once      bool // its queue tries it once: a person waits for what comes of it

	Subject, Text, HTML string // of a mail
	Unsubscribe         string // of a mail: the URL whose POST stops such mails (RFC 8058); empty: none

	Method, MediaType string // of a request
	Body              []byte
}

// How messages are sent.
const (
	TransportMail    = "mail"
	TransportWebhook = "webhook"
)

// Result is what came of sending a message.
type Result struct {
	Taken   bool          // by the receiver
	Passing bool          // it was not, and another attempt may be
	After   time.Duration // how long the receiver wants to be left alone before that; 0 if it does not say
	Said    string        // by the receiver, or why there was no answer: it shows no more of the address than its host
}

// MessagesAlone reports whether messages are all that a stage is given.
func MessagesAlone(given []pipeline.Kind) bool {
	message := pipeline.KindOf[*Message]()
	return len(given) > 0 && !slices.ContainsFunc(given, func(k pipeline.Kind) bool { return k.IsAny() || !message.Accepts(k) })
}
