package pdftext

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	_ "unsafe" // for go:linkname

	_ "github.com/klippa-app/go-pdfium/webassembly" // holds PDFium
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/emscripten"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// pdfiumWasm is PDFium in WebAssembly, as go-pdfium embeds it. Its own pool gives an instance the whole file system
// unless told otherwise, and a call no context, so that nothing could interrupt one; and it is 3 MB larger.
//
//go:linkname pdfiumWasm github.com/klippa-app/go-pdfium/webassembly.pdfiumWasm
var pdfiumWasm []byte

// wasmPage is the unit that the memory of an instance is counted in.
const wasmPage = 64 << 10

// engine is PDFium, compiled, of which every document gets an instance of its own: it costs a few milliseconds, and
// nothing that a document does to it outlives the document.
type engine struct {
	memory   int64 // of an instance, in bytes
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	slots    chan struct{} // one for each instance that may be at work
}

// started is the engine of the process. It is made when the first PDF comes.
var started = sync.OnceValues(func() (*engine, error) { return startEngine(cacheDirectory()) })

// startEngine makes an engine with a cache, and one without if that is damaged, or its disk full.
func startEngine(cache string) (*engine, error) {
	e, err := newEngine(Default.Memory, Default.instances(), cache)
	if err != nil && cache != "" {
		e, err = newEngine(Default.Memory, Default.instances(), "")
	}
	return e, err
}

func (l Limits) instances() int { return min(runtime.GOMAXPROCS(0), l.Instances) }

func newEngine(memory int64, instances int, cache string) (*engine, error) {
	ctx := context.Background()
	config := wazero.NewRuntimeConfig().
		WithCloseOnContextDone(true).
		WithMemoryLimitPages(uint32(memory / wasmPage))
	config = withCache(config, cache)
	e := &engine{memory: memory, runtime: wazero.NewRuntimeWithConfig(ctx, config), slots: make(chan struct{}, instances)}
	if err := e.compile(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start PDFium: %w", err), e.runtime.Close(ctx))
	}
	return e, nil
}

// compile translates PDFium to the code of the machine, and gives it what it imports.
func (e *engine) compile(ctx context.Context) (err error) {
	if _, err = wasi_snapshot_preview1.Instantiate(ctx, e.runtime); err != nil {
		return err
	}
	e.compiled, err = e.runtime.CompileModule(experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0)), pdfiumWasm)
	if err != nil {
		return err
	}
	env := e.runtime.NewHostModuleBuilder("env")
	exporter, err := emscripten.NewFunctionExporterForModule(e.compiled)
	if err != nil {
		return err
	}
	exporter.ExportFunctions(env)
	for _, f := range e.compiled.ImportedFunctions() {
		if module, name, _ := f.Import(); module == "env" && strings.HasSuffix(name, "_CB") {
			env.NewFunctionBuilder().WithGoModuleFunction(uncalled(name), f.ParamTypes(), f.ResultTypes()).Export(name)
		}
	}
	_, err = env.Instantiate(ctx)
	return err
}

// uncalled stands for a function with which PDFium would call a program that fills in forms, prints or saves.
func uncalled(name string) api.GoModuleFunc {
	return func(context.Context, api.Module, []uint64) {
		panic("PDFium calls " + name + ", which nothing registered")
	}
}

// instance is one PDFium at work on one document. It has no files, no clock but a fake one, and no randomness, so
// that a document gives the same text everywhere. Its methods panic with a *failure when PDFium fails.
type instance struct {
	ctx       context.Context
	module    api.Module
	functions map[string]api.Function
	memory    int64  // the most bytes it may have
	scratch   uint32 // scratchSize bytes for the numbers that functions return
}

const scratchSize = 64

// failure is a panic of an instance, for one reason.
type failure struct {
	cause Cause
	err   error
}

// start makes an instance, to be closed.
func (e *engine) start(ctx context.Context) (*instance, error) {
	config := wazero.NewModuleConfig().WithStartFunctions("_initialize").WithName("")
	module, err := e.runtime.InstantiateModule(ctx, e.compiled, config)
	if err != nil {
		return nil, err
	}
	return &instance{ctx: ctx, module: module, functions: map[string]api.Function{}, memory: e.memory}, nil
}

// close frees the instance, also while it is broken.
func (in *instance) close() { _ = in.module.Close(context.Background()) }

// call calls a function of PDFium, which returns one number or nothing.
func (in *instance) call(name string, args ...uint64) uint64 {
	f := in.functions[name]
	if f == nil {
		if f = in.module.ExportedFunction(name); f == nil {
			panic(&failure{Engine, fmt.Errorf("PDFium has no function %s", name)})
		}
		in.functions[name] = f
	}
	results, err := f.Call(in.ctx, args...)
	switch {
	case in.ctx.Err() != nil:
		panic(&failure{Time, in.ctx.Err()})
	case err != nil && in.full():
		panic(&failure{Memory, firstLine(err)})
	case err != nil:
		panic(&failure{Broken, firstLine(err)})
	case len(results) == 0:
		return 0
	}
	return results[0]
}

// firstLine leaves out the stack, of functions without names.
func firstLine(err error) error {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(line)
}

// allocate returns the address of memory of the instance.
func (in *instance) allocate(size int) uint32 {
	at := uint32(in.call("malloc", uint64(size)))
	if at == 0 {
		panic(&failure{Memory, fmt.Errorf("%d bytes are not to be had", size)})
	}
	return at
}

func (in *instance) free(at uint32) { in.call("free", uint64(at)) }

// store copies bytes to the instance, with a zero behind them, and returns their address.
func (in *instance) store(b []byte) uint32 {
	at := in.allocate(len(b) + 1)
	if memory := in.module.Memory(); !memory.Write(at, b) || !memory.WriteByte(at+uint32(len(b)), 0) {
		panic(&failure{Broken, errors.New("memory was given out that there is not")})
	}
	return at
}

// bytes returns memory of the instance, valid until its next call.
func (in *instance) bytes(at uint32, size int) []byte {
	b, ok := in.module.Memory().Read(at, uint32(size))
	if !ok {
		panic(&failure{Broken, errors.New("memory is named that there is not")})
	}
	return b
}

// full reports whether nearly all memory that the instance may have is in use: it grows by steps of a fifth.
func (in *instance) full() bool { return int64(in.module.Memory().Size()) > in.memory/4*3 }
