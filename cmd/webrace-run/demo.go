package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/webrace-run/demosite"
	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/pipeline/connections"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
)

// demoAddress is where the built-in site is served; a fixed place makes a second run a second visit.
const demoAddress = "127.0.0.1:8640"

// demoData and dataDemoData are where the demos leave their stores unless told otherwise: each its own, for where a
// server had other documents for those who ask for RDF, the versions of a URL would alternate in one.
const (
	demoData     = "demo-data"
	dataDemoData = "demo-quads"
)

// dataDemo is what the demo of the open data is called by: the pipeline that it runs.
const dataDemo = "multicrawler"

func newDemo(globals *cli.Globals) *cobra.Command {
	var run runFlags
	var serve bool
	c := &cobra.Command{
		Use:   "demo [multicrawler|cluster]",
		Short: "see it work: a small built-in site, three owners, and what they are told; or its open data, and what that says; or three nodes of a cluster",
		Example: `  webrace-run demo
  webrace-run demo multicrawler                      the Semantic Web: RDF in many formats, asked in SPARQL
  webrace-run demo cluster                           three nodes, of which one is killed on the way
  webrace-run demo --serve                           then look around in a browser, as one of the three owners`,
		Long: `demo serves a small web site on loopback and runs the shipped pipelines webrace
and search over it, for three owners who want to know different things. It is the
same as running them by name, and leaves a data directory to look around in. On a
terminal it goes on until Ctrl-C, with the web application for the three owners.

demo multicrawler runs the pipeline multicrawler over the open data of the same
site: RDF, feeds and pages with structured data. It shows who says what, in which
format, and asks it in SPARQL.

demo cluster has one machine crawl the site, divided among eight hosts, and then
three processes that are nodes of a cluster, one of which it kills on the way. It
compares what the owners are told. It starts PostgreSQL for this, or takes the empty
database that the environment's WEBRACE_DATABASE names, and leaves nothing behind.`,
		Args:      whichDemo,
		ValidArgs: demos,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] == clusterDemo {
				if serve || globals.Data != "" {
					return cli.Wrongf("demo cluster leaves nothing behind: it takes neither --data nor --serve")
				}
				return runClusterDemo(c)
			}
			if len(args) > 0 {
				return demo(c, cmp.Or(globals.Data, dataDemoData), run, serve, runDataDemo, serveData)
			}
			if !c.Flags().Changed("serve") {
				serve = cli.IsTerminal(c.OutOrStdout())
			}
			return demo(c, cmp.Or(globals.Data, demoData), run, serve, runDemo, servePortal)
		},
	}
	run.addOutputFlags(c)
	c.Flags().BoolVar(&serve, "serve", false, "go on until Ctrl-C, to look around in a browser (default: the demo without a name does on a terminal)")
	return c
}

// allowLoopback has documents fetched from this machine, where the site is.
const allowLoopback = `fetch.allow_networks=["127.0.0.0/8"]`

// demos are those that have a name.
var demos = []string{dataDemo, clusterDemo}

// whichDemo refuses what is no demo.
func whichDemo(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0 || len(args) == 1 && slices.Contains(demos, args[0]):
		return nil
	case len(args) > 1:
		return cobra.MaximumNArgs(1)(c, args)
	case suggest.Nearest(args[0], demos) != "":
		return cli.Wrongf("there is no demo %q; did you mean %s?", args[0], suggest.Nearest(args[0], demos))
	}
	return cli.Wrongf("there is no demo %q: there are %s, and the one without a name", args[0], strings.Join(demos, ", "))
}

// part is a part of a demo, over the site that is served at base.
type part func(c *cobra.Command, data, base string, run runFlags) error

// demo serves the site and runs a demo of it; to serve, it goes on until Ctrl-C.
func demo(c *cobra.Command, data string, run runFlags, serve bool, over, goOn part) error {
	base, stop, err := serveSite(demosite.New())
	if err != nil {
		return err
	}
	defer stop()
	if err := over(c, data, base, run); err != nil {
		return err
	}
	if serve {
		return goOn(c, data, base, run)
	}
	return nil
}

