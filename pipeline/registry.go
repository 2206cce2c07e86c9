package pipeline

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
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
	Batch   Batch  // default of the batch option; the zero value says that items are not taken in groups
	Single  bool   // for each item that it takes it emits at most one to its default port, and to each that passes on its input
	Queue   bool   // it stores its input, so a cycle may pass it
	Follows bool   // a source that follows a store by a durable cursor: it ends when it has caught up and nothing in the process feeds it any more

	Needs      []Part     // what it reads of values that may come without it; [NoParts] if nothing, nil if that is not said
	Uses       []Part     // what it makes use of where it comes; values without it, it passes on as they are, or says that it is missing
	Own        []Addition // what it gets by itself, if it comes without
	NeedsLater bool       // only the running stage, a [Needer], may know what it needs
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

// Registry knows stage types by name. Programs use the one that [Register] adds to; a test may have its
// own. It may be read by many goroutines at once, also while types are added.
type Registry struct {
	mu    sync.RWMutex
	types map[string]*stageType
}

// stageType is a registered type: what it is, what its options are, and how a stage of it is made.
type stageType struct {
	spec     Spec
	defaults reflect.Value // an option struct, never changed
	fields   *fields
	make     func(options any, env *Env) (any, error)
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry { return &Registry{types: make(map[string]*stageType)} }

// DefaultRegistry is the one that [Register] adds to, and that [Load] uses unless told otherwise.
var DefaultRegistry = NewRegistry()

// Register adds a stage type to the [DefaultRegistry]; see [RegisterIn].
func Register[C any](s Spec, defaults C, mk func(C, *Env) (any, error)) {
	RegisterIn(DefaultRegistry, s, defaults, mk)
}

// RegisterIn adds a stage type whose options are the fields of C. Each exported field, those of nested
// structs too, has a `toml` tag, its name in pipelines.toml, and a `doc` tag, a phrase that says what it
// is; an `enum` tag may list the words it can be, separated by commas. A struct embedded without a tag
// lends its fields. A field is a string, a boolean, a number, a [Duration], a [Size], a [Secret], a
// [Table], any other [encoding.TextUnmarshaler], or a struct, list or string-keyed map of these. Use struct{} for a
// stage without options.
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
	fs, err := optionFields(defaults.Type())
	if err != nil {
		panic(fmt.Sprintf("pipeline: register stage type %q: %v", s.Type, err))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, twice := r.types[s.Type]; twice {
		panic(fmt.Sprintf("pipeline: stage type %q is registered twice", s.Type))
	}
	r.types[s.Type] = &stageType{spec: s, defaults: defaults, fields: fs, make: mk}
}

// check finds what is wrong with a description, whatever the options.
func (s Spec) check() error {
	switch {
	case !isName(s.Type):
		return fmt.Errorf("a type's name consists of letters, digits, - and _, and does not begin with -")
	case s.Summary == "":
		return fmt.Errorf("it has no summary")
	case s.Queue && len(s.In) == 0:
		return fmt.Errorf("a queue needs an input")
	case s.Follows && len(s.In) > 0:
		return fmt.Errorf("only a source can follow a store")
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
		case port.Name != "" && !isName(port.Name):
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

// Types lists the registered stage types, sorted.
func Types() []string { return DefaultRegistry.Types() }

// Lookup returns the description of a registered stage type.
func Lookup(typ string) (Spec, bool) { return DefaultRegistry.Lookup(typ) }

// Options lists the options of a registered stage type, in the order of its option struct and without
// those that every stage has, which [CommonOptions] gives.
func Options(typ string) []OptionInfo { return DefaultRegistry.Options(typ) }

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

// Options lists the options of a stage type; see the function of the same name.
func (r *Registry) Options(typ string) []OptionInfo {
	if t := r.lookup(typ); t != nil {
		return t.fields.infos("", t.defaults)
	}
	return nil
}

func (r *Registry) lookup(typ string) *stageType {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.types[typ]
}

// newStage returns a stage of the type with these options.
func (t *stageType) newStage(name string, options any) *Stage {
	spec := t.spec
	if taker, ok := options.(Taker); ok {
		spec.In = taker.InputKinds()
	}
	return &Stage{
		Name: name, Spec: spec, Options: options, defaults: t.defaults.Interface(), Common: Common{Type: t.spec.Type},
		Make: func(env *Env) (any, error) { return t.make(options, env) },
	}
}

// kindsOf returns what a list of kinds prints as.
func kindsOf(kinds []Kind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.String()
	}
	return joinOr(names)
}

// joinOr joins words as a sentence does: "a, b or c".
func joinOr(words []string) string {
	if len(words) < 2 {
		return cmp.Or(append(words, "nothing")...)
	}
	last := len(words) - 1
	out := words[0]
	for _, w := range words[1:last] {
		out += ", " + w
	}
	return out + " or " + words[last]
}
