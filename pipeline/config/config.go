// Package config makes the graphs of a pipelines.toml, and tells of it what else there is to know: what is wrong, by
// file, line and column, what can be written into it, and what its tests are. What is wrong is found all at once.
package config

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/finding"
	"github.com/webrace/webrace/pipeline/internal/flow"
)

// LoadOptions determines how a configuration is read. The zero value will do.
type LoadOptions struct {
	// Registry knows the stage types; nil is the [pipeline.DefaultRegistry].
	Registry *pipeline.Registry
	// Run names the pipelines that are wanted, and no others are checked: one that is not run may need a
	// variable that is not set. Nil means all of them; an empty list means none.
	Run []string
	// Set overrides options: STAGE.OPTION=VALUE in all of those pipelines that have the stage, or
	// PIPELINE.STAGE.OPTION=VALUE in one. An option within a table is written TABLE.OPTION. VALUE is
	// TOML; strings need no quotes, and lists of scalars may be written with commas alone.
	Set []string
	// Env looks up a variable of the environment; nil is [os.LookupEnv].
	Env func(string) (string, bool)
	// Data overrides the data directory, and Memory the budget of memory.
	Data, Memory string
	// CheckControl returns what is wrong with where the control store is, without a network; nil takes anything.
	CheckControl func(string) error
	// Tests reads the tests as well: the [[test]] tables of these files, and those of files *_test.toml
	// beside the main one.
	Tests bool
	// Beside is, for [Parse], what stands in the file of tests beside the configuration, of whose name its own is made.
	Beside []byte
}

// Config is a configuration in which nothing is wrong.
type Config struct {
	Data      string         // the data directory, as it is written: relative to the working directory
	Control   string         // where the control store is, as the program that opens it understands; empty: in Data
	Cluster   *Cluster       // that this machine is a node of; nil: it is alone
	Memory    pipeline.Size  // the budget of memory; 0: as the machine allows
	Files     []string       // the files that were read, the main one first
	Includes  []string       // the patterns of files that the main one includes
	Pipelines []PipelineInfo // sorted by name; also those that were not checked
	Tests     []Test         // in the order of the files; none unless they were asked for
	Warnings  finding.List   // of what works, and is to be written in another way, or may not be what is meant

	graphs  map[string]*pipeline.Graph
	sources map[string][]byte
}

// Source returns what was in a file of the configuration when it was read; nil if it is none.
func (c *Config) Source(file string) []byte { return c.sources[file] }

// PipelineInfo is a pipeline of a configuration.
type PipelineInfo struct {
	Name  string
	Title string
	Pos   finding.Position
}

const defaultData = "${WEBRACE_DATA:-./data}"

// LeastMemory is the smallest budget: a process that does nothing needs as much.
const LeastMemory pipeline.Size = 64 << 20

// Load reads a configuration file and those that it includes. What is wrong with them is reported all at
// once: the error is then a [finding.List], with the warnings behind what is wrong.
func Load(path string, o LoadOptions) (*Config, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	l := newLoader(o)
	if doc := l.read(path, src); doc != nil {
		l.includes(doc)
		if o.Tests {
			l.readTests(path)
		}
	}
	return l.finish()
}

// Parse reads a configuration that is not in a file, and therefore cannot include others. Positions name
// it as its file.
func Parse(name string, src []byte, o LoadOptions) (*Config, error) {
	l := newLoader(o)
	if doc := l.read(name, src); doc != nil {
		if include := doc.root.get("include"); include != nil {
			l.report(include.keyFinding(finding.CodeFile, "only a file can include others"))
		}
		if o.Tests && o.Beside != nil {
			l.read(strings.TrimSuffix(name, ".toml")+"_test.toml", o.Beside)
		}
	}
	return l.finish()
}

// Graph returns a pipeline, ready to run. It is shared: change a copy.
func (c *Config) Graph(name string) (*pipeline.Graph, error) {
	if g := c.graphs[name]; g != nil {
		return g, nil
	}
	var names []string
	for _, p := range c.Pipelines {
		if p.Name == name {
			return nil, fmt.Errorf("pipeline %q was not among those to be run", name)
		}
		names = append(names, p.Name)
	}
	return nil, finding.List{unknownPipeline(name, names)}
}

func unknownPipeline(name string, names []string) finding.Finding {
	f := finding.Finding{Code: finding.CodeUnknownPipeline, Message: fmt.Sprintf("there is no pipeline %q", name), Hint: suggest.Nearest(name, names)}
	if len(names) > 0 {
		f.Message += "; there are " + suggest.Choices(name, names)
	}
	return f
}

// loader reads the files of a configuration, then makes the pipelines of what it found in them.
type loader struct {
	options   LoadOptions
	registry  *pipeline.Registry
	docs      []*document
	data      string
	control   string
	cluster   *Cluster
	memory    pipeline.Size
	pipelines map[string]*value // the tables by name
	defaults  map[string]*value // the tables by stage type
	decoded   map[string]typeDefaults
	types     map[string]*stageType // as they were looked up
	sets      []*setting
	flags     []*document // what the settings are written in
	findings  finding.List
	warnings  finding.List
	patterns  []string // of files to include
}

