package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reugn/go-streams"
	"github.com/reugn/go-streams/extension"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/gostreams"
	"github.com/webrace/webrace/pipeline/stagetest"
)

// texts is a go-streams source of a text in the middle of 20 others.
func texts(text string) streams.Source {
	ch := make(chan any, 21)
	for i := range 20 {
		if i == 10 {
			ch <- text
		}
		ch <- fmt.Sprint("text ", i)
	}
	close(ch)
	return extension.NewChanSource(ch)
}

// options run this test's binary as the program, on texts.
func options(mode string, change ...func(*Options)) Options {
	o := defaults
	o.Command = []string{os.Args[0]}
	o.Env = map[string]pipeline.Secret{"PROGRAM": pipeline.NewSecret(mode), "GORACE": pipeline.NewSecret("atexit_sleep_ms=0")} // the race detector would have each end a second later
	o.Takes = []string{"text"}
	o.Gives = []Output{{Kind: "text"}, {Port: "links", Kind: "links", Doc: "links"}, {Port: "same", Kind: "same", Doc: "as it came"}}
	o.Timeout, o.Ready = pipeline.Duration(20*time.Second), pipeline.Duration(5*time.Minute) // on a busy machine
	for _, f := range change {
		f(&o)
	}
	return o
}

func quick(o *Options) { o.Timeout = pipeline.Duration(time.Second) }

func try(t *testing.T, o Options, inputs ...any) *stagetest.Result {
	t.Helper()
	return stagetest.Try(t, stagetest.Case{Type: "exec", Options: o, Inputs: inputs})
}

func TestConformance(t *testing.T) {
	stagetest.Run(t, stagetest.Case{Type: "exec", Options: options("work"), Inputs: []any{"a", "b", "three", "drop", "links"}})
}

func TestWhatAnItemYields(t *testing.T) {
	got := try(t, options("work", func(o *Options) { o.Options = pipeline.Table{"volume": int64(11)} }),
		"three times", "drop", "links", "port same", "error too quiet", "volume")
	if want := []any{"three times", "TIMES", "new", `{"volume":11}`}; !slices.Equal(got.Out[""], want) {
		t.Errorf("got %q", got.Out[""])
	}
	if links := got.Out["links"]; len(links) != 1 || links[0].(*webrace.Links).URLs[0] != "b" {
		t.Errorf("links %v", links)
	}
	if same := got.Out["same"]; len(same) != 1 || same[0] != "port same" {
		t.Errorf("same %v", same)
	}
	if len(got.Failures) != 1 || got.Failures[0].Err.Error() != "too quiet" || got.Failures[0].Value != "error too quiet" {
		t.Errorf("failures %v", got.Failures)
	}
	if got.Counters["worked"] != 5 || got.Counters["refused"] != 1 {
		t.Errorf("counters %v", got.Counters)
	}
}

// TestAnItemThatIsFatalFailsAlone has a program meet its end in all ways, with others in flight.
func TestAnItemThatIsFatalFailsAlone(t *testing.T) {
	for text, want := range map[string]string{
		"crash":      "it ended: exit status 3; it said: segmentation fault, or so",
		"emit-crash": "it ended: exit status 3",
		"hang":       "it took longer than 1s (timeout) over the item, and was killed",
		"fork":       "it ended: exit status 4; it said: child",
		"print":      `it broke the protocol: what it wrote to standard output is no frame: "I meant to say this to somebody else`,
		"unknown":    "it broke the protocol: done for item 4711, which it was not given or is done with",
		"nonsense":   `it broke the protocol: there is no frame of the type "nonsense"`,
		"huge":       "it broke the protocol: a frame of 536870912 bytes",
		"much":       "it broke the protocol: an item yields more than 16KiB (max_frame)",
		"cut":        "it ended by itself, with status 0",
		"close":      "it closed its standard output",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, failure, err := together(t, options("work", func(o *Options) {
				o.MaxFrame = 16 << 10
				if text == "hang" {
					quick(o)
				}
			}), text)
			if broken := strings.Contains(want, "broke the protocol"); broken != (err != nil) {
				t.Errorf("the run ends with %v", err)
			}
			if len(got) != 20 {
				t.Errorf("of 20 others %d came through", len(got))
			}
			if len(failure) != 1 || !strings.Contains(failure[0], want) {
				t.Errorf("failures %q, want %q", failure, want)
			}
		})
	}
}

