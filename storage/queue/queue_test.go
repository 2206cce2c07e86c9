package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/storage/diskspace"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

func open(t *testing.T, dir string, o Options) *Store {
	t.Helper()
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func openQueue(t *testing.T, s *Store, name string, o QueueOptions) *Queue {
	t.Helper()
	q, err := s.Queue(t.Context(), name, o)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// put puts records and waits until they are on disk.
func put(t *testing.T, q *Queue, bodies ...string) {
	t.Helper()
	done := make(chan error, len(bodies))
	for _, body := range bodies {
		if err := q.Put(t.Context(), Patience{}, Record{Kind: "text", Body: []byte(body)}, func(err error) { done <- err }); err != nil {
			t.Fatal(err)
		}
	}
	for range bodies {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}

func take(t *testing.T, q *Queue) *Lease {
	t.Helper()
	l, err := q.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func finish(t *testing.T, l *Lease) {
	t.Helper()
	done := make(chan error, 1)
	l.Done(func(err error) { done <- err })
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// drain returns all that is left.
func drain(t *testing.T, q *Queue) (bodies []string) {
	t.Helper()
	q.Seal()
	for {
		l, err := q.Take(t.Context())
		if errors.Is(err, io.EOF) {
			return bodies
		}
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, string(l.Record().Body))
		finish(t, l)
	}
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestQueuesAreAloneAndInOrder(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), Options{})
	a, b := openQueue(t, s, "p/a", QueueOptions{}), openQueue(t, s, "p/ab", QueueOptions{})
	put(t, a, "1", "2", "3")
	put(t, b, "x")
	if _, err := s.Queue(t.Context(), "p/a", QueueOptions{}); err == nil {
		t.Error("a queue was opened twice")
	}
	out := take(t, a)
	if err := errors.Join(a.Close(), a.Close()); err != nil {
		t.Fatal(err)
	}
	out.Done(func(err error) {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("a record of a closed queue was removed: %v", err)
		}
	})
	held, err := s.Held()
	if err != nil || len(held) != 2 || held[0].Records != 3 || held[1].Records != 1 || held[1].Name != "p/ab" {
		t.Errorf("held %+v: %v", held, err)
	}
	want(t, drain(t, openQueue(t, s, "p/a", QueueOptions{})), "1", "2", "3")
	want(t, drain(t, b), "x")
}

// What comes back waits longer each time, and does not keep the others from going on.
func TestRecordsThatAreGivenBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(dir, Options{FS: vfs.NewMem()})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		q := openQueue(t, s, "q", QueueOptions{Wait: time.Hour})
		put(t, q, "1", "2", "3")
		began := time.Now()
		take(t, q).Again(time.Time{})
		take(t, q).Again(began.Add(10 * time.Second))
		take(t, q).GiveBack()
		for _, c := range []struct {
			body string
			at   time.Duration
		}{{"3", 0}, {"1", firstPause}, {"1", 3 * firstPause}, {"2", 10 * time.Second}} {
			l := take(t, q)
			if got := time.Since(began); string(l.Record().Body) != c.body || got != c.at {
				t.Errorf("%s after %v, want %s after %v", l.Record().Body, got, c.body, c.at)
			}
			if c.at == firstPause {
				l.Again(time.Time{})
			} else {
				l.Done(nil)
			}
		}
		q.Seal()
		if _, err := q.Take(t.Context()); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	})
}

// However long a record was out, the end waits for its next time once it is given back: as long as it waits, and no
// longer.
func TestTheEndWaitsForWhatWasOutForLong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(dir, Options{FS: vfs.NewMem()})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		q := openQueue(t, s, "q", QueueOptions{Wait: time.Minute})
		put(t, q, "1")
		l := take(t, q)
		q.Seal()
		time.Sleep(time.Hour)
		back := time.Now()
		l.Again(time.Time{})
		take(t, q).Again(back.Add(time.Hour))
		if _, err := q.Take(t.Context()); !errors.Is(err, io.EOF) || time.Since(back) != time.Minute {
			t.Errorf("it ends after %v: %v", time.Since(back), err)
		}
	})
}

