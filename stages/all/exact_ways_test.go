package all

import (
	"context"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline"
)

// sources are the ways in.
func (p *pair) sources() map[string]way {
	path := filepath.Join(p.dir, "in")
	file := func(options string, line func(s sent) string, around ...string) way {
		return way{options: fmt.Sprintf("paths = [%q]\n%s", path, options), write: func(t *testing.T, all []sent) {
			var text strings.Builder
			around = append(around, "", "")
			text.WriteString(around[0])
			for _, s := range all {
				text.WriteString(line(s))
			}
			text.WriteString(around[1])
			if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}}
	}
	asTexts := func(w way, takes func(text string) bool) way {
		w.asTexts = true
		w.takes = func(s sent) bool {
			text, isText := s.text()
			return s.name == "" && s.json != "" && isText && takes(text)
		}
		return w
	}
	any := func(string) bool { return true }
	all := map[string]way{
		"read-file/jsonl": file("", func(s sent) string { return s.record() + "\n" }),
		"read-file/csv":   asTexts(file("", csvRow, "i,v\n"), any),
		"read-file/xml":   asTexts(file(`record = "r"`, element, "<all>", "</all>"), isXML),
		"read-file/text":  asTexts(file("", line), func(text string) bool { return !strings.ContainsAny(text, "\r\n") }),
	}
	if p.source == "http-in/records" {
		all[p.source] = p.httpIn()
	}
	return all
}

func csvRow(s sent) string {
	text, _ := s.text()
	var out strings.Builder
	w := csv.NewWriter(&out)
	_ = w.Write([]string{strconv.Itoa(s.number), text})
	w.Flush()
	return out.String()
}

func element(s sent) string {
	text, _ := s.text()
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text))
	return fmt.Sprintf("<r><i>%d</i><v>%s</v></r>\n", s.number, out.String())
}

// isXML reports whether an element can hold a text, and is not laid out by it.
func isXML(text string) bool {
	return text != "" && text == strings.TrimSpace(text) && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' })
}

func line(s sent) string {
	text, _ := s.text()
	return fmt.Sprintf("%d %s\n", s.number, text)
}

// httpIn sends each record in a request of its own.
func (p *pair) httpIn() way {
	address := testutil.FreeAddress(p)
	return way{options: fmt.Sprintf("listen = %q\nanswer = \"accepted\"", address), strict: true, send: func(t *testing.T, all []sent) {
		for _, s := range all {
			answer, err := http.Post("http://"+address+"/", "application/json", strings.NewReader(s.record()))
			if err != nil {
				t.Fatal(err)
			}
			said, _ := io.ReadAll(answer.Body)
			answer.Body.Close()
			want := http.StatusAccepted
			if s.counted != "" {
				want = http.StatusBadRequest
			}
			if answer.StatusCode != want {
				t.Errorf("%s: %s %s", s.record(), answer.Status, said)
			}
		}
	}}
}

// stages are the ways through.
func (p *pair) stages() map[string]way {
	script := filepath.Join(p.dir, "program.py")
	library, err := filepath.Abs("../../cmd/internal/scaffold/python")
	if err == nil {
		err = os.WriteFile(script, []byte(`
from webrace_stage import new, stage

@stage(takes="record", gives="record")
def again(item, options):
    yield new("record", **item.fields)

again.run()
`), 0o600)
	}
	if err != nil {
		p.Fatal(err)
	}
	named := func(s sent) bool { return s.name == "" && s.json != "" }
	return map[string]way{
		"queue":       {options: `type = "queue"`},
		"exec":        {options: fmt.Sprintf("type = \"exec\"\ncommand = [\"python3\", %q]\nenv = { PYTHONPATH = %q, PYTHONDONTWRITEBYTECODE = \"1\" }\ntakes = [\"record\"]\ngives = [{ kind = \"record\" }]", script, library)},
		"map":         {options: "type = \"map\"\nwhere = \"i > 0\""},
		"map copies":  {options: "type = \"map\"\nrecord = true\nset = { i = \"i\", v = \"v\" }", takes: named},
		"batch":       {options: "type = \"batch\"\ncount = 7"},
		"dedupe":      {options: "type = \"dedupe\"\nkey = \"[i, value]\""},
		"dead letter": {options: "type = \"map\"\nwhere = \"i % (i - i) == 0\""},
	}
}

// sinks are the ways out.
func (p *pair) sinks() map[string]way {
	path := filepath.Join(p.dir, "out")
	lines := func(t *testing.T) map[int]any { return recordRows(t, strings.Split(content(t, path), "\n")...) }
	options := fmt.Sprintf("path = %q", path)
	isText := p.source == "read-file/text"
	all := map[string]way{
		"write-file/jsonl":   {options: options, read: lines},
		"write-file/text":    {options: options, read: func(t *testing.T) map[int]any { return textRows(t, content(t, path)) }},
		"write-file/xml":     {options: options, read: lines},
		"write-file/csv":     {options: options, asTexts: true, read: func(t *testing.T) map[int]any { return csvRows(t, path) }},
		"write-file/parquet": {options: options, nulls: true, byValue: true, read: func(t *testing.T) map[int]any { return parquetRows(t, path) }, takes: func(sent) bool { return !isText }},
		"print/json":         {read: func(t *testing.T) map[int]any { return recordRows(t, strings.Split(p.printed.String(), "\n")...) }},
	}
	if !isText {
		names := []string{"i", "v"}
		for _, s := range specimens {
			if s.name != "" {
				names = append(names, s.name)
			}
		}
		csv := all["write-file/csv"]
		csv.options += fmt.Sprintf("\ncolumns = [%s]", literals(names))
		all["write-file/csv"] = csv
	}
	if strings.HasPrefix(p.sink, "http-out/") {
		all[p.sink] = p.httpOut()
	}
	return all
}

