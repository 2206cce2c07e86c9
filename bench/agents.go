package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline"
	pipelines "github.com/webrace/webrace/pipeline/config"
	_ "github.com/webrace/webrace/stages/all"
	"github.com/webrace/webrace/xmlschema"
)

// benchAgents measures the stages that read sources which are not of the web, beside the loops that one would write
// with the same libraries. The servers are processes of their own, whose CPU time is nobody's.
func benchAgents(b *bench) (err error) {
	dir, err := os.MkdirTemp("", "webrace-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var h harness
	defer func() { err = errors.Join(err, h.end(recover())) }()
	authority, err := testutil.NewAuthority()
	if err != nil {
		return err
	}
	trusted, err := authority.Write(dir)
	if err != nil {
		return err
	}
	os.Setenv("SSL_CERT_FILE", trusted) // is read at the first handshake
	programs := agentPrograms{dir: dir}
	if err := programs.build(); err != nil {
		return err
	}
	if b.wants("rows") {
		if err := b.rows(&h, programs); err != nil {
			return fmt.Errorf("rows: %w", err)
		}
	}
	if b.wants("memory") {
		if err := b.memoryOfAMailbox(programs); err != nil {
			return fmt.Errorf("memory: %w", err)
		}
	}
	if b.wants("mail") {
		if err := b.mail(&h, authority, programs); err != nil {
			return fmt.Errorf("mail: %w", err)
		}
	}
	return nil
}

// visits has a stage that reads sources make visits in a pipeline of its own, one after the other: what it emits is
// dropped. It returns how many documents came of them.
func visits(kind, options string, secret lent, sources ...string) (documents int, err error) {
	stage, err := stageOf(kind, options)
	if err != nil {
		return 0, err
	}
	g := pipeline.NewGraph("bench")
	source := pipeline.Spec{Type: "requests", Summary: "s", Out: []pipeline.Port{{Kind: pipeline.KindOf[webrace.Request]()}}}
	var failure error
	g.AddStage("requests", source, func(*pipeline.Env) (any, error) {
		return requests(func(ctx context.Context, out pipeline.Emitter) error {
			for _, url := range sources {
				ended := make(chan struct{})
				it := pipeline.NewItem(requestOf(url), func(o pipeline.Outcome) {
					failure = errors.Join(failure, failureOf(o))
					close(ended)
				})
				if err := out.Emit(ctx, it); err != nil {
					return err
				}
				<-ended
			}
			return nil
		}), nil
	})
	g.AddStage(kind, stage.Spec, stage.Make)
	g.Add("drop", nil)
	g.Connect("requests", "", kind)
	g.Connect(kind, "", "drop")
	report, err := g.Run(context.Background(), pipeline.RunOptions{Resources: secret.resources()})
	if err != nil {
		return 0, err
	}
	return int(report.Stages[kind].Counters["documents"]), failure
}

type requests func(context.Context, pipeline.Emitter) error

func (r requests) Run(ctx context.Context, out pipeline.Emitter) error { return r(ctx, out) }

func requestOf(url string) webrace.Request {
	return webrace.Request{URL: url, Secret: "bench", Reach: []webrace.Reach{{Crawl: "bench"}}}
}

// failureOf returns why a visit came to nothing.
func failureOf(o pipeline.Outcome) error {
	var visit webrace.Visit
	visit.Learn(o.Learned)
	if visit.Error != "" {
		return errors.New(visit.Error)
	}
	return o.Err
}

// stageOf returns a stage with options, lines as in pipelines.toml, that reads sources.
func stageOf(kind, options string) (*pipeline.Stage, error) {
	var text bytes.Buffer
	fmt.Fprintf(&text, "version = 1\n[pipeline.bench]\nflow = [\"urds > frontier > %s > drop\"]\n[pipeline.bench.stage.%[1]s]\n%s\n", kind, options)
	loaded, err := pipelines.Parse("bench", text.Bytes(), pipelines.LoadOptions{})
	if err != nil {
		return nil, err
	}
	graph, err := loaded.Graph("bench")
	if err != nil {
		return nil, err
	}
	for _, stage := range graph.Stages {
		if stage.Name == kind {
			return stage, nil
		}
	}
	return nil, fmt.Errorf("there is no stage %s", kind)
}

// agentPrograms are the commands, which work in a folder.
type agentPrograms struct{ dir, run, store string }

func (p *agentPrograms) build() (err error) {
	if p.run, err = buildRun(p.dir); err != nil {
		return err
	}
	p.store = filepath.Join(p.dir, "webrace-store")
	if out, err := goBuild("..", p.store, "./cmd/webrace-store"); err != nil {
		return fmt.Errorf("build webrace-store: %w\n%s", err, out)
	}
	return nil
}

// data makes a data directory with the secret of an account at a host.
func (p *agentPrograms) data(user, password, host string) (dir string, err error) {
	if dir, err = os.MkdirTemp(p.dir, "data"); err != nil {
		return "", err
	}
	set := exec.Command(p.store, "secret", "set", "bench", "--data", dir, "--kind", "basic", "--user", user, "--host", host, "--insecure")
	set.Stdin = strings.NewReader(password)
	if out, err := set.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
}

// file writes a file for the commands.
func (p *agentPrograms) file(name string, text []byte) (path string, err error) {
	path = filepath.Join(p.dir, name)
	return path, os.WriteFile(path, text, 0o600)
}

// owners are those of URDs of a source, each of whom looks for one of the words.
func owners(protocol, source string) []byte {
	var urds xmlschema.URDs
	for _, word := range words {
		u := xmlschema.NewURD("owner-of-"+word, source)
		u.ID, u.Protocol, u.Secret, u.Depth = word, protocol, "bench", 1
		u.Keywords = xmlschema.Keywords{Threshold: 20, Keywords: []xmlschema.Keyword{{Key: word, Weight: 5}}}
		urds = append(urds, u)
	}
	return urds.Canonical()
}

// lent is the one secret that stages are lent, whatever its name.
type lent struct{ secret credentials.Secret }

func newLent(user, password, host string) (lent, error) {
	secret, err := credentials.NewSecret(credentials.KindBasic, user, password)
	if err != nil {
		return lent{}, err
	}
	bounds, err := credentials.NewBounds([]string{host}, true)
	return lent{secret.Within(bounds)}, err
}

func (l lent) Secret(context.Context, string) (credentials.Secret, error) { return l.secret, nil }
func (lent) SecretVersion(string) uint64                                  { return 1 }
func (lent) StartOf(context.Context, string) (string, error)              { return "", credentials.ErrNotFound }

// resources has a secret lent to stages.
func (l lent) resources() *pipeline.Resources {
	r := new(pipeline.Resources)
	pipeline.Provide[credentials.Open](r, func() (credentials.Source, error) { return l, nil })
	return r
}
