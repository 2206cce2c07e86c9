package frontier

import (
	"errors"
	"sync"
	"testing"

	"github.com/webrace/webrace"
)

// A queue that is open for one who looks is open for all who look meanwhile, and closed behind the last.
func TestManyLookAtAQueueAtOnce(t *testing.T) {
	t.Parallel()
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	q, err := s.Queue("p", QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.Start(t.Context(), webrace.Crawl{ID: "c", Start: "https://a.org/", Scope: webrace.ScopeHost, Levels: 2}, true); err != nil {
		t.Fatal(err)
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	look := func(meanwhile func() error) error {
		return s.View("p", QueueOptions{}, func(q *Queue) error {
			if meanwhile != nil {
				if err := meanwhile(); err != nil {
					return err
				}
			}
			_, err := q.Why("https://a.org/")
			return err
		})
	}
	if err := look(func() error { return look(nil) }); err != nil { // the inner one ends first
		t.Errorf("one within the other: %v", err)
	}
	begun, ended := make(chan bool), make(chan error)
	err = look(func() error {
		go func() {
			ended <- look(func() error { begun <- true; <-begun; return nil })
		}()
		<-begun
		return nil
	})
	begun <- true // the first that came has ended
	if err := errors.Join(err, <-ended); err != nil {
		t.Errorf("the first one ends first: %v", err)
	}
	var looking sync.WaitGroup
	for range 8 {
		looking.Go(func() {
			for range 20 {
				if err := look(nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	looking.Wait()
	if s.InUse("p") || len(s.views) > 0 {
		t.Error("it is still open")
	}
	failure := errors.New("failed")
	if err := s.View("p", QueueOptions{}, func(*Queue) error { return failure }); !errors.Is(err, failure) || s.InUse("p") {
		t.Errorf("what fails: %v", err)
	}
	if q, err = s.Queue("p", QueueOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := look(nil); err != nil || !s.InUse("p") {
		t.Errorf("one that is in use: %v", err)
	}
	if err := q.Close(); err != nil {
		t.Error(err)
	}
}
