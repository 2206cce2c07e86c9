package ask

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/webrace/webrace/internal/visible"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/stages/internal/netguard"
)

// mostReply is the longest body that is read of a reply.
const mostReply = 1 << 20

// model is what is asked.
type model struct {
	options Options
	env     *pipeline.Env
	to      *url.URL
	client  *http.Client
	secrets delivery.Secrets

	mu      sync.Mutex
	dialect dialect   // in which it has answered
	until   time.Time // nothing is asked before
	why     string    // it is away
}

func newModel(o Options, env *pipeline.Env) (*model, error) {
	to, err := o.target()
	if err != nil {
		return nil, err
	}
	guard, err := netguard.New(o.AllowNetworks)
	if err != nil {
		return nil, err
	}
	m := &model{options: o, env: env, to: to}
	if o.Secret != "" {
		if m.secrets, err = delivery.OpenSecrets(env); err != nil {
			return nil, err
		}
	}
	dialer := &net.Dialer{Timeout: time.Duration(o.Timeout), Control: guard.Control}
	m.client = &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, DisableCompression: true,
			MaxIdleConnsPerHost: env.Workers, IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       time.Duration(o.Timeout),
	}
	return m, nil
}

// identify adds the fields that tell who we are; with nil it finds out whether that could be.
func (m *model) identify(ctx context.Context, fields http.Header) error {
	if m.options.Secret == "" {
		return nil
	}
	return m.secrets.Identify(ctx, m.options.Secret, m.to, fields)
}

// failure is an attempt without an answer. Its words are shown to owners: they have nothing of what the server wrote.
type failure struct {
	err        error
	passing    bool          // another attempt may have one
	away       bool          // the server did not answer, or not now, whatever was asked
	retryAfter time.Duration // how long it wants to be left alone; 0 if it does not say
	wrote      string        // what the server wrote in place of an answer; for its operator alone
}

// after tells how often it was tried.
func (f *failure) after(attempts int) error {
	if attempts == 1 {
		return f.err
	}
	return fmt.Errorf("%w (asked %d times)", f.err, attempts)
}

// try asks once, and again if a secret was refused that is another by now, or a parameter that can be left out: what
// the model took is kept for the questions that follow. It returns what that has taken of tokens, as far as it is
// known.
func (m *model) try(ctx context.Context, p *prompt) (a answer, tokens int, f *failure) {
	d := m.speaks()
	for renewed := false; ; {
		version := m.secrets.Version(m.options.Secret)
		request, err := m.request(ctx, d.write(p))
		if err != nil {
			m.env.Logger.Warn("the model cannot be asked", "error", err)
			return nil, 0, &failure{err: errors.New("the model cannot be asked: its secret is not there, or not for it"), away: true}
		}
		a, tokens, f, status := m.send(request, p)
		again := false
		switch {
		case status == http.StatusOK:
			m.learn(d)
		case denied(status) && !renewed:
			again, err = m.secrets.Renew(ctx, m.options.Secret, version)
			again, renewed = again && err == nil, true
		case mayRefuse(status):
			d, again = d.without(f.wrote)
		}
		if !again {
			return a, tokens, f
		}
	}
}

func denied(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

func (m *model) request(ctx context.Context, body []byte) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "webrace/1 (ask)")
	return request, m.identify(ctx, request.Header)
}

// send makes one request. The status is that of the reply, and 0 if there is none.
func (m *model) send(request *http.Request, p *prompt) (a answer, tokens int, f *failure, status int) {
	reply, err := m.client.Do(request)
	if err != nil {
		return nil, 0, m.unanswered(err), 0
	}
	defer reply.Body.Close()
	if status = reply.StatusCode; status != http.StatusOK {
		return nil, 0, refusalOf(reply), status
	}
	body, err := io.ReadAll(io.LimitReader(reply.Body, mostReply+1))
	switch {
	case err != nil: // whatever it has computed until then
		return nil, p.tokens, m.unanswered(err), status
	case len(body) > mostReply:
		return nil, p.tokens, &failure{err: fmt.Errorf("the model's server answers with more than %d bytes", mostReply), passing: true}, status
	}
	a, tokens, f = p.read(body)
	return a, tokens, f, status
}

// refusalOf is the failure of a request that is not answered with 200.
func refusalOf(reply *http.Response) *failure {
	wrote, _ := io.ReadAll(io.LimitReader(reply.Body, 64<<10)) // so that the connection can be used again, too
	f := &failure{wrote: string(wrote)}
	switch status := reply.StatusCode; {
	case status >= 300 && status <= 399:
		f.err, f.away = fmt.Errorf("the model's server redirects (%d), which is not followed", status), true
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests, status >= 500:
		f.err, f.away, f.passing = fmt.Errorf("the model's server answers with status %d", status), true, true
		f.retryAfter = delivery.RetryAfter(reply.Header, time.Now())
	default:
		f.err, f.away = fmt.Errorf("the model's server refuses with status %d", status), denied(status) || status == http.StatusNotFound
	}
	return f
}

