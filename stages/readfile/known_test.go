package readfile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// texts are what came, as texts.
func texts(values []any) []string {
	all := []string{}
	for _, v := range values {
		if r, ok := v.(pipeline.Record); ok {
			v = strings.TrimSuffix(strings.TrimPrefix(fmt.Sprint(v), "map["), "]")
			if value, ok := r["a"]; ok {
				v = value
			}
		}
		all = append(all, fmt.Sprint(v))
	}
	return all
}

// steps is a test of one file after the other: what is done, and what is to come then.
type steps []struct {
	name string
	do   func(dir string)
	want string // texts, between spaces
}

func (all steps) run(t *testing.T, change func(*Options)) {
	t.Helper()
	dir := t.TempDir()
	o := with(func(o *Options) {
		o.Paths, o.Positions = []string{filepath.Join(dir, "in*")}, filepath.Join(dir, "positions")
		if change != nil {
			change(o)
		}
	})
	for _, s := range all {
		s.do(dir)
		if got := strings.Join(texts(try(t, o).Out[""]), " "); got != s.want {
			t.Errorf("%s: %q came, want %q", s.name, got, s.want)
		}
	}
}

func putting(t *testing.T, name, text string) func(string) {
	return func(dir string) { write(t, filepath.Join(dir, name), text) }
}

// beside replaces a file by one that was written beside it.
func beside(t *testing.T, name, text string) func(string) {
	return func(dir string) {
		write(t, filepath.Join(dir, "new"), text)
		moving(t, "new", name)(dir)
	}
}

func moving(t *testing.T, from, to string) func(string) {
	return func(dir string) {
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
}

func both(all ...func(string)) func(string) {
	return func(dir string) {
		for _, f := range all {
			f(dir)
		}
	}
}

func TestReplaced(t *testing.T) {
	for how, put := range map[string]func(*testing.T, string, string) func(string){"in place": putting, "beside": beside} {
		for format, head := range map[string]string{"text": "", "csv": "a\n"} {
			t.Run(how+", "+format, func(t *testing.T) {
				t.Parallel()
				steps{
					{"at first", put(t, "in", head+"1\n2\n3\n"), "1 2 3"},
					{"as it is", func(string) {}, ""},
					{"a longer one", put(t, "in", head+"a\nb\nc\nd\ne\n"), "a b c d e"},
					{"a shorter one", put(t, "in", head+"x\ny\n"), "x y"},
					{"of equal size", put(t, "in", head+"v\nw\n"), "v w"},
					{"of equal size and the same first line", put(t, "in", head+"v\nu\n"), "v u"},
					{"longer with the same first line", put(t, "in", head+"v\nt\nu\n"), "v t u"},
					{"shorter with the same first line", put(t, "in", head+"v\n"), "v"},
					{"with more behind it", put(t, "in", head+"v\ns\n"), "s"},
				}.run(t, func(o *Options) { o.Format = format })
			})
		}
	}
}

func TestReplacedDocumentsOfXML(t *testing.T) {
	steps{
		{"at first", putting(t, "in", "<r><i a='1'/><i a='2'/></r>"), "1 2"},
		{"as it is", func(string) {}, ""},
		{"one more", putting(t, "in", "<r><i a='1'/><i a='2'/><i a='3'/></r>"), "3"},
		{"another", putting(t, "in", "<r><i a='1'/><i a='4'/><i a='3'/></r>"), "1 4 3"},
		{"renamed, and compressed", both(moving(t, "in", "in.1"), putting(t, "in.1", zipped("<r><i a='1'/><i a='4'/><i a='3'/></r>"))), ""},
	}.run(t, func(o *Options) { o.Format, o.Record = "xml", "i" })
}

// A file that is exported with the same rows again is another one, if others came in between.
func TestReplacedByWhatItWasBefore(t *testing.T) {
	steps{
		{"at first", putting(t, "in", "ok\n"), "ok"},
		{"another", putting(t, "in", "no\n"), "no"},
		{"the first again", putting(t, "in", "ok\n"), "ok"},
		{"another, beside", beside(t, "in", "no\n"), "no"},
		{"the first again, beside", beside(t, "in", "ok\n"), "ok"},
	}.run(t, nil)
}

func TestRotation(t *testing.T) {
	halfZipped := zipped("1\n2\n")[:len(zipped("1\n2\n"))-8] // without the sum at its end: both lines can be read
	for name, all := range map[string]steps{
		"renamed": {
			{"at first", putting(t, "in", "1\n2\n"), "1 2"},
			{"renamed, with one more", both(putting(t, "in", "1\n2\n3\n"), moving(t, "in", "in.1")), "3"},
			{"a new one", putting(t, "in", "4\n"), "4"},
			{"once more", both(moving(t, "in.1", "in.2"), moving(t, "in", "in.1"), putting(t, "in", "5\n")), "5"},
		},
		"compressed": {
			{"at first", putting(t, "in", "1\n2\n"), "1 2"},
			{"with one more", both(moving(t, "in", "gone"), putting(t, "in.1.gz", zipped("1\n2\n3\n")), putting(t, "in", "4\n")), "4 3"},
			{"as it is", func(string) {}, ""},
			{"renamed", moving(t, "in.1.gz", "in.2.gz"), ""},
		},
		"compressed beside": {
			{"at first", putting(t, "in", "1\n2\n"), "1 2"},
			{"half of it", putting(t, "in.gz", zipped("1\n2\n")[:20]), ""},
			{"all of it", putting(t, "in.gz", zipped("1\n2\n")), ""},
			{"the other removed", moving(t, "in", "gone"), ""},
		},
		"new, and half compressed beside": {
			{"both", both(putting(t, "in.1", "1\n2\n"), putting(t, "in.1.gz", halfZipped)), "1 2"},
			{"the other removed", both(moving(t, "in.1", "gone"), putting(t, "in.1.gz", zipped("1\n2\n"))), ""},
		},
		"new, and compressed beside": {
			{"both", both(putting(t, "in.1", "1\n2\n"), putting(t, "in.1.gz", zipped("1\n2\n"))), "1 2"},
			{"the other removed", moving(t, "in.1", "gone"), ""},
		},
		"copied and truncated": {
			{"at first", putting(t, "in", "1\n2\n"), "1 2"},
			{"with one more", both(putting(t, "in.1", "1\n2\n3\n"), putting(t, "in", "4\n")), "4 3"},
			{"grown beyond", both(putting(t, "in.2", "4\n5\n"), putting(t, "in", "6\n7\n8\n9\n")), "6 7 8 9 5"},
		},
		"the same line again": {
			{"at first", putting(t, "in", "started\n"), "started"},
			{"renamed", both(moving(t, "in", "in.1"), putting(t, "in", "started\n")), "started"},
			{"compressed", both(moving(t, "in.1", "gone"), putting(t, "in.1.gz", zipped("started\n"))), ""},
			{"and another", both(moving(t, "in", "gone"), putting(t, "in.0.gz", zipped("started\n")), putting(t, "in", "started\n")), "started"},
		},
		"equal files": {
			{"two", both(putting(t, "in.a", "1\n"), putting(t, "in.b", "1\n")), "1 1"},
			{"a third", putting(t, "in.c", "1\n"), "1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all.run(t, nil)
		})
	}
}

func TestUnfinishedLinesWait(t *testing.T) {
	for format, c := range map[string][3]string{"text": {"1\n2", "2", "3"}, "jsonl": {"{\"a\":1}\n{\"a\":2", "2", "3}"}, "csv": {"a\n1\n\"2", "2", "3\""}} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			steps{
				{"at first", putting(t, "in", c[0]), "1"},
				{"as it is", func(string) {}, ""},
				{"the rest", putting(t, "in", c[0]+c[2]), ""},
				{"with its end", putting(t, "in", c[0]+c[2]+"\n"), "23"},
			}.run(t, func(o *Options) { o.Format = format })
		})
	}
}

