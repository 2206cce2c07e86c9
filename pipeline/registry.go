package pipeline

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/pipeline/finding"
	"github.com/webrace/webrace/pipeline/internal/flow"
	"github.com/webrace/webrace/pipeline/internal/options"
)

// Spec describes a stage type. It is the single source of lint, the reference, the JSON Schema and the
// graph: what is not here does not exist.
type Spec struct {
	Type    string // its name in pipelines.toml: "keyword-filter"
	Summary string // one line
	Doc     string // a paragraph or more, if the summary does not say it all
	In      []Kind // what it takes; none for a source
	Out     []Port // what it gives; the port named "" is the default one
	Workers int    // default of the workers option; 0 is 1
	Batch   Batch  // default of the batch option; the zero value means that items are not taken in groups
	Single  bool   // for each item that it takes it emits at most one to its default port, and to each that passes on its input
	Queue   bool   // it stores its input, so a cycle may pass it
	Follows bool   // a source that follows a store by a durable cursor: it ends when it has caught up and nothing in the process feeds it any more
	Effect  string // what it does outside the stores that the program lends it, as in "mail it": in a [Dry] run and in tests the stage is not made; "" is nothing. A method Effect() string of the options replaces it

	// Where several runs of a pipeline share the work, each on a part of what the program keeps ([RunOptions.Elsewhere]):
	Once       bool // a source that reads what they share, and is there once for all
	PerProcess bool // a source that listens, so that it is there once in a process; or a stage of which as many calls as it has workers are under way there

	// Whole says why the stage has to have all that comes to a pipeline, and a part of it makes no sense: "it would …".
	// Such a stage is refused where several runs share the work, unless one of them has it all. Empty: a part will do.
	Whole string

	Needs      []Part     // what it reads of values that may come without it; [NoParts] if nothing, nil if that is not said
	Uses       []Part     // what it makes use of where it comes; values without it, it passes on as they are, or reports that it is missing
	Own        []Addition // what it gets by itself, if it comes without
	NeedsLater bool       // only the running stage, a [NeededPartsProvider], may know what it needs
}

// Port is an output of a stage.
type Port struct {
	Name string // "" is the default port
	Kind Kind
	Doc  string

	Asked  bool       // it is there because the options ask for it, so it must lead somewhere
	Cases  []Case     // of a port that gives values of its own which may come without parts: in which cases they do
	Adds   []Addition // of a port that passes on what came: what is added to it
	Passes bool       // what leaves it holds what came, though it is of another kind
}

// commonFields are the options that every stage has.
var commonFields = options.MustOf(reflect.TypeFor[Common]())

// Registry knows stage types by name. Programs use the one that [Register] adds to; a test may have its
// own. It may be read by many goroutines at once, also while types are added.
type Registry struct {
	mu        sync.RWMutex
	types     map[string]*stageType
	elsewhere map[string]string // commands that build a program with types that this one lacks
}

// stageType is a registered type: what it is, what its options are, and how a stage of it is made.
type stageType struct {
	spec     Spec
	defaults reflect.Value // an option struct, never changed
	make     func(options any, env *Env) (any, error)
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{types: make(map[string]*stageType), elsewhere: make(map[string]string)}
}

// DefaultRegistry is the one that [Register] adds to, and that a configuration is read with unless told otherwise.
var DefaultRegistry = NewRegistry()

// Register adds a stage type to the [DefaultRegistry]; see [RegisterIn].
func Register[C any](s Spec, defaults C, mk func(C, *Env) (any, error)) {
	RegisterIn(DefaultRegistry, s, defaults, mk)
}

// RegisterIn adds a stage type whose options are the fields of C. Each exported field, those of nested structs too, has
// a `toml` tag, its name in pipelines.toml, and a `doc` tag, a phrase that tells what it is; an `enum` tag may list the
// words it can be, separated by commas. A `deprecated` tag names what the option was called before, and what words of
// its enum were, as in "old_name,old=new": they work on, with a warning, and `lint --fix` rewrites them. A `meant` tag
// has words that it never could be, with those of its enum that are meant by them. A struct embedded without a tag
// lends its fields. A field is a string, a boolean, a number, a [Duration], a [Size], a [Secret], a [File], a [Table],
// any other [encoding.TextUnmarshaler], or a struct, list or string-keyed map of these. Use struct{} for a stage
// without options.
//
// mk makes the running stage. It is called once for each run with options that have been decoded and
// validated, and must not change what their lists and maps hold. It panics where the type is described
// wrongly, since that is a mistake in the program: a name twice, a missing tag, an option that takes the
// name of one that every stage has.
func RegisterIn[C any](r *Registry, s Spec, defaults C, mk func(C, *Env) (any, error)) {
	r.add(s, reflect.ValueOf(&defaults).Elem(), func(options any, env *Env) (any, error) {
		return mk(options.(C), env)
	})
}

