package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
)

// crawlOutput writes the documents of a run to a file while it runs: those that were fetched or confirmed. It is a
// stage behind cache. Until the run has ended well, the file is called partName, and one of an earlier run stays as
// it is.
type crawlOutput struct {
	path   string
	stdout io.Writer // for -
	format documentFormat
	all    bool // of an archive: also what was asked for and gave no document

	file     *os.File // nil for -, and before it is open
	out      *bufio.Writer
	writer   documentWriter
	reported io.Writer // where it is said what was written
	written  int
}

// documentWriter writes documents in one format. finish writes what comes last.
type documentWriter interface {
	write(d *webrace.Document) error
	finish() error
}

// documentFormat makes the writer of a format. Where all is wanted, an archive also has requests and redirects.
type documentFormat func(out io.Writer, name string, dir *storage.Dir, all bool) (documentWriter, error)

// documentFormats are those of files, by how their names end.
var documentFormats = []struct {
	suffix string
	format documentFormat
}{{".jsonl", newJSONLines}, {".csv", newCSVLines}, {".warc", newWARCFile}, {".warc.gz", newWARCFile}, {".wacz", newWACZFile}}

// newCrawlOutput returns what writes to a path as --output names it, without touching it; nil for none.
func newCrawlOutput(c *cobra.Command, globals *cli.Globals, path string, all bool) (*crawlOutput, error) {
	if isArchive := strings.HasSuffix(path, ".warc") || strings.HasSuffix(path, ".warc.gz") || strings.HasSuffix(path, ".wacz"); all && !isArchive {
		return nil, cli.Wrongf("--all is for archives: name one by --output FILE.warc.gz or FILE.wacz")
	}
	o := &crawlOutput{path: path, all: all, reported: c.OutOrStdout(), format: newJSONLines}
	switch path {
	case "":
		return nil, nil
	case "-":
		o.stdout, o.reported = c.OutOrStdout(), c.ErrOrStderr()
		c.SetOut(c.ErrOrStderr()) // the summary and the rest
		return o, nil
	}
	o.path = globals.Path(path)
	i := slices.IndexFunc(documentFormats, func(f struct {
		suffix string
		format documentFormat
	}) bool {
		return strings.HasSuffix(path, f.suffix)
	})
	if i < 0 {
		return nil, cli.Wrongf("--output %s: how the name ends says the format: .jsonl, .csv, .warc.gz (or .warc) or .wacz; - writes JSON lines to standard output", path)
	}
	o.format = documentFormats[i].format
	if info, err := os.Stat(filepath.Dir(o.path)); err != nil || !info.IsDir() {
		return nil, cli.Wrongf("--output %s: there is no directory %s", path, filepath.Dir(o.path))
	}
	return o, nil
}

// outputStage is the name of the stage, which no pipeline can have given to another.
const outputStage = "(output)"

// around puts the stage behind the cache of a pipeline, beside what follows there.
func (o *crawlOutput) around(g *pipeline.Graph) (*pipeline.Graph, error) {
	i := slices.IndexFunc(g.Stages, func(s *pipeline.Stage) bool { return s.Spec.Type == "cache" })
	if i < 0 {
		return nil, fmt.Errorf("--output writes what passes a stage cache, and the pipeline %s has none", g.Name)
	}
	spec := pipeline.Spec{
		Type: "output", In: pipeline.Kinds(pipeline.KindOf[*webrace.Document]()), Workers: 1,
		Needs: []pipeline.Part{webrace.PartText, webrace.PartLinks, webrace.PartVersion},
	}
	whole := *g
	whole.Stages = append(slices.Clone(g.Stages), &pipeline.Stage{
		Name: outputStage, Spec: spec, Common: pipeline.Common{Type: spec.Type, OnError: pipeline.Stop}, Make: o.stage,
	})
	whole.Edges = append(slices.Clone(g.Edges), pipeline.Edge{From: g.Stages[i].Name, To: outputStage})
	return &whole, nil
}

// stage returns the stage, also after a reload: the file goes on.
func (o *crawlOutput) stage(env *pipeline.Env) (any, error) {
	dir, err := pipeline.Resource[*storage.Dir](env)
	if err == nil && o.writer == nil {
		if err = o.open(dir); err == nil && o.file != nil {
			env.Logger.Info("documents are written to a file of another name until the run has ended", "file", o.file.Name())
		}
	}
	return o, err
}

// partName is what the file is called until the run has ended well.
func partName(path string) string { return path + ".part" }

func (o *crawlOutput) open(dir *storage.Dir) (err error) {
	to := o.stdout
	if to == nil {
		if o.file, err = os.Create(partName(o.path)); err != nil {
			return fmt.Errorf("--output: %w", err)
		}
		to = o.file
	}
	o.out = bufio.NewWriterSize(to, 1<<16)
	o.writer, err = o.format(o.out, filepath.Base(o.path), dir, o.all)
	return err
}

// Process writes a document. One that is still fresh was not fetched in this run, or was written already.
func (o *crawlOutput) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	d, err := pipeline.ValueOf[*webrace.Document](it)
	if err != nil || d.Outcome == webrace.Fresh {
		return err
	}
	if err = errors.Join(o.writer.write(d), o.out.Flush()); err != nil { // who reads along waits for it
		return fmt.Errorf("--output %s: %w", o.path, err)
	}
	o.written++
	return nil
}

// end gives the file its name if the run has ended well.
func (o *crawlOutput) end(failed error) error {
	if o == nil || o.writer == nil {
		return nil
	}
	err := failed
	if err == nil {
		err = o.writer.finish()
	}
	err = errors.Join(err, o.out.Flush())
	if o.file == nil {
		return o.problem(err, failed)
	}
	err = errors.Join(err, o.file.Sync(), o.file.Close())
	if err == nil {
		err = os.Rename(partName(o.path), o.path)
	}
	if err != nil {
		fmt.Fprintf(o.reported, "  %s written to %s, which is not complete\n", wording.Count(o.written, "document"), partName(o.path))
		return o.problem(err, failed)
	}
	fmt.Fprintf(o.reported, "  %s written to %s\n", wording.Count(o.written, "document"), o.path)
	return nil
}

// problem is what went wrong in writing, beside what the run has failed with, which is told already.
func (o *crawlOutput) problem(err, failed error) error {
	if err == nil || failed != nil {
		return nil
	}
	return fmt.Errorf("--output %s: %w", cmp.Or(o.path, "-"), err)
}
