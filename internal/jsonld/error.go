package jsonld

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/rdf"
)

// Error tells why a document, or a context that it names, is no JSON-LD; or what of one that is read is left out, or
// read as something else than is written.
type Error struct {
	Code         string // the standard's word for it (JSON-LD 1.1 API, section 9.6.2), as "invalid local context"; or "left out", "read as"
	Says         string // what is wrong
	Context      string // the URL of the context in which it is wrong; empty for the document itself
	Line, Column int    // where, in that text, from 1; columns count characters
}

func (e *Error) Error() string {
	where := fmt.Sprintf("line %d, column %d", e.Line, e.Column)
	if e.Context != "" {
		where += " of the context " + e.Context
	}
	return fmt.Sprintf("%s: %s: %s", where, e.Code, e.Says)
}

// failure is the panic by which the recursive algorithms hand an error to [catch], as encoding/json does.
type failure struct{ error }

// catch runs work, and returns the error that it fails with.
func catch(work func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = r.error
		default:
			panic(r)
		}
	}()
	work()
	return nil
}

// watch is what all steps of an algorithm share: the context that can end them, and the text that errors are about.
type watch struct {
	ctx   context.Context
	steps int
	about *source
	at    int32 // where, in that text, the algorithm is

	escape, lenient bool // as the options say
	notes           notes
}

// source is a text that values were read from.
type source struct {
	url  string // of a context; empty for the document itself
	body string
}

// stepsPerLook is how many steps are taken between two looks at whether to go on.
const stepsPerLook = 1000

func (w *watch) step(at int32) {
	w.at = at
	if w.steps++; w.steps%stepsPerLook == 0 {
		if w.ctx.Err() != nil {
			panic(failure{context.Cause(w.ctx)})
		}
	}
}

// position returns the line and the column of a place in the text.
func (w *watch) position(at int32) (line, column int) {
	before := w.about.body[:min(int(at), len(w.about.body))]
	line = strings.Count(before, "\n") + 1
	return line, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}

// fail ends the algorithm with the error of a code word about a value.
func (w *watch) fail(v *value, code, format string, args ...any) {
	w.failAt(v.at, code, fmt.Sprintf(format, args...))
}

func (w *watch) failAt(at int32, code, says string) {
	panic(failure{w.errorAt(at, code, says)})
}

func (w *watch) errorAt(at int32, code, says string) *Error {
	line, column := w.position(at)
	if len(says) > maxSays {
		says = strings.ToValidUTF8(says[:maxSays], "") + "…"
	}
	return &Error{Code: code, Says: says, Context: w.about.url, Line: line, Column: column}
}

// maxSays is how long a message can be, which quotes the document.
const maxSays = 500

// exceed ends the algorithm because of a limit.
func (w *watch) exceed(what string, limit int) { panic(failure{w.limitError(what, limit)}) }

func (w *watch) limitError(what string, limit int) error {
	e := &rdf.LimitError{What: what, Limit: limit}
	e.Line, e.Column = w.position(w.at)
	if w.about.url != "" {
		e.What += " (in the context " + w.about.url + ")"
	}
	return e
}
