package exec

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/finding"
)

// Server is the program's side of the protocol, for stages in Go: what the stage exec gives to it, a processor works on
// as it would in a pipeline.
//
// What it guarantees: an item yields all that the processor emits for it, or an error and nothing; what goes on as it
// came, and fields that stay as they are, are not sent back; and what a processor would tell a queue of its lease,
// which no program can, fails the item instead of being lost.
type Server struct {
	Logger    *slog.Logger
	Resources *pipeline.Resources // what the processor finds by [pipeline.Resource]; may be nil
	// Stage returns the stage to be served, with the options that came with the greeting.
	Stage func(options pipeline.Table) (*pipeline.Stage, error)
}

// firstFrame is the most that a greeting may have, which declares how large other frames may be.
const firstFrame = 64 << 20

// drainLimit is how long items are worked on after the end of the input. Who still wants what they yield has not closed
// it; the limit is for one who gives all items at once, and reads the answers then.
const drainLimit = 30 * time.Second

// Serve reads frames and writes frames until there is no more input. The error is one of the stage or of the protocol;
// what items meet is written.
func (s Server) Serve(ctx context.Context, in io.Reader, out io.Writer) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v := &service{in: bufio.NewReaderSize(in, 64<<10), out: out, counted: make(map[string]int64)}
	made, err := v.greet(ctx, s)
	if err != nil {
		return err
	}
	defer func() {
		if closer, ok := made.(pipeline.Closer); ok {
			err = errors.Join(err, v.env.Try(closer.Close))
		}
	}()
	var items sync.WaitGroup
	room := make(chan struct{}, max(1, v.hello.InFlight))
	for err == nil {
		var it *given
		if it, err = v.next(); err != nil {
			break
		}
		room <- struct{}{}
		items.Go(func() {
			defer func() { <-room }()
			v.process(ctx, it)
		})
	}
	if errors.Is(err, io.EOF) {
		err = nil
	} else {
		cancel()
	}
	late := time.AfterFunc(drainLimit, cancel)
	defer late.Stop()
	items.Wait()
	return errors.Join(err, v.unwritten)
}

// service is one that has begun.
type service struct {
	in        *bufio.Reader
	hello     hello
	env       *pipeline.Env
	processor pipeline.Processor

	mu        sync.Mutex
	out       io.Writer
	counted   map[string]int64 // what the other side has been told of counters
	unwritten error            // why nothing can be written any more
}

// greet hears hello, makes the stage, and answers whether it is ready.
func (v *service) greet(ctx context.Context, s Server) (made any, err error) {
	header, _, err := readFrame(v.in, firstFrame)
	if err != nil {
		return nil, fmt.Errorf("read the greeting: %w", err)
	}
	numbers := json.NewDecoder(bytes.NewReader(header))
	numbers.UseNumber() // as they are written
	if err := numbers.Decode(&v.hello); err != nil || v.hello.Type != "hello" {
		return nil, fmt.Errorf("the first frame is no greeting: %q", cut(string(header), longestName))
	}
	if !speaks(v.hello.ABI, newest) {
		return nil, v.refuse(fmt.Errorf("this program speaks version %d of the protocol, not %d", newest, v.hello.ABI))
	}
	stage, err := s.Stage(v.hello.Options)
	if err != nil {
		return nil, v.refuse(err)
	}
	v.env = pipeline.NewEnv(v.hello.Pipeline, v.hello.Stage, s.Resources)
	v.env.Workers = max(1, v.hello.InFlight)
	if s.Logger != nil {
		v.env.Logger = s.Logger
	}
	spec, err := specOf(stage)
	if err != nil {
		return nil, v.refuse(err)
	}
	if made, err = v.open(ctx, stage); err != nil {
		return nil, v.refuse(err)
	}
	ready, err := json.Marshal(message{Type: "ready", ABI: newest, Spec: spec}.ready())
	if err != nil {
		return made, err
	}
	return made, v.write(appendFrame(nil, ready, nil))
}

// open makes the processor.
func (v *service) open(ctx context.Context, stage *pipeline.Stage) (made any, err error) {
	err = v.env.Try(func() error {
		if made, err = stage.Make(v.env); err != nil {
			return err
		}
		if err := v.serves(made); err != nil {
			return err
		}
		if opener, ok := made.(pipeline.Opener); ok {
			return opener.Open(ctx)
		}
		return nil
	})
	if closer, ok := made.(pipeline.Closer); ok && err != nil {
		_ = v.env.Try(closer.Close) // why it was not opened tells more
	}
	return made, err
}