func TestUnfinishedLinesAreTaken(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		change     func(*Options)
		waiting    int64
	}{
		"by who says so":                     {"1\n2", "1 2", func(o *Options) { o.Unfinished = "take" }, 0},
		"where nothing is remembered":        {"1\n2", "1 2", func(o *Options) { o.Positions = "" }, 0},
		"not by who says that":               {"1\n2", "1", func(o *Options) { o.Positions, o.Unfinished = "", "wait" }, 1},
		"not where a file is known again":    {"1\n2", "1", func(*Options) {}, 1},
		"at the end of a compressed file":    {zipped("1\n2"), "1 2", func(*Options) {}, 0},
		"not of one that is not all there":   {zipped("1\n2")[:22], "1", func(*Options) {}, 0},
		"not of a row that has no other end": {"a\n1\n\"2\n", "1", func(o *Options) { o.Format = "csv" }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := with(func(o *Options) {
				o.Paths, o.Positions = []string{file(t, c.text)}, filepath.Join(t.TempDir(), "positions")
				c.change(o)
			})
			got := try(t, o)
			if came := strings.Join(texts(got.Out[""]), " "); came != c.want || got.Counters["unfinished"] != c.waiting {
				t.Errorf("%q came, want %q; %v", came, c.want, got.Counters)
			}
		})
	}
}

