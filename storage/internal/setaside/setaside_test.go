package setaside

import (
	"io"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func TestWhatIsSetAsideKeepsItsBytesAndTakesNoOthersPlace(t *testing.T) {
	mem := vfs.NewMem()
	for n, want := range []string{"/d/seg.set-aside", "/d/seg.2.set-aside", "/d/seg.3.set-aside"} {
		content := string(rune('a'+n)) + "bcdef"
		write(t, mem, "/d/seg", content)
		tail, err := CopyTail(mem, "/d/seg", 4)
		if err != nil || read(t, mem, tail) != content[4:] || read(t, mem, "/d/seg") != content {
			t.Errorf("tail %s: %v", tail, err)
		}
		to, err := Move(mem, "/d/seg")
		if to != want || err != nil || read(t, mem, to) != content || !Is(to) || !Is(tail) {
			t.Errorf("moved to %s, want %s: %v", to, want, err)
		}
	}
}

func write(t *testing.T, fsys vfs.FS, path, content string) {
	t.Helper()
	if err := fsys.MkdirAll("/d", 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := fsys.Create(path, "test")
	if err == nil {
		_, err = file.Write([]byte(content))
	}
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
}

func read(t *testing.T, fsys vfs.FS, path string) string {
	t.Helper()
	file, err := fsys.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	content, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
