// Package mailout is the stage that mails annotations to their owners: one by one, or, behind the stage
// batch, many of one owner in one mail, a digest.
//
// It guarantees: what it takes is acknowledged once the mail server has accepted every mail made of it, and
// not before, so it is mailed at least once, whenever a process dies; mails made of the same annotations have
// the same Message-ID, by which mailboxes and people tell that they have one already. A refusal that may pass by the
// server's word (4xx), and no answer, is waited out; any other is an error at once. Nothing of a page
// becomes a header field, or HTML.
package mailout

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/xmlschema"
)

// Options of the stage.
type Options struct {
	Host   string `toml:"host" doc:"the mail server to hand mails to; empty: messages of the stage outbox wait, and nothing else is taken"`
	Port   int    `toml:"port" doc:"its port; 0 is 587, with tls = \"tls\" 465, with \"none\" 25"`
	TLS    string `toml:"tls" doc:"starttls: the connection turns to TLS, or no mail is sent; tls: it begins so; none: neither" enum:"starttls,tls,none"`
	CAFile string `toml:"ca_file" doc:"a PEM file with the authorities to trust for the server's certificate, in place of the system's"`
	Secret string `toml:"secret" doc:"the name of the secret with user and password (webrace-store secret set NAME --kind basic)"`

	From        string            `toml:"from" doc:"the sender: an address, or \"webrace <address>\""`
	To          map[string]string `toml:"to" doc:"the address of each owner: to = { eleni = \"eleni@example.org\" }"`
	DefaultTo   string            `toml:"default_to" doc:"where what is for other owners goes; without it, they are sent nothing (counter no_address)"`
	Unsubscribe string            `toml:"unsubscribe" doc:"where to say that one wants no more mails: a mailto: or https address"`

	Subject string `toml:"subject" doc:"a Go text/template of the subject; it sees .Owner, .Annotations and .Notices"`
	Text    string `toml:"text" doc:"one of the text, in place of the built-in one"`
	HTML    string `toml:"html" doc:"a Go html/template of the same as a page, in place of the built-in one"`
	Plain   bool   `toml:"plain" doc:"send the text alone"`

	Timeout    pipeline.Duration `toml:"timeout" doc:"how long the server may take over anything"`
	Attempts   int               `toml:"attempts" doc:"how often a mail is tried before it is given up (on_error); 0 is until it is accepted"`
	Backoff    pipeline.Duration `toml:"backoff" doc:"the wait after the first attempt, which doubles with each"`
	MaxBackoff pipeline.Duration `toml:"max_backoff" doc:"the longest wait"`
}

var defaults = Options{
	TLS: "starttls", Subject: defaultSubject, Timeout: pipeline.Duration(30 * time.Second), Attempts: 10,
	Backoff: pipeline.Duration(5 * time.Second), MaxBackoff: pipeline.Duration(10 * time.Minute),
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "mail-out",
		Summary: "mails annotations to their owners, one by one or as digests",
		Doc: "A digest is made of a list: `acis > batch > mail-out`, with `batch.key = \"owner\"`. A list with annotations of several owners becomes " +
			"a mail for each. What it takes is acknowledged once the server has accepted all of it. A message goes to the address that it has, and is tried once: " +
			"the stage outbox sends it again.",
		In: pipeline.Kinds(pipeline.KindOf[*xmlschema.ACI](), pipeline.KindOf[*webrace.Notice](),
			pipeline.ListOf[*xmlschema.ACI](), pipeline.ListOf[*webrace.Notice](), pipeline.KindOf[*delivery.Message]()),
		Needs:  pipeline.NoParts,
		Effect: "mail it",
	}, defaults, newStage)
}

// CheckNames refuses to do without a server, unless there are messages alone, which wait for one.
func (o Options) CheckNames(given []pipeline.Kind) error {
	if o.Host == "" && !delivery.MessagesAlone(given) {
		return &pipeline.OptionError{Option: "host", Err: errors.New("is not set: name the mail server")}
	}
	return nil
}

// Validate refuses what could not be mailed.
func (o Options) Validate() error {
	wrong := func(option string, err error) error { return &pipeline.OptionError{Option: option, Err: err} }
	switch {
	case strings.ContainsAny(o.Host, " /@") || strings.Contains(o.Host, ":") && net.ParseIP(o.Host) == nil:
		return wrong("host", fmt.Errorf("%q is no name of a host, or address; its port is an option of its own", o.Host))
	case o.Port < 0 || o.Port > 65535:
		return wrong("port", fmt.Errorf("%d is no port", o.Port))
	case o.TLS == "none" && o.Secret != "" && !isLoopback(o.Host):
		return wrong("tls", errors.New("none would show the password to everybody on the way; only this machine's own server gets one so"))
	case o.Timeout <= 0:
		return wrong("timeout", errors.New("must be more than 0"))
	case o.Attempts < 0:
		return wrong("attempts", fmt.Errorf("%d is negative; 0 is until it is accepted", o.Attempts))
	case o.Backoff <= 0:
		return wrong("backoff", errors.New("must be more than 0"))
	case o.MaxBackoff < o.Backoff:
		return wrong("max_backoff", fmt.Errorf("%v is less than backoff, %v", o.MaxBackoff, o.Backoff))
	}
	if option, err := o.checkAddresses(); err != nil {
		return wrong(option, err)
	}
	if _, option, err := o.templates(); err != nil {
		return wrong(option, err)
	}
	if o.Plain && o.HTML != "" {
		return wrong("html", errors.New("is not sent, because of plain: leave one of them out"))
	}
	return nil
}

