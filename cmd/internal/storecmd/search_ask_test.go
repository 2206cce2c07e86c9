package storecmd

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

func TestEachAtOnceKeepsTheOrder(t *testing.T) {
	values := make([]int, 100)
	for i := range values {
		values[i] = len(values) - i
	}
	squares, err := eachAtOnce(3, values, func(n int) (int, error) { return n * n, nil })
	if err != nil || len(squares) != len(values) || slices.ContainsFunc(values, func(n int) bool { return squares[len(values)-n] != n*n }) {
		t.Errorf("%v, %v", squares, err)
	}
	wrong := errors.New("wrong")
	if _, err := eachAtOnce(3, values, func(n int) (int, error) {
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
	eachAtOnce(2, []int{1, 2, 3}, func(n int) (int, error) {
		called.Add(1)
		if n == 2 {
			panic("a fault")
		}
		return n, nil
	})
	t.Error("it returns")
}