// read reads a reply of the API.
func (p *prompt) read(body []byte) (a answer, tokens int, f *failure) {
	var r struct {
		Choices []struct {
			Message      struct{ Content, Refusal string }
			FinishReason string `json:"finish_reason"`
		}
		Usage struct {
			Total      int `json:"total_tokens"`
			Completion int `json:"completion_tokens"`
		}
	}
	if err := json.Unmarshal(body, &r); err != nil || len(r.Choices) == 0 {
		return nil, p.tokens, &failure{err: errors.New("the model's server answers what is no chat completion"), passing: true}
	}
	if tokens = r.Usage.Total; tokens <= 0 || tokens > mostCounted*p.tokens {
		tokens = p.tokens
	}
	choice := r.Choices[0]
	a, err := p.form.parse(choice.Message.Content)
	switch {
	case err == nil:
		return a, tokens, nil
	case choice.FinishReason == "length" || r.Usage.Completion >= p.answerTokens: // some servers call it stop
		err = fmt.Errorf("the model's answer is cut off at %d tokens, with what it thinks (ask.answer_tokens)", p.answerTokens)
	case choice.FinishReason == "content_filter" || choice.Message.Refusal != "":
		err = errors.New("the model declines to answer")
	}
	return nil, tokens, &failure{err: err, passing: true}
}

// mostCounted is how many times the tokens that were expected a server may count: what is beyond it is a mistake, by
// which a budget would be gone at once.
const mostCounted = 64

// unanswered is the failure of a request that got no answer.
func (m *model) unanswered(err error) *failure {
	var withURL *url.Error
	if errors.As(err, &withURL) {
		err = withURL.Err
	}
	var refused *netguard.RefusedError
	if errors.As(err, &refused) {
		_, word, _ := strings.Cut(refused.Hint, "=")
		hint := &netguard.RefusedError{Addr: refused.Addr, Why: refused.Why, Hint: "--set " + m.env.Stage + ".allow_networks=" + word}
		m.env.Logger.Warn("the model is not asked", "error", hint)
		return &failure{err: errors.New("the model's address is not admitted"), away: true}
	}
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		return &failure{err: fmt.Errorf("the model does not answer in %v (ask.timeout)", time.Duration(m.options.Timeout)), passing: true, away: true}
	}
	return &failure{err: errors.New("the model cannot be reached, or breaks off"), passing: true, away: true}
}

// pause waits before the next attempt.
func (m *model) pause(ctx context.Context, attempt int, wanted time.Duration) error {
	most := time.Duration(m.options.MaxBackoff)
	wait := most
	if doublings := attempt - 1; doublings < 30 {
		wait = min(most, time.Duration(m.options.Backoff)<<doublings)
	}
	timer := time.NewTimer(min(most, max(wait, wanted)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// speaks returns the dialect to ask in.
func (m *model) speaks() dialect {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dialect
}

// learn keeps the dialect in which the model has answered.
func (m *model) learn(d dialect) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dialect != d {
		m.env.Logger.Info("the model is asked without parameters that it refuses", "model", m.options.Model, "host", m.to.Host,
			"temperature", !d.noTemperature, "max_completion_tokens", d.completionTokens, "response_format", d.format != anyText)
	}
	m.dialect = d
}

// isAway returns an [unjudgedError] as long as nothing is to be asked, since the model did not answer.
func (m *model) isAway() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.why == "" || !time.Now().Before(m.until) {
		return nil
	}
	return unjudged("away", "%s; it is asked again from %s on", m.why, m.until.UTC().Format("15:04:05 UTC"))
}

// failed notes that a question was given up.
func (m *model) failed(f *failure, attempts int) {
	about := []any{"model", m.options.Model, "host", m.to.Host, "error", f.after(attempts)}
	if wrote := visible.Line(f.wrote, longestReason); wrote != "" {
		about = append(about, "server", wrote)
	}
	m.env.Logger.Warn("a question is not answered", about...)
	if !f.away {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.why, m.until = f.err.Error(), time.Now().Add(time.Duration(m.options.Away))
}

// answered notes that the model answers.
func (m *model) answered() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.why != "" {
		m.env.Logger.Info("the model answers again", "model", m.options.Model, "host", m.to.Host)
	}
	m.why = ""
}
