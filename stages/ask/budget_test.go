package ask

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/judgements"
	"github.com/webrace/webrace/xmlschema"
)

// An owner's budget is spent in a day, over all runs of it; others' are theirs, and answers that are kept cost
// nothing.
func TestABudgetIsAnOwnersAndADays(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	resources := sameStates()
	o := s.quick()
	p := (&model{options: o}).prompt(&question{text: "Is a deadline moved?", title: "Calls a", of: aci("a").Judgement.News, form: yesNoForm()})
	o.TokensADay = 200 + p.tokens // each takes 100, and must have what it may take
	r := try(t, o, resources, aci("a"), aci("b"), aci("c"))
	if len(s.asked()) != 3 || r.Counters["tokens"] != 300 {
		t.Fatalf("asked %d times, %v", len(s.asked()), r.Counters)
	}
	bob := aci("d")
	bob.Owner = "bob"
	r = try(t, o, resources, aci("d"), aci("a"), bob)
	if len(s.asked()) != 4 || len(r.Out[""]) != 3 || r.Counters["over_budget"] != 1 || r.Counters["remembered"] != 1 {
		t.Fatalf("asked %d times, %v", len(s.asked()), r.Counters)
	}
	j := r.Out[""][0].(*xmlschema.ACI).Judgement
	if j.Answer != xmlschema.AnswerNone || r.Out[""][2].(*xmlschema.ACI).Judgement.Answer != "yes" {
		t.Errorf("%+v", j)
	}
	mustSay(t, j.Reason, "the budget of", "tokens a day is used up")
}

// Tokens of answers that are of no use are spent as well, also those of runs before, and of a server that counts none.
func TestNonsenseIsPaidFor(t *testing.T) {
	t.Parallel()
	uncounted := status(200, `{"choices":[{"message":{"content":"nonsense"}}]}`)
	s := newServer(t, writes("nonsense"), uncounted, writes("nonsense"))
	resources := sameStates()
	o := s.quick()
	r := try(t, o, resources, aci("a"))
	spent := int(r.Counters["tokens"])
	if spent <= 200+o.AnswerTokens || len(s.asked()) != 3 {
		t.Fatalf("asked %d times for %d tokens", len(s.asked()), spent)
	}
	o.TokensADay = spent
	r = try(t, o, resources, aci("b"))
	if len(s.asked()) != 3 || r.Counters["over_budget"] != 1 {
		t.Errorf("asked %d times, %v", len(s.asked()), r.Counters)
	}
}

// The next day has a budget of its own, and what is kept for some days only is forgotten.
func TestTheNextDay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := pipeline.NewEnv("p", "ask", sameStates())
		state, err := env.State(judgements.State)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{TokensADay: 100, Keep: pipeline.Duration(48 * time.Hour)}
		b := newBook(o, state)
		open := func() {
			t.Helper()
			if err := b.open(); err != nil {
				t.Fatal(err)
			}
		}
		open()
		mustBeLeft := func(tokens int) {
			t.Helper()
			if b.reserve("ann", tokens) != nil {
				t.Errorf("less than %d tokens are left", tokens)
			}
			b.settle("ann", tokens, 0)
			if b.reserve("ann", tokens+1) == nil {
				t.Errorf("more than %d tokens are left", tokens)
				b.settle("ann", tokens+1, 0)
			}
		}
		mustBeLeft(100)
		if err := b.reserve("ann", 60); err != nil {
			t.Fatal(err)
		}
		mustBeLeft(40)
		b.settle("ann", 60, 30)
		if err := b.keep(t.Context(), "k", "ann", 30, answer{"answer": "yes"}); err != nil {
			t.Fatal(err)
		}
		mustBeLeft(70)
		b = newBook(o, state) // the process died
		open()
		mustBeLeft(70)
		time.Sleep(24 * time.Hour) // of a fake clock
		mustBeLeft(100)
		open()
		mustBeLeft(100)
		mustBeKept := func(want bool) {
			t.Helper()
			kept, leave, err := b.enter(t.Context(), "k")
			if err != nil || (kept != nil) != want {
				t.Errorf("kept: %v, %v", kept, err)
			}
			if leave != nil {
				leave()
			}
		}
		time.Sleep(24 * time.Hour)
		open()
		mustBeKept(true)
		time.Sleep(24 * time.Hour)
		mustBeLeft(100) // which begins the day, in a run that goes on
		mustBeKept(false)
	})
}

