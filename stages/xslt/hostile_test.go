package xslt

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
)

// bomb is a document whose entities have entities, ten each.
func bomb() string {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE a [<!ENTITY e0 "ha">`)
	for i := range 10 {
		fmt.Fprintf(&b, `<!ENTITY e%d "%s">`, i+1, strings.Repeat(fmt.Sprintf("&e%d;", i), 10))
	}
	return b.String() + "]><a>&e10;</a>"
}

// TestHostileDocuments gives documents to a stylesheet that copies them: what is refused tells why, and none of it
// takes more than its limits.
func TestHostileDocuments(t *testing.T) {
	secret := write(t, t.TempDir(), "secret", "hush")
	o := defaults()
	o.Rules = []Rule{{MediaType: "application/xml", Stylesheet: sheetOf(t, `<xsl:template match="/"><xsl:copy-of select="."/></xsl:template>`)}}
	o.MaxInput, o.MaxOutput = 64<<10, 32<<10
	for _, c := range []struct{ name, body, problem string }{
		{"entities within entities", bomb(), "line 1, column"},
		{"an entity a thousand times", `<!DOCTYPE a [<!ENTITY e "` + strings.Repeat("x", 1000) + `">]><a>` + strings.Repeat("&e;", 10_000) + `</a>`, ""},
		{"an entity of itself", `<!DOCTYPE a [<!ENTITY e "&f;"><!ENTITY f "&e;">]><a>&e;</a>`, "line 1, column"},
		{"depth", strings.Repeat("<a>", 300) + strings.Repeat("</a>", 300), "line 1, column"},
		{"depth without an end", strings.Repeat("<a>", 20_000), "line 1, column"},
		{"many attributes", "<a " + strings.Repeat(`b="" `, 10_000) + "/>", "an element has 10000 attributes, more than 256"},
		{"a long name", "<" + strings.Repeat("a", 60_000) + "/>", "line 1, column"},
		{"cut in the middle", "<a>\n<b>", "line 2, column 4"},
		{"no XML", "%PDF", "line 1, column 1"},
		{"an unknown entity", "<a>&nbsp;</a>", "line 1, column"},
		{"too large", "<a>" + strings.Repeat(" ", 64<<10) + "</a>", "the document has 65543 bytes, and is not transformed: max_input is 64KiB"},
		{"a large result", "<a>" + strings.Repeat("&gt;", 10<<10) + "</a>", "sheet.xsl: the result has more than 32KiB: max_output"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			begun := time.Now()
			out, counters := try(t, o, documentOf("application/xml", c.body))
			runtime.ReadMemStats(&after)
			if g := out[0].Graph; c.problem != "" && (g == nil || g.Whole || len(g.Problems) != 1 || !strings.Contains(g.Problems[0], c.problem) || counters["transformed"] > 0) {
				t.Errorf("its graph is %+v: %v", g, counters)
			}
			if took := time.Since(begun); took > time.Minute {
				t.Errorf("it took %v", took)
			}
			if taken := after.TotalAlloc - before.TotalAlloc; taken > 256<<20 {
				t.Errorf("it took %d MB", taken>>20)
			}
		})
	}
	for name, body := range map[string]string{
		"an entity of a file":    `<!DOCTYPE a [<!ENTITY e SYSTEM "file://SECRET">]><a>b&e;c</a>`,
		"an entity of a URL":     `<!DOCTYPE a [<!ENTITY e SYSTEM "http://127.0.0.1:9/">]><a>b&e;c</a>`,
		"a subset in a file":     `<!DOCTYPE a SYSTEM "file://SECRET"><a>b</a>`,
		"a parameter of a file":  `<!DOCTYPE a [<!ENTITY % e SYSTEM "file://SECRET"> %e;]><a>b</a>`,
		"an inclusion":           `<a xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="file://SECRET" parse="text"/></a>`,
		"a stylesheet of theirs": `<?xml-stylesheet href="file://SECRET" type="text/xsl"?><a/>`,
		"a schema of theirs":     `<a xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="file://SECRET"/>`,
	} {
		t.Run(name, func(t *testing.T) {
			out, _ := try(t, o, documentOf("application/xml", strings.ReplaceAll(body, "SECRET", string(secret))))
			if d := out[0]; strings.Contains(string(d.Body), "hush") || d.Graph != nil && strings.Contains(fmt.Sprint(d.Graph.Problems), "hush") {
				t.Errorf("it reads the file: %s, %+v", d.Body, d.Graph)
			}
		})
	}
}

func TestWhatWasCutOffIsNotTransformed(t *testing.T) {
	t.Parallel()
	cut := document(t, "application/xml", "berths.xml")
	cut.Truncated = true
	out, _ := try(t, berthOptions(), cut)
	if g := out[0].Graph; g == nil || g.Whole || len(g.Problems) != 1 || string(out[0].Body) != string(cut.Body) {
		t.Errorf("%+v", g)
	}
}

// TestHostileLoops has stylesheets that do not end on one document: that one fails, and those beside it pass. What does
// not look at the time comes to its end all the same, however busy the machine is.
func TestHostileLoops(t *testing.T) {
	usual := patience
	patience = 10 * time.Minute
	t.Cleanup(func() { patience = usual })
	for name, instruction := range map[string]string{
		"instructions that look at the time":     `<xsl:for-each select="1 to 100000"><xsl:for-each select="1 to 100000"><xsl:if test=". = -1">x</xsl:if></xsl:for-each></xsl:for-each>`,
		"an expression that does not":            `<xsl:value-of select="count((1 to 2000000)[. * 2 = (1 to 2000000)])"/>`,
		"a template that calls itself for ever":  `<xsl:call-template name="again"/>`,
		"a template that calls itself by itself": `<xsl:apply-templates select="."/>`,
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "an expression that does not" {
				t.Skip("it goes on for seconds, and minutes under the race detector: not in short mode")
			}
			o := asRule(sheetOf(t, `<xsl:template name="again"><xsl:call-template name="again"/></xsl:template><xsl:template match="*:loop">`+instruction+`</xsl:template>`+
				`<xsl:template match="/"><r><xsl:apply-templates select="//*:loop"/></r></xsl:template>`))
			o.Timeout = pipeline.Duration(time.Second)
			loops, fine := documentOf("text/html", "<loop>"), documentOf("text/html", "<p>")
			loops.URL = "http://harbour.example/loops"
			r := stagetest.Try(t, stagetest.Case{Type: "xslt", Options: o, Inputs: []any{fine, loops, fine}, Patience: patience})
			if len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Err.Error(), "transform http://harbour.example/loops by ") || len(r.Out[""]) != 2 {
				t.Errorf("%v, %d documents", r.Failures, len(r.Out[""]))
			}
		})
	}
}

// TestWhatIsLeftBehindIsBounded has transformations that do not look at their context: while there are as many as there
// are places, others fail and report that, and once one ends there is room again.
func TestWhatIsLeftBehindIsBounded(t *testing.T) {
	t.Parallel()
	env := pipeline.NewEnv("p", "xslt", nil)
	r := newRunner(env, time.Millisecond)
	release := make(chan struct{})
	for range cap(r.places) {
		if _, err := r.run(t.Context(), func(context.Context) (outcome, error) { <-release; return outcome{}, nil }); !errors.Is(err, errTime) {
			t.Fatal(err)
		}
	}
	_, err := r.run(t.Context(), func(context.Context) (outcome, error) { t.Error("it runs"); return outcome{}, nil })
	if !errors.Is(err, errTime) || !strings.Contains(err.Error(), "2 transformations whose time is over are at work still") {
		t.Error(err)
	}
	if n := env.Counters()["left_behind"]; n != 2 {
		t.Errorf("%d are left behind", n)
	}
	close(release)
	if err := r.close(); err != nil {
		t.Error(err)
	}
	if n := env.Counters()["left_behind"]; n != 0 {
		t.Errorf("%d are left behind, once they have ended", n)
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
	r.limit = time.Hour
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.run(cancelled, func(ctx context.Context) (outcome, error) { <-ctx.Done(); return outcome{}, ctx.Err() }); !errors.Is(err, context.Canceled) || errors.Is(err, errTime) {
		t.Error(err)
	}
	if _, err := r.run(t.Context(), func(context.Context) (outcome, error) { panic("oh") }); err == nil || !strings.Contains(err.Error(), "oh") {
		t.Error(err)
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

func TestADocumentWhoseTransformationFailsIsNamed(t *testing.T) {
	t.Parallel()
	o := asRule(sheetOf(t, template(`<xsl:message terminate="yes">no berths</xsl:message>`)))
	r := stagetest.Try(t, stagetest.Case{Type: "xslt", Options: o, Inputs: []any{&webrace.Document{URL: "http://harbour.example/x", MediaType: "text/html", Body: []byte("<p>")}}})
	if len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Err.Error(), "transform http://harbour.example/x by ") {
		t.Errorf("%v", r.Failures)
	}
}
