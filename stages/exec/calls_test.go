package exec

import (
	"errors"
	"os"
	"testing"

	"github.com/webrace/webrace/pipeline"
)

// unread is a process that has been given an item, has written frames that were not read yet, and has closed its
// standard input. It is no program: the test decides what happens first.
func unread(t *testing.T) (p *process, had *call) {
	t.Helper()
	impl, err := newStage(options("work"), pipeline.NewEnv("p", "shout", nil))
	if err != nil {
		t.Fatal(err)
	}
	s := impl.(*stage)
	p = &process{
		programs: s.programs, log: newStderrLog(s.env.Logger, s.env.Counter("stderr_lines_left_out")),
		heard: make(chan struct{}), exited: make(chan struct{}), calls: make(map[uint64]*call),
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.fail(errClosed, 0) // stops the clock of the calls
		_ = ours.Close()
	})
	p.stdin = ours
	if had, err = p.send(&pipeline.Item{Value: "the first"}); err != nil {
		t.Fatal(err)
	}
	if err := theirs.Close(); err != nil {
		t.Fatal(err)
	}
	return p, had
}

func TestAnswersFromBeforeTheEndCountWhenTheEndIsNoticedByAWrite(t *testing.T) {
	p, had := unread(t)
	p.status = errors.New("exit status 3")
	close(p.heard)
	close(p.exited)
	if _, err := p.send(&pipeline.Item{Value: "the second"}); err != nil { // which breaks the pipe
		t.Fatal(err)
	}
	p.programs.tasks.Wait()
	for _, frame := range []string{`{"type":"emit","id":1,"keep":true}`, `{"type":"done","id":1}`} {
		if err := p.take([]byte(frame), nil); err != nil {
			t.Errorf("%s: %v", frame, err)
		}
	}
	<-had.done
	if had.lost != nil || len(had.outputs) != 1 {
		t.Errorf("outputs %v, lost: %v", had.outputs, had.lost)
	}
}

func TestFramesOfAProcessThatWasGivenUpAreNotAgainstTheProtocol(t *testing.T) {
	p, had := unread(t)
	p.fail(errors.New("it took too long"), 1)
	for _, frame := range []string{`{"type":"emit","id":1,"keep":true}`, `{"type":"done","id":1}`, `{"type":"error","id":1,"error":"late"}`} {
		if err := p.take([]byte(frame), nil); err != nil {
			t.Errorf("%s: %v", frame, err)
		}
	}
	<-had.done
	if had.lost == nil || had.err != nil || len(had.outputs) != 0 {
		t.Errorf("outputs %v, error %v, lost: %v", had.outputs, had.err, had.lost)
	}
}
