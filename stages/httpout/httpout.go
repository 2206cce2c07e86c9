// Package httpout is the stage that sends items to an HTTP server: a webhook.
//
// It guarantees: an item is acknowledged once the receiver has answered 2xx and not before, so it is
// delivered at least once, whenever a process dies. Whatever is sent more than once is sent with the same
// Idempotency-Key, so a receiver that remembers keys gets each once. Answers that may pass (408, 425, 429,
// 5xx, and no answer at all) are waited out; any other is an error at once. While the receiver is down, one
// request at a time asks whether it is back. Redirects are not followed, no connection is made to an address
// that internal/netguard refuses, and no error shows the path of the URL, which with many services is a secret.
package httpout

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"text/template"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/expression"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/stages/internal/netguard"
	_ "github.com/webrace/webrace/stages/kinds" // whose fields expressions name
	"github.com/webrace/webrace/xmlschema"
)

// Options of the stage.
type Options struct {
	URL         string                     `toml:"url" doc:"where to send items: an http or https URL; empty: messages of the stage outbox are sent, each to its own, and nothing else is taken"`
	Method      string                     `toml:"method" doc:"of the request" enum:"POST,PUT,PATCH"`
	Format      string                     `toml:"format" doc:"json: a request for each item; array, jsonl (lines of JSON), xml (annotations): one for each group; bulk: one for each group, by the API _bulk of OpenSearch and Elasticsearch, which the url ends with" enum:"json,array,jsonl,xml,bulk" deprecated:"lines=jsonl" meant:"ndjson=jsonl"`
	Index       string                     `toml:"index" doc:"with bulk: the index or data stream that documents go to"`
	Action      string                     `toml:"action" doc:"with bulk: index puts a document in the place of one with its id, create leaves that alone, as data streams want it" enum:"index,create"`
	Key         string                     `toml:"key" is:"expression" deprecated:"id" doc:"an expression that gives the key of an item: its Idempotency-Key or, with bulk, the id of its document; empty: that of the item, which is the same whenever it is sent again, and no other's"`
	Body        string                     `toml:"body" doc:"what to send in place of JSON: a Go text/template, with the item as . and the function json, as in {\"text\": {{json .Title}}}"`
	ContentType string                     `toml:"content_type" doc:"the media type of the body, if not that of the format"`
	Headers     map[string]pipeline.Secret `toml:"headers" doc:"further header fields: headers.X-Key = \"${file:/run/secrets/key}\""`
	Secret      string                     `toml:"secret" doc:"the name of the secret to identify ourselves with (webrace-store secret set)"`
	SignSecret  string                     `toml:"sign_secret" doc:"the name of the secret whose value signs each request, in the field X-Webrace-Signature"`

	Timeout       pipeline.Duration `toml:"timeout" doc:"how long one request may take"`
	Attempts      int               `toml:"attempts" doc:"how often an item is sent before it is given up (on_error); 0 is until it is taken"`
	Backoff       pipeline.Duration `toml:"backoff" doc:"the wait after the first attempt, which doubles with each; a Retry-After field may ask for more"`
	MaxBackoff    pipeline.Duration `toml:"max_backoff" doc:"the longest wait, whatever a Retry-After field says"`
	Failures      int               `toml:"circuit_failures" doc:"after how many failures in a row the receiver is taken to be down, and asked by one request at a time"`
	AllowNetworks []string          `toml:"allow_networks" doc:"networks besides the public Internet that the receiver may be in: 10.0.0.0/8, loopback, private"`
}

var defaults = Options{
	Method: http.MethodPost, Format: "json", Action: "index", Timeout: pipeline.Duration(30 * time.Second), Attempts: 10,
	Backoff: pipeline.Duration(time.Second), MaxBackoff: pipeline.Duration(5 * time.Minute), Failures: 5,
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "http-out",
		Summary: "sends items to an HTTP server: a webhook",
		Doc: "An item is acknowledged once the receiver has answered 2xx. 429, 5xx and no answer are waited out, and the item is sent again " +
			"with the same Idempotency-Key; other answers are errors at once. Redirects are not followed. workers is how many requests are under " +
			"way at once, batch.count how many items are in a request where the format has groups. With bulk, a document that the receiver refuses is an error of its " +
			"item alone, and one that it has no room for at the moment is sent again without the others.",
		In:      pipeline.Kinds(pipeline.KindOf[any]()),
		Needs:   []pipeline.Part{pipeline.AllParts},
		Effect:  "send it by HTTP",
		Workers: 4,
		Batch:   pipeline.Batch{Count: 1, Period: pipeline.Duration(time.Second)},
	}, defaults, newStage)
}

