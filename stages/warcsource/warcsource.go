// Package warcsource is the stage that reads archives: the documents of WARC files flow as if they had just
// been fetched, so that an archive can be annotated, indexed or stored again without a network.
//
// What it guarantees: every document that is whole in a file is emitted, and the place up to which everything
// was dealt with is kept for each file. The same command goes on from there, whatever ended the last one; what
// was in work then, and after kill -9 a second or 64 documents before it, comes again and gives the same
// annotations. What is broken is passed over, counted, and
// reported with its file and offset. Memory does not depend on the size of files.
package warcsource

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/storage/objects/warc"
)

// Options of the stage.
type Options struct {
	Paths   []string      `toml:"paths" doc:"WARC files, patterns such as crawl-*.warc.gz, or directories with such files; read in the order of their names"`
	Rules   []string      `toml:"rules" doc:"which documents are taken, as in frontier.rules: \"allow host example.org\", \"deny all\""`
	Since   string        `toml:"since" doc:"take documents of that date or later: 2026-11-21, or with a time"`
	Until   string        `toml:"until" doc:"take documents from before that date"`
	MaxBody pipeline.Size `toml:"max_body" doc:"the largest body, decompressed; what is beyond is cut off, and the document marked as truncated"`
	Restart bool          `toml:"restart" doc:"begin every file again instead of going on: after what owners ask for has changed"`
}

var defaults = Options{MaxBody: 8_000_000}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "warc-source",
		Once:    true,
		Summary: "reads the documents of WARC files, as if they had just been fetched",
		Doc: "WARC 1.0 and 1.1, plain or compressed with gzip or zstd. It remembers how far it has come in each file under the name of its pipeline " +
			"and stage, and ends behind the last file. No crawl has come to these documents: keyword-filter.audience says who is told of them.",
		Out: []pipeline.Port{{
			Kind: pipeline.KindOf[*webrace.Document](), Doc: "each document that an answer brought, at its date",
			Cases: []pipeline.Case{{Name: string(webrace.Fetched), Parts: []pipeline.Part{webrace.PartBody, webrace.PartVersion}}},
		}},
	}, defaults, newStage)
}

// Validate refuses dates and rules that cannot be read.
func (o Options) Validate() error {
	if len(o.Paths) == 0 || slices.Contains(o.Paths, "") {
		return &pipeline.OptionError{Option: "paths", Err: errors.New("name the files to read")}
	}
	for _, path := range o.Paths {
		if _, err := filepath.Match(path, ""); err != nil {
			return &pipeline.OptionError{Option: "paths", Err: fmt.Errorf("%q: %w", path, err)}
		}
	}
	for option, date := range map[string]string{"since": o.Since, "until": o.Until} {
		if _, err := dateOf(date); err != nil {
			return &pipeline.OptionError{Option: option, Err: err}
		}
	}
	if o.MaxBody < 1 {
		return &pipeline.OptionError{Option: "max_body", Err: fmt.Errorf("%d bytes are not at least 1", o.MaxBody)}
	}
	if _, err := scope.ParseRules(o.Rules); err != nil {
		return &pipeline.OptionError{Option: "rules", Err: err}
	}
	return nil
}

// dateOf reads a date of an option; none is the zero time.
func dateOf(date string) (time.Time, error) {
	if date == "" {
		return time.Time{}, nil
	}
	return warc.ParseDate(date)
}

type stage struct {
	options      Options
	env          *pipeline.Env
	places       *objects.Store // keeps the places
	rules        *scope.Rules
	since, until time.Time
}

var (
	_ pipeline.Source  = (*stage)(nil)
	_ pipeline.Opener  = (*stage)(nil)
	_ pipeline.Checker = (*stage)(nil)
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	dir, err := pipeline.Resource[*storage.Dir](env)
	if err != nil {
		return nil, err
	}
	s := &stage{options: o, env: env}
	if s.places, err = dir.Objects(); err != nil {
		return nil, err
	}
	if s.rules, err = scope.ParseRules(o.Rules); err != nil {
		return nil, err
	}
	if s.since, err = dateOf(o.Since); err != nil {
		return nil, err
	}
	if s.until, err = dateOf(o.Until); err != nil {
		return nil, err
	}
	return s, nil
}

// Open refuses to read where there is nothing to be read.
func (s *stage) Open(context.Context) error {
	_, err := find(s.options.Paths)
	return err
}

// Check finds out whether the files are there and can be read.
func (s *stage) Check(context.Context) error {
	files, err := find(s.options.Paths)
	if err != nil {
		return &pipeline.OptionError{Option: "paths", Err: err}
	}
	var unreadable []error
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			unreadable = append(unreadable, &pipeline.OptionError{Option: "paths", Err: err})
			continue
		}
		file.Close()
	}
	return errors.Join(unreadable...)
}

// Run reads one file after the other.
func (s *stage) Run(ctx context.Context, out pipeline.Emitter) error {
	files, err := find(s.options.Paths)
	if err != nil {
		return err
	}
	first := &originals{files: files}
	defer first.close()
	for _, name := range files {
		if err := s.readFile(ctx, name, first, out); err != nil || ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// find returns the files that are meant, each once, in the order of their names within each of the paths.
func find(paths []string) (files []string, err error) {
	for _, path := range paths {
		found, err := filepath.Glob(path)
		if err != nil {
			return nil, fmt.Errorf("find %s: %w", path, err)
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			if found, err = inDirectory(path); err != nil {
				return nil, err
			}
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("there is no WARC file at %s: say where there are some by the option paths (in the shipped pipeline: WEBRACE_ARCHIVE=…)", path)
		}
		for _, name := range found {
			if name, err = filepath.Abs(name); err != nil {
				return nil, fmt.Errorf("find %s: %w", path, err)
			}
			if !slices.Contains(files, name) {
				files = append(files, name)
			}
		}
	}
	return files, nil
}

// inDirectory returns the WARC files in a directory.
func inDirectory(path string) (files []string, err error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := strings.ToLower(e.Name())
		if !e.IsDir() && strings.HasSuffix(strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst"), ".warc") {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	return files, nil
}
