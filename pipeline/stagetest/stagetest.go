// Package stagetest is the conformance suite for pipeline stages: one call proves what every stage owes
// to the pipelines it stands in.
//
//	func TestConformance(t *testing.T) {
//		stagetest.Run(t, stagetest.Case{Type: "shout", Inputs: []any{"a", "b"}})
//	}
//
// A stage passes when it
//
//   - is described: a summary, and a doc for every option and every named port;
//   - acknowledges each item exactly once, also when it is cancelled under way;
//   - obeys its context: it ends soon after the run is cancelled or drained;
//   - emits only to ports it declares, only values of their kinds, and never after Process has returned;
//   - leaves its input as it was, because another branch may be reading it;
//   - answers a value of a kind it does not take with an error, not a panic;
//   - can be closed without having been opened, and twice;
//   - leaves no goroutine behind;
//   - changes nothing outside when an item comes again after a crash, if the case declares what it does there;
//   - and, if it is a queue, puts without waiting for a take, and ends when it is sealed and empty.
package stagetest

import (
	"cmp"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
)

// Case describes how to run the stage under test.
type Case struct {
	Type      string              // a registered stage type
	Options   any                 // its option struct; nil for the defaults
	Inputs    []any               // values of the kinds it takes; it must manage them without an error
	Resources *pipeline.Resources // what it finds by pipeline.Resource, and states in memory if there are none; may be nil
	Registry  *pipeline.Registry  // where the type is registered; nil: pipeline.DefaultRegistry
	Patience  time.Duration       // how long it may take over anything; 0: 10 s

	// Effect returns what the stage has done outside, such as the rows of a table, in a form that can be compared:
	// after its inputs have been dealt with, and after a crash that forgot so and had them come again. Nil: it does
	// nothing there.
	Effect func() (any, error)
}

// Rule names something that a stage owes.
type Rule string

// The rules, each broken by one of the stages in this package's own tests.
const (
	Described          Rule = "is described"
	Runs               Rule = "processes its inputs"
	Acknowledges       Rule = "acknowledges each item exactly once"
	ObeysContext       Rule = "ends when the run is cancelled"
	DeclaresOutput     Rule = "emits only what its ports declare"
	EmitsInTime        Rule = "emits only while it is being called"
	KeepsInput         Rule = "leaves its input as it was"
	RefusesOthers      Rule = "answers a value of another kind with an error"
	Closes             Rule = "closes twice, and without being opened"
	LeavesNoGoroutine  Rule = "leaves no goroutine behind"
	RepeatsNothing     Rule = "does nothing twice when an item comes again"
	PutsWithoutWaiting Rule = "puts without waiting for a taker"
	EndsWhenSealed     Rule = "ends when it is sealed and empty"
)

// Violation is a rule that the stage breaks, and how.
type Violation struct {
	Rule Rule
	Err  error
}

func (v Violation) Error() string {
	return fmt.Sprintf("it does not keep the rule %q: %v", v.Rule, v.Err)
}

// Run fails the test for each rule that the stage breaks. The test is not to run in parallel with others, whose
// goroutines would be taken for what the stage leaves behind.
func Run(t *testing.T, c Case) {
	t.Helper()
	for _, v := range Check(c) {
		t.Errorf("stage %s: %v", c.Type, v)
	}
}

// Check returns the rules that the stage breaks; none for a stage that conforms. Once a stage has failed
// to stop, the remaining rules are not tried, because it may still be running.
func Check(c Case) []Violation {
	s := &suite{Case: c.withDefaults()}
	s.warmUp()
	for _, check := range []func(){
		s.checkDescription, s.checkClosing, s.checkQueue, s.checkRun, s.checkCancelled, s.checkDrained, s.checkOtherKinds, s.checkRepeated,
	} {
		before := goroutines()
		check()
		if s.stuck {
			break
		}
		if err := before.leaked(c.Patience); err != nil {
			s.violated(LeavesNoGoroutine, err)
		}
	}
	return s.violations
}

func (c Case) withDefaults() Case {
	c.Registry = cmp.Or(c.Registry, pipeline.DefaultRegistry)
	c.Resources = withStates(c.Resources)
	c.Patience = cmp.Or(c.Patience, 10*time.Second)
	return c
}

// withStates adds states in memory to what a stage finds, unless it finds some.
func withStates(r *pipeline.Resources) *pipeline.Resources {
	r = cmp.Or(r, new(pipeline.Resources))
	if _, err := pipeline.Resource[pipeline.OpenStates](pipeline.NewEnv("stagetest", "stage", r)); err != nil {
		pipeline.Provide(r, pipeline.StatesInMemory())
	}
	return r
}

// suite gathers what is wrong with one stage.
type suite struct {
	Case
	violations []Violation
	broken     map[Rule]bool
	stuck      bool // a run did not end: nothing more can be said
}

// violated notes the first violation of each rule.
func (s *suite) violated(rule Rule, err error) {
	if s.broken[rule] {
		return
	}
	if s.broken == nil {
		s.broken = make(map[Rule]bool)
	}
	s.broken[rule] = true
	s.violations = append(s.violations, Violation{rule, err})
}

// newStage makes a stage outside a run.
func (s *suite) newStage() (any, error) {
	g := s.Registry.NewGraph("stagetest")
	stage := g.AddType("stage", s.Type, s.Options)
	if stage.Make == nil {
		return nil, fmt.Errorf("stage type %q is not registered", s.Type)
	}
	return stage.Make(pipeline.NewEnv("stagetest", "stage", s.Resources))
}

// warmUp opens and closes the stage once. What its resources open when they are first used, such as a
// store, is theirs to close, and must not be taken for what the stage leaves behind.
func (s *suite) warmUp() {
	stage, err := s.newStage()
	if err != nil {
		return // checkClosing reports that
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.Patience)
	defer cancel()
	if opener, ok := stage.(pipeline.Opener); ok {
		_ = guarded(func() error { return opener.Open(ctx) }) // a run reports what is wrong
	}
	if closer, ok := stage.(pipeline.Closer); ok {
		_ = guarded(closer.Close)
	}
}

func (s *suite) checkDescription() {
	spec, ok := s.Registry.Lookup(s.Type)
	if !ok {
		s.violated(Described, fmt.Errorf("stage type %q is not registered", s.Type))
		s.stuck = true
		return
	}
	if spec.Summary == "" {
		s.violated(Described, fmt.Errorf("it has no summary"))
	}
	for _, port := range spec.Out {
		if port.Name != "" && port.Doc == "" {
			s.violated(Described, fmt.Errorf("port %q has no doc", port.Name))
		}
	}
	for _, option := range config.Options(s.Registry, s.Type) {
		if option.Doc == "" {
			s.violated(Described, fmt.Errorf("option %q has no doc", option.Name))
		}
	}
}

// checkClosing closes the stage twice without opening it.
func (s *suite) checkClosing() {
	stage, err := s.newStage()
	if err != nil {
		s.violated(Runs, fmt.Errorf("make it: %w", err))
		s.stuck = true
		return
	}
	closer, ok := stage.(pipeline.Closer)
	if !ok {
		return
	}
	for _, time := range []string{"without being opened", "again"} {
		if err := guarded(closer.Close); err != nil {
			s.violated(Closes, fmt.Errorf("close %s: %w", time, err))
		}
	}
}

// guarded turns a panic into an error.
func guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return f()
}
