package httpin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/stagetest"
)

var with = stagetest.Changed(defaults)

func TestConformance(t *testing.T) {
	for name, o := range map[string]Options{
		"records": with(func(o *Options) { o.Listen = "127.0.0.1:0" }),
		"bytes":   with(func(o *Options) { o.Listen, o.Format = "127.0.0.1:0", "bytes" }),
		"urls":    with(func(o *Options) { o.Listen, o.Format, o.Answer = "127.0.0.1:0", "urls", "accepted" }),
	} {
		t.Run(name, func(t *testing.T) {
			stagetest.Run(t, stagetest.Case{Type: "http-in", Options: o})
		})
	}
}

// running is a pipeline http-in > a function.
type running struct {
	*pipeline.Run
	url string
}

func start(t *testing.T, o Options, onError pipeline.OnError, ro pipeline.RunOptions, take func(*pipeline.Item) error) *running {
	t.Helper()
	o.Listen = testutil.FreeAddress(t)
	g := pipeline.NewGraph("test")
	g.Add("http-in", o)
	sink := g.AddStage("sink", pipeline.Spec{Type: "sink", In: pipeline.Kinds(pipeline.KindOf[any]())}, func(*pipeline.Env) (any, error) { return takes(take), nil })
	sink.Common.OnError, sink.Common.Workers = onError, 4
	g.Connect("http-in", "", "sink")
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	run, err := g.Start(t.Context(), ro)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		run.Drain()
		<-run.Done()
	})
	return &running{run, "http://" + o.Listen + o.Path}
}

type takes func(*pipeline.Item) error

func (f takes) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error { return f(it) }

func post(t *testing.T, url, body string, change ...func(*http.Request)) (status int, a reply, h http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(r)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil {
		t.Errorf("answer %q: %v", text, err)
	}
	return answer.StatusCode, a, answer.Header
}

// What a request has brought is the pipeline's, and gone when that is done with it, though others of the request are
// not.
func TestWhatIsGivenIsNotKept(t *testing.T) {
	t.Parallel()
	value := &[]byte{1}
	given := weak.Make(value)
	d := newDelivery([]any{value, "another"}, "r", "", func() {})
	value = nil
	if err := d.emit(t.Context(), nowhere{}); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	if given.Value() != nil {
		t.Error("a value is still in memory")
	}
	if d.end(0, pipeline.Outcome{}); d.left != 1 || len(d.values) != 2 {
		t.Errorf("%d of %d are left", d.left, len(d.values))
	}
}

type nowhere struct{}

func (nowhere) Emit(context.Context, *pipeline.Item) error           { return nil }
func (nowhere) EmitTo(context.Context, string, *pipeline.Item) error { return nil }

func TestWhatComesInEachFormat(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options Options
		body    string
		status  int
		want    []any
		says    string
	}{
		"a record":          {defaults, `{"a": 1}`, 200, []any{pipeline.Record{"a": 1.0}}, ""},
		"lines of records":  {defaults, "{\"a\": 1}\n\n{\"a\": 2}\n", 200, []any{pipeline.Record{"a": 1.0}, pipeline.Record{"a": 2.0}}, ""},
		"array of records":  {defaults, `[{"a": 1}, {"a": 2}]`, 200, []any{pipeline.Record{"a": 1.0}, pipeline.Record{"a": 2.0}}, ""},
		"no record":         {defaults, " \n", 400, nil, "holds no record"},
		"no object":         {defaults, "{}\n7", 400, nil, `"7" is no object of JSON`},
		"null":              {defaults, "null", 400, nil, `is no object of JSON`},
		"array in an array": {defaults, "[[{}]]", 400, nil, "within an array"},
		"broken":            {defaults, `{"a": 1}{"b"`, 400, nil, "record 1"},
		"deep":              {defaults, strings.Repeat("[", 1_000_000), 400, nil, "depth"},
		"bytes":             {with(func(o *Options) { o.Format = "bytes" }), "\x00\xff", 200, []any{[]byte("\x00\xff")}, ""},
		"nothing at all":    {with(func(o *Options) { o.Format = "bytes" }), "", 200, []any{[]byte(nil)}, ""},
		"too large":         {with(func(o *Options) { o.Format, o.MaxBody = "bytes", 3 }), "four", 413, nil, "larger than"},
		"urls":              {with(func(o *Options) { o.Format = "urls" }), "# these\nhttp://a.org/x\r\n\nhttp://b.org", 200, []any{"http://a.org/x", "http://b.org/"}, ""},
		"no url":            {with(func(o *Options) { o.Format = "urls" }), "http://a.org/\nnothing://", 400, nil, "line 2"},
		"no urls":           {with(func(o *Options) { o.Format = "urls" }), "#", 400, nil, "holds no URL"},
		"accepted":          {with(func(o *Options) { o.Answer = "accepted" }), `{}`, 202, []any{pipeline.Record{}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var came []any
			run := start(t, c.options, "", pipeline.RunOptions{}, func(it *pipeline.Item) error {
				v := it.Value
				if q, ok := v.(webrace.Request); ok {
					v = q.URL
					if q.Crawl == nil || q.Crawl.Levels != 1 {
						t.Errorf("%+v is no start", q)
					}
				}
				mu.Lock()
				defer mu.Unlock()
				came = append(came, v)
				return nil
			})
			status, a, _ := post(t, run.url, c.body, func(r *http.Request) { r.ContentLength = int64(len(c.body)) })
			run.Drain()
			<-run.Done()
			if status != c.status || !strings.Contains(a.Error, c.says) || status < 300 && a.Items != len(c.want) {
				t.Errorf("answered %d, %+v", status, a)
			}
			if !equalSets(came, c.want) {
				t.Errorf("got %v, want %v", came, c.want)
			}
		})
	}
}

