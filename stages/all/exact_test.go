package all

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"os"
	osexec "os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/stages/print"
	"github.com/webrace/webrace/storage"
)

// sent is a record that is sent: a number, and a specimen.
type sent struct {
	number int
	specimen
}

func (s sent) field() string { return cmp.Or(s.name, "v") }

// record is its JSON.
func (s sent) record() string {
	if s.json == "" {
		return fmt.Sprintf(`{"i":%d}`, s.number)
	}
	name, _ := json.Marshal(s.field())
	return fmt.Sprintf(`{"i":%d,%s:%s}`, s.number, name, s.json)
}

// text is what a cell or an element has of it: a text as it is, anything else as JSON.
func (s sent) text() (string, bool) {
	if s.counted != "" {
		return "", false
	}
	if text, isText := decoded(s.json).(string); isText {
		return text, true
	}
	return s.json, true
}

// decoded reads JSON with a reader that shares nothing with that of the program.
func decoded(text string) (v any) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil
	}
	return v
}

// way is one of a source, a stage between or a sink: how it stands in a pipeline, and what passes it.
type way struct {
	options string                         // of the stage
	write   func(t *testing.T, all []sent) // gives a source its records before the run
	send    func(t *testing.T, all []sent) // or while it goes on
	takes   func(s sent) bool              // nil: all
	read    func(t *testing.T) map[int]any // what has come out, by the number of the record
	asTexts bool                           // values are texts
	byValue bool                           // numbers are not written
	nulls   bool                           // what is missing is null
	strict  bool                           // what is counted is refused, by the counter "bad"
}

// TestExact sends numbers and texts through each pair of a source and a sink that lint admits, and through stages
// between: what comes out is what went in, or is counted by name.
func TestExact(t *testing.T) {
	t.Parallel()
	if len(specimens) < 60 {
		t.Fatalf("there are %d specimens", len(specimens))
	}
	pairs := 0
	for _, source := range variants(t, isSource) {
		for _, sink := range variants(t, isSink) {
			p := newPair(t, source, "", sink)
			if !p.admitted() {
				continue
			}
			pairs++
			t.Run(source+" to "+sink, func(t *testing.T) {
				p.T = t
				p.check()
			})
		}
	}
	if pairs < 20 {
		t.Errorf("%d pairs were tried: lint admits no more", pairs)
	}
	t.Logf("%d specimens, %d pairs", len(specimens), pairs)
	for _, between := range []string{"queue", "exec", "map", "map copies", "batch", "dedupe", "dead letter"} {
		t.Run("through "+between, func(t *testing.T) {
			newPair(t, "read-file/jsonl", between, "write-file/jsonl").check()
		})
	}
}

func isSource(s pipeline.Spec) bool { return len(s.In) == 0 && s.Type != "lines" }

// isSink reports whether a stage takes records, and gives nothing of its own.
func isSink(s pipeline.Spec) bool {
	return s.Effect != "" && slices.ContainsFunc(s.In, func(k pipeline.Kind) bool { return k.Accepts(pipeline.KindOf[pipeline.Record]()) }) || s.Type == "write-file" || s.Type == "print"
}

// variants lists the types of stages of a sort with their formats: "read-file/csv".
func variants(t *testing.T, of func(pipeline.Spec) bool) (all []string) {
	t.Helper()
	for _, name := range pipeline.DefaultRegistry.Types() {
		spec, _ := pipeline.DefaultRegistry.Lookup(name)
		if !of(spec) {
			continue
		}
		formats := []string{""}
		for _, option := range config.Options(nil, name) {
			if option.Name == "format" && option.Enum != nil {
				formats = option.Enum
			}
		}
		for _, format := range formats {
			variant := strings.TrimSuffix(name+"/"+format, "/")
			if others[variant] == "" {
				all = append(all, variant)
			}
		}
	}
	return all
}

