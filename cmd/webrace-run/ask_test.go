package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/xmlschema"
)

// judge is the server of a model that knows one thing: whether a deadline is moved.
type judge struct {
	*httptest.Server

	mu    sync.Mutex
	asked []string // what was asked of, with the question

	verdict func(of string) string // what it writes; nil: whether a deadline is moved
}

// deadlineMoved is what is gone and what came of a deadline, as the question has them.
var deadlineMoved = regexp.MustCompile(`deadline is (May \d)?.*?\[−(.*?)\] *«(.*?)»`)

func newJudge(t *testing.T) *judge {
	j := new(judge)
	j.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Messages []struct{ Content string } }
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || len(q.Messages) != 2 {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		of := q.Messages[1].Content
		j.mu.Lock()
		j.asked = append(j.asked, of)
		j.mu.Unlock()
		said := `{"reason":"No deadline is moved.","answer":"no"}`
		if m := deadlineMoved.FindStringSubmatch(of); m != nil {
			said = fmt.Sprintf(`{"reason":"It moves from %s to %s.","answer":"yes"}`, m[2], m[3])
		}
		if j.verdict != nil {
			said = j.verdict(of)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": said}}}, "usage": map[string]any{"total_tokens": 250},
		})
	}))
	t.Cleanup(j.Close)
	return j
}

func (j *judge) count() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.asked)
}

// asksModel writes a configuration whose pipeline webrace asks a model, and returns how to run it.
func asksModel(t *testing.T, url string) []string {
	t.Helper()
	config := filepath.Join(t.TempDir(), "pipelines.toml")
	text := strings.Replace(string(webrace.Pipelines), "keyword-filter > aci-emit", "keyword-filter > ask > aci-emit", 1)
	writeFile(t, config, text+fmt.Sprintf("\n[pipeline.webrace.stage.ask]\nurl = %q\nmodel = \"judge:1\"\nallow_networks = [\"loopback\"]\nattempts = 2\nbackoff = \"1ms\"\n", url+"/v1"))
	return append([]string{"--config", config}, askAll...)
}

const deadlineQuestion = "Tell me only if a deadline is moved."

func withQuestion(question string) func(*xmlschema.URD) {
	return func(u *xmlschema.URD) { u.Ask = question }
}

// calls is a site of calls for papers, each a page, of which the edition is what they say. The deadline of one of them
// moves from one edition to the next, and each of the others changes otherwise.
const calls = 21

func (w *world) calls(edition int) {
	var links []string
	for i := range calls {
		path := fmt.Sprintf("/call/%d", i)
		links = append(links, path)
		deadline := 3
		if i == 7 && edition > 1 {
			deadline = 9
		}
		w.page(path, fmt.Sprintf("Conference number %d of the society.", i), fmt.Sprintf("The deadline is May %d of this year.", deadline),
			fmt.Sprintf("So far %d people have registered for it.", 10*i+edition))
	}
	w.page("/", links...)
}

// TestAskInterest has a deadline move among twenty other changes: who asks for that alone is told once, with the
// model's reason.
func TestAskInterest(t *testing.T) {
	t.Parallel()
	w, j := newWorld(t), newJudge(t)
	urds := these(w.asks("ann", "/", depth(2), withQuestion(deadlineQuestion)), w.asks("bob", "/", depth(2)))
	run := asksModel(t, j.URL)
	w.calls(1)
	w.run(urds, run...)
	mustBe(t, "told at first, of what is not asked", ofOwner(w.news(), "ann"))
	if n := j.count(); n != calls+1 {
		t.Errorf("the model was asked %d times of %d pages", n, calls+1)
	}

	w.calls(2)
	w.run(urds, run...)
	acis := w.acis()
	var told []string
	for _, a := range acis {
		if a.Owner == "bob" {
			if a.Judgement != nil {
				t.Errorf("bob asks nothing: %+v", a.Judgement)
			}
			continue
		}
		told = append(told, strings.TrimPrefix(a.URI, w.URL))
		want := xmlschema.Judgement{Question: deadlineQuestion, Answer: "yes", Reason: "It moves from 3 to 9.", Model: "judge:1"}
		if a.Judgement == nil || *a.Judgement != want {
			t.Errorf("ann is told %+v, want %+v", a.Judgement, want)
		}
	}
	mustBe(t, "told", told, "/call/7")
	if len(acis) != 1+calls {
		t.Errorf("%d alerts, want one for ann and %d for bob", len(acis), calls)
	}
	if n := j.count(); n != 2*calls+1 {
		t.Errorf("the model was asked %d times", n)
	}
	for _, of := range j.asked[calls+1:] {
		if strings.Contains(of, "Conference number") {
			t.Errorf("it was asked of what is not new: %s", of)
		}
	}

	said, _ := w.store("explain", w.URL+"/call/7", "ann")
	mustSay(t, said, `judge:1 answers yes to "Tell me only if a deadline is moved.": It moves from 3 to 9.`)
	said, _ = w.store("explain", w.URL+"/call/3", "ann")
	mustSay(t, said, `no alert: judge:1 answers no to "Tell me only if a deadline is moved.": No deadline is moved.`)
	said, _ = w.store("aci", "list", "--owner", "ann", "--xml")
	mustSay(t, said, `<judgement question="Tell me only if a deadline is moved." answer="yes" model="judge:1">It moves from 3 to 9.</judgement>`)

	w.run(urds, run...)
	mustBe(t, "told again", w.news())
	if n := j.count(); n != 2*calls+1 {
		t.Errorf("the model was asked again: %d times", n)
	}
}

