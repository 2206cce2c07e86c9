// Package exec is the stage that another program does the work of, in whatever language: it is started
// once, gets items on its standard input and answers on its standard output, in frames that docs/plugins.md
// describes. Many items are in flight at once, so that the way there and back is paid for once for all of
// them.
//
// What an item yields is passed on when the program reports that it is done with it, and not before: an item
// that fails has emitted nothing. A program that dies, hangs or breaks the protocol is killed with all that
// it has started, and started again after a pause. The items that it had are given to the new process one at
// a time, so that one that it dies of or hangs at fails alone, and none fails for another. Standard error
// is logged line by line, and its last lines are part of the error.
package exec

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace/pipeline"

	_ "github.com/webrace/webrace/stages/kinds" // the names that programs know values by
)

// Options of the stage.
type Options struct {
	Command   []string                   `toml:"command" doc:"the program and its arguments"`
	Takes     []string                   `toml:"takes" doc:"the kinds that it takes, or any"`
	Gives     []Output                   `toml:"gives" doc:"what it gives"`
	Needs     []string                   `toml:"needs" doc:"the parts that it needs of each document: body, text, links, version; [] if none; where it is left out, what the program says"`
	Options   pipeline.Table             `toml:"options" doc:"options of the program, which says itself what there are"`
	Processes int                        `toml:"processes" doc:"how many processes share the work; at each place of on, if there are such"`
	On        []string                   `toml:"on" doc:"places that share the work, each by a prefix of the command: [\"\", \"ssh node2\"] runs it here and there; if it is left out, it runs here"`
	InFlight  int                        `toml:"in_flight" doc:"the most items that one process has at once; not more than there are workers"`
	Timeout   pipeline.Duration          `toml:"timeout" doc:"the longest that the program may take for an item before it is killed"`
	Ready     pipeline.Duration          `toml:"ready" doc:"the longest that it may take to be ready"`
	Grace     pipeline.Duration          `toml:"grace" doc:"the longest that it may take to end once there is no more input"`
	MaxFrame  pipeline.Size              `toml:"max_frame" doc:"the largest frame, and the most that one item may yield"`
	MaxMemory pipeline.Size              `toml:"max_memory" doc:"the most memory that a process may need, with all that it has started, before it is killed (Linux; of one that runs elsewhere, what ssh needs here); 0 is no limit"`
	Env       map[string]pipeline.Secret `toml:"env" doc:"variables of its environment; besides it gets a few of this process, such as PATH and HOME, and no others: env = { API_KEY = \"${API_KEY}\" } passes one on, { API_KEY = \"${file:/run/secrets/key}\" } what a file holds"`
	Dir       string                     `toml:"dir" doc:"its working directory"`
}

// Output is a port of the program.
type Output struct {
	Port string `toml:"port" doc:"its name; the default port where it is left out"`
	Kind string `toml:"kind" doc:"the kind of what leaves it; same for what it was given"`
	Doc  string `toml:"doc" doc:"what leaves it, in a phrase"`
}

const sameKind = "same"

const leastMemory pipeline.Size = 1 << 20

var defaults = Options{
	Takes: []string{"document"}, Gives: []Output{{Kind: "document"}},
	Processes: 1, InFlight: 32, MaxFrame: 64 << 20,
	Timeout: pipeline.Duration(30 * time.Second), Ready: pipeline.Duration(10 * time.Second), Grace: pipeline.Duration(5 * time.Second),
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "exec",
		Summary: "has a program of yours do the work, in any language",
		Doc: "The program gets items on its standard input and answers on its standard output (docs/plugins.md). It takes and gives " +
			"what takes and gives say; a program that says otherwise of itself is not started. The counter `invalid_text` says how many values " +
			"had text that is no Unicode, in whose place they have U+FFFD.",
		In:      pipeline.Kinds(pipeline.KindOf[any]()),
		Workers: 32, NeedsLater: true, PerProcess: true,
	}, defaults, newStage)
}

// environment returns the variables that are named, as they are.
func (o Options) environment() map[string]string {
	all := make(map[string]string, len(o.Env))
	for name, value := range o.Env {
		all[name] = value.Reveal()
	}
	return all
}