// fakeSecrets are what a program lends to its stages.
type fakeSecrets map[string]credentials.Secret

func (s fakeSecrets) Secret(_ context.Context, name string) (credentials.Secret, error) {
	if secret, ok := s[name]; ok {
		return secret, nil
	}
	return credentials.Secret{}, credentials.ErrNotFound
}
func (fakeSecrets) SecretVersion(string) uint64 { return 0 }
func (fakeSecrets) StartOf(context.Context, string) (string, error) {
	return "", credentials.ErrNotFound
}

// What was fetched with a secret is shown to no model, unless that secret lets it.
func TestWhatASecretGaveStaysHere(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	secret := func(b credentials.Bounds) credentials.Secret {
		made, err := credentials.NewSecret(credentials.KindBearer, "", "hush")
		if err != nil {
			t.Fatal(err)
		}
		return made.Within(b)
	}
	lent := fakeSecrets{"shown": secret(credentials.Bounds{Models: true}), "hidden": secret(credentials.Bounds{Hosts: []string{"a.org"}, Insecure: true})}
	resources := sameStates()
	pipeline.Provide[credentials.Open](resources, func() (credentials.Source, error) { return lent, nil })
	of := func(name string) *xmlschema.ACI {
		a := aci("a")
		a.Docbase.Secret = name
		return a
	}
	for name, why := range map[string]string{"hidden": "lets no model be shown what it gives", "gone": "not stored any more"} {
		r := try(t, s.quick(), resources, of(name))
		if j := judged(t, r); j.Answer != xmlschema.AnswerNone || r.Counters["secret"] != 1 {
			t.Errorf("%s: %+v", name, j)
		} else {
			mustSay(t, j.Reason, "fetched with secret "+name, why)
		}
	}
	if j := judged(t, try(t, s.quick(), nil, of("shown"))); j.Answer != xmlschema.AnswerNone {
		t.Errorf("a program that lends no secrets: %+v", j)
	}
	if len(s.asked()) > 0 {
		t.Fatal("it was shown")
	}
	if j := judged(t, try(t, s.quick(), resources, of("shown"))); j.Answer != "yes" || len(s.asked()) != 1 {
		t.Errorf("%+v", j)
	}
	// An answer to the same text that another secret lets be shown is kept, and tells nothing here.
	if j := judged(t, try(t, s.quick(), resources, of("hidden"))); j.Answer != xmlschema.AnswerNone {
		t.Errorf("%+v", j)
	}
}

// The model is told who asks by a secret of its own, which goes to its host alone.
func TestTheKeyOfTheModel(t *testing.T) {
	t.Parallel()
	var fields http.Header
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		fields = r.Header
		writes(`{"reason":"r","answer":"yes"}`)(w, r)
	})
	made, err := credentials.NewSecret(credentials.KindBearer, "", "hush")
	if err != nil {
		t.Fatal(err)
	}
	lent := fakeSecrets{"key": made.Within(credentials.Bounds{Insecure: true}), "elsewhere": made.Within(credentials.Bounds{Insecure: true, Hosts: []string{"a.org"}}), "https": made}
	resources := sameStates()
	pipeline.Provide[credentials.Open](resources, func() (credentials.Source, error) { return lent, nil })
	o := s.quick()
	o.Secret = "key"
	if j := judged(t, try(t, o, resources, aci("a"))); j.Answer != "yes" || fields.Get("Authorization") != "Bearer hush" {
		t.Errorf("%+v, %v", j, fields)
	}
	for name, says := range map[string]string{"elsewhere": "is not for 127.0.0.1", "https": "--insecure", "none": "no secret is named none"} {
		o.Secret = name
		made, err := newStage(o, pipeline.NewEnv("p", "ask", resources))
		if err != nil {
			t.Fatal(err)
		}
		if err := made.(*stage).Open(t.Context()); err == nil {
			t.Errorf("%s is taken", name)
		} else {
			mustSay(t, err.Error(), says)
		}
	}
}
