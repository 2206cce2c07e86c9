package pipelinetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
)

// registry has stages of texts: a source, one that shouts and fails on "bad", and one that never ends.
func registry() *pipeline.Registry {
	r := pipeline.NewRegistry()
	text := pipeline.KindOf[string]()
	out := []pipeline.Port{{Kind: text}, {Name: "quiet", Kind: text, Doc: "what was quiet"}}
	pipeline.RegisterIn(r, pipeline.Spec{Type: "words", Summary: "gives words", Out: out[:1]}, struct {
		Words []string `toml:"words" doc:"the words"`
	}{}, func(o struct {
		Words []string `toml:"words" doc:"the words"`
	}, _ *pipeline.Env) (any, error) {
		var all source
		for _, w := range o.Words {
			all = append(all, w)
		}
		return all, nil
	})
	pipeline.RegisterIn(r, pipeline.Spec{Type: "shout", Summary: "shouts", In: pipeline.Kinds(text), Out: out, Workers: 8}, struct{}{},
		func(struct{}, *pipeline.Env) (any, error) { return shout{}, nil })
	pipeline.RegisterIn(r, pipeline.Spec{Type: "hang", Summary: "hangs", In: pipeline.Kinds(text)}, struct{}{},
		func(struct{}, *pipeline.Env) (any, error) { return hang{}, nil })
	pipeline.RegisterIn(r, pipeline.Spec{Type: "mail", Summary: "mails", In: pipeline.Kinds(text), Effect: "mail it"}, struct{}{},
		func(struct{}, *pipeline.Env) (any, error) { return nil, errors.New("a test mails") })
	pipeline.RegisterIn(r, pipeline.Spec{Type: "end", Summary: "takes all", In: anything}, struct{}{},
		func(struct{}, *pipeline.Env) (any, error) { return end{}, nil })
	return r
}

type shout struct{}

func (shout) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	text := it.Value.(string)
	switch {
	case text == "bad":
		return errors.New("it is bad")
	case strings.HasPrefix(text, "("):
		return out.EmitTo(ctx, "quiet", it)
	}
	return out.Emit(ctx, it.With(strings.ToUpper(text)))
}

type hang struct{}

func (hang) Process(ctx context.Context, _ *pipeline.Item, _ pipeline.Emitter) error {
	<-ctx.Done()
	return ctx.Err()
}

type end struct{}

func (end) Process(context.Context, *pipeline.Item, pipeline.Emitter) error { return nil }

const pipelines = `version = 1
[pipeline.p]
flow = ["words > shout > end", "shout.quiet > end"]
[pipeline.p.stage.words]
words = ["a", "(b)", "c"]
[pipeline.h]
flow = ["words > hang"]
[pipeline.mails]
flow = ["words > mail"]
`

// try runs the one test of a file, which begins at line 1, and returns what fails, a failure a line.
func try(t *testing.T, test string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "pipelines.toml")
	for name, text := range map[string]string{"pipelines.toml": pipelines, "p_test.toml": test, "body.txt": "from a file"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	load := func(o config.LoadOptions) (*config.Config, error) {
		o.Registry = registry()
		return config.Load(path, o)
	}
	loaded, err := load(config.LoadOptions{Tests: true, Run: []string{}})
	if err != nil {
		return strings.ReplaceAll(err.Error(), dir+"/", "")
	}
	if len(loaded.Tests) != 1 {
		t.Fatalf("%d tests were read", len(loaded.Tests))
	}
	var b strings.Builder
	for _, f := range Run(t.Context(), loaded.Tests[0], Options{Load: load, Limit: time.Minute, Refuse: map[string]string{"hang": "hangs"}}).Failures {
		b.WriteString(f.Error() + "\n" + f.Detail)
	}
	return strings.TrimSpace(strings.ReplaceAll(b.String(), dir+"/", ""))
}

const head = "[[test]]\nname = \"n\"\npipeline = \"p\"\n"