func newLoader(o LoadOptions) *loader {
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	return &loader{
		options: o, registry: cmp.Or(o.Registry, pipeline.DefaultRegistry),
		pipelines: make(map[string]*value), defaults: make(map[string]*value), decoded: make(map[string]typeDefaults), types: make(map[string]*stageType),
	}
}

func (l *loader) report(f finding.Finding) { l.findings = append(l.findings, f) }

// read adds one file to the configuration, or returns nil if it is no TOML.
func (l *loader) read(name string, src []byte) *document {
	doc, problem := parseDocument(name, src)
	doc.order = len(l.docs)
	l.docs = append(l.docs, doc)
	if problem != nil {
		l.report(*problem)
		return nil
	}
	keys := []string{"version", "data", "control", "cluster", "memory", "include", "defaults", "pipeline", "test"}
	for _, key := range doc.root.keys {
		v := doc.root.table[key]
		switch {
		case !slices.Contains(keys, key):
			f := v.keyFinding(finding.CodeUnknownKey, fmt.Sprintf("nothing reads %q", key))
			f.Hint = suggest.Nearest(key, keys)
			l.report(f)
		case doc.order > 0 && slices.Contains([]string{"data", "control", "cluster", "memory", "include"}, key):
			l.report(v.keyFinding(finding.CodeUnknownKey, fmt.Sprintf("%q stands in the main file only", key)))
		}
	}
	l.version(doc)
	if doc.order == 0 {
		l.dataDirectory(doc)
		l.controlStore(doc)
		l.clusterTable(doc)
		l.memoryBudget(doc)
	}
	l.tables(doc.root.get("defaults"), "defaults", l.defaults)
	l.tables(doc.root.get("pipeline"), "pipeline", l.pipelines)
	return doc
}

func (l *loader) version(doc *document) {
	v := doc.root.get("version")
	switch {
	case v == nil && doc.order == 0:
		l.report(finding.Finding{Pos: doc.position(0), Code: finding.CodeVersion, Message: "version = 1 is missing", Width: 1})
	case v != nil && (v.kind != integerValue || v.text != "1"):
		l.report(v.finding(finding.CodeVersion, "this program reads version = 1"))
	}
}

func (l *loader) dataDirectory(doc *document) {
	v := &value{kind: stringValue, text: defaultData, doc: &document{name: doc.name}}
	if written := doc.root.get("data"); written != nil {
		v = written
	}
	switch {
	case l.options.Data != "":
		l.data = l.options.Data
	case v.kind != stringValue:
		l.report(v.finding(finding.CodeWrongType, fmt.Sprintf("data takes a string, not %s", v.kind)))
	default:
		data, wrong := l.expand(v)
		if l.findings = append(l.findings, wrong...); wrong == nil && data == "" {
			l.report(v.finding(finding.CodeBadValue, "data is empty"))
		}
		l.data = data
	}
}

// controlStore reads where the control store is, if that is not in the data directory.
func (l *loader) controlStore(doc *document) {
	v := doc.root.get("control")
	if v == nil {
		return
	}
	var wrong []finding.Finding
	if v.kind != stringValue {
		wrong = finding.List{v.finding(finding.CodeWrongType, fmt.Sprintf("control takes a string, not %s", v.kind))}
	} else if l.control, wrong = l.expand(v); wrong == nil && l.control != "" && l.options.CheckControl != nil {
		if err := l.options.CheckControl(l.control); err != nil {
			wrong = finding.List{v.finding(finding.CodeBadValue, "control: "+err.Error())}
		}
	}
	for _, f := range wrong {
		l.reportAt("control", f)
	}
}

// memoryBudget reads how much memory the process uses, unless the caller sets it.
func (l *loader) memoryBudget(doc *document) {
	v := doc.root.get("memory")
	if l.options.Memory != "" {
		v = &value{kind: stringValue, text: l.options.Memory, doc: &document{name: "--memory", flag: true}}
	}
	if v == nil {
		return
	}
	text, wrong := v.text, []finding.Finding(nil)
	switch v.kind {
	case integerValue:
	case stringValue:
		text, wrong = l.expand(v)
	default:
		wrong = finding.List{v.finding(finding.CodeWrongType, fmt.Sprintf("memory takes a size, not %s", v.kind))}
	}
	if l.findings = append(l.findings, wrong...); wrong != nil {
		return
	}
	if err := l.memory.UnmarshalText([]byte(text)); err != nil {
		l.report(v.finding(finding.CodeBadValue, "memory: "+err.Error()))
	} else if l.memory < LeastMemory {
		l.report(v.finding(finding.CodeBadValue, fmt.Sprintf("memory: with less than %s nothing runs", LeastMemory)))
	}
}