func (r *Registry) add(s Spec, defaults reflect.Value, mk func(any, *Env) (any, error)) {
	if err := s.check(); err != nil {
		panic(fmt.Sprintf("pipeline: register stage type %q: %v", s.Type, err))
	}
	_, err := options.Of(defaults.Type(), commonFields)
	if err != nil {
		panic(fmt.Sprintf("pipeline: register stage type %q: %v", s.Type, err))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, twice := r.types[s.Type]; twice {
		panic(fmt.Sprintf("pipeline: stage type %q is registered twice", s.Type))
	}
	r.types[s.Type] = &stageType{spec: s, defaults: defaults, make: mk}
}

// RegisterElsewhere tells which command builds a program with stage types that this one may be without, so that who
// names one of them learns of it.
func RegisterElsewhere(command string, types ...string) {
	DefaultRegistry.mu.Lock()
	defer DefaultRegistry.mu.Unlock()
	for _, typ := range types {
		DefaultRegistry.elsewhere[typ] = command
	}
}

// check finds what is wrong with a description, whatever the options.
func (s Spec) check() error {
	switch {
	case !flow.IsName(s.Type):
		return fmt.Errorf("a type's name consists of letters, digits, - and _, and does not begin with -")
	case s.Summary == "":
		return fmt.Errorf("it has no summary")
	case s.Queue && len(s.In) == 0:
		return fmt.Errorf("a queue needs an input")
	case s.Follows && len(s.In) > 0:
		return fmt.Errorf("only a source can follow a store")
	case s.Once && len(s.In) > 0:
		return fmt.Errorf("only a source can be there once for several runs of a pipeline")
	case s.PerProcess && s.Queue:
		return fmt.Errorf("a queue is each run's own")
	case s.Once && s.PerProcess:
		return fmt.Errorf("it is there once for all, or once in each process")
	}
	return checkPorts(s.Out)
}

// checkPorts finds names that are wrong, taken or used twice.
func checkPorts(ports []Port) error {
	seen := make(map[string]bool, len(ports))
	for _, port := range ports {
		switch {
		case port.Name == errorsPort:
			return fmt.Errorf("port %q is the one that every stage has for its failures", port.Name)
		case port.Name != "" && !flow.IsName(port.Name):
			return fmt.Errorf("port name %q does not consist of letters, digits, - and _", port.Name)
		case seen[port.Name]:
			return fmt.Errorf("port %q stands twice", port.Name)
		case port.Kind == Kind{}:
			return fmt.Errorf("port %q has no kind", port.Name)
		}
		seen[port.Name] = true
	}
	return nil
}

// Types lists the stage types, sorted.
func (r *Registry) Types() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Sorted(maps.Keys(r.types))
}

// Lookup returns the description of a stage type.
func (r *Registry) Lookup(typ string) (Spec, bool) {
	if t := r.lookup(typ); t != nil {
		return t.spec, true
	}
	return Spec{}, false
}

// Elsewhere returns the command that builds a program with a stage type, "" if none is known.
func (r *Registry) Elsewhere(typ string) (command string) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.elsewhere[typ]
}

// Missing returns what is to be told of a stage type that is not there: which program has it, or which one was probably
// meant.
func (r *Registry) Missing(typ string) finding.Finding {
	f := finding.Finding{Code: finding.CodeUnknownType, Message: fmt.Sprintf("there is no stage type %q", typ)}
	if command := r.Elsewhere(typ); command != "" {
		f.Message += " in this program; one that has it is made by " + command
	} else {
		f.Hint = suggest.Nearest(typ, r.Types())
	}
	return f
}

// Defaults returns the options that a stage of the type has unless something else is chosen: its option struct, whose
// lists and maps are not to be changed. It is nil if there is no such type.
func (r *Registry) Defaults(typ string) any {
	if t := r.lookup(typ); t != nil {
		return t.defaults.Interface()
	}
	return nil
}

// NewStage returns a stage of a registered type, which is in no graph yet, with these options: the type's option
// struct. They are asked what they tell of the stage before anything relies on it: an error is a panic of theirs, which
// comes here or never.
func (r *Registry) NewStage(name, typ string, options any) (s *Stage, err error) {
	err = guarded(name, func() error {
		s = r.lookup(typ).newStage(name, options)
		_, _ = s.Ports(), s.neededParts()
		if h, ok := s.Options.(Holder); ok {
			_ = h.Holds()
		}
		if l, ok := s.Options.(Lender); ok {
			_, _ = l.Lends()
		}
		if a, ok := s.Options.(Answerer); ok {
			_ = a.Answers()
		}
		if f, ok := s.Options.(FileOwner); ok {
			_, _ = f.OwnFile()
		}
		return nil
	})
	return s, err
}

func (r *Registry) lookup(typ string) *stageType {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.types[typ]
}

// unknownWord finds an option that has a word which its enum tag lacks, in options that a program has built: those of a
// configuration are looked at where they are decoded. One that is empty has no word.
func unknownWord(stage string, opts any) *finding.Finding {
	v := reflect.ValueOf(opts)
	for _, f := range options.MustOf(v.Type()).List {
		if f.Enum == nil || f.Type.Kind() != reflect.String {
			continue
		}
		if word := v.FieldByIndex(f.Index).String(); word != "" && !slices.Contains(f.Enum, word) {
			return &finding.Finding{
				Code:    finding.CodeBadValue,
				Message: fmt.Sprintf("stage %q: option %q cannot be %q, only %s", stage, f.Name, word, suggest.Or(f.Enum)),
				Hint:    cmp.Or(f.FormerWords[word], f.Meant[word], suggest.Nearest(word, f.Enum)),
			}
		}
	}
	return nil
}

// newStage returns a stage of the type with these options.
func (t *stageType) newStage(name string, options any) *Stage {
	spec := t.spec
	if provider, ok := options.(InputKindsProvider); ok {
		spec.In = provider.InputKinds()
	}
	if o, ok := options.(interface{ Effect() string }); ok {
		spec.Effect = o.Effect()
	}
	return &Stage{
		Name: name, Spec: spec, Options: options, Defaults: t.defaults.Interface(), Common: Common{Type: t.spec.Type},
		Make: func(env *Env) (any, error) { return t.make(options, env) },
	}
}