// together runs a text in the middle of 20 others that are in flight at once.
func together(t *testing.T, o Options, text string) (out []any, failures []string, err error) {
	t.Helper()
	g := pipeline.NewGraph("together")
	g.AddStage("feeder", pipeline.Spec{Type: "feeder", Out: []pipeline.Port{{Kind: pipeline.KindOf[string]()}}}, func(*pipeline.Env) (any, error) {
		return gostreams.FromSource(texts(text)), nil
	})
	g.AddType("stage", "exec", o).Common.Workers = 8
	took := make(chan any, 1000)
	taker := func(*pipeline.Env) (any, error) {
		return pipeline.Map(func(_ context.Context, v any) (any, error) { took <- v; return v, nil }), nil
	}
	spec := pipeline.Spec{Type: "taker", In: pipeline.Kinds(pipeline.KindOf[any]())}
	g.AddStage("taker", spec, taker)
	g.AddStage("failures", spec, taker)
	g.Wire("feeder > stage > taker", "stage.errors > failures")
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	_, err = g.Run(t.Context(), pipeline.RunOptions{})
	close(took)
	for v := range took {
		if f, ok := v.(*pipeline.Failure); ok {
			failures = append(failures, f.Err.Error())
		} else {
			out = append(out, v)
		}
	}
	return out, failures, err
}

func TestAnItemDoneTwiceIsAnErrorOfTheRun(t *testing.T) {
	out, failures, err := together(t, options("work"), "twice")
	if len(failures) != 0 || len(out) != 20 {
		t.Errorf("%d came through, %q", len(out), failures)
	}
	if err == nil || !strings.Contains(err.Error(), "done for item") {
		t.Errorf("the run ends with %v", err)
	}
}

func TestAProgramThatCannotWorkIsFoundOutAtOnce(t *testing.T) {
	for mode, want := range map[string]string{
		"exit at start":  "before it was ready: it ended: exit status 7; it said: no license",
		"print at start": `is no frame: "Hello, I am a program`,
		"wrong abi":      "it speaks version 99 of the protocol, and this is version 1",
		"refuse":         "it refuses to work: there is no option 'volme'",
		"drift":          `set takes = ["aci"]`,
		"asks amiss":     `it asks for the field "bdy", which text does not have (did you mean body?)`,
		"not ready":      "it was not ready within 500ms",
		"no greeting":    `its first frame is of the type "done", not ready`,
		"no json":        "its first frame is no JSON",
		"close at start": "it closed its standard output",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			mustNotOpen(t, options(mode, func(o *Options) {
				if mode == "not ready" {
					o.Ready = pipeline.Duration(500 * time.Millisecond)
				}
			}), want)
		})
	}
	t.Run("not there", func(t *testing.T) {
		mustNotOpen(t, options("", func(o *Options) { o.Command = []string{"no-such-program"} }), `no-such-program: start the program: exec: "no-such-program": executable file not found`)
	})
}

func mustNotOpen(t *testing.T, o Options, want string) {
	t.Helper()
	impl, err := newStage(o, pipeline.NewEnv("p", "shout", nil))
	if err != nil {
		t.Fatal(err)
	}
	s := impl.(*stage)
	if err := s.Open(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestAProgramThatDoesNotListenFailsItsItems(t *testing.T) {
	for mode, want := range map[string]string{
		"ready and dead":   "it ended: exit status 3",
		"never reads":      "it took longer than 1s",
		"closes its input": "",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			got := try(t, options(mode, quick), strings.Repeat("large ", 100_000), "small")
			if len(got.Failures) != 2 {
				t.Fatalf("failures %v", got.Failures)
			}
			if !strings.Contains(got.Failures[0].Error(), want) {
				t.Errorf("got %v, want %q", got.Failures[0], want)
			}
		})
	}
}

