package exec

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
)

// call is one item that a process has, and what it has yielded so far.
type call struct {
	done    chan struct{} // closed when the process has answered, or is lost
	outputs []output
	size    int64
	count   map[string]int64
	err     error // the program's own
	lost    *lostError
}

// output is one thing that an item yielded.
type output struct {
	message
	body []byte
}

// untouched reports whether it is the item as it came.
func (o output) untouched() bool { return o.Keep && len(o.Set) == 0 && !o.Body && len(o.Meta) == 0 }

// lostError means that the process was lost while it had an item.
type lostError struct {
	err     error
	alone   bool // it had no other then, nor before while the time ran that it took too long for
	first   bool // nor had it answered one before
	culprit bool // it was alone, and was given up for the time that it took
}

func (e *lostError) Error() string { return e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// send gives an item to the program. The error is about the item; the call reports what becomes of the process.
func (p *process) send(it *pipeline.Item) (*call, error) {
	kind, header, body, err := codec.Encode(it.Value, p.fields...)
	if err != nil {
		return nil, err
	}
	var meta json.RawMessage
	if len(it.Meta) > 0 {
		if meta, err = json.Marshal(it.Meta); err != nil {
			return nil, err
		}
	}
	c := &call{done: make(chan struct{})}
	id, alive := p.register(c)
	if !alive {
		return c, nil
	}
	frame := appendItem(make([]byte, 0, len(header)+len(meta)+150), id, kind, header, meta, pipeline.KeyOf(it))
	if size := frameStart + len(frame) + len(body); int64(size) > int64(p.programs.options.MaxFrame) {
		p.unregister(id)
		return nil, fmt.Errorf("the item is a frame of %d bytes: max_frame is %v", size, p.programs.options.MaxFrame)
	}
	p.write(frame, body)
	return c, nil
}

// mostUnwritten is how many bytes of frames wait for others to be written with.
const mostUnwritten = 64 << 10

// write writes a frame. Others who are about to write one may add it to this, so that the program is woken once for
// all: the first of them lets them, and then writes what there is.
func (p *process) write(header, body []byte) {
	p.writing.Lock()
	defer p.writing.Unlock()
	first := len(p.unwritten) == 0
	p.unwritten = appendFrame(p.unwritten, header, body)
	if len(p.unwritten) < mostUnwritten {
		if !first {
			return
		}
		p.writing.Unlock()
		runtime.Gosched()
		p.writing.Lock()
	}
	if len(p.unwritten) == 0 { // by another, whose frame was too large to wait
		return
	}
	_, err := p.stdin.Write(p.unwritten)
	if p.unwritten = p.unwritten[:0]; cap(p.unwritten) > mostUnwritten*4 {
		p.unwritten = nil
	}
	if err != nil {
		p.programs.tasks.Go(func() { p.unheard(err) })
	}
}

// unheard gives up a process that does not read its standard input, if it goes on. What one that has ended wrote before
// that is still to be read, and counts: the goroutine that reads gives it up when it comes to the end.
func (p *process) unheard(err error) {
	select {
	case <-p.exited:
	case <-time.After(exitWait):
		p.fail(fmt.Errorf("it does not read its standard input: %w", err), 0)
	}
}

// register makes a call known, unless the process is lost: the call reports that then.
func (p *process) register(c *call) (id uint64, alive bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		c.finish(&lostError{err: p.err})
		return 0, false
	}
	p.last++
	p.calls[p.last] = c
	p.order = append(p.order, p.last)
	p.watch()
	return p.last, true
}

// unregister forgets a call.
func (p *process) unregister(id uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.calls, id)
	p.watch()
}

func (c *call) finish(lost *lostError) {
	c.lost = lost
	close(c.done)
}

// watch lets the time of the oldest call run, from when it became the oldest: a program that works on one
// item after the other has let it wait until then. It also takes down since when there is one call alone. p.mu is held.
func (p *process) watch() {
	if len(p.calls) != 1 {
		p.alone = time.Time{}
	} else if p.alone.IsZero() {
		p.alone = time.Now()
	}
	for len(p.order) > 0 && p.calls[p.order[0]] == nil {
		p.order = p.order[1:]
	}
	if len(p.order) == 0 {
		p.oldest = 0
		if p.deadline != nil {
			p.deadline.Stop()
		}
		return
	}
	if p.order[0] == p.oldest {
		return
	}
	p.oldest, p.since = p.order[0], time.Now()
	timeout := time.Duration(p.programs.options.Timeout)
	if p.deadline == nil {
		p.deadline = time.AfterFunc(timeout, p.overdue)
	} else {
		p.deadline.Reset(timeout)
	}
}

