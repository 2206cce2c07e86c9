package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/httpsign"
	"github.com/webrace/webrace/pipeline"
)

// SignOptions determine how requests are signed (internal/httpsign).
type SignOptions struct {
	Sign           string `toml:"sign" doc:"the name of the secret of kind ed25519 whose key signs every request (webrace-store secret generate makes one); empty signs none"`
	SignatureAgent string `toml:"signature_agent" doc:"the host where the directory with that key is published, as https://crawler.example, sent as Signature-Agent"`
}

func (o SignOptions) validate() error {
	switch {
	case o.Sign == "" && o.SignatureAgent == "":
		return nil
	case o.Sign == "":
		return &pipeline.OptionError{Option: "signature_agent", Err: errors.New("is set, and sign is not: it names the key that is found there")}
	case o.SignatureAgent == "":
		return &pipeline.OptionError{Option: "signature_agent", Err: errors.New("is missing: it tells where the key of sign is published, as https://crawler.example")}
	}
	if err := httpsign.CheckAgent(o.SignatureAgent); err != nil {
		return &pipeline.OptionError{Option: "signature_agent", Err: err}
	}
	return nil
}

// signing signs requests with a key as it is stored now. A nil one signs none.
type signing struct {
	options SignOptions
	source  func() (credentials.Source, error)

	mu      sync.Mutex
	version uint64
	signer  *httpsign.Signer
}

// newSigning reads no key yet.
func newSigning(o SignOptions, env *pipeline.Env) *signing {
	if o.Sign == "" {
		return nil
	}
	return &signing{options: o, source: sync.OnceValues(func() (credentials.Source, error) {
		open, err := pipeline.Resource[credentials.Open](env)
		if err != nil {
			return nil, err
		}
		return open()
	})}
}

// sign is an [httpclient.Sign].
func (s *signing) sign(ctx context.Context, header http.Header, scheme, host string) error {
	signer, err := s.current(ctx)
	if err != nil {
		return err
	}
	signer.Sign(header, scheme, host, time.Now())
	return nil
}

// current returns what signs with the key as it is now: one that is set anew counts at once, and without one that was
// removed no request is made.
func (s *signing) current(ctx context.Context) (*httpsign.Signer, error) {
	source, err := s.source()
	if err != nil {
		return nil, s.wrong(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	version := source.SecretVersion(s.options.Sign) // before reading, so that no change slips in between
	if s.signer != nil && s.version == version {
		return s.signer, nil
	}
	s.signer = nil
	signer, err := s.load(ctx, source)
	if err != nil {
		return nil, s.wrong(err)
	}
	s.signer, s.version = signer, version
	return signer, nil
}

func (s *signing) load(ctx context.Context, source credentials.Source) (*httpsign.Signer, error) {
	name := s.options.Sign
	secret, err := source.Secret(ctx, name)
	switch {
	case errors.Is(err, credentials.ErrNotFound):
		return nil, fmt.Errorf("no secret is named %s: webrace-store secret generate %[1]s --kind ed25519 makes a key", name)
	case err != nil:
		return nil, err
	case secret.Kind() != credentials.KindEd25519:
		return nil, fmt.Errorf("secret %s is of kind %s, and only a key of kind ed25519 signs: webrace-store secret generate makes one", name, secret.Kind())
	}
	_, text := secret.Reveal()
	key, err := httpsign.ParseKey(text)
	if err != nil {
		return nil, fmt.Errorf("secret %s: %w", name, err)
	}
	return httpsign.NewSigner(key, s.options.SignatureAgent)
}

func (s *signing) wrong(err error) error { return &pipeline.OptionError{Option: "sign", Err: err} }

// check finds out whether there is a key.
func (s *signing) check(ctx context.Context) error {
	if s == nil {
		return nil
	}
	_, err := s.current(ctx)
	return err
}

// Open refuses to begin without the key that is to sign.
func (s *stage) Open(ctx context.Context) error { return s.signing.check(ctx) }
