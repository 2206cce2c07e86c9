package control_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/diskspace"
	"github.com/webrace/webrace/xmlschema"
)

func TestABackupIsWholeWhileTheStoreIsWritten(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx, stop := context.WithCancel(t.Context())
	written := make(chan struct{})
	go func() {
		defer close(written)
		for n := 0; ctx.Err() == nil; n++ {
			_, err := s.Put(context.WithoutCancel(ctx), []*xmlschema.URD{urd(fmt.Sprint("a", n), "eleni", "http://a.example/", "ibm"), urd(fmt.Sprint("b", n), "eleni", "http://a.example/")})
			if err == nil {
				_, err = s.PutACIs(context.WithoutCancel(ctx), []*xmlschema.ACI{aci(n)})
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for now(t, s).Revision < 40 {
		if _, err := s.NextChange(ctx, now(t, s)); err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(t.TempDir(), "copy.db")
	ok(t, s.Backup(t.Context(), to))
	stop()
	<-written
	if err := s.Backup(t.Context(), to); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over another: %v", err)
	}
	if info, err := os.Stat(to); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if rounds := check(t, openAt(t, to)); rounds < 19 {
		t.Errorf("%d rounds were backed up", rounds)
	}
	if leftover, err := filepath.Glob(filepath.Join(filepath.Dir(to), "*.partial*")); err != nil || len(leftover) > 0 {
		t.Errorf("left over: %v, %v", leftover, err)
	}
	if err := s.Backup(t.Context(), filepath.Join(to, "none", "x")); err == nil {
		t.Error("a backup to nowhere succeeded")
	}
}

func TestAReadOnlyStoreIsReadAndNotChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "control.db")
	s := openAt(t, path)
	put(t, s, urd("a", "eleni", "http://a.example/", "ibm"))
	putACIs(t, s, aci(1))
	ok(t, s.Close())
	before, err := os.ReadFile(path)
	ok(t, err)
	ok(t, os.Chmod(path, 0o400))
	ok(t, os.Chmod(dir, 0o500))
	t.Cleanup(func() { os.Chmod(dir, 0o700) })

	r, err := control.Open(path, control.Options{ReadOnly: true})
	ok(t, err)
	if got := gather(t, r.Query(t.Context(), "/urd[keywords/keyword/@key='ibm']")); len(got) != 1 {
		t.Errorf("%d URDs are read", len(got))
	}
	_, putErr := r.Put(t.Context(), []*xmlschema.URD{urd("b", "eleni", "http://b.example/")})
	_, takeErr := r.Take(t.Context(), "eleni")
	for _, err := range []error{putErr, takeErr, r.SetCursor(t.Context(), "x", 1), r.CheckNow(t.Context(), "a")} {
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "reading only") {
			t.Errorf("writing: %v", err)
		}
	}
	ok(t, r.Backup(t.Context(), filepath.Join(t.TempDir(), "copy")))
	ok(t, r.Close())
	after, err := os.ReadFile(path)
	ok(t, err)
	if string(before) != string(after) {
		t.Error("reading changed the file")
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 { // with the file that counts its commits
		t.Errorf("reading left %v, %v", files, err)
	}
}

func TestWhatCannotBeReadOnlySaysWhy(t *testing.T) {
	t.Parallel()
	if _, err := control.Open(filepath.Join(t.TempDir(), "none"), control.Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is not there: %v", err)
	}
	old := golden(t, 1)
	if _, err := control.Open(old, control.Options{ReadOnly: true}); err == nil || !strings.Contains(err.Error(), "for writing") {
		t.Errorf("an old one: %v", err)
	}
	// A writer that was killed leaves a log; what it holds is read as well.
	path, acknowledged := killedWriter(t, 10)
	s, err := control.Open(path, control.Options{ReadOnly: true})
	ok(t, err)
	defer s.Close()
	if got := len(gather(t, s.All(t.Context()))); got < 2*acknowledged {
		t.Errorf("%d URDs of %d rounds are read", got, acknowledged)
	}
}

func TestAFullDiskIsWaitedFor(t *testing.T) {
	t.Parallel()
	var s *control.Store
	failures := 0
	retry := func(ctx context.Context, transaction func() error) error {
		for {
			err := transaction()
			if !diskspace.IsFull(err) {
				return err
			}
			if failures++; failures%3 == 0 { // there is room again
				pages, err := control.Pages(s)
				ok(t, err)
				ok(t, control.LimitPages(s, pages+8))
			}
		}
	}
	s, err := control.Open(filepath.Join(t.TempDir(), "control.db"), control.Options{Retry: retry})
	ok(t, err)
	defer s.Close()
	ok(t, control.LimitPages(s, 1)) // not one more than there are
	for n := range 60 {
		changes := put(t, s, urd(fmt.Sprint("a", n), "eleni", "http://a.example/", "ibm"), urd(fmt.Sprint("b", n), "eleni", "http://a.example/"))
		if len(changes) != 2 {
			t.Fatalf("%d changes of 2: %v", len(changes), changes)
		}
		a := aci(n)
		a.Summary = strings.Repeat("x", 5000)
		if added := putACIs(t, s, a); added != 1 {
			t.Fatalf("%d of 1 ACI is new", added)
		}
	}
	taken, err := s.Take(t.Context(), "andreas")
	ok(t, err)
	if len(taken) != 20 || failures < 6 {
		t.Errorf("%d taken, %d failures", len(taken), failures)
	}
	if rounds := check(t, s); rounds != 60 {
		t.Errorf("%d rounds are stored", rounds)
	}
	if _, err := s.Expire(t.Context(), time.Now()); err != nil {
		t.Error(err)
	}
}
