package all_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
)

// TestCSVComesOutAsItWentIn holds that a file of CSV is the same behind read-file and write-file, but for quotes that
// it did not need.
func TestCSVComesOutAsItWentIn(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"name,id\nAnn,007\nBob,1e3\n":                      "name,id\nAnn,007\nBob,1e3\n",
		"b,a\n\"1\n2\",\"x\r\ny\"\n\"\r\",\"\"\"q\"\"\"\n": "b,a\n\"1\n2\",\"x\r\ny\"\n\"\r\",\"\"\"q\"\"\"\n",
		"\"a\",\"b\"\n\"1\",\"2\"\n":                       "a,b\n1,2\n",
		"one\n\"\"\nx\n":                                   "one\n\"\"\nx\n",
		"a,a\n1,2\n":                                       "a,a_2\n1,2\n",
		" a, b\n 1,2 \n,\n":                                "\" a\",\" b\"\n\" 1\",2 \n,\n",
		"a,b\n12345678901234567890,0.10\n":                 "a,b\n12345678901234567890,0.10\n",
	} {
		dir := t.TempDir()
		from, to := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.csv")
		if err := os.WriteFile(from, []byte(in), 0o600); err != nil {
			t.Fatal(err)
		}
		loaded, err := config.Parse("csv.toml", []byte("version = 1\n[pipeline.p]\nflow = [\"read-file > write-file\"]\n"+
			"[pipeline.p.stage]\nread-file = { paths = [\""+from+"\"], format = \"csv\" }\nwrite-file = { path = \""+to+"\", format = \"csv\" }\n"), config.LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		graph, err := loaded.Graph("p")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := graph.Run(t.Context(), pipeline.RunOptions{}); err != nil {
			t.Fatal(err)
		}
		if out, err := os.ReadFile(to); err != nil || string(out) != want {
			t.Errorf("%q became %q, want %q, %v", in, out, want, err)
		}
	}
}
