package pdftext

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// metered returns a module of WebAssembly that counts its work: the beginnings of its functions and of each round of
// its loops, and 32 bytes that are copied or filled at once. It counts down, at first from 1; at 0 or below it calls a
// function that it imports with where it is, and goes on from what that returns. It must not call that function itself.
//
// What it counts depends on what it works on alone, so a program can be ended by it where it would be ended on every
// other machine. Between two counts lies no more than the code of one function.
func metered(module []byte, ask string) (result []byte, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case moduleError:
			err = fmt.Errorf("meter a module: %w", p)
		default:
			panic(p)
		}
	}()
	if len(module) < moduleHeader {
		return nil, errors.New("meter a module: it has no header")
	}
	m := meter{ask: ask, asked: -1}
	result = append(result, module[:moduleHeader]...)
	for r := (moduleReader{module[moduleHeader:]}); len(r.rest) > 0; {
		id := r.take(1)[0]
		content := r.take(r.number())
		result = append(result, id)
		result = appendSized(result, m.section(id, content))
	}
	return result, nil
}

// moduleHeader is how many bytes there are in front of the sections of a module.
const moduleHeader = 8

// moduleError tells why a module cannot be read.
type moduleError struct{ error }

// Sections of a module, and what it can import.
const (
	importSection, globalSection, codeSection                 = 2, 6, 10
	importFunction, importTable, importMemory, importVariable = 0, 1, 2, 3
)

// meter is the work on a module.
type meter struct {
	ask     string
	asked   int    // the number of the function of that name
	globals int    // how many variables there are, before those of the meter: what is left, and a size
	added   bool   // those are there
	one     []byte // the code that counts one
	bytes   []byte // the code that counts what the next instruction copies or fills
}

// section returns a section as it is with a meter.
func (m *meter) section(id byte, content []byte) []byte {
	r := moduleReader{content}
	switch id {
	case importSection:
		m.imports(&r)
	case globalSection:
		n := r.number()
		m.globals, m.added = m.globals+n, true
		content = append(appendNumber(nil, n+2), r.rest...)
		return append(content, typeI32, 1, opI32Const, 1, opEnd, typeI32, 1, opI32Const, 0, opEnd) // both can change
	case codeSection:
		if m.asked < 0 || !m.added {
			panic(moduleError{fmt.Errorf("it does not import %s, or has no variables", m.ask)})
		}
		m.write()
		n := r.number()
		content = appendNumber(nil, n)
		for range n {
			content = appendSized(content, m.function(r.take(r.number())))
		}
	}
	return content
}

func (m *meter) imports(r *moduleReader) {
	functions := 0
	for range r.number() {
		r.take(r.number()) // the module
		name := string(r.take(r.number()))
		switch kind := r.take(1)[0]; kind {
		case importFunction:
			r.number()
			if name == m.ask {
				m.asked = functions
			}
			functions++
		case importVariable:
			r.take(2)
			m.globals++
		case importTable, importMemory:
			if kind == importTable {
				r.take(1)
			}
			if limits := r.take(1)[0]; r.number() >= 0 && limits&1 != 0 {
				r.number()
			}
		default:
			panic(moduleError{fmt.Errorf("it imports %s of the unknown kind %d", name, kind)})
		}
	}
}

// Instructions that the meter is made of, or that it looks for.
const (
	typeI32, noResult                         = 0x7f, 0x40
	opLoop, opIf, opEnd, opCall               = 0x03, 0x04, 0x0b, 0x10
	opGlobalGet, opGlobalSet                  = 0x23, 0x24
	opI32Const, opI32Less, opI32Sub, opI32Shr = 0x41, 0x48, 0x6b, 0x76
	opPrefix, prefixedCopy, prefixedFill      = 0xfc, 10, 11
)

// write writes the code that counts.
func (m *meter) write() {
	left, size := appendNumber(nil, m.globals), appendNumber(nil, m.globals+1)
	code := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	getLeft, setLeft := code([]byte{opGlobalGet}, left), code([]byte{opGlobalSet}, left)
	ask := code(getLeft, []byte{opI32Const, 1, opI32Less, opIf, noResult}, // if left < 1 { left = ask(left) }
		getLeft, appendNumber([]byte{opCall}, m.asked), setLeft, []byte{opEnd})
	m.one = code(getLeft, []byte{opI32Const, 1, opI32Sub}, setLeft, ask)
	m.bytes = code([]byte{opGlobalSet}, size,
		getLeft, []byte{opGlobalGet}, size, []byte{opI32Const, 5, opI32Shr, opI32Sub}, setLeft, ask,
		[]byte{opGlobalGet}, size)
}

// function returns the body of a function with a meter.
func (m *meter) function(body []byte) (result []byte) {
	r := moduleReader{body}
	for range r.number() { // of groups of variables
		r.number()
		r.take(1)
	}
	result = append(result, body[:len(body)-len(r.rest)]...)
	result = append(result, m.one...)
	for len(r.rest) > 0 {
		before := r.rest
		op, second := r.instruction()
		if op == opPrefix && (second == prefixedCopy || second == prefixedFill) {
			result = append(result, m.bytes...)
		}
		result = append(result, before[:len(before)-len(r.rest)]...)
		if op == opLoop {
			result = append(result, m.one...)
		}
	}
	return result
}

// moduleReader reads a part of a module, and panics with a moduleError where that ends early.
type moduleReader struct{ rest []byte }

func (r *moduleReader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		panic(moduleError{errors.New("it ends early")})
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

// number reads a number that is not negative.
func (r *moduleReader) number() int {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 || n > 1<<32-1 {
		panic(moduleError{errors.New("it has a number that is none")})
	}
	r.rest = r.rest[size:]
	return int(n)
}

// pass passes over numbers, with or without a sign.
func (r *moduleReader) pass(numbers int) {
	for range numbers {
		for r.take(1)[0] >= 0x80 {
		}
	}
}

// instruction passes over an instruction and returns its number, and the second number that some have.
func (r *moduleReader) instruction() (op byte, second int) {
	op = r.take(1)[0]
	switch {
	case op == opPrefix:
		return op, r.prefixed()
	case op <= 0x01, op == 0x05, op == opEnd, op == 0x0f, op == 0x1a, op == 0x1b, op >= 0x45 && op <= 0xc4:
	case op >= 0x02 && op <= opIf, op == 0x0c, op == 0x0d, op == opCall, op >= 0x20 && op <= 0x26,
		op >= 0x3f && op <= 0x42, op == 0xd0, op == 0xd2:
		r.pass(1)
	case op == 0x11, op >= 0x28 && op <= 0x3e: // a call by a table, and what loads and stores
		r.pass(2)
	case op == 0x0e: // a jump by a table
		r.pass(r.number() + 1)
	case op == 0x1c:
		r.pass(r.number())
	case op == 0x43, op == 0x44: // numbers of four and of eight bytes
		r.take(4 << (op - 0x43))
	default:
		panic(moduleError{fmt.Errorf("it has the unknown instruction %#x", op)})
	}
	return op, 0
}

// prefixed passes over the rest of an instruction with two numbers, and returns the second.
func (r *moduleReader) prefixed() (op int) {
	switch op = r.number(); {
	case op <= 7: // conversions
	case op == prefixedCopy:
		r.pass(2)
	case op == prefixedFill:
		r.pass(1)
	default:
		panic(moduleError{fmt.Errorf("it has the unknown instruction 0xfc %d", op)})
	}
	return op
}

func appendNumber(b []byte, n int) []byte { return binary.AppendUvarint(b, uint64(n)) }

func appendSized(b, content []byte) []byte { return append(appendNumber(b, len(content)), content...) }
