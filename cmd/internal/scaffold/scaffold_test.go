package scaffold

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestNothingIsOverwritten(t *testing.T) {
	for _, kind := range []string{Go, ExecPython} {
		dir := filepath.Join(t.TempDir(), "new")
		s := Stage{Kind: kind, Name: "big-news", Version: "v1.0.0"}
		written, err := s.Write(dir)
		if err != nil || len(written) < 5 {
			t.Fatalf("%s: %v, %v", kind, written, err)
		}
		precious := filepath.Join(dir, "README.md")
		for _, file := range written {
			if file != precious {
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			}
		}
		if again, err := s.Write(dir); err == nil || again != nil || !strings.Contains(err.Error(), "README.md is there already") {
			t.Errorf("%s: %v, %v", kind, again, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Errorf("%s: some files were written all the same: %v", kind, left)
		}
	}
}

func TestNamesAreFilledIn(t *testing.T) {
	for kind, want := range map[string][]string{
		Go:         {"README.md", "bignews.go", "bignews_test.go", "go.mod", "pipelines.toml"},
		ExecPython: {"README.md", "big_news.py", "pipelines.toml", "test_big_news.py", "webrace_stage.py"},
	} {
		files, err := Stage{Kind: kind, Name: "big-news", Version: "v1.0.0", Source: "/src"}.Files()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for name, content := range files {
			names = append(names, name)
			if strings.ContainsAny(string(content), "«»") || strings.Contains(string(content), "NAME") {
				t.Errorf("%s of %s is not filled in:\n%s", name, kind, content)
			}
		}
		if slices.Sort(names); !slices.Equal(names, want) {
			t.Errorf("%s: %q", kind, names)
		}
	}
}

func TestNamesThatAreNone(t *testing.T) {
	for _, name := range []string{"", "Shout", "../shout", "a_b", "-a", "a--b", "9a", "γ"} {
		if _, err := (Stage{Kind: Go, Name: name}).Files(); err == nil {
			t.Errorf("%q is taken for a name", name)
		}
	}
	if _, err := (Stage{Kind: "rust", Name: "a"}).Files(); err == nil || !strings.Contains(err.Error(), "it is go or exec-python") {
		t.Errorf("a kind that there is not: %v", err)
	}
}
