package pdftext

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// smallModule returns a module that imports ask and exports a function, which takes a number, with a body.
func smallModule(body ...byte) []byte {
	section := func(id byte, content ...byte) []byte { return appendSized([]byte{id}, content) }
	named := func(name string, more ...byte) []byte { return append(appendSized(nil, []byte(name)), more...) }
	return bytes.Join([][]byte{
		[]byte("\x00asm\x01\x00\x00\x00"),
		section(1, 2, 0x60, 1, typeI32, 1, typeI32, 0x60, 1, typeI32, 0), // the types of ask and of the function
		section(importSection, slices.Concat([]byte{1}, named("env"), named("ask", importFunction, 0))...),
		section(3, 1, 1),    // the function's type
		section(5, 1, 0, 1), // a memory
		section(globalSection, 1, typeI32, 0, opI32Const, 5, opEnd),
		section(7, slices.Concat([]byte{1}, named("f", 0, 1))...),
		section(codeSection, slices.Concat([]byte{1}, appendSized(nil, append([]byte{0}, body...)))...),
	}, nil)
}

// rounds makes so many rounds of two loops, one within the other; fill sets so many bytes.
var (
	rounds = []byte{opLoop, noResult,
		opLoop, noResult, opEnd,
		0x20, 0, opI32Const, 1, opI32Sub, 0x22, 0, 0x0d, 0, // if --n != 0, again
		opEnd, opEnd}
	fill = []byte{opI32Const, 0, opI32Const, 7, 0x20, 0, opPrefix, prefixedFill, 0, opEnd}
)

// counted calls the function of a small module with a meter, and returns what that counted.
func counted(t *testing.T, body []byte, argument uint64) (count int64) {
	t.Helper()
	module, err := metered(smallModule(body...), "ask")
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer r.Close(ctx)
	ask := func(_ context.Context, _ api.Module, stack []uint64) {
		count += 1 - int64(api.DecodeI32(stack[0]))
		stack[0] = 1
	}
	i32 := []api.ValueType{api.ValueTypeI32}
	if _, err := r.NewHostModuleBuilder("env").NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(ask), i32, i32).Export("ask").Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	m, err := r.Instantiate(ctx, module)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.ExportedFunction("f").Call(ctx, argument); err != nil {
		t.Fatal(err)
	}
	return count
}

func TestMeterCountsCallsRoundsAndBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body     []byte
		argument uint64
		want     int64
	}{{rounds, 1, 1 + 2}, {rounds, 1000, 1 + 2000}, {fill, 0, 1}, {fill, 6400, 1 + 200}, {fill, 31, 1}} {
		if got := counted(t, c.body, c.argument); got != c.want {
			t.Errorf("%x with %d counts %d, want %d", c.body, c.argument, got, c.want)
		}
	}
	if _, err := metered(smallModule(rounds...), "tell"); err == nil {
		t.Error("a module that does not import the function is metered")
	}
}

// FuzzMetered holds that a module that is valid is so with a meter, and that bytes of any kind are an error at most.
func FuzzMetered(f *testing.F) {
	f.Add(rounds)
	f.Add(fill)
	f.Add(smallModule(rounds...)[moduleHeader:])
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer r.Close(ctx)
	f.Fuzz(func(t *testing.T, code []byte) {
		_, _ = metered(append(smallModule()[:moduleHeader], code...), "ask")
		if bytes.IndexByte(code, 0x0e) >= 0 {
			return // wazero makes room for all jumps that a table claims it has
		}
		module := smallModule(code...)
		if valid, err := r.CompileModule(ctx, module); err == nil {
			defer valid.Close(ctx)
			with, err := metered(module, "ask")
			if err != nil {
				t.Skip(err) // an instruction of a later version of WebAssembly
			}
			other, err := r.CompileModule(ctx, with)
			if err != nil {
				t.Fatal(err)
			}
			other.Close(ctx)
		}
	})
}