// others are sources and sinks of which no record comes, or that no program reads, and why.
var others = map[string]string{
	"acis": "follows a store", "objects": "follows a store", "frontier": "a queue of URLs", "urds": "follows a store", "quad-links": "follows a store", "warc-source": "gives documents, as they are",
	"gc": "gives what it removed", "sparql": "answers queries", "portal": "gives mails", "source-watch": "follows a store", "http-in/bytes": "gives bytes, as they are", "http-in/urls": "gives requests",
	"print/text": "is for people", "mail-out": "is for people",
}

// pair is a pipeline of a source, perhaps a stage between, and a sink.
type pair struct {
	*testing.T
	dir                   string
	source, between, sink string
	from, through, to     way
	toml                  string
	printed               bytes.Buffer
	letters               *letters
	counters              map[string]int64 // of all stages and runs
}

// absent is the value of a field that is missing.
type absent struct{}

func newPair(t *testing.T, source, between, sink string) *pair {
	t.Helper()
	p := &pair{T: t, dir: t.TempDir(), source: source, between: between, sink: sink, letters: new(letters), counters: make(map[string]int64)}
	var known, there bool
	if p.from, known = p.sources()[source]; known {
		p.to, there = p.sinks()[sink]
	}
	if !known || !there {
		t.Fatalf("it is not known how %s and %s are tried: say so here, or why not", source, sink)
	}
	if between != "" {
		p.through = p.stages()[between]
	}
	p.toml = p.text()
	return p
}

// text is the configuration.
func (p *pair) text() string {
	sourceType, sourceFormat, _ := strings.Cut(p.source, "/")
	sinkType, sinkFormat, _ := strings.Cut(p.sink, "/")
	flow := sourceType + " > " + sinkType
	if p.between != "" {
		flow = sourceType + " > between > " + sinkType
	}
	text := fmt.Sprintf("version = 1\n[pipeline.p]\nflow = [%q]\n[pipeline.p.stage.%s]\nformat = %q\n%s\n[pipeline.p.stage.%s]\nformat = %q\n%s\n",
		flow, sourceType, sourceFormat, p.from.options, sinkType, sinkFormat, p.to.options)
	if p.between != "" {
		text += "[pipeline.p.stage.between]\n" + p.through.options + "\n"
	}
	return text
}

func (p *pair) graph() (*pipeline.Graph, error) {
	c, err := config.Parse("p.toml", []byte(p.toml), config.LoadOptions{Data: p.dir})
	if err != nil {
		return nil, err
	}
	return c.Graph("p")
}

func (p *pair) admitted() bool {
	_, err := p.graph()
	if err != nil && !strings.Contains(err.Error(), "takes") {
		p.Fatal(err) // it is not admitted for what it is given
	}
	return err == nil && len(p.chosen()) > 0
}

// chosen are the records that all parts of the pipeline can have.
func (p *pair) chosen() (all []sent) {
	for i, s := range specimens {
		one := sent{i + 1, s}
		takes := func(w way) bool { return w.takes == nil || w.takes(one) }
		if takes(p.from) && takes(p.through) && takes(p.to) {
			all = append(all, one)
		}
	}
	return all
}

// check runs the pipeline, and compares.
func (p *pair) check() {
	p.Helper()
	all := p.chosen()
	if p.from.write != nil {
		p.from.write(p.T, all)
	}
	p.run(func() {
		if p.from.send != nil {
			p.from.send(p.T, all)
		}
	})
	if p.between == "dead letter" {
		p.replay()
	}
	got := p.to.read(p.T)
	counted := make(map[string]int64)
	for _, s := range all {
		p.compare(s, got, counted)
		delete(got, s.number)
	}
	if len(got) > 0 {
		p.Errorf("what was not sent came out: %v", got)
	}
	for name, n := range counted {
		if p.counters[name] != n {
			p.Errorf("%s is %d, want %d", name, p.counters[name], n)
		}
	}
}