func literals(names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		text := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name)
		all[i] = `"` + text + `"`
	}
	return strings.Join(all, ", ")
}

// textRows reads lines of a number and a text.
func textRows(t *testing.T, text string) map[int]any {
	t.Helper()
	all := make(map[int]any)
	for line := range strings.Lines(text) {
		number, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		all[numberOf(t, number)] = value
	}
	return all
}

// csvRows reads a file of CSV with Python.
func csvRows(t *testing.T, path string) map[int]any {
	t.Helper()
	const reader = "import csv, json, sys; print(json.dumps(list(csv.DictReader(open(sys.argv[1], encoding='utf-8', newline='')))))"
	all := make(map[int]any)
	for _, one := range python(t, reader, path).([]any) {
		cells := one.(map[string]any)
		if text, isText := cells["body"].(string); isText {
			for number, value := range textRows(t, text) {
				all[number] = value
			}
			continue
		}
		number := numberOf(t, cells["i"])
		all[number] = cells[(sent{number, specimens[number-1]}).field()]
	}
	return all
}

// parquetRows reads a file of Parquet.
func parquetRows(t *testing.T, path string) map[int]any {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	in, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	fields := in.Schema().Fields()
	all := make(map[int]any)
	for _, group := range in.RowGroups() {
		r := group.Rows()
		for one := make([]parquet.Row, 1); ; {
			n, err := r.ReadRows(one)
			if n == 1 {
				cells := make(map[string]any)
				for _, v := range one[0] {
					cells[fields[v.Column()].Name()] = parquetValue(fields[v.Column()].Type().String(), v)
				}
				number := numberOf(t, cells["i"])
				all[number] = cells[(sent{number, specimens[number-1]}).field()]
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		r.Close()
	}
	return all
}

func parquetValue(kind string, v parquet.Value) any {
	switch {
	case v.IsNull():
		return nil
	case kind == "JSON":
		return decoded(string(v.ByteArray()))
	case v.Kind() == parquet.Double:
		return decoded(strconv.FormatFloat(v.Double(), 'g', -1, 64))
	case v.Kind() == parquet.ByteArray:
		return string(v.ByteArray())
	}
	return decoded(v.String())
}

// httpOut is a server that keeps what is sent.
func (p *pair) httpOut() way {
	var mu sync.Mutex
	var bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		bodies = append(bodies, string(body))
		if p.sink == "http-out/bulk" {
			items := strings.Repeat(`,{"index":{"status":201}}`, strings.Count(string(body), "\n")/2)
			fmt.Fprintf(w, `{"errors":false,"items":[%s]}`, strings.TrimPrefix(items, ","))
		}
	}))
	p.Cleanup(server.Close)
	options := fmt.Sprintf("url = %q\nallow_networks = [\"loopback\"]", server.URL)
	if p.sink == "http-out/bulk" {
		options += "\nindex = \"records\""
	}
	return way{options: options, takes: func(s sent) bool { return p.sink != "http-out/bulk" || p.source != "read-file/text" }, read: func(t *testing.T) map[int]any {
		mu.Lock()
		defer mu.Unlock()
		return recordRows(t, p.sentRows(bodies)...)
	}}
}

// sentRows takes the bodies of requests apart.
func (p *pair) sentRows(bodies []string) (all []string) {
	for _, body := range bodies {
		switch p.sink {
		case "http-out/array":
			list, _ := decoded(body).([]any)
			for _, one := range list {
				all = append(all, encoded(one))
			}
		case "http-out/bulk":
			lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
			for pair := range slices.Chunk(lines, 2) {
				all = append(all, pair[1])
			}
		default:
			all = append(all, strings.Split(body, "\n")...)
		}
	}
	return all
}

// letters keeps dead letters until they are to be replayed.
type letters struct {
	mu      sync.Mutex
	buried  []pipeline.DeadLetterRecord
	replays bool
}

func (l *letters) Put(_ context.Context, letter pipeline.DeadLetterRecord) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buried = append(l.buried, letter)
	return nil
}

func (l *letters) Replays(context.Context, string) ([]pipeline.DeadLetterRecord, error) {
	if !l.replays {
		return nil, nil
	}
	return l.buried, nil
}

func (l *letters) Replayed(context.Context, string) error { return nil }

// replay runs the pipeline again, without records, over what has become dead letters.
func (p *pair) replay() {
	p.Helper()
	if len(p.letters.buried) == 0 {
		p.Fatal("there are no dead letters")
	}
	p.letters.replays = true
	p.toml = strings.Replace(p.toml, "i % (i - i) == 0", "true", 1)
	p.from.write(p.T, nil)
	p.run(func() {})
}
