package window

import (
	"fmt"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/expression"
	"github.com/webrace/webrace/pipeline/number"
)

// latePort is where items go whose windows are over.
var latePort = pipeline.Port{Name: "late", Kind: pipeline.SameAsInput, Doc: "with time: items that came after their windows were closed"}

// timeOf compiles the option time; nil without one.
func (o Options) timeOf() (*expression.Program, error) {
	if o.Time == "" {
		return nil, nil
	}
	return expression.Compile(o.Time)
}

// layouts are how a time may be written; without a zone it is UTC.
var layouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", time.DateTime, time.DateOnly}

// timeOf returns the time that an item gives. One that gives none cannot be counted.
func timeOf(program *expression.Program, it *pipeline.Item) (time.Time, error) {
	value, err := program.Value(it.Value, it.Meta)
	if err != nil {
		return time.Time{}, fmt.Errorf("time: %w", err)
	}
	switch v := value.(type) {
	case time.Time:
		return v, nil
	case string:
		for _, layout := range layouts {
			if t, err := time.Parse(layout, v); err == nil {
				return t, nil
			}
		}
		return time.Time{}, fmt.Errorf("time: %q is no time: write it as 2026-01-31T12:00:00Z, or as a date", v)
	}
	const most = 1 << 40 // seconds: beyond, durations between times do not fit
	seconds, isNumber := number.Float(value)
	if !isNumber || !(-most < seconds && seconds < most) {
		return time.Time{}, fmt.Errorf("time: %v is no time: a text is meant, or seconds since 1970", value)
	}
	whole := int64(seconds)
	return time.Unix(whole, int64((seconds-float64(whole))*1e9)).UTC(), nil
}