func TestDropOldestKeepsTheNewest(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), Options{})
	one := sizeOf((&Record{Kind: "text", Body: []byte("1"), At: time.Now()}).encode())
	q := openQueue(t, s, "q", QueueOptions{MaxBytes: 3 * one, Full: DropOldest})
	put(t, q, "1", "2", "3")
	out, back := take(t, q), take(t, q)
	back.Again(time.Now().Add(time.Hour))
	put(t, q, "4") // in the place of 2, the oldest that is not out
	take(t, q).GiveBack()
	put(t, q, "5") // in that of 3
	if st := q.Stats(); st.Dropped != 2 || st.Records != 3 || st.Bytes != 3*one || st.Out != 1 {
		t.Errorf("%+v", st)
	}
	l4, l5 := take(t, q), take(t, q)
	put(t, q, "6") // all others are out: it is itself the oldest
	if st := q.Stats(); st.Dropped != 3 {
		t.Errorf("%+v", st)
	}
	want(t, []string{string(out.Record().Body), string(l4.Record().Body), string(l5.Record().Body)}, "1", "4", "5")
	for _, l := range []*Lease{out, l4, l5} {
		finish(t, l)
	}
	want(t, drain(t, q))
	if held, err := s.Held(); err != nil || held[0].Records != 0 || held[0].Bytes != 0 {
		t.Errorf("held %+v: %v", held, err)
	}
}

func TestWhatIsTooLargeOrTooMuchIsRefused(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), Options{})
	q := openQueue(t, s, "q", QueueOptions{MaxBytes: 200, Full: Fail})
	large := Record{Kind: "text", Body: make([]byte, 300)}
	if err := q.Put(t.Context(), Patience{}, large, nil); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	put(t, q, string(make([]byte, 100)))
	if err := q.Put(t.Context(), Patience{}, Record{Body: make([]byte, 100)}, nil); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
	q.SetOptions(QueueOptions{MaxBytes: 200})
	stop := make(chan struct{})
	close(stop)
	if err := q.Put(t.Context(), Patience{Stop: stop}, Record{Body: make([]byte, 100)}, nil); !errors.Is(err, ErrStopped) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := q.Put(ctx, Patience{}, Record{Body: make([]byte, 100)}, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A copy made of the store at the end of a backup has what was done since its beginning.
func TestABackupHasWhatWasDoneMeanwhile(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), Options{})
	q := openQueue(t, s, "q", QueueOptions{})
	put(t, q, "1", "2", "3")
	finish(t, take(t, q))
	release := s.KeepDone()
	gone := make(chan error, 1)
	take(t, q).Done(func(err error) { gone <- err })
	put(t, q, "4")
	copied := filepath.Join(t.TempDir(), "copy")
	if err := s.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	release()
	release()
	if err := <-gone; err != nil {
		t.Error(err)
	}
	want(t, drain(t, openQueue(t, open(t, copied, Options{}), "q", QueueOptions{})), "2", "3", "4")
	want(t, drain(t, q), "3", "4")
}

// Fsck finds what cannot be read, and wrong numbers, and mends both; the rest comes out.
func TestCheckFindsDamage(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), Options{})
	q := openQueue(t, s, "q", QueueOptions{})
	put(t, q, "1", "2", "3")
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	kinds := func(repair bool) map[string]int {
		found := make(map[string]int)
		if err := s.Check(t.Context(), repair, func(f fsck.Finding) { found[f.Kind]++ }); err != nil {
			t.Fatal(err)
		}
		return found
	}
	if found := kinds(false); len(found) > 0 {
		t.Errorf("a sound store: %v", found)
	}
	for key, value := range map[string][]byte{
		string(keyOfRecord(1, 1)): {9}, string(keyOfRecord(7, 0)): {1}, string(keyOf(stateKey, 1)): {1, 2},
	} {
		if err := s.db.Set([]byte(key), value, pebbledb.Sync); err != nil {
			t.Fatal(err)
		}
	}
	damage := map[string]int{damagedValue: 1, strayRecords: 1, wrongTotals: 1}
	for _, repair := range []bool{false, true} {
		if found := kinds(repair); !maps.Equal(found, damage) {
			t.Errorf("found %v", found)
		}
	}
	if found := kinds(false); len(found) > 0 {
		t.Errorf("after the repair: %v", found)
	}
	want(t, drain(t, openQueue(t, s, "q", QueueOptions{})), "1", "3")
}