func (o Options) checkAddresses() (option string, err error) {
	if _, err := mail.ParseAddress(o.From); err != nil {
		return "from", fmt.Errorf("%q is no address: %w", o.From, err)
	}
	for owner, to := range o.To {
		if _, err := mail.ParseAddress(to); err != nil {
			return "to", fmt.Errorf("of %s: %q is no address: %w", owner, to, err)
		}
	}
	if _, err := mail.ParseAddress(o.DefaultTo); o.DefaultTo != "" && err != nil {
		return "default_to", fmt.Errorf("%q is no address: %w", o.DefaultTo, err)
	}
	if o.Unsubscribe != "" && !isUnsubscribe(o.Unsubscribe, "https", "mailto") {
		return "unsubscribe", fmt.Errorf("%q is no https: or mailto: address", o.Unsubscribe)
	}
	return "", nil
}

// isUnsubscribe reports whether an address has one of some schemes, and no characters that end it where it stands in a
// header field.
func isUnsubscribe(address string, schemes ...string) bool {
	u, err := url.Parse(address)
	return err == nil && slices.Contains(schemes, u.Scheme) && !strings.ContainsAny(address, "<>, \t\r\n")
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

type stage struct {
	options   Options
	env       *pipeline.Env
	templates *templates
	roots     *x509.CertPool // nil: the system's
	secrets   delivery.Secrets
}

var (
	_ pipeline.Processor = (*stage)(nil)
	_ pipeline.Opener    = (*stage)(nil)
	_ pipeline.Checker   = (*stage)(nil)

	_ pipeline.NameChecker = Options{}
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	t, _, err := o.templates()
	if err != nil {
		return nil, err
	}
	s := &stage{options: o, env: env, templates: t}
	if o.Secret != "" {
		s.secrets, err = delivery.OpenSecrets(env)
	}
	return s, err
}

// Open refuses to mail by a server that is an example, or without the secret.
func (s *stage) Open(ctx context.Context) error {
	if s.options.Host == "" {
		s.env.Logger.Warn("no mail server is named (option host): mail waits until there is one")
		return nil
	}
	if delivery.Placeholder(s.options.Host) {
		return &pipeline.OptionError{Option: "host", Err: fmt.Errorf("%s is an example, and nobody's mail server: set the option host (in the shipped pipelines: WEBRACE_SMTP=…)", s.options.Host)}
	}
	if s.options.CAFile != "" {
		pem, err := os.ReadFile(s.options.CAFile)
		if err != nil {
			return fmt.Errorf("option ca_file: %w", err)
		}
		if s.roots = x509.NewCertPool(); !s.roots.AppendCertsFromPEM(pem) {
			return fmt.Errorf("option ca_file: there is no certificate in %s", s.options.CAFile)
		}
	}
	_, _, err := s.login(ctx)
	return err
}

// Check talks to the server as if there were a mail, as far as logging in.
func (s *stage) Check(ctx context.Context) error {
	if s.options.Host == "" {
		return pipeline.Untried("no mail server is set: mail waits until the option host is")
	}
	if err := s.Open(ctx); err != nil {
		return err
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	client, err := s.dial(ctx)
	if err != nil {
		return fmt.Errorf("mail server %s: %w", s.options.Host, err)
	}
	_ = client.Close() // it has answered
	return nil
}

// Process mails a message, or an annotation, a notice, or a list of these.
func (s *stage) Process(ctx context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	if m, is := it.Value.(*delivery.Message); is {
		return s.send(ctx, it, m)
	}
	if s.options.Host == "" {
		return errNoServer
	}
	digests, err := digestsOf(delivery.Parcels(it))
	if err != nil {
		return err
	}
	for _, d := range digests {
		to, ok := s.options.To[d.Owner]
		if !ok {
			to = s.options.DefaultTo
		}
		if to == "" {
			s.env.Counter("no_address").Add(int64(len(d.parcels)))
			continue
		}
		m, err := s.compose(d, to)
		if err != nil {
			return fmt.Errorf("write a mail to %s: %w", d.Owner, err)
		}
		if err := s.deliver(ctx, m); err != nil {
			return fmt.Errorf("mail to %s: %w", d.Owner, err)
		}
		s.env.Counter("mails").Add(1)
		s.env.Counter("mailed").Add(int64(len(d.parcels)))
	}
	return nil
}
