package fetch

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/storage/control"
)

// source is a store with a secret that a command prints.
type source struct {
	*control.Store
	t    *testing.T
	file string // that the command prints
	runs string // a line for each time that the command was run
}

// fromCommand stores where a secret comes from.
func fromCommand(t *testing.T, secret credentials.Secret, value string) *source {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there is no /bin/sh")
	}
	dir := t.TempDir()
	store, err := control.Open(filepath.Join(dir, "control.db"), control.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	s := &source{store, t, filepath.Join(dir, "secret"), filepath.Join(dir, "runs")}
	s.become(value)
	origin := credentials.Origin{Command: []string{"/bin/sh", "-c", "echo run >>" + s.runs + "; cat " + s.file}}
	if err := store.SetSecret(t.Context(), "bank", secret.From(origin)); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *source) become(value string) {
	s.t.Helper()
	if err := os.WriteFile(s.file, []byte(value+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *source) mustHaveRun(times int) {
	s.t.Helper()
	content, err := os.ReadFile(s.runs)
	if n := strings.Count(string(content), "\n"); n != times || err != nil {
		s.t.Errorf("the command was run %d times, want %d: %v", n, times, err)
	}
}

func TestASecretThatIsRefusedIsReadAnewAndThePageAskedForAgain(t *testing.T) {
	t.Parallel()
	var wanted atomic.Value
	wanted.Store(hush + "-1")
	site := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+wanted.Load().(string) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, "welcome")
	})
	secret, err := credentials.NewSecret(credentials.KindBearer, "", "any")
	if err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(site, "http://")
	s := fromCommand(t, secret.Within(credentials.Bounds{Hosts: []string{host}, Insecure: true}), hush+"-1")
	o := local()
	run := brokerOf(o, s.Store)
	ask := func(want map[string]int64, paths ...string) {
		t.Helper()
		all := runWith(t, o, run, pages(site, paths...)...)
		mustCount(t, all, want)
		mustHide(t, all, hush)
	}
	ask(map[string]int64{"pages": 3, "secrets_renewed": 0}, "/1", "/2", "/3")
	s.mustHaveRun(1)
	wanted.Store(hush + "-2")
	s.become(hush + "-2")
	ask(map[string]int64{"pages": 4, "unauthorized": 0}, "/1", "/2", "/3", "/4")
	s.mustHaveRun(2)
	wanted.Store(hush + "-3") // which the command does not know
	ask(map[string]int64{"pages": 0, "unauthorized": 3, "secrets_paused": 1, "secret_paused": 6}, "/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8", "/9")
	s.mustHaveRun(2)
}

func TestTheSecretOfAFormIsReadAnewWhenTheSignIsGone(t *testing.T) {
	t.Parallel()
	c := &club{}
	site := serve(t, c.ServeHTTP)
	s := fromCommand(t, formOf(t, site, "text:Log out").secret, hush)
	o := local()
	run := brokerOf(o, s.Store)
	mustOpen := func(posts int, paths ...string) {
		t.Helper()
		all := runWith(t, o, run, pages(site, paths...)...)
		mustCount(t, all, map[string]int64{"pages": int64(len(paths)), "logins_refused": 0})
		mustHide(t, all, hush, "s3ss10n")
		if got := c.took(); len(got) != posts {
			t.Errorf("the form was sent as %q", got)
		}
	}
	mustOpen(1, "/a", "/b")
	s.mustHaveRun(1)
	c.change(func(c *club) { c.forgot, c.password = c.sessions, hush+"-2" })
	s.become(hush + "-2")
	mustOpen(1, "/a", "/b", "/c")
	s.mustHaveRun(2)
}

func TestASecretThatCannotBeReadIsSaidWithoutWhatTheCommandSays(t *testing.T) {
	t.Parallel()
	secret, err := credentials.NewSecret(credentials.KindBearer, "", "any")
	if err != nil {
		t.Fatal(err)
	}
	e := &ear{}
	site := serve(t, e.ServeHTTP)
	s := fromCommand(t, secret.Within(credentials.Bounds{Hosts: []string{strings.TrimPrefix(site, "http://")}, Insecure: true}), hush+"\xff")
	o := local()
	all := runWith(t, o, brokerOf(o, s.Store), pages(site, "/1", "/2", "/3")...)
	for _, r := range all.byRequest {
		if !strings.Contains(r.visit.Error, "secret bank cannot be read from where it comes from") || r.outcome.Err != nil {
			t.Errorf("%q, %v", r.visit.Error, r.outcome.Err)
		}
	}
	mustHear(t, e)
	mustHide(t, all, hush)
	s.mustHaveRun(1)
}