// tables adds the tables in a table to those that were found in other files.
func (l *loader) tables(v *value, what string, into map[string]*value) {
	if v == nil {
		return
	}
	if v.kind != tableValue {
		l.report(v.keyFinding(finding.CodeWrongType, fmt.Sprintf("%q is a table of tables, [%s.NAME]", what, what)))
		return
	}
	for _, name := range v.keys {
		entry := v.table[name]
		first, twice := into[name]
		switch {
		case entry.kind != tableValue:
			l.report(entry.keyFinding(finding.CodeWrongType, fmt.Sprintf("%s.%s is a table, not %s", what, name, entry.kind)))
		case twice:
			l.report(entry.keyFinding(finding.CodeDuplicate, fmt.Sprintf("%s.%s stands twice; first at %s", what, name, first.keyPosition())))
		case !flow.IsName(name):
			l.report(entry.keyFinding(finding.CodeBadName, fmt.Sprintf("the name %q does not consist of letters, digits, - and _", name)))
		default:
			into[name] = entry
		}
	}
}

// includes reads the files that the main file includes, in the order of the patterns, then of their
// names.
func (l *loader) includes(doc *document) {
	include := doc.root.get("include")
	if include == nil {
		return
	}
	for _, pattern := range l.texts(include, "include") {
		text, wrong := l.expand(pattern)
		if wrong != nil {
			l.findings = append(l.findings, wrong...)
			continue
		}
		if !filepath.IsAbs(text) {
			text = filepath.Join(filepath.Dir(doc.name), text)
		}
		l.patterns = append(l.patterns, text)
		paths, err := filepath.Glob(text)
		switch {
		case err != nil:
			l.report(pattern.finding(finding.CodeFile, fmt.Sprintf("include %s: %v", text, err)))
		case len(paths) == 0 && !strings.ContainsAny(text, "*?["):
			l.report(pattern.finding(finding.CodeFile, fmt.Sprintf("there is no file %s", text)))
		}
		for _, path := range paths {
			l.include(path, pattern)
		}
	}
}

func (l *loader) include(path string, pattern *value) {
	if slices.ContainsFunc(l.docs, func(d *document) bool { return filepath.Clean(d.name) == path }) {
		return
	}
	src, err := os.ReadFile(path)
	if err != nil {
		f := finding.Finding{Pos: finding.Position{File: path}, Code: finding.CodeFile, Message: err.Error()}
		if pattern != nil {
			f = pattern.finding(finding.CodeFile, fmt.Sprintf("include: %v", err))
		}
		l.report(f)
		return
	}
	l.read(path, src)
}

// texts returns a string, or the strings of a list, as a list.
func (l *loader) texts(v *value, what string) []*value {
	list := []*value{v}
	if v.kind == listValue {
		list = v.list
	}
	strings := make([]*value, 0, len(list))
	for _, s := range list {
		if s.kind != stringValue {
			l.report(s.finding(finding.CodeWrongType, fmt.Sprintf("%s takes strings, not %s", what, s.kind)))
			continue
		}
		strings = append(strings, s)
	}
	return strings
}

// finish makes the pipelines, and the configuration if nothing is wrong.
func (l *loader) finish() (*Config, error) {
	c := &Config{Data: l.data, Control: l.control, Cluster: l.cluster, Memory: l.memory, Includes: l.patterns, graphs: make(map[string]*pipeline.Graph), sources: make(map[string][]byte)}
	names := slices.Sorted(maps.Keys(l.pipelines))
	wanted := names
	if l.options.Run != nil {
		wanted = l.wanted(names)
	}
	l.parseSettings(wanted)
	for _, name := range wanted {
		c.graphs[name] = l.pipeline(name, l.pipelines[name])
	}
	l.unusedSettings(wanted)
	l.checkDefaults()
	if l.options.Tests {
		c.Tests = l.tests()
	}
	for _, name := range names {
		table := l.pipelines[name]
		c.Pipelines = append(c.Pipelines, PipelineInfo{name, title(table), table.keyPosition()})
	}
	for _, doc := range l.docs {
		c.Files = append(c.Files, doc.name)
		c.sources[doc.name] = doc.src
	}
	c.Warnings = l.located(l.warnings)
	if len(l.findings) > 0 {
		return nil, append(l.located(l.findings), c.Warnings...)
	}
	return c, nil
}

// wanted returns the pipelines to be run, each once, and reports those that do not exist.
func (l *loader) wanted(names []string) []string {
	var wanted []string
	for _, name := range l.options.Run {
		switch {
		case slices.Contains(wanted, name):
		case l.pipelines[name] == nil:
			l.report(unknownPipeline(name, names))
		default:
			wanted = append(wanted, name)
		}
	}
	return wanted
}

// located adds to findings the lines that they are about, and puts them in order.
func (l *loader) located(findings finding.List) finding.List {
	byName := make(map[string]*document, len(l.docs))
	for _, doc := range slices.Concat(l.docs, l.flags) {
		byName[doc.name] = doc
	}
	order := make(map[string]int, len(byName))
	for name, doc := range byName {
		order[name] = doc.order
	}
	for i := range findings {
		f := &findings[i]
		if doc := byName[f.Pos.File]; doc != nil {
			f.SourceLine = doc.line(f.Pos.Line)
		}
	}
	return findings.Sorted(func(file string) int { return order[file] })
}