// InputKinds returns what can be sent in the format.
func (o Options) InputKinds() []pipeline.Kind {
	if o.Format == "xml" {
		return pipeline.Kinds(pipeline.KindOf[*xmlschema.ACI]())
	}
	return pipeline.Kinds(pipeline.KindOf[any]())
}

// Validate refuses what could not be sent.
func (o Options) Validate() error {
	if _, err := o.target(); err != nil {
		return &pipeline.OptionError{Option: "url", Err: err}
	}
	if _, err := o.template(); err != nil {
		return &pipeline.OptionError{Option: "body", Err: err}
	}
	if err := o.validateBulk(); err != nil {
		return err
	}
	if _, err := o.compileKey(); err != nil {
		return err
	}
	if o.Body != "" && o.Format != "json" {
		return &pipeline.OptionError{Option: "body", Err: fmt.Errorf("takes the place of JSON, not of %s", o.Format)}
	}
	for name, value := range o.Headers {
		if err := checkField(name, value.Reveal()); err != nil {
			return &pipeline.OptionError{Option: "headers", Err: err}
		}
	}
	if !httpguts.ValidHeaderFieldValue(o.ContentType) {
		return &pipeline.OptionError{Option: "content_type", Err: fmt.Errorf("%q is no media type", o.ContentType)}
	}
	for name, n := range map[string]int64{"timeout": int64(o.Timeout), "backoff": int64(o.Backoff), "circuit_failures": int64(o.Failures)} {
		if n < 1 {
			return &pipeline.OptionError{Option: name, Err: errors.New("must be more than 0")}
		}
	}
	if o.MaxBackoff < o.Backoff {
		return &pipeline.OptionError{Option: "max_backoff", Err: fmt.Errorf("%v is less than backoff, %v", o.MaxBackoff, o.Backoff)}
	}
	if o.Attempts < 0 {
		return &pipeline.OptionError{Option: "attempts", Err: fmt.Errorf("%d is negative; 0 is until it is taken", o.Attempts)}
	}
	if _, err := netguard.New(o.AllowNetworks); err != nil {
		return &pipeline.OptionError{Option: "allow_networks", Err: err}
	}
	return nil
}

// validateBulk refuses options of bulk requests that are missing, wrong, or without meaning.
func (o Options) validateBulk() error {
	if o.Format != "bulk" {
		for option, set := range map[string]bool{"index": o.Index != "", "action": o.Action != defaults.Action && o.Action != ""} {
			if set {
				return &pipeline.OptionError{Option: option, Err: errors.New(`goes with format = "bulk"`)}
			}
		}
		return nil
	}
	if o.Index == "" || strings.ContainsAny(o.Index, "\\/*?\"<>| ,#") || strings.ToLower(o.Index) != o.Index || strings.HasPrefix(o.Index, "_") {
		return &pipeline.OptionError{Option: "index", Err: fmt.Errorf("%q is no name of an index, which is lower case, has no space and none of \\/*?\"<>|,#, and does not begin with _", o.Index)}
	}
	if o.Method == http.MethodPatch {
		return &pipeline.OptionError{Option: "method", Err: errors.New("of bulk requests is POST or PUT")}
	}
	return nil
}

func (o Options) compileKey() (*expression.Program, error) {
	if o.Key == "" {
		return nil, nil
	}
	key, err := expression.Compile(o.Key)
	if err != nil {
		return nil, &pipeline.OptionError{Option: "key", Err: err}
	}
	return key, nil
}

// CheckNames refuses to do without a URL, unless there are messages alone, which bring one, and a key that names what
// nothing that comes has.
func (o Options) CheckNames(given []pipeline.Kind) error {
	if o.URL == "" && !delivery.MessagesAlone(given) {
		return &pipeline.OptionError{Option: "url", Err: errors.New("is not set: say where to send items")}
	}
	if o.Key == "" || slices.ContainsFunc(given, pipeline.KindOf[pipeline.List]().Accepts) {
		return nil // of what is in lists it is not known
	}
	return expression.CheckNames("key", o.Key, given)
}

