// Package ask is the stage that asks a language model of what flows by, over the chat API that OpenAI, Ollama,
// llama.cpp, vLLM and most others serve (POST …/chat/completions): the question of an annotation's URD (urd/ask), or
// one that its option asks of everything.
//
// It guarantees: what the model answers is held to a JSON Schema here, whatever its server does, and is text of
// bounded length without control characters. A question is asked once of the same text, by the same model, and its
// answer is durable before an item is passed on with it: a process that dies repeats no question that was answered,
// but for those whose answers were on their way. What cannot be answered, because the model is away, answers
// nonsense, costs too much or must not be shown the text, is passed on all the same, and tells why it is unjudged. No
// text that was fetched with a secret leaves, unless that secret lets it; no connection is made to an address that
// internal/netguard refuses, and redirects are not followed.
//
// An item goes through process.go: subject.go finds what is to be asked of it, book.go whether that was answered
// before and what may be spent, model.go asks, with the words of prompt.go and the parameters that the model takes
// (dialect.go), answer.go holds the answer to its schema.
package ask

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/visible"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/stages/internal/judgements"
	"github.com/webrace/webrace/stages/internal/netguard"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// Options of the stage.
type Options struct {
	URL      string `toml:"url" doc:"the API: an http or https URL as http://127.0.0.1:11434/v1, to which /chat/completions is added"`
	Model    string `toml:"model" doc:"the model, as its server calls it"`
	Secret   string `toml:"secret" doc:"the name of the secret to identify ourselves with (webrace-store secret set)"`
	Question string `toml:"question" doc:"what is asked of documents, and of annotations whose URD has no question (urd/ask); empty: nothing"`
	Answer   string `toml:"answer" doc:"what that question wants: yes-no, with a reason, and what is answered no leaves by the port no; summary, one of what is new; fields, by the option schema" enum:"yes-no,summary,fields"`
	Schema   string `toml:"schema" doc:"with fields: the JSON Schema of an object, whose properties become values of an annotation, or meta of a document, by the names ask.…"`

	Text         int               `toml:"text" doc:"the most bytes of a text that the model is shown"`
	AnswerTokens int               `toml:"answer_tokens" doc:"the most tokens of an answer"`
	TokensADay   int               `toml:"tokens_a_day" doc:"how many tokens are spent for an owner, and for all documents together, on a day (UTC); 0 is without limit"`
	Keep         pipeline.Duration `toml:"keep" doc:"how long an answer is remembered, so that the same question costs nothing"`

	Timeout       pipeline.Duration `toml:"timeout" doc:"how long one request may take, answer included"`
	Attempts      int               `toml:"attempts" doc:"how often a question is asked before its item is passed on unjudged"`
	Backoff       pipeline.Duration `toml:"backoff" doc:"the wait after the first attempt, which doubles with each; a Retry-After field may ask for more"`
	MaxBackoff    pipeline.Duration `toml:"max_backoff" doc:"the longest wait, whatever a Retry-After field says"`
	Away          pipeline.Duration `toml:"away" doc:"how long nothing is asked of a model that did not answer so often: items are passed on unjudged at once"`
	ObeyUsage     bool              `toml:"obey_usage" doc:"ask nothing of pages whose sites state that models must not use them"`
	AllowNetworks []string          `toml:"allow_networks" doc:"networks besides the public Internet that the model may be in: 10.0.0.0/8, loopback, private"`
}

var defaults = Options{
	Answer: yesNo, Text: 8 << 10, AnswerTokens: 400, TokensADay: 200_000, Keep: pipeline.Duration(365 * 24 * time.Hour),
	Timeout: pipeline.Duration(time.Minute), Attempts: 4, Backoff: pipeline.Duration(time.Second), MaxBackoff: pipeline.Duration(30 * time.Second),
	Away: pipeline.Duration(time.Minute), ObeyUsage: true,
}

// The answers that the option question may want.
const (
	yesNo   = "yes-no"
	summary = "summary"
	fields  = "fields"
)

const portNo = "no"

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "ask",
		Summary: "asks a language model, of annotations what their URDs want to know (urd/ask), and judges them by its answer",
		Doc: "It stands between `keyword-filter` and `aci-emit`, and speaks the chat API that OpenAI, Ollama, llama.cpp and vLLM serve. What is " +
			"answered yes is passed on with the reason; what is answered no is dropped, unless the port no is connected; what cannot be answered is " +
			"passed on unjudged, and says why. Each question is asked once of the same text: its answer is kept. Nothing that was fetched with a secret is shown " +
			"to the model, unless the secret was stored with --models. workers is how many questions are under way at once.",
		In:    pipeline.Kinds(pipeline.KindOf[*xmlschema.ACI](), pipeline.KindOf[*webrace.Document]()),
		Needs: []pipeline.Part{webrace.PartText}, Uses: []pipeline.Part{webrace.PartBody}, // in whose head a site may forbid it
		Out: []pipeline.Port{
			{Kind: pipeline.SameAsInput, Doc: "what is not answered no"},
			{Name: portNo, Kind: pipeline.SameAsInput, Doc: "what is answered no, with the reason"},
		},
		Effect:  "ask a model of it",
		Workers: 2,
	}, defaults, newStage)
}

