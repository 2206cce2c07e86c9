package xslt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
)

const namespaces = `xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:f="http://www.w3.org/2005/xpath-functions" xmlns:my="urn:my"`

// sheetOf writes a stylesheet whose second line is the given one, and returns its file.
func sheetOf(t testing.TB, line string) pipeline.File {
	t.Helper()
	return write(t, t.TempDir(), "sheet.xsl", `<xsl:stylesheet version="3.0" expand-text="yes" `+namespaces+">\n"+line+"\n</xsl:stylesheet>")
}

func write(t testing.TB, dir, name, text string) pipeline.File {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return pipeline.File(file)
}

// asRule returns options with a rule for all pages.
func asRule(file pipeline.File) Options {
	o := defaults()
	o.Rules = []Rule{{MediaType: "text/html", Stylesheet: file}}
	return o
}

// open opens a stage.
func open(t testing.TB, o Options) error {
	s, err := newStage(o, pipeline.NewEnv("p", "xslt", nil))
	if err != nil {
		t.Fatal(err)
	}
	return s.(*stage).Open(t.Context())
}

func template(content string) string {
	return `<xsl:template match="/"><r>` + content + `</r></xsl:template>`
}

func TestWhatIsWrongWithAStylesheetIsFoundBeforeAnythingFlows(t *testing.T) {
	t.Setenv("WEBRACE_SECRET", "hush")
	for line, want := range map[string]string{
		template(`<xsl:value-of select="environment-variable('WEBRACE_SECRET')"/>`):                                          "sheet.xsl:2: environment-variable() is refused",
		template(`<xsl:value-of select="f:environment-variable ('WEBRACE_SECRET')"/>`):                                       "sheet.xsl:2: environment-variable() is refused",
		template(`<xsl:value-of select="Q{http://www.w3.org/2005/xpath-functions}environment-variable('WEBRACE_SECRET')"/>`): "sheet.xsl:2: environment-variable() is refused",
		template(`<xsl:value-of select="for-each('WEBRACE_SECRET', environment-variable#1)"/>`):                              "sheet.xsl:2: environment-variable() is refused",
		template(`<xsl:value-of select="environment-variable(: a :)('WEBRACE_SECRET')"/>`):                                   "sheet.xsl:2: environment-variable() is refused",
		template(`{'WEBRACE_SECRET' => environment-variable()}`):                                                             "sheet.xsl:2: environment-variable() is refused",
		template(`<a b="{environment-variable('WEBRACE_SECRET')}"/>`):                                                        "sheet.xsl:2: environment-variable() is refused",
		template(`<a xsl:use-when="environment-variable('WEBRACE_SECRET') = 'x'"/>`):                                         "sheet.xsl:2: environment-variable() is refused",
		template(`<xsl:value-of select="available-environment-variables()"/>`):                                               "sheet.xsl:2: available-environment-variables() is refused",
		template(`<xsl:value-of select="function-lookup(xs:QName('f:environment-' || 'variable'), 1)('WEBRACE_SECRET')"/>`):  "sheet.xsl:2: function-lookup() is refused",
		template(`<xsl:sequence select="transform(map{'stylesheet-text': 'x'})"/>`):                                          "sheet.xsl:2: transform() is refused",
		template(`<xsl:value-of _select="environment-{'variable'}('WEBRACE_SECRET')"/>`):                                     "sheet.xsl:2: the attribute _select is refused",
		template(`<xsl:evaluate xpath="'environment-variable(1)'"/>`):                                                        "sheet.xsl:2: xsl:evaluate is refused",
		template(`<xsl:result-document href="/tmp/x"/>`):                                                                     "sheet.xsl:2: xsl:result-document with href is refused",
		template(`<xsl:value-of select="a b"/>`):                                                                             `sheet.xsl:2: XTSE0165: invalid XPath "a b"`,
		template(`<xsl:valu-of select="a"/>`):                                                                                "sheet.xsl:2: XTSE0090: unknown XSLT instruction xsl:valu-of",
		template(`<a></b>`):                                                                                                  "sheet.xsl:2:",
		`<xsl:output media-type="a/b/c"/>` + template(""):                                                                    `sheet.xsl: xsl:output: media-type "a/b/c"`,
		`<xsl:import href="http://127.0.0.1:9/x.xsl"/>`:                                                                      "http://127.0.0.1:9/x.xsl is not in the folder of the stylesheet",
		`<xsl:include href="file:///etc/passwd"/>`:                                                                           "file:///etc/passwd is not in the folder of the stylesheet",
		`<xsl:include href="../x.xsl"/>`:                                                                                     "is not in the folder of the stylesheet",
		`<xsl:include href="none.xsl"/>`:                                                                                     "none.xsl: no such file",
		`<xsl:use-package name="http://127.0.0.1:9/x"/>`:                                                                     "sheet.xsl:2: XTSE",
	} {
		err := open(t, asRule(sheetOf(t, line)))
		var option *pipeline.OptionError
		if !errors.As(err, &option) || option.Option != "rules[0].stylesheet" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v\nwanted %s", line, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("it reads the environment: %v", err)
		}
	}
}

