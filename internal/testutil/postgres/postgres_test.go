package postgres

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

func TestWhatWasCommittedIsThereAfterAServerWasKilledOrStopped(t *testing.T) {
	t.Parallel()
	s := New(t, Options{Fsync: true})
	url := s.Database(t)
	s.query(t, url, "CREATE TABLE a (n int); INSERT INTO a VALUES (1)")
	for how, end := range map[string]func(testing.TB){"killed": s.Kill, "stopped": s.Stop} {
		end(t)
		s.Start(t)
		if got := s.query(t, url, "SELECT count(*) FROM a"); got != "1" {
			t.Errorf("%s: %s rows, want 1", how, got)
		}
	}
	if got := s.query(t, url, "SHOW fsync"); got != "on" {
		t.Errorf("fsync is %s", got)
	}
}

func TestDatabasesOfOneServerAreEmptyAndApart(t *testing.T) {
	t.Parallel()
	first, second := Database(t), Database(t)
	s := shared.server
	s.query(t, first, "CREATE TABLE a (n int)")
	if got := s.query(t, second, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"); got != "0" {
		t.Errorf("a new database has %s tables", got)
	}
	// What a program must not leave to the server.
	if got := s.query(t, first, "SELECT 'a' < 'B', current_setting('timezone')"); got != "t|Asia/Kathmandu" {
		t.Errorf("order and time zone are %s", got)
	}
}