// serves refuses stages that give what they make of an item when it has long been answered.
func (v *service) serves(made any) error {
	if _, keeps := made.(pipeline.Keeper); keeps {
		return errors.New("it keeps items, and emits later what it makes of them: the protocol has nothing for that")
	}
	processor, ok := made.(pipeline.Processor)
	if !ok {
		return fmt.Errorf("a %T takes no items one by one", made)
	}
	v.processor = processor
	return nil
}

// refuse tells the other side why there is no stage, and which option is at fault.
func (v *service) refuse(why error) error {
	option := ""
	var fault *pipeline.OptionError
	var found finding.List
	text := why.Error()
	switch {
	case errors.As(why, &found) && len(found) > 0:
		option, text = found[0].Path, found[0].Message
		if found[0].Hint != "" {
			text += fmt.Sprintf(" (did you mean %s?)", found[0].Hint)
		}
	case errors.As(why, &fault):
		option = fault.Option
	}
	option, _, _ = strings.Cut(option, ".") // which the other side knows as one of the greeting
	header, err := json.Marshal(map[string]string{"type": "error", "error": text, "option": option})
	if err == nil {
		err = v.write(appendFrame(nil, header, nil))
	}
	return errors.Join(why, err)
}

// specOf returns what a stage takes, gives, needs and knows.
func specOf(s *pipeline.Stage) (*progSpec, error) {
	spec := &progSpec{Takes: []string{}, Gives: []progOutput{}, Options: []string{}, Needs: s.Spec.Needs}
	for _, kind := range s.Spec.In {
		if spec.Takes = append(spec.Takes, nameOf(kind)); nameOf(kind) == "" {
			return nil, fmt.Errorf("it takes %s, which has no name outside of Go", kind)
		}
	}
	for _, port := range s.Ports() {
		if spec.Gives = append(spec.Gives, progOutput{Port: port.Name, Kind: nameOf(port.Kind)}); nameOf(port.Kind) == "" {
			return nil, fmt.Errorf("its port %q gives %s, which has no name outside of Go", port.Name, port.Kind)
		}
	}
	if n, ok := s.Options.(pipeline.NeededPartsProvider); ok {
		spec.Needs = n.NeededParts()
	}
	for _, option := range config.Options(nil, s.Spec.Type) {
		spec.Options = append(spec.Options, option.Name)
	}
	return spec, nil
}

// nameOf returns the name that a kind has in pipelines.toml.
func nameOf(k pipeline.Kind) string {
	if k.String() == pipeline.SameAsInput.String() {
		return sameKind
	}
	return k.Name()
}

// ready is what is written of the message ready.
func (m message) ready() any {
	return struct {
		Type string    `json:"type"`
		ABI  int       `json:"abi"`
		Spec *progSpec `json:"spec"`
	}{m.Type, m.ABI, m.Spec}
}

// given is an item as it came.
type given struct {
	Type  string            `json:"type"`
	ID    uint64            `json:"id"`
	Kind  string            `json:"kind"`
	Value json.RawMessage   `json:"value"`
	Meta  map[string]string `json:"meta"`
	Key   string            `json:"key"`

	body  []byte
	value any
}

// next reads an item; the error is [io.EOF] when there are no more.
func (v *service) next() (*given, error) {
	header, body, err := readFrame(v.in, max(v.hello.MaxFrame, 4<<10))
	if err != nil {
		return nil, err
	}
	it := &given{body: body}
	if err := json.Unmarshal(header, it); err != nil || it.Type != "item" {
		return nil, fmt.Errorf("a frame is no item: %q", cut(string(header), longestName))
	}
	return it, nil
}

// process works on an item, and writes what it yields.
func (v *service) process(ctx context.Context, it *given) {
	y := &yield{item: it, most: v.hello.MaxFrame}
	var became pipeline.Alone
	err := v.env.Try(func() (err error) {
		if it.value, err = codec.Decode(it.Kind, it.Value, it.body); err != nil {
			return err
		}
		became = pipeline.ProcessItem(ctx, v.processor, it.value, it.Meta, it.Key, y)
		return became.Err
	})
	if err == nil && (len(became.Learned) > 0 || became.Note != nil) {
		err = errors.New("the stage tells a queue what it learned of an item, which a program cannot")
	}
	if err == nil {
		err = y.err
	}
	v.answer(it.ID, y, err, became.RetryAt)
}

