// Package writefile is the stage that writes what it is given to a file: a JSON value a line, or one XML
// document of annotations. Lines are appended, so a run that is repeated adds to what was there, and a
// line that a crash cut off spoils none but itself; an XML document is written anew, beside the old one,
// which it replaces only when it is complete.
package writefile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/webrace/webrace/internal/writable"
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
		Batch: pipeline.Batch{Count: 256, Period: pipeline.Duration(100 * time.Millisecond)},
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

	mu      sync.Mutex
	file    *os.File
	regular bool            // a disk has to be waited for
	failed  error           // of a write: what is in the file since then is unknown, and nothing is added to it
	written map[string]bool // ids of annotations in the XML document, which has each once
}

var (
	_ pipeline.BatchProcessor = (*stage)(nil)
	_ pipeline.Opener         = (*stage)(nil)
	_ pipeline.Closer         = (*stage)(nil)
	_ pipeline.Checker        = (*stage)(nil)
)

const (
	xmlHead = `<acis xmlns="` + xmlschema.Namespace + `">` + "\n"
	xmlFoot = "</acis>\n"
)

// part is where an XML document is written until it is complete.
func (s *stage) part() string { return s.options.Path + ".part" }

// Check finds out whether the file can be written. It is not made.
func (s *stage) Check(context.Context) error {
	path := s.options.Path
	err := writable.File(path)
	if s.options.Format == "xml" && err == nil {
		err = writable.Dir(filepath.Dir(path)) // where the document stands until it is complete
	}
	if err != nil {
		return &pipeline.OptionError{Option: "path", Err: err}
	}
	return nil
}

// Open opens the file.
func (s *stage) Open(context.Context) error {
	if err := os.MkdirAll(filepath.Dir(s.options.Path), 0o755); err != nil {
		return err
	}
	path, mode, head := s.options.Path, os.O_APPEND, ""
	if s.options.Format == "xml" {
		path, mode, head = s.part(), os.O_TRUNC, xmlHead
	} else if cutOff(path) {
		head = "\n"
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|mode, 0o644)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := file.Stat()
	s.file, s.regular, s.written = file, err == nil && info.Mode().IsRegular(), make(map[string]bool)
	return s.write([]byte(head))
}

// cutOff reports whether a crash has left the file's last line without an end.
func cutOff(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	last := make([]byte, 1)
	_, err = file.ReadAt(last, info.Size()-1)
	return err == nil && last[0] != '\n'
}

// ProcessBatch writes a group of values, or none of them, and waits for the disk once.
func (s *stage) ProcessBatch(_ context.Context, its []*pipeline.Item, _ pipeline.Emitter) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines bytes.Buffer
	var ids []string
	for _, it := range its {
		if aci, ok := it.Value.(*xmlschema.ACI); ok && s.options.Format == "xml" {
			if s.written[aci.ID] || slices.Contains(ids, aci.ID) {
				continue
			}
			ids = append(ids, aci.ID)
		}
		line, err := s.encode(it.Value)
		if err != nil {
			return err
		}
		lines.Write(line)
		lines.WriteByte('\n')
	}
	if err := s.write(lines.Bytes()); err != nil {
		return err
	}
	for _, id := range ids {
		s.written[id] = true
	}
	return nil
}

func (s *stage) write(lines []byte) error {
	if s.failed != nil {
		return s.failed
	}
	_, err := s.file.Write(lines)
	if err == nil && s.regular {
		err = s.file.Sync()
	}
	if err != nil {
		s.failed = fmt.Errorf("write %s: %w", s.options.Path, err)
	}
	return s.failed
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
	xml := s.options.Format == "xml"
	if xml {
		_ = s.write([]byte(xmlFoot)) // which is what fails below
	}
	err := errors.Join(s.failed, s.file.Close())
	s.file = nil
	switch {
	case !xml:
		return err
	case err != nil:
		return errors.Join(err, os.Remove(s.part()))
	}
	return os.Rename(s.part(), s.options.Path)
}
