package xmlschema

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// reading is what became of a document.
type reading struct {
	canonical []byte
	warnings  Problems
	err       error
}

// readAny reads a document of any kind.
func readAny(document []byte, options ...Option) reading {
	d := NewDecoder(bytes.NewReader(document), options...)
	var canonical []byte
	switch d.Root() {
	case "aci":
		if a, err := d.ACI(); err == nil {
			canonical = a.Canonical()
		}
	case "acis":
		canonical = ACIs(slices.Collect(d.ACIs())).Canonical()
	case "meta":
		if m, err := d.Meta(); err == nil {
			canonical = m.Canonical()
		}
	case "profile":
		if p, err := d.Profile(); err == nil {
			canonical = p.Canonical()
		}
	case "urds":
		canonical = URDs(slices.Collect(d.URDs())).Canonical()
	default:
		if u, err := d.URD(); err == nil {
			canonical = u.Canonical()
		}
	}
	return reading{canonical, d.Warnings(), d.Err()}
}

func (r reading) golden() []byte {
	var b bytes.Buffer
	problems := slices.Clone(r.warnings)
	var errs Problems
	if errors.As(r.err, &errs) {
		problems = append(problems, errs...)
	}
	for _, p := range problems {
		fmt.Fprintln(&b, p)
		if p.Path != "" {
			fmt.Fprintln(&b, "    at", p.Path)
		}
	}
	if r.err == nil {
		fmt.Fprintf(&b, "%s\n", bytes.TrimRight(r.canonical, "\n"))
	}
	return b.Bytes()
}

// Every file of testdata is a case: how it is read is in the golden file beside it. Its folder tells
// whether it is refused.
func TestDocumentsAreReadAsTheirGoldenFilesSay(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("testdata/*/*.xml")
	if len(files) < 80 {
		t.Fatalf("only %d cases", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(file, ".xml"), func(t *testing.T) {
			document, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := readAny(document, Name(filepath.Base(file)))
			var problems Problems
			if got.err != nil && !errors.As(got.err, &problems) {
				t.Fatalf("the error is no list of problems: %v", got.err)
			}
			if refused := got.err != nil; refused != mustRefuse(file) {
				t.Errorf("refused: %v, want %v\n%s", refused, mustRefuse(file), got.golden())
			}
			testutil.Golden(t, strings.TrimSuffix(file, ".xml")+".golden", string(got.golden()))
			if got.err == nil {
				again := readAny(got.canonical)
				if again.err != nil || !bytes.Equal(again.canonical, got.canonical) {
					t.Errorf("the canonical form does not read as itself: %v\n%s", again.err, again.canonical)
				}
			}
		})
	}
}

func mustRefuse(file string) bool {
	switch folder := filepath.Base(filepath.Dir(file)); folder {
	case "papers":
		return strings.Contains(file, ".verbatim.")
	case "legacy":
		return strings.HasPrefix(filepath.Base(file), "bad-")
	default:
		return folder != "good"
	}
}

// addCases seeds a fuzz target with every document of testdata.
func addCases(f *testing.F) {
	files, _ := filepath.Glob("testdata/*/*.xml")
	for _, file := range files {
		document, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(document)
	}
}
