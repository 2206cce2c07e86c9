// Package writefile is the stage that writes what it is given to a file: a JSON value a line, or one XML
// document of annotations. Lines are appended, so a run that is repeated adds to what was there; an XML
// document is written anew, and replaces the old one only when it is complete.
package writefile

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/xmlschema"
)

// Options of the stage.
type Options struct {
	Path   string `toml:"path" doc:"the file to write"`
	Format string `toml:"format" doc:"lines: a JSON value a line; xml: one document of annotations" enum:"lines,xml"`
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "write-file",
		Summary: "writes what it is given to a file, as JSON lines or as XML",
		Doc: "Lines are appended and are on disk before their items are acknowledged. XML takes annotations only; the document replaces " +
			"the file of that name when the run ends.",
		In:    pipeline.Kinds(pipeline.KindOf[any]()),
		Batch: pipeline.Batch{Count: 256, Period: pipeline.Duration(100_000_000)},
	}, Options{Format: "lines"}, func(o Options, _ *pipeline.Env) (any, error) { return &stage{options: o}, nil })
}

// Validate refuses to write nowhere.
func (o Options) Validate() error {
	if o.Path == "" {
		return &pipeline.OptionError{Option: "path", Err: errors.New("is not set: name the file to write")}
	}
	return nil
}

type stage struct {
	options Options

	mu   sync.Mutex
	file *os.File
	out  *bufio.Writer
}

var (
	_ pipeline.BatchProcessor = (*stage)(nil)
	_ pipeline.Opener         = (*stage)(nil)
	_ pipeline.Closer         = (*stage)(nil)
)

const (
	xmlHead = `<acis xmlns="` + xmlschema.Namespace + `">` + "\n"
	xmlFoot = "</acis>\n"
)

// Open opens the file; XML goes to one beside it first.
func (s *stage) Open(context.Context) error {
	if err := os.MkdirAll(filepath.Dir(s.options.Path), 0o755); err != nil {
		return err
	}
	var err error
	if s.options.Format == "xml" {
		s.file, err = os.CreateTemp(filepath.Dir(s.options.Path), filepath.Base(s.options.Path)+".*.part")
	} else {
		s.file, err = os.OpenFile(s.options.Path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	}
	if err != nil {
		return err
	}
	s.out = bufio.NewWriterSize(s.file, 64<<10)
	if s.options.Format == "xml" {
		_, err = s.out.WriteString(xmlHead)
	}
	return err
}

// ProcessBatch writes a group of values and waits for the disk once.
func (s *stage) ProcessBatch(_ context.Context, its []*pipeline.Item, _ pipeline.Emitter) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, it := range its {
		line, err := s.encode(it.Value)
		if err != nil {
			return err
		}
		if _, err := s.out.Write(append(line, '\n')); err != nil {
			return fmt.Errorf("write %s: %w", s.options.Path, err)
		}
	}
	return s.sync()
}

func (s *stage) sync() error {
	if err := errors.Join(s.out.Flush(), s.file.Sync()); err != nil {
		return fmt.Errorf("write %s: %w", s.options.Path, err)
	}
	return nil
}

func (s *stage) encode(value any) ([]byte, error) {
	if s.options.Format != "xml" {
		return json.Marshal(value)
	}
	aci, ok := value.(*xmlschema.ACI)
	if !ok {
		return nil, fmt.Errorf("XML takes annotations, got %T; use format = \"lines\"", value)
	}
	// a canonical annotation names its namespace, which here the root has
	return []byte(strings.Replace(string(aci.Canonical()), ` xmlns="`+xmlschema.Namespace+`"`, "", 1)), nil
}

// Close completes the file.
func (s *stage) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	file := s.file
	if s.options.Format == "xml" {
		s.out.WriteString(xmlFoot) // an error stays with the writer until it is flushed
	}
	err := errors.Join(s.sync(), file.Close())
	s.file = nil
	if s.options.Format != "xml" {
		return err
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return os.Rename(file.Name(), s.options.Path)
}
