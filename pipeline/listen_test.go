package pipeline

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// answering is a stage as far as it listens: it sends its name to everybody who connects.
type answering struct {
	net.Listener
	ended chan struct{}
}

func answer(l net.Listener, name string) answering {
	a := answering{l, make(chan struct{})}
	go func() {
		defer close(a.ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, name) // who went away does not read it
			_ = conn.Close()
		}
	}()
	return a
}

func (a answering) end(t *testing.T) {
	t.Helper()
	if err := errors.Join(a.Close(), a.Close()); err != nil {
		t.Error(err)
	}
	<-a.ended
}

func mustListen(t *testing.T, e *Env, address string) net.Listener {
	t.Helper()
	l, err := e.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// knock connects, and returns what waits to be told who answers.
func knock(t *testing.T, address string) (who func() string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatalf("the port is closed: %v", err)
	}
	return func() string { return nameFrom(t, conn) }
}

func nameFrom(t *testing.T, conn net.Conn) string {
	defer conn.Close()
	name, err := io.ReadAll(conn)
	if err != nil || len(name) == 0 {
		t.Errorf("nobody answers: %q, %v", name, err)
	}
	return string(name)
}

func TestAPortThatIsTakenOverIsNeverClosed(t *testing.T) {
	t.Parallel()
	shared := new(Resources)
	l := mustListen(t, NewEnv("p", "hook", shared), "127.0.0.1:0")
	address := l.Addr().String()
	current := answer(l, "0")
	var asking sync.WaitGroup
	enough := make(chan struct{})
	for range 4 {
		asking.Go(func() {
			for {
				select {
				case <-enough:
					return
				default:
				}
				conn, err := net.Dial("tcp", address)
				if err != nil {
					t.Errorf("the port is closed: %v", err)
					return
				}
				nameFrom(t, conn)
			}
		})
	}
	for i := range 50 {
		successor := mustListen(t, NewEnv("p", "hook", shared), "127.0.0.1:0")
		if successor.Addr().String() != address {
			t.Fatalf("the successor listens on %s", successor.Addr())
		}
		var who func() string
		if i%2 == 0 { // nobody accepts, and who connects waits
			current.end(t)
			who = knock(t, address)
			current = answer(successor, "even")
		} else {
			next := answer(successor, "odd")
			current.end(t)
			current = next
			who = knock(t, address)
		}
		if name := who(); name != []string{"even", "odd"}[i%2] {
			t.Errorf("%s answers, whose listener is closed", name)
		}
	}
	close(enough)
	asking.Wait()
	current.end(t)
	mustBeFree(t, address)
}

func mustBeFree(t *testing.T, address string) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatalf("the address is not free: %v", err)
	}
	l.Close()
}

func TestAPortIsFreeOnceTheLastWhoListensIsClosed(t *testing.T) {
	t.Parallel()
	shared := new(Resources)
	first := mustListen(t, NewEnv("p", "hook", shared), "127.0.0.1:0")
	second := mustListen(t, NewEnv("p", "hook", shared), "127.0.0.1:0")
	address := first.Addr().String()
	accepted := answer(first, "first")
	waiting := make(chan error, 1)
	go func() {
		_, err := second.Accept()
		waiting <- err
	}()
	accepted.end(t) // twice, which is once
	if l, err := net.Listen("tcp", address); err == nil {
		l.Close()
		t.Error("one is closed, and the address is free")
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	if err := <-waiting; !errors.Is(err, net.ErrClosed) {
		t.Errorf("who waits for a connection is told %v", err)
	}
	if _, err := second.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("who asks a closed listener is told %v", err)
	}
	mustBeFree(t, address)
	other := mustListen(t, NewEnv("q", "other", shared), address)
	defer other.Close()
}

func TestAnAddressInUseSaysWhoHasItAndWhatToDo(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	shared := new(Resources)
	hook := mustListen(t, NewEnv("p", "hook", shared), "127.0.0.1:0")
	defer hook.Close()
	_, port, _ := net.SplitHostPort(hook.Addr().String())
	named := mustListen(t, NewEnv("p", "named", new(Resources)), "127.0.0.1:0")
	named.Close()
	named = mustListen(t, NewEnv("p", "named", shared), named.Addr().String())
	defer named.Close()
	for _, c := range []struct {
		env     *Env
		address string
		says    []string
	}{
		{NewEnv("p", "s", shared), taken.Addr().String(), []string{taken.Addr().String(), "free this address, or give the stage another"}},
		{NewEnv("p", "s", shared), "127.0.0.1:" + port, []string{"stage hook of pipeline p listens on " + hook.Addr().String(), "give one of them another address"}},
		{NewEnv("p", "s", shared), named.Addr().String(), []string{"stage named of pipeline p does so already", "give one of them another address"}},
		{NewEnv("q", "named", shared), named.Addr().String(), []string{"stage named of pipeline p does so already"}},
	} {
		l, err := c.env.Listen("tcp", c.address)
		if err == nil {
			l.Close()
			t.Errorf("two listen on %s", c.address)
			continue
		}
		for _, part := range c.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v does not say %q", err, part)
			}
		}
	}
}

func TestPortZeroIsAnotherPortForAnotherStage(t *testing.T) {
	t.Parallel()
	shared := new(Resources)
	one := mustListen(t, NewEnv("p", "one", shared), "127.0.0.1:0")
	defer one.Close()
	for _, e := range []*Env{NewEnv("p", "two", shared), NewEnv("q", "one", shared)} {
		l := mustListen(t, e, "127.0.0.1:0")
		defer l.Close()
		if l.Addr().String() == one.Addr().String() {
			t.Errorf("stage %s of pipeline %s is given the port of another", e.Stage, e.Pipeline)
		}
	}
}
