package storecmd

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/xmlschema"
)

// judge has a model asked what the URDs want to know, if that is wanted, by the stage that does so in the pipeline of
// the first of them. What it returns ends that.
func (f *rematchFlags) judge(c *cobra.Command, globals *cli.Globals, dir *storage.Dir, r *explain.Rematch) (end func(), err error) {
	i := slices.IndexFunc(r.Interests, func(i *explain.Rematched) bool { return i.URD.Ask != "" })
	switch {
	case i < 0:
		return func() {}, nil
	case !f.ask:
		note(c, "no model is asked: --ask has what URDs ask (urd/ask) answered, and leaves out what is answered no")
		return func() {}, nil
	}
	name, stage, err := globals.StageAsking(r.Interests[i].URD)
	switch {
	case err != nil:
		return nil, err
	case stage == nil:
		return nil, cli.Wrongf("--ask: %s", cli.Unasked)
	}
	made, err := stage.Make(pipeline.NewEnv(name, stage.Name, lentTo(dir)))
	if err != nil {
		return nil, err
	}
	if err := made.(pipeline.Opener).Open(c.Context()); err != nil {
		return nil, cli.Wrong(err)
	}
	r.Judge = func(ctx context.Context, aci *xmlschema.ACI) (judged *xmlschema.ACI, err error) {
		done := pipeline.ProcessOne(ctx, made.(pipeline.Processor), aci, func(port string, value any) error {
			if port == "" {
				judged = value.(*xmlschema.ACI)
			}
			return nil
		})
		return judged, done.Err
	}
	return func() { _ = made.(pipeline.Closer).Close() }, nil
}

// lentTo is what a stage is lent that runs by itself.
func lentTo(dir *storage.Dir) *pipeline.Resources {
	resources := new(pipeline.Resources)
	pipeline.Provide(resources, dir)
	pipeline.Provide[pipeline.OpenStates](resources, func() (pipeline.States, error) { return dir.States() })
	pipeline.Provide[credentials.Open](resources, func() (credentials.Source, error) { return dir.Control() })
	return resources
}
