package follower

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	_ "github.com/webrace/webrace/stages/print"
)

func logFile(dir string) Options {
	o := Options{Path: filepath.Join(dir, "log"), Cursor: filepath.Join(dir, "cursor")}
	appendTo(o.Path, "nine o'clock\nten o'clock\nelev")
	return o
}

func appendTo(path, text string) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		panic(err)
	}
}

func TestConformance(t *testing.T) {
	stagetest.Run(t, stagetest.Case{Type: "tail", Options: logFile(t.TempDir())})
}

// Each run goes on where the one before it ended. With RunOptions.Continuous it would wait for more.
func Example_tail() {
	dir, err := os.MkdirTemp("", "tail")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	options := logFile(dir)
	for range 2 {
		graph := pipeline.NewGraph("log")
		graph.Add("tail", options)
		graph.Add("print", nil)
		graph.Wire("tail > print")
		if _, err := graph.Run(context.Background(), pipeline.RunOptions{}); err != nil {
			fmt.Println(err)
		}
		fmt.Println("- caught up")
		appendTo(options.Path, "en o'clock\n")
	}
	// Output:
	// nine o'clock
	// ten o'clock
	// - caught up
	// eleven o'clock
	// - caught up
}
