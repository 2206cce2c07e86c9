package nntp

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil/newsserver"
	"github.com/webrace/webrace/stages/internal/agent/agenttest"
)

// TestNothingNewIsOneQuestion where the session was kept, with an account and without; the next article is read by it,
// too.
func TestNothingNewIsOneQuestion(t *testing.T) {
	t.Parallel()
	for name, account := range map[string]bool{"with an account": true, "for anybody": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, source := boats(t, newsserver.Options{Security: newsserver.STARTTLS, Account: account})
			receives(t, s, 0, 0)
			r := newReader(t)
			if account {
				r.logsIn(s.Address, password, false)
			}
			asked := make([]int, 4)
			f := r.frontier()
			f.Before = func(i int) {
				asked[i] = strings.Count(s.Said(), "\n")
				if i == 3 {
					receives(t, s, 1, 1)
				}
			}
			came := f.Visits(t, slices.Repeat([]webrace.Request{r.request(source)}, 4)...)
			if asked[2]-asked[1] != 1 || asked[3]-asked[2] != 1 {
				t.Errorf("questions before each visit: %v\n%s", asked, s.Said())
			}
			if last := came[3]; len(last.Documents) != 1 || last.Documents[0].URL != "news:1@a.example" || strings.Count(s.Said(), "MODE READER") != 1 {
				t.Errorf("the last brings %d documents: %s", len(last.Documents), last.Why())
			}
		})
	}
}

// TestASessionThatWasKeptTooLongIsReplaced, though the server tells so by an answer that would be a failure of another
// session.
func TestASessionThatWasKeptTooLongIsReplaced(t *testing.T) {
	t.Parallel()
	connections := make(chan int, 10)
	address := agenttest.Listen(t, "127.0.0.1:0", func(conn net.Conn) {
		connections <- 1
		fmt.Fprint(conn, "200 here\r\n")
		groups := 0
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			switch verb, _, _ := strings.Cut(lines.Text(), " "); verb {
			case "GROUP":
				if groups++; groups > 1 {
					fmt.Fprint(conn, "503 Timeout, closing connection\r\n")
					return
				}
				fmt.Fprint(conn, "211 0 0 0 local.boats\r\n")
			default:
				fmt.Fprint(conn, "200 as you like\r\n")
			}
		}
	})
	r := newReader(t)
	came := r.frontier().Visits(t, slices.Repeat([]webrace.Request{r.request("nntp://" + address + "/local.boats")}, 3)...)
	for i, c := range came {
		if c.Why() != "" {
			t.Errorf("visit %d: %s", i, c.Why())
		}
	}
	if n := len(connections); n != 3 {
		t.Errorf("%d connections", n)
	}
}