func TestAStylesheetThatIsMissingIsFoundAtItsRule(t *testing.T) {
	t.Parallel()
	o := asRule("testdata/none.xsl")
	o.GRDDL = map[string]pipeline.File{"http://harbour.example/x.xsl": "testdata/other.xsl"}
	err := open(t, o)
	for _, want := range []string{"rules[0].stylesheet: open testdata/none.xsl", "grddl.http://harbour.example/x.xsl: open testdata/other.xsl"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, without %s", err, want)
		}
	}
}

func TestModulesLieInTheFolderOfTheStylesheetAndAreLookedAtToo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const module = `<xsl:stylesheet version="3.0" ` + namespaces + ">\n%s</xsl:stylesheet>"
	write(t, dir, "secret.xsl", fmt.Sprintf(module, `<xsl:template name="n">1</xsl:template>`))
	write(t, dir, "in/deep/environment.xsl", fmt.Sprintf(module, `<xsl:variable name="n" select="environment-variable('HOME')"/>`))
	write(t, dir, "in/deep/fine.xsl", fmt.Sprintf(module, `<xsl:include href="../other.xsl"/>`))
	write(t, dir, "in/other.xsl", fmt.Sprintf(module, `<xsl:template name="n">1</xsl:template>`))
	if err := os.Symlink(filepath.Join(dir, "secret.xsl"), filepath.Join(dir, "in", "link.xsl")); err != nil {
		t.Skip(err)
	}
	for href, want := range map[string]string{
		"deep/fine.xsl": "", "deep/environment.xsl": "environment.xsl:2: environment-variable() is refused", "link.xsl": "escapes", "deep/../../secret.xsl": "is not in the folder",
	} {
		main := write(t, dir, "in/main.xsl", fmt.Sprintf(module, `<xsl:import href="`+href+`"/>`+template(`<xsl:call-template name="n"/>`)))
		err := open(t, asRule(main))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, wanted %q", href, err, want)
		}
	}
}