func TestWhatIsNotDeclaredIsNotPassedOn(t *testing.T) {
	for text, want := range map[string]string{
		"port lnks":  `there is no port "lnks"`,
		"kind links": `port "" gives text, and this is a *webrace.Links`,
		"kind lnks":  `there is no kind "lnks"`,
		"set title":  `a text has no field "title"`,
	} {
		got := try(t, options("work"), text, "next")
		if len(got.Failures) != 1 || !strings.Contains(got.Failures[0].Error(), want) {
			t.Errorf("%s: %v, want %q", text, got.Failures, want)
		}
		if len(got.Out[""]) != 1 {
			t.Errorf("%s: out %v", text, got.Out)
		}
	}
}

func TestAnItemThatIsTooLargeFails(t *testing.T) {
	got := try(t, options("work", func(o *Options) { o.MaxFrame = 4 << 10 }), strings.Repeat("x", 5000), "next")
	if len(got.Failures) != 1 || !strings.Contains(got.Failures[0].Error(), "max_frame is 4KiB") || len(got.Out[""]) != 1 {
		t.Errorf("%v, %v", got.Failures, got.Out)
	}
}

func TestAFloodOfStandardErrorIsNotAllLogged(t *testing.T) {
	got := try(t, options("work"), "flood", "next")
	if n := got.Counters["stderr_lines_left_out"]; n < 1000 || n > 5000-burst {
		t.Errorf("%d lines of 5000 were left out", n)
	}
	if len(got.Out[""]) != 1 || len(got.Failures) != 0 {
		t.Errorf("%v, %v", got.Out, got.Failures)
	}
}

func TestAProgramThatDoesNotWantToEndIsKilled(t *testing.T) {
	got := try(t, options("ignores SIGTERM", func(o *Options) { o.Grace = pipeline.Duration(50 * time.Millisecond) }), "a")
	if len(got.Out[""]) != 1 {
		t.Errorf("%v", got.Out)
	}
}

func TestRetryGoesBackToTheQueue(t *testing.T) {
	got := try(t, options("work"), "later")
	if len(got.Failures) != 1 || got.Failures[0].Err.Error() != "not now" {
		t.Errorf("without a queue it is an error like any other: %v", got.Failures)
	}
}

func TestProcessesShareTheWork(t *testing.T) {
	inputs := make([]any, 50)
	for i := range inputs {
		inputs[i] = fmt.Sprint(i)
	}
	got := try(t, options("work", func(o *Options) { o.Processes, o.InFlight = 3, 2 }), inputs...)
	if len(got.Out[""]) != 50 {
		t.Errorf("%d of 50", len(got.Out[""]))
	}
}

func TestOneVersionBeforeIsUnderstood(t *testing.T) {
	for _, c := range []struct {
		host, program int
		want          bool
	}{{1, 1, true}, {1, 0, false}, {1, 2, false}, {2, 1, true}, {2, 2, true}, {2, 0, false}, {3, 1, false}} {
		if got := speaks(c.host, c.program); got != c.want {
			t.Errorf("host %d, program %d: %v", c.host, c.program, got)
		}
	}
}

func TestValidate(t *testing.T) {
	if err := options("").Validate(); err != nil {
		t.Error(err)
	}
	for option, change := range map[string]func(*Options){
		"command":   func(o *Options) { o.Command = nil },
		"takes":     func(o *Options) { o.Takes = []string{"documnt"} },
		"gives":     func(o *Options) { o.Gives = append(o.Gives, Output{Kind: "text"}) },
		"processes": func(o *Options) { o.Processes = 0 },
		"in_flight": func(o *Options) { o.InFlight = 0 },
		"max_frame": func(o *Options) { o.MaxFrame = 1 },
		"timeout":   func(o *Options) { o.Timeout = 0 },
		"ready":     func(o *Options) { o.Ready = 0 },
		"grace":     func(o *Options) { o.Grace = 0 },
	} {
		var fault *pipeline.OptionError
		if err := options("", change).Validate(); !errors.As(err, &fault) || fault.Option != option {
			t.Errorf("%s: %v", option, err)
		}
	}
	for _, gives := range []Output{{Kind: "documnt"}, {Port: "errors", Kind: "text"}} {
		if err := options("", func(o *Options) { o.Gives = []Output{gives} }).Validate(); err == nil {
			t.Errorf("%v is taken", gives)
		}
	}
}
