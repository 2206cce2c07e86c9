package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/webrace-run/demosite"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
)

// demoAddress is where the built-in site is served; a fixed place makes a second run a second visit.
const demoAddress = "127.0.0.1:8640"

// demoData is where the demo leaves its stores unless told otherwise.
const demoData = "demo-data"

func newDemo(place *cli.Place) *cobra.Command {
	var run runFlags
	var serve bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "see it work: a small built-in site, three owners, and what they are told",
		Example: `  webrace-run demo
  webrace-run demo --serve                           leave the site up, to look at it in a browser`,
		Long: `demo serves a small web site on loopback and runs the shipped pipelines webrace
and search over it, for three owners who want to know different things. It is the
same as running them by name, and leaves a data directory to look around in.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return demo(c, place.Data, run, serve) },
	}
	run.addOutputFlags(c)
	c.Flags().BoolVar(&serve, "serve", false, "go on serving the site until Ctrl-C, to look at it in a browser")
	return c
}

func demo(c *cobra.Command, data string, run runFlags, serve bool) error {
	if data == "" {
		data = demoData
	}
	site := demosite.New()
	base, stop, err := serveSite(site)
	if err != nil {
		return err
	}
	defer stop()
	if err := runDemo(c, data, base, run); err != nil {
		return err
	}
	if serve {
		fmt.Fprintf(c.OutOrStdout(), "\nThe site is at %s until you press Ctrl-C.\n", base)
		return waitForInterrupt(c.Context())
	}
	return nil
}

// runDemo runs the shipped pipelines for the three owners over the site at base.
func runDemo(c *cobra.Command, data, base string, run runFlags) error {
	if err := storage.MakeDir(data); err != nil {
		return &cli.Error{Status: cli.Environment, Err: err}
	}
	run.urds = filepath.Join(data, "urds.xml")
	if err := os.WriteFile(run.urds, demosite.URDs(base), 0o600); err != nil {
		return &cli.Error{Status: cli.Environment, Err: err}
	}
	run.set = append(run.set, `fetch.allow_networks=["127.0.0.0/8"]`)
	fmt.Fprintf(c.OutOrStdout(), "A small web site is served at %s; %s says what three people want to know of it.\n\n", base, run.urds)
	place := &cli.Place{Data: data, Shipped: true}
	return runPipelines(c, place, run, []string{"webrace", "search"}, func(dir *storage.Dir, _ []*pipeline.Report) error {
		return showDemo(c.Context(), c.OutOrStdout(), dir, data, base)
	})
}

// serveSite serves the site at its usual address, or at a free one if that is taken.
func serveSite(site http.Handler) (base string, stop func(), err error) {
	listener, err := net.Listen("tcp", demoAddress)
	if err != nil {
		listener, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return "", nil, &cli.Error{Status: cli.Environment, Err: fmt.Errorf("serve the demo site: %w", err)}
	}
	return "http://" + listener.Addr().String(), admin.Serve(listener, site), nil
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
`, data, owners[0], base)
	return nil
}

func showOwner(w io.Writer, owner string, acis []control.ACI) {
	fmt.Fprintf(w, "\n%s was told of %d pages:\n", owner, len(acis))
	cli.SortByRelevance(acis)
	for i, aci := range acis {
		if i == shownAlerts {
			fmt.Fprintf(w, "     … and %d more\n", len(acis)-shownAlerts)
			return
		}
		cli.PrintACI(w, aci.ACI)
	}
}

func waitForInterrupt(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	<-ctx.Done()
	return nil
}
