package xslt

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
)

// running is a pipeline of xslt alone, which is given documents and answers with what they become.
type running struct {
	run     *pipeline.Run
	given   chan *webrace.Document
	became  chan *webrace.Document
	options Options
}

type source struct{ *running }

func (s source) Run(ctx context.Context, out pipeline.Emitter) error {
	for {
		select {
		case d := <-s.given:
			if err := out.Emit(ctx, pipeline.NewItem(d, nil)); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

type end struct{ *running }

func (e end) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	e.became <- it.Value.(*webrace.Document)
	return nil
}

func (r *running) graph(t *testing.T) *pipeline.Graph {
	t.Helper()
	kind := pipeline.KindOf[*webrace.Document]()
	g := pipeline.NewGraph("p")
	g.AddStage("source", pipeline.Spec{Type: "source", Out: []pipeline.Port{{Kind: kind}}}, func(*pipeline.Env) (any, error) { return source{r}, nil })
	g.Add("xslt", r.options)
	g.AddStage("end", pipeline.Spec{Type: "end", In: pipeline.Kinds(kind)}, func(*pipeline.Env) (any, error) { return end{r}, nil })
	g.Wire("source > xslt > end")
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	return g
}

// says is the text of what a page becomes.
func (r *running) says() string {
	r.given <- documentOf("text/html", "<p>")
	return string((<-r.became).Body)
}

func TestAReloadReadsStylesheetsAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	module := func(word string) {
		write(t, dir, "in/module.xsl", fmt.Sprintf(`<xsl:stylesheet version="3.0" %s><xsl:template name="word">%s</xsl:template></xsl:stylesheet>`, namespaces, word))
	}
	main := func(before string) pipeline.File {
		return write(t, dir, "main.xsl", fmt.Sprintf(`<xsl:stylesheet version="3.0" %s><xsl:include href="in/module.xsl"/><xsl:template match="/"><r>%s `+
			`<xsl:call-template name="word"/></r></xsl:template></xsl:stylesheet>`, namespaces, before))
	}
	module("one")
	r := &running{given: make(chan *webrace.Document), became: make(chan *webrace.Document), options: asRule(main("page"))}
	var err error
	if r.run, err = r.graph(t).Start(t.Context(), pipeline.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	reload := func(want, says string) {
		t.Helper()
		change, err := r.run.Reload(t.Context(), r.graph(t))
		got := change.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("the reload: %s, want %s", got, want)
		}
		if text := r.says(); !strings.Contains(text, says) {
			t.Errorf("it says %s, want %s", text, says)
		}
	}
	reload("nothing", ">page one<")
	module("two")
	reload("replaced xslt", ">page two<")
	main("sheet")
	reload("replaced xslt", ">sheet two<")
	reload("nothing", ">sheet two<")
	module("<broken")
	reload("module.xsl:1", ">sheet two<")
	if err := os.Remove(filepath.Join(dir, "main.xsl")); err != nil {
		t.Fatal(err)
	}
	reload("main.xsl: no such file", ">sheet two<")
	module("three")
	main("sheet")
	r.options.Timeout++
	reload("replaced xslt", ">sheet three<")
	r.run.Drain()
	if report, err := r.run.Wait(); err != nil || report.Stages["xslt"].In != 7 {
		t.Errorf("%v, %+v", err, report.Stages["xslt"])
	}
}
