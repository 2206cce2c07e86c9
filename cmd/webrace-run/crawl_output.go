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
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/internal/usage"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/expression"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/objects"
)

// crawlOutput writes the documents of a run to a file while it runs: those that were fetched or confirmed. It is a
// stage behind cache. Until the run has ended well, the file is called partName, and one of an earlier run stays as
// it is.
type crawlOutput struct {
	path    string
	stdout  io.Writer // for -
	tree    bool      // path is a folder of Markdown
	format  documentFormat
	options outputOptions

	store    *objects.Store
	file     *os.File // nil for -, and before it is open
	out      *bufio.Writer
	writer   documentWriter
	reported io.Writer    // where it is said what was written
	written  int          // in a file
	withheld atomic.Int64 // documents whose owners do not allow what they are for
}

// outputOptions is what is written of documents.
type outputOptions struct {
	all      bool          // to an archive also what was asked for and gave no document; of pages as Markdown all, not the main part alone
	markdown bool          // in lines of JSON also what documents say, as Markdown
	purpose  usage.Purpose // what they are for: those whose owners do not allow it are left out; empty for nothing in particular
}

// add adds the flags.
func (o *outputOptions) add(f *pflag.FlagSet) {
	f.BoolVar(&o.all, "all", false, "write to an archive also requests, redirects, and URLs that gave 404 or 410, so that it can be replayed; to a folder all of each page, not its main part alone")
	f.BoolVar(&o.markdown, "markdown", false, "write to .jsonl also what each document says, as Markdown")
	f.StringVar((*string)(&o.purpose), "for", "", "leave out documents whose owners do not allow this `USE`: "+suggest.Or(usage.Purposes))
}

// needsBody reports whether what a document came with is looked at, and not what is known of it alone.
func (o outputOptions) needsBody() bool { return o.markdown || o.purpose != "" }

// documentWriter writes documents in one format. finish writes what comes last.
type documentWriter interface {
	write(ctx context.Context, d *webrace.Document) error
	finish() error
}

// documentFormat makes the writer of a format.
type documentFormat func(out io.Writer, name string, dir *storage.Dir, o outputOptions) (documentWriter, error)

// documentFormats are those of files, by how their names end.
var documentFormats = []struct {
	suffix string
	format documentFormat
}{{".jsonl", newJSONLines}, {".csv", newCSVLines}, {".warc", newWARCFile}, {".warc.gz", newWARCFile}, {".wacz", newWACZFile}}

// newCrawlOutput returns what writes to a path as --output names it, without touching it; nil for none.
func newCrawlOutput(c *cobra.Command, globals *cli.Globals, path string, options outputOptions) (*crawlOutput, error) {
	o := &crawlOutput{path: path, tree: isFolder(globals, path), options: options, reported: c.OutOrStdout(), format: newJSONLines}
	isArchive := strings.HasSuffix(path, ".warc") || strings.HasSuffix(path, ".warc.gz") || strings.HasSuffix(path, ".wacz")
	isLines := path == "-" || strings.HasSuffix(path, ".jsonl")
	switch {
	case options.all && !isArchive && !o.tree && !(isLines && options.markdown):
		return nil, cli.Wrongf("--all is for archives and Markdown: name one by --output FILE.warc.gz, FILE.wacz or FOLDER/")
	case options.markdown && !isLines:
		return nil, cli.Wrongf("--markdown is for lines of JSON: name a file by --output FILE.jsonl; --output FOLDER/ writes a file of Markdown a document")
	case options.purpose != "" && !slices.Contains(usage.Purposes, options.purpose):
		return nil, cli.Wrongf("--for %s: a use is %s", options.purpose, suggest.Or(usage.Purposes))
	case options.purpose != "" && path == "":
		return nil, cli.Wrongf("--for %s is about what is written: name a file or folder by --output", options.purpose)
	}
	switch path {
	case "":
		return nil, nil
	case "-":
		o.stdout, o.reported = c.OutOrStdout(), c.ErrOrStderr()
		c.SetOut(c.ErrOrStderr()) // the summary and the rest
		return o, nil
	}
	o.path = globals.Path(path)
	if o.tree {
		o.format = newMarkdownTree
		return o, nil
	}
	i := slices.IndexFunc(documentFormats, func(f struct {
		suffix string
		format documentFormat
	}) bool {
		return strings.HasSuffix(path, f.suffix)
	})
	if i < 0 {
		return nil, cli.Wrongf("--output %s: how the name ends says the format: .jsonl, .csv, .warc.gz (or .warc) or .wacz, or / for a folder of Markdown; - writes JSON lines to standard output", path)
	}
	o.format = documentFormats[i].format
	if info, err := os.Stat(filepath.Dir(o.path)); err != nil || !info.IsDir() {
		return nil, cli.Wrongf("--output %s: there is no directory %s", path, filepath.Dir(o.path))
	}
	return o, nil
}

