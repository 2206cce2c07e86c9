package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/finding"
	"github.com/webrace/webrace/pipeline/internal/flow"
)

type fetchOptions struct {
	Polite                             // an embedded struct lends its options, and its typos are found too
	UserAgent string                   `toml:"user_agent" doc:"how the crawler names itself"`
	Mode      string                   `toml:"mode" doc:"how it asks" enum:"get,head" deprecated:"fetch=get" meant:"body=get"`
	Retry     retryOptions             `toml:"retry" doc:"what to do with hosts that do not answer"`
	Hosts     []string                 `toml:"hosts" doc:"hosts to ask"`
	Codes     []int8                   `toml:"codes" doc:"statuses to keep"`
	Headers   map[string]string        `toml:"headers" doc:"fields to send"`
	Rules     []ruleOptions            `toml:"rule" doc:"exceptions" deprecated:"exception"`
	Realms    map[string]realmOptions  `toml:"realm" doc:"where passwords are needed"`
	Ratio     float32                  `toml:"ratio" doc:"how much of it"`
	MaxBody   pipeline.Size            `toml:"max_body" doc:"the largest body" deprecated:"max_size,limit"`
	Follow    bool                     `toml:"follow" doc:"whether redirects are followed"`
	Port      uint16                   `toml:"port" doc:"where to listen"`
	computed  map[string]func() string //lint:ignore U1000 a field that is no option
	Ignored   chan int                 `toml:"-"`
}

type Polite struct {
	Delay pipeline.Duration `toml:"delay" doc:"between two requests to a host"`
}

type retryOptions struct {
	Max     int               `toml:"max" doc:"how often" deprecated:"tries"`
	Backoff pipeline.Duration `toml:"backoff" doc:"how long to wait"`
}

type ruleOptions struct {
	Host  string            `toml:"host" doc:"whose"`
	Delay pipeline.Duration `toml:"delay" doc:"its delay"`
}

type realmOptions struct {
	User     string          `toml:"user" doc:"who"`
	Password pipeline.Secret `toml:"password" doc:"what nobody else knows"`
}

func (o fetchOptions) Validate() error {
	var errs []error
	if o.Retry.Max > 10 {
		errs = append(errs, &pipeline.OptionError{Option: "retry.max", Err: errors.New("more than 10 is rude")})
	}
	for i, rule := range o.Rules {
		if rule.Host == "" {
			errs = append(errs, &pipeline.OptionError{Option: fmt.Sprintf("rule[%d].host", i), Err: errors.New("it is empty")})
		}
	}
	if o.Mode == "head" && o.Follow {
		errs = append(errs, errors.New("a head request follows nothing"))
	}
	return errors.Join(errs...)
}

type routeOptions struct {
	Names []string `toml:"ports" doc:"what it has"`
}

func (o routeOptions) Ports() []pipeline.Port {
	var ports []pipeline.Port
	for _, name := range o.Names {
		ports = append(ports, pipeline.Port{Name: name, Kind: pipeline.SameAsInput})
	}
	return ports
}

// configRegistry holds the stage types of the cases in testdata/config.
func configRegistry() *pipeline.Registry {
	r := pipeline.NewRegistry()
	pipeline.RegisterIn(r, toySpec("urds", nil, port("", links)), struct{}{}, none)
	queue := toySpec("frontier", pipeline.Kinds(links), port("", links))
	queue.Queue = true
	pipeline.RegisterIn(r, queue, struct {
		Memory pipeline.Size `toml:"memory" doc:"how much it may use"`
	}{64 << 20}, none)
	fetch := toySpec("fetch", pipeline.Kinds(links), port("", pages), port("redirects", links))
	fetch.Workers = 8
	pipeline.RegisterIn(r, fetch, fetchOptions{
		UserAgent: "toy/1", Mode: "get", Retry: retryOptions{Max: 3, Backoff: pipeline.Duration(day / 2)},
		Hosts: []string{"a.example"}, Headers: map[string]string{"Accept": "*/*"}, MaxBody: 1e6,
	}, none)
	pipeline.RegisterIn(r, toySpec("route", pipeline.Kinds(pipeline.KindOf[any]())), routeOptions{}, none)
	store := toySpec("store", pipeline.Kinds(pages))
	store.Batch = pipeline.Batch{Count: 100, Period: pipeline.Duration(day)}
	pipeline.RegisterIn(r, store, struct{}{}, none)
	pipeline.RegisterIn(r, toySpec("print", pipeline.Kinds(pipeline.KindOf[any]())), struct{}{}, none)
	return r
}

// The cases are archives of the files that are loaded, the main one being pipelines.toml, and perhaps of
// "env", "set" and "run" with one entry a line. "want" is what comes of it: the findings, or, if there
// are none, everything that was understood.
func TestLoadingGivesWhatTheCaseExpects(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/config/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := loadCase(t, archive)
			files := map[string]int{}
			for i, f := range archive.Files {
				files[f.Name] = i
			}
			at, ok := files["want"]
			if testutil.Update() {
				if !ok {
					archive.Files = append(archive.Files, txtar.File{Name: "want"})
					at = len(archive.Files) - 1
				}
				archive.Files[at].Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if !ok || got != string(archive.Files[at].Data) {
				t.Errorf("got:\n%s\nwant:\n%s", got, archive.Files[at].Data)
			}
		})
	}
}

// loadCase loads the files of an archive and describes what comes of it.
func loadCase(t *testing.T, archive *txtar.Archive) string {
	t.Helper()
	dir := t.TempDir()
	o := LoadOptions{Registry: configRegistry()}
	env := map[string]string{}
	for _, f := range archive.Files {
		lines := strings.FieldsFunc(string(f.Data), func(c rune) bool { return c == '\n' })
		switch f.Name {
		case "want":
		case "set":
			o.Set = lines
		case "run":
			o.Run = lines
		case "env":
			for _, line := range lines {
				name, value, _ := strings.Cut(line, "=")
				env[name] = value
			}
		default:
			path := filepath.Join(dir, f.Name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, f.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	o.Env = func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
	var out bytes.Buffer
	config, err := Load(filepath.Join(dir, "pipelines.toml"), o)
	var found finding.List
	switch {
	case errors.As(err, &found):
		if err := found.Format(&out, false); err != nil {
			t.Fatal(err)
		}
	case err != nil:
		t.Fatal(err)
	default:
		describe(&out, config)
	}
	return strings.ReplaceAll(asInCases(out.String()), dir+string(filepath.Separator), "")
}

func describe(out *bytes.Buffer, c *Config) {
	fmt.Fprintf(out, "data %s\nfiles %s\n", c.Data, strings.Join(c.Files, " "))
	_ = c.Warnings.Format(out, false) // into memory
	for _, p := range c.Pipelines {
		g, err := c.Graph(p.Name)
		if err != nil {
			fmt.Fprintf(out, "%s: %v\n", p.Name, err)
			continue
		}
		fmt.Fprintf(out, "%s: pipeline %s %q\n", p.Pos, p.Name, p.Title)
		for _, s := range g.Stages {
			fmt.Fprintf(out, "  %s: %s %+v\n    %+v\n", s.Pos, s.Name, s.Common, s.Options)
		}
		for _, e := range g.Edges {
			fmt.Fprintf(out, "  %s: %s > %s\n", e.Pos, flow.Ref{Stage: e.From, Port: e.Port}, e.To)
		}
	}
}
