package storecmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/remote"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/storage"
)

// A process takes its data directory before it can answer. Who asks it meanwhile waits for the answer, or until it is
// plain that there will be none: the directory is free, or its owner has had the time to start.
func TestCommandsWaitForAnOwnerThatStarts(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	dir, err := storage.Open(data, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	opened := true
	defer func() {
		if opened {
			dir.Close()
		}
	}()
	const answers, frees = "answers", "frees"
	for _, owner := range []string{answers, frees} {
		var out, complaints bytes.Buffer
		ended := make(chan int, 1)
		go func() {
			root := New([]string{"--data", data, "urd", "list"})
			root.SetOut(&out)
			root.SetErr(&complaints)
			ended <- cli.Execute(t.Context(), root, &complaints)
		}()
		select {
		case status := <-ended:
			t.Fatalf("%s: ended with %d before its owner had started: %s", owner, status, &complaints)
		case <-time.After(100 * time.Millisecond): // in which who does not wait has ended; a slower one passes all the same
		}
		stop := func() {}
		if owner == answers {
			stop = serve(t, dir)
		} else if opened = false; dir.Close() != nil {
			t.Fatal("the directory did not close")
		}
		if status := <-ended; status != cli.OK {
			t.Errorf("%s: the command ended with %d: %s", owner, status, &complaints)
		}
		stop()
	}
}

// serve answers at the socket of a directory, as a process does that runs pipelines.
func serve(t *testing.T, dir *storage.Dir) (stop func()) {
	listener, err := admin.Listen(dir.Path(storage.SocketName))
	if err != nil {
		t.Fatal(err)
	}
	commands := &remote.Server{Run: Answer(dir), Logger: slog.New(slog.DiscardHandler)}
	mux := http.NewServeMux()
	mux.Handle("POST "+remote.Path, commands)
	end := admin.Serve(listener, mux)
	return func() {
		end()
		commands.Shutdown(context.Background())
	}
}

func TestWhoHasHadTheTimeToStartIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	dir, err := storage.Open(data, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	begun := time.Now().Add(-2 * startsWithin).UTC().Format(time.RFC3339)
	if err := os.WriteFile(dir.Path("lock"), fmt.Appendf(nil, "%d here\n%s\na command\n", os.Getpid(), begun), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if conn, err := dialOwner(t.Context(), data); err == nil {
		conn.Close()
		t.Error("connected to a process that does not listen")
	}
	if waited := time.Since(began); waited > startsWithin/2 {
		t.Errorf("waited for %v", waited)
	}
}

// TestWhoTakesTheDirectoryMeanwhileIsAsked: a process may begin between the look for one and the opening of a store.
func TestWhoTakesTheDirectoryMeanwhileIsAsked(t *testing.T) {
	t.Parallel()
	locked, other := fmt.Errorf("open: %w", &storage.LockedError{Dir: "data"}), errors.New("disk full")
	answered := &cli.Error{Status: cli.OK}
	for _, c := range []struct {
		fails  error
		args   []string
		answer error
		want   error
	}{
		{nil, nil, answered, nil}, {other, nil, answered, other}, {locked, nil, answered, answered}, {locked, nil, nil, locked},
		{locked, []string{"-"}, answered, locked},
	} {
		command := &cobra.Command{RunE: func(*cobra.Command, []string) error { return c.fails }}
		orOwner(command, func() error { return c.answer })
		if err := command.RunE(command, c.args); err != c.want {
			t.Errorf("it fails of %v, with %q, and the answer is %v: %v, want %v", c.fails, c.args, c.answer, err, c.want)
		}
	}
	group := &cobra.Command{}
	if orOwner(group, nil); group.RunE != nil {
		t.Error("what runs nothing does")
	}
}
