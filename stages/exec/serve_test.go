package exec

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
)

// sayings are what a stage of the type says does with a text.
var sayings = map[string]func(ctx context.Context, env *pipeline.Env, it *pipeline.Item, out pipeline.Emitter) error{
	"panic": func(context.Context, *pipeline.Env, *pipeline.Item, pipeline.Emitter) error { panic("at the text") },
	"fail":  func(context.Context, *pipeline.Env, *pipeline.Item, pipeline.Emitter) error { return errors.New("no") },
	"later": func(context.Context, *pipeline.Env, *pipeline.Item, pipeline.Emitter) error {
		return pipeline.Retry(errors.New("not now"), time.Now().Add(time.Hour))
	},
	"learn": func(_ context.Context, _ *pipeline.Env, it *pipeline.Item, _ pipeline.Emitter) error {
		it.Learn("something")
		return nil
	},
	"hold": func(_ context.Context, _ *pipeline.Env, it *pipeline.Item, _ pipeline.Emitter) error {
		it.Hold()(errors.New("the disk is full"))
		return nil
	},
	"much": func(ctx context.Context, _ *pipeline.Env, it *pipeline.Item, out pipeline.Emitter) error {
		for range 1000 {
			if err := out.Emit(ctx, it.With(strings.Repeat("x", 1000))); err != nil {
				return err
			}
		}
		return nil
	},
	"key": func(ctx context.Context, _ *pipeline.Env, it *pipeline.Item, out pipeline.Emitter) error {
		return out.Emit(ctx, it.With(pipeline.KeyOf(it)))
	},
	"half": func(ctx context.Context, _ *pipeline.Env, it *pipeline.Item, out pipeline.Emitter) error {
		return errors.Join(out.Emit(ctx, it), errors.New("after it has emitted"))
	},
	"wait": func(ctx context.Context, _ *pipeline.Env, _ *pipeline.Item, _ pipeline.Emitter) error {
		<-ctx.Done()
		return ctx.Err()
	},
	"two": func(ctx context.Context, env *pipeline.Env, it *pipeline.Item, out pipeline.Emitter) error {
		env.Counter("twos").Add(2)
		return errors.Join(out.Emit(ctx, it), out.EmitTo(ctx, "other", it.With("second").WithMeta("lang", "el")))
	},
}

type says struct{ env *pipeline.Env }

func (s says) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	text, err := pipeline.ValueOf[string](it)
	if err != nil {
		return err
	}
	if say := sayings[text]; say != nil {
		return say(ctx, s.env, it, out)
	}
	return out.Emit(ctx, it)
}

type saysOptions struct {
	Volume int `toml:"volume" doc:"how loud"`
}

func (o saysOptions) Validate() error {
	if o.Volume > 11 {
		return &pipeline.OptionError{Option: "volume", Err: errors.New("is 11 at most")}
	}
	return nil
}

func init() {
	text := pipeline.KindOf[string]()
	pipeline.Register(pipeline.Spec{
		Type: "says", Summary: "does what a text says", In: pipeline.Kinds(text),
		Out: []pipeline.Port{{Kind: pipeline.SameAsInput}, {Name: "other", Kind: text, Doc: "others"}},
	}, saysOptions{}, func(_ saysOptions, env *pipeline.Env) (any, error) { return says{env}, nil })
}

const greetingOfTests = `{"type":"hello","abi":1,"pipeline":"p","stage":"s","options":{"volume":3},"in_flight":4,"max_frame":8192}`

// served returns the frames that a server answers to these, each of which is a header and a body.
func served(t *testing.T, greeting string, frames ...string) (answers []string, err error) {
	t.Helper()
	in := appendFrame(nil, []byte(greeting), nil)
	for i := 0; i+1 < len(frames); i += 2 {
		in = appendFrame(in, []byte(frames[i]), []byte(frames[i+1]))
	}
	return servedBytes(t, in)
}

func servedBytes(t testing.TB, in []byte) (answers []string, err error) {
	t.Helper()
	var out bytes.Buffer
	server := Server{Stage: func(options pipeline.Table) (*pipeline.Stage, error) {
		return config.Single("says", config.SingleOptions{Table: options})
	}}
	err = server.Serve(t.Context(), bytes.NewReader(in), &out)
	r := bufio.NewReader(&out)
	for {
		header, body, wrong := readFrame(r, 1<<30)
		if errors.Is(wrong, io.EOF) {
			return answers, err
		}
		if wrong != nil || !json.Valid(header) {
			t.Fatalf("what it wrote is no frame: %q, %v", header, wrong)
		}
		answers = append(answers, string(header)+string(body))
	}
}

func itemFrame(id int) string { return fmt.Sprintf(`{"type":"item","id":%d,"kind":"text"}`, id) }

