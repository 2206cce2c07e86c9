package frontier

import (
	"testing"

	"github.com/webrace/webrace"
)

func TestLastVisitIsThatOfWhereAURLLeads(t *testing.T) {
	t.Parallel()
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if v, err := s.LastVisit("p", "", "https://a.org/"); v != nil || err != nil {
		t.Fatalf("before there is a queue: %v, %v", v, err)
	}
	q, err := s.Queue("p", QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	if _, err := q.Start(t.Context(), webrace.Crawl{ID: "c", Start: "https://a.org/", Scope: webrace.ScopeHost, Levels: 2}, true); err != nil {
		t.Fatal(err)
	}
	end := func(status int, reason, to string) {
		t.Helper()
		lease, err := q.Take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 2)
		if to != "" {
			q.Offer(&webrace.Links{From: lease.Request().URL, Reach: lease.Request().Reach, Via: webrace.ViaRedirect, Redirects: 1, URLs: []string{to}},
				func(_ Offered, err error) { done <- err })
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		lease.Done(Outcome{Learned: []webrace.Learned{func(v *webrace.Visit) { v.Status, v.Error = status, reason }}}, func(err error) { done <- err })
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	end(302, "", "https://a.org/b")
	if v, err := s.LastVisit("p", "", "https://a.org/"); err != nil || v == nil || v.Status != 302 {
		t.Errorf("before it was asked for where it leads: %+v, %v", v, err)
	}
	end(404, "404 Not Found", "")
	if v, err := s.LastVisit("p", "", "https://a.org/"); err != nil || v == nil || v.Error != "404 Not Found" {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err := s.LastVisit("p", "secret", "https://a.org/"); v != nil || err != nil {
		t.Errorf("with credentials it was never asked for with: %+v, %v", v, err)
	}
}
