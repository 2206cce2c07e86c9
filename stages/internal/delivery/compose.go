package delivery

import (
	"fmt"
	"strings"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/xmlschema"
)

// Receiver is whom a message is composed for.
type Receiver struct {
	Channel int64
	Owner   string
	Address channel.Address
	Mail    bool            // by mail; otherwise by a webhook
	Webhook channel.Webhook // what that takes
	Site    string          // the URL of the web application, for links; empty: none
}

// Compose writes what is said on a channel as its sender takes it, under an id, by which receivers tell that they have
// it already. A mail tells where it is stopped, if there is a web application, and the channel has a key. The error is
// that a webhook's template cannot write it, or that its address is none of the service that it is for.
func Compose(id string, to Receiver, said channel.Message) (*Message, error) {
	said.Link = to.Site
	m := &Message{ID: id, Owner: to.Owner, Address: to.Address, Entries: len(said.Entries) + said.More}
	if to.Mail {
		if token := channel.UnsubscribeToken(to.Channel, to.Address); token != "" && to.Site != "" {
			said.Stop = linkTo(to.Site, "off/"+token)
		}
		m.Transport, m.Unsubscribe = TransportMail, said.Stop
		m.Subject, m.Text, m.HTML = said.Subject(), said.Text(), said.HTML()
		return m, nil
	}
	address, key := to.Address.Reveal()
	request, err := said.Request(to.Webhook, address)
	if err != nil {
		return nil, err
	}
	if to.Webhook != (channel.Webhook{}) {
		key = "" // what takes a body of its own knows no signature of ours
	}
	m.Transport, m.Address = TransportWebhook, channel.NewAddress(request.URL, key)
	m.Method, m.MediaType, m.Body = request.Method, request.MediaType, request.Body
	return m, nil
}

// EntryOf is what an annotation says, of a number that the web application at a URL has it under; empty: there is none.
func EntryOf(a *xmlschema.ACI, seq int64, site string) channel.Entry {
	e := channel.Entry{Title: a.Title, URL: a.URI, Summary: a.Summary, Relevance: a.Relevance, Urgency: a.Urgency, Time: a.UpdateTime, Keywords: Found(a)}
	if a.Judgement != nil {
		e.Summary = strings.TrimSpace(e.Summary + " (" + a.Judgement.Short() + ")")
	}
	if site != "" {
		e.Link = linkTo(site, fmt.Sprint("a/", seq))
	}
	return e
}

func linkTo(site, path string) string { return strings.TrimRight(site, "/") + "/" + path }

// Found returns the keywords by which an annotation came about.
func Found(a *xmlschema.ACI) (keys []string) {
	if a.Explain == nil {
		return nil
	}
	for _, k := range a.Explain.Keywords {
		if k.Title+k.Heading+k.Body+k.Navigation > 0 {
			keys = append(keys, k.Key)
		}
	}
	return keys
}