// mostText is how much of a text can be shown to a model at all.
const mostText = 256 << 10

// Validate refuses what could not be asked.
func (o Options) Validate() error {
	if o.URL == "" {
		return &pipeline.OptionError{Option: "url", Err: errors.New("is not set: say where the model is, as http://127.0.0.1:11434/v1")}
	}
	if _, err := o.target(); err != nil {
		return &pipeline.OptionError{Option: "url", Err: err}
	}
	if o.Model == "" || visible.Line(o.Model, longestName) != o.Model {
		return &pipeline.OptionError{Option: "model", Err: fmt.Errorf("%q is no name of a model, which is one line of at most %d characters", o.Model, longestName)}
	}
	if _, err := newSubject(o); err != nil {
		return err
	}
	for _, n := range []struct {
		name        string
		value, most int64
	}{
		{"text", int64(o.Text), mostText}, {"answer_tokens", int64(o.AnswerTokens), 1 << 16}, {"keep", int64(o.Keep), 0}, {"timeout", int64(o.Timeout), 0},
		{"attempts", int64(o.Attempts), 0}, {"backoff", int64(o.Backoff), 0},
	} {
		if n.value < 1 || n.most > 0 && n.value > n.most {
			err := errors.New("must be more than 0")
			if n.most > 0 {
				err = fmt.Errorf("%d is not between 1 and %d", n.value, n.most)
			}
			return &pipeline.OptionError{Option: n.name, Err: err}
		}
	}
	switch {
	case o.MaxBackoff < o.Backoff:
		return &pipeline.OptionError{Option: "max_backoff", Err: fmt.Errorf("%v is less than backoff, %v", o.MaxBackoff, o.Backoff)}
	case o.TokensADay < 0:
		return &pipeline.OptionError{Option: "tokens_a_day", Err: fmt.Errorf("%d is negative; 0 is without limit", o.TokensADay)}
	case o.Away < 0:
		return &pipeline.OptionError{Option: "away", Err: fmt.Errorf("%v is negative; 0s asks for each item", o.Away)}
	}
	guard, err := netguard.New(o.AllowNetworks)
	if err != nil {
		return &pipeline.OptionError{Option: "allow_networks", Err: err}
	}
	return o.admitted(guard)
}

// admitted refuses an address that stands in the URL and is not admitted: nothing would ever be asked, and all be told
// unjudged. What a name leads to is known when it is asked.
func (o Options) admitted(guard *netguard.Guard) error {
	to, err := o.target()
	if err != nil {
		return nil // which is told before
	}
	addr, err := netip.ParseAddr(to.Hostname())
	if err != nil || guard.Check(addr) == nil {
		return nil
	}
	return &pipeline.OptionError{Option: "url", Err: fmt.Errorf("%s is no address of the public Internet, and allow_networks does not admit it: allow_networks = [%q] does", addr, addr)}
}

const completions = "/chat/completions"

func (o Options) target() (*url.URL, error) {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil:
		return nil, errors.New("is no URL") // which the error would show
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, errors.New("is no http or https URL with a host")
	case u.User != nil:
		return nil, errors.New("holds a password: store it (webrace-store secret set), and name it by the option secret")
	}
	u.Fragment = ""
	if !strings.HasSuffix(u.Path, completions) {
		u = u.JoinPath(completions)
	}
	return u, nil
}

type stage struct {
	options Options
	env     *pipeline.Env
	subject *subject
	book    *book
	model   *model
	secrets secrets
	objects *objects.Store // nil if the program has none
}

var (
	_ pipeline.Processor = (*stage)(nil)
	_ pipeline.Opener    = (*stage)(nil)
	_ pipeline.Checker   = (*stage)(nil)
	_ pipeline.Closer    = (*stage)(nil)
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	subject, err := newSubject(o)
	if err != nil {
		return nil, err
	}
	state, err := env.State(judgements.State)
	if err != nil {
		return nil, err
	}
	s := &stage{options: o, env: env, subject: subject, book: newBook(o, state), secrets: newSecrets(env)}
	if dir, err := pipeline.Resource[*storage.Dir](env); err == nil {
		if s.objects, err = dir.Objects(); err != nil {
			return nil, err
		}
	}
	s.model, err = newModel(o, env)
	return s, err
}

// Open reads what was spent today, and forgets what is not kept any longer.
func (s *stage) Open(ctx context.Context) error {
	if err := s.Check(ctx); err != nil {
		return err
	}
	return s.book.open()
}

// Check asks nothing: that would cost something.
func (s *stage) Check(ctx context.Context) error {
	if delivery.Placeholder(s.model.to.Hostname()) {
		return &pipeline.OptionError{Option: "url", Err: fmt.Errorf("%s is an example, and nobody's host", s.model.to.Hostname())}
	}
	return s.model.identify(ctx, nil)
}

// Close lets go of connections.
func (s *stage) Close() error {
	s.model.client.CloseIdleConnections()
	return nil
}