// TestAskInterestOfADraft asks a question of what is stored: what is answered no is left out, and asking again costs
// nothing.
func TestAskInterestOfADraft(t *testing.T) {
	t.Parallel()
	w, j := newWorld(t), newJudge(t)
	run := asksModel(t, j.URL)
	urds := these(w.asks("ann", "/", depth(2)))
	for edition := 1; edition <= 2; edition++ {
		w.calls(edition)
		w.run(urds, run...)
	}
	draft := filepath.Join(t.TempDir(), "draft.xml")
	writeFile(t, draft, string(xmlschema.URDs(these(w.asks("ann", "/", depth(2), withQuestion("Has a deadline moved?")))).Canonical()))
	rematch := []string{"rematch", "ann", "--draft", draft, "--all-versions", "--json", "--config", run[1]}
	said, _ := w.store(rematch...)
	mustSay(t, said, "no model is asked: --ask has what URDs ask")
	if n := strings.Count(said, `{"relevance":`); n != 2*calls+1 || j.count() > 0 {
		t.Errorf("%d to tell, and the model was asked %d times", n, j.count())
	}
	for range 2 {
		said, status := w.store(append(rematch, "--ask")...)
		if n := strings.Count(said, `{"relevance":`); n != 1 || status != 0 {
			t.Fatalf("status %d, %d to tell:\n%s", status, n, said)
		}
		mustSay(t, said, w.URL+"/call/7", `"version":2`, `"judgement":{"question":"Has a deadline moved?","answer":"yes","reason":"It moves from 3 to 9.","model":"judge:1"}`)
		if n := j.count(); n != 2*calls+1 {
			t.Errorf("the model was asked %d times, of %d versions", n, 2*calls+1)
		}
	}
	shipped := append(slices.Clone(rematch[:len(rematch)-2]), "--ask")
	if said, status := w.store(shipped...); status != cli.Usage {
		t.Errorf("status %d: %s", status, said)
	} else {
		mustSay(t, said, "--ask: no model is asked: the pipeline that serves it has no stage ask")
	}
}

// TestAskInterestUnjudged has the model be away, and no stage that asks it: owners are told all the same, and why it
// is not judged.
func TestAskInterestUnjudged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		run  func(*testing.T) []string
		says string
	}{
		"the model is away": {func(t *testing.T) []string {
			j := newJudge(t)
			j.Close()
			return asksModel(t, j.URL)
		}, "cannot be reached"},
		"no stage asks": {func(*testing.T) []string { return askAll }, "no stage ask"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.page("/", "The deadline is May 3.")
			urds := these(w.asks("ann", "/", about("deadline"), withQuestion(deadlineQuestion)))
			w.run(urds, c.run(t)...)
			acis := w.acis()
			if len(acis) != 1 || acis[0].Judgement == nil {
				t.Fatalf("%v", acis)
			}
			if got := acis[0].Judgement; got.Answer != xmlschema.AnswerNone || got.Model != "" || !strings.Contains(got.Reason, c.says) {
				t.Errorf("%+v", got)
			}
			said, _ := w.store("explain", w.URL+"/", "ann")
			mustSay(t, said, "unjudged", c.says)
		})
	}
}

// A page whose site states that models must not use it is shown to none, also if it is not fetched anew.
func TestAskInterestObeysTheSite(t *testing.T) {
	t.Parallel()
	w, j := newWorld(t), newJudge(t)
	w.handle("/", func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Usage", "ai-use=n")
		rw.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") != "" {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
		rw.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(rw, "<p>The deadline is May 3.")
	})
	run := asksModel(t, j.URL)
	urds := these(w.asks("ann", "/", about("deadline"), withQuestion(deadlineQuestion)))
	w.run(urds, run...)
	w.run(append(urds, w.asks("bob", "/", about("deadline"), withQuestion("Is it so?"))), run...)
	acis := w.acis()
	if len(acis) != 2 || j.count() > 0 {
		t.Fatalf("%d told, the model was asked %d times", len(acis), j.count())
	}
	for _, a := range acis {
		if a.Judgement == nil || a.Judgement.Answer != xmlschema.AnswerNone || !strings.Contains(a.Judgement.Reason, "Content-Usage: ai-use=n (in the header)") {
			t.Errorf("%s is told %+v", a.Owner, a.Judgement)
		}
	}
}

// Where no pipeline asks a model, who adds a URD with a question is told so, and so is who checks the pipelines.
func TestAskIsWarnedOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	said, status := w.store("urd", "add", "--url", "http://a.example/", "--owner", "ann", "--nonfilter", "--ask", " Is it\nso? ")
	mustSay(t, said, "warning: no model is asked: the pipeline that serves it has no stage ask")
	if status != 0 {
		t.Errorf("status %d: %s", status, said)
	}
	said, _ = w.store("urd", "export")
	mustSay(t, said, "<ask>Is it so?</ask>")
	out, complaints, _ := webraceRun("check", "webrace", "--data", w.data)
	mustSay(t, out+complaints, "1 URD with a question for a model (urd/ask)")
	config := asksModel(t, "http://127.0.0.1:1")[1]
	said, _ = w.store("urd", "add", "--url", "http://a.example/", "--owner", "bob", "--ask", "Is it so?", "--config", config)
	if strings.Contains(said, "no model is asked") {
		t.Errorf("%s", said)
	}
	out, complaints, err := webraceRun("check", "webrace", "--data", w.data, "--config", config)
	if err != nil || strings.Contains(out, "question") {
		t.Errorf("%v\n%s%s", err, out, complaints)
	}
}

// ofOwner returns what an owner was told.
func ofOwner(news []string, owner string) (of []string) {
	for _, n := range news {
		if strings.HasPrefix(n, owner+" ") {
			of = append(of, n)
		}
	}
	return of
}