// overdue kills the process if its oldest call has had its time.
func (p *process) overdue() {
	p.mu.Lock()
	id, timeout := p.oldest, time.Duration(p.programs.options.Timeout)
	left := timeout - time.Since(p.since)
	if id != 0 && left > 0 { // another one has become the oldest meanwhile
		p.deadline.Reset(left)
		id = 0
	}
	p.mu.Unlock()
	if id != 0 {
		p.programs.countAt(p.place, "timeouts")
		p.fail(fmt.Errorf("it took longer than %v (timeout) over the item, and was killed", p.programs.options.Timeout), id)
	}
}

// fail gives the process up: it is killed, and all that it had is lost. late is the call that has had its time, or 0.
// Of several reasons the first holds.
func (p *process) fail(err error, late uint64) {
	p.mu.Lock()
	if p.err != nil {
		p.mu.Unlock()
		return
	}
	p.err = err
	calls, leaving := p.calls, p.leaving
	// One that had its time while others were answered may have waited for them, and had the program for an instant.
	waited := late != 0 && time.Since(p.alone) < time.Duration(p.programs.options.Timeout)
	alone := len(calls) == 1 && !waited
	p.calls = make(map[uint64]*call)
	p.watch()
	p.mu.Unlock()
	p.kill()
	reason := p.place.named(fmt.Errorf("%w%s", err, p.log.said()))
	if !leaving && !errors.Is(err, errClosed) {
		p.programs.loggerAt(p.place).Warn("program lost", "error", err, "items", len(calls))
	}
	for id, c := range calls {
		c.finish(&lostError{err: reason, alone: alone, first: alone && !p.answered.Load(), culprit: alone && id == late})
	}
}

func (p *process) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

func (p *process) alive() bool { return p.failure() == nil }

// kill kills the process, and all that it has started.
func (p *process) kill() {
	if p.group != nil { // it has been started
		p.group.Kill()
		_ = p.cmd.Process.Kill() // one that has left the group
	}
}

// take takes a frame of the program. The error tells how it breaks the protocol.
func (p *process) take(header, body []byte) error {
	m, err := readMessage(header)
	if err != nil {
		return fmt.Errorf("the header of a frame is no JSON: %w", err)
	}
	switch m.Type {
	case "emit":
		return p.emitted(output{m, body}, len(header)+len(body))
	case "done", "error":
		return p.settled(m)
	}
	return fmt.Errorf("there is no frame of the type %q", m.Type)
}

func (p *process) emitted(o output, size int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, err := p.callOf(o.message)
	if c == nil {
		return err
	}
	if c.size += int64(size); c.size > int64(p.programs.options.MaxFrame) {
		return fmt.Errorf("an item yields more than %v (max_frame)", p.programs.options.MaxFrame)
	}
	c.outputs = append(c.outputs, o)
	return nil
}

// settled ends the call that the program is done with.
func (p *process) settled(m message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, err := p.callOf(m)
	if c == nil {
		return err
	}
	count, err := m.counts()
	if err != nil {
		return err
	}
	delete(p.calls, m.ID)
	p.watch()
	p.answered.Store(true)
	c.count = count
	if m.Type == "error" {
		c.err = errors.New(m.Error)
		if m.Retry > 0 {
			c.err = pipeline.Retry(c.err, time.Now().Add(retryAfter(m.Retry)))
		}
	}
	c.finish(nil)
	return nil
}

// callOf returns the call that a frame is about. A process that has been given up has no calls any more: a frame that
// it wrote before it learned of that is not against the protocol, and is passed over. p.mu is held.
func (p *process) callOf(m message) (*call, error) {
	c := p.calls[m.ID]
	if c == nil && p.err == nil {
		return nil, fmt.Errorf("%s for item %d, which it was not given or is done with", m.Type, m.ID)
	}
	return c, nil
}