// A dry run does nothing with what comes, so its sender is not told that it was dealt with.
func TestADryRunTakesNothingFromItsSender(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"done", "accepted"} {
		came := make(chan any, 1)
		run := start(t, with(func(o *Options) { o.Answer = answer }), "", pipeline.RunOptions{Dry: &pipeline.Dry{}}, func(it *pipeline.Item) error {
			came <- it.Value
			return nil
		})
		if status, a, h := post(t, run.url, "{}"); status != 503 || !strings.Contains(a.Error, "dry run") || h.Get("Retry-After") == "" || len(came) != 1 {
			t.Errorf("%s: answered %d, %+v; %d came", answer, status, a, len(came))
		}
		run.Drain()
		<-run.Done()
	}
}

// equalSets compares what several workers were given, in whatever order.
func equalSets(a, b []any) bool {
	count := map[string]int{}
	for _, v := range a {
		count[fmt.Sprintf("%T %v", v, v)]++
	}
	for _, v := range b {
		count[fmt.Sprintf("%T %v", v, v)]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return len(a) == len(b)
}

// 200 comes when the item has been dealt with, and not before.
func TestTheAnswerWaitsForTheItem(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	var dealt atomic.Bool
	run := start(t, defaults, "", pipeline.RunOptions{}, func(it *pipeline.Item) error {
		done := it.Hold()
		go func() {
			<-hold
			dealt.Store(true)
			done(nil)
		}()
		return nil
	})
	answered := make(chan bool)
	go func() {
		status, _, _ := post(t, run.url, "{}")
		answered <- status == 200 && dealt.Load()
	}()
	testutil.Await(t, "an item reaches the sink", func() bool { return run.Snapshot().Stages["sink"].In > 0 })
	select {
	case <-answered:
		t.Error("answered before the item was dealt with")
	default:
	}
	close(hold)
	if !<-answered {
		t.Error("not answered by 200 when it was dealt with")
	}
}

type letters struct{ n atomic.Int32 }

func (l *letters) Put(context.Context, pipeline.DeadLetterRecord) error { l.n.Add(1); return nil }
func (*letters) Replays(context.Context, string) ([]pipeline.DeadLetterRecord, error) {
	return nil, nil
}
func (*letters) Replayed(context.Context, string) error { return nil }

// An error of an item gives 5xx with the reason, whatever becomes of the item.
func TestAnErrorOfAnItemIsAnswered(t *testing.T) {
	t.Parallel()
	for _, policy := range []pipeline.OnError{pipeline.DeadLetter, pipeline.Skip, pipeline.Stop} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			dead := new(letters)
			run := start(t, defaults, policy, pipeline.RunOptions{DeadLetters: dead}, func(it *pipeline.Item) error {
				if it.Value.(pipeline.Record)["bad"] != nil {
					return errors.New("it is bad")
				}
				return nil
			})
			status, a, _ := post(t, run.url, `{"n": 1}{"bad": true}`)
			if status < 500 || len(a.Failed) != 1 || a.Failed[0].Item != 1 || !strings.Contains(a.Failed[0].Error, "it is bad") {
				t.Errorf("answered %d, %+v", status, a)
			}
			if n := dead.n.Load(); (n == 1) != (policy == pipeline.DeadLetter) {
				t.Errorf("%d dead letters", n)
			}
		})
	}
}