// fault is about an option.
func fault(option, format string, args ...any) error {
	return &pipeline.OptionError{Option: option, Err: fmt.Errorf(format, args...)}
}

// Validate refuses what no program can be run by.
func (o Options) Validate() error {
	switch {
	case len(o.Command) == 0 || o.Command[0] == "":
		return fault("command", `is not set: name the program and its arguments, as ["python3", "shout.py"]`)
	case len(o.Takes) == 0:
		return fault("takes", "is empty: the program has to be given something")
	case o.Processes < 1:
		return fault("processes", "%d processes do no work", o.Processes)
	case o.InFlight < 1:
		return fault("in_flight", "%d items in flight are none", o.InFlight)
	case o.MaxMemory != 0 && o.MaxMemory < leastMemory:
		return fault("max_memory", "with less than %v no program starts", leastMemory)
	case o.MaxFrame < 4<<10 || o.MaxFrame > 1<<30:
		return fault("max_frame", "%v is not between 4KiB and 1GiB", o.MaxFrame)
	}
	for name, d := range map[string]pipeline.Duration{"timeout": o.Timeout, "ready": o.Ready, "grace": o.Grace} {
		if d <= 0 {
			return fault(name, "%v is no time to wait", d)
		}
	}
	for _, name := range o.Takes {
		if _, err := pipeline.KindNamed(name); err != nil {
			return &pipeline.OptionError{Option: "takes", Err: err}
		}
	}
	for i, prefix := range o.On {
		if same := func(other string) bool { return slices.Equal(strings.Fields(other), strings.Fields(prefix)) }; slices.ContainsFunc(o.On[:i], same) {
			return fault("on", "%q stands twice: processes says how many there are at each place", prefix)
		}
	}
	for _, part := range o.Needs {
		if known := append(pipeline.KnownParts(), pipeline.AllParts); !slices.Contains(known, part) {
			return fault("needs", "there is no part %q, only %s", part, strings.Join(known, ", "))
		}
	}
	return o.validateGives()
}

// NeededParts returns what the program needs, if the options set it.
func (o Options) NeededParts() []pipeline.Part { return o.Needs }

func (o Options) validateGives() error {
	seen := make(map[string]bool)
	for _, out := range o.Gives {
		var err error
		if out.Kind != sameKind {
			_, err = pipeline.KindNamed(out.Kind)
		}
		if err == nil && seen[out.Port] {
			err = fmt.Errorf("port %q stands twice", out.Port)
		}
		if err == nil && out.Port == "errors" {
			err = errors.New("port errors is the one that every stage has for its failures")
		}
		if err != nil {
			return &pipeline.OptionError{Option: "gives", Err: err}
		}
		seen[out.Port] = true
	}
	return nil
}

// Effect describes what a program that gives nothing does outside.
func (o Options) Effect() string {
	if len(o.Gives) > 0 {
		return ""
	}
	return "give it to " + strings.Join(o.Command, " ")
}

// InputKinds returns what the program takes.
func (o Options) InputKinds() []pipeline.Kind {
	kinds := make([]pipeline.Kind, len(o.Takes))
	for i, name := range o.Takes {
		kinds[i] = kindNamed(name)
	}
	return kinds
}

// Ports returns the outputs of the program.
func (o Options) Ports() []pipeline.Port {
	ports := make([]pipeline.Port, len(o.Gives))
	for i, out := range o.Gives {
		ports[i] = pipeline.Port{Name: out.Port, Kind: kindNamed(out.Kind), Doc: out.Doc}
	}
	return ports
}

// kindNamed returns a kind whose name has been found right.
func kindNamed(name string) pipeline.Kind {
	if name == sameKind {
		return pipeline.SameKind
	}
	kind, _ := pipeline.KindNamed(name)
	return kind
}

// port returns an output by its name.
func (o Options) port(name string) (Output, bool) {
	i := slices.IndexFunc(o.Gives, func(out Output) bool { return out.Port == name })
	if i < 0 {
		return Output{}, false
	}
	return o.Gives[i], true
}
