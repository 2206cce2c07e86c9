package all

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline"
)

// What the code of a source shows of where its items come from.
var (
	listens   = regexp.MustCompile(`env\.Listen\(`)
	hasStores = regexp.MustCompile(`pipeline\.Resource\[\*storage\.Dir\]`)
	crawls    = regexp.MustCompile(`\.Frontier\(\)`)             // which begin where their starts are
	shares    = regexp.MustCompile(`\.Control\(\)|\bos\.Open\(`) // all parts of a crawl have the same
)

// A source that reads nothing but the frontier, the documents or the quads of its data directory reads a part of them
// where a crawl has parts; so does one that looks at crawls, which are known where they begin. Each other one is
// there once: in a process, where it listens; for all, where it reads what they share.
func TestSourcesOfWhatIsSharedAreThereOnce(t *testing.T) {
	t.Parallel()
	once, perProcess, local := 0, 0, 0
	for _, typ := range pipeline.DefaultRegistry.Types() {
		spec, _ := pipeline.DefaultRegistry.Lookup(typ)
		code := codeOf(t, typ)
		switch {
		case len(spec.In) > 0:
			if listens.MatchString(code) {
				t.Errorf("%s listens, and takes items: there is no saying yet that it is there once in a process", typ)
			}
		case listens.MatchString(code):
			perProcess++
			if !spec.PerProcess {
				t.Errorf("%s listens, which is to be done once in a process: PerProcess", typ)
			}
		case !hasStores.MatchString(code) || shares.MatchString(code) && !crawls.MatchString(code):
			once++
			if !spec.Once {
				t.Errorf("%s reads what all parts of a crawl share: Once", typ)
			}
		default:
			local++
			if spec.Once || spec.PerProcess {
				t.Errorf("%s reads its data directory, and is to be there in each", typ)
			}
		}
	}
	if once == 0 || perProcess == 0 || local == 0 {
		t.Errorf("%d sources are there once, %d once in a process, and %d with each part: this test sees too little", once, perProcess, local)
	}
	t.Logf("%d sources are there once, %d once in a process, and %d with each part", once, perProcess, local)
}

// codeOf returns the code of a stage, without its tests.
func codeOf(t *testing.T, typ string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", strings.ReplaceAll(typ, "-", ""), "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(typ, err)
	}
	var code strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(text)
	}
	return code.String()
}
