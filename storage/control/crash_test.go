package control_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// writeVariable makes the test binary a process that writes into the store it names until it is killed.
const writeVariable = "WEBRACE_TEST_WRITE"

func TestMain(m *testing.M) {
	if path := os.Getenv(writeVariable); path != "" {
		writeUntilKilled(path)
		return
	}
	os.Exit(postgres.Main(m))
}

// writeUntilKilled acknowledges on its standard output, by number, each pair of URDs and the ACI it wrote.
func writeUntilKilled(path string) {
	s, err := control.Open(path, control.Options{})
	for n := 0; err == nil; n++ {
		ctx := context.Background()
		_, err = s.Put(ctx, []*xmlschema.URD{
			urd(fmt.Sprintf("a%d", n), "eleni", "http://a.example/", "ibm"),
			urd(fmt.Sprintf("b%d", n), "eleni", "http://b.example/", "java"),
		})
		if err == nil {
			_, err = s.PutACIs(ctx, []*xmlschema.ACI{aci(n)})
		}
		if err == nil {
			fmt.Println(n)
		}
	}
	fmt.Println(err)
}

// killedWriter returns the path of a store whose writer was killed, and how many of its rounds were
// acknowledged.
func killedWriter(t *testing.T, rounds int) (path string, acknowledged int) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "control.db")
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), writeVariable+"="+path)
	out, err := child.StdoutPipe()
	ok(t, err)
	ok(t, child.Start())
	lines := bufio.NewScanner(out)
	killed := false
	for lines.Scan() {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatalf("the writer said %q", lines.Text())
		}
		acknowledged = n + 1
		if acknowledged >= rounds && !killed {
			ok(t, child.Process.Kill())
			killed = true
		}
	}
	if err := child.Wait(); err == nil || !killed {
		t.Fatalf("the writer was not killed: %v", err)
	}
	return path, acknowledged
}

// check returns how many rounds the store holds whole: there may be none that is not.
func check(t *testing.T, s *control.Store) (rounds int) {
	t.Helper()
	pairs := make(map[string]int)
	urds := gather(t, s.All(t.Context()))
	for _, u := range urds {
		pairs[u.ID[1:]]++
	}
	for id, n := range pairs {
		if n != 2 {
			t.Errorf("round %s was stored in part", id)
		}
	}
	if got := revision(t, s); got != int64(len(urds)) {
		t.Errorf("revision %d with %d URDs", got, len(urds))
	}
	if found := gather(t, s.Query(t.Context(), "/urd[keywords/keyword/@key='ibm']")); len(found) != len(pairs) {
		t.Errorf("the index finds %d of %d URDs", len(found), len(pairs))
	}
	acis := len(gather(t, s.ACIs(t.Context(), control.Filter{})))
	if acis != len(pairs) && acis != len(pairs)-1 {
		t.Errorf("%d ACIs with %d rounds", acis, len(pairs))
	}
	return acis
}

func TestWhatWasAcknowledgedSurvivesAKill(t *testing.T) {
	t.Parallel()
	path, acknowledged := killedWriter(t, 30)
	s := openAt(t, path)
	if got := check(t, s); got < acknowledged || got > acknowledged+1 {
		t.Errorf("%d rounds are stored, %d were acknowledged", got, acknowledged)
	}
	put(t, s, urd("after", "eleni", "http://a.example/"))
}

// A power failure may leave the tail of the log unwritten: what is before the tear has to be there, whole.
func TestATornLogLosesItsTailAndNothingElse(t *testing.T) {
	t.Parallel()
	path, acknowledged := killedWriter(t, 30)
	log, err := os.ReadFile(path + "-wal")
	ok(t, err)
	database, err := os.ReadFile(path)
	ok(t, err)
	previous := acknowledged + 1
	for _, torn := range []int{0, 1, 17, 4096, 20000, len(log) / 2, len(log)} {
		t.Run(fmt.Sprint("without the last ", torn), func(t *testing.T) {
			copied := filepath.Join(t.TempDir(), "control.db")
			ok(t, os.WriteFile(copied, database, 0o600))
			ok(t, os.WriteFile(copied+"-wal", log[:len(log)-torn], 0o600))
			s, err := control.Open(copied, control.Options{})
			ok(t, err)
			defer s.Close()
			got := check(t, s)
			if got > previous {
				t.Errorf("%d rounds are left, more than the %d of a longer log", got, previous)
			}
			if torn == 0 && got < acknowledged {
				t.Errorf("%d rounds are stored, %d were acknowledged", got, acknowledged)
			}
			if torn == 1 && got < acknowledged-1 {
				t.Errorf("a torn byte cost more than the last transaction: %d rounds of %d", got, acknowledged)
			}
			previous = got
			put(t, s, urd(strings.Repeat("z", 5), "eleni", "http://a.example/"))
		})
	}
}
