package portal

import (
	"context"
	"crypto/rand"
	"net/http"
	"time"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/storage/control"
)

// testsOf bounds how often its owner has a message sent on a channel to see what comes of it.
var testsOf = allowance{"tests of", 10, time.Minute}

// waitsForResult is how long it is waited for what comes of a test.
const waitsForResult = 15 * time.Second

// testSaid is what a test tells.
func testSaid(site string) channel.Message {
	return channel.Message{Link: site, Entries: []channel.Entry{{
		Title: text("tested.message"), Summary: text("tested.summary"), URL: site, Link: site, Relevance: 100, Urgency: 1, Keywords: []string{text("tested.keyword")},
	}}}
}

// testedPage is what is shown of a test.
type testedPage struct {
	N                    int64
	Name, Where, Said    string
	Taken, Passing, Late bool
}

// testChannel sends a message now, whatever the channel is set to, and shows what its receiver answers.
func testChannel(v *visit, _ control.Owned, c control.Channel) error {
	if c.Kind == control.ChannelFeed || c.State == control.ChannelUnconfirmed {
		return refuse(http.StatusConflict, "channel.not_tested")
	}
	s, err := settingsOf(c)
	if err != nil {
		return refuse(http.StatusConflict, "channel.unreadable")
	}
	if err := v.tools.limits.pass(v.tools.now(), testsOf, c.Owner); err != nil {
		return err
	}
	p := testedPage{N: c.N, Name: c.Name, Where: v.channelRow(c, 0).Where}
	site := v.tools.link("/")
	m, err := delivery.Compose("test-"+rand.Text(), delivery.Receiver{
		Channel: c.N, Owner: c.Owner, Address: c.Address, Mail: c.Kind == control.ChannelMail, Webhook: s.Webhook, Site: site,
	}, testSaid(site))
	if err != nil {
		p.Said = err.Error()
		return v.show(http.StatusOK, "tested", p)
	}
	m.Once = true
	r, is, err := v.resultOf(m)
	if err != nil {
		return err
	}
	p.Late, p.Taken, p.Passing, p.Said = !is, r.Taken, r.Passing, r.Said
	return v.show(http.StatusOK, "tested", p)
}

// resultOf has a message sent, and returns what came of it, if it is known soon.
func (v *visit) resultOf(m *delivery.Message) (r delivery.Result, is bool, err error) {
	ctx, cancel := context.WithTimeout(v.r.Context(), v.tools.patience)
	defer cancel()
	result := make(chan delivery.Result, 1)
	if err := v.tools.send(v.r.Context(), m, result); err != nil {
		return r, false, err
	}
	select {
	case r = <-result:
		return r, true, nil
	case <-ctx.Done():
		return r, false, v.r.Context().Err()
	}
}
