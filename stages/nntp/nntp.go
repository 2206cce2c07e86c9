// Package nntp is the stage that reads what is new in newsgroups, by NNTP (RFC 3977) or what was before it. A newsgroup
// is the start of a crawl, as a page is, and a visit of it gives a document for each article that has come since the
// last one. An article is known by its Message-ID (urlnorm.OfArticle), so that one that was posted to several groups,
// or is read from several servers, is one document.
//
// It guarantees what stages/internal/agent does, and: nothing is posted or offered to a server. An article is passed on
// once, as long as the server keeps its promise of numbers that grow; where a group was numbered anew, its newest
// articles are read again, which are the same documents.
package nntp

import (
	"context"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/agent"
	_ "github.com/webrace/webrace/stages/kinds" // documents and requests
)

// Options of the stage.
type Options struct{ agent.Options }

// The ports of the schemes.
var (
	schemes = []string{"nntp", "nntps"}
	ports   = map[string]string{"nntp": "119", "nntps": "563"}
)

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "nntp",
		Single:  true,
		Summary: "reads what is new in newsgroups, and posts nothing",
		Doc: "Each article that has come since the last visit is a document, whose address is news: and its Message-ID, wherever it was posted. " +
			"The first visit takes the newest (backlog). Articles that ask not to be archived (X-No-Archive: yes) are left out. A URD without a secret " +
			"reads what anybody may. With one, by the scheme nntp, the connection is made secure (STARTTLS) before the account is sent; a server that " +
			"cannot is refused, unless the secret was stored with --insecure.",
		In:      pipeline.Kinds(pipeline.KindOf[webrace.Request]()),
		Out:     []pipeline.Port{{Kind: pipeline.KindOf[*webrace.Document](), Doc: "the articles, in the order of their numbers", Cases: []pipeline.Case{{Name: string(webrace.Fetched), Parts: []pipeline.Part{webrace.PartBody}}}}},
		Workers: 16, PerProcess: true,
	}, Options{agent.Defaults}, newStage)
}

type stage struct {
	options  Options
	env      *pipeline.Env
	agent    *agent.Agent
	sessions *agent.Sessions[*client]
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

// Process visits one newsgroup.
func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	return s.agent.Run(ctx, it, schemes, func(v *agent.Visit) (known []byte, err error) {
		var in group
		choose := func(on *client) (err error) {
			in, err = on.Group(ctx, v.Path)
			return err
		}
		err = s.sessions.With(ctx, v, choose, func(on *client) (err error) {
			known, err = (&visit{Visit: v, stage: s, item: it, out: out, on: on}).read(ctx, in)
			return err
		})
		return known, err
	})
}