func TestAFileThatEndsEarlyIsToldAndPassed(t *testing.T) {
	dir := t.TempDir()
	whole := zipped(strings.Repeat("some lines\n", 1000))
	damaged := []byte(whole)
	damaged[len(damaged)-6] ^= 1 // of its checksum
	for name, text := range map[string]string{"a.gz": whole[:len(whole)/2], "b.gz": string(damaged), "c.gz": "\x1f\x8bno", "d": "1\n"} {
		write(t, filepath.Join(dir, name), text)
	}
	o := with(func(o *Options) {
		o.Paths, o.Positions = []string{filepath.Join(dir, "*")}, filepath.Join(t.TempDir(), "positions")
	})
	got := try(t, o)
	if n := len(got.Out[""]); n == 0 || got.Out[""][n-1] != "1" {
		t.Errorf("the file behind was not read: %d lines", n)
	}
	var told []string
	for _, f := range got.Failures {
		told = append(told, filepath.Base(f.Value.(pipeline.Record)["file"].(string)))
		if !strings.Contains(f.Error(), "cannot be read on at line ") {
			t.Errorf("%v does not say where", f)
		}
	}
	if !slices.Equal(told, []string{"a.gz", "b.gz", "c.gz"}) {
		t.Errorf("told of %v", told)
	}
	write(t, filepath.Join(dir, "a.gz"), zipped(strings.Repeat("some lines\n", 1000)+"last\n"))
	if again := try(t, o).Out[""]; len(again) == 0 || again[len(again)-1] != "last" || len(got.Out[""])+len(again) != 2*1000+2 {
		t.Errorf("of the file that is whole, %d lines came behind %d", len(again), len(got.Out[""]))
	}
}

func TestWhatIsLeftOutCanBeHad(t *testing.T) {
	path := file(t, "{\"a\":1}\n\n{\"a\":\n{\"a\":2}\nΩ\n")
	got := try(t, with(func(o *Options) { o.Paths, o.Format = []string{path}, "jsonl" }))
	var values []any
	for _, f := range got.Failures {
		values = append(values, f.Value)
	}
	want := []any{
		pipeline.Record{"file": path, "line": 3.0, "byte": 9.0, "text": `{"a":`},
		pipeline.Record{"file": path, "line": 5.0, "byte": 23.0, "text": "Ω"},
	}
	if !reflect.DeepEqual(values, want) || len(got.Out[""]) != 2 {
		t.Errorf("got %v, want %v", values, want)
	}
	if text := got.Failures[0].Err.Error(); !strings.HasPrefix(text, path+", line 3, column ") {
		t.Errorf("it says %s", text)
	}
}

func TestPositionsThatAreDamagedArePutAside(t *testing.T) {
	for _, text := range []string{"", "{", "[]", `{"in":{"records":1}}`, `{"version":2,"files":[null]}`} {
		o := with(func(o *Options) { o.Paths, o.Positions = []string{file(t, "1\n")}, file(t, text) })
		if got := try(t, o); !reflect.DeepEqual(got.Out[""], []any{"1"}) {
			t.Errorf("%q: %v came", text, got.Out)
		}
		if kept, err := os.ReadFile(o.Positions + ".damaged"); err != nil || string(kept) != text {
			t.Errorf("%q was kept as %q, %v", text, kept, err)
		}
		if got := try(t, o); len(got.Out[""]) != 0 {
			t.Errorf("%q: the next run reads %v", text, got.Out)
		}
	}
	o := with(func(o *Options) { o.Paths, o.Positions = []string{file(t, "1\n")}, file(t, `{"version":3}`) })
	if err := stageOf(o).Run(t.Context(), emitted(nil)); err == nil || !strings.Contains(err.Error(), "later release") {
		t.Errorf("positions of a later release: %v", err)
	}
}

// A process that was killed when it had dealt with a first line knows the file by what it was about to read as well.
func TestReplacedAfterAKillBehindTheFirstLine(t *testing.T) {
	dir := t.TempDir()
	o := with(func(o *Options) {
		o.Paths, o.Positions = []string{filepath.Join(dir, "in")}, filepath.Join(dir, "positions")
	})
	write(t, o.Paths[0], "name\n1\n2\n")
	try(t, o)
	text, err := os.ReadFile(o.Positions)
	if err != nil {
		t.Fatal(err)
	}
	var s saved
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	s.Files[0].mark, s.Files[0].Whole = mark{5, sumOf("name\n"), 1, 1}, state{}
	if text, err = json.Marshal(s); err != nil {
		t.Fatal(err)
	}
	for content, want := range map[string]string{"name\n1\n2\n": "1 2", "name\n3\n4\n": "name 3 4", "name\n": "name"} {
		write(t, o.Positions, string(text))
		write(t, o.Paths[0], content)
		if got := strings.Join(texts(try(t, o).Out[""]), " "); got != want {
			t.Errorf("of %q %q came, want %q", content, got, want)
		}
	}
}

