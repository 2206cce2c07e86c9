package config

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/finding"
)

type answers struct {
	Early   bool              `toml:"early" doc:"before items are done"`
	Timeout pipeline.Duration `toml:"timeout" doc:"how long it waits for them"`
}

func (a answers) Answers() pipeline.Answering {
	if a.Early {
		return pipeline.Answering{Option: "early"}
	}
	return pipeline.Answering{Within: a.Timeout, Option: "timeout"}
}

// answersRegistry has a source that answers within 30 s, and what may stand behind it: "keep" lets go after two
// minutes, "group" after one, and "release" does so at once.
func answersRegistry() *pipeline.Registry {
	r := capacityRegistry()
	pipeline.RegisterIn(r, toySpec("in", nil, port("", links)), answers{Timeout: pipeline.Duration(30 * time.Second)}, none)
	pipeline.RegisterIn(r, toySpec("release", pipeline.Kinds(links), port("", links)), holds{}, none)
	pipeline.RegisterIn(r, toySpec("wait", pipeline.Kinds(links), port("", links)), holds{Period: pipeline.UntilMore}, none)
	pipeline.RegisterIn(r, toySpec("drop", pipeline.Kinds(links)), struct{}{}, none)
	failures := toySpec("failures", pipeline.Kinds(pipeline.KindOf[any]()))
	failures.Batch = pipeline.Batch{Count: 10, Period: pipeline.Duration(time.Hour)}
	pipeline.RegisterIn(r, failures, struct{}{}, none)
	return r
}

func TestSourcesThatAnswerTooEarlyOrTooLate(t *testing.T) {
	t.Parallel()
	lossy := func(ends string) string {
		return `warning: stage "in" answers before its items are done (option early), and no queue stands between it and ` + ends +
			`: a crash loses what is in flight: put a queue behind it, or let the answer wait`
	}
	late := func(stage, long string) string {
		return fmt.Sprintf(`warning: stage "%s" keeps items %s, and "in" answers after 30s (option timeout): `+
			`its sender sends them again, and each repeat is counted: put a queue between them, or let the answer wait for longer`, stage, long)
	}
	const early = `in = { early = true }`
	r := answersRegistry()
	for _, c := range []struct{ flow, stages, want string }{
		{`"in > sink"`, early, "x.toml:4:26: " + lossy(`"sink"`)},
		{`"in > one > sink", "one.more > many > group"`, early, "x.toml:4:26: " + lossy(`"sink", "group"`)},
		{`"in > queue, sink", "queue > group"`, early, "x.toml:4:26: " + lossy(`"sink"`)},
		{`"in > keep > sink"`, early, "x.toml:4:26: " + lossy(`"sink"`)}, // nobody waits for what is kept
		{`"in > queue > sink"`, early, ""},
		{`"in > one > queue > sink", "one.more > queue"`, early, ""},
		{`"in > one > queue > sink", "one.more > drop"`, early, ""},
		{`"in > one > queue > drop", "one.errors > failures"`, early, ""},
		{`"in > sink"`, "", ""},
		{`"source > sink"`, "", ""}, // it says nothing

		{`"in > keep > sink"`, "", "x.toml:3:15: " + late("keep", "for 2m")},
		{`"in > keep > sink"`, `keep = { period = "30s" }`, "x.toml:3:15: " + late("keep", "for 30s")},
		{`"in > wait > sink"`, "", "x.toml:3:15: " + late("wait", "until more comes")},
		{`"in > one > group", "one.more > sink"`, "", "x.toml:3:21: " + late("group", "for 1m")},
		{`"in > group, keep", "keep > group"`, "", "x.toml:3:15: " + late("group", "for 1m") + "\nx.toml:3:22: " + late("keep", "for 2m")},
		{`"in > keep > sink"`, `keep = { period = "29s" }`, ""},
		{`"in > keep > sink"`, `keep = { count = 1 }`, ""}, // it has enough with each
		{`"in > keep > sink"`, `in = { timeout = "3m" }`, ""},
		{`"in > queue > keep > sink"`, `queue = { leases = 500 }`, ""},
		{`"in > release > keep > sink"`, "", ""},
		{`"in > one > sink", "one.errors > failures"`, "", ""},
		{`"source > keep > sink"`, "", ""},
	} {
		loaded, err := Parse("x.toml", fmt.Appendf(nil, "version = 1\n[pipeline.p]\nflow = [%s]\nstage = { %s }\n", c.flow, c.stages), LoadOptions{Registry: r})
		if err != nil {
			t.Errorf("%s %s: %v", c.flow, c.stages, err)
			continue
		}
		got := ""
		if len(loaded.Warnings) > 0 {
			got = loaded.Warnings.Error()
		}
		for _, f := range loaded.Warnings {
			if !strings.HasPrefix(f.Path, "pipeline.p.") || (f.Code == finding.CodeLossy) != (c.stages == early) {
				t.Errorf("%s %s: %s at %s: %s", c.flow, c.stages, f.Code, f.Path, f.Message)
			}
		}
		if got != c.want {
			t.Errorf("%s %s:\n%s\nwant\n%s", c.flow, c.stages, got, c.want)
		}
	}
}