// What cannot be read is told of, left where it is, and passed over.
func TestADamagedRecordHoldsNothingUp(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), Options{})
	q := openQueue(t, s, "q", QueueOptions{})
	put(t, q, "1", "2")
	damaged := bytes.Repeat([]byte{9}, chunkBytes) // as large as all that is read at once
	if err := errors.Join(q.Close(), s.db.Set(keyOfRecord(1, 0), damaged, pebbledb.Sync)); err != nil {
		t.Fatal(err)
	}
	told := 0
	q = openQueue(t, s, "q", QueueOptions{Damaged: func(error) { told++ }})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	l, err := q.Take(ctx) // which knows of no end yet
	if err != nil {
		t.Fatal(err)
	}
	want(t, []string{string(l.Record().Body)}, "2")
	finish(t, l)
	want(t, drain(t, q))
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}

func TestAStoreThatIsOlderOrReadOnlyIsRefused(t *testing.T) {
	t.Parallel()
	mem := vfs.NewMem()
	s := open(t, "queues", Options{FS: mem})
	put(t, openQueue(t, s, "q", QueueOptions{}), "1")
	before := mem.PathJoin("older")
	if err := s.Backup(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	put(t, openQueue(t, s, "r", QueueOptions{}), "1")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := vfs.Clone(mem, mem, "queues/generation", "older/generation"); err != nil {
		t.Fatal(err)
	}
	var refused *fsck.Error
	if _, err := Open(before, Options{FS: mem}); !errors.As(err, &refused) {
		t.Errorf("an older store was opened: %v", err)
	}
	only := open(t, "queues", Options{FS: mem, ReadOnly: true})
	if _, err := only.Queue(t.Context(), "q", QueueOptions{}); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
	if held, err := only.Held(); err != nil || len(held) != 2 {
		t.Errorf("%v, %v", held, err)
	}
}

// On a disk that is full, what comes waits until there is room, and nothing is lost.
func TestAFullDiskIsWaitedFor(t *testing.T) {
	t.Parallel()
	disk := testutil.NewDisk(t, 40)
	paused := make(chan struct{}, 1) // also when the pause is over at once, as files that were done with go
	watch := diskspace.New(diskspace.Options{
		Dir: disk.Path, Reserve: 4 << 20, Poll: 5 * time.Millisecond,
		Notify: func(s diskspace.State) {
			if s.Paused {
				select {
				case paused <- struct{}{}:
				default:
				}
			}
		},
	})
	defer watch.Close()
	s := open(t, filepath.Join(disk.Path, "queues"), Options{FS: watch.FS(vfs.Default)})
	q := openQueue(t, s, "q", QueueOptions{})
	const n, size = 60, 1 << 20
	done := make(chan error, n)
	random := rand.NewChaCha8([32]byte{}) // what the database cannot compress, and so free the disk of
	go func() {
		for i := range n {
			body := fmt.Appendf(nil, "%02d", i)
			body = append(body, make([]byte, size)...)
			random.Read(body[2:])
			if err := q.Put(context.Background(), Patience{}, Record{Body: body}, func(err error) { done <- err }); err != nil {
				done <- err
			}
		}
	}()
	<-paused
	disk.Resize(400)
	for range n {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	for i, body := range drain(t, q) {
		if body[:2] != fmt.Sprintf("%02d", i) || len(body) != size+2 {
			t.Errorf("record %d begins with %q", i, body[:2])
		}
	}
}

func FuzzRecord(f *testing.F) {
	f.Add((&Record{At: time.UnixMilli(1), Kind: "text", Meta: map[string]string{"a": "b"}, Header: []byte("{}"), Body: []byte("x")}).encode())
	f.Add([]byte{recordVersion, 2, 0, 0, 0})
	f.Add([]byte{recordVersion, 2, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, value []byte) {
		r, err := decodeRecord(value)
		if err != nil {
			if !errors.Is(err, errDamaged) {
				t.Error(err)
			}
			return
		}
		again, err := decodeRecord(r.encode())
		if err != nil || again.Kind != r.Kind || !again.At.Equal(r.At) || !maps.Equal(again.Meta, r.Meta) || !bytes.Equal(again.Header, r.Header) || !bytes.Equal(again.Body, r.Body) {
			t.Errorf("%+v is written and read as %+v: %v", r, again, err)
		}
	})
}