func TestWhatIsAsExpectedPasses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]string{
		"a whole pipeline":     "[[test.expect]]\nfrom = \"shout\"\ncount = 2\n[[test.expect]]\nfrom = \"shout.quiet\"\nequals = { body = \"(b)\" }\n",
		"the order of items":   "[[test.expect]]\nfrom = \"shout\"\nitem = 2\nequals = { body = \"C\" }\n",
		"an option":            "set = [\"words.words=x\"]\n[[test.expect]]\nfrom = \"shout\"\ncount = 1\nequals = { body = \"X\" }\n",
		"a part":               "run = \"shout > end\"\n[[test.in]]\nstage = \"shout\"\nbody = \"x\"\n[[test.expect]]\nfrom = \"shout\"\nequals = { body = \"X\" }\n",
		"one stage":            "run = \"shout\"\n[[test.in]]\nstage = \"shout\"\nbody_file = \"body.txt\"\n[[test.expect]]\nfrom = \"shout\"\ncontains = { body = \"A FILE\" }\n",
		"a fixture":            "[[test.fixture.shout]]\nwhen = { body = \"a\" }\nbody = \"z\"\n[[test.fixture.shout]]\ndrop = true\n[[test.expect]]\nfrom = \"shout\"\ncount = 1\nmatches = { body = \"^z$\" }\n",
		"a source replaced":    "[[test.fixture.words]]\nbody = \"w\"\n[[test.expect]]\nfrom = \"shout\"\nthat = \"body == 'W'\"\n",
		"a choice":             "[[test.expect]]\nfrom = \"shout\"\nwhere = \"body > 'B'\"\ncount = 1\n",
		"a failure":            "run = \"shout\"\n[[test.in]]\nstage = \"shout\"\nbody = \"bad\"\n[[test.expect]]\nfrom = \"shout.errors\"\nequals = { error = \"it is bad\", stage = \"shout\" }\n",
		"nothing":              "run = \"shout\"\n[[test.in]]\nstage = \"shout\"\nbody = \"x\"\n[[test.expect]]\nfrom = \"shout.quiet\"\ncount = 0\n",
		"XML":                  "run = \"shout\"\n[[test.in]]\nstage = \"shout\"\nbody = \"(<a><b>1</b></a>\"\n[[test.expect]]\nfrom = \"shout.quiet\"\ncount = 1\n",
		"what selects in XML":  "[[test.fixture.words]]\nbody = \"<a><b c='1'>x</b></a>\"\n[[test.expect]]\nfrom = \"words\"\nxpath = { \"//b\" = \"x\", \"//b/@c\" = 1, \"count(//b)\" = \"1\" }\n",
		"another kind of item": "run = \"end\"\n[[test.in]]\nstage = \"end\"\nkind = \"json\"\nx = 1\n[[test.expect]]\nfrom = \"end.errors\"\ncount = 0\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if failed := try(t, head+test); failed != "" {
				t.Error(failed)
			}
		})
	}
}

