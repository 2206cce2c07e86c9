package storecmd

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/remote"
	"github.com/webrace/webrace/storage"
)

func TestEachAtOnceKeepsTheOrder(t *testing.T) {
	values := make([]int, 100)
	for i := range values {
		values[i] = len(values) - i
	}
	squares, err := eachAtOnce(values, func(n int) (int, error) { return n * n, nil })
	if err != nil || len(squares) != len(values) || slices.ContainsFunc(values, func(n int) bool { return squares[len(values)-n] != n*n }) {
		t.Errorf("%v, %v", squares, err)
	}
	wrong := errors.New("wrong")
	if _, err := eachAtOnce(values, func(n int) (int, error) {
		if n == 50 {
			return 0, wrong
		}
		return n, nil
	}); !errors.Is(err, wrong) {
		t.Errorf("%v, want what one of them failed with", err)
	}
}

// A panic on another goroutine than that of who asks would end the process, with all its pipelines.
func TestEachAtOncePanicsWhereItIsCalled(t *testing.T) {
	var called atomic.Int32
	defer func() {
		text, _ := recover().(string)
		if !strings.Contains(text, "a fault") || called.Load() != 3 {
			t.Errorf("it panics with %q after %d calls", text, called.Load())
		}
	}()
	eachAtOnce([]int{1, 2, 3}, func(n int) (int, error) {
		called.Add(1)
		if n == 2 {
			panic("a fault")
		}
		return n, nil
	})
	t.Error("it returns")
}

func TestPartitionsAreAskedTogetherForASearchAlone(t *testing.T) {
	dirs := make(map[int]*storage.Dir)
	for p := range 2 {
		dir, err := storage.Open(t.TempDir(), storage.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		dirs[p] = dir
	}
	ask := func(part *remote.Part, args ...string) (int, string, string) {
		var out, said bytes.Buffer
		call := remote.Call{In: strings.NewReader(""), Out: &out, Err: &said}
		call.Args, call.Part = args, part
		status := AnswerNodes(dirs, "")(context.Background(), call)
		return status, out.String(), said.String()
	}
	both := &remote.Part{Partition: 1, More: []int{0}, Ask: []byte(`{}`), Rows: true}
	if status, out, said := ask(both, "search", "tea"); status != cli.OK || strings.Count(out, "\n") != 2 {
		t.Errorf("a search of two ends with %d: %q, %s", status, out, said)
	}
	for _, of := range []struct {
		part *remote.Part
		args string
		says string
	}{
		{both, "search --rebuild", "no command that partitions are asked together"},
		{both, "cache ls", "no command that partitions are asked together"},
		{both, "owner list", "no command that a node runs for others"},
		{&remote.Part{Partition: 1, More: []int{2}, Ask: []byte(`{}`)}, "search tea", "does not have partition 02"},
		{&remote.Part{Partition: 7, Ask: []byte(`{}`)}, "search tea", "does not have partition 07"},
		{&remote.Part{Partition: 1, More: []int{0}, Ask: []byte(`{`)}, "search tea", "unexpected end of JSON"},
		{nil, "search tea", "for its partitions alone"},
	} {
		status, out, said := ask(of.part, strings.Fields(of.args)...)
		if status == cli.OK || out != "" || !strings.Contains(said, of.says) {
			t.Errorf("%s of %+v ends with %d: %q, %s", of.args, of.part, status, out, said)
		}
	}
}
