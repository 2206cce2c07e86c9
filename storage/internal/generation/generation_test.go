package generation

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func TestAFileSaysWhatWasWrittenLast(t *testing.T) {
	mem := vfs.NewMem()
	if _, err := Read(mem, "generation"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read of none: %v", err)
	}
	g := Generation{NewID(), 7}
	f, err := Create(mem, "generation", g)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		g.Commits *= 1000
		if err := f.Write(g); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(mem, "generation"); got != g || err != nil {
			t.Errorf("%+v, %v, want %+v", got, err, g)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for have, wrong := range map[Generation]string{
		g: "", {g.ID, g.Commits + 1}: "", {g.ID, g.Commits - 1}: "older", {NewID(), g.Commits + 1}: "another", {}: "empty",
	} {
		if said, err := Compare(mem, "generation", have); err != nil || (said == "") != (wrong == "") || !strings.Contains(said, wrong) {
			t.Errorf("%+v: %q, %v, want %q", have, said, err, wrong)
		}
	}
}

func TestADamagedFileTellsNothingAndIsWrittenAnew(t *testing.T) {
	for _, content := range []string{"", "webrace ", string(Generation{NewID(), 5}.encode()) + "more", strings.Repeat("x", size)} {
		mem := vfs.NewMem()
		file, err := mem.Create("generation", category)
		if err == nil {
			_, err = file.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
		if wrong, err := Compare(mem, "generation", Generation{NewID(), 1}); wrong != "" || err != nil {
			t.Errorf("%q: %q, %v", content, wrong, err)
		}
		g := Generation{NewID(), 2}
		if _, err := Create(mem, "generation", g); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(mem, "generation"); got != g || err != nil {
			t.Errorf("%q: %+v, %v", content, got, err)
		}
	}
}

// What is read is what was written, byte for byte, or nothing.
func FuzzDecode(f *testing.F) {
	f.Add(Generation{NewID(), 1 << 40}.encode())
	f.Add([]byte("webrace 00 1 "))
	f.Fuzz(func(t *testing.T, text []byte) {
		if g, ok := decode(text); ok && !bytes.Equal(g.encode(), text) {
			t.Errorf("%q is read as %+v", text, g)
		}
	})
}
