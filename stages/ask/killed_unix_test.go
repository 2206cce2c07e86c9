//go:build unix

package ask

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// The process that is killed: this test, in a program of its own.
const (
	childDir = "WEBRACE_ASK_DIR" // its data directory
	childURL = "WEBRACE_ASK_URL" // of the model

	killedAlerts  = 400
	killedWorkers = 4
	killedTimes   = 12
)

// TestKilledWhileItAsks kills the program that asks with SIGKILL, at random moments after it has begun to. In the end
// each question was answered once, but for those that were under way when it was killed, and each alert was told
// once, with the answer to its question, or dropped for it.
func TestKilledWhileItAsks(t *testing.T) {
	if dir := os.Getenv(childDir); dir != "" {
		asks(t, dir)
		return
	}
	t.Parallel()
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex
	chance := rand.New(rand.NewPCG(3, 4)) // of the server
	answered := make(map[string]int)      // by what is asked of
	begun := make(chan struct{}, 1)
	s := newServer(t)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q, err := readAsked(r)
		if err != nil {
			return
		}
		select {
		case begun <- struct{}{}:
		default:
		}
		mu.Lock()
		fails, late := chance.IntN(10) == 0, chance.IntN(3) == 0
		mu.Unlock()
		if fails {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if late {
			time.Sleep(2 * time.Millisecond) // some are under way when it is killed
		}
		name := nameIn(q.Messages[1].Content)
		mu.Lock()
		answered[name]++
		mu.Unlock()
		writes(`{"reason":"of `+name+`","answer":"`+wanted(name)+`"}`)(w, r)
	})
	killed := 0
	for within := 30 * time.Millisecond; killed < killedTimes; within += 5 * time.Millisecond {
		select {
		case <-begun:
		default:
		}
		c := child(dir, s.URL)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		select {
		case <-begun:
			time.Sleep(time.Duration(rng.Int64N(int64(within)))) // when it dies is left to chance
			_ = c.Process.Kill()
			<-ended
		case err := <-ended: // all was answered before
			t.Logf("it had nothing more to ask: %v", err)
			killed = killedTimes
		}
		if c.ProcessState.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
			killed++
		}
	}
	if out, err := child(dir, s.URL).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	mu.Lock()
	more := 0
	for i := range killedAlerts {
		switch n := answered[number(i)]; {
		case n == 0:
			t.Errorf("%s was never answered", number(i))
		default:
			more += n - 1
		}
	}
	before := len(answered)
	mu.Unlock()
	if more > killed*killedWorkers {
		t.Errorf("%d questions were answered again, more than were under way at %d kills", more, killed)
	}
	told := toldIn(t, dir)
	yes := 0
	for i := range killedAlerts {
		name := number(i)
		a := told[name]
		if wanted(name) == "no" {
			if a != nil {
				t.Errorf("%s is told: %+v", name, a.Judgement)
			}
			continue
		}
		if yes++; a == nil || a.Judgement.Answer != "yes" || a.Judgement.Reason != "of "+name || a.Judgement.Model != "small:1b" {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if len(told) != yes || before != killedAlerts {
		t.Errorf("%d told, want %d", len(told), yes)
	}
	all := func() (n int) {
		mu.Lock()
		defer mu.Unlock()
		for _, times := range answered {
			n += times
		}
		return n
	}
	again := all()
	if out, err := child(dir, s.URL).CombinedOutput(); err != nil || all() != again {
		t.Errorf("another run asks %d times: %v\n%s", all()-again, err, out)
	}
	t.Logf("%d kills, %d alerts, %d told; %d questions answered again", killed, killedAlerts, len(told), more)
}

// wanted is what the model answers of an alert.
func wanted(name string) string {
	if strings.HasSuffix(name, "3") || strings.HasSuffix(name, "7") {
		return "no"
	}
	return "yes"
}

// nameIn returns which alert a message to the model is about.
func nameIn(message string) string {
	_, after, _ := strings.Cut(message, "Title: Calls ")
	return after[:4]
}

func child(dir, url string) *exec.Cmd {
	c := exec.Command(os.Args[0], "-test.run=^TestKilledWhileItAsks$", "-test.timeout=60s")
	c.Env = append(os.Environ(), childDir+"="+dir, childURL+"="+url)
	return c
}

// asks is the program: it asks of all alerts, as of a crawl that begins anew, and stores them.
func asks(t *testing.T, path string) {
	dir, err := storage.Open(path, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	store, err := dir.Control()
	if err != nil {
		t.Fatal(err)
	}
	resources := new(pipeline.Resources)
	pipeline.Provide(resources, dir)
	pipeline.Provide[pipeline.OpenStates](resources, func() (pipeline.States, error) { return dir.States() })
	o := quickAt(os.Getenv(childURL))
	o.Attempts = 50 // it comes back each time
	g := pipeline.NewGraph("test")
	kind := pipeline.KindOf[*xmlschema.ACI]()
	g.AddStage("alerts", pipeline.Spec{Type: "alerts", Summary: "s", Out: []pipeline.Port{{Kind: kind}}}, func(*pipeline.Env) (any, error) { return alerts{}, nil })
	asking := g.AddType("ask", "ask", o)
	asking.Common.Workers = killedWorkers
	g.AddStage("store", pipeline.Spec{Type: "store", Summary: "s", In: pipeline.Kinds(kind)}, func(*pipeline.Env) (any, error) { return storing{store}, nil })
	g.Connect("alerts", "", "ask")
	g.Connect("ask", "", "store")
	if _, err := g.Run(t.Context(), pipeline.RunOptions{Resources: resources}); err != nil {
		t.Fatal(err)
	}
}

type alerts struct{}

func (alerts) Run(ctx context.Context, out pipeline.Emitter) error {
	for i := range killedAlerts {
		if err := out.Emit(ctx, pipeline.NewItem(aci(number(i)), nil)); err != nil {
			return err
		}
	}
	return nil
}

// storing stores annotations; one that is there is not told again.
type storing struct{ store *control.Store }

func (s storing) Process(ctx context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	a, err := pipeline.ValueOf[*xmlschema.ACI](it)
	if err != nil {
		return err
	}
	if a.Judgement.IsPending() || a.Judgement.Answer == xmlschema.AnswerNone {
		return errors.New("it is not judged")
	}
	_, err = s.store.PutEachACI(ctx, []*xmlschema.ACI{a})
	return err
}

// toldIn returns what is stored, each once.
func toldIn(t *testing.T, path string) map[string]*xmlschema.ACI {
	t.Helper()
	dir, err := storage.Open(path, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	store, err := dir.Control()
	if err != nil {
		t.Fatal(err)
	}
	told := make(map[string]*xmlschema.ACI)
	for a, err := range store.ACIs(t.Context(), control.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if told[a.ID] != nil {
			t.Errorf("%s is told twice", a.ID)
		}
		told[a.ID] = a.ACI
	}
	return told
}