func (o Options) target() (*url.URL, error) {
	if o.URL == "" {
		return nil, nil
	}
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
	if o.Format == "bulk" {
		query := u.Query()
		if !query.Has("filter_path") {
			query.Set("filter_path", bulkFilter)
		}
		u.RawQuery = query.Encode()
	}
	return u, nil
}

// ours are the fields that the stage sets itself.
var ours = []string{"Content-Length", "Content-Type", "Host", "Idempotency-Key", signatureField, "Transfer-Encoding", "Connection"}

func checkField(name, value string) error {
	switch {
	case !httpguts.ValidHeaderFieldName(name):
		return fmt.Errorf("%q is no name of a header field", name)
	case !httpguts.ValidHeaderFieldValue(value):
		return fmt.Errorf("the value of %s holds characters that a header field cannot", name)
	case slices.Contains(ours, http.CanonicalHeaderKey(name)):
		return fmt.Errorf("%s is set by the stage", name)
	}
	return nil
}

// stage sends to one receiver, but for messages, which have their own.
type stage struct {
	options  Options
	env      *pipeline.Env
	to       *url.URL            // nil: there are messages alone
	body     *template.Template  // nil: the format's
	key      *expression.Program // nil: that of the item
	secrets  delivery.Secrets
	client   *http.Client
	receiver *receiver
}

var (
	_ pipeline.BatchProcessor = (*stage)(nil)
	_ pipeline.Opener         = (*stage)(nil)
	_ pipeline.Checker        = (*stage)(nil)
	_ pipeline.Closer         = (*stage)(nil)
	_ pipeline.NameChecker    = Options{}
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	to, err := o.target()
	if err != nil {
		return nil, err
	}
	s := &stage{options: o, env: env, to: to, receiver: newReceiver(o)}
	if s.body, err = o.template(); err != nil {
		return nil, err
	}
	if s.key, err = o.compileKey(); err != nil {
		return nil, err
	}
	if o.Secret != "" || o.SignSecret != "" {
		if s.secrets, err = delivery.OpenSecrets(env); err != nil {
			return nil, err
		}
	}
	s.client, err = newClient(o, env)
	return s, err
}

// Open refuses to send to a host that is an example, or with secrets that are not there.
func (s *stage) Open(ctx context.Context) error { return s.Check(ctx) }

// Check sends nothing: a receiver would take it for an item.
func (s *stage) Check(ctx context.Context) error {
	if s.to == nil {
		return nil
	}
	if delivery.Placeholder(s.to.Hostname()) {
		return &pipeline.OptionError{Option: "url", Err: fmt.Errorf("%s is an example, and nobody's host: set the option url (in the shipped pipelines: WEBRACE_WEBHOOK=…)", s.to.Hostname())}
	}
	_, err := s.identify(ctx, nil)
	return err
}

// Close lets go of connections.
func (s *stage) Close() error {
	s.client.CloseIdleConnections()
	return nil
}

// ProcessBatch delivers a group: in one request, or in one for each item, each of which then fails by itself.
func (s *stage) ProcessBatch(ctx context.Context, its []*pipeline.Item, _ pipeline.Emitter) error {
	if s.to == nil || slices.ContainsFunc(its, isMessage) {
		return s.sendEach(ctx, its)
	}
	switch s.options.Format {
	case "bulk":
		return s.deliverBulk(ctx, its)
	case "json":
		failed := make([]error, len(its))
		for i := range its {
			failed[i] = s.deliverAll(ctx, its[i:i+1])
		}
		return groupError(failed)
	}
	return s.deliverAll(ctx, its)
}

// groupError returns what items of a group have failed by; nil if none has.
func groupError(failed []error) error {
	if !slices.ContainsFunc(failed, func(err error) bool { return err != nil }) {
		return nil
	}
	return &pipeline.GroupError{Errs: failed}
}

func (s *stage) deliverAll(ctx context.Context, its []*pipeline.Item) error {
	parcels, err := s.parcels(its...)
	if err != nil {
		return err
	}
	messages, err := s.messages(parcels)
	if err != nil {
		return err
	}
	for _, m := range messages {
		if err := s.deliver(ctx, m); err != nil {
			return err
		}
	}
	return nil
}
