package ask

import (
	"net/http"
	"sync"
	"testing"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/xmlschema"
)

// The same question of the same text is asked once, whoever asks, in this run or another; another question, text,
// title or model is another.
func TestARepeatCostsNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t, writes(`{"reason":"no deadline","answer":"no"}`))
	resources := sameStates()
	bob := aci("a")
	bob.ID, bob.Owner = "b", "bob"
	r := try(t, s.quick(), resources, aci("a"), bob, aci("a"))
	if len(s.asked()) != 1 || len(r.Out["no"]) != 3 || r.Counters["remembered"] != 2 {
		t.Errorf("asked %d times, %v", len(s.asked()), r.Counters)
	}
	if r = try(t, s.quick(), resources, aci("a")); len(s.asked()) != 1 || len(r.Out["no"]) != 1 || r.Counters["tokens"] != 0 {
		t.Errorf("in the next run: asked %d times, %v", len(s.asked()), r.Counters)
	}
	for name, change := range map[string]func(*xmlschema.ACI, *Options){
		"question": func(a *xmlschema.ACI, _ *Options) { a.Judgement.Question = "Is it?" },
		"text":     func(a *xmlschema.ACI, _ *Options) { a.Judgement.News += "x" },
		"title":    func(a *xmlschema.ACI, _ *Options) { a.Title += "x" },
		"model":    func(_ *xmlschema.ACI, o *Options) { o.Model = "large:70b" },
	} {
		before, a, o := len(s.asked()), aci("a"), s.quick()
		change(a, &o)
		if try(t, o, resources, a, a); len(s.asked()) != before+1 {
			t.Errorf("another %s: asked %d times", name, len(s.asked())-before)
		}
	}
}

// Those who ask the same at the same time wait for one answer.
func TestTheSameIsAskedOnceAtATime(t *testing.T) {
	t.Parallel()
	begun, answer := make(chan struct{}), make(chan struct{})
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		<-answer
		writes(`{"reason":"r","answer":"yes"}`)(w, r)
	})
	env := pipeline.NewEnv("p", "ask", sameStates())
	made, err := newStage(s.quick(), env)
	if err != nil {
		t.Fatal(err)
	}
	st := made.(*stage)
	var all sync.WaitGroup
	ask := func(i int) {
		q, err := st.subject.of(pipeline.NewItem(aci("a"), nil))
		if err != nil {
			t.Error(err)
		}
		if a, err := st.answer(t.Context(), q); err != nil || a["answer"] != "yes" {
			t.Errorf("%d: %v, %v", i, a, err)
		}
	}
	all.Go(func() { ask(0) })
	<-begun
	for i := range 8 {
		all.Go(func() { ask(i + 1) })
	}
	close(answer)
	all.Wait()
	if n := len(s.asked()); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// A failure is not taken for an answer: the same is asked again when it comes again.
func TestAFailureIsNoAnswer(t *testing.T) {
	t.Parallel()
	s := newServer(t, writes("?"), writes("?"), writes("?"))
	resources := sameStates()
	if j := judged(t, try(t, s.quick(), resources, aci("a"))); j.Answer != xmlschema.AnswerNone {
		t.Errorf("%+v", j)
	}
	if j := judged(t, try(t, s.quick(), resources, aci("a"))); j.Answer != "yes" || len(s.asked()) != 4 {
		t.Errorf("%+v after %d questions", j, len(s.asked()))
	}
}