func TestAServerAnswersEachItem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"as it came": `{"type":"emit","id":1,"keep":true}|{"type":"done","id":1}`,
		"fail":       `{"type":"error","id":1,"error":"no"}`,
		"panic":      `{"type":"error","id":1,"error":"stage s panicked: at the text"}`,
		"later":      `{"type":"error","id":1,"error":"not now","retry_after_s":35`,
		"learn":      `{"type":"error","id":1,"error":"the stage tells a queue what it learned of an item, which a program cannot"}`,
		"hold":       `{"type":"error","id":1,"error":"the disk is full"}`,
		"much":       `{"type":"error","id":1,"error":"it yields more than max_frame, 8KiB"}`,
		"half":       `{"type":"error","id":1,"error":"after it has emitted"}`,
		"two":        `{"type":"emit","id":1,"keep":true}|{"type":"emit","id":1,"port":"other","keep":true,"body":true,"meta":{"lang":"el"}}second|{"type":"done","id":1,"count":{"twos":2}}`,
	} {
		answers, err := served(t, greetingOfTests, itemFrame(1), text)
		if got := strings.Join(answers[1:], "|"); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %v\n%s\nwant\n%s", text, err, got, want)
		}
	}
	answers, err := served(t, greetingOfTests, `{"type":"item","id":1,"kind":"links","value":{}}`, "", `{"type":"item","id":2,"kind":"nope"}`, "", itemFrame(3), "x")
	if all := strings.Join(answers, "|"); err != nil || strings.Count(all, `"type":"error"`) != 2 || !strings.Contains(all, `{"type":"done","id":3}`) {
		t.Errorf("%v, %s", err, all)
	}
}

func TestAServerSaysWhatItIs(t *testing.T) {
	t.Parallel()
	answers, err := served(t, greetingOfTests)
	want := `{"type":"ready","abi":1,"spec":{"takes":["text"],"gives":[{"port":"","kind":"same"},{"port":"other","kind":"text"}],"options":["volume"]}}`
	if err != nil || len(answers) != 1 || answers[0] != want {
		t.Errorf("%v, %s", err, answers)
	}
	for greeting, want := range map[string]string{
		`{"type":"hello","abi":1,"options":{"volme":3}}`:       `"option":"volme"`,
		`{"type":"hello","abi":1,"options":{"volume":12}}`:     `"error":"volume: is 11 at most","option":"volume"`,
		`{"type":"hello","abi":1,"options":{"volume":"loud"}}`: `takes an integer, not a string","option":"volume"`,
		`{"type":"hello","abi":7}`:                             `this program speaks version 1 of the protocol, not 7`,
	} {
		answers, err := served(t, greeting)
		if err == nil || len(answers) != 1 || !strings.Contains(answers[0], `"type":"error"`) || !strings.Contains(answers[0], want) {
			t.Errorf("%s: %v, %s", greeting, err, answers)
		}
	}
}

// TestHostileFramesEndAServer: what is no frame of the protocol is an error, and no reason to wait or to take memory.
func TestHostileFramesEndAServer(t *testing.T) {
	t.Parallel()
	hello := appendFrame(nil, []byte(greetingOfTests), nil)
	for name, in := range map[string][]byte{
		"nothing": nil, "text": []byte("GET / HTTP/1.1\r\n\r\n"), "cut off": hello[:20], "no greeting": appendFrame(nil, []byte(`{"type":"item"}`), nil),
		"no JSON": appendFrame(nil, []byte(`hello`), nil), "huge": append(bytes.Clone(hello), 0, 0, 0, 0x20, 2, 0, 0, 0, '{', '}'),
		"item cut off": append(bytes.Clone(hello), 100, 0, 0, 0, 2, 0, 0, 0, '{'), "no item": appendFrame(bytes.Clone(hello), []byte(`{"type":"done"}`), nil),
		"while an item is in work": append(appendFrame(bytes.Clone(hello), []byte(itemFrame(1)), []byte("wait")), "garbage!"...),
	} {
		if _, err := servedBytes(t, in); err == nil {
			t.Errorf("%s: it is no error", name)
		}
	}
}

// FuzzServe holds that whatever is read, what is written are frames, and no item is answered that was not given.
func FuzzServe(f *testing.F) {
	hello := appendFrame(nil, []byte(greetingOfTests), nil)
	f.Add(hello)
	for text := range sayings {
		f.Add(appendFrame(bytes.Clone(hello), []byte(itemFrame(1)), []byte(text)))
	}
	f.Add(appendFrame(bytes.Clone(hello), []byte(`{"type":"item","id":1,"kind":"record","value":{"a":[1]},"meta":{"x":"y"}}`), nil))
	f.Fuzz(func(t *testing.T, in []byte) {
		if bytes.Contains(in, []byte("wait")) {
			t.Skip("waits for the end")
		}
		answers, _ := servedBytes(t, in)
		for _, answer := range answers {
			if !strings.HasPrefix(answer, `{"type":"emit"`) && !strings.HasPrefix(answer, `{"type":"done"`) &&
				!strings.HasPrefix(answer, `{"type":"ready"`) && !strings.Contains(answer, `"type":"error"`) {
				t.Errorf("it wrote %q", answer)
			}
		}
	})
}
