package exec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/webrace/webrace/pipeline"
)

// shakeHands sends hello and hears whether the program is ready for us.
func (p *process) shakeHands() error {
	o := p.programs.options
	options := o.Options
	if options == nil {
		options = map[string]any{}
	}
	header, err := json.Marshal(hello{"hello", newest, p.programs.env.Pipeline, p.programs.env.Stage, options, o.InFlight, int64(o.MaxFrame)})
	if err != nil {
		return fmt.Errorf("write the options: %w", err)
	}
	if _, err := p.stdin.Write(appendFrame(nil, header, nil)); err != nil {
		return fmt.Errorf("before it was ready: %w", p.ending(fmt.Errorf("it does not read its standard input: %w", err)))
	}
	header, _, err = readFrame(p.reader, int64(o.MaxFrame))
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("before it was ready: %w", p.ending(errors.New("it closed its standard output")))
	}
	if err != nil {
		return err
	}
	m, err := readMessage(header)
	if err != nil {
		return fmt.Errorf("its first frame is no JSON: %w", err)
	}
	return p.greeted(m)
}

// greeted judges what the program answered to hello.
func (p *process) greeted(m message) error {
	switch {
	case m.Type == "error":
		err := fmt.Errorf("it refuses to work: %s", m.Error)
		if _, given := p.programs.options.Options[m.Option]; given {
			return &pipeline.OptionError{Option: "options." + m.Option, Err: err}
		}
		return err
	case m.Type != "ready":
		return fmt.Errorf("its first frame is of the type %q, not ready", m.Type)
	case !speaks(newest, m.ABI):
		return fmt.Errorf("it speaks version %d of the protocol, and this is version %d: its library or webrace has to be brought up to date", m.ABI, newest)
	case m.Spec == nil:
		return nil
	}
	if err := m.Spec.bounded(); err != nil {
		return err
	}
	p.fields = m.Spec.Fields
	p.programs.said.Store(m.Spec)
	return m.Spec.fits(p.programs.options)
}

// unfit makes what the program has found wrong, or is wrong with it, an error of the stage: one for each option
// that is at fault.
func (p place) unfit(err error, said string) error {
	if many, several := err.(interface{ Unwrap() []error }); several {
		var each []error
		for _, one := range many.Unwrap() {
			each = append(each, p.unfit(one, said))
		}
		return errors.Join(each...)
	}
	if fault, ok := err.(*pipeline.OptionError); ok {
		return &pipeline.OptionError{Option: fault.Option, Err: p.unfit(fault.Err, said)}
	}
	return p.named(fmt.Errorf("%w%s", err, said))
}
