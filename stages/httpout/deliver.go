package httpout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/stages/internal/netguard"
)

// Of an answer, how much is read, so that the connection can be used again, and how much an error shows.
const (
	maxAnswer = 64 << 10
	maxShown  = 200
)

func newClient(o Options, env *pipeline.Env) (*http.Client, error) {
	guard, err := netguard.New(o.AllowNetworks)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: time.Duration(o.Timeout), Control: guard.Control}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, DisableCompression: true,
			MaxIdleConnsPerHost: env.Workers, IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: maxAnswer,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       time.Duration(o.Timeout),
	}, nil
}

// failure is an attempt that did not deliver.
type failure struct {
	err     error
	passing bool          // another attempt may
	status  int           // that the receiver answered; 0 if it did not
	after   time.Duration // how long the receiver wants to be left alone; 0 if it does not say
}

// deliver sends a message until the receiver has taken it.
func (s *stage) deliver(ctx context.Context, m message) error {
	for attempt := 1; ; attempt++ {
		f, err := s.attempt(ctx, m, nil)
		switch {
		case err != nil:
			return err
		case f == nil:
			s.env.Counter("delivered").Add(int64(m.items))
			return nil
		case !f.passing:
			s.env.Counter("refused").Add(int64(m.items))
			return fmt.Errorf("deliver to %s: %w", s.to.Host, f.err)
		case attempt == s.options.Attempts:
			s.env.Counter("given_up").Add(int64(m.items))
			return fmt.Errorf("deliver to %s, %d times (option attempts): %w", s.to.Host, attempt, f.err)
		}
		s.env.Counter("repeated").Add(1)
		if err := pause(ctx, s.receiver.backoff(attempt)); err != nil {
			return err
		}
	}
}

// attempt sends a message once. An error is that of the context, or of a secret. What the receiver answers when it has
// taken the message may be looked at by read, which may be nil.
func (s *stage) attempt(ctx context.Context, m message, read func(body []byte) *failure) (*failure, error) {
	leave, err := s.receiver.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	f, err := s.try(ctx, m, read)
	if err != nil {
		return nil, err
	}
	switch {
	case f == nil || !f.passing: // whatever it says, it answers
		if s.receiver.answered() {
			s.env.Logger.Info("the receiver is back", "host", s.to.Host)
		}
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case s.receiver.failed(f.after):
		s.env.Counter("down").Add(1)
		s.env.Logger.Warn("the receiver is down, and is asked by one request at a time", "host", s.to.Host, "error", f.err)
	}
	return f, nil
}

// try makes the request, and once more if it was refused with secrets that are others now.
func (s *stage) try(ctx context.Context, m message, read func(body []byte) *failure) (*failure, error) {
	identity, signature := s.secrets.Version(s.options.Secret), s.secrets.Version(s.options.SignSecret)
	for again := false; ; again = true {
		request, err := s.request(ctx, m)
		if err != nil {
			return nil, err
		}
		f := s.send(request, read)
		if again || f == nil || f.status != http.StatusUnauthorized && f.status != http.StatusForbidden ||
			!s.renewed(ctx, s.options.Secret, identity) && !s.renewed(ctx, s.options.SignSecret, signature) {
			return f, nil
		}
	}
}

// renewed has a secret read anew that the receiver did not accept, and reports whether it is another one now.
func (s *stage) renewed(ctx context.Context, name string, version uint64) bool {
	renewed, err := s.secrets.Renew(ctx, name, version)
	if err != nil {
		s.env.Logger.Warn("a secret is not accepted, and no other can be read", "host", s.to.Host, "error", err)
	}
	if renewed {
		s.env.Counter("secrets_renewed").Add(1)
	}
	return renewed
}

func (s *stage) request(ctx context.Context, m message) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, s.options.Method, s.to.String(), bytes.NewReader(m.body))
	if err != nil {
		return nil, errors.New("the option url is no URL")
	}
	request.Header.Set("User-Agent", "webrace/1 (http-out)")
	for name, value := range s.options.Headers {
		request.Header.Set(name, value.Reveal())
	}
	request.Header.Set("Content-Type", m.mediaType)
	request.Header.Set("Idempotency-Key", m.key)
	key, err := s.identify(ctx, request.Header)
	if key != "" {
		request.Header.Set(signatureField, sign(key, time.Now(), m.body))
	}
	return request, err
}

// identify adds the fields that tell who we are, and returns what requests are signed with; empty for nothing.
func (s *stage) identify(ctx context.Context, fields http.Header) (key string, err error) {
	if name := s.options.SignSecret; name != "" {
		secret, err := s.secrets.Get(ctx, name)
		if err != nil {
			return "", fmt.Errorf("option sign_secret: %w", err)
		}
		_, key = secret.Reveal()
	}
	name := s.options.Secret
	if name == "" {
		return key, nil
	}
	return key, s.secrets.Identify(ctx, name, s.to, fields)
}

// send makes one request, and reports why it did not deliver; nil if it did.
func (s *stage) send(request *http.Request, read func(body []byte) *failure) *failure {
	answer, err := s.client.Do(request)
	if err != nil {
		return s.unanswered(err)
	}
	defer answer.Body.Close()
	most := int64(maxAnswer)
	if read != nil {
		most = mostBulkAnswer
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, most))
	switch status := answer.StatusCode; {
	case status >= 200 && status <= 299 && read != nil:
		return read(body)
	case status >= 200 && status <= 299:
		return nil // whatever became of its body: it was taken
	case status >= 300 && status <= 399:
		return &failure{err: fmt.Errorf("%s, and redirects are not followed: give the URL to which it leads", statusOf(answer))}
	case passing(status):
		if err != nil {
			body = nil
		}
		return &failure{err: said(answer, body), passing: true, after: delivery.RetryAfter(answer.Header, time.Now())}
	}
	return &failure{err: said(answer, body), status: answer.StatusCode}
}

// passing reports whether a status may be another one when it is tried again.
func passing(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooEarly || status == http.StatusTooManyRequests || status >= 500
}

// unanswered is the failure of a request that got no answer.
func (s *stage) unanswered(err error) *failure {
	var withURL *url.Error
	if errors.As(err, &withURL) { // of which only the host may be shown
		err = withURL.Err
	}
	var refused *netguard.RefusedError
	if errors.As(err, &refused) {
		_, word, _ := strings.Cut(refused.Hint, "=")
		return &failure{err: &netguard.RefusedError{Addr: refused.Addr, Why: refused.Why, Hint: "--set " + s.env.Stage + ".allow_networks=" + word}}
	}
	return &failure{err: err, passing: true}
}

func statusOf(answer *http.Response) string {
	return strings.TrimSpace(strconv.Itoa(answer.StatusCode) + " " + http.StatusText(answer.StatusCode))
}

// said is an answer as an error: its status, and how its body begins.
func said(answer *http.Response, body []byte) error {
	text := shown(body)
	if text == "" {
		return errors.New(statusOf(answer))
	}
	return fmt.Errorf("%s: %s", statusOf(answer), text)
}

// shown is how a text of the receiver's begins, as an error can show it.
func shown(body []byte) string {
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(body[:min(len(body), maxShown)]), ""))
	return strings.Join(strings.Fields(text), " ")
}
