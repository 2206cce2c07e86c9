package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/finding"
)

type lends struct {
	Leases int `toml:"leases" doc:"that may be out"`
}

func (l lends) Lends() (int, string) { return l.Leases, "leases" }

type holds struct {
	Count  int               `toml:"count" doc:"items"`
	Period pipeline.Duration `toml:"period" doc:"time"`
}

func (h holds) Holds() pipeline.Holding {
	return pipeline.Holding{Items: h.Count, Option: "count", For: h.Period}
}

// capacityRegistry has a queue that lends 16, and stages that keep items behind it.
func capacityRegistry() *pipeline.Registry {
	r := pipeline.NewRegistry()
	single := func(spec pipeline.Spec) pipeline.Spec { spec.Single = true; return spec }
	queue := toySpec("queue", pipeline.Kinds(links), port("", links))
	queue.Queue = true
	pipeline.RegisterIn(r, toySpec("source", nil, port("", links)), struct{}{}, none)
	pipeline.RegisterIn(r, queue, lends{16}, func(lends, *pipeline.Env) (any, error) { return nil, nil })
	pipeline.RegisterIn(r, single(toySpec("one", pipeline.Kinds(links), port("", links), port("more", links), port("same", pipeline.SameAsInput))), struct{}{}, none)
	pipeline.RegisterIn(r, toySpec("many", pipeline.Kinds(links), port("", links)), struct{}{}, none)
	pipeline.RegisterIn(r, toySpec("keep", pipeline.Kinds(links), port("", links)), holds{500, pipeline.Duration(2 * time.Minute)}, func(holds, *pipeline.Env) (any, error) { return nil, nil })
	group := toySpec("group", pipeline.Kinds(links))
	group.Batch = pipeline.Batch{Count: 100, Period: pipeline.Duration(time.Minute)}
	pipeline.RegisterIn(r, group, struct{}{}, none)
	pipeline.RegisterIn(r, toySpec("sink", pipeline.Kinds(links)), struct{}{}, none)
	return r
}

func TestAStageThatWaitsForMoreThanAQueueLendsIsFound(t *testing.T) {
	t.Parallel()
	const found = `stage "keep" waits for 500 items, and queue "queue" hands out no more than 16 before they are dealt with, so it never has enough: ` +
		`set queue.leases to 500 at least, or keep.count to 16 at most`
	for _, c := range []struct{ flow, stages, want string }{
		{`"source > queue > keep > sink"`, ``, "x.toml:3:27: " + found},
		{`"source > queue > keep > sink"`, `keep = { count = 500 }`, "x.toml:4:28: " + found},
		{`"source > queue > one > keep > sink"`, ``, "x.toml:3:33: " + found},
		{`"source > queue > one > sink", "one.same > keep > sink"`, ``, "x.toml:3:52: " + found},
		{`"source > queue > group"`, `group = { batch = { period = "2m" } }`,
			`x.toml:4:29: stage "group" waits for 100 items, and queue "queue" hands out no more than 16 before they are dealt with, so it never has enough: ` +
				`set queue.leases to 100 at least, or group.batch.count to 16 at most`},
		{`"source > queue > group"`, `group = { batch = { period = "2m", count = 16 } }`, ""},
		{`"source > queue > group"`, ``, ""}, // it does not wait for long
		{`"source > queue > keep > sink"`, `keep = { count = 16 }`, ""},
		{`"source > queue > keep > sink"`, `queue = { leases = 500 }`, ""},
		{`"source > queue > keep > sink"`, `keep = { period = "1m" }`, ""},
		{`"source > queue > many > keep > sink"`, ``, ""},
		{`"source > queue > one > sink", "one.more > keep > sink"`, ``, ""},
		{`"source > queue > one, keep", "one > keep > sink"`, ``, ""},
		{`"source > queue > keep > sink", "source > keep"`, ``, ""},
		{`"source > keep > queue > sink"`, ``, ""},
	} {
		_, err := Parse("x.toml", fmt.Appendf(nil, "version = 1\n[pipeline.p]\nflow = [%s]\nstage = { %s }\n", c.flow, c.stages), LoadOptions{Registry: capacityRegistry()})
		got := ""
		var findings finding.List
		if errors.As(err, &findings) {
			got = findings.Error()
			for _, f := range findings {
				if f.Code != finding.CodeCapacity || !strings.HasPrefix(f.Path, "pipeline.p.") {
					t.Errorf("%s %s: %s at %s: %s", c.flow, c.stages, f.Code, f.Path, f.Message)
				}
			}
		}
		if got != c.want {
			t.Errorf("%s %s:\n%s\nwant\n%s", c.flow, c.stages, got, c.want)
		}
	}
}