func TestWhatIsNotAsExpectedFailsAtItsPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ test, want string }{
		"a count": {"[[test.expect]]\nfrom = \"shout\"\ncount = 3\n",
			"p_test.toml:6:9: expected 3 from shout, and there are 2\n  came: {\"body\":\"A\"}\n  came: {\"body\":\"C\"}"},
		"none":     {"[[test.expect]]\nfrom = \"shout\"\nwhere = \"body == 'x'\"\n", "p_test.toml:5:8: expected at least 1 item from shout where body == 'x', and there are 0"},
		"an item":  {"[[test.expect]]\nfrom = \"shout\"\nitem = 3\n", "p_test.toml:6:8: there are 2 items from shout, and no item 3"},
		"equal":    {"[[test.expect]]\nfrom = \"shout\"\nitem = 1\nequals = { body = \"B\" }\n", "p_test.toml:7:19: item 1 of 2 from shout: body is not as expected\n  - \"B\"\n  + \"A\""},
		"contains": {"[[test.expect]]\nfrom = \"shout\"\nitem = 1\ncontains = { body = \"B\" }\n", "p_test.toml:7:21: item 1 of 2 from shout: body is not as expected\n  - contains \"B\"\n  + \"A\""},
		"matches":  {"[[test.expect]]\nfrom = \"shout\"\nitem = 1\nmatches = { body = \"^B\" }\n", "p_test.toml:7:20: item 1 of 2 from shout: body is not as expected\n  - matches ^B\n  + \"A\""},
		"pattern":  {"[[test.expect]]\nfrom = \"shout\"\nitem = 1\nmatches = { body = \"(\" }\n", "p_test.toml:7:20: error parsing regexp"},
		"that":     {"[[test.expect]]\nfrom = \"shout\"\nitem = 1\nthat = \"body == 'B'\"\n", "p_test.toml:7:8: item 1 of 2 from shout: it is not true that body == 'B'\n  body is \"A\""},
		"grammar":  {"[[test.expect]]\nfrom = \"shout\"\nthat = \"body ==\"\n", "p_test.toml:6:8: "},
		"XPath":    {"[[test.fixture.words]]\nbody = \"<a>1</a>\"\n[[test.expect]]\nfrom = \"words\"\nxpath = { \"//a\" = \"2\" }\n", "p_test.toml:8:19: item 1 of 1 from words: //a is not as expected\n  - \"2\"\n  + \"1\""},
		"no XML":   {"[[test.fixture.words]]\nbody = \"<a\"\n[[test.expect]]\nfrom = \"words\"\nxpath = { \"//a\" = \"2\" }\n", "p_test.toml:8:9: item 1 of 1 from words is no XML"},
		"a field":  {"[[test.expect]]\nfrom = \"shout\"\nitem = 1\nequals = { bodi = \"A\" }\n", "p_test.toml:7:19: item 1 of 2 from shout has no field \"bodi\" (did you mean body?)"},
		"a stage":  {"[[test.expect]]\nfrom = \"shouts\"\n", "p_test.toml:5:8: pipeline \"p\" has no stage \"shouts\" (did you mean shout?)"},
		"a port":   {"[[test.expect]]\nfrom = \"shout.quit\"\n", "p_test.toml:5:8: stage \"shout\" has no output port \"quit\" (did you mean quiet?)"},
		"an error": {"run = \"shout\"\n[[test.in]]\nstage = \"shout\"\nbody = \"bad\"\n[[test.expect]]\nfrom = \"shout\"\ncount = 0\n", "p_test.toml:1:3: stage shout failed on an item: it is bad\n  the item: \"bad\""},
		"no answer": {"[[test.fixture.shout]]\nwhen = { body = \"a\" }\ndrop = true\n[[test.expect]]\nfrom = \"words\"\n",
			"p_test.toml:1:3: stage shout failed on an item: the fixture has no answer for it: add one, or one with drop = true\n  the item: \"(b)\"\np_test.toml:1:3: stage shout failed"},
		"an input's field":  {"run = \"shout\"\n[[test.in]]\nstage = \"shout\"\nurl = \"x\"\n[[test.expect]]\nfrom = \"shout\"\n", "p_test.toml:7:7: a text has no field \"url\""},
		"an input's stage":  {"[[test.in]]\nstage = \"shot\"\n[[test.expect]]\nfrom = \"shout\"\n", "p_test.toml:5:9: pipeline \"p\" has no stage \"shot\" (did you mean shout?)"},
		"a source's input":  {"[[test.in]]\nstage = \"words\"\n[[test.expect]]\nfrom = \"shout\"\n", "p_test.toml:5:9: stage \"words\" is a source and takes no items"},
		"an unknown kind":   {"run = \"end\"\n[[test.in]]\nstage = \"end\"\n[[test.expect]]\nfrom = \"end.errors\"\n", "p_test.toml:5:8: it is not known of which kind the item is: say kind"},
		"a run":             {"run = \"shout > nowhere\"\n[[test.expect]]\nfrom = \"shout\"\n", "p_test.toml:4:7: pipeline \"p\" has no stage \"nowhere\""},
		"a run of nothing":  {"run = \"shout\"\n[[test.expect]]\nfrom = \"shout\"\n", "p_test.toml:4:7: nothing leads to stage \"shout\", which is no source"},
		"an override":       {"set = [\"words.word=x\"]\n[[test.expect]]\nfrom = \"shout\"\n", "p_test.toml:4:"},
		"a fixture's port":  {"[[test.fixture.shout]]\nport = \"quit\"\n[[test.expect]]\nfrom = \"shout\"\n", "p_test.toml:5:8: stage \"shout\" has no output port \"quit\" (did you mean quiet?)"},
		"a fixture's stage": {"[[test.fixture.shot]]\ndrop = true\n[[test.expect]]\nfrom = \"shout\"\n", "p_test.toml:4:16: pipeline \"p\" has no stage \"shot\" (did you mean shout?)"},

		"a key":           {"[[test.expect]]\nfrm = \"shout\"\n", "p_test.toml:4:8: an expectation names the stage, or the port, that its items leave: from = \"…\"\np_test.toml:5:1: an expectation has no \"frm\""},
		"a type":          {"run = 1\n[[test.expect]]\nfrom = \"shout\"\n", "p_test.toml:4:7: run is a string, not an integer"},
		"no expectation":  {"", "p_test.toml:1:3: a test that expects nothing cannot fail"},
		"a file":          {"[[test.in]]\nstage = \"shout\"\nbody_file = \"no\"\n[[test.expect]]\nfrom = \"shout\"\n", "p_test.toml:6:13: body_file: open no: no such file"},
		"a contradiction": {"[[test.expect]]\nfrom = \"shout\"\ncount = 0\nthat = \"true\"\n", "p_test.toml:6:9: nothing can be said of items of which there are none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if failed := try(t, head+c.test); !strings.HasPrefix(failed, c.want) {
				t.Errorf("it says:\n%s\nwant:\n%s", failed, c.want)
			}
		})
	}
}

