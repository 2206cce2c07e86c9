package httpout

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/xmlschema"
)

func TestConformance(t *testing.T) {
	h := newHook(t)
	for _, format := range []string{"json", "array", "jsonl", "xml"} {
		o := h.quick()
		o.Format = format
		stagetest.Run(t, stagetest.Case{Type: "http-out", Options: o, Inputs: []any{aci("a"), aci("b")}})
	}
}

func TestAnItemIsARequestWithItsJSON(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	o := h.quick()
	o.Method, o.Headers = http.MethodPut, map[string]pipeline.Secret{"x-team": pipeline.NewSecret("news"), "user-agent": pipeline.NewSecret("mine/1")}
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
	if got := strings.Join(bodies[:4], "\n"); got != "\"a group\"\n\"of\"\n\"text\"\n"+`{"id":"a","urd":"u1","owner":"eleni","uri":"https://a.org/a","title":"A \"title\" & more",`+
		`"urgency":1,"update_time":"2026-01-02T03:04:05Z","format":"html","docbase":{"digest":"sha256:1","version":2}}` {
		t.Errorf("got %s", got)
	}
}

func TestAGroupIsOneRequest(t *testing.T) {
	t.Parallel()
	for format, want := range map[string][2]string{
		"array": {"application/json", `["a","b"]`},
		"jsonl": {"application/x-ndjson", "\"a\"\n\"b\"\n"},
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

func TestNonsenseIsRefusedBeforeARun(t *testing.T) {
	t.Parallel()
	good := defaults
	good.URL = "https://hooks.org/x"
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Options){
		"url ":             func(o *Options) { o.URL = "ftp://hooks.org/hush" },
		"url  ":            func(o *Options) { o.URL = "https://eleni:hush@hooks.org/" },
		"url   ":           func(o *Options) { o.URL = "https://hooks.org/%zzhush" },
		"url    ":          func(o *Options) { o.URL = "/hush" },
		"body":             func(o *Options) { o.Body = "{{.Title" },
		"body ":            func(o *Options) { o.Body, o.Format = "x", "xml" },
		"headers":          func(o *Options) { o.Headers = map[string]pipeline.Secret{"a b": pipeline.NewSecret("c")} },
		"headers ":         func(o *Options) { o.Headers = map[string]pipeline.Secret{"a": pipeline.NewSecret("c\r\nd: e")} },
		"headers  ":        func(o *Options) { o.Headers = map[string]pipeline.Secret{"idempotency-key": pipeline.NewSecret("c")} },
		"content_type":     func(o *Options) { o.ContentType = "a\nb" },
		"timeout":          func(o *Options) { o.Timeout = 0 },
		"backoff":          func(o *Options) { o.Backoff = 0 },
		"max_backoff":      func(o *Options) { o.MaxBackoff = 1 },
		"circuit_failures": func(o *Options) { o.Failures = 0 },
		"attempts":         func(o *Options) { o.Attempts = -1 },
		"index":            func(o *Options) { o.Format = "bulk" },
		"index ":           func(o *Options) { o.Format, o.Index = "bulk", "Pages" },
		"index  ":          func(o *Options) { o.Index = "pages" },
		"key":              func(o *Options) { o.Key = "url +" },
		"action":           func(o *Options) { o.Action = "create" },
		"method":           func(o *Options) { o.Format, o.Index, o.Method = "bulk", "pages", "PATCH" },
		"body  ":           func(o *Options) { o.Format, o.Index, o.Body = "bulk", "pages", "x" },
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
	o.URL = ""
	for kind, wrong := range map[pipeline.Kind]bool{pipeline.KindOf[*xmlschema.ACI](): true, pipeline.KindOf[any](): true, pipeline.KindOf[*delivery.Message](): false} {
		if err := o.CheckNames([]pipeline.Kind{kind}); (err != nil) != wrong {
			t.Errorf("without a URL, given %v: %v", kind, err)
		}
	}
	o = good
	o.URL = "https://hooks.example.org/"
	s, err := newStage(o, pipeline.NewEnv("p", "hook", nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.(pipeline.Opener).Open(t.Context()); err == nil || !strings.Contains(err.Error(), "WEBRACE_WEBHOOK") {
		t.Errorf("an example is sent to: %v", err)
	}
}

func keysOf(h *hook) (keys []string) {
	for _, d := range h.received() {
		keys = append(keys, d.header.Get("Idempotency-Key"))
	}
	return keys
}

// Equal items are two, and a list that is sent as one has a key of its own.
func TestEqualItemsHaveKeysOfTheirOwn(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "array"} {
		h := newHook(t)
		o := h.quick()
		o.Format = format
		same := pipeline.Record{"a": "b"}
		run(t, o, pipeline.Stop, same, same, pipeline.List{same, same})
		run(t, o, pipeline.Stop, same, same, pipeline.List{same, same})
		keys := keysOf(h)
		half := len(keys) / 2
		first, again := slices.Sorted(slices.Values(keys[:half])), slices.Sorted(slices.Values(keys[half:]))
		if want := map[string]int{"json": 4, "array": 1}[format]; half != want || len(slices.Compact(slices.Clone(first))) != half || !slices.Equal(first, again) {
			t.Errorf("%s: keys %q, and when all comes again %q", format, first, again)
		}
	}
}

// The option key determines which items are one, and what gives none is an error of its item.
func TestAKeyThatIsAnExpression(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	o := h.quick()
	o.Key = "order"
	_, result := run(t, o, "", pipeline.Record{"order": "o-7"}, pipeline.Record{"order": ""}, pipeline.Record{"order": "a\nb"}, pipeline.List{pipeline.Record{"order": "8"}})
	if keys := slices.Sorted(slices.Values(keysOf(h))); !slices.Equal(keys, []string{"8", "o-7"}) || len(result.Failures) != 2 ||
		!strings.Contains(result.Failures[0].Error(), "option key: ") || !strings.Contains(result.Failures[1].Error(), "option key: ") {
		t.Errorf("keys %q, failures %v", keys, result.Failures)
	}
}
