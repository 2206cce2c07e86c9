package sql

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"time"

	"github.com/webrace/webrace/stages/internal/agent"
)

// mark is that of a row: a time, or a number.
type mark struct {
	time   time.Time
	number *big.Rat // nil of a time
	layout string   // of a time that SQLite has as text
}

// layouts are those in which SQLite has times as text.
var layouts = []string{
	"2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999",
	"2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02",
}

// markOf reads the value of the column that marks rows.
func markOf(value any) (m mark, err error) {
	switch v := value.(type) {
	case time.Time:
		return mark{time: v.UTC()}, nil
	case int64:
		return mark{number: new(big.Rat).SetInt64(v)}, nil
	case uint64:
		return mark{number: new(big.Rat).SetUint64(v)}, nil
	case float64:
		if number := new(big.Rat).SetFloat64(v); number != nil {
			return mark{number: number}, nil
		}
	case float32:
		return markOf(float64(v))
	case []byte:
		return markOf(string(v))
	case string:
		if isNumber(v) && len(v) <= 100 { // an exponent could make it endless
			if number, ok := new(big.Rat).SetString(v); ok {
				return mark{number: number}, nil
			}
		}
		for _, layout := range layouts {
			if t, err := time.Parse(layout, v); err == nil {
				return mark{time: t, layout: layout}, nil
			}
		}
	}
	return mark{}, agent.Failf("the mark of a row is neither a time nor a number, but %s: read rows that have one alone", abridged(value))
}

func abridged(value any) string {
	if value == nil {
		return "NULL"
	}
	return fmt.Sprintf("%.60v", value)
}

// compare orders marks of a column.
func (m mark) compare(other mark) int {
	switch {
	case m.number != nil && other.number != nil:
		return m.number.Cmp(other.number)
	case m.number == nil && other.number == nil:
		return m.time.Compare(other.time)
	}
	return cmp.Compare(btoi(m.number == nil), btoi(other.number == nil)) // SQLite has numbers before texts
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// before is the mark so far before this one.
func (m mark) before(o overlap) (mark, error) {
	switch isTime := m.number == nil; {
	case isTime && !o.set:
		m.time = m.time.Add(-overlapTime)
	case !o.set:
		m.number = new(big.Rat).Sub(m.number, new(big.Rat).SetInt64(overlapNumber))
	case isTime && !o.isTime && o.number != 0:
		return mark{}, agent.Failf("the overlap is the number %d, and the mark is a time: write a duration", o.number)
	case isTime:
		m.time = m.time.Add(-o.time)
	case o.isTime && o.time != 0:
		return mark{}, agent.Failf("the overlap is the duration %v, and the mark is a number: write one", o.time)
	default:
		m.number = new(big.Rat).Sub(m.number, new(big.Rat).SetInt64(o.number))
	}
	return m, nil
}

// text is the mark as it is kept.
func (m mark) text() string {
	if m.number != nil {
		if m.number.IsInt() {
			return m.number.Num().String()
		}
		digits, exact := m.number.FloatPrec()
		if !exact { // it came as text or as a float, so that it is
			digits = 40
		}
		return m.number.FloatString(digits)
	}
	return m.time.Format(cmp.Or(m.layout, time.RFC3339Nano))
}

// parameter is the mark as the value of a parameter.
func (m mark) parameter(e *engine) any {
	switch {
	case m.number != nil && m.number.IsInt() && m.number.Num().IsInt64():
		return m.number.Num().Int64()
	case m.number != nil && e.floats:
		f, _ := m.number.Float64()
		return f
	case m.number == nil && m.layout == "" && e.times:
		return m.time
	}
	return m.text()
}

// kept is the mark as state has it.
type kept struct {
	Text   string `json:"text"`
	Layout string `json:"layout,omitempty"` // of a time; empty of a number
	Stored bool   `json:"stored,omitempty"` // the database has the time as text, in this layout
}

func (m mark) MarshalJSON() ([]byte, error) {
	k := kept{Text: m.text()}
	if m.number == nil {
		k.Layout, k.Stored = cmp.Or(m.layout, time.RFC3339Nano), m.layout != ""
	}
	return json.Marshal(k)
}

func (m *mark) UnmarshalJSON(text []byte) error {
	var k kept
	if err := json.Unmarshal(text, &k); err != nil {
		return err
	}
	*m = mark{}
	if k.Layout == "" {
		if number, ok := new(big.Rat).SetString(k.Text); ok && isNumber(k.Text) {
			m.number = number
			return nil
		}
		return fmt.Errorf("mark %.60q is no number", k.Text)
	}
	t, err := time.Parse(k.Layout, k.Text)
	if err != nil {
		return err
	}
	if m.time = t; k.Stored {
		m.layout = k.Layout
	}
	return nil
}