func TestAStageThatIsRefusedMustBeReplaced(t *testing.T) {
	t.Parallel()
	test := "[[test]]\nname = \"n\"\npipeline = \"h\"\n"
	expect := "[[test.expect]]\nfrom = \"words\"\n"
	words := "[[test.fixture.words]]\nbody = \"w\"\n"
	if failed := try(t, test+words+expect); !strings.Contains(failed, `stage "hang" hangs, which a test does not: say what stands in for it by [[test.fixture.hang]]`) {
		t.Error(failed)
	}
	if failed := try(t, test+words+"[[test.fixture.hang]]\ndrop = true\n"+expect); failed != "" {
		t.Error(failed)
	}
	mails := "[[test]]\nname = \"n\"\npipeline = \"mails\"\n"
	if failed := try(t, mails+words+expect); !strings.Contains(failed, `stage "mail" would mail it, which a test does not`) {
		t.Error(failed)
	}
	if failed := try(t, mails+words+"[[test.fixture.mail]]\ndrop = true\n"+expect); failed != "" {
		t.Error(failed)
	}
}

func TestATestThatDoesNotEndFails(t *testing.T) {
	t.Parallel()
	loaded, err := config.Parse("pipelines.toml", []byte(pipelines+`[[test]]
name = "n"
pipeline = "h"
set = ["words.words=a"]
expect = [{ from = "words" }]
`), config.LoadOptions{Registry: registry(), Tests: true})
	if err != nil {
		t.Fatal(err)
	}
	load := func(o config.LoadOptions) (*config.Config, error) {
		o.Registry = registry()
		return config.Parse("pipelines.toml", []byte(pipelines), o)
	}
	got := Run(t.Context(), loaded.Tests[0], Options{Load: load, Limit: 50 * time.Millisecond})
	if len(got.Failures) != 1 || !strings.Contains(got.Failures[0].Message, "it does not end within 50ms; stages that hold items: hang") {
		t.Errorf("%+v", got.Failures)
	}
}

func TestAFixtureCarriesOverWhatItDoesNotSay(t *testing.T) {
	t.Parallel()
	f := &pipeline.Failure{Stage: "s", Attempts: 3, Err: errors.New("why")}
	a := answer{kind: "failure", fields: pipeline.Table{"error": "other"}}
	v, err := a.value(f)
	if err != nil {
		t.Fatal(err)
	}
	got := v.(*pipeline.Failure)
	if got.Stage != "s" || got.Attempts != 3 || got.Err.Error() != "other" {
		t.Errorf("%+v", got)
	}
}
