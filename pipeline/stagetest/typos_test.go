package stagetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

type Polite struct {
	Delay pipeline.Duration `toml:"delay" doc:"between two requests to a host"`
}

// politeOptions has an option of each form in which options lie in one another.
type politeOptions struct {
	Polite
	UserAgent string `toml:"user_agent" doc:"how the crawler names itself"`
	Retry     struct {
		Max int `toml:"max" doc:"how often"`
	} `toml:"retry" doc:"what to do with hosts that do not answer"`
	Rules []struct {
		Host string `toml:"host" doc:"whose"`
	} `toml:"rule" doc:"exceptions"`
	Realms map[string]struct {
		Password pipeline.Secret `toml:"password" doc:"what is kept from others"`
	} `toml:"realm" doc:"where passwords are needed"`
}

// unmade is the constructor of stages that no test starts.
func unmade[O any](O, *pipeline.Env) (any, error) { return nil, errors.New("no test starts it") }

// typoRegistry has a stage with options of its own, one that takes groups, and one without options.
func typoRegistry() *pipeline.Registry {
	r := pipeline.NewRegistry()
	pipeline.RegisterIn(r, pipeline.Spec{Type: "fetch", Summary: "is a toy"}, politeOptions{}, unmade)
	store := pipeline.Spec{Type: "store", Summary: "is a toy", Batch: pipeline.Batch{Count: 100, Period: pipeline.Duration(time.Hour)}}
	pipeline.RegisterIn(r, store, struct{}{}, unmade)
	pipeline.RegisterIn(r, pipeline.Spec{Type: "print", Summary: "is a toy"}, struct{}{}, unmade)
	return r
}

func TestEveryMisspeltOptionIsFound(t *testing.T) {
	t.Parallel()
	r := typoRegistry()
	cases := TypoCases(r)
	var names []string
	for _, c := range cases {
		names = append(names, c.Name)
		if err := c.Verify(r); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"fetch.delay", "fetch.retry.max", "fetch.rule.host", "fetch.realm.password", "store.batch.count", "print.workers"} {
		if !slices.Contains(names, name) {
			t.Errorf("no case for %s in %q", name, names)
		}
	}
	if slices.Contains(names, "fetch.batch.count") {
		t.Error("a case for an option that fetch does not have")
	}
}

func TestAMisspeltOptionThatIsNotFoundIsNoticed(t *testing.T) {
	t.Parallel()
	lenient := pipeline.NewRegistry()
	pipeline.RegisterIn(lenient, pipeline.Spec{Type: "fetch", Summary: "is a toy"}, struct {
		Ddelay int `toml:"ddelay" doc:"an option of the name that a case takes for a typo"`
	}{}, unmade)
	for _, c := range TypoCases(typoRegistry()) {
		if c.Name == "fetch.delay" && c.Verify(lenient) == nil {
			t.Error("Verify is content although nothing was found")
		}
	}
}
