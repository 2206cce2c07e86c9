package formats

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/webrace/webrace"
)

var officeFiles = flag.String("office", "/usr/lib/libreoffice/share/template/common/internal:/usr/lib/python3/dist-packages/docx:"+
	"/usr/lib/R/site-library/readxl:/usr/lib/R/site-library/officer",
	"directories whose office files TestFormatsOfRealFilesHaveTheWordsOfLibreOffice reads; all are in /usr/share:/usr/lib, which takes a minute")

// What LibreOffice is told to write: text in UTF-8, and a file for each sheet, of cells as they are shown between tabs.
const (
	asText  = "txt:Text (encoded):UTF8"
	asCells = "csv:Text - txt - csv (StarCalc):9,,76,1,,0,false,true,false,false,false,-1"
)

var exports = map[string]string{".docx": asText, ".odt": asText, ".ott": asText, ".xlsx": asCells, ".ods": asCells, ".ots": asCells}

// unlike are files of which LibreOffice shows other words or numbers than were stored with them.
var unlike = map[string]string{
	"loadExample.xlsx":       "it computes random numbers anew",
	"loadPivotTables.xlsx":   "it makes pivot tables anew, by its own words for totals",
	"cl-test.ods":            "it computes formulas anew",
	"readTest.xlsx":          "it writes out what is shown as 2.1E-05",
	"read_failure_test.xlsx": "it writes a date where Jan-85 is shown",
}

// TestFormatsOfRealFilesHaveTheWordsOfLibreOffice compares the words and numbers of office files that packages install
// with those that LibreOffice exports: none is missing. Of a table, names of columns stand before each cell, so they
// come more often.
func TestFormatsOfRealFilesHaveTheWordsOfLibreOffice(t *testing.T) {
	if _, err := exec.LookPath("soffice"); err != nil {
		t.Skip("LibreOffice is not installed: libreoffice-writer-nogui and libreoffice-calc-nogui are enough")
	}
	if os.Getenv("CI") != "" || testing.Short() {
		t.Skip("LibreOffice takes a second and more: not in CI, nor in short mode")
	}
	files := officeFilesOf(t)
	if len(files) == 0 {
		t.Skip("no office files are installed: r-cran-readxl, r-cran-openxlsx and r-cran-officer have some")
	}
	same := 0
	for file, exported := range export(t, files) {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d := Read(t.Context(), Of("application/zip", "", body), body, nil)
		check(t, d, Default)
		missing, more := bagDifference(exported, wordsOf(d, webrace.FieldBody, webrace.FieldHeading))
		inHeads := wordsOf(d, webrace.FieldNavigation)
		missing = slices.DeleteFunc(missing, func(word string) bool {
			return isNumber(word) && exports[filepath.Ext(file)] == asText || // of lists
				slices.Contains(inHeads, word) || word == time.Now().Month().String() // which it sets in fields of dates
		})
		if ending := filepath.Ext(file); ending != ".docx" && ending != ".odt" { // it leaves out boxes and fields of templates
			more = nil
		}
		reason := unlike[filepath.Base(file)]
		if reason == "" && len(missing)+len(more) > 0 || d.Unread.Cause != "" && len(exported) > 0 {
			t.Errorf("%s: %+v, not read %.300q, not exported %.300q", file, d.Unread, missing, more)
		}
		if reason == "" {
			same++
		}
	}
	t.Logf("%d of %d files have the words that LibreOffice exports", same, len(files))
}

func officeFilesOf(t *testing.T) (files []string) {
	t.Helper()
	for _, dir := range filepath.SplitList(*officeFiles) {
		_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && exports[filepath.Ext(path)] != "" {
				files = append(files, path)
			}
			return nil
		})
	}
	return files
}

// export returns the words that LibreOffice exports of each file.
func export(t *testing.T, files []string) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	inputs := map[string][]string{} // by what is exported of them
	for i, file := range files {
		input := filepath.Join(dir, fmt.Sprintf("%04d%s", i, filepath.Ext(file)))
		if err := os.Symlink(file, input); err != nil {
			t.Fatal(err)
		}
		filter := exports[filepath.Ext(file)]
		inputs[filter] = append(inputs[filter], input)
	}
	for filter, some := range inputs {
		arguments := []string{"-env:UserInstallation=file://" + dir + "/profile", "--headless", "--convert-to", filter, "--outdir", filepath.Join(dir, "out")}
		if said, err := exec.CommandContext(t.Context(), "soffice", append(arguments, some...)...).CombinedOutput(); err != nil {
			t.Fatalf("soffice: %v\n%s", err, said)
		}
	}
	words := map[string][]string{}
	for i, file := range files {
		written, err := filepath.Glob(filepath.Join(dir, "out", fmt.Sprintf("%04d*", i)))
		if err != nil || len(written) == 0 {
			t.Fatalf("nothing was exported of %s: %v", file, err)
		}
		for _, path := range written {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			words[file] = append(words[file], split(string(text))...)
		}
	}
	return words
}

// split returns the words and numbers of a text, without zeros before them.
func split(text string) (words []string) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }) {
		words = append(words, strings.TrimLeft(word, "0"))
	}
	return words
}

func isNumber(word string) bool { return strings.Trim(word, "0123456789") == "" }

// wordsOf returns the words of blocks in some fields.
func wordsOf(d *Document, fields ...webrace.Field) (words []string) {
	for _, b := range d.Text.Blocks {
		if slices.Contains(fields, b.Field) {
			words = append(words, split(string(d.Text.Slice(b)))...)
		}
	}
	return words
}

// bagDifference returns what is in one bag of words and not in the other.
func bagDifference(want, got []string) (missing, more []string) {
	n := map[string]int{}
	for _, w := range want {
		n[w]++
	}
	for _, w := range got {
		n[w]--
	}
	for word, times := range n {
		switch {
		case word == "":
		case times > 0:
			missing = append(missing, word)
		case times < 0:
			more = append(more, word)
		}
	}
	return missing, more
}
