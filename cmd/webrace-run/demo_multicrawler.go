package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/remote"
	"github.com/webrace/webrace/cmd/internal/storecmd"
	"github.com/webrace/webrace/cmd/webrace-run/demosite"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
)

// runDataDemo runs the pipeline multicrawler over the open data of the site at base. It asks for every document each
// time, so that a second run finds out that none has changed.
func runDataDemo(c *cobra.Command, data, base string, run runFlags) error {
	if err := run.ask(data, demosite.DataURDs(base)); err != nil {
		return err
	}
	rule, err := berthsRule(data)
	if err != nil {
		return err
	}
	run.set = append(run.set, "frontier.fresh=0s", rule)
	fmt.Fprintf(cli.Prose(c.OutOrStdout()), "A small town's open data begins at %s;\n%s asks for all that it leads to.\n\n", base+demosite.DataStart, run.urds)
	globals := &cli.Globals{Data: data, Shipped: true}
	return runPipelines(c, globals, run, []string{dataDemo}, func(dir *storage.Dir, reports []*pipeline.Report) error {
		d := &dataShow{c: c, dir: dir, data: data, site: base + "/data/"}
		return d.all(reports[0])
	})
}

// berthsRule writes the stylesheet for the list of berths beside the URDs, and returns the setting that names it.
func berthsRule(data string) (setting string, err error) {
	file := filepath.Join(data, "berths.xsl")
	if err := os.WriteFile(file, demosite.BerthsStylesheet(), 0o600); err != nil {
		return "", &cli.Error{Status: cli.Environment, Err: err}
	}
	return fmt.Sprintf("xslt.rules=[{root = %q, stylesheet = %q}]", demosite.BerthsRoot, file), nil
}

// dataShow shows what the open data states.
type dataShow struct {
	c          *cobra.Command
	dir        *storage.Dir
	data, site string // the data directory, and what the URLs of the open data begin with
}

func (d *dataShow) all(r *pipeline.Report) error {
	for _, show := range []func() error{
		func() error { return d.changes(r) }, d.sources, d.problems, d.queries, d.thing, d.lookAround,
	} {
		if err := show(); err != nil {
			return err
		}
	}
	return nil
}

// say writes a paragraph.
func (d *dataShow) say(format string, args ...any) {
	fmt.Fprintf(cli.Prose(d.c.OutOrStdout()), "\n"+format+"\n", args...)
}

// store runs a command of webrace-store, and shows what it prints.
func (d *dataShow) store(args ...string) error {
	status := storecmd.Answer(d.dir)(d.c.Context(), remote.Call{
		Request: remote.Request{Args: args}, In: strings.NewReader(""),
		Out: cli.Exact(d.c.OutOrStdout()), Err: cli.Exact(d.c.ErrOrStderr()),
	})
	if status != cli.OK {
		return &cli.Error{Status: status}
	}
	return nil
}

// changes prints what the run changed of what is known.
func (d *dataShow) changes(r *pipeline.Report) error {
	counted := r.Stages["quad-index"].Counters
	added, removed := counted["added"], counted["removed"]
	if added+removed == 0 {
		d.say("Nothing was replaced: every document says what it said before, and 0 quads were written.")
		return nil
	}
	d.say("%s written, and %d removed.", were(added, "quad"), removed)
	return nil
}

func were(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing + " was"
	}
	return wording.Count(n, thing) + " were"
}

// problems shows what could not be read: with the place in the document, and the rest of a page is not lost by it.
func (d *dataShow) problems() error {
	d.say("What could not be read. The rest of that page counts:")
	return d.store("quads", "contexts", "--problems", d.site)
}

// thing shows all that is said of a person whom three documents speak of, two of them under another name.
func (d *dataShow) thing() error {
	d.say("All that is said of one person, under both of his names, and by whom:")
	return d.store("quads", "show", "--same-as", d.person())
}

func (d *dataShow) person() string { return d.site + "people.ttl#iason" }

func (d *dataShow) lookAround() error {
	fmt.Fprintf(d.c.OutOrStdout(), `
Look around:
  webrace-store --data %[1]s quads contexts
  webrace-store --data %[1]s quads search regatta
  webrace-store --data %[1]s quads show \
      %[2]splaces.nt#library
  webrace-store --data %[1]s quads query \
      'DESCRIBE <%[2]sevents.html#concert>'
  webrace-store --data %[1]s quads stats --void
  webrace-store --data %[1]s quads export --output %[1]s/quads.nq
(without installing: go run ./cmd/webrace-store …)

A second run asks for every document again, and replaces nothing.
What a page of yours says: webrace-run try URL --graph
`, d.data, d.site)
	return nil
}