// serveData leaves the site up.
func serveData(c *cobra.Command, _, base string, _ runFlags) error {
	fmt.Fprintf(cli.Prose(c.OutOrStdout()), "\nThe site is at %s until you press Ctrl-C.\n", base)
	ctx, stop := untilInterrupted(c)
	defer stop()
	<-ctx.Done()
	return nil
}

// ask makes a run one over the site, for URDs that it writes into the data directory.
func (f *runFlags) ask(data string, urds []byte) error {
	if err := storage.MakeDir(data); err != nil {
		return &cli.Error{Status: cli.Environment, Err: err}
	}
	f.urds = filepath.Join(data, "urds.xml")
	if err := os.WriteFile(f.urds, urds, 0o600); err != nil {
		return &cli.Error{Status: cli.Environment, Err: err}
	}
	f.set = append(f.set, allowLoopback)
	return nil
}

// runDemo runs the shipped pipelines for the three owners over the site at base.
func runDemo(c *cobra.Command, data, base string, run runFlags) error {
	if err := run.ask(data, demosite.URDs(base)); err != nil {
		return err
	}
	fmt.Fprintf(cli.Prose(c.OutOrStdout()), "A small web site is served at %s; %s says what three people want to know of it.\n\n", base, run.urds)
	globals := &cli.Globals{Data: data, Shipped: true}
	return runPipelines(c, globals, run, []string{"webrace", "search"}, func(dir *storage.Dir, _ []*pipeline.Report) error {
		return showDemo(c.Context(), c.OutOrStdout(), dir, data, base)
	})
}

// serveSite serves the site at its usual address, or at a free one if that is taken.
func serveSite(site http.Handler) (base string, stop func(), err error) {
	listener, err := listenAt(demoAddress)
	if err != nil {
		return "", nil, &cli.Error{Status: cli.Environment, Err: fmt.Errorf("serve the demo site: %w", err)}
	}
	return "http://" + listener.Addr().String(), admin.Serve(listener, connections.AdmitAll(site)), nil
}

// listenAt listens at an address, or at a free one of this machine's own if that is taken.
func listenAt(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		listener, err = net.Listen("tcp", "127.0.0.1:0")
	}
	return listener, err
}

// shownAlerts is how many annotations the demo shows of each owner.
const shownAlerts = 4

// showDemo shows what each owner was told and why, and where to look next.
func showDemo(ctx context.Context, w io.Writer, dir *storage.Dir, data, base string) error {
	store, err := dir.Control()
	if err != nil {
		return err
	}
	var owners []string
	told := make(map[string][]control.ACI)
	for urd, err := range store.All(ctx) {
		if err != nil {
			return err
		}
		if _, known := told[urd.Owner]; !known {
			owners = append(owners, urd.Owner)
			told[urd.Owner] = nil
		}
	}
	for aci, err := range store.ACIs(ctx, control.Filter{}) {
		if err != nil {
			return err
		}
		told[aci.Owner] = append(told[aci.Owner], aci)
	}
	for _, owner := range owners {
		showOwner(w, owner, told[owner])
	}
	fmt.Fprintf(w, `
Look around:
  webrace-store --data %[1]s aci list --owner %[2]s
  webrace-store --data %[1]s explain %[3]s/ %[2]s
  webrace-store --data %[1]s search ferry timetable
  webrace-store --data %[1]s cache ls
  webrace-store --data %[1]s frontier failed
(without installing: go run ./cmd/webrace-store …)

What a site says to machines: webrace-run demo %[4]s
`, data, owners[0], base, dataDemo)
	return nil
}

func showOwner(w io.Writer, owner string, acis []control.ACI) {
	w = cli.Prose(w)
	fmt.Fprintf(w, "\n%s was told of %s:\n", owner, wording.Count(len(acis), "page"))
	cli.SortByRelevance(acis)
	for i, aci := range acis {
		if i == shownAlerts {
			fmt.Fprintf(w, "     … and %d more\n", len(acis)-shownAlerts)
			return
		}
		cli.PrintACI(w, aci.ACI)
	}
}