// answer writes what an item has yielded and that it is done, or why it is not.
func (v *service) answer(id uint64, y *yield, failed error, retryAt time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	end := struct {
		Type  string           `json:"type"`
		ID    uint64           `json:"id"`
		Count map[string]int64 `json:"count,omitempty"`
		Error string           `json:"error,omitempty"`
		Retry float64          `json:"retry_after_s,omitempty"`
	}{Type: "done", ID: id, Count: v.counts()}
	frames := y.frames
	if failed != nil {
		end.Type, end.Error, frames = "error", cut(failed.Error(), longestError), nil
		if !retryAt.IsZero() {
			end.Retry = max(time.Until(retryAt), time.Millisecond).Seconds()
		}
	}
	header, err := json.Marshal(end)
	if err == nil && v.unwritten == nil {
		_, err = v.out.Write(appendFrame(frames, header, nil))
	}
	v.unwritten = errors.Join(v.unwritten, err)
}

// counts returns what has been added to counters since it was asked last. v.mu is held.
func (v *service) counts() map[string]int64 {
	now := v.env.Counters()
	added := make(map[string]int64)
	for name, n := range now {
		if n != v.counted[name] {
			added[name] = n - v.counted[name]
		}
	}
	v.counted = now
	return added
}

func (v *service) write(frame []byte) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, err := v.out.Write(frame)
	return err
}

// yield gathers, as frames, what the processor emits for an item. It is valid no longer when the processor returns.
type yield struct {
	item *given
	most int64

	mu     sync.Mutex // a processor may emit from several goroutines
	frames []byte
	fields map[string]json.RawMessage // of the item; nil before they are needed
	err    error
}

func (y *yield) Emit(ctx context.Context, it *pipeline.Item) error { return y.EmitTo(ctx, "", it) }

func (y *yield) EmitTo(ctx context.Context, port string, it *pipeline.Item) error {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.err == nil {
		y.err = y.add(port, it)
	}
	return y.err
}

// emitted is what is written of an item that is emitted.
type emitted struct {
	Type  string                     `json:"type"`
	ID    uint64                     `json:"id"`
	Port  string                     `json:"port,omitempty"`
	Keep  bool                       `json:"keep,omitempty"`
	Set   map[string]json.RawMessage `json:"set,omitempty"`
	Body  bool                       `json:"body,omitempty"`
	Kind  string                     `json:"kind,omitempty"`
	Value json.RawMessage            `json:"value,omitempty"`
	Meta  map[string]string          `json:"meta,omitempty"`
}

func (y *yield) add(port string, it *pipeline.Item) error {
	e := emitted{Type: "emit", ID: y.item.ID, Port: port, Meta: y.metaOf(it)}
	body, err := y.describe(&e, it.Value)
	if err != nil {
		return err
	}
	header, err := json.Marshal(e)
	if err != nil {
		return err
	}
	y.frames = appendFrame(y.frames, header, body)
	if int64(len(y.frames)) > y.most {
		return fmt.Errorf("it yields more than max_frame, %v", pipeline.Size(y.most))
	}
	return nil
}

// metaOf returns the meta data that the item has otherwise than the one that came.
func (y *yield) metaOf(it *pipeline.Item) map[string]string {
	other := maps.Clone(it.Meta)
	maps.DeleteFunc(other, func(name, text string) bool {
		was, had := y.item.Meta[name]
		return had && was == text
	})
	return other
}

// describe encodes a value: as the one that came, that one with some fields changed, or another. It returns the body
// of the frame.
func (y *yield) describe(e *emitted, value any) (body []byte, err error) {
	if isSame(value, y.item.value) {
		e.Keep = true
		return nil, nil
	}
	kind, header, body, err := codec.Encode(value)
	if err != nil {
		return nil, err
	}
	named, err := codec.Named(kind)
	if kind != y.item.Kind || err != nil || len(named.Fields) == 0 { // or the fields are those of each value
		e.Kind, e.Value = kind, header
		return body, nil
	}
	if e.Set, err = y.changed(header); err != nil {
		return nil, err
	}
	e.Keep, e.Body = true, !bytes.Equal(body, y.item.body)
	if !e.Body {
		body = nil
	}
	return body, nil
}

// isSame reports whether two values are the same one.
func isSame(a, b any) bool {
	return a != nil && reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.TypeOf(a).Comparable() && a == b
}

// changed returns the fields of a header that are not as they came; null is what one is that is left out.
func (y *yield) changed(header json.RawMessage) (map[string]json.RawMessage, error) {
	if y.fields == nil && len(y.item.Value) > 0 {
		if err := json.Unmarshal(y.item.Value, &y.fields); err != nil {
			return nil, err
		}
	}
	var now map[string]json.RawMessage
	if err := json.Unmarshal(header, &now); err != nil {
		return nil, err
	}
	for name, was := range y.fields {
		switch is, there := now[name]; {
		case !there:
			now[name] = json.RawMessage("null")
		case bytes.Equal(is, was):
			delete(now, name)
		}
	}
	return now, nil
}