// compare holds what has come out of a record against what went in.
func (p *pair) compare(s sent, got map[int]any, counted map[string]int64) {
	came, there := got[s.number]
	want, refused := s.json, s.counted != "" && (p.from.strict || s.left == "")
	switch {
	case refused && p.from.strict:
		counted["bad"]++
	case s.counted != "":
		counted[s.counted]++
		want = s.left
	}
	if refused != !there {
		p.Errorf("%s: came out: %t; counted: %q", s.record(), there, s.counted)
	}
	if refused || !there {
		return
	}
	value := decoded(want)
	switch {
	case p.from.asTexts:
		value, _ = s.text()
	case s.json == "" && !p.to.nulls:
		value = absent{}
	}
	if p.to.asTexts {
		value, came = cell(value, want), cellOf(value, came)
	}
	if p.to.byValue {
		value, came = byValue(value), byValue(came)
	}
	if !reflect.DeepEqual(came, value) {
		p.Errorf("%s came out as %#v, want %#v", s.record(), came, value)
	}
}

// cell is what a file of texts has of a value; a list or an object is its JSON, in whatever form.
func cell(v any, text string) any {
	switch v := v.(type) {
	case nil, absent:
		return ""
	case string, []any, map[string]any:
		return v
	}
	return text
}

func cellOf(v, came any) any {
	text, isText := came.(string)
	switch v.(type) {
	case []any, map[string]any:
		if isText {
			return decoded(text)
		}
	}
	return came
}

// byValue makes numbers that are the same one.
func byValue(v any) any {
	switch v := v.(type) {
	case json.Number:
		r, _ := new(big.Rat).SetString(v.String())
		return r.RatString()
	case []any:
		for i := range v {
			v[i] = byValue(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = byValue(v[name])
		}
	}
	return v
}

// run runs the pipeline while records are sent.
func (p *pair) run(send func()) {
	p.Helper()
	g, err := p.graph()
	if err != nil {
		p.Fatal(err)
	}
	data, err := storage.Open(filepath.Join(p.dir, "data"), storage.Options{})
	if err != nil {
		p.Fatal(err)
	}
	defer data.Close()
	resources := new(pipeline.Resources)
	pipeline.Provide(resources, data)
	pipeline.Provide(resources, print.Output{Writer: &p.printed})
	run, err := g.Start(p.Context(), pipeline.RunOptions{Resources: resources, DeadLetters: p.letters})
	if err != nil {
		p.Fatal(err)
	}
	send()
	if p.from.send != nil {
		run.Drain()
	}
	report, err := run.Wait()
	if err != nil {
		p.Fatal(err)
	}
	for _, stage := range report.Stages {
		for name, n := range stage.Counters {
			p.counters[name] += n
		}
	}
}

// recordRows reads records of JSON as a sink has them.
func recordRows(t *testing.T, texts ...string) map[int]any {
	t.Helper()
	all := make(map[int]any)
	for _, text := range texts {
		if strings.TrimSpace(text) == "" {
			continue
		}
		value := decoded(text)
		if line, isText := value.(string); isText {
			maps.Copy(all, textRows(t, line))
			continue
		}
		row, ok := value.(map[string]any)
		if !ok {
			t.Fatalf("%q is no record", text)
		}
		number := numberOf(t, row["i"])
		delete(row, "i")
		if len(row) > 1 {
			t.Errorf("record %d has the fields %v", number, slices.Sorted(maps.Keys(row)))
		}
		all[number] = absent{}
		for name, v := range row {
			if want := (sent{number, specimens[number-1]}).field(); name != want {
				t.Errorf("record %d has the field %q, want %q", number, name, want)
			}
			all[number] = v
		}
	}
	return all
}

func numberOf(t *testing.T, v any) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(fmt.Sprint(v), &n); err != nil || n < 1 || n > len(specimens) {
		t.Fatalf("a record has the number %v", v)
	}
	return n
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// python has a program read a file, whose answer is JSON.
func python(t *testing.T, source, path string) any {
	t.Helper()
	program, err := osexec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not here")
	}
	c := osexec.Command(program, "-c", source, path)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	return decoded(string(out))
}

func encoded(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}