// isFolder reports whether documents are to be written to a folder: one that is there, or a path that ends like one.
func isFolder(globals *cli.Globals, path string) bool {
	if strings.HasSuffix(path, "/") || strings.HasSuffix(path, string(filepath.Separator)) {
		return true
	}
	info, err := os.Stat(globals.Path(path))
	return path != "" && path != "-" && err == nil && info.IsDir()
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
	stage := &pipeline.Stage{Name: outputStage, Spec: spec, Common: pipeline.Common{Type: spec.Type, OnError: pipeline.Stop}, Make: o.stage}
	if o.tree { // to read a page takes longer than all else that is done with it
		stage.Common.Workers = runtime.GOMAXPROCS(0)
		var err error
		if stage.WorkersKey, err = expression.CompileWorkersKey("url"); err != nil {
			return nil, err
		}
	}
	whole := *g
	whole.Stages = append(slices.Clone(g.Stages), stage)
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
	if o.store, err = dir.Objects(); err != nil {
		return err
	}
	to := o.stdout
	switch {
	case o.tree:
		o.writer, err = o.format(nil, o.path, dir, o.options)
		return err
	case to == nil:
		if o.file, err = os.Create(partName(o.path)); err != nil {
			return fmt.Errorf("--output: %w", err)
		}
		to = o.file
	}
	o.out = bufio.NewWriterSize(to, 1<<16)
	o.writer, err = o.format(o.out, filepath.Base(o.path), dir, o.options)
	return err
}

// Process writes a document. One that is still fresh was not fetched in this run, or was written already: in a folder,
// it is to be there all the same.
func (o *crawlOutput) Process(ctx context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	d, err := pipeline.ValueOf[*webrace.Document](it)
	if err != nil || d.Outcome == webrace.Fresh && !o.tree {
		return err
	}
	if o.options.needsBody() {
		whole := *d
		if whole.Header, whole.Body, err = o.store.AsStored(d); err != nil {
			return fmt.Errorf("--output %s: %w", o.path, err)
		}
		d = &whole
	}
	if o.options.purpose != "" {
		stated := usage.OfBody(d.URL, d.Header, d.Body, extract.ContentType(d.Header, d.MediaType))
		if allowed, _ := stated.Allows(o.options.purpose); !allowed {
			o.withheld.Add(1)
			return nil
		}
	}
	if err = errors.Join(o.writer.write(ctx, d), o.flush()); err != nil { // who reads along waits for it
		return fmt.Errorf("--output %s: %w", o.path, err)
	}
	if !o.tree {
		o.written++
	}
	return nil
}

// flush writes what is buffered, where all goes to one file.
func (o *crawlOutput) flush() error {
	if o.out == nil {
		return nil
	}
	return o.out.Flush()
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
	err = errors.Join(err, o.flush())
	if n := int(o.withheld.Load()); n > 0 {
		fmt.Fprintf(o.reported, "  %s left out, whose owners do not allow %s\n", wording.Count(n, "document"), o.options.purpose)
	}
	if o.tree && err == nil {
		fmt.Fprintf(o.reported, "  %s\n", o.writer.(*markdownTree).summary())
	}
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
