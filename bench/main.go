// Command bench measures webrace beside its rivals, on this machine, in one run:
//
//	go -C bench run . NAME [--quick] [--json FILE]
//
// NAME is one of the benchmarks in the map below, or all. Every benchmark checks that all contestants do
// the whole work before it starts a clock. README.md explains what each row means.
package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// benchmark measures one part of webrace. It adds its rows to the table, and tells the notes what it runs
// against and what a number alone does not tell.
type benchmark func(b *bench) error

// benchmarks are those that can be asked for by name.
var benchmarks = map[string]benchmark{
	"agents":     benchAgents,
	"annotation": benchAnnotation,
	"cluster":    benchCluster,
	"crowd":      benchCrowd,
	"pipeline":   benchPipeline,
	"portal":     benchPortal,
	"reading":    benchReading,
	"crawl":      benchCrawl,
	"search":     benchSearch,
	"semantic":   benchSemantic,
	"storage":    benchStorage,
	"fsck":       benchFsck,
}

// bench is what a benchmark is given.
type bench struct {
	quick     bool   // fewer rounds over less work: a look, not a result
	documents int    // that fsck checks
	part      string // of cluster, agents or reading, that alone is measured; empty: all are
	table     *table
	notes     io.Writer
}

func (b *bench) note(format string, args ...any) { fmt.Fprintf(b.notes, format+"\n", args...) }

func (b *bench) wants(part string) bool { return b.part == "" || b.part == part }

func main() {
	if len(os.Args) > 1 && os.Args[1] == childCommand {
		exit(runChild(os.Args[2:]))
	}
	exit(run(os.Args[1:]))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(args []string) error {
	known := slices.Sorted(maps.Keys(benchmarks))
	usage := fmt.Sprintf("usage: bench %s|all [--quick] [--part NAME] [--documents N] [--json FILE]", strings.Join(known, "|"))
	if len(args) == 0 {
		return fmt.Errorf("%s", usage)
	}
	names := args[:1]
	if args[0] == "all" {
		names = known
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	quick := flags.Bool("quick", false, "fewer rounds over less work")
	documents := flags.Int("documents", 500_000, "fsck: check a store of so many")
	part := flags.String("part", "", "cluster: measure annotations, changes, cpu, scale, kills, rest or search alone; agents: mail, memory or rows; reading: articles, markdown, signing or output")
	path := flags.String("json", "", "write the rows to this `file` as well")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q follows the flags; %s", flags.Args(), usage)
	}
	var all table
	for _, name := range names {
		measure, ok := benchmarks[name]
		if !ok {
			return fmt.Errorf("there is no benchmark %q; %s", name, usage)
		}
		all.bench = name
		if err := measure(&bench{quick: *quick, documents: *documents, part: *part, table: &all, notes: os.Stderr}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if *part != "" && len(all.rows) == 0 {
		return fmt.Errorf("there is no part %q of %s: %s", *part, args[0], flags.Lookup("part").Usage)
	}
	if err := all.print(os.Stdout); err != nil {
		return err
	}
	if *path == "" {
		return nil
	}
	return all.writeJSON(*path)
}
