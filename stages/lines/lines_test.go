package lines

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "urls.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var with = stagetest.Changed(defaults)

func starts(t *testing.T, r *stagetest.Result) (urls []string) {
	t.Helper()
	for _, v := range r.Out[""] {
		seed := v.(webrace.Request)
		if seed.Crawl == nil || seed.Crawl.ID == "" || seed.Crawl.Start != seed.URL {
			t.Errorf("%+v is no seed", seed)
		}
		urls = append(urls, seed.URL)
	}
	return urls
}

func TestConformance(t *testing.T) {
	for name, o := range map[string]Options{
		"nothing": defaults,
		"list":    with(func(o *Options) { o.URLs = []string{"https://example.org/", "https://example.com/"} }),
		"file":    with(func(o *Options) { o.Path = file(t, strings.Repeat("https://example.org/\n", 500)) }),
	} {
		t.Run(name, func(t *testing.T) { stagetest.Run(t, stagetest.Case{Type: "lines", Options: o}) })
	}
}

func TestEachLineThatIsAURLIsAStart(t *testing.T) {
	long := "https://example.org/" + strings.Repeat("x", 3*maxLine)
	for name, c := range map[string]struct {
		text string
		want []string
		bad  int64
	}{
		"lines":                        {"https://a.org/\nhttps://b.org/x\n", []string{"https://a.org/", "https://b.org/x"}, 0},
		"no end of line":               {"https://a.org/", []string{"https://a.org/"}, 0},
		"empty":                        {"", nil, 0},
		"DOS lines":                    {"https://a.org/\r\nhttps://b.org/\r\n", []string{"https://a.org/", "https://b.org/"}, 0},
		"byte order mark":              {"\uFEFFhttps://a.org/\n", []string{"https://a.org/"}, 0},
		"comments, space, empty lines": {"# all\n\n   \n  https://a.org/\t\n#https://b.org/\n", []string{"https://a.org/"}, 0},
		"spelling":                     {"HTTPS://A.org:443/b/../c#top\n", []string{"https://a.org/c"}, 0},
		"bad lines":                    {"a.org\nhttps://b.org/\nmailto:x@y\nhttps://\n", []string{"https://b.org/"}, 3},
		"a prefix":                     {"https://a.org/*\n*\n", nil, 2},
		"a line without end":           {long + "\nhttps://b.org/\n" + long, []string{"https://b.org/"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := stagetest.Try(t, stagetest.Case{Type: "lines", Options: with(func(o *Options) { o.Path = file(t, c.text) })})
			if urls := starts(t, got); !slices.Equal(urls, c.want) || got.Counters["bad_lines"] != c.bad {
				t.Errorf("starts %q and %d bad lines, want %q and %d", urls, got.Counters["bad_lines"], c.want, c.bad)
			}
			if len(got.Failures) != int(c.bad) || c.bad == 3 && !strings.Contains(got.Failures[1].Error(), ", line 3: it is no URL: ") {
				t.Errorf("failures %v", got.Failures)
			}
		})
	}
}

func TestAListGoesBeforeTheFile(t *testing.T) {
	got := stagetest.Try(t, stagetest.Case{Type: "lines", Options: with(func(o *Options) {
		o.URLs, o.Path = []string{"https://b.org", "https://a.org"}, file(t, "https://c.org\n")
	})})
	if urls := starts(t, got); !slices.Equal(urls, []string{"https://b.org/", "https://a.org/", "https://c.org/"}) {
		t.Errorf("starts %q", urls)
	}
}

func TestACrawlIsTheOneThatAURDWouldStart(t *testing.T) {
	urd := xmlschema.NewURD("eleni", "https://example.org/news")
	urd.Depth, urd.Scope = 0, xmlschema.ScopeDomain
	want, _, err := control.CrawlOf(urd)
	if err != nil {
		t.Fatal(err)
	}
	got := stagetest.Try(t, stagetest.Case{Type: "lines", Options: Options{URLs: []string{"https://example.org/news"}, Scope: "domain"}})
	if crawl := got.Out[""][0].(webrace.Request).Crawl; *crawl != want {
		t.Errorf("crawl %+v, want %+v", *crawl, want)
	}
}

// standardInput replaces it for one test by a pipe, whose other end it returns.
func standardInput(t *testing.T) *os.File {
	t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stdin
	os.Stdin = in
	t.Cleanup(func() {
		os.Stdin = before
		out.Close()
		in.Close()
	})
	return out
}

func TestStandardInputIsReadAndLeftOpen(t *testing.T) {
	out := standardInput(t)
	if _, err := out.WriteString("https://a.org/\nno url\nhttps://b.org/"); err != nil {
		t.Fatal(err)
	}
	out.Close()
	got := stagetest.Try(t, stagetest.Case{Type: "lines", Options: with(func(o *Options) { o.Path = "-" })})
	if urls := starts(t, got); !slices.Equal(urls, []string{"https://a.org/", "https://b.org/"}) || got.Counters["bad_lines"] != 1 {
		t.Errorf("starts %q, counters %v", urls, got.Counters)
	}
	if _, err := os.Stdin.Stat(); err != nil {
		t.Errorf("standard input is not usable any more: %v", err)
	}
}

func TestALineIsEmittedBeforeStandardInputEnds(t *testing.T) {
	in := standardInput(t)
	s := &stage{with(func(o *Options) { o.Path = "-" }), pipeline.NewEnv("p", "lines", nil)}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	seen := make(emitted, 1)
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, seen) }()
	if _, err := in.WriteString("https://a.org/\n"); err != nil {
		t.Fatal(err)
	}
	if got := <-seen; got.(webrace.Request).URL != "https://a.org/" {
		t.Errorf("got %v", got)
	}
	cancel() // while it waits for a line that never comes
	if err := <-ended; err != nil {
		t.Errorf("drained, it fails: %v", err)
	}
}

type emitted chan any

func (e emitted) Emit(_ context.Context, it *pipeline.Item) error { e <- it.Value; return nil }
func (e emitted) EmitTo(ctx context.Context, _ string, it *pipeline.Item) error {
	return e.Emit(ctx, it)
}

func TestAMissingFileIsAnError(t *testing.T) {
	s := &stage{with(func(o *Options) { o.Path = filepath.Join(t.TempDir(), "none") }), pipeline.NewEnv("p", "lines", nil)}
	if err := s.Run(t.Context(), make(emitted)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestOptionsAreValidated(t *testing.T) {
	for name, c := range map[string]struct {
		options Options
		option  string
	}{
		"negative depth": {with(func(o *Options) { o.Depth = -1 }), "depth"},
		"no URL":         {with(func(o *Options) { o.URLs = []string{"https://a.org", "a.org"} }), "urls"},
		"a prefix":       {with(func(o *Options) { o.URLs = []string{"https://a.org/*"} }), "urls"},
		"too long":       {with(func(o *Options) { o.URLs = []string{"https://a.org/" + strings.Repeat("x", urlnorm.MaxLength)} }), "urls"},
	} {
		var fault *pipeline.OptionError
		if err := c.options.Validate(); !errors.As(err, &fault) || fault.Option != c.option {
			t.Errorf("%s: got %v, want a fault of %s", name, err, c.option)
		}
	}
	if err := with(func(o *Options) { o.URLs, o.Depth = []string{"https://a.org"}, 0 }).Validate(); err != nil {
		t.Error(err)
	}
}
