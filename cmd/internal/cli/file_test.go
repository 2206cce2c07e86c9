package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestWhatIsThereIsNotReplacedByANewFile(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		before, meanwhile string // what is at its place; "": nothing
		fails             error
		want              string // what is there in the end
		status            int
	}{
		"nothing is there":         {want: "new", status: OK},
		"a file is there":          {before: "old", want: "old", status: Usage},
		"a file comes":             {meanwhile: "old", want: "old", status: Usage},
		"it cannot be written":     {fails: broken, status: Failed},
		"neither in vain":          {before: "old", fails: broken, want: "old", status: Usage},
		"a link to nowhere is one": {before: "-> none", status: Usage},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "file")
		put := func(content string) {
			switch content {
			case "":
			case "-> none":
				if err := os.Symlink("none", path); err != nil {
					t.Skip(err)
				}
			default:
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		put(c.before)
		err := WriteNew(path, 0o600, func(w io.Writer) error {
			put(c.meanwhile)
			_, err := io.WriteString(w, "new")
			return errors.Join(err, c.fails)
		})
		if (err == nil) != (c.status == OK) || err != nil && StatusOf(err) != c.status {
			t.Errorf("%s: %v", name, err)
		}
		if got, _ := os.ReadFile(path); string(got) != c.want {
			t.Errorf("%s: there is %q, want %q", name, got, c.want)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 1 || len(left) == 1 && left[0].Name() != "file" {
			t.Errorf("%s: there are left %v, %v", name, left, err)
		}
	}
}
