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

// What earlier releases have written is read, and what is written is what they read.
func TestLayoutsOfAGenerationAreThoseOfEarlierReleases(t *testing.T) {
	t.Parallel()
	id := ID{0: 0xa1, 15: 0x0f}
	const head = "\x01\xa1\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0f"
	for name, c := range map[string]struct {
		layout Layout
		want   string
	}{
		"fixed": {Fixed, head + "\x00\x00\x00\x00\x00\x00\x01\x2c"}, "varint": {Varint, head + "\xac\x02"},
	} {
		g := Generation{ID: id, Commits: 300}
		if got := string(c.layout.Encode(g)); got != c.want {
			t.Errorf("%s: %x", name, got)
		}
		if got, err := c.layout.Decode([]byte(c.want)); got != g || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func FuzzLayouts(f *testing.F) {
	f.Add([]byte("\x01\xa1\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0f\xac\x02"))
	f.Add(Fixed.Encode(Generation{Commits: 7}))
	f.Fuzz(func(t *testing.T, value []byte) {
		for _, l := range []Layout{Fixed, Varint} {
			g, err := l.Decode(value)
			if again, err2 := l.Decode(l.Encode(g)); err == nil && (err2 != nil || again != g) {
				t.Errorf("%x is %v, and that is read as %v: %v", value, g, again, err2)
			}
		}
	})
}
