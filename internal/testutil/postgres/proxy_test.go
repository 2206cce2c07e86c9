package postgres

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestAProxyLosesACommitOrTheAnswerToIt(t *testing.T) {
	t.Parallel()
	direct := Database(t)
	s := shared.server
	s.query(t, direct, "CREATE TABLE a (n int)")
	p := NewProxy(t, s)
	insert := func() error {
		c := s.command("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", p.URL(t, direct))
		c.Stdin = strings.NewReader("BEGIN;\nINSERT INTO a VALUES (1);\nCOMMIT;\n") // each a query of its own
		return c.Run()
	}
	var atCommit, atAnswer atomic.Bool
	p.AtCommit(atCommit.Load)
	p.AtAnswer(atAnswer.Load)
	for _, step := range []struct {
		name               string
		atCommit, atAnswer bool
		rows               string
	}{{"nothing", false, false, "1"}, {"the answer", false, true, "2"}, {"the commit", true, false, "2"}, {"nothing more", false, false, "3"}} {
		atCommit.Store(step.atCommit)
		atAnswer.Store(step.atAnswer)
		if err := insert(); (err == nil) == (step.atCommit || step.atAnswer) {
			t.Errorf("%s is lost: %v", step.name, err)
		}
		if got := s.query(t, direct, "SELECT count(*) FROM a"); got != step.rows {
			t.Errorf("%s is lost: %s rows, want %s", step.name, got, step.rows)
		}
	}
}

func TestAProxyLosesTheAnswerToAStatementAlone(t *testing.T) {
	t.Parallel()
	direct := Database(t)
	s := shared.server
	s.query(t, direct, "CREATE TABLE a (n int)")
	p := NewProxy(t, s)
	conn, err := pgx.Connect(t.Context(), p.URL(t, direct))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var seen []string
	p.AtChange(func(statement string) bool {
		seen = append(seen, statement)
		return len(seen) == 3
	})
	for n := range 2 { // the second time it is prepared
		if _, err := conn.Exec(t.Context(), "INSERT INTO a VALUES ($1)", n); err != nil {
			t.Fatal(err)
		}
	}
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "INSERT INTO a VALUES ($1)", 2); err != nil { // which the proxy does not cut
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "INSERT INTO a VALUES ($1)", 3); err == nil {
		t.Error("the answer was not lost")
	}
	if got := s.query(t, direct, "SELECT count(*) FROM a"); got != "4" || len(seen) != 3 {
		t.Errorf("%s rows, seen %q", got, seen)
	}
}
