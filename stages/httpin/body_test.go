package httpin

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline"
)

// FuzzBody holds that a body is an error or items, and never both, whatever the format.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{"", "{}", `[{"a":1},{}]`, "{}\n{}", "http://a.org/\n#x", "[[]]", "null", "\uFEFF{}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, format := range []string{"records", "bytes", "urls"} {
			values, err := with(func(o *Options) { o.Format = format }).values(body)
			if (err == nil) == (len(values) == 0) {
				t.Fatalf("%s: %d values and %v", format, len(values), err)
			}
			for _, v := range values {
				kind := map[string]reflect.Type{"records": reflect.TypeFor[pipeline.Record](), "bytes": reflect.TypeFor[[]byte](), "urls": reflect.TypeFor[webrace.Request]()}[format]
				if reflect.TypeOf(v) != kind {
					t.Fatalf("%s gives a %T", format, v)
				}
			}
		}
	})
}

// What a record cannot hold as it came is refused, with the record and where in the body.
func TestRecordsThatCannotBeAsTheyCame(t *testing.T) {
	t.Parallel()
	for body, says := range map[string]string{
		"{\"a\":1}\n{\"a\":\"\xff\"}":         "record 1, at byte 14: it is not UTF-8",
		`[{"a":1},{"b":"\ud800"}]`:            `record 1, at byte 15: half of a surrogate pair`,
		`{"a":1,"a":2}`:                       "record 0, at byte 7: the name is given twice",
		"\uFEFF{\"a\":1e999}":                 "record 0, at byte 8: ",
		`{"a":1}[{"a":2},[]]`:                 "record 2, at byte 16: an array within an array",
		`{"a":{"b":1,"b":2}}` + "\n{\"a\":1}": "record 0, at byte 12: the name is given twice",
		`{"a":1} 7`:                           "record 1, at byte 8: \"7\" is no object of JSON",
	} {
		values, err := records([]byte(body))
		if err == nil || !strings.HasPrefix(err.Error(), says) || values != nil {
			t.Errorf("%s: %v, %v", body, values, err)
		}
	}
}

// dial opens a connection to a server, and sends it some text.
func dial(t *testing.T, url, text string) net.Conn {
	t.Helper()
	address, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	conn, err := net.Dial("tcp", address)
	if err == nil {
		_, err = io.WriteString(conn, text)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// The token is looked at before the body, which is not waited for.
func TestTheTokenComesBeforeTheBody(t *testing.T) {
	t.Parallel()
	in := start(t, with(func(o *Options) { o.Token = pipeline.NewSecret("a-token-that-nobody-guesses") }), pipeline.Stop, pipeline.RunOptions{}, func(*pipeline.Item) error { return nil })
	conn := dial(t, in.url, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != http.StatusUnauthorized || !answer.Close {
		t.Fatalf("%+v, %v", answer, err)
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection goes on")
	}
}

// The timeout is that of the body as well.
func TestABodyThatDoesNotCome(t *testing.T) {
	t.Parallel()
	in := start(t, with(func(o *Options) { o.Timeout = pipeline.Duration(50 * time.Millisecond) }), pipeline.Stop, pipeline.RunOptions{}, func(*pipeline.Item) error { return nil })
	conn := dial(t, in.url, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != http.StatusRequestTimeout {
		t.Fatalf("%+v, %v", answer, err)
	}
}

func compressed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A body may be compressed, and is as long at most as if it were not.
func TestCompressedBodies(t *testing.T) {
	t.Parallel()
	in := start(t, with(func(o *Options) { o.MaxBody = 1000 }), pipeline.Stop, pipeline.RunOptions{}, func(*pipeline.Item) error { return nil })
	for _, c := range []struct {
		coding, body string
		status       int
	}{
		{"gzip", compressed(t, `{"a":1}{"a":2}`), 200},
		{"gzip", compressed(t, `{"a":"`+strings.Repeat("x", 5000)+`"}`), 413},
		{"gzip", `{"a":1}`, 400},
		{"gzip", compressed(t, `{"a":1}`)[:20], 400},
		{"br", `{"a":1}`, 415},
		{"identity", `{"a":1}`, 200},
	} {
		status, a, _ := post(t, in.url, c.body, func(r *http.Request) { r.Header.Set("Content-Encoding", c.coding) })
		if status != c.status {
			t.Errorf("%s of %d bytes: %d, %+v", c.coding, len(c.body), status, a)
		}
	}
}

// What is refused is answered with 400, and leaves at the port errors as it came.
func TestWhatIsRefusedLeavesAtThePortErrors(t *testing.T) {
	t.Parallel()
	o := with(func(o *Options) { o.Listen = testutil.FreeAddress(t) })
	refused := make(chan *pipeline.Failure, 1)
	g := pipeline.NewGraph("test")
	g.Add("http-in", o)
	for _, name := range []string{"sink", "failures"} {
		g.AddStage(name, pipeline.Spec{Type: name, In: pipeline.Kinds(pipeline.KindOf[any]())}, func(*pipeline.Env) (any, error) {
			return takes(func(it *pipeline.Item) error {
				if f, isFailure := it.Value.(*pipeline.Failure); isFailure {
					refused <- f
				}
				return nil
			}), nil
		})
	}
	g.Connect("http-in", "", "sink")
	g.Connect("http-in", "errors", "failures")
	run, err := g.Start(t.Context(), pipeline.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	body := "{\"a\":1}\n{\"a\":\"\xff\"}"
	status, a, _ := post(t, "http://"+o.Listen+o.Path, body)
	f := <-refused
	if status != http.StatusBadRequest || a.Error != f.Err.Error() || string(f.Value.([]byte)) != body || !strings.Contains(a.Error, "record 1, at byte 14") {
		t.Errorf("%d %+v; %+v", status, a, f)
	}
	run.Drain()
	if _, err := run.Wait(); err != nil {
		t.Error(err)
	}
}
