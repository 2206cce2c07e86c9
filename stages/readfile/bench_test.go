//go:build unix

package readfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/webrace/webrace/pipeline"
	mapping "github.com/webrace/webrace/stages/map"
	"github.com/webrace/webrace/stages/readfile"
	"github.com/webrace/webrace/stages/route"
	"github.com/webrace/webrace/stages/writefile"
)

// BenchmarkRecords has records of 280 bytes read, changed, told apart and written: the CPU time of each.
func BenchmarkRecords(b *testing.B) {
	const records = 20_000
	dir := b.TempDir()
	var lines strings.Builder
	for i := range records {
		fmt.Fprintf(&lines, `{"id":%d,"time":"2026-11-22T11:12:%02dZ","level":"info","host":"web-%02d.example.org","method":"GET","path":"/alpha/bravo/charlie/delta",`+
			`"status":%d,"bytes":%d,"took":%d.25,"agent":"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox","tags":["echo","foxtrot"]}`+"\n",
			i, i%60, i%40, 200+100*(i%4), i*7%100_000, i%1000)
	}
	in := filepath.Join(dir, "in")
	if err := os.WriteFile(in, []byte(lines.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	began := cpu()
	for b.Loop() {
		g := pipeline.NewGraph("records")
		g.Add("read-file", readfile.Options{Paths: []string{in}, Format: "jsonl", Separator: ",", MaxLength: 1 << 20})
		g.Add("map", mapping.Options{Set: map[string]string{"slow": "took > 200", "level": "upper(level)"}})
		g.Add("route", route.Options{Routes: []route.Port{{Name: "failed", When: "status >= 400"}}})
		for _, name := range []string{"failed", "fine"} {
			g.AddType(name, "write-file", writefile.Options{Format: "jsonl", Path: filepath.Join(dir, name)})
		}
		g.Wire("read-file > map > route", "route.failed > failed", "route.other > fine")
		if err := g.Check(); err != nil {
			b.Fatal(err)
		}
		report, err := g.Run(b.Context(), pipeline.RunOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if n := report.Stages["failed"].In + report.Stages["fine"].In; n != records {
			b.Fatalf("%d of %d records were written", n, records)
		}
	}
	b.ReportMetric(float64(cpu()-began)/float64(b.N*records), "cpu-ns/record")
}

// cpu is the CPU time that this process has used so far, in nanoseconds.
func cpu() int64 {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}
