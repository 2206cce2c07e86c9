package exec

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/finding"
	"github.com/webrace/webrace/pipeline/gostreams"
)

// faultsOf opens the stage, and returns what is wrong with its options.
func faultsOf(t *testing.T, o Options) map[string]string {
	t.Helper()
	impl, err := newStage(o, pipeline.NewEnv("p", "shout", nil))
	if err != nil {
		t.Fatal(err)
	}
	s := impl.(*stage)
	err = s.Open(t.Context())
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	each := []error{err}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		each = many.Unwrap()
	}
	faults := make(map[string]string)
	for _, one := range each {
		var fault *pipeline.OptionError
		if !errors.As(one, &fault) {
			t.Fatalf("%v is about no option", one)
		}
		faults[fault.Option] = fault.Err.Error()
	}
	return faults
}

func TestWhatAProgramSaysOfItselfIsAboutOptions(t *testing.T) {
	t.Parallel()
	given := func(table pipeline.Table) func(*Options) { return func(o *Options) { o.Options = table } }
	for name, c := range map[string]struct {
		options Options
		want    map[string]string
	}{
		"takes and gives": {options("drift"), map[string]string{
			"takes": `set takes = ["aci"]`, "gives": `set gives = [{ kind = "text" }, { port = "x", kind = "links" }]`,
		}},
		"unknown options": {options("knows", given(pipeline.Table{"volme": 1, "mark": 2, "other": 3})), map[string]string{
			"options.volme": `it has no option "volme" (did you mean volume?)`, "options.other": `it has no option "other" (there are mark, volume)`,
		}},
		"a value":    {options("refuse value", given(pipeline.Table{"volume": 12})), map[string]string{"options.volume": "it refuses to work: volume is 11 at most"}},
		"no program": {options("", func(o *Options) { o.Command = []string{"no-such-program"} }), map[string]string{"command": "start the program"}},
		"in Python":  {python(t, shout), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := c.options
			if c.want == nil {
				o.Options = pipeline.Table{"volme": int64(1)}
				c.want = map[string]string{"options.volme": "there is no option 'volme'"}
			}
			got := faultsOf(t, o)
			if len(got) != len(c.want) {
				t.Errorf("faults %v", got)
			}
			for option, says := range c.want {
				if !strings.Contains(got[option], says) || !strings.HasPrefix(got[option], o.Command[0]) {
					t.Errorf("%s: %q, want %q", option, got[option], says)
				}
			}
		})
	}
}

func TestOptionsOfWhichAProgramSaysNothingAreItsOwn(t *testing.T) {
	t.Parallel()
	got := try(t, options("work", func(o *Options) { o.Options = pipeline.Table{"anything": int64(1)} }), "volume")
	if len(got.Failures) != 0 || len(got.Out[""]) != 1 || got.Out[""][0] != `{"anything":1}` {
		t.Errorf("%v, failures %v", got.Out, got.Failures)
	}
}

func init() {
	pipeline.Register(pipeline.Spec{Type: "texts", Summary: "gives texts", Out: []pipeline.Port{{Kind: pipeline.KindOf[string](), Doc: "a text"}}},
		struct{}{}, func(struct{}, *pipeline.Env) (any, error) { return gostreams.FromSource(texts("x")), nil })
}

// TestCheckSaysTheLineOfAnOptionThatAProgramDoesNotKnow is what lint cannot find, as it runs no program.
func TestCheckSaysTheLineOfAnOptionThatAProgramDoesNotKnow(t *testing.T) {
	t.Parallel()
	source := strings.Join([]string{
		"version = 1", "[pipeline.p]", `flow = ["texts > shout"]`, "[pipeline.p.stage.shout]", `type = "exec"`,
		"command = ['" + os.Args[0] + "']", `env = { PROGRAM = "knows" }`, `takes = ["text"]`, `gives = []`,
		"[pipeline.p.stage.shout.options]", "volume = 1", "volme = 2",
	}, "\n")
	config, err := config.Parse("pipelines.toml", []byte(source), config.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	graph, err := config.Graph("p")
	if err != nil {
		t.Fatal(err)
	}
	found, _ := graph.Probe(t.Context(), pipeline.RunOptions{}, time.Minute)
	if len(found) != 1 || found[0].Pos.Line != 12 || found[0].Code != finding.CodeEnvironment || !strings.Contains(found[0].Message, `it has no option "volme" (did you mean volume?)`) {
		t.Errorf("found %+v", found)
	}
}
