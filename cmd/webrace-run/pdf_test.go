package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/xmlschema"
)

// file puts a file of a media type at a path.
func (s *site) file(path, mediaType string, body []byte) {
	s.handle(path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.Write(body)
	})
}

// report is a PDF whose second chapter speaks of a company.
func report(company, rate string) []byte {
	return testutil.WritePDF("Annual report", testutil.PDFText(
		"# Results", "Revenue grew in all regions.", "",
		"# Insolvency of "+company, "The court opened the proceedings in May.", "", "The rate is "+rate+" per cent."))
}

func TestAPDFIsFoundReadAndWatchedAsAPageIs(t *testing.T) {
	if testing.Short() {
		t.Skip("reads PDF files, which takes long where everything is raced: not in short mode")
	}
	t.Parallel()
	w := newWorld(t)
	w.page("/", "all reports", "/report.pdf")
	w.file("/report.pdf", "application/pdf", report("Acme", "5"))
	urds := these(
		w.asks("ann", "/", depth(2), about("insolvency")),
		w.asks("bob", "/report.pdf", func(u *xmlschema.URD) {
			u.Select = []xmlschema.Rule{{Language: xmlschema.RuleRegex, Text: `The rate is \d+`}}
		}),
	)
	w.start(urds).mustExit(cli.OK)
	mustBe(t, "told of the first version", w.told(),
		"ann /report.pdf 1: «Insolvency» of Acme", "bob /report.pdf 1: The rate is 5")
	if _, said, err := webraceRun("search", "--data", w.data); err != nil { // fills the index
		t.Fatal(err, said)
	}
	url := w.URL + "/report.pdf"
	for _, c := range []struct {
		args string
		says []string
	}{
		{"aci list", []string{url, "Annual report", "«Insolvency» of Acme", `heading="1"`}},
		{"search proceedings", []string{url, "Annual report"}},
		{"search title:annual type:application/pdf", []string{url}},
		{"explain " + url + " ann", []string{"Annual report", "insolvency", "heading"}},
		{"cache cat --text " + url, []string{"Annual report\nResults\nRevenue grew in all regions.\nInsolvency of Acme\n"}},
	} {
		said, err := webraceStore(append([]string{"--data", w.data}, strings.Fields(c.args)...)...)
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
		}
		mustSay(t, said, c.says...)
	}
	tried, _, err := tryHere(t, "--url", url, "-k", "insolvency")
	if err != nil {
		t.Error(err)
	}
	mustSay(t, tried, "Annual report\n", "application/pdf, ", "«Insolvency» of Acme")

	w.file("/report.pdf", "application/pdf", report("Acme", "6"))
	w.run(urds, askAll...)
	mustBe(t, "told of the second version", w.told(), "bob /report.pdf 2: The rate is [\u22125] «6»")
	changed, err := webraceStore("--data", w.data, "cache", "diff", url)
	mustSay(t, changed, "\n-The rate is 5 per cent.\n+The rate is 6 per cent.\n", "\n The court opened the proceedings in May.\n")
	if exit := (*cli.Error)(nil); !errors.As(err, &exit) || exit.Status != cli.Failed { // as of diff
		t.Errorf("cache diff ends with %v:\n%s", err, changed)
	}
}

func TestAPDFThatCannotBeReadIsKeptAndSaysWhy(t *testing.T) {
	if testing.Short() {
		t.Skip("reads PDF files, which takes long where everything is raced: not in short mode")
	}
	t.Parallel()
	w := newWorld(t)
	w.page("/", "all reports", "/scan.pdf", "/broken.pdf")
	w.file("/scan.pdf", "application/pdf", testutil.WritePDF("A scan", testutil.PDFPage{}))
	w.file("/broken.pdf", "application/octet-stream", []byte("%PDF-1.7\nand then the line broke"))
	report := w.reported(these(w.asks("ann", "/", depth(2), about("insolvency"))))
	mustSay(t, fmt.Sprint(report.Stages["normalize"].Counters), "unread_no_text:1", "unread_broken:1")
	if len(w.versions("/scan.pdf")) != 1 || len(w.versions("/broken.pdf")) != 1 {
		t.Error("they are not kept")
	}
	for path, why := range map[string]string{"/scan.pdf": "its pages have no text", "/broken.pdf": "it is damaged"} {
		for _, args := range [][]string{{"explain", w.URL + path, "ann"}, {"why", w.URL + path}, {"why", "--json", w.URL + path}} {
			said, err := webraceStore(append([]string{"--data", w.data}, args...)...)
			if err != nil {
				t.Error(err)
			}
			mustSay(t, said, why)
		}
		tried, _, err := tryHere(t, "--url", w.URL+path, "-k", "insolvency")
		if err != nil {
			t.Error(err)
		}
		mustSay(t, tried, "its text was not read, or not whole: "+why)
		tried, _, err = tryHere(t, "--url", w.URL+path, "-k", "insolvency", "--json")
		if err != nil {
			t.Error(err)
		}
		mustSay(t, tried, `"unread": "`+why)
	}
}
