package mailout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
)

// errNoServer is why messages wait where no server is named.
var errNoServer = errors.New("no mail server is named (option host)")

// waits is how long messages wait before the server that was not named is asked for again.
const waits = time.Minute

// send mails a message once, and has the queue learn what came of it. Without a server it waits in the queue, and is
// not held against its receiver.
func (s *stage) send(ctx context.Context, it *pipeline.Item, m *delivery.Message) error {
	if s.options.Host == "" {
		return pipeline.Retry(errNoServer, time.Now().Add(waits))
	}
	to, _ := m.Address.Reveal()
	content := content{to: to, id: m.ID, subject: m.Subject, text: m.Text, html: m.HTML, unsubscribe: s.options.Unsubscribe}
	if isUnsubscribe(m.Unsubscribe, "https") {
		content.unsubscribe, content.oneClick = m.Unsubscribe, true
	}
	mail, err := s.mail(content)
	if m.Transport != delivery.TransportMail || err != nil {
		it.Learn(delivery.Result{Said: fmt.Sprintf("it cannot be sent as a mail to %v", m.Address)})
		return nil
	}
	err = s.attempt(ctx, mail)
	if err == nil {
		s.env.Counter("mails").Add(1)
		s.env.Counter("mailed").Add(int64(m.Entries))
		it.Learn(delivery.Result{Taken: true})
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	counter, passing := "repeated", !isPermanent(err) || isLogin(err) // who we are is not for the receiver to mend
	if !passing {
		counter = "refused"
	}
	s.env.Counter(counter).Add(1)
	it.Learn(delivery.Result{Passing: passing, Said: err.Error()})
	return nil
}