func TestWhoMayCome(t *testing.T) {
	t.Parallel()
	const token = "0123456789abcdef"
	ok := func(*pipeline.Item) error { return nil }
	open := start(t, defaults, "", pipeline.RunOptions{}, ok)
	closed := start(t, with(func(o *Options) { o.Token = pipeline.NewSecret(token) }), "", pipeline.RunOptions{}, ok)
	bearer := func(token string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	}
	for name, c := range map[string]struct {
		run    *running
		change func(*http.Request)
		want   int
	}{
		"from this machine": {open, func(*http.Request) {}, 200},
		"as localhost":      {open, func(r *http.Request) { r.Host = "localhost:1" }, 200},
		"a page of a site":  {open, func(r *http.Request) { r.Header.Set("Origin", "https://a.org") }, 403},
		"a name of a site":  {open, func(r *http.Request) { r.Host = "a.org" }, 403},
		"with the token":    {closed, bearer(token), 200},
		"without":           {closed, func(*http.Request) {}, 401},
		"with another":      {closed, bearer(token + "0"), 401},
		"by GET":            {open, func(r *http.Request) { r.Method = "GET" }, 405},
		"at another path":   {open, func(r *http.Request) { r.URL.Path = "/x" }, 404},
		"larger than it may": {open, func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(make([]byte, 5<<20))), 5<<20
		}, 413},
	} {
		status, a, h := post(t, c.run.url, "{}", c.change)
		if status != c.want || (status == 200) != (a.Error == "") || (status == 401) != (h.Get("WWW-Authenticate") != "") {
			t.Errorf("%s: answered %d, %+v, want %d", name, status, a, c.want)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	o := with(func(o *Options) { o.InFlight, o.Timeout = 1, pipeline.Duration(100*time.Millisecond) })
	run := start(t, o, "", pipeline.RunOptions{}, func(*pipeline.Item) error { <-hold; return nil })
	first := make(chan int, 1)
	go func() {
		status, _, _ := post(t, run.url, "{}")
		first <- status
	}()
	testutil.Await(t, "a request is in flight", func() bool {
		return run.Snapshot().Stages["http-in"].Counters["in_flight"] > 0 || len(first) > 0 // it may be over when we look
	})
	status, _, h := post(t, run.url, "{}")
	if late := <-first; late != 504 || status != 503 && status != 504 || h.Get("Retry-After") == "" {
		t.Errorf("a late one %d, one too many %d", late, status)
	}
	close(hold)
	slow := start(t, with(func(o *Options) { o.Rate = 2 }), "", pipeline.RunOptions{}, func(*pipeline.Item) error { return nil })
	const atOnce = 20 // which would take ten seconds
	answers := make(chan int, atOnce)
	for range atOnce {
		go func() {
			status, _, h := post(t, slow.url, "{}")
			if status == 429 && h.Get("Retry-After") == "" {
				t.Error("429 does not say when")
			}
			answers <- status
		}()
	}
	codes := map[int]int{}
	for range atOnce {
		codes[<-answers]++
	}
	if codes[200] < 2 || codes[429] < 1 {
		t.Errorf("answers %v", codes)
	}
}

// What a run has taken when it drains is dealt with and answered; what comes later is not taken.
func TestADrainAnswersWhatItHasTaken(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	run := start(t, defaults, "", pipeline.RunOptions{}, func(*pipeline.Item) error { <-hold; return nil })
	answers := make(chan int, 20)
	for range cap(answers) {
		go func() {
			answer, err := http.Post(run.url, "", strings.NewReader("{}"))
			if err != nil {
				answers <- 0 // nothing listens any more
				return
			}
			answer.Body.Close()
			answers <- answer.StatusCode
		}()
	}
	testutil.Await(t, "four items reach the sink", func() bool { return run.Snapshot().Stages["sink"].In == 4 })
	run.Drain()
	close(hold)
	<-run.Done()
	codes := map[int]int{}
	for range cap(answers) {
		codes[<-answers]++
	}
	if done := int(run.Snapshot().Stages["sink"].In); codes[200] != done || codes[200]+codes[503]+codes[0] != cap(answers) {
		t.Errorf("answers %v, %d dealt with", codes, done)
	}
}

func TestOptionsAreValidated(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`listen = "0.0.0.0:80"`: "a token is needed", `listen = ":80"`: "a token is needed", `listen = "192.0.2.1:80"`: "a token is needed",
		`listen = "127.0.0.1"`: "HOST:PORT", `token = "short"`: "16 are the least", `path = "x"`: "begin with /", `in_flight = 0`: "in_flight",
		`rate = -1`: "negative", `format = "record"`: "records", `answer = "yes"`: "accepted", `max_body = 0`: "max_body", `tokn = "x"`: "did you mean token",
	} {
		_, err := config.Parse("p.toml", []byte("version = 1\n[pipeline.p]\nflow = [\"http-in > drop\"]\n[pipeline.p.stage]\nhttp-in = { "+text+" }\n"), config.LoadOptions{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	o := with(func(o *Options) { o.Listen, o.Token = ":80", pipeline.NewSecret("0123456789abcdef") })
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
}

// A name that leads to an address of another machine is found out when the stage is opened.
func TestANameThatOthersCanReachIsRefused(t *testing.T) {
	t.Parallel()
	made, err := newStage(with(func(o *Options) { o.Listen = "ip6-allnodes:0" }), pipeline.NewEnv("p", "s", nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := made.(*stage).Open(t.Context()); err == nil {
		t.Error("it listens")
	}
}
