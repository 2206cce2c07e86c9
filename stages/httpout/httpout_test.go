package httpout

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// hook is a receiver that answers as a test scripts it, and 204 once the script has ended.
type hook struct {
	*httptest.Server
	t testing.TB

	mu     sync.Mutex
	script []http.HandlerFunc
	got    []delivery
}

type delivery struct {
	method, body string
	header       http.Header
}

func newHook(t testing.TB, script ...http.HandlerFunc) *hook {
	h := &hook{t: t, script: script}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // cut off: not delivered
	}
	h.mu.Lock()
	answer := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }
	if len(h.script) > 0 {
		answer, h.script = h.script[0], h.script[1:]
	}
	h.got = append(h.got, delivery{r.Method, string(body), r.Header})
	h.mu.Unlock()
	answer(w, r)
}

func (h *hook) received() []delivery {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.got)
}

func status(code int, body string, fields ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(fields); i += 2 {
			w.Header().Set(fields[i], fields[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// hangUp closes the connection without an answer.
func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func never(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// quick are options for a receiver on loopback, that wait for nothing.
func (h *hook) quick() Options {
	o := defaults
	o.URL, o.AllowNetworks = h.URL+"/hook/hush-path", []string{"loopback"}
	o.Backoff, o.MaxBackoff = pipeline.Duration(time.Microsecond), pipeline.Duration(time.Millisecond)
	return o
}

func try(t *testing.T, o Options, inputs ...any) *stagetest.Result {
	t.Helper()
	return stagetest.Try(t, stagetest.Case{Type: "http-out", Options: o, Inputs: inputs})
}

func aci(id string) *xmlschema.ACI {
	return &xmlschema.ACI{
		ID: id, URD: "u1", Owner: "eleni", URI: "https://a.org/" + id, Title: `A "title" & more`, Format: xmlschema.FormatHTML, Urgency: 1,
		UpdateTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Docbase: xmlschema.Docbase{Digest: "sha256:1", Version: 2},
	}
}

func TestConformance(t *testing.T) {
	h := newHook(t)
	for _, format := range []string{"json", "array", "lines", "xml"} {
		o := h.quick()
		o.Format = format
		stagetest.Run(t, stagetest.Case{Type: "http-out", Options: o, Inputs: []any{aci("a"), aci("b")}})
	}
}

func TestAnItemIsARequestWithItsJSON(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	o := h.quick()
	o.Method, o.Headers = http.MethodPut, map[string]string{"x-team": "news", "user-agent": "mine/1"}
	if r := try(t, o, aci("a"), "text", map[string]int{"n": 1}, []any{"of", "a group"}, []any{}); len(r.Failures) > 0 || r.Counters["delivered"] != 5 {
		t.Fatalf("%v, %v", r.Failures, r.Counters)
	}
	var bodies []string
	for _, d := range h.received() {
		bodies = append(bodies, d.body)
		if d.method != "PUT" || d.header.Get("Content-Type") != "application/json" || d.header.Get("X-Team") != "news" || d.header.Get("User-Agent") != "mine/1" {
			t.Errorf("%s %v", d.method, d.header)
		}
	}
	slices.Sort(bodies)
	if got := strings.Join(bodies[:4], "\n"); got != "\"a group\"\n\"of\"\n\"text\"\n"+`{"id":"a","urd":"u1","owner":"eleni","uri":"https://a.org/a","title":"A \"title\" & more","relevance":0,`+
		`"urgency":1,"summary":"","updatetime":"2026-01-02T03:04:05Z","extension":"","format":"html","filesize":0,"digest":"sha256:1","version":2,"expired":false}` {
		t.Errorf("got %s", got)
	}
}

func TestAGroupIsOneRequest(t *testing.T) {
	t.Parallel()
	for format, want := range map[string][2]string{
		"array": {"application/json", `["a","b"]`},
		"lines": {"application/x-ndjson", "\"a\"\n\"b\"\n"},
	} {
		h := newHook(t)
		o := h.quick()
		o.Format = format
		try(t, o, []any{"a", "b"})
		if got := h.received(); len(got) != 1 || got[0].body != want[1] || got[0].header.Get("Content-Type") != want[0] {
			t.Errorf("%s: got %+v", format, got)
		}
	}
	h := newHook(t)
	o := h.quick()
	o.Format, o.ContentType = "xml", "text/xml"
	if r := try(t, o, []any{aci("a"), aci("b")}, "text"); len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Error(), "XML takes annotations") {
		t.Errorf("%v", r.Failures)
	}
	got := h.received()
	n := 0
	for range xmlschema.NewDecoder(strings.NewReader(got[0].body)).ACIs() {
		n++
	}
	if n != 2 || len(got) != 1 || got[0].header.Get("Content-Type") != "text/xml" {
		t.Errorf("%d annotations in %+v", n, got)
	}
}

func TestATemplateMakesTheBody(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	o := h.quick()
	o.Body = `{"text": {{json (printf "%s: %s" .Title .URI)}}}`
	if r := try(t, o, aci("a"), map[string]any{"Title": "t"}); len(r.Failures) != 1 {
		t.Errorf("what has no URI: %v", r.Failures)
	}
	if got := h.received(); len(got) != 1 || got[0].body != `{"text": "A \"title\" & more: https://a.org/a"}` {
		t.Errorf("got %+v", got)
	}
}

// TestWhatMayPassIsWaitedOut lets the receiver fail in every way that may pass, one after the other.
func TestWhatMayPassIsWaitedOut(t *testing.T) {
	t.Parallel()
	// net/http itself repeats the request that is hung up on, because a connection that was used before may have been closed meanwhile.
	h := newHook(t, status(500, "oh"), status(503, "", "Retry-After", "0"), status(429, "", "Retry-After", "3600"), hangUp, never, status(408, ""), status(425, ""))
	o := h.quick()
	o.Timeout = pipeline.Duration(300 * time.Millisecond)
	r := try(t, o, aci("a"))
	got := h.received()
	if len(r.Failures) > 0 || r.Outcomes[0].Err != nil || r.Counters["delivered"] != 1 || r.Counters["repeated"] < 6 || len(got) != 8 {
		t.Fatalf("%v, %v, %d requests", r.Failures, r.Counters, len(got))
	}
	for _, d := range got[1:] {
		if d.body != got[0].body || d.header.Get("Idempotency-Key") != got[0].header.Get("Idempotency-Key") || d.header.Get("Idempotency-Key") == "" {
			t.Errorf("a repetition says %+v, first there was %+v", d, got[0])
		}
	}
}

func TestWhatIsNotGivenBackOnceMoreIsGivenUp(t *testing.T) {
	t.Parallel()
	h := newHook(t, slices.Repeat([]http.HandlerFunc{status(502, "bad\x00 \x1b[31m gate\nway\xff"+strings.Repeat("x", maxAnswer))}, 3)...)
	o := h.quick()
	o.Attempts = 3
	r := try(t, o, aci("a"), aci("b"))
	if len(r.Failures) != 1 || len(h.received()) != 4 || r.Counters["given_up"] != 1 || r.Counters["delivered"] != 1 {
		t.Fatalf("%v, %d requests, %v", r.Failures, len(h.received()), r.Counters)
	}
	message := r.Failures[0].Error()
	if !strings.Contains(message, "3 times (option attempts): 502 Bad Gateway: bad [31m gate way") || strings.Contains(message, "hush-path") || len(message) > 400 {
		t.Errorf("it says %q", message)
	}
}

func TestWhatDoesNotPassIsAnErrorAtOnce(t *testing.T) {
	t.Parallel()
	other := newHook(t)
	for code, says := range map[int]string{400: "400 Bad Request: no such field", 401: "401", 404: "404", 410: "410", 302: "302 Found, and redirects are not followed", 307: "307"} {
		h := newHook(t, status(code, "no such field", "Location", other.URL))
		r := try(t, h.quick(), aci("a"))
		if len(r.Failures) != 1 || len(h.received()) != 1 || !strings.Contains(r.Failures[0].Error(), says) || r.Counters["refused"] != 1 {
			t.Errorf("%d: %v, %d requests", code, r.Failures, len(h.received()))
		}
	}
	if n := len(other.received()); n > 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

func TestAPrivateAddressIsRefusedUntilItIsAdmitted(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	o := h.quick()
	o.AllowNetworks = nil
	r := try(t, o, aci("a"))
	if len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Error(), ".allow_networks=loopback)") || strings.Contains(r.Failures[0].Error(), "fetch") || len(h.received()) > 0 {
		t.Errorf("%v", r.Failures)
	}
}

func TestAReceiverThatIsDownIsAskedByOneRequestAtATime(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now, most, asked := 0, 0, 0
	up := make(chan struct{})
	h := newHook(t)
	h.script = slices.Repeat([]http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		asked++
		if now++; asked > 20 { // what was under way when it went down is no probe
			most = max(most, now)
		}
		if asked == 60 {
			close(up)
		}
		mu.Unlock()
		select {
		case <-up:
			w.WriteHeader(200)
		case <-time.After(time.Millisecond):
			w.WriteHeader(503)
		}
		mu.Lock()
		now--
		mu.Unlock()
	}}, 60)
	o := h.quick()
	o.Attempts, o.Failures = 0, 3
	var items []any
	for i := range 40 {
		items = append(items, i)
	}
	g := pipeline.DefaultRegistry.NewGraph("p")
	g.AddStage("source", pipeline.Spec{Type: "source", Out: []pipeline.Port{{Kind: pipeline.KindOf[any]()}}}, func(*pipeline.Env) (any, error) { return source(items), nil })
	g.AddType("http-out", "http-out", o).Common.Workers = 8
	g.Connect("source", "", "http-out")
	report, err := g.Run(t.Context(), pipeline.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := report.Stages["http-out"].Counters
	if c["delivered"] != 40 || c["down"] < 1 || most != 1 {
		t.Errorf("%v; %d requests at once while it was down", c, most)
	}
}

type source []any

func (s source) Run(ctx context.Context, out pipeline.Emitter) error {
	for _, v := range s {
		if err := out.Emit(ctx, &pipeline.Item{Value: v}); err != nil {
			return err
		}
	}
	return nil
}

func TestNoReceiverHoldsUpTheEndOfARun(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	o := (&hook{Server: &httptest.Server{URL: "http://" + silent.Addr().String()}}).quick()
	o.Attempts, o.Backoff, o.MaxBackoff = 0, pipeline.Duration(time.Hour), pipeline.Duration(time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	g := pipeline.DefaultRegistry.NewGraph("p")
	g.AddStage("source", pipeline.Spec{Type: "source", Out: []pipeline.Port{{Kind: pipeline.KindOf[any]()}}}, func(*pipeline.Env) (any, error) { return source{1, 2, 3}, nil })
	g.AddType("http-out", "http-out", o)
	g.Connect("source", "", "http-out")
	run, err := g.Start(ctx, pipeline.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := silent.Accept(); err != nil { // it is being waited for
		t.Fatal(err)
	}
	cancel()
	if _, err := run.Wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// lent is what a program lends to its stages.
func lent(t *testing.T, secrets map[string]control.Secret) *pipeline.Resources {
	r := new(pipeline.Resources)
	pipeline.Provide[credentials.Open](r, func() (credentials.Source, error) { return fakeSecrets(secrets), nil })
	return r
}

type fakeSecrets map[string]control.Secret

func (s fakeSecrets) Secret(_ context.Context, name string) (control.Secret, error) {
	if secret, ok := s[name]; ok {
		return secret, nil
	}
	return control.Secret{}, control.ErrNotFound
}
func (fakeSecrets) SecretVersion(string) uint64                     { return 0 }
func (fakeSecrets) StartOf(context.Context, string) (string, error) { return "", control.ErrNotFound }

func secret(t *testing.T, kind control.Kind, name, value string, b control.Bounds) control.Secret {
	t.Helper()
	s, err := control.NewSecret(kind, name, value)
	if err != nil {
		t.Fatal(err)
	}
	return s.Within(b)
}

func TestSecretsGoWhereTheyAreForAndSignWhatIsSent(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	host := strings.TrimPrefix(h.URL, "http://")
	plain := control.Bounds{Insecure: true}
	secrets := map[string]control.Secret{
		"basic": secret(t, control.KindBasic, "eleni", "hush", plain), "bearer": secret(t, control.KindBearer, "", "hush", plain),
		"header": secret(t, control.KindHeader, "x-api-key", "hush", control.Bounds{Insecure: true, Hosts: []string{host}}), "cookie": secret(t, control.KindCookie, "", "a=hush", plain),
		"https": secret(t, control.KindBearer, "", "hush", control.Bounds{}), "elsewhere": secret(t, control.KindBearer, "", "hush", control.Bounds{Insecure: true, Hosts: []string{"b.example"}}),
	}
	resources := lent(t, secrets)
	for name, want := range map[string]string{
		"basic": "Authorization: Basic ZWxlbmk6aHVzaA==", "bearer": "Authorization: Bearer hush", "header": "X-Api-Key: hush", "cookie": "Cookie: a=hush",
	} {
		o := h.quick()
		o.Secret, o.SignSecret = name, "bearer"
		stagetest.Try(t, stagetest.Case{Type: "http-out", Options: o, Inputs: []any{aci(name)}, Resources: resources})
		got := h.received()
		d := got[len(got)-1]
		field, value, _ := strings.Cut(want, ": ")
		if d.header.Get(field) != value {
			t.Errorf("%s: %v", name, d.header)
		}
		if err := Verify("hush", d.header.Get("X-Webrace-Signature"), []byte(d.body), time.Now(), time.Minute); err != nil {
			t.Error(err)
		}
	}
	for name, says := range map[string]string{"https": "--insecure", "elsewhere": "is not for " + host, "missing": "webrace-store secret set"} {
		o := h.quick()
		o.Secret = name
		s, err := newStage(o, pipeline.NewEnv("p", "hook", resources))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.(pipeline.Opener).Open(t.Context()); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestASignatureIsOfTheBodyAndTheTime(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_795_276_800, 0)
	field := sign("key", now, []byte("body"))
	for name, c := range map[string]struct {
		secret, field, body string
		after               time.Duration
		want                error
	}{
		"right":           {"key", field, "body", time.Minute, nil},
		"another order":   {"key", strings.Join(strings.Split(field, ",")[1:], "") + ",x=1," + strings.Split(field, ",")[0], "body", 0, nil},
		"another secret":  {"yek", field, "body", 0, ErrSignature},
		"another body":    {"key", field, "body2", 0, ErrSignature},
		"another time":    {"key", strings.Replace(field, "t=1795276800", "t=1795276801", 1), "body", 0, ErrSignature},
		"too old":         {"key", field, "body", 6 * time.Minute, ErrTooOld},
		"from the future": {"key", field, "body", -6 * time.Minute, ErrTooOld},
		"empty":           {"key", "", "body", 0, ErrSignature},
		"no signature":    {"key", "t=1795276800", "body", 0, ErrSignature},
		"no hexadecimal":  {"key", "t=1795276800,v1=zz", "body", 0, ErrSignature},
	} {
		if err := Verify(c.secret, c.field, []byte(c.body), now.Add(c.after), 5*time.Minute); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(field) != len("t=1795276800,v1=")+2*sha256.Size {
		t.Errorf("the field is %q", field)
	}
}

func FuzzVerifyTakesNothingButWhatWasSigned(f *testing.F) {
	now := time.Unix(1_795_276_800, 0)
	f.Add(sign("key", now, []byte("body")), []byte("body"))
	f.Add("t=1,v1=00", []byte(""))
	f.Fuzz(func(t *testing.T, field string, body []byte) {
		if Verify("key", field, body, now, time.Hour) != nil {
			return
		}
		_, rest, _ := strings.Cut(field, "t=")
		digits, _, _ := strings.Cut(rest, ",")
		var seconds int64
		if _, err := fmt.Sscan(digits, &seconds); err != nil || !strings.Contains(strings.ToLower(field), strings.Split(sign("key", time.Unix(seconds, 0), body), "v1=")[1]) {
			t.Skip() // more than one t: the last counts
		}
	})
}

func ExampleVerify() {
	receive := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = Verify("the secret", r.Header.Get("X-Webrace-Signature"), body, time.Now(), 5*time.Minute)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprintln(w, "thank you")
	}
	r := httptest.NewRequest("POST", "/", strings.NewReader(`{"id":"a1"}`))
	r.Header.Set("X-Webrace-Signature", sign("the secret", time.Now(), []byte(`{"id":"a1"}`)))
	w := httptest.NewRecorder()
	receive(w, r)
	fmt.Print(w.Code, " ", w.Body)
	// Output: 200 thank you
}

func TestNonsenseIsRefusedBeforeARun(t *testing.T) {
	t.Parallel()
	good := defaults
	good.URL = "https://hooks.org/x"
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Options){
		"url":              func(o *Options) { o.URL = "" },
		"url ":             func(o *Options) { o.URL = "ftp://hooks.org/hush" },
		"url  ":            func(o *Options) { o.URL = "https://eleni:hush@hooks.org/" },
		"url   ":           func(o *Options) { o.URL = "https://hooks.org/%zzhush" },
		"url    ":          func(o *Options) { o.URL = "/hush" },
		"body":             func(o *Options) { o.Body = "{{.Title" },
		"body ":            func(o *Options) { o.Body, o.Format = "x", "xml" },
		"headers":          func(o *Options) { o.Headers = map[string]string{"a b": "c"} },
		"headers ":         func(o *Options) { o.Headers = map[string]string{"a": "c\r\nd: e"} },
		"headers  ":        func(o *Options) { o.Headers = map[string]string{"idempotency-key": "c"} },
		"content_type":     func(o *Options) { o.ContentType = "a\nb" },
		"timeout":          func(o *Options) { o.Timeout = 0 },
		"backoff":          func(o *Options) { o.Backoff = 0 },
		"max_backoff":      func(o *Options) { o.MaxBackoff = 1 },
		"circuit_failures": func(o *Options) { o.Failures = 0 },
		"attempts":         func(o *Options) { o.Attempts = -1 },
		"allow_networks":   func(o *Options) { o.AllowNetworks = []string{"intranet"} },
	} {
		o := good
		o.Headers = maps.Clone(good.Headers)
		spoil(&o)
		var fault *pipeline.OptionError
		if err := o.Validate(); !errors.As(err, &fault) || fault.Option != strings.TrimSpace(name) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", name, err)
		}
	}
	o := good
	o.URL = "https://hooks.example.org/"
	s, err := newStage(o, pipeline.NewEnv("p", "hook", nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.(pipeline.Opener).Open(t.Context()); err == nil || !strings.Contains(err.Error(), "WEBRACE_WEBHOOK") {
		t.Errorf("an example is sent to: %v", err)
	}
}

func TestWaitsGrowAndAreBounded(t *testing.T) {
	t.Parallel()
	o := defaults
	r := newReceiver(o)
	for attempts, most := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 9: 256 * time.Second, 20: 5 * time.Minute, 1 << 20: 5 * time.Minute} {
		for range 20 {
			if wait := r.backoff(attempts); wait < most/2 || wait > most {
				t.Errorf("after %d attempts: %v", attempts, wait)
			}
		}
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for field, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-7": 0, "soon": 0, "Fri, 02 Jan 2026 03:05:05 GMT": time.Minute, "Fri, 02 Jan 2026 03:03:05 GMT": 0, "99999999999999999999": 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {field}}, now); got != want {
			t.Errorf("Retry-After: %s is %v, want %v", field, got, want)
		}
	}
}
