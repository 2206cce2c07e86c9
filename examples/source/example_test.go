package source

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
)

const exported = `<!DOCTYPE NETSCAPE-Bookmark-file-1>
<DL><p>
  <DT><H3>News</H3>
  <DL><p>
    <DT><A HREF="https://example.org/news" ADD_DATE="1764806400">News</A>
    <DT><A HREF="javascript:void(0)">Tidy up</A>
    <DT><A HREF="https://example.net/">Example</A>
  </DL><p>
</DL><p>
`

func write(dir string) Options {
	path := filepath.Join(dir, "bookmarks.html")
	if err := os.WriteFile(path, []byte(exported), 0o600); err != nil {
		panic(err)
	}
	return Options{Path: path, Depth: 2}
}

func TestConformance(t *testing.T) {
	stagetest.Run(t, stagetest.Case{Type: "bookmarks", Options: write(t.TempDir())})
}

// A source stands at the beginning of a flow.
func Example_bookmarks() {
	dir, err := os.MkdirTemp("", "bookmarks")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	graph := pipeline.NewGraph("starts")
	graph.Add("bookmarks", write(dir))
	graph.AddStage("show", pipeline.Spec{In: pipeline.Kinds(pipeline.KindOf[webrace.Request]())}, func(*pipeline.Env) (any, error) {
		return pipeline.Map(func(_ context.Context, r webrace.Request) (webrace.Request, error) {
			fmt.Println(r.URL, r.Crawl.Scope, r.Crawl.Levels)
			return r, nil
		}), nil
	})
	graph.Wire("bookmarks > show")
	if _, err := graph.Run(context.Background(), pipeline.RunOptions{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// https://example.org/news host 2
	// https://example.net/ host 2
}
