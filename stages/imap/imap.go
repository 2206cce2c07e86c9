// Package imap is the stage that reads what is new in mailboxes, by IMAP4rev1 (RFC 3501) or later. A mailbox is the
// start of a crawl, as a page is, and a visit of it gives a document for each message that has come since the last
// one. A message is known by its Message-ID (urlnorm.OfMessage), wherever it lies.
//
// It guarantees what stages/internal/agent does, and: nothing in a mailbox is marked, moved, changed or removed. It is
// opened by EXAMINE, and messages are read by BODY.PEEK. A message is passed on once, as long as the server keeps its
// promise of UIDs that grow; a server that gives other UIDs has its newest messages read again, which are the same
// documents.
package imap

import (
	"context"
	"errors"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/agent"
	_ "github.com/webrace/webrace/stages/kinds" // documents and requests
)

// Options of the stage.
type Options struct{ agent.Options }

// batch is how many messages are asked for at once.
const batch = 100

// The ports of the schemes.
var (
	schemes = []string{"imap", "imaps"}
	ports   = map[string]string{"imap": "143", "imaps": "993"}
)

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "imap",
		Single:  true,
		Summary: "reads what is new in mailboxes, and changes nothing there",
		Doc: "Each message that has come since the last visit is a document, whose address is mid: and its Message-ID, or its digest if it has none. " +
			"The first visit takes the newest (backlog). The account is that of the URD's secret. By the scheme imap the connection is made secure " +
			"(STARTTLS) before it is sent; a server that cannot is refused, unless the secret was stored with --insecure.",
		In:      pipeline.Kinds(pipeline.KindOf[webrace.Request]()),
		Out:     []pipeline.Port{{Kind: pipeline.KindOf[*webrace.Document](), Doc: "the messages, oldest first", Cases: []pipeline.Case{{Name: string(webrace.Fetched), Parts: []pipeline.Part{webrace.PartBody}}}}},
		Workers: 16, PerProcess: true,
	}, Options{agent.Defaults}, newStage)
}

type stage struct {
	options  Options
	env      *pipeline.Env
	agent    *agent.Agent
	sessions *agent.Sessions[session]
}

var (
	_ pipeline.Processor = (*stage)(nil)
	_ pipeline.Closer    = (*stage)(nil)
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	a, err := agent.New(o.Options, env)
	return &stage{o, env, a, agent.NewSessions(a, open)}, err
}

// Close closes the sessions that are kept.
func (s *stage) Close() error { return s.sessions.Close() }

// Process visits one mailbox.
func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	return s.agent.Run(ctx, it, schemes, func(v *agent.Visit) (next []byte, err error) {
		var now mailbox
		examine := func(on session) (err error) {
			now, err = on.Examine(v.Path)
			return err
		}
		err = s.sessions.With(ctx, v, examine, func(on session) (err error) {
			next, err = s.visit(ctx, v, it, out, on, now)
			return err
		})
		return next, err
	})
}

// visit passes on what is new in a mailbox, and returns what is known of it then.
func (s *stage) visit(ctx context.Context, v *agent.Visit, it *pipeline.Item, out pipeline.Emitter, on session, now mailbox) ([]byte, error) {
	known, err := readState(v.Known)
	if err != nil {
		return nil, err
	}
	from := known.Next
	if known.Validity != now.Validity {
		if v.Known != nil {
			s.env.Counter("renumbered").Add(1)
		}
		from = 0
	}
	uids, err := s.fresh(on, now, from)
	if err != nil {
		return nil, err
	}
	next := max(from, now.Next)
	for len(uids) > 0 {
		these := uids[:min(len(uids), batch)]
		uids = uids[len(these):]
		err := on.Fetch(these, int64(s.options.MaxSize), func(m message) error {
			if err := s.env.Reserve(ctx, it, len(m.body)); err != nil {
				return err
			}
			err := v.Document(ctx, out, s.document(m))
			return errors.Join(err, s.env.Reserve(ctx, it, -len(m.body))) // few are on their way, however many come
		})
		if err != nil {
			return nil, err
		}
		next = max(next, these[len(these)-1]+1)
	}
	return state{Validity: now.Validity, Next: next}.write(), nil
}

// window is how many messages of a mailbox are listed at once.
const window = 1000

// fresh returns the UIDs of messages from one on, in ascending order: those of the backlog if that is 0. They are the
// last ones of the mailbox, since UIDs grow, so that it is listed from its end.
func (s *stage) fresh(on session, in mailbox, from uint32) (uids []uint32, err error) {
	if from > 0 && in.Next > 0 && in.Next <= from {
		return nil, nil
	}
	for last := in.Messages; last > 0; {
		first := uint32(1)
		if last > window {
			first = last - window + 1
		}
		if most := uint32(s.options.Backlog); from == 0 && most > 0 {
			if uint32(len(uids)) >= most {
				break
			}
			first = max(first, last-min(last, most-uint32(len(uids)))+1)
		}
		listed, err := on.List(first, last)
		if err != nil {
			return nil, err
		}
		if len(listed) == 0 {
			return nil, agent.Failf("the server says that there are %d messages, and has no message from %d to %d", in.Messages, first, last)
		}
		older := false
		for _, uid := range listed {
			if uid >= max(from, 1) {
				uids = append(uids, uid)
			} else {
				older = true
			}
		}
		if len(uids) > mostListed { // what was left out now would never be asked for again
			return nil, agent.Failf("more than %d messages are new: backlog takes the newest of a first visit", mostListed)
		}
		if older {
			break
		}
		last = first - 1
	}
	return sorted(uids), nil
}

// document is the document of a message. Its time is that of the visit, by which annotations expire: a message may be
// old.
func (s *stage) document(m message) *webrace.Document {
	address, err := urlnorm.OfMessage("<" + extract.MessageOf(m.body).ID + ">")
	if err != nil {
		address = urlnorm.OfBytes(m.body)
	}
	return &webrace.Document{URL: address, MediaType: "message/rfc822", Body: m.body, Truncated: m.truncated}
}