func TestNamesThatOnlyLookForbiddenAreNot(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`<xsl:function name="my:transform"><xsl:param name="a"/></xsl:function>` + template(`<xsl:value-of select="my:transform(.), system-property('xsl:version')"/>`),
		template(`<transform environment-variable="a">environment-variable is a word</transform>`),
		template(`<xsl:value-of select="environment-variable, x-transform, transform"/>`),
	} {
		if err := open(t, asRule(sheetOf(t, line))); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestAStylesheetReadsNoOtherDocumentAndWritesNone(t *testing.T) {
	t.Parallel()
	secret := string(write(t, t.TempDir(), "secret.xml", "<hush/>"))
	for _, expression := range []string{
		"document('FILE')", "doc('FILE')", "unparsed-text('FILE')", "unparsed-text-lines('FILE')", "json-doc('FILE')", "collection('FILE')", "uri-collection('FILE')",
		"document('http://127.0.0.1:9/')", "doc('sheet.xsl')", "load-xquery-module('FILE')",
	} {
		o := asRule(sheetOf(t, template(`<xsl:copy-of select="`+strings.ReplaceAll(expression, "FILE", "file://"+secret)+`"/>`)))
		r := stagetest.Try(t, stagetest.Case{Type: "xslt", Options: o, Inputs: []any{documentOf("text/html", "<p>")}})
		if len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Err.Error(), "transform http://harbour.example/a/b by ") {
			t.Errorf("%s: %v, %v", expression, r.Failures, r.Out)
		}
	}
	for _, instruction := range []string{
		`<xsl:source-document href="FILE" streamable="no"><xsl:copy-of select="."/></xsl:source-document>`,
		`<xsl:merge><xsl:merge-source for-each-source="'FILE'" select="*"><xsl:merge-key select="name()"/></xsl:merge-source><xsl:merge-action><xsl:copy-of select="current-merge-group()"/></xsl:merge-action></xsl:merge>`,
	} {
		o := asRule(sheetOf(t, template(strings.ReplaceAll(instruction, "FILE", "file://"+secret))))
		r := stagetest.Try(t, stagetest.Case{Type: "xslt", Options: o, Inputs: []any{documentOf("text/html", "<p>")}})
		if len(r.Failures) != 1 {
			t.Errorf("%s: %v", instruction, r.Out[""][0].(*webrace.Document))
		}
	}
	if out, _ := try(t, asRule(sheetOf(t, template(`<xsl:value-of select="document('')/*/@version"/>`))), documentOf("text/html", "<p>")); !strings.Contains(string(out[0].Body), ">3.0<") {
		t.Errorf("it does not read itself: %s", out[0].Body)
	}
	for _, expression := range []string{"doc-available('FILE')", "unparsed-text-available('FILE')"} {
		o := asRule(sheetOf(t, template(`<xsl:value-of select="`+strings.ReplaceAll(expression, "FILE", "file://"+secret)+`"/>`)))
		if out, _ := try(t, o, documentOf("text/html", "<p>")); !strings.Contains(string(out[0].Body), ">false<") {
			t.Errorf("%s: %s", expression, out[0].Body)
		}
	}
}

func TestTheOutputIsWhatTheStylesheetSays(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{
		"": "application/rdf+xml; charset=utf-8",
		`<xsl:output method="text" media-type="Text/Turtle"/>`:   "text/turtle; charset=utf-8",
		`<xsl:output encoding="ISO-8859-1"/>`:                    "application/rdf+xml; charset=iso-8859-1",
		`<xsl:output name="other" media-type="text/plain"/>`:     "application/rdf+xml; charset=utf-8",
		`<xsl:output method="json" media-type="application/x"/>`: "application/x; charset=utf-8",
	} {
		out, _ := try(t, asRule(sheetOf(t, output+`<xsl:template match="/"><xsl:value-of select="'é'"/></xsl:template>`)), documentOf("text/html", "<p>"))
		if d := out[0]; d.Header.Get("Content-Type") != want || !strings.HasPrefix(want, d.MediaType) || !strings.HasSuffix(want, d.Charset) ||
			strings.Contains(string(d.Body), "é") != strings.HasSuffix(want, "utf-8") {
			t.Errorf("%s: %s, %s, %s, %q", output, d.Header.Get("Content-Type"), d.MediaType, d.Charset, d.Body)
		}
	}
}

func TestTheSameResultIsWrittenAsTheSameBytes(t *testing.T) {
	t.Parallel()
	sheet := sheetOf(t, `<xsl:template match="/"><a:r xmlns:c="urn:c" xmlns:a="urn:a" xmlns="urn:none" xmlns:b="urn:b" b:x="1"><c:s/><plain/></a:r></xsl:template>`)
	var pages []*webrace.Document
	for range 50 {
		pages = append(pages, documentOf("text/html", "<p>"))
	}
	out, _ := try(t, asRule(sheet), pages...)
	const want = `<a:r xmlns="urn:none" xmlns:a="urn:a" xmlns:b="urn:b" xmlns:c="urn:c"`
	for _, d := range out {
		if !strings.Contains(string(d.Body), want) || string(d.Body) != string(out[0].Body) {
			t.Fatalf("%s, want %s in it as in the others", d.Body, want)
		}
	}
	if len(out) != len(pages) {
		t.Errorf("%d results", len(out))
	}
}