// What earlier releases have written: a path, a hash of the first line, and how many entries have been dealt with.
func TestPositionsOfTheEarlierFormatGoOn(t *testing.T) {
	const hash = "6b86b273ff34fce1" // of "1"
	for name, c := range map[string]struct{ text, want string }{
		"more":            {"1\n2\n3\n4\n", "3 4"},
		"nothing new":     {"1\n2\n", ""},
		"another":         {"2\n3\n4\n", "2 3 4"},
		"a shorter one":   {"1\n", "1"},
		"zipped and more": {zipped("1\n2\n3\n"), "3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := file(t, c.text)
			other := filepath.Join(t.TempDir(), "other")
			text, err := json.Marshal(map[string]earlierPosition{path: {hash, 2}, other: {hash, 7}})
			if err != nil {
				t.Fatal(err)
			}
			o := with(func(o *Options) { o.Paths, o.Positions = []string{path}, file(t, string(text)) })
			if got := strings.Join(texts(try(t, o).Out[""]), " "); got != c.want {
				t.Errorf("%q came, want %q", got, c.want)
			}
			if got := try(t, o); len(got.Out[""]) != 0 {
				t.Errorf("the next run reads %v", got.Out)
			}
			var s saved
			written, err := os.ReadFile(o.Positions)
			if err != nil || json.Unmarshal(written, &s) != nil || s.Version != version || s.Earlier[other].Records != 7 || len(s.Earlier) != 1 {
				t.Errorf("what is known of other files is lost: %s %v", written, err)
			}
		})
	}
}

// A file that has not changed for a while is not read to find that out.
func TestAFileThatHasNotChangedIsNotOpened(t *testing.T) {
	path := file(t, "1\n")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	o := with(func(o *Options) { o.Paths, o.Positions = []string{path}, filepath.Join(t.TempDir(), "positions") })
	if got := try(t, o); len(got.Out[""]) != 1 {
		t.Fatalf("at first %v", got.Out)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := openPositions(o.Positions, false, pipeline.NewEnv("p", "s", nil).Logger)
	if err != nil || len(p.files) != 1 || !p.files[0].unchanged(info) {
		t.Errorf("it is taken for changed: %+v, %v", p.files, err)
	}
}

// The key of an item is the same when it comes again, also of a file that is called otherwise or compressed by then.
// That of another item is another, also if it is equal.
func TestKeysAreOfTheItem(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "in")
	o := with(func(o *Options) {
		o.Paths, o.Positions = []string{filepath.Join(dir, "in*")}, filepath.Join(dir, "positions")
	})
	keysOf := func(o Options) (keys []string) {
		g := pipeline.NewGraph("test")
		g.Add("read-file", o)
		g.AddStage("sink", pipeline.Spec{Type: "sink", In: pipeline.Kinds(pipeline.KindOf[string]())}, func(*pipeline.Env) (any, error) {
			return take(func(it *pipeline.Item) { keys = append(keys, pipeline.KeyOf(it)) }), nil
		})
		g.Wire("read-file > sink")
		if _, err := g.Run(t.Context(), pipeline.RunOptions{}); err != nil {
			t.Fatal(err)
		}
		return keys
	}
	write(t, path, "login\nlogin\n")
	first := keysOf(o)
	if len(first) != 2 || first[0] == first[1] {
		t.Fatalf("two equal lines have the keys %v", first)
	}
	forget := func() { // what was read last
		text, err := os.ReadFile(o.Positions)
		if err != nil {
			t.Fatal(err)
		}
		var s saved
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		s.Files[0].mark, s.Files[0].Whole = mark{6, sumOf("login\n"), 1, 1}, state{}
		if text, err = json.Marshal(s); err != nil {
			t.Fatal(err)
		}
		write(t, o.Positions, string(text))
	}
	forget()
	moving(t, "in", "in.1")(dir)
	if again := keysOf(o); !slices.Equal(again, first[1:]) {
		t.Errorf("of the renamed file: %v, want %v", again, first[1:])
	}
	forget()
	moving(t, "in.1", "gone")(dir)
	putting(t, "in.1.gz", zipped("login\nlogin\n"))(dir)
	if again := keysOf(o); !slices.Equal(again, first[1:]) {
		t.Errorf("of the compressed file: %v, want %v", again, first[1:])
	}
	write(t, path, "login\n")
	if other := keysOf(o); len(other) != 1 || slices.Contains(first, other[0]) {
		t.Errorf("another file has %v of %v", other, first)
	}
	o.Positions = ""
	if a, b := keysOf(o), keysOf(o); len(a) != 3 || !slices.Equal(a, b) {
		t.Errorf("without positions: %v, then %v", a, b)
	}
}

func sumOf(text string) uint32 {
	var m mark
	m.pass([]byte(text))
	return m.Sum
}
