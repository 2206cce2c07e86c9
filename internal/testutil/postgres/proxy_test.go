package postgres

import (
	"strings"
	"sync/atomic"
	"testing"
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
