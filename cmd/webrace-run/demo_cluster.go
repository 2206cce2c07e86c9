package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/webrace-run/demosite"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/pipeline/connections"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/cluster"
	"github.com/webrace/webrace/storage/control"
)

// clusterDemo is what the demo of a cluster is called by.
const clusterDemo = "cluster"

const (
	demoHosts      = 8
	demoNodes      = 3
	demoPartitions = 8
	killedNode     = 1
)

// runClusterDemo has one machine crawl a town's site, and then three nodes of a cluster, of which one is killed on the
// way, and compares what owners are told. It leaves nothing behind.
func runClusterDemo(c *cobra.Command) (err error) {
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	program, err := os.Executable()
	if err != nil {
		return err
	}
	database, stopServer, err := demoDatabase(ctx)
	if err != nil {
		return &cli.Error{Status: cli.Environment, Err: err}
	}
	defer stopServer()
	dir, err := os.MkdirTemp("", "webrace-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	town, err := serveTown()
	if err != nil {
		return &cli.Error{Status: cli.Environment, Err: err}
	}
	defer town.stop()
	d := &clusterShow{c: c, dir: dir, program: program, database: database, town: town}
	return d.run(ctx)
}

// clusterShow is the demo of a cluster.
type clusterShow struct {
	c                      *cobra.Command
	dir, program, database string
	town                   *town
}

func (d *clusterShow) say(format string, args ...any) {
	fmt.Fprintf(cli.Prose(d.c.OutOrStdout()), format+"\n", args...)
}

func (d *clusterShow) run(ctx context.Context) error {
	d.say("A town's web site is served by %d hosts, from %s to %s; three people want to know of it.", demoHosts, d.town.hosts[0], d.town.hosts[demoHosts-1])
	urds := filepath.Join(d.dir, "urds.xml")
	if err := os.WriteFile(urds, d.town.urds(), 0o600); err != nil {
		return err
	}
	alone, err := d.alone(ctx, urds)
	if err != nil {
		return err
	}
	asked := d.town.asked.Swap(0)
	d.say("\nOne machine asked for %d URLs.", asked)
	if err := d.parted(ctx, urds, asked); err != nil {
		return err
	}
	d.say("All together asked for %d URLs, with what was on its way when the node died.", d.town.asked.Load())
	store, err := control.OpenPostgres(ctx, d.database, d.keyFile(), control.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	parted, err := toldByOwner(ctx, store)
	if err != nil {
		return err
	}
	return d.compare(alone, parted)
}

// alone runs one machine, and returns what it has told.
func (d *clusterShow) alone(ctx context.Context, urds string) (map[string][]control.ACI, error) {
	config, data := filepath.Join(d.dir, "alone.toml"), filepath.Join(d.dir, "alone")
	if err := os.WriteFile(config, webrace.Pipelines, 0o600); err != nil {
		return nil, err
	}
	p := d.child(ctx, "alone", config, "--data", data, "--urds", urds)
	if err := p.begin(); err != nil {
		return nil, err
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	dir, err := storage.Open(data, storage.Options{})
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	store, err := dir.Control()
	if err != nil {
		return nil, err
	}
	return toldByOwner(ctx, store)
}

// parted runs the nodes of a cluster, and kills one of them once a third of the URLs were asked for.
func (d *clusterShow) parted(ctx context.Context, urds string, asked int64) error {
	if err := d.create(ctx, urds); err != nil {
		return err
	}
	d.say("\n%d nodes share the hosts now, each a process with a data directory of its own:", demoNodes)
	nodes := make([]*child, demoNodes)
	for i := range nodes {
		config, err := d.configure(i)
		if err != nil {
			return err
		}
		nodes[i] = d.child(ctx, fmt.Sprint("node ", i), config)
		if err := nodes[i].begin(); err != nil {
			return err
		}
		d.say("  node %d is process %d", i, nodes[i].Process.Pid)
	}
	for d.town.asked.Load() < asked/3 && ctx.Err() == nil {
		time.Sleep(time.Millisecond) // then looks again
	}
	dies := nodes[killedNode]
	if err := dies.Process.Kill(); err != nil {
		return err
	}
	_ = dies.Wait() // it was killed
	d.say("Node %d is killed (kill -9) after %d URLs, and started again.", killedNode, d.town.asked.Load())
	nodes[killedNode] = d.child(ctx, dies.name, dies.config)
	if err := nodes[killedNode].begin(); err != nil {
		return err
	}
	for _, p := range nodes {
		if err := p.end(); err != nil {
			return err
		}
	}
	return nil
}

func (d *clusterShow) keyFile() string { return filepath.Join(d.dir, "secrets.key") }

// create makes the cluster, and stores what people ask for.
func (d *clusterShow) create(ctx context.Context, urds string) error {
	store, err := control.OpenPostgres(ctx, d.database, d.keyFile(), control.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	if err := cluster.Create(ctx, d.database, cluster.Shape{Partitions: demoPartitions, Nodes: demoNodes}); err != nil {
		return &cli.Error{Status: cli.Environment, Err: err}
	}
	requests, err := readURDs(d.c.ErrOrStderr(), &cli.Globals{}, urds, "")
	if err == nil {
		_, err = store.Put(ctx, requests)
	}
	return err
}

// configure writes what a person would write for a node.
func (d *clusterShow) configure(node int) (file string, err error) {
	const data = "data = \"${WEBRACE_DATA:-./data}\"\n"
	table := fmt.Sprintf("data = %q\n[cluster]\ndatabase = %q\nnode = %d\nsecrets = %q\n", filepath.Join(d.dir, fmt.Sprint("data-", node)), d.database, node, d.keyFile())
	file = filepath.Join(d.dir, fmt.Sprintf("node-%d.toml", node))
	return file, os.WriteFile(file, bytes.Replace(webrace.Pipelines, []byte(data), []byte(table), 1), 0o600)
}

// child is a process that runs the shipped pipeline webrace.
type child struct {
	*exec.Cmd
	name, config string
	said         bytes.Buffer
}

func (d *clusterShow) child(ctx context.Context, name, config string, more ...string) *child {
	args := append([]string{"webrace", "--config", config, "--set", "fetch.allow_networks=loopback"}, more...)
	p := &child{Cmd: exec.CommandContext(ctx, d.program, args...), name: name, config: config}
	p.Stdout, p.Stderr = &p.said, &p.said
	return p
}

func (p *child) begin() error {
	if err := p.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	return nil
}

func (p *child) end() error {
	if err := p.Wait(); err != nil {
		return fmt.Errorf("%s: %w\n%s", p.name, err, p.said.String())
	}
	return nil
}

// toldByOwner returns all annotations, by their owners.
func toldByOwner(ctx context.Context, store *control.Store) (map[string][]control.ACI, error) {
	told := make(map[string][]control.ACI)
	for aci, err := range store.ACIs(ctx, control.Filter{}) {
		if err != nil {
			return nil, err
		}
		told[aci.Owner] = append(told[aci.Owner], aci)
	}
	return told, nil
}

// compare shows what each owner was told, and fails where that is not what one machine has told, by the ids.
func (d *clusterShow) compare(alone, parted map[string][]control.ACI) error {
	ids := func(acis []control.ACI) (all []string) {
		for _, aci := range acis {
			all = append(all, aci.ID)
		}
		slices.Sort(all)
		return all
	}
	d.say("")
	for _, owner := range slices.Sorted(maps.Keys(alone)) {
		one, many := ids(alone[owner]), ids(parted[owner])
		if !slices.Equal(one, many) {
			return fmt.Errorf("%s was told otherwise by one machine than by the cluster: %q, and %q", owner, one, many)
		}
		d.say("%s was told of %s by one machine, and of the same by the cluster, by the same ids.", owner, wording.Count(len(one), "page"))
	}
	if len(alone) != len(parted) {
		return fmt.Errorf("one machine told %d owners, and the cluster %d", len(alone), len(parted))
	}
	d.say("\nTo set one up: docs/cluster.md")
	return nil
}

// town is the built-in site under several hosts. Each has some of its sections, and leads to the host of any other.
type town struct {
	hosts []string
	asked atomic.Int64
	stops []func()
}

func serveTown() (*town, error) {
	t, site := new(town), demosite.New()
	for i := range demoHosts {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.stop()
			return nil, fmt.Errorf("serve the demo site: %w", err)
		}
		t.hosts = append(t.hosts, "http://"+listener.Addr().String())
		t.stops = append(t.stops, admin.Serve(listener, connections.AdmitAll(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/robots.txt" {
				t.asked.Add(1)
			}
			t.serve(i, site, w, r)
		}))))
	}
	return t, nil
}

func (t *town) stop() {
	for _, stop := range t.stops {
		stop()
	}
}

// hostOf returns which host has a path: its section's.
func hostOf(path string) int {
	section, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return cluster.PartitionOf(section, demoHosts)
}

func (t *town) serve(host int, site http.Handler, w http.ResponseWriter, r *http.Request) {
	if to := hostOf(r.URL.Path); to != host && r.URL.Path != "/robots.txt" && r.URL.Path != "/sitemap.xml" {
		http.Redirect(w, r, t.hosts[to]+r.URL.RequestURI(), http.StatusFound)
		return
	}
	select {
	case <-time.After(20 * time.Millisecond): // as a server does that is not in the same machine
		site.ServeHTTP(w, r)
	case <-r.Context().Done():
	}
}

// urds returns what three people want to know, each from the host that has it.
func (t *town) urds() []byte {
	text := string(demosite.URDs(t.hosts[hostOf("/")]))
	for _, path := range []string{"/technology/", "/council/", "/library/"} {
		text = strings.ReplaceAll(text, t.hosts[hostOf("/")]+path, t.hosts[hostOf(path)]+path)
	}
	return []byte(strings.Replace(text, `<depth level="3"/>`, `<depth level="3" scope="any"/>`, 1))
}
